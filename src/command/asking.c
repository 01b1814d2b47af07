#include "command/asking.h"

#include "base/fmt.h"
#include "base/escape.h"
#include "tables/events.h"

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

struct nai_skill_request nai_cmd_request(struct nai_run *run, const struct nai_cmd_ask *ask) {
  return (struct nai_skill_request){.run = run,
                                    .parameters = ask->parameters,
                                    .parameter_count = ask->parameter_count,
                                    .has_window = ask->window.given,
                                    .has_gpu = ask->gpu != INT64_MIN,
                                    .window_start_ns = ask->window.start_ns,
                                    .window_end_ns = ask->window.end_ns,
                                    .gpu = ask->gpu};
}

int nai_cmd_check_looks(const struct nai_cmd_ask *ask, const char *sql, const char *what, struct nai_err *err) {
  if (ask->gpu != INT64_MIN && !strstr(sql, ":gpu"))
    return nai_err_set(err, NAI_EUSAGE,
                       "%s does not tell GPUs apart (its statement has no :gpu), so --gpu has no meaning", what);
  if (ask->window.given && !strstr(sql, ":start_ns"))
    return nai_err_set(err, NAI_EUSAGE,
                       "%s looks at the whole capture (its statement has no :start_ns), so --window has no meaning",
                       what);
  return NAI_OK;
}

int nai_cmd_check_gpu(int64_t gpu, struct nai_run *run, struct nai_err *err) {
  static const char statement[] = "select device_id from gpus where device_id is not null union select device_id from "
                                  "gpu_utilization where device_id is not null order by 1";
  NAI_SCOPED(nai_query_rows) rows = {0};
  NAI_SCOPED(nai_buf) has = {0};
  if (gpu == INT64_MIN)
    return NAI_OK;
  NAI_TRY(nai_query_ask(&rows, run, statement, NULL, 0, err));
  for (int64_t row = 0; row < rows.rows; row++) {
    if (nai_query_cell_int(&rows, row, 0) == gpu)
      return NAI_OK;
    nai_buf_printf(&has, "%s%" PRId64, row ? ", " : "", nai_query_cell_int(&rows, row, 0));
  }
  NAI_TRY(nai_buf_check(&has, err));
  return nai_err_set(err, NAI_EUSAGE, "--gpu %" PRId64 ": the run has no such GPU; it has: %s", gpu,
                     rows.rows ? nai_buf_str(&has) : "none");
}

/* Stretches [*first, *last] to what the rows of an event table take, if the run has it and it has times. */
static int stretch(int64_t *first, int64_t *last, struct nai_run *run, const struct nai_schema *schema,
                   struct nai_err *err) {
  const struct nai_table *table = NULL;
  int start = nai_schema_role(schema, NAI_ROLE_START), end = nai_schema_role(schema, NAI_ROLE_END);
  if (start >= 0)
    NAI_TRY(nai_run_table_if_any(&table, run, schema->name, schema, err));
  for (int64_t row = 0; table && row < table->rows; row++) {
    int64_t from = nai_get_i64(table, row, start);
    int64_t to = end < 0 ? from : nai_get_i64(table, row, end);
    if (from != NAI_NULL_I64 && from < *first)
      *first = from;
    if (to > *last) /* NULL is the least number */
      *last = to;
  }
  return NAI_OK;
}

int nai_cmd_place_stretch(struct nai_cli_stretch *given, const char *option, struct nai_run *run, struct nai_err *err) {
  int64_t first = INT64_MAX, last = INT64_MIN, begin = INT64_MAX;
  NAI_SCOPED(nai_buf) events = {0};
  if (!given->given)
    return NAI_OK;
  for (int i = NAI_IN_FIRST_EVENTS; i < NAI_IN_COUNT; i++) {
    int64_t from = INT64_MAX;
    NAI_TRY(stretch(&from, &last, run, nai_event_tables[i], err));
    first = from < first ? from : first;
    if (nai_input_begins(i) && from < begin)
      begin = from;
  }
  if (given->from_first && begin != INT64_MAX)
    *given = (struct nai_cli_stretch){true, false, given->start_ns + begin, given->end_ns + begin};
  if (first > last || (given->start_ns <= last && given->end_ns >= first))
    return NAI_OK;
  nai_fmt_scaled(&events, first, 9);
  nai_buf_puts(&events, " s to ");
  nai_fmt_scaled(&events, last, 9);
  return nai_err_set(err, NAI_EUSAGE, "%s: nothing of the trace lies in that time; its events go from %s s", option,
                     nai_buf_str(&events));
}

int nai_cmd_check_asked(struct nai_cmd_ask *ask, struct nai_run *run, struct nai_err *err) {
  NAI_TRY(nai_cmd_check_gpu(ask->gpu, run, err));
  return nai_cmd_place_stretch(&ask->window, "--window", run, err);
}

