#include "features/view/serve.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_REQUEST = 16384, HEAD_SECONDS = 5, STALL_SECONDS = 20 };

int nai_serve_open(struct nai_serve *serve, int port, const char *origin, struct nai_err *err) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  socklen_t size = sizeof at;
  unsigned char bytes[NAI_SERVE_SECRET / 2];
  int on = 1;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  *serve = (struct nai_serve){.listener = -1, .origin = origin};
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
    return nai_err_sys(err, NAI_ELIMIT, errno, "cannot get random numbers");
  for (size_t i = 0; i < sizeof bytes; i++)
    snprintf(serve->secret + 2 * i, 3, "%02x", bytes[i]);
  serve->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (serve->listener >= 0)
    setsockopt(serve->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (serve->listener < 0 || bind(serve->listener, (struct sockaddr *)&at, size) != 0 ||
      listen(serve->listener, 8) != 0 || getsockname(serve->listener, (struct sockaddr *)&at, &size) != 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot listen on 127.0.0.1:%d", port);
  serve->port = ntohs(at.sin_port);
  return NAI_OK;
}

void nai_serve_free(struct nai_serve *serve) {
  if (serve->listener >= 0)
    close(serve->listener);
}

/* --- requests ---------------------------------------------------------------------------------------- */

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Whether the socket is ready before `end`. */
static bool wait_for(int fd, short events, int64_t end) {
  struct pollfd ready = {.fd = fd, .events = events};
  for (;;) {
    int64_t left = end - now_ms();
    int n = poll(&ready, 1, left > 0 ? (int)left : 0);
    if (n >= 0 || errno != EINTR)
      return n > 0;
  }
}

static bool read_request(char request[MAX_REQUEST], int fd, int64_t end) {
  size_t len = 0;
  int64_t head_end = now_ms() + HEAD_SECONDS * 1000;
  end = head_end < end ? head_end : end;
  while (len + 1 < MAX_REQUEST && wait_for(fd, POLLIN, end)) {
    ssize_t n = recv(fd, request + len, MAX_REQUEST - 1 - len, 0);
    if (n <= 0)
      return false;
    len += (size_t)n;
    request[len] = '\0';
    if (strlen(request) == len && strstr(request, "\r\n\r\n"))
      return true;
  }
  return false;
}

static bool send_all(int fd, const void *bytes, size_t len, int64_t end) {
  for (size_t at = 0; at < len;) {
    int64_t stall = now_ms() + STALL_SECONDS * 1000;
    if (!wait_for(fd, POLLOUT, stall < end ? stall : end))
      return false;
    ssize_t n = send(fd, (const char *)bytes + at, len - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
      return false;
    at += n > 0 ? (size_t)n : 0;
  }
  return true;
}

/* Whether the header is there with another value than one of the two. */
static bool header_differs(const char *request, const char *name, const char *value, const char * or) {
  size_t n = strlen(name);
  for (const char *line = strstr(request, "\r\n"); line && line[2] != '\r'; line = strstr(line + 2, "\r\n")) {
    const char *at = line + 2;
    if (strncasecmp(at, name, n) != 0 || at[n] != ':')
      continue;
    at += n + 1 + strspn(at + n + 1, " \t");
    size_t len = strcspn(at, "\r\n");
    if ((len != strlen(value) || strncmp(at, value, len) != 0) && (len != strlen(or) || strncmp(at, or, len) != 0))
      return true;
  }
  return false;
}

/* "200 OK", or why not: pages of other sites, names that were made to point here, other paths and methods. */
static const char *status_of(const struct nai_serve *serve, const char *request) {
  char host[32], local[32], wanted[64];
  snprintf(host, sizeof host, "127.0.0.1:%d", serve->port);
  snprintf(local, sizeof local, "localhost:%d", serve->port);
  snprintf(wanted, sizeof wanted, "GET /%s HTTP/1.", serve->secret);
  if (header_differs(request, "Host", host, local) || header_differs(request, "Origin", serve->origin, serve->origin))
    return "403 Forbidden";
  if (strncmp(request, "GET ", 4) != 0)
    return "405 Method Not Allowed";
  return strncmp(request, wanted, strlen(wanted)) == 0 ? "200 OK" : "404 Not Found";
}

/* Whether the file was given away. */
static bool answer(const struct nai_serve *serve, int fd, const struct nai_map *file, int64_t end) {
  char request[MAX_REQUEST], head[512];
  if (!read_request(request, fd, end))
    return false;
  const char *status = status_of(serve, request);
  bool ok = *status == '2';
  int len = snprintf(head, sizeof head,
                     "HTTP/1.1 %s\r\nContent-Length: %zu\r\nContent-Type: application/octet-stream\r\n"
                     "Access-Control-Allow-Origin: %s\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                     "Connection: close\r\n\r\n",
                     status, ok ? file->size : 0, serve->origin);
  ok = send_all(fd, head, (size_t)len, end) && ok && send_all(fd, file->data, file->size, end);
  shutdown(fd, SHUT_WR);
  if (ok && wait_for(fd, POLLIN, end)) /* until the other side has it all */
    (void)!recv(fd, head, sizeof head, 0);
  return ok;
}

int nai_serve_run(bool *served, const struct nai_serve *serve, const struct nai_map *file, int seconds,
                  struct nai_err *err) {
  int64_t end = now_ms() + (int64_t)seconds * 1000;
  *served = false;
  while (!*served && wait_for(serve->listener, POLLIN, end)) {
    int fd = accept4(serve->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
      continue;
    if (fd < 0)
      return nai_err_sys(err, NAI_EIO, errno, "cannot accept a connection");
    *served = answer(serve, fd, file, end);
    close(fd);
  }
  return NAI_OK;
}
