/* Texts of a table as an output has them, each escaped once: names stand in many rows. Of very many texts the first are
 * kept. */
#pragma once

#include "table/table.h"

struct nai_text_forms {
  const struct nai_table *table;                               /* whose texts */
  void (*write)(struct nai_buf *out, void *ctx, const char *); /* appends a text as the output has it */
  void *ctx;
  struct {
    uint32_t at, len; /* in `written`; of length 0 what is not written yet */
  } * of;             /* by number of the text */
  uint32_t count;     /* of these */
  struct nai_buf written;
};

static inline struct nai_text_forms nai_text_forms_of(const struct nai_table *table,
                                                      void (*write)(struct nai_buf *out, void *ctx, const char *),
                                                      void *ctx) {
  enum { MOST = 1 << 15 };
  struct nai_text_forms forms = {.table = table, .write = write, .ctx = ctx};
  const uint32_t texts = table->strings.count, count = texts < MOST ? texts : MOST;
  forms.of = calloc((size_t)count + 1, sizeof *forms.of);
  forms.count = forms.of ? count : 0;
  return forms;
}

static inline void nai_text_forms_free(struct nai_text_forms *forms) {
  free(forms->of);
  nai_buf_free(&forms->written);
}

/* Appends the text of a cell, which has one. */
static inline void nai_text_forms_put(struct nai_buf *out, struct nai_text_forms *forms, uint32_t id) {
  enum { MOST_BYTES = 1 << 20 };
  const char *text = nai_strings_get(&forms->table->strings, id);
  if (id < forms->count && !forms->of[id].len && forms->written.len < MOST_BYTES) {
    const size_t at = forms->written.len;
    forms->write(&forms->written, forms->ctx, text);
    if (forms->written.len <= UINT32_MAX) {
      forms->of[id].at = (uint32_t)at;
      forms->of[id].len = (uint32_t)(forms->written.len - at);
    }
  }
  if (id < forms->count && forms->of[id].len && !forms->written.oom)
    nai_buf_put(out, forms->written.data + forms->of[id].at, forms->of[id].len);
  else
    forms->write(out, forms->ctx, text);
}
