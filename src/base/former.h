/* Names that programs and files may still say though things have others now. Whoever meets one tells it here. */
#pragma once

#include "base/std.h"

#define NAI_FORMER_UNTIL "0.3" /* the version that knows them no more: one minor version after the rename */

struct nai_former {
  const char *kind; /* "table", "column", "key", "name" */
  const char *was, *now;
};

/* Who hears of them: a line without its end, for the user. NULL: nobody. Set before threads are started. */
void nai_former_listen(void (*listener)(const char *line));
/* Tells one, once per file and name. `file` may be NULL, `line` 0: then no place is said. */
void nai_former_tell(const char *file, uint32_t line, uint32_t column, const struct nai_former *former);
