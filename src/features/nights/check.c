/* nsys-ai check: a gate for CI. */
#include "features/compare/command.h"

#include "base/fs.h"
#include "base/strings.h"
#include "features/nights/store.h"

#include <string.h>

struct check_args {
  struct nai_cmd_compare common;
  const char *baselines[NAI_CMD_MAX_CAPTURES];
  size_t baseline_count;
  const char *store;
};

static const char default_series[] = "nsys-ai";

static void init(void *memory) {
  struct check_args *args = memory;
  args->common.out = "artifacts/check";
  args->common.series = default_series;
  args->common.formats = (1u << NAI_FORMAT_COUNT) - 1;
}

static const struct nai_cli_option options[] = {
    {.name = "baseline",
     .value = "SELECTOR",
     .help = "what to compare with: a run, a trace, or a directory of runs; with --store also NAME of a baseline, "
             "run:ID, last-good or median:N; all words up to the next option",
     .type = &nai_cli_texts,
     .at = offsetof(struct check_args, baselines),
     .count_at = offsetof(struct check_args, baseline_count),
     .most = NAI_CMD_MAX_CAPTURES,
     .many = true,
     .hint = NAI_CLI_DIRECTORY},
    {.name = "store",
     .value = "DIR",
     .help = "the store that baselines are selected from; last-good and median:N are those of --series",
     .type = &nai_cli_text,
     .at = offsetof(struct check_args, store),
     .hint = NAI_CLI_DIRECTORY},
    NAI_CMD_COMPARE_OPTIONS(struct check_args),
    {0},
};

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct check_args *args = memory;
  (void)operands, (void)count;
  return args->baseline_count || args->common.budgets
           ? NAI_OK
           : nai_err_set(err, NAI_EUSAGE,
                         "--baseline is missing; without one only fixed limits of --budgets are checked");
}

/* From a store. */
static int select_runs(struct nai_strings *paths, const struct nai_store *store, const struct check_args *args,
                       const struct nai_side *judged, const char *selector, struct nai_err *err) {
  struct nai_run *runs[NAI_CMD_MAX_CAPTURES];
  struct nai_store_selection selection;
  for (uint32_t i = 0; i < judged->count; i++)
    runs[i] = judged->captures[i].run;
  const struct nai_store_judged of = {.series = args->common.series == default_series ? NULL : args->common.series,
                                      .runs = runs,
                                      .count = judged->count};
  int rc = nai_store_select(&selection, store, selector, &of, err);
  for (uint32_t i = 0; !rc && i < selection.count; i++)
    if (nai_strings_add(paths, selection.directories[i], strlen(selection.directories[i])) == NAI_NO_STRING)
      rc = nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < selection.left_out.count; i++)
    nai_cmd_note(nai_strings_get(&selection.left_out, i));
  nai_store_selection_free(&selection);
  return rc;
}

static int add_baselines(struct nai_comparison *c, const struct check_args *args, struct nai_err *err) {
  struct nai_store store = {0};
  int rc = args->store ? nai_store_open(&store, args->store, false, err) : NAI_OK;
  for (size_t b = 0; !rc && b < args->baseline_count; b++) { /* a run that is given twice is there twice */
    const char *selector = args->baselines[b];
    struct nai_strings paths = {0};
    rc = args->store && !nai_fs_exists(selector) ? select_runs(&paths, &store, args, &c->sides[NAI_CANDIDATE], selector, err)
                                                 : nai_cmd_baseline(&paths, selector, err);
    for (uint32_t i = 0; !rc && i < paths.count; i++)
      rc = nai_cmd_add_side(c, NAI_BASE, nai_strings_get(&paths, i), &args->common, err);
    nai_strings_free(&paths);
  }
  nai_store_close(&store);
  return rc;
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  struct check_args *args = memory;
  struct nai_comparison c = NAI_COMPARISON;
  struct nai_gate gate = {0};
  (void)program;
  int rc = NAI_OK;
  for (size_t i = 0; !rc && i < count; i++)
    rc = nai_cmd_add_side(&c, NAI_CANDIDATE, operands[i], &args->common, err);
  if (!rc)
    rc = add_baselines(&c, args, err);
  if (!rc)
    rc = nai_cmd_compare_run(&gate, &c, &args->common, err);
  nai_comparison_free(&c);
  return rc ? rc : gate.exit;
}

const struct nai_cli_command nai_cmd_check = {
    .name = "check",
    .synopsis = "RUN... --baseline SELECTOR...",
    .summary = "compare with a baseline and exit with 1 when a gated metric got worse",
    .description =
        "Compares as nsys-ai compare does, and decides: exit status 0 when every gated metric passes, 1 when one "
        "fails, 7 when that cannot be decided (captures that are not comparable, a metric that is missing). Writes "
        "also junit.xml, metrics.prom (OpenMetrics), bmf.json (Bencher) and benchmark-*.json (github-action-benchmark). "
        "A fixed `limit:` in the budgets needs no baseline. See docs/gating.md.",
    .examples = "nsys-ai check b1 b2 b3 b4 b5 --baseline a1 a2 a3 a4 a5 --out artifacts/check\n"
                "nsys-ai check new.sqlite --baseline old.sqlite --budgets budgets.yaml --annotate github\n"
                "nsys-ai check new.sqlite --budgets limits.yaml",
    .options = options,
    .operands =
        (const struct nai_cli_operand[]){{.name = "RUN", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES},
                                         {0}},
    .min_operands = 1,
    .max_operands = NAI_CMD_MAX_CAPTURES,
    .args_size = sizeof(struct check_args),
    .init = init,
    .check = check,
    .run = run,
};
