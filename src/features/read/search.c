/* nsys-ai search: events by name. */
#include "command/asking.h"

struct search_args {
  struct nai_cmd_ask ask;
  const char *in, *under;
  bool regex;
};

static void init(void *memory) {
  struct search_args *args = memory;
  nai_cmd_ask_init(&args->ask);
  args->ask.rows = 200;
}

/* What can be searched: its part of the statement. Names are tested once each, not once per event. */
#define MATCHES(table) "name in (select name from (select distinct name from " table ") where name regexp :pattern)"
#define WINDOW " and (:start_ns is null or end_ns > :start_ns) and (:end_ns is null or start_ns < :end_ns)"
#define ON_GPU " and (:gpu is null or device_id = :gpu)"
#define UNDER " and (:under is null or instr(' > ' || path || ' > ', ' > ' || :under || ' > ') > 0)"
static const struct {
  const char *name, *select;
  bool on_gpu, has_path;
} kinds[] = {
    {"kernels",
     "select 'kernel' as kind, start_ns, end_ns, duration_ns, device_id, stream_id, pid, tid, name, path from "
     "v_kernels where " MATCHES("kernel_events") WINDOW ON_GPU UNDER,
     true, true},
    {"copies",
     "select 'copy' as kind, start_ns, end_ns, duration_ns, device_id, stream_id, pid, tid, direction as name, "
     "path from v_copies where direction regexp :pattern" WINDOW ON_GPU UNDER,
     true, true},
    {"calls",
     "select 'call' as kind, start_ns, end_ns, duration_ns, null as device_id, null as stream_id, pid, tid, name, "
     "path from v_calls where " MATCHES("api_events") WINDOW UNDER,
     false, true},
    {"ranges",
     "select 'range' as kind, start_ns, end_ns, duration_ns, null as device_id, null as stream_id, pid, tid, "
     "name, null as path from v_ranges where " MATCHES("nvtx_events") WINDOW,
     false, false},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

NAI_CLI_NAMES_OF(kind_name, kinds)

#define NAI_CLI_ARGS struct search_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(word, in, "in", "KIND", "search these only", .choices = kind_name, .otherwise = "all of them"),
    NAI_CLI_SWITCH(on, regex, "regex", "PATTERN is a PCRE2 regular expression; letters match in the case they have"),
    NAI_CLI_OPTION(text, under, "under", "RANGE",
                   "what was launched or called while this NVTX range was open on its thread", .otherwise = "anywhere"),
    NAI_CMD_GPU_OPTION,
    NAI_CMD_WINDOW_OPTION,
    NAI_CLI_OPTION(int64, ask.rows, "limit", "N", "print the first N matches", .letter = 'n',
                   NAI_CLI_RANGE(0, INT64_MAX)),
    NAI_CMD_FORMAT_OPTION,
    NAI_CMD_EXPORT_OPTION,
    NAI_CMD_QUIET_OPTION,
    {0},
};

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct search_args *args = memory;
  (void)count;
  if (!*operands[1])
    return nai_err_set(err, NAI_EUSAGE, "the pattern is empty");
  for (size_t i = 0; i < KINDS && args->in; i++)
    if (strcmp(kinds[i].name, args->in) == 0 &&
        ((args->under && !kinds[i].has_path) || (args->ask.gpu != INT64_MIN && !kinds[i].on_gpu)))
      return nai_err_set(err, NAI_EUSAGE, "--in %s and %s exclude each other", args->in,
                         args->under && !kinds[i].has_path ? "--under" : "--gpu");
  return NAI_OK;
}

/* The pattern as an expression: a plain one has no special characters and no case. */
static void put_pattern(struct nai_buf *out, const char *pattern, bool regex) {
  if (regex) {
    nai_buf_puts(out, pattern);
    return;
  }
  nai_buf_puts(out, "(?i)");
  for (const char *p = pattern; *p; p++) {
    if (strchr("\\^$.[]|()?*+{}-#", *p))
      nai_buf_putc(out, '\\');
    nai_buf_putc(out, *p);
  }
}

static void put_parts(struct nai_buf *sql, const struct search_args *args) {
  const char *between = "";
  for (size_t i = 0; i < KINDS; i++) {
    bool wanted = args->in ? strcmp(kinds[i].name, args->in) == 0
                           : (!args->under || kinds[i].has_path) && (args->ask.gpu == INT64_MIN || kinds[i].on_gpu);
    if (!wanted)
      continue;
    nai_buf_printf(sql, "%s%s", between, kinds[i].select);
    between = " union all ";
  }
}

