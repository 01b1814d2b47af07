/* Texts of a table as an output has them, each escaped once: names stand in many rows. */
#pragma once

#include "table/table.h"

struct nai_text_forms {
  const struct nai_table *table;                               /* whose texts */
  void (*write)(struct nai_buf *out, void *ctx, const char *); /* appends a text as the output has it */
  void *ctx;
  struct {
    size_t at, len; /* in `written`; of length 0 what is not written yet */
  } * of;           /* by number of the text */
  struct nai_buf written;
};

#define NAI_TEXT_FORMS(table_, write_, ctx_)                                                    \
  (struct nai_text_forms) {                                                                     \
    .table = (table_), .write = (write_), .ctx = (ctx_),                                        \
    .of = calloc((size_t)(table_)->strings.count + 1, sizeof *((struct nai_text_forms *)0)->of) \
  }

static inline void nai_text_forms_free(struct nai_text_forms *forms) {
  free(forms->of);
  nai_buf_free(&forms->written);
}

/* Appends the text of a cell, which has one. Of very many texts only the first are kept. */
static inline void nai_text_forms_put(struct nai_buf *out, struct nai_text_forms *forms, uint32_t id) {
  enum { MOST_BYTES = 1 << 20 };
  const char *text = nai_strings_get(&forms->table->strings, id);
  if (forms->of && !forms->of[id].len && forms->written.len < MOST_BYTES) {
    forms->of[id].at = forms->written.len;
    forms->write(&forms->written, forms->ctx, text);
    forms->of[id].len = forms->written.len - forms->of[id].at;
  }
  if (forms->of && forms->of[id].len && !forms->written.oom)
    nai_buf_put(out, forms->written.data + forms->of[id].at, forms->of[id].len);
  else
    forms->write(out, forms->ctx, text);
}
