#include "cmd/ask/answer.h"

#include "pipeline/analyze.h"
#include "render/escape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nai_cmd_ask_init(struct nai_cmd_ask *ask) {
  ask->gpu = INT64_MIN;
  ask->rows = -1;
}

const char *nai_cmd_answer_formats(size_t index, const char *before) {
  return index == NAI_ROWS_TABLE ? "text" : nai_cmd_rows_formats(index, before);
}

static const enum nai_rows_format page_formats[] = {NAI_ROWS_TABLE, NAI_ROWS_CSV, NAI_ROWS_JSON, NAI_ROWS_MARKDOWN};

const char *nai_cmd_page_formats(size_t index, const char *before) {
  return index < sizeof page_formats / sizeof *page_formats ? nai_cmd_answer_formats(page_formats[index], before)
                                                            : NULL;
}

enum nai_rows_format nai_cmd_page_format(int choice) { return page_formats[choice]; }

static int set_window(void *memory, const struct nai_cli_option *option, const char *const *values,
                      struct nai_err *err) {
  struct nai_cmd_ask *ask = (struct nai_cmd_ask *)((char *)memory + option->at);
  ask->windowed = true;
  return nai_cli_read_stretch(&ask->start_ns, &ask->end_ns, option, values, err);
}

const struct nai_cli_type nai_cmd_window_type = {set_window, NULL};

struct nai_skill_request nai_cmd_request(struct nai_run *run, const struct nai_cmd_ask *ask) {
  return (struct nai_skill_request){.run = run,
                                    .parameters = ask->parameters,
                                    .parameter_count = ask->parameter_count,
                                    .has_window = ask->windowed,
                                    .has_gpu = ask->gpu != INT64_MIN,
                                    .window_start_ns = ask->start_ns,
                                    .window_end_ns = ask->end_ns,
                                    .gpu = ask->gpu};
}

int nai_cmd_check_looks(const struct nai_cmd_ask *ask, const char *sql, const char *what, struct nai_err *err) {
  if (ask->gpu != INT64_MIN && !strstr(sql, ":gpu"))
    return nai_err_set(err, NAI_EUSAGE,
                       "%s does not tell GPUs apart (its statement has no :gpu), so --gpu has no meaning", what);
  if (ask->windowed && !strstr(sql, ":start_ns"))
    return nai_err_set(err, NAI_EUSAGE,
                       "%s looks at the whole capture (its statement has no :start_ns), so --window has no meaning",
                       what);
  return NAI_OK;
}

int nai_cmd_check_window(const struct nai_cmd_ask *ask, struct nai_run *run, struct nai_err *err) {
  const struct nai_table *capture;
  int rc = ask->windowed ? nai_run_table(&capture, run, nai_capture.name, &nai_capture, err) : NAI_OK;
  if (rc || !ask->windowed || !capture->rows)
    return rc;
  int64_t start = nai_get_i64(capture, 0, CA_START), stop = nai_get_i64(capture, 0, CA_STOP);
  if (start == NAI_NULL_I64 || stop == NAI_NULL_I64 || stop <= start || (ask->start_ns < stop && ask->end_ns > start))
    return NAI_OK;
  return nai_err_set(err, NAI_EUSAGE, "--window: nothing was captured then; the capture lasted from %.3f to %.3f s",
                     (double)start / 1e9, (double)stop / 1e9);
}

int nai_cmd_print_table(struct nai_buf *out, const struct nai_table *table, const struct nai_cmd_ask *ask,
                        struct nai_err *err) {
  struct nai_rows rows = {.format = (enum nai_rows_format)ask->format,
                          .human = true,
                          .none = ask->none ? ask->none : "none",
                          .title = ask->title,
                          .width = nai_cmd_terminal_width()};
  uint32_t count = 0;
  for (struct nai_print p = NAI_FIRST_PRINT; nai_print_next(&p, table->schema);)
    count++;
  struct nai_rows_column *columns = calloc((size_t)count + 1, sizeof *columns);
  char(*names)[NAI_COLUMN_NAME_MAX] = calloc((size_t)count + 1, sizeof *names);
  struct nai_value *cells = calloc((size_t)count + 1, sizeof *cells);
  if (columns && names && cells) {
    uint32_t i = 0;
    for (struct nai_print p = NAI_FIRST_PRINT; nai_print_next(&p, table->schema); i++)
      columns[i] = (struct nai_rows_column){nai_print_name(names[i], table->schema, &p), p.unit};
    rows.columns = columns;
    rows.count = count;
    nai_rows_begin(&rows, out);
    for (int64_t row = 0; row < table->rows && (ask->rows < 0 || row < ask->rows); row++) {
      i = 0;
      for (struct nai_print p = NAI_FIRST_PRINT; nai_print_next(&p, table->schema); i++)
        cells[i] = nai_table_value(table, row, p.column);
      nai_rows_put(&rows, cells);
    }
    nai_rows_end(&rows, ask->rows >= 0 && table->rows > ask->rows);
  } else {
    out->oom = true;
  }
  free(columns);
  free(names);
  free(cells);
  return nai_buf_check(out, err);
}

static int print_reason(struct nai_buf *out, const struct nai_skill_answer *answer, const struct nai_cmd_ask *ask,
                        struct nai_err *err) {
  struct nai_json json;
  if (ask->format == NAI_ROWS_JSON || ask->format == NAI_ROWS_NDJSON) {
    nai_json_init(&json, out, false);
    nai_json_begin_object(&json, NAI_JSON_INLINE);
    if (ask->title)
      nai_json_put_text(&json, "title", ask->title);
    nai_json_put_bool(&json, "abstained", true);
    nai_json_put_text(&json, "reason", nai_buf_str(&answer->reason));
    nai_json_end(&json);
    nai_json_finish(&json);
    nai_buf_putc(out, '\n');
  } else if (ask->format == NAI_ROWS_CSV) {
    fprintf(stderr, "nsys-ai: cannot say: %s\n", nai_buf_str(&answer->reason));
  } else {
    nai_buf_puts(out, "cannot say: ");
    nai_escape_terminal(out, nai_buf_str(&answer->reason), answer->reason.len);
    nai_buf_putc(out, '\n');
  }
  return nai_buf_check(out, err);
}

int nai_cmd_print_answer(struct nai_buf *out, const struct nai_skill *skill, const struct nai_skill_answer *answer,
                         const struct nai_cmd_ask *ask, struct nai_err *err) {
  if (!answer->table)
    return print_reason(out, answer, ask, err);
  if (ask->format == NAI_ROWS_TABLE && skill->line && answer->table->rows) {
    nai_skill_put_line(out, skill, answer->table, nai_escape_terminal);
    nai_buf_puts(out, "\n\n");
  }
  if (answer->left_out && !ask->quiet)
    fprintf(stderr, "nsys-ai: %lld further rows are left out\n", (long long)answer->left_out);
  return nai_cmd_print_table(out, answer->table, ask, err);
}

int nai_cmd_answer(nai_cmd_answer_fn *answer, const void *args, const struct nai_cmd_ask *ask,
                   const char *const *operands, struct nai_err *err) {
  struct nai_run *run = NULL;
  struct nai_buf out = {0};
  int rc = nai_cmd_source_open(&run, operands[0], &(struct nai_cmd_source){.quiet = ask->quiet}, err);
  if (!rc)
    rc = answer(&out, args, run, operands, err);
  if (!rc)
    rc = nai_cmd_print(&out, err);
  nai_run_close(run);
  nai_buf_free(&out);
  return rc;
}
