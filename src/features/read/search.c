/* nsys-ai search: events by name. */
#include "command/answer.h"
#include "command/collect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

static const char *kind_name(size_t i, const char *before) {
  (void)before;
  return i < KINDS ? kinds[i].name : NULL;
}

#define ASK offsetof(struct search_args, ask)
static const struct nai_cli_option options[] = {
    {.name = "in",
     .value = "KIND",
     .help = "search these only",
     .type = &nai_cli_word,
     .at = offsetof(struct search_args, in),
     .choices = kind_name,
     .otherwise = "all of them"},
    {.name = "regex",
     .help = "PATTERN is a PCRE2 regular expression; letters match in the case they have",
     .type = &nai_cli_on,
     .at = offsetof(struct search_args, regex)},
    {.name = "under",
     .value = "RANGE",
     .help = "what was launched or called while this NVTX range was open on its thread",
     .type = &nai_cli_text,
     .at = offsetof(struct search_args, under),
     .otherwise = "anywhere"},
    NAI_CMD_GPU_OPTION(ASK),
    NAI_CMD_WINDOW_OPTION(ASK),
    {.name = "limit",
     .letter = 'n',
     .value = "N",
     .help = "print the first N matches",
     .type = &nai_cli_int64,
     .at = ASK + offsetof(struct nai_cmd_ask, rows),
     .min = 0,
     .max = INT64_MAX},
    NAI_CMD_FORMAT_OPTION(ASK),
    NAI_CMD_QUIET_OPTION(ASK),
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

static int count_matches(int64_t *out, struct nai_run *run, const struct nai_query *query, const char *parts,
                         struct nai_err *err) {
  struct nai_buf sql = {0};
  struct nai_query_rows rows = {0};
  nai_buf_printf(&sql, "select count(*) from (%s)", parts);
  int rc = nai_buf_check(&sql, err);
  if (!rc)
    rc = nai_cmd_collect(&rows, run, nai_buf_str(&sql), query->parameters, query->parameter_count, err);
  *out = rc ? 0 : nai_query_cell_int(&rows, 0, 0);
  nai_query_rows_free(&rows);
  nai_buf_free(&sql);
  return rc;
}

static int answer(struct nai_buf *out, const void *memory, struct nai_run *run, const char *const *operands,
                  struct nai_err *err) {
  const struct search_args *args = memory;
  struct nai_buf expression = {0}, parts = {0}, sql = {0};
  const struct nai_cmd_printing how = {
      .format = (enum nai_rows_format)args->ask.format, .human = true, .width = nai_cmd_terminal_width()};
  bool truncated;
  int64_t matches = 0;
  put_pattern(&expression, operands[1], args->regex);
  put_parts(&parts, args);
  nai_buf_printf(&sql,
                 "select kind, start_ns, duration_ns, device_id, stream_id, pid, tid, name, path from (%s) order by "
                 "start_ns, kind, end_ns, device_id, stream_id, tid, name",
                 nai_buf_str(&parts));
  const struct nai_query_parameter parameters[] = {
      {"pattern", {.type = NAI_STR, .s = nai_buf_str(&expression)}},
      {"under", {.type = NAI_STR, .s = args->under, .null = !args->under}},
      {"gpu", {.type = NAI_I64, .i = args->ask.gpu, .null = args->ask.gpu == INT64_MIN}},
      {"start_ns", {.type = NAI_I64, .i = args->ask.start_ns, .null = !args->ask.windowed}},
      {"end_ns", {.type = NAI_I64, .i = args->ask.end_ns, .null = !args->ask.windowed}}};
  const struct nai_query_text text = {.sql = nai_buf_str(&sql), .label = "search"};
  const struct nai_query query = {
      .run = run, .text = &text, .parameters = parameters, .parameter_count = 5, .limits = {.rows = args->ask.rows}};
  int rc = expression.oom || parts.oom ? nai_err_nomem(err) : nai_buf_check(&sql, err);
  if (!rc)
    rc = nai_cmd_query(&truncated, out, &query, &how, err);
  if (!rc && args->ask.format == NAI_ROWS_TABLE) {
    rc = count_matches(&matches, run, &query, nai_buf_str(&parts), err);
    nai_buf_printf(out, "%" PRId64 " matches, %" PRId64 " shown\n", matches,
                   matches < args->ask.rows ? matches : args->ask.rows);
  } else if (!rc && truncated && !args->ask.quiet) {
    fprintf(stderr, "nsys-ai: the first %" PRId64 " matches; --limit N prints more\n", args->ask.rows);
  }
  nai_buf_free(&expression);
  nai_buf_free(&parts);
  nai_buf_free(&sql);
  return rc;
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  const struct search_args *args = memory;
  (void)count, (void)program;
  return nai_cmd_answer(answer, args, &args->ask, operands, err);
}

const struct nai_cli_command nai_cmd_search = {
    .name = "search",
    .synopsis = "SRC PATTERN",
    .summary = "find events by name: kernels, copies, calls, ranges",
    .description = "Prints the kernels, copies, API calls and NVTX ranges whose name holds PATTERN, in either case, by "
                   "start. SRC is an "
                   "artifacts directory or a trace, which is analysed for this answer only.",
    .examples =
        "nsys-ai search artifacts/run1 flash\nnsys-ai search artifacts/run1 '^nccl' --regex --in kernels --format csv\n"
        "nsys-ai search artifacts/run1 gemm --under forward --gpu 0",
    .options = options,
    .operands =
        (const struct nai_cli_operand[]){
            {.name = "SRC", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES}, {.name = "PATTERN"}, {0}},
    .min_operands = 2,
    .max_operands = 2,
    .args_size = sizeof(struct search_args),
    .init = init,
    .check = check,
    .run = run,
};
