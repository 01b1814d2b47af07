/* nsys-ai critical-path: what decides when the GPUs are done, of one trace or of the ranks of a job. */
#include "analyses/path_tables.h"
#include "base/temporary.h"
#include "features/export/command.h"
#include "features/read/read.h"
#include "features/whatif/asked.h"
#include "features/whatif/joined.h"
#include "tables/critical_path.h"
#include "tables/critical_path_causes.h"
#include "tables/critical_path_summary.h"
#include "table/json.h"

struct path_args {
  struct nai_cmd_ask ask;
  struct asked asked;
  int by; /* enum nai_path_by */
};

NAI_CLI_NAMES(by_name, "cause", "name", "range")

#define NAI_CLI_ARGS struct path_args
static const struct nai_cli_option options[] = {
    NAI_CMD_GPU_OPTION,
    ASKED_OPTIONS,
    NAI_CLI_OPTION(
        choice, by, "by", "WHAT",
        "of each cause all at once, or each name (kernel, copy, function; of host code the call behind it), or "
        "each NVTX range around what it is or launched it",
        .choices = by_name),
    NAI_CMD_PAGE_FORMAT_OPTION,
    NAI_CMD_EXPORT_OPTION,
    NAI_CMD_QUIET_OPTION,
    {0},
};

static void init(void *memory) {
  struct path_args *args = memory;
  nai_cmd_ask_init(&args->ask);
  args->asked.step = INT64_MIN;
}

int nai_asked_place(const struct nai_path_asked **out, struct nai_path_asked *room, struct asked *asked,
                    struct nai_run *run, struct nai_err *err) {
  *out = NULL;
  NAI_TRY(nai_cmd_place_stretch(&asked->window, "--window", run, err));
  if (asked->step == INT64_MIN && !asked->window.given)
    return NAI_OK;
  if (asked->step != INT64_MIN && asked->window.given)
    return nai_err_set(err, NAI_EUSAGE, "give --step or --window, not both");
  *room = (struct nai_path_asked){asked->step != INT64_MIN, asked->step, asked->window.start_ns, asked->window.end_ns};
  *out = room;
  return NAI_OK;
}

/* --- of what no run has tables -------------------------------------------------------------------- */

enum {
  PARTS = NAI_PART(DEPENDENCIES) | NAI_PART(STEPS) | NAI_PART(NVTX_TREE) | NAI_PART(NAMES) | NAI_PART(GPUS) |
          NAI_PART(EVIDENCE)
};

struct answer {
  struct nai_run *tables; /* of the answer only */
  const struct nai_path_asked *asked;
  enum nai_path_by by;
};

static int add_table(struct nai_table **out, const struct answer *a, const struct nai_schema *schema,
                     struct nai_err *err) {
  NAI_TRY(nai_table_new(out, schema, err));
  return nai_run_add(a->tables, *out, err);
}

static int make_tables(const struct nai_model *m, void *ctx, struct nai_err *err) {
  struct answer *a = ctx;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(nai_temporary_place());
  struct nai_path_tables out = {.model = m, .arena = &arena, .by = a->by};
  struct nai_path_scope *scopes;
  uint32_t count;
  NAI_TRY(nai_run_new(&a->tables, err));
  NAI_TRY(add_table(&out.path, a, &nai_critical_path_schema, err));
  NAI_TRY(add_table(&out.causes, a, &nai_critical_path_causes_schema, err));
  NAI_TRY(add_table(&out.summary, a, &nai_critical_path_summary_schema, err));
  NAI_TRY(nai_path_scopes(&scopes, &count, m, a->asked, &arena, err));
  NAI_TRY(nai_path_put_tables(&out, scopes, count, err));
  NAI_TRY(nai_table_check(out.path, err));
  NAI_TRY(nai_table_check(out.causes, err));
  return nai_table_check(out.summary, err);
}

