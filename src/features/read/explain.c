/* nsys-ai explain: what a name means, and what this run says of it. Each kind of thing has a page
 * (pages/explain_*.yaml). */
#include "features/read/read.h"

#include "base/text.h"
#include "base/assets.h"
#include "pipeline/analyze.h"
#include "rules/rules.h"

struct explain_args {
  struct nai_cmd_ask ask;
  const char *kernel_classes;
};

static void init(void *memory) { nai_cmd_ask_init(&((struct explain_args *)memory)->ask); }

#define NAI_CLI_ARGS struct explain_args
static const struct nai_cli_option options[] = {
    NAI_CMD_PAGE_FORMAT_OPTION,
    NAI_CLI_OPTION(text, kernel_classes, "kernel-classes", "FILE",
                   "of a kernel's name: rules (.rules) or YAML patterns tried before the built-in ones",
                   NAI_CLI_FILES("rules yaml yml")),
    NAI_CMD_EXPORT_OPTION,
    NAI_CMD_QUIET_OPTION,
    {0},
};

/* Everything that has the name, whole names first; parts of names of kernels and ranges. */
static const char candidates[] =
    "select kind, name, exact, iif(kind = 'kernel', short_name(name), name) from ("
    "select 1 as place, 'table' as kind, name, 1 as exact from nai_tables where name = :what "
    "union all select distinct 0, 'rule', id, 1 from findings where id = :what " /* of a file of the user's */
    "union all select 2, 'column', :what, 1 from nai_columns where table_name || '.' || name = :what "
    "union all select distinct 3, 'capability', capability, 1 from capabilities where lower(capability) = lower(:what) "
    "union all select 4, 'cause', :what, 1 where cause_meaning(:what) is not null "
    "union all select distinct 5, 'category', category, 1 from kernel_categories where category = :what "
    "union all select distinct 6, 'call', api_name, api_name = :what from api_calls where instr(lower(api_name), "
    "lower(:what)) "
    "union all select distinct 7, 'process', process_name, 1 from process_summary where process_name = :what "
    "union all select distinct 8, 'kernel', kernel_name, kernel_name = :what or short_name = :what from kernels "
    "where instr(lower(kernel_name), lower(:what)) or lower(short_name) = lower(:what) "
    "union all select distinct 9, 'range', range_name, range_name = :what from nvtx_ranges where "
    "instr(lower(range_name), lower(:what)) "
    "union all select distinct 10, 'column', :what, 1 from nai_columns where name = :what"
    ") order by exact desc, place, name limit 200";

enum { MAX_SHOWN = 5 };

/* The rule or table whose name is most like it, or NULL. */
static const char *similar(const char *what) {
  enum { MAX_NAMES = 512 };
  const char *names[MAX_NAMES];
  size_t count = 0;
  for (size_t i = 0; count < MAX_NAMES && nai_cmd_rule_ids(i, ""); i++)
    names[count++] = nai_cmd_rule_ids(i, "");
  for (size_t i = 0; count < MAX_NAMES && nai_cmd_table_names(i, ""); i++)
    names[count++] = nai_cmd_table_names(i, "");
  return nai_text_suggest(what, names, count);
}

