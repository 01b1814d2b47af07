/* What a capture holds of a program's output: which streams, how much, and words that bear witness to a failure. The
 * text itself stays in the export: it may hold secrets. */
#include "trace/extraction.h"
#include "trace/small.h"
#include "tables/program_outputs.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct outputs {
  struct extraction *x;
  struct nai_lookup *strings; /* NULL when the export has none */
};

static bool holds(const struct nai_cell *text, const char *word) {
  return text->len && memmem(text->data, text->len, word, strlen(word));
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Whether a word is there in any case; letters around it make it another word ("mirror", "terrors"), but for an "Error"
 * that ends one ("RuntimeError"). */
static bool holds_word(const struct nai_cell *text, const char *word) {
  size_t len = strlen(word);
  for (size_t i = 0; i + len <= text->len; i++) {
    const char *at = text->data + i;
    if (strncasecmp(at, word, len) != 0)
      continue;
    bool begins = i == 0 || !is_letter(at[-1]) || (at[0] >= 'A' && at[0] <= 'Z');
    if (begins && (i + len == text->len || !is_letter(at[len])))
      return true;
  }
  return false;
}

static void set_flags(struct nai_table *table, int64_t row, const struct nai_cell *text) {
  nai_set_i64(table, row, PROGRAM_OUTPUTS_has_traceback, holds(text, "Traceback (most recent call last)"));
  nai_set_i64(table, row, PROGRAM_OUTPUTS_has_error, holds_word(text, "error"));
  nai_set_i64(table, row, PROGRAM_OUTPUTS_has_failed, holds_word(text, "failed"));
  nai_set_i64(table, row, PROGRAM_OUTPUTS_has_cuda_error,
              holds(text, "CUDA error") || holds(text, "cudaError") || holds(text, "NCCL WARN"));
  nai_set_i64(table, row, PROGRAM_OUTPUTS_has_killed,
              holds(text, "Killed") || holds(text, "Segmentation fault") || holds(text, "core dumped") ||
                  holds(text, "out of memory"));
}

static bool ends_with(const struct nai_cell *name, const char *end) {
  size_t len = strlen(end);
  return name->len >= len && memcmp(name->data + name->len - len, end, len) == 0;
}

/* The text of a cell that may be a StringIds id; empty when there is none. */
static int text_of(struct nai_cell *text, struct outputs *o, const struct nai_cell *cell, struct nai_err *err) {
  bool found = false;
  *text = (struct nai_cell){.type = NAI_CELL_TEXT, .data = ""};
  if (cell->type == NAI_CELL_TEXT || cell->type == NAI_CELL_BLOB)
    *text = *cell;
  if (cell->type != NAI_CELL_INT || !o->strings)
    return NAI_OK;
  struct nai_cell value;
  int rc = nai_lookup_get(&found, &value, o->strings, cell->i, err);
  if (!rc && found && (value.type == NAI_CELL_TEXT || value.type == NAI_CELL_BLOB))
    *text = value;
  return rc;
}

/* cells: globalPid, name of the file, content, and the content where it is no id. */
static int on_output(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  enum { STDOUT = 1, STDERR };
  struct outputs *o = ctx;
  struct nai_table *table = o->x->out->tables[NAI_IN_PROGRAM_OUTPUTS];
  struct nai_cell text;
  int rc = text_of(&text, o, &cells[1], err);
  if (rc)
    return rc;
  int stream = ends_with(&text, "_stdout.log") || ends_with(&text, "/stdout.log") ? STDOUT
             : ends_with(&text, "_stderr.log") || ends_with(&text, "/stderr.log") ? STDERR
                                                                                  : 0;
  rc = text_of(&text, o, cells[2].type == NAI_CELL_NULL ? &cells[3] : &cells[2], err);
  if (rc)
    return rc;
  int64_t row = nai_table_add_row(table), pid = nai_small_int(&cells[0], 0);
  nai_set_i64(table, row, PROGRAM_OUTPUTS_process,
              pid ? nai_identity_process(o->x->out->tables[NAI_IN_PROCESSES], pid) : -1);
  nai_set_i64(table, row, PROGRAM_OUTPUTS_stream, stream);
  nai_set_i64(table, row, PROGRAM_OUTPUTS_size_bytes, text.len);
  set_flags(table, row, &text);
  return NAI_OK;
}

int nai_put_outputs(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  enum { MAX_OUTPUTS = 10000 };
  struct outputs o = {.x = x};
  const struct nai_db_table *strings = nai_trace_table(x->trace, "StringIds");
  int value = strings && strings->plain ? nai_db_column(strings, "value") : -1;
  int rc = value < 0 ? NAI_OK : nai_lookup_open(&o.strings, x->trace, strings->name, value, err);
  if (!rc)
    rc = nai_small_scan(x->trace, "ProcessStreams",
                        (const char *const[]){"globalPid", "filenameId", "contentId", "content", NULL}, MAX_OUTPUTS,
                        on_output, &o, err);
  if (!rc && table->rows == 0) /* both tables tell the same, where an export has both */
    rc = nai_small_scan(x->trace, "ANALYSIS_FILE",
                        (const char *const[]){"globalPid", "filename", "contentId", "content", NULL}, MAX_OUTPUTS,
                        on_output, &o, err);
  nai_lookup_close(o.strings);
  return rc;
}
