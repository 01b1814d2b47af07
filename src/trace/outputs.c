/* What a capture holds of a program's output: which streams, and how much. What it says is program_marks.c's; the text
 * itself stays in the export: it may hold secrets. */
#include "trace/extraction.h"
#include "trace/small.h"
#include "tables/program_outputs.h"

struct outputs {
  nai_output_fn *fn;
  void *ctx;
  struct nai_trace *trace;
  struct nai_lookup *strings; /* opened when first needed; NULL when the export has none */
  int64_t count;
};

static void outputs_free(struct outputs *o) { nai_lookup_close(o->strings); }

static bool ends_with(const struct nai_cell *name, const char *end) {
  size_t len = strlen(end);
  return name->len >= len && memcmp(name->data + name->len - len, end, len) == 0;
}

/* The text of a cell that may be a StringIds id; empty when there is none. */
static int text_of(struct nai_cell *text, struct outputs *o, const struct nai_cell *cell, struct nai_err *err) {
  bool found = nai_cell_is_text(cell);
  *text = *cell;
  if (cell->type == NAI_CELL_INT && !o->strings)
    NAI_TRY(nai_string_open(&o->strings, o->trace, err));
  if (cell->type == NAI_CELL_INT)
    NAI_TRY(nai_string_get(&found, text, o->strings, cell->i, err));
  if (!found)
    *text = (struct nai_cell){.type = NAI_CELL_TEXT, .data = ""};
  return NAI_OK;
}

/* cells: globalPid, name of the file, content, and the content where it is no id. */
static int on_cells(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  enum { PATH_BYTES = 4096 };
  struct outputs *o = ctx;
  struct nai_cell file, text;
  char path[PATH_BYTES]; /* the next lookup takes the cell's memory */
  NAI_TRY(text_of(&file, o, &cells[1], err));
  uint32_t len = file.len < sizeof path ? file.len : (uint32_t)sizeof path;
  memcpy(path, file.data + file.len - len, len);
  file.data = path;
  file.len = len;
  NAI_TRY(text_of(&text, o, cells[2].type == NAI_CELL_NULL ? &cells[3] : &cells[2], err));
  o->count++;
  return o->fn(o->ctx, nai_small_int(&cells[0], 0), &file, &text, err);
}

int nai_each_output(struct extraction *x, nai_output_fn *fn, void *ctx, struct nai_err *err) {
  enum { MAX_OUTPUTS = 10000 };
  static const char *const streams[] = {"globalPid", "filenameId", "contentId", "content", NULL};
  static const char *const files[] = {"globalPid", "filename", "contentId", "content", NULL};
  NAI_SCOPED(outputs) o = {.fn = fn, .ctx = ctx, .trace = x->trace};
  NAI_TRY(nai_small_scan(x->trace, "ProcessStreams", streams, MAX_OUTPUTS, on_cells, &o, err));
  if (o.count) /* both tables tell the same, where an export has both */
    return NAI_OK;
  return nai_small_scan(x->trace, "ANALYSIS_FILE", files, MAX_OUTPUTS, on_cells, &o, err);
}

static int on_output(void *ctx, int64_t pid, const struct nai_cell *file, const struct nai_cell *text,
                     struct nai_err *err) {
  enum { STDOUT = 1, STDERR };
  (void)err;
  struct extraction *x = ctx;
  struct nai_table *const *tables = x->out->tables;
  int stream = ends_with(file, "_stdout.log") || ends_with(file, "/stdout.log") ? STDOUT
             : ends_with(file, "_stderr.log") || ends_with(file, "/stderr.log") ? STDERR
                                                                                : 0;
  NAI_ADD(PROGRAM_OUTPUTS, tables[NAI_IN_PROGRAM_OUTPUTS],
          .process = pid ? nai_identity_process(tables[NAI_IN_PROCESSES], pid) : -1, .stream = stream,
          .size_bytes = text->len);
  return NAI_OK;
}

int nai_put_outputs(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  (void)table;
  return nai_each_output(x, on_output, x, err);
}