static int count_matches(int64_t *out, const struct nai_query *query, const char *parts, struct nai_err *err) {
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_SCOPED(nai_query_rows) rows = {0};
  nai_buf_printf(&sql, "select count(*) from (%s)", parts);
  NAI_TRY(nai_buf_check(&sql, err));
  NAI_TRY(nai_query_ask(&rows, query->run, nai_buf_str(&sql), query->parameters, query->parameter_count, err));
  *out = nai_query_cell_int(&rows, 0, 0);
  return NAI_OK;
}

/* --under may be misspelled: says where no path has such a range. */
static int check_range(struct nai_run *run, const struct search_args *args, struct nai_err *err) {
  static const char sql[] = "select count(*) from nvtx_nodes where :under is not null" UNDER;
  const struct nai_query_parameter under = nai_query_string("under", args->under);
  NAI_SCOPED(nai_query_rows) rows = {0};
  NAI_SCOPED(nai_buf) note = {0};
  if (!args->under || args->ask.quiet)
    return NAI_OK;
  NAI_TRY(nai_query_ask(&rows, run, sql, &under, 1, err));
  nai_buf_printf(&note, "--under: no range of the run is called \"%s\"", args->under);
  if (!nai_query_cell_int(&rows, 0, 0))
    nai_cmd_note(nai_buf_str(&note));
  return nai_buf_check(&note, err);
}

static int answer(struct nai_buf *out, const void *memory, struct nai_run *run, const char *const *operands,
                  struct nai_err *err) {
  const struct search_args *args = memory;
  const struct nai_cmd_ask *ask = &args->ask;
  NAI_SCOPED(nai_buf) expression = {0}, parts = {0}, sql = {0};
  const struct nai_cmd_printing how = {
      .format = (enum nai_rows_format)ask->format, .human = true, .titles = true, .width = nai_cmd_terminal_width()};
  bool truncated;
  NAI_TRY(check_range(run, args, err));
  put_pattern(&expression, operands[1], args->regex);
  put_parts(&parts, args);
  nai_buf_printf(&sql,
                 "select kind, start_ns, duration_ns, device_id, stream_id, pid, tid, %s, path from (%s) order by "
                 "start_ns, kind, end_ns, device_id, stream_id, tid, name",
                 ask->format == NAI_ROWS_TABLE ? "iif(kind = 'kernel', short_name(name), name) as name" : "name",
                 nai_buf_str(&parts));
  NAI_TRY(expression.oom || parts.oom ? nai_err_nomem(err) : nai_buf_check(&sql, err));
  const struct nai_query_parameter parameters[] = {
      nai_query_string("pattern", nai_buf_str(&expression)), nai_query_string("under", args->under),
      nai_query_int("gpu", ask->gpu, INT64_MIN),
      nai_query_int("start_ns", ask->window.given ? ask->window.start_ns : NAI_NULL_I64, NAI_NULL_I64),
      nai_query_int("end_ns", ask->window.given ? ask->window.end_ns : NAI_NULL_I64, NAI_NULL_I64)};
  const struct nai_query_text text = {.sql = nai_buf_str(&sql), .label = "search"};
  const struct nai_query query = {
      .run = run, .text = &text, .parameters = parameters, .parameter_count = 5, .limits = {.rows = ask->rows}};
  NAI_TRY(nai_cmd_query(&truncated, out, &query, &how, err));
  if (ask->format == NAI_ROWS_TABLE) {
    int64_t matches;
    NAI_TRY(count_matches(&matches, &query, nai_buf_str(&parts), err));
    nai_buf_printf(out, "%" PRId64 " matches, %" PRId64 " shown\n", matches, matches < ask->rows ? matches : ask->rows);
  } else if (truncated && !ask->quiet) {
    fprintf(stderr, "nsys-ai: the first %" PRId64 " matches; --limit N prints more\n", ask->rows);
  }
  return NAI_OK;
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct search_args *args = memory;
  (void)count;
  return nai_cmd_answer(answer, args, &args->ask, operands, err);
}

NAI_CLI_COMMAND(
    nai_cmd_search, .name = "search", .synopsis = "SRC PATTERN",
    .summary = "find events by name: kernels, copies, calls, ranges",
    .description =
        "Prints the kernels, copies, API calls and NVTX ranges whose name holds PATTERN, in either case, by start. " NAI_CMD_ABOUT_SOURCE,
    .examples =
        "nsys-ai search artifacts/run1 flash\nnsys-ai search artifacts/run1 '^nccl' --regex --in kernels --format csv\n"
        "nsys-ai search artifacts/run1 gemm --under forward --gpu 0",
    .options = options, NAI_CLI_OPERANDS(2, 2, NAI_CMD_SOURCE("SRC"), {.name = "PATTERN"}), .init = init,
    .check = check, .run = run)
