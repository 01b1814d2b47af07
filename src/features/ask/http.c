/* The client of HTTP: libcurl, which is loaded when it is needed and not before. Linked, its two dozen libraries would
 * be loaded by every command of the program. */
#include "features/ask/http.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#ifdef NAI_LLM

#include <curl/curl.h>

bool nai_http_is_built(void) { return true; }

enum { MAX_REPLY = 1 << 20, CONNECT_MS = 10000 };

/* The few functions of libcurl that are used. */
struct curl {
  void *library;
  CURLcode (*global_init)(long flags);
  CURL *(*easy_init)(void);
  CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
  CURLcode (*easy_perform)(CURL *handle);
  CURLcode (*easy_getinfo)(CURL *handle, CURLINFO info, ...);
  void (*easy_cleanup)(CURL *handle);
  const char *(*easy_strerror)(CURLcode code);
  struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
  void (*slist_free_all)(struct curl_slist *list);
};

static int load(struct curl *c, struct nai_err *err) {
  const struct {
    void *function;
    const char *name;
  } names[] = {{&c->global_init, "curl_global_init"},      {&c->easy_init, "curl_easy_init"},
               {&c->easy_setopt, "curl_easy_setopt"},      {&c->easy_perform, "curl_easy_perform"},
               {&c->easy_getinfo, "curl_easy_getinfo"},    {&c->easy_cleanup, "curl_easy_cleanup"},
               {&c->easy_strerror, "curl_easy_strerror"},  {&c->slist_append, "curl_slist_append"},
               {&c->slist_free_all, "curl_slist_free_all"}};
  static const char *const libraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !c->library; i++)
    c->library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
  if (!c->library)
    return nai_err_set(err, NAI_EUSAGE, "libcurl.so.4 is not installed (Debian: libcurl4)");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *symbol = dlsym(c->library, names[i].name);
    if (!symbol)
      return nai_err_set(err, NAI_EUSAGE, "libcurl has no %s", names[i].name);
    memcpy(names[i].function, &symbol, sizeof symbol); /* what POSIX has for objects that are functions */
  }
  return c->global_init(CURL_GLOBAL_DEFAULT) ? nai_err_set(err, NAI_ELIMIT, "libcurl does not start") : NAI_OK;
}

static size_t take(char *data, size_t size, size_t count, void *ctx) {
  struct nai_buf *body = ctx;
  size_t len = size * count;
  if (len > MAX_REPLY - body->len)
    return 0; /* ends the transfer */
  nai_buf_put(body, data, len);
  return body->oom ? 0 : len;
}

static size_t take_header(char *data, size_t size, size_t count, void *ctx) {
  static const char name[] = "retry-after:";
  size_t len = size * count;
  if (len > sizeof name && strncasecmp(data, name, sizeof name - 1) == 0) {
    char digits[16];
    snprintf(digits, sizeof digits, "%.*s", (int)(len - sizeof name + 1), data + sizeof name - 1);
    ((struct nai_http_reply *)ctx)->retry_after_s = strtol(digits, NULL, 10);
  }
  return len;
}

static void set_up(const struct curl *c, CURL *handle, struct curl_slist *headers, struct nai_http_reply *reply,
                   const struct nai_http_request *request) {
  const char *host = strstr(request->url, "//") + 2;
  c->easy_setopt(handle, CURLOPT_URL, request->url);
  c->easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  c->easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  c->easy_setopt(handle, CURLOPT_POSTFIELDSIZE, (long)strlen(request->body));
  c->easy_setopt(handle, CURLOPT_POSTFIELDS, request->body);
  c->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  c->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
  c->easy_setopt(handle, CURLOPT_TIMEOUT_MS, (long)(request->timeout_s * 1000));
  c->easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
  c->easy_setopt(handle, CURLOPT_WRITEDATA, &reply->body);
  c->easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
  c->easy_setopt(handle, CURLOPT_HEADERDATA, reply);
  if (is_loopback(host, host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/")))
    c->easy_setopt(handle, CURLOPT_PROXY, ""); /* this machine is reached without one */
}

/* Adds a line to the headers. */
static int add_header(struct curl_slist **headers, const struct curl *c, const char *line, struct nai_err *err) {
  struct curl_slist *more = line ? c->slist_append(*headers, line) : NULL;
  if (!more)
    return nai_err_nomem(err);
  *headers = more;
  return NAI_OK;
}

static int add_headers(struct curl_slist **headers, const struct curl *c, const char *key, struct nai_err *err) {
  static const char *const always[] = {"Content-Type: application/json", "Accept: application/json", "Expect:"};
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    NAI_TRY(add_header(headers, c, always[i], err));
  if (!key)
    return NAI_OK;
  NAI_SCOPED(nai_buf) line = {0};
  nai_buf_printf(&line, "Authorization: Bearer %s", key);
  int rc = add_header(headers, c, line.oom ? NULL : nai_buf_str(&line), err);
  if (line.data)
    explicit_bzero(line.data, line.len);
  return rc;
}

static int perform(struct nai_http_reply *reply, const struct curl *c, CURL *handle, struct nai_err *err) {
  CURLcode code = c->easy_perform(handle);
  c->easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &reply->status);
  if (code == CURLE_WRITE_ERROR)
    return nai_err_set(err, NAI_ELIMIT, "the server's reply is longer than 1 MiB");
  return code ? nai_err_set(err, NAI_EINPUT, "the server cannot be asked: %s", c->easy_strerror(code)) : NAI_OK;
}

int nai_http_post(struct nai_http_reply *reply, const struct nai_http_request *request, struct nai_err *err) {
  struct curl c = {0};
  struct curl_slist *headers = NULL;
  *reply = (struct nai_http_reply){.retry_after_s = -1};
  NAI_TRY(load(&c, err));
  CURL *handle = c.easy_init();
  int rc = handle ? add_headers(&headers, &c, request->key, err) : nai_err_nomem(err);
  if (!rc) {
    set_up(&c, handle, headers, reply, request);
    rc = perform(reply, &c, handle, err);
  }
  c.slist_free_all(headers);
  if (handle)
    c.easy_cleanup(handle);
  return rc; /* the library stays: it may have started threads */
}

#else

bool nai_http_is_built(void) { return false; }

int nai_http_post(struct nai_http_reply *reply, const struct nai_http_request *request, struct nai_err *err) {
  (void)request;
  *reply = (struct nai_http_reply){.retry_after_s = -1};
  return nai_err_set(err, NAI_EUSAGE, "this program was built without libcurl");
}

#endif
