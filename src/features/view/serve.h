/* One file, given once to one page of a browser on this machine. Internal to src/features/view. */
#pragma once

#include "base/fs.h"

enum { NAI_SERVE_SECRET = 33 }; /* characters of the path's random part, with NUL */

struct nai_serve {
  int listener, port;
  char secret[NAI_SERVE_SECRET];
  const char *origin; /* the only site whose pages may read the file; borrowed */
};
/* Listens on 127.0.0.1, which no other machine reaches. Port 0: any. */
/* nai_serve_free after an error as well. */
NAI_MUST_CHECK int nai_serve_open(struct nai_serve *serve, int port, const char *origin, struct nai_err *err);
/* Answers requests until one GET of /SECRET was answered in full, or `seconds` have passed: *served = whether one was.
 * Everything else is refused. */
NAI_MUST_CHECK int nai_serve_run(bool *served, const struct nai_serve *serve, const struct nai_map *file, int seconds,
                                 struct nai_err *err);
void nai_serve_free(struct nai_serve *serve);
