/* nsys-ai check: a gate for CI. */
#include "base/fs.h"
#include "base/strings.h"
#include "features/nights/check.h"
#include "features/nights/store_command.h"
#include "features/nights/suite.h"
#include "rundir/manifest.h"

#include <fcntl.h>

static const char default_series[] = "nsys-ai";

static void init(void *memory) {
  struct nai_check_args *args = memory;
  args->common.out = "artifacts/check";
  args->common.series = default_series;
  args->common.formats = (1u << NAI_FORMAT_COUNT) - 1;
}

#define NAI_CLI_ARGS struct nai_check_args
static const struct nai_cli_option options[] = {
    NAI_CHECK_BASELINE_OPTION(baselines, baseline_count),
    NAI_CLI_OPTION(text, store, "store", "DIR",
                   "the store that baselines are selected from; last-good and median:N are those of --series",
                   .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_OPTION(text, suite, "suite", "DIR|FILE",
                   "many programs in place of RUN: a directory of each, or a YAML file; each against its own baseline",
                   .hint = NAI_CLI_FILE),
    NAI_CLI_SWITCH(on, all, "all",
                   "in place of RUN: of every series of --store the newest run; against --baseline, or else median:7"),
    NAI_CMD_COMPARE_OPTIONS(common),
    {0},
};

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct nai_check_args *args = memory;
  (void)operands;
  if (args->all && (count || args->suite || !args->store))
    return nai_err_set(err, NAI_EUSAGE,
                       args->store ? "--all takes the place of RUN and --suite: give one of them"
                                   : "--all is of a store: --store DIR is missing");
  if (args->all)
    return NAI_OK;
  if (args->suite)
    return count ? nai_err_set(err, NAI_EUSAGE, "--suite takes the place of RUN: give one of the two") : NAI_OK;
  if (!count)
    return nai_err_set(err, NAI_EUSAGE, "RUN is missing%s",
                       args->baseline_count ? ": --baseline took all words behind it, so RUN stands before it" : "");
  return args->baseline_count || args->common.budgets
           ? NAI_OK
           : nai_err_set(err, NAI_EUSAGE,
                         "--baseline is missing; without one only fixed limits of --budgets are checked");
}

/* --- baselines -------------------------------------------------------------------------------- */

static bool is_run(const char *directory) {
  char path[PATH_MAX];
  return nai_fs_join(path, sizeof path, directory, NAI_MANIFEST_PATH) && nai_fs_exists(path);
}

/* The entries of a directory that are such. */
static int add_those(struct nai_strings *paths, const char *directory, bool (*is)(const char *path),
                     struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const char **names;
  size_t count;
  int error = nai_fs_names(&names, &count, &arena, AT_FDCWD, directory);
  if (error)
    return nai_err_sys(err, NAI_EINPUT, error, "cannot read the baseline \"%s\"", directory);
  for (size_t i = 0; i < count; i++) {
    char path[PATH_MAX];
    if (nai_fs_join(path, sizeof path, directory, names[i]) && is(path))
      NAI_TRY(nai_strings_put(NULL, paths, path, err));
  }
  return NAI_OK;
}

/* The run directories in a directory; where there are none, the traces: beside runs they are what these were made of.
 */
static int add_runs_in(struct nai_strings *paths, const char *directory, struct nai_err *err) {
  uint32_t before = paths->count;
  NAI_TRY(add_those(paths, directory, is_run, err));
  if (paths->count == before)
    NAI_TRY(add_those(paths, directory, nai_cmd_is_trace, err));
  return paths->count > before
           ? NAI_OK
           : nai_err_set(err, NAI_EINPUT, "\"%s\" is no run and holds neither runs nor traces", directory);
}

/* What a selector means without a store: a run directory, a trace, or a directory of run directories or traces, in the
 * order of their names. */
static int find_runs(struct nai_strings *paths, const char *selector, struct nai_err *err) {
  if (nai_fs_is_dir(selector) && !is_run(selector))
    return add_runs_in(paths, selector, err);
  if (nai_fs_exists(selector))
    return nai_strings_put(NULL, paths, selector, err);
  return nai_err_set(
      err, NAI_EINPUT,
      "there is no baseline \"%s\": give a run, a trace, or a directory of runs; last-good, median:N, run:ID "
      "and names need --store",
      selector);
}

static int add_paths(struct nai_comparison *c, const struct nai_strings *paths, const struct nai_check_args *args,
                     struct nai_err *err) {
  for (uint32_t i = 0; i < paths->count; i++)
    NAI_TRY(nai_cmd_add_side(c, NAI_BASE, nai_strings_get(paths, i), &args->common, err));
  return NAI_OK;
}