/* "none with range=forward": a parameter that nothing in the trace matches may be misspelled. */
static void put_none(struct nai_buf *out, const struct nai_cmd_ask *ask) {
  nai_buf_puts(out, ask->none ? ask->none : "none");
  for (size_t i = 0; i < ask->parameter_count && !ask->none; i++) {
    nai_buf_puts(out, i ? ", " : " with ");
    nai_escape_terminal(out, ask->parameters[i], strlen(ask->parameters[i]));
  }
}

int nai_cmd_print_table(struct nai_buf *out, const struct nai_table *table, const struct nai_cmd_ask *ask,
                        struct nai_err *err) {
  NAI_SCOPED(nai_buf) none = {0};
  put_none(&none, ask);
  NAI_TRY(nai_buf_check(&none, err));
  struct nai_rows rows = {.format = (enum nai_rows_format)ask->format,
                          .human = true,
                          .titles = true,
                          .none = nai_buf_str(&none),
                          .title = ask->title,
                          .width = nai_cmd_terminal_width()};
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_rows_column *columns;
  struct nai_value *cells;
  char(*names)[NAI_COLUMN_NAME_MAX];
  uint32_t i = 0;
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, table->schema);)
    rows.count++;
  NAI_TRY(NAI_NEW(columns, &arena, rows.count, err));
  NAI_TRY(NAI_NEW(cells, &arena, rows.count, err));
  NAI_TRY(NAI_NEW(names, &arena, rows.count, err));
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, table->schema); i++)
    columns[i] = (struct nai_rows_column){nai_display_column_name(names[i], table->schema, &p), p.unit};
  rows.columns = columns;
  nai_rows_begin(&rows, out);
  for (int64_t row = 0; row < table->rows && (ask->rows < 0 || row < ask->rows); row++) {
    i = 0;
    for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, table->schema); i++)
      cells[i] = nai_table_value(table, row, p.column);
    nai_rows_put(&rows, cells);
  }
  nai_rows_end(&rows, ask->rows >= 0 && table->rows > ask->rows);
  return nai_buf_check(out, err);
}

static int print_reason(struct nai_buf *out, const struct nai_skill_answer *answer, const struct nai_cmd_ask *ask,
                        struct nai_err *err) {
  struct nai_json json;
  if (ask->format == NAI_ROWS_JSON || ask->format == NAI_ROWS_NDJSON) {
    nai_json_open(&json, out, NAI_JSON_INLINE);
    if (ask->title)
      nai_json_put_text(&json, "title", ask->title);
    nai_json_put_bool(&json, "abstained", true);
    nai_json_put_text(&json, "reason", nai_buf_str(&answer->reason));
    nai_json_close(&json);
  } else if (ask->format == NAI_ROWS_CSV) {
    fprintf(stderr, "nsys-ai: cannot say: %s\n", nai_buf_str(&answer->reason));
  } else {
    NAI_SCOPED(nai_buf) line = {0};
    nai_buf_puts(&line, "cannot say: ");
    nai_escape_terminal(&line, nai_buf_str(&answer->reason), answer->reason.len);
    nai_cmd_put_wrapped(out, nai_buf_str(&line), line.len, 0);
    out->oom |= line.oom;
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

int nai_cmd_blame_build(int rc, const struct nai_run *run, struct nai_err *err) {
  static const char begin[] = "no such ";
  if (rc != NAI_EUSAGE || !strstr(err->msg, begin) || nai_manifest_is_of_this_program(nai_run_manifest(run)))
    return rc;
  return nai_err_set(err, NAI_EINPUT,
                     "the run \"%s\" was made by another build of nsys-ai: analyze its trace again (%s)",
                     nai_run_path(run), strstr(err->msg, begin));
}

int nai_cmd_answer(nai_cmd_answer_fn *answer, const void *args, struct nai_cmd_ask *ask, const char *const *operands,
                   struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  NAI_SCOPED(nai_buf) out = {0};
  NAI_TRY(nai_cmd_source_open(&run, operands[0], &(struct nai_cmd_source){.quiet = ask->quiet}, err));
  NAI_TRY(nai_cmd_check_asked(ask, run, err));
  NAI_TRY(nai_cmd_blame_build(answer(&out, args, run, operands, err), run, err));
  return nai_cmd_print(&out, err);
}

int nai_cmd_load_skills(struct nai_skills *skills, const struct nai_cmd_ask *ask, struct nai_err *err) {
  NAI_TRY(nai_skills_load(skills, ask->skills, ask->skill_count, err));
  const char *line = nai_buf_str(&skills->left_out);
  for (size_t len; !ask->quiet && (len = strcspn(line, "\n")); line += len + 1) {
    NAI_SCOPED(nai_buf) text = {0};
    nai_buf_put(&text, line, len);
    nai_cmd_note(nai_buf_str(&text));
  }
  return NAI_OK;
}