/* Lists what could be meant. */
static int refuse(const char *what, const struct nai_query_rows *found, struct nai_err *err) {
  NAI_SCOPED(nai_buf) names = {0};
  const char *near = similar(what);
  for (int64_t i = 0; i < found->rows && i < MAX_SHOWN; i++) {
    nai_buf_printf(&names, "%s%s ", i ? ", " : "", nai_query_cell_text(found, i, 0));
    nai_buf_printf(&names, "\"%.120s\"", nai_query_cell_text(found, i, 3));
  }
  return found->rows
           ? nai_err_set(err, NAI_EUSAGE, "\"%s\" can be %" PRIu32 " things%s: %s", what, found->rows,
                         found->rows > MAX_SHOWN ? ", for example" : "", nai_buf_str(&names))
           : nai_err_set(err, NAI_EUSAGE,
                         "nothing is called \"%s\": no rule, finding, table, column, capability, idle cause, kernel "
                         "category, CUDA call, process, kernel or NVTX range%s%s%s",
                         what, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* The page on a thing of the run. */
static int explain_thing(struct nai_buf *out, struct nai_run *run, const char *what, const struct nai_cmd_ask *ask,
                         struct nai_err *err) {
  const struct nai_query_parameter parameter = nai_query_string("what", what);
  NAI_SCOPED(nai_query_rows) found = {0};
  char page[64];
  NAI_TRY(nai_query_ask(&found, run, candidates, &parameter, 1, err));
  if (!found.rows || (!nai_query_cell_int(&found, 0, 2) && found.rows > 1))
    return refuse(what, &found, err);
  snprintf(page, sizeof page, "explain_%s", nai_query_cell_text(&found, 0, 0));
  return nai_cmd_print_page(out, page, run, nai_query_cell_text(&found, 0, 1), ask, err);
}

/* Of a rule: its page of the documentation, then what it found here. *known: there is such a rule. */
static int explain_rule(bool *known, struct nai_buf *out, struct nai_run *run, const char *what,
                        const struct nai_cmd_ask *ask, struct nai_err *err) {
  const struct nai_schema *schemas[NAI_REPORT_MAX_TABLES];
  size_t count = nai_report_schemas(schemas, NAI_STAGE_RECOMMEND);
  enum nai_rows_format format = nai_cmd_page_format(ask->format);
  NAI_OWNED(nai_rule_set) *set = NULL;
  NAI_SCOPED(nai_buf) yaml = {0};
  struct nai_err unknown;
  char path[128];
  NAI_TRY(nai_rules_load(&set, NULL, 0, schemas, count, err));
  *known = nai_rules_explain(&yaml, set, what, &unknown) == NAI_OK;
  if (!*known)
    return NAI_OK;
  snprintf(path, sizeof path, "docs/root-causes/%.90s.md", what);
  const struct nai_asset *page = nai_asset_find(path);
  if (page && format == NAI_ROWS_TABLE)
    nai_cmd_page(out, page->data, (size_t)(page->end - page->data), nai_cmd_prose_width(), nai_cmd_color());
  else if (page && format == NAI_ROWS_MARKDOWN)
    nai_buf_put(out, page->data, (size_t)(page->end - page->data));
  if (!nai_run_manifest(run)->node_count && format == NAI_ROWS_TABLE)
    return NAI_OK;
  nai_buf_puts(out, page && format == NAI_ROWS_TABLE ? "\n" : "");
  return nai_cmd_print_page(out, "explain_rule", run, what, ask, err);
}

static int explain_finding(struct nai_buf *out, struct nai_run *run, const char *what, const struct nai_cmd_ask *ask,
                           struct nai_err *err) {
  const struct nai_table *findings;
  int64_t number = strtoll(what, NULL, 10);
  NAI_TRY(nai_run_table(&findings, run, nai_findings_schema.name, &nai_findings_schema, err));
  if (number < 1 || number > findings->rows)
    return nai_err_set(err, NAI_EUSAGE, "there is no finding %s: the run has %" PRId64 ", numbered from 1", what,
                       findings->rows);
  return nai_cmd_print_page(out, "explain_finding", run, what, ask, err);
}

int nai_cmd_explain_name(struct nai_buf *out, struct nai_run *run, const char *what, const struct nai_cmd_ask *ask,
                         struct nai_err *err) {
  bool known;
  if (strspn(what, "0123456789") == strlen(what) && nai_run_manifest(run)->node_count)
    return explain_finding(out, run, what, ask, err);
  NAI_TRY(explain_rule(&known, out, run, what, ask, err));
  return known ? NAI_OK : explain_thing(out, run, what, ask, err);
}

/* "kernel NAME": no run is asked. A run called so is "./kernel". */
static bool is_kernel_name(const char *const *operands) { return strcmp(operands[0], "kernel") == 0; }

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct explain_args *args = memory;
  NAI_OWNED(nai_run) *source = NULL;
  NAI_SCOPED(nai_buf) out = {0};
  (void)count;
  if (is_kernel_name(operands)) {
    NAI_TRY(nai_cmd_explain_kernel(&out, operands[1], args->kernel_classes, &args->ask, err));
    return nai_cmd_print(&out, err);
  }
  NAI_TRY(strcmp(operands[0], "-") == 0
              ? nai_empty_run(&source, err)
              : nai_cmd_source_open(&source, operands[0], &(struct nai_cmd_source){.quiet = args->ask.quiet}, err));
  NAI_TRY(nai_cmd_explain_name(&out, source, operands[1], &args->ask, err));
  return nai_cmd_print(&out, err);
}

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct explain_args *args = memory;
  (void)count;
  if (args->kernel_classes && !is_kernel_name(operands))
    return nai_err_set(err, NAI_EUSAGE, "--kernel-classes is for explain kernel NAME; a run has its categories");
  return *operands[1] ? NAI_OK : nai_err_set(err, NAI_EUSAGE, "explain what? The second operand is empty");
}

NAI_CLI_COMMAND(
    nai_cmd_explain, .name = "explain", .synopsis = "SRC|-|kernel WHAT",
    .summary = "say what a name means: a finding, kernel, range, table, rule",
    .description =
        "Explains WHAT: the id of a rule, the number of a finding, a table, a column, TABLE.COLUMN, a capability, a "
        "cause of idle time, a kernel category, a process, a CUDA call, a kernel or an NVTX range by its name or, of the "
        "last three, a part of it. SRC is an artifacts "
        "directory or a trace, which is analyzed for this answer only; with - nothing is known of a run: rules, "
        "tables, columns and causes only. explain kernel NAME says which category a kernel of that name has, by which "
        "rule and which part of the name.",
    .examples = "nsys-ai explain artifacts/run1 1\nnsys-ai explain artifacts/run1 flash_fwd_kernel\nnsys-ai explain - "
                "gpu_utilization.idle_ms\nnsys-ai explain kernel 'void flash::flash_fwd_kernel<T1>(T2)'",
    .options = options,
    NAI_CLI_OPERANDS(2, 2, NAI_CMD_SOURCE("SRC, - or kernel"), {.name = "WHAT", .choices = nai_cmd_things}),
    .init = init, .check = check, .run = run)