/* What a selector means in a store. */
static int add_selected(struct nai_comparison *c, struct nai_store *store, const struct nai_check_args *args,
                        const char *selector, struct nai_err *err) {
  const struct nai_side *judged = &c->sides[NAI_CANDIDATE];
  NAI_SCOPED(nai_store_selection) selection = {0};
  struct nai_run *runs[NAI_CMD_MAX_CAPTURES];
  for (uint32_t i = 0; i < judged->count; i++)
    runs[i] = judged->captures[i].run;
  const struct nai_store_judged of = {.series = args->common.series == default_series ? NULL : args->common.series,
                                      .runs = runs,
                                      .count = judged->count};
  int rc = nai_store_select(&selection, store, selector, &of, err);
  if (rc == NAI_EUSAGE && args->all) /* of one series: no history yet, which is no mistake in the call */
    err->code = rc = NAI_EINPUT;
  if (rc)
    return rc;
  for (uint32_t i = 0; i < selection.left_out.count; i++)
    nai_cmd_note(nai_strings_get(&selection.left_out, i));
  return add_paths(c, &selection.directories, args, err);
}

static int add_baselines(struct nai_comparison *c, const struct nai_check_args *args, struct nai_err *err) {
  NAI_SCOPED(nai_store) store = {.arena = NAI_ARENA(NULL)};
  if (args->store) {
    NAI_TRY(nai_store_open(&store, args->store, false, err));
    NAI_TRY(nai_store_read(&store, args->common.series == default_series ? NULL : args->common.series, err));
    nai_cmd_note_damaged(&store);
  }
  for (size_t b = 0; b < args->baseline_count; b++) { /* a run that is given twice is there twice */
    const char *selector = args->baselines[b];
    NAI_SCOPED(nai_strings) paths = {0};
    if (args->store && !nai_fs_exists(selector)) {
      NAI_TRY(add_selected(c, &store, args, selector, err));
    } else {
      NAI_TRY(find_runs(&paths, selector, err));
      NAI_TRY(add_paths(c, &paths, args, err));
    }
  }
  return NAI_OK;
}

/* --- the command ------------------------------------------------------------------------------ */

int nai_check_runs(struct nai_gate *gate, struct nai_comparison *c, const struct nai_check_args *args,
                   const char *const *runs, size_t count, struct nai_err *err) {
  for (size_t i = 0; i < count; i++)
    NAI_TRY(nai_cmd_add_side(c, NAI_CANDIDATE, runs[i], &args->common, err));
  NAI_TRY(add_baselines(c, args, err));
  return nai_cmd_compare_run(gate, c, &args->common, err);
}

/* The arguments as if the program were checked alone. */
static int of_program(struct nai_check_args *out, const struct nai_check_args *args, struct nai_suite *suite,
                      const struct nai_suite_program *program, char directory[PATH_MAX], struct nai_err *err) {
  *out = *args;
  out->common.suite = suite;
  out->common.out = directory;
  out->common.quiet = true;
  out->common.json = false;
  out->common.annotate = NULL;
  out->common.series = program->name;
  out->common.budgets = program->budgets ? program->budgets : args->common.budgets;
  out->baseline_count = program->baseline_count;
  if (program->baseline_count > NAI_CMD_MAX_CAPTURES)
    return nai_err_set(err, NAI_EUSAGE, "--suite: %s has more than %d baselines", program->name, NAI_CMD_MAX_CAPTURES);
  for (size_t i = 0; i < program->baseline_count; i++)
    out->baselines[i] = program->baselines[i];
  return nai_fs_join(directory, PATH_MAX, args->common.out, program->name)
           ? NAI_OK
           : nai_err_set(err, NAI_EUSAGE, "--out \"%s\" is too long", args->common.out);
}

static int check_program(struct nai_suite *suite, const struct nai_check_args *args,
                         const struct nai_suite_program *program, struct nai_err *err) {
  NAI_SCOPED(nai_comparison) c = NAI_COMPARISON;
  NAI_SCOPED(nai_strings) runs = {0};
  struct nai_gate gate = {0};
  struct nai_check_args own;
  char directory[PATH_MAX];
  const char *paths[NAI_CMD_MAX_CAPTURES];
  NAI_TRY(of_program(&own, args, suite, program, directory, err));
  for (size_t i = 0; i < program->run_count; i++)
    if (!nai_fs_exists(program->runs[i]))
      return nai_err_set(err, NAI_EINPUT, "there is no \"%s\"", program->runs[i]);
  for (size_t i = 0; i < program->run_count; i++)
    NAI_TRY(find_runs(&runs, program->runs[i], err));
  if (runs.count > NAI_CMD_MAX_CAPTURES)
    return nai_err_set(err, NAI_EUSAGE, "--suite: %s has more than %d runs", program->name, NAI_CMD_MAX_CAPTURES);
  for (uint32_t i = 0; i < runs.count; i++)
    paths[i] = nai_strings_get(&runs, i);
  return nai_check_runs(&gate, &c, &own, paths, runs.count, err);
}

