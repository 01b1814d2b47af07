/* Parsed templates: a flat array of tags. Internal to src/report/mustache*.c. */
#pragma once

#include "report/mustache.h"

enum tag_kind {
  TAG_LINE,     /* a line of the template starts here: where the indentation of a partial goes */
  TAG_TEXT,     /* literal text */
  TAG_NAME,     /* {{x}} */
  TAG_RAW,      /* {{{x}}}, {{&x}} */
  TAG_SECTION,  /* {{#x}} */
  TAG_INVERTED, /* {{^x}} */
  TAG_CLOSE,    /* {{/x}} */
  TAG_PARTIAL   /* {{>x}} */
};

struct tag {
  enum tag_kind kind;
  uint32_t at, len;      /* literal text or name, in the template's text */
  uint32_t pair;         /* number of the tag that closes a section, or that a TAG_CLOSE closes */
  uint32_t indent_bytes; /* of a standalone TAG_PARTIAL: blanks directly in front of the tag */
  uint32_t tag_at;       /* where the tag starts */
  uint32_t line, column; /* the same for people, from 1 */
};

struct template {
  const char *name;
  char *text; /* with a NUL behind it, and perhaps others in it */
  size_t len;
  struct tag *tags;
  uint32_t count, capacity;
};

/* Fills tags from name and text; they lie in the arena. */
NAI_MUST_CHECK int nai_template_parse(struct template *template, struct nai_arena *arena, struct nai_err *err);
/* "NAME.mustache:LINE:COLUMN: " and the message, NAI_EUSAGE. */
int nai_template_error(const struct template *template, const struct tag *tag, struct nai_err *err, const char *fmt,
                       ...) NAI_PRINTF(4, 5);
