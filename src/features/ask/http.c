/* The client of HTTP: the program curl. Linked, libcurl would load two dozen libraries with every command, and a
 * program that is linked statically can load none. What is secret goes to its standard input, where no list of
 * processes shows it. */
#include "features/ask/http.h"

#include "base/program.h"

#include <strings.h>

/* "127.0.0.1", "localhost", "[::1]". */
static bool is_loopback(const char *host, size_t len) {
  static const char *const names[] = {"localhost", "[::1]"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == len && strncmp(host, names[i], len) == 0)
      return true;
  return strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == len;
}

int nai_http_check_url(const char *url, bool insecure, struct nai_err *err) {
  bool https = strncmp(url, "https://", 8) == 0, http = strncmp(url, "http://", 7) == 0;
  const char *host = url + (https ? 8 : 7);
  if (!https && !http)
    return nai_err_set(err, NAI_EUSAGE, "NSYS_AI_LLM_URL begins with neither https:// nor http://");
  size_t authority = strcspn(host, "/?#"), len = host[0] == '[' ? strcspn(host, "]/") + 1 : strcspn(host, ":/?#");
  if (!len || len > authority || memchr(host, '@', authority) || strpbrk(url, " \t\r\n\"\\"))
    return nai_err_set(err, NAI_EUSAGE, "NSYS_AI_LLM_URL is no plain address of a server");
  if (http && !insecure && !is_loopback(host, len))
    return nai_err_set(err, NAI_EUSAGE,
                       "NSYS_AI_LLM_URL is http to another machine, where anybody on the way can read the key "
                       "(--insecure-http allows it)");
  return NAI_OK;
}

enum { MAX_REPLY = 1 << 20, MAX_HEAD = 1 << 16, CONNECT_S = 10 };

/* name = "value" of curl's configuration. */
static void put_option(struct nai_buf *out, const char *name, const char *value) {
  nai_buf_printf(out, "%s = \"", name);
  for (const char *p = value; *p; p++) {
    if (*p == '"' || *p == '\\')
      nai_buf_putc(out, '\\');
    if (*p == '\n')
      nai_buf_puts(out, "\\n");
    else
      nai_buf_putc(out, *p);
  }
  nai_buf_puts(out, "\"\n");
}

static void put_request(struct nai_buf *out, const struct nai_http_request *request) {
  const char *host = strstr(request->url, "//") + 2;
  nai_buf_printf(out, "silent\ninclude\nsuppress-connect-headers\nproto = \"=http,https\"\nconnect-timeout = %d\n",
                 CONNECT_S);
  nai_buf_printf(out, "max-time = %.3f\n", request->timeout_s);
  put_option(out, "url", request->url);
  put_option(out, "header", "Content-Type: application/json");
  put_option(out, "header", "Accept: application/json");
  put_option(out, "header", "Expect:");
  if (request->key)
    put_option(out, "oauth2-bearer", request->key);
  put_option(out, "data-raw", request->body);
  if (is_loopback(host, host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/")))
    put_option(out, "noproxy", "*"); /* this machine is reached without one */
}

/* Why curl ended with that status, without a word on where. */
static const char *reason(int status) {
  static const struct {
    int status;
    const char *reason;
  } reasons[] = {{5, "its proxy has no address"},
                 {6, "its name has no address"},
                 {7, "nothing accepts connections there"},
                 {28, "it timed out"},
                 {35, "no TLS connection"},
                 {52, "it answers nothing"},
                 {56, "the connection broke"},
                 {60, "its certificate is not trusted"},
                 {77, "no certificates to trust are there"}};
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
    if (reasons[i].status == status)
      return reasons[i].reason;
  return NULL;
}

static int check_end(int status, struct nai_err *err) {
  const char *why = reason(status);
  if (!status)
    return NAI_OK;
  return why ? nai_err_set(err, NAI_EINPUT, "the server cannot be asked: %s", why)
             : nai_err_set(err, NAI_EINPUT, "the server cannot be asked: curl ended with status %d", status);
}

/* A line of a head: its status, or when to come again. */
static void take_line(struct nai_http_reply *reply, const char *line) {
  static const char name[] = "retry-after:";
  if (strncmp(line, "HTTP/", 5) == 0)
    reply->status = strtol(line + strcspn(line, " \r\n"), NULL, 10);
  else if (strncasecmp(line, name, sizeof name - 1) == 0)
    reply->retry_after_s = strtol(line + sizeof name - 1, NULL, 10);
}

/* Takes the heads before the body: there are several where the server says first that it goes on (100). */
static const char *take_heads(struct nai_http_reply *reply, const char *text) {
  while (strncmp(text, "HTTP/", 5) == 0) {
    for (; *text && *text != '\r' && *text != '\n';
         text += text[strcspn(text, "\n")] ? strcspn(text, "\n") + 1 : strlen(text))
      take_line(reply, text);
    text += *text == '\r';
    text += *text == '\n';
    if (reply->status / 100 != 1)
      break;
  }
  return text;
}

int nai_http_post(struct nai_http_reply *reply, const struct nai_http_request *request, struct nai_err *err) {
  static const char *const argv[] = {"curl", "--disable", "--config", "-", NULL};
  NAI_SCOPED(nai_buf) config = {0}, printed = {0};
  int status;
  *reply = (struct nai_http_reply){.retry_after_s = -1};
  if (!nai_program_is_there(argv[0]))
    return nai_err_set(err, NAI_EUSAGE, "the program curl is not installed");
  put_request(&config, request);
  int rc = nai_buf_check(&config, err);
  rc = rc ? rc
          : nai_program_run(&status,
                            &(struct nai_program){.argv = argv,
                                                  .input = nai_buf_str(&config),
                                                  .output = &printed,
                                                  .output_max = MAX_HEAD + MAX_REPLY,
                                                  .silent = true},
                            err);
  if (config.data)
    explicit_bzero(config.data, config.len);
  if (rc == NAI_ELIMIT && printed.len > MAX_REPLY)
    return nai_err_set(err, NAI_ELIMIT, "the server's reply is longer than 1 MiB");
  NAI_TRY(rc);
  NAI_TRY(check_end(status, err));
  const char *body = take_heads(reply, nai_buf_str(&printed));
  size_t len = printed.len - (size_t)(body - nai_buf_str(&printed));
  if (len > MAX_REPLY)
    return nai_err_set(err, NAI_ELIMIT, "the server's reply is longer than 1 MiB");
  nai_buf_put(&reply->body, body, len);
  return nai_buf_check(&reply->body, err);
}
