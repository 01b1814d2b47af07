/* Cells of an export's columns, of what a run keeps. */
#include "features/stats/kept.h"

enum { MAX_TEXT = 8192 }; /* longer ones are cut */

int nai_kept_lacks(struct nai_err *err, const char *what, const char *of) {
  return nai_err_set(err, NAI_ESTALE, "the run does not keep %s of table \"%s\" as the export has it", what, of);
}

/* A text of the table's, and what was cut off it; "#5" stands for a text that the export lacks. */
static int add_text(int64_t *out, const struct nai_kept_load *load, int64_t text, int64_t suffix,
                    struct nai_strings *into, struct nai_err *err) {
  const struct nai_strings *all = &load->table->strings;
  const char *words = nai_strings_get(all, (uint32_t)text);
  size_t len = nai_strings_len(all, (uint32_t)text);
  if (len > MAX_TEXT || (*words == '#' && words[1 + strspn(words + 1, "-0123456789")] == '\0'))
    return nai_kept_lacks(err, "each text", load->from->name);
  NAI_SCOPED(nai_buf) whole = {0};
  nai_buf_put(&whole, words, len);
  nai_buf_puts(&whole, suffix < 0 ? "" : nai_strings_get(all, (uint32_t)suffix));
  NAI_TRY(nai_buf_check(&whole, err));
  if (!into)
    return nai_stats_text(out, load->source, nai_buf_str(&whole), err);
  *out = nai_strings_add(into, nai_buf_str(&whole), whole.len);
  return nai_memory_check(*out != NAI_NO_STRING, err);
}

/* Texts by their number, or their number and that of the suffix: most rows have one that came before. */
static int fill_texts(int64_t *values, const struct nai_kept_load *load, const struct nai_kept_cells *column,
                      int64_t first, size_t count, struct nai_strings *into, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_keyset known = {.arena = &arena};
  int64_t *texts = NULL;
  uint32_t capacity = 0, slot = 0;
  int64_t last = NAI_NULL_I64;
  for (size_t i = 0; i < count; i++) {
    int64_t suffix = -1, text = values[i];
    bool added;
    if (text == NAI_NULL_I64)
      continue;
    if (column->kept->how == NAI_KEPT_CALL)
      suffix = (int32_t)nai_at(&column->other, (uint64_t)first + i);
    int64_t key = nai_key_pair(text, (uint32_t)suffix);
    if (key != last || !i) {
      slot = nai_keyset_add(&known, key, &added);
      NAI_TRY(nai_memory_check(!known.oom, err));
      NAI_TRY(NAI_ROOM(texts, capacity, slot, &arena, err));
      if (added)
        NAI_TRY(add_text(&texts[slot], load, text, suffix, into, err));
      last = key;
    }
    values[i] = texts[slot];
  }
  return NAI_OK;
}

/* Rows of another table: what stands there. */
int nai_kept_fill_rows(int64_t *values, size_t count, const int64_t *rows, int64_t row_count, bool may_be_none,
                       const struct nai_kept_load *load, struct nai_err *err) {
  for (size_t i = 0; i < count; i++) {
    if (values[i] == NAI_NULL_I64 && may_be_none)
      continue;
    if (values[i] < 0 || values[i] >= row_count)
      return nai_kept_lacks(err, "each thread, process and GPU", load->from->name);
    values[i] = rows[values[i]];
    if (values[i] == NAI_NULL_I64)
      return nai_kept_lacks(err, "each thread, process and GPU", load->from->name);
  }
  return NAI_OK;
}

int nai_kept_fill(int64_t *values, const struct nai_kept_load *load, const struct nai_kept_cells *column, int64_t first,
                  size_t count, struct nai_strings *into, struct nai_err *err) {
  static const int64_t types[] = {59, 60, 34};
  enum nai_kept_how how = column->kept ? column->kept->how : NAI_KEPT_NOTHING;
  if (how != NAI_KEPT_NOTHING)
    nai_unpack(values, &column->cells, (uint64_t)first, count);
  switch (how) {
  case NAI_KEPT_NOTHING:
    for (size_t i = 0; i < count; i++)
      values[i] = NAI_STATS_NULL;
    return NAI_OK;
  case NAI_KEPT_CLASS:
    for (size_t i = 0; i < count; i++)
      values[i] = NAI_STATS_OSRT_CLASS;
    return NAI_OK;
  case NAI_KEPT_CALL_END:
    for (size_t i = 0; i < count; i++)
      values[i] = nai_at(&column->other, (uint64_t)first + i) == 1 ? NAI_STATS_NULL : values[i] + load->offset;
    return NAI_OK;
  case NAI_KEPT_MOMENT:
    for (size_t i = 0; i < count && load->offset; i++)
      values[i] += load->offset;
    return NAI_OK;
  case NAI_KEPT_TEXT:
  case NAI_KEPT_CALL:
    return fill_texts(values, load, column, first, count, into, err);
  case NAI_KEPT_THREAD:
    return nai_kept_fill_rows(values, count, load->threads, load->thread_count,
                              strcmp(column->kept->column, "thread") != 0, load, err);
  case NAI_KEPT_PROCESS:
    return nai_kept_fill_rows(values, count, load->processes, load->process_count, false, load, err);
  case NAI_KEPT_DEVICE:
    return nai_kept_fill_rows(values, count, load->devices, load->device_count, false, load, err);
  case NAI_KEPT_DOMAIN:
    return nai_kept_fill_rows(values, count, load->domains, load->domain_count, false, load, err);
  case NAI_KEPT_TYPE:
    return nai_kept_fill_rows(values, count, types, 3, false, load, err);
  case NAI_KEPT_CONFIG:
    for (size_t i = 0; i < count; i++) {
      if (values[i] < 0 || values[i] >= load->config_count)
        return nai_kept_lacks(err, "each configuration", load->from->name);
      int32_t value = nai_at_i32(&column->other, (uint64_t)values[i]);
      values[i] = value == NAI_NULL_I32 ? NAI_STATS_NULL : value;
    }
    return NAI_OK;
  case NAI_KEPT_ROWID:
    for (size_t i = 0; i < count; i++)
      values[i] += values[i] == NAI_NULL_I64 ? 0 : first + (int64_t)i;
    return NAI_OK;
  case NAI_KEPT_NUMBER:
    return NAI_OK;
  }
  return NAI_OK;
}
