/* One POST. Internal to src/features/ask. */
#pragma once

#include "base/buf.h"

struct nai_http_request {
  const char *url, *body, *key; /* key: sent as a bearer token; NULL: none */
  double timeout_s;
  bool insecure; /* http to machines other than this */
};
struct nai_http_reply {
  long status;
  struct nai_buf body;
  long retry_after_s; /* -1: it does not say */
};
static inline void nai_http_reply_free(struct nai_http_reply *reply) { nai_buf_free(&reply->body); }
/* Sends JSON and takes what comes back, whatever its status. Certificates are checked, redirects are not followed. An
 * error says what failed, not to whom. */
NAI_MUST_CHECK int nai_http_post(struct nai_http_reply *reply, const struct nai_http_request *request,
                                 struct nai_err *err);
/* NAI_EUSAGE: no URL that may be posted to. */
NAI_MUST_CHECK int nai_http_check_url(const char *url, bool insecure, struct nai_err *err);