static int answer_trace(struct nai_buf *out, struct path_args *args, const char *source, struct nai_err *err) {
  static const struct nai_cmd_model_needs needs = {.tables = NAI_IN(LABELS), .parts = PARTS, .map_nvtx = true};
  NAI_OWNED(nai_run) *run = NULL;
  struct nai_path_asked room;
  struct answer a = {.by = (enum nai_path_by)args->by};
  NAI_TRY(nai_cmd_source_open(&run, source, &(struct nai_cmd_source){.quiet = args->ask.quiet}, err));
  NAI_TRY(nai_cmd_check_gpu(args->ask.gpu, run, err));
  NAI_TRY(nai_asked_place(&a.asked, &room, &args->asked, run, err));
  bool own = a.asked || a.by; /* no table of a run has it */
  int rc = own ? nai_cmd_with_model(run, &needs, make_tables, &a, err) : NAI_OK;
  if (!rc)
    rc = nai_cmd_print_page(out, "critical_path", own ? a.tables : run, by_name((size_t)args->by, NULL), &args->ask,
                            err);
  nai_run_close(a.tables);
  return rc;
}

static int answer_ranks(const char **refused, struct nai_buf *out, struct path_args *args, const char *const *sources,
                        size_t count, struct nai_err *err) {
  NAI_SCOPED(nai_joined) joined = {0};
  struct nai_path_asked room;
  struct answer a = {.by = (enum nai_path_by)args->by};
  NAI_TRY(nai_join(&joined, sources, count, PARTS, args->ask.quiet, err));
  *refused = joined.refused;
  if (joined.refused)
    return NAI_OK;
  NAI_TRY(nai_asked_place(&a.asked, &room, &args->asked, joined.ranks.sources[0].run, err));
  int rc = make_tables(&joined.model, &a, err);
  if (!rc)
    rc = nai_cmd_print_page(out, "critical_path", a.tables, by_name((size_t)args->by, NULL), &args->ask, err);
  nai_run_close(a.tables);
  return rc;
}

/* As JSON the page without a block, with state and reason as whatif has them. */
static void put_refusal(struct nai_buf *out, const struct path_args *args, const char *reason) {
  NAI_SCOPED(nai_json) json = {0};
  if (nai_cmd_page_format(args->ask.format) != NAI_ROWS_JSON) {
    nai_buf_printf(out, "No path of these traces together: %s.\n", reason);
    return;
  }
  nai_json_open(&json, out, NAI_JSON_INLINE);
  nai_json_put_text(&json, "page", "critical_path");
  nai_json_put_text(&json, "state", "refused");
  nai_json_put_text(&json, "reason", reason);
  nai_json_put_array(&json, "blocks", NAI_JSON_INLINE);
  nai_json_end(&json);
  nai_json_close(&json);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  enum { UNDECIDED = 7 };
  struct path_args *args = memory;
  const char *refused = NULL;
  NAI_SCOPED(nai_buf) out = {0};
  NAI_TRY(count == 1 ? answer_trace(&out, args, operands[0], err)
                     : answer_ranks(&refused, &out, args, operands, count, err));
  if (refused)
    put_refusal(&out, args, refused);
  NAI_TRY(nai_cmd_print(&out, err));
  return refused ? UNDECIDED : NAI_OK;
}

NAI_CLI_COMMAND(
    nai_cmd_critical_path, .name = "critical-path", .synopsis = "SRC...",
    .summary = "what decides when the GPUs are done, by cause",
    .description =
        "Prints the critical path of the window and of steps or repeating units: which kernels, copies, calls and "
        "host code decided when the last operation ended. Causes add up to the time. Several SRC are the ranks of a "
        "job: their collectives are matched, and their clocks compared, as by nsys-ai ranks; status 7 where their "
        "clocks cannot be. " NAI_CMD_ABOUT_SOURCE,
    .examples = "nsys-ai critical-path artifacts/run1\n"
                "nsys-ai critical-path artifacts/run1 --step 3\n"
                "nsys-ai critical-path rank0.sqlite rank1.sqlite\n"
                "nsys-ai critical-path trace.sqlite --format json",
    .options = options, .init = init, NAI_CLI_OPERANDS(1, NAI_CLI_ANY_NUMBER, NAI_CMD_SOURCE("SRC")), .run = run)