static int find_programs(struct nai_suite_programs *out, const struct nai_check_args *args, struct nai_err *err) {
  static const char *const usual[] = {"median:7"};
  bool given = args->baseline_count > 0;
  if (args->all)
    return nai_suite_of_store(out, args->store, given ? args->baselines : usual, given ? args->baseline_count : 1, err);
  return nai_suite_find(out, args->suite, args->baselines, args->baseline_count, err);
}

/* What cannot be read of a program costs that program. */
static int check_programs(struct nai_suite *suite, const struct nai_check_args *args, struct nai_err *err) {
  NAI_SCOPED(nai_suite_programs) programs = NAI_SUITE_PROGRAMS;
  NAI_TRY(find_programs(&programs, args, err));
  for (uint32_t i = 0; i < programs.count; i++) {
    const struct nai_suite_program *program = &programs.list[i];
    int rc = program->lacks ? NAI_OK : check_program(suite, args, program, err);
    if (rc && rc != NAI_EINPUT)
      return rc;
    if (rc || program->lacks)
      nai_suite_add_undecided(suite, program->name, rc ? err->msg : program->lacks);
  }
  return NAI_OK;
}

static int run_suite(const struct nai_check_args *args, struct nai_err *err) {
  NAI_SCOPED(nai_suite) suite;
  NAI_SCOPED(nai_buf) markdown = {0}, text = {0};
  char directory[PATH_MAX];
  nai_suite_begin(&suite);
  if (!nai_fs_join(directory, sizeof directory, args->common.out, "suite"))
    return nai_err_set(err, NAI_EUSAGE, "--out \"%s\" is too long", args->common.out);
  NAI_TRY(nai_fs_mkdir_all(args->common.out, err));
  NAI_TRY(check_programs(&suite, args, err));
  NAI_TRY(nai_suite_publish(&suite, &markdown, &text, directory, nai_cmd_note, err));
  if (args->common.annotate)
    NAI_TRY(nai_cmd_append_summary(&markdown, err));
  if (args->common.json)
    NAI_TRY(nai_cmd_print(&suite.text, err));
  else if (!args->common.quiet)
    NAI_TRY(nai_cmd_print(&text, err));
  if (args->common.quiet && nai_suite_exit(&suite) == NAI_EXIT_UNDECIDED)
    nai_cmd_note("some programs could not be decided");
  return nai_suite_exit(&suite);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct nai_check_args *args = memory;
  NAI_SCOPED(nai_comparison) c = NAI_COMPARISON;
  struct nai_gate gate = {0};
  if (args->suite || args->all)
    return run_suite(args, err);
  NAI_TRY(nai_check_runs(&gate, &c, args, operands, count, err));
  if (args->common.quiet && gate.reason)
    nai_cmd_note(gate.reason);
  return gate.exit;
}

NAI_CLI_COMMAND(
    nai_cmd_check, .name = "check", .synopsis = "RUN...|--suite DIR|FILE|--all --baseline SELECTOR...",
    .summary = "compare with a baseline and exit with 1 when a gated metric got worse",
    .description =
        "Compares as nsys-ai compare does, and decides: exit status 0 when every gated metric passes, 1 when one "
        "fails, 7 when that cannot be decided (captures that are not comparable, a metric that is missing). Writes "
        "also junit.xml, metrics.prom (OpenMetrics), bmf.json (Bencher) and benchmark-*.json (github-action-benchmark). "
        "A fixed `limit:` in the budgets needs no baseline. --suite compares many programs, each with its own baseline, "
        "and sums them up, --all the newest runs of a store. See docs/gating.md.",
    .examples = "nsys-ai check b1 b2 b3 b4 b5 --baseline a1 a2 a3 a4 a5 --out artifacts/check\n"
                "nsys-ai check new.sqlite --baseline old.sqlite --budgets budgets.yaml --annotate github\n"
                "nsys-ai check new.sqlite --budgets limits.yaml\n"
                "nsys-ai check --all --store nights --out artifacts/check\n"
                "nsys-ai check --suite runs/new --baseline runs/main --out artifacts/suite",
    .options = options,
    NAI_CLI_OPERANDS(0, NAI_CMD_MAX_CAPTURES,
                     {.name = "RUN", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES}),
    .init = init, .check = check, .run = run)
