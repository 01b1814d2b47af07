/* nsys-ai bisect: the answer of a check as git bisect run wants it. Each capture of a commit is kept in a store; more
 * are made until the comparison is decided. */
#include "base/fs.h"
#include "features/nights/check.h"
#include "features/nights/store_command.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GOOD = 0, BAD = 1, SKIP = 125, ABORT = 255 }; /* to git bisect run: above 127 the bisection ends */
enum { UNDECIDED = 256 };

struct bisect_args {
  struct nai_check_args check; /* first: its options are found by their offsets in it */
  const char *metric;
  int most;
};

static void init(void *memory) {
  struct bisect_args *args = memory;
  args->check.common.out = "artifacts/bisect";
  args->check.common.series = "bisect";
  args->most = 10;
}

#define NAI_CLI_ARGS struct bisect_args
static const struct nai_cli_option options[] = {
    NAI_CHECK_BASELINE_OPTION(check.baselines, check.baseline_count),
    NAI_CLI_OPTION(text, check.store, "store", "DIR", "the store that keeps the captures; made where it is not there",
                   .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_OPTION(text, metric, "metric", "ID", "this metric decides", .otherwise = "all that gate, as in check"),
    NAI_CLI_OPTION(int, most, "most", "N", "captures of a commit, after which it is skipped",
                   NAI_CLI_RANGE(1, NAI_STORE_MAX_CAPTURES)),
    NAI_CMD_COMPARE_OPTIONS(check.common),
    {0},
};

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct bisect_args *args = memory;
  (void)operands, (void)count;
  if (!args->check.store)
    return nai_err_set(err, NAI_EUSAGE, "--store DIR is missing");
  return args->check.baseline_count
           ? NAI_OK
           : nai_err_set(err, NAI_EUSAGE, "--baseline is missing: captures of the good commit");
}

/* --- a commit ----------------------------------------------------------------------------------- */

struct commit {
  const struct bisect_args *args;
  struct nai_store store;
  char label[128];             /* "commit=1a2b..." */
  struct nai_strings captures; /* directories in the store */
  struct nai_buf decided_by;   /* "step.time.median 1.91 ms -> 2.03 ms (+6.5 %)"; empty: not decided */
};

static void commit_free(struct commit *c) {
  nai_store_free(&c->store);
  nai_strings_free(&c->captures);
  nai_buf_free(&c->decided_by);
}

static int find_commit(struct commit *c, struct nai_err *err) {
  char hash[100] = "";
  FILE *git = popen("git rev-parse --verify HEAD", "re"); // NOLINT(cert-env33-c): a fixed command
  bool read = git && fgets(hash, sizeof hash, git);
  if ((git && pclose(git) != 0) || !read)
    return nai_err_set(err, NAI_EUSAGE, "git cannot tell which commit is checked out here");
  hash[strcspn(hash, "\n")] = '\0';
  snprintf(c->label, sizeof c->label, "commit=%s", hash);
  return NAI_OK;
}

/* What the store has of this commit. */
static int find_captures(struct commit *c, struct nai_err *err) {
  const char *const labels[] = {c->label};
  struct nai_err none;
  if (nai_store_keep_labelled(&c->store, labels, 1, &none)) /* the store has none */
    return NAI_OK;
  for (uint32_t i = 0; i < c->store.count; i++) {
    const struct nai_store_run *run = &c->store.runs[i];
    char path[PATH_MAX];
    if (!nai_store_is_good(run) || run->thinned || !nai_store_matches(run->series, c->args->check.common.series))
      continue;
    NAI_TRY(nai_store_directory(path, &c->store, run, 0, err));
    NAI_TRY(nai_strings_put(NULL, &c->captures, path, err));
  }
  return NAI_OK;
}

/* --- a capture ---------------------------------------------------------------------------------- */

/* Runs the command with $TRACE, the file that it is to write, and $CAPTURE, the number of this capture. Its status. */
static int make_trace(const char *trace, uint32_t number, const char *const *command, struct nai_err *err) {
  char text[16];
  pid_t pid;
  int status = 0;
  snprintf(text, sizeof text, "%u", number);
  if (setenv("TRACE", trace, 1) != 0 || setenv("CAPTURE", text, 1) != 0)
    return nai_err_nomem(err);
  int failed = posix_spawnp(&pid, command[0], NULL, NULL, (char *const *)command, environ);
  if (failed)
    return nai_err_sys(err, NAI_EUSAGE, failed, "cannot run \"%s\"", command[0]);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* *added: false for a trace that is in the store already. */
static int store_trace(bool *added, struct commit *c, const char *trace, struct nai_err *err) {
  const char *const labels[] = {c->label};
  struct nai_temporary directory = {0};
  NAI_SCOPED(nai_buf) id = {0};
  NAI_OWNED(nai_run) *run = NULL;
  enum nai_store_added how;
  NAI_SCOPED(nai_store) store = {.arena = NAI_ARENA(NULL)};
  NAI_TRY(nai_cmd_source_open(&run, trace, &(struct nai_cmd_source){.quiet = true, .keep = &directory}, err));
  int rc = nai_store_open(&store, c->args->check.store, true, err);
  if (!rc)
    rc = nai_store_add(&id, &how, &store,
                       &(struct nai_store_add){.captures = (struct nai_run *const[]){run},
                                               .capture_count = 1,
                                               .name = c->args->check.common.series,
                                               .utc_ns = NAI_NULL_I64,
                                               .labels = labels,
                                               .label_count = 1},
                       err);
  nai_cmd_remove(&directory);
  *added = !rc && how == NAI_STORE_NEW;
  return rc;
}

static void note(const char *what, const char *why) {
  char line[2200];
  snprintf(line, sizeof line, "bisect: %s%s%s; skipped", what, *why ? ": " : "", why);
  nai_cmd_note(line);
}

/* A script that leaves out $TRACE does so for every commit: with the first one the bisection ends. */
static int say_no_trace(const struct commit *c, struct nai_err *err) {
  static const char says[] = "the command succeeded but wrote no $TRACE";
  if (!c->captures.count)
    return nai_err_set(err, NAI_EUSAGE,
                       "%s: neither \"$TRACE\", an SQLite export, nor \"${TRACE%%.sqlite}.nsys-rep\" is there; write "
                       "one of them, or exit with another status than 0 to skip the commit",
                       says);
  note(says, "");
  return NAI_OK;
}

/* *outcome: SKIP where the commit gives no capture. */
static int capture(int *outcome, struct commit *c, const char *const *command, struct nai_err *err) {
  struct nai_temporary directory;
  char trace[PATH_MAX], other[PATH_MAX];
  bool added = false;
  NAI_TRY(nai_temporary_in(&directory, nai_temporary_place(), err));
  int rc = nai_fs_join(trace, sizeof trace, directory.path, "capture.sqlite") &&
                   nai_fs_join(other, sizeof other, directory.path, "capture.nsys-rep")
             ? make_trace(trace, c->captures.count + 1, command, err)
             : nai_err_set(err, NAI_EIO, "the path of the temporary directory is too long");
  int status = rc;
  *outcome = SKIP;
  if (rc > 0) {
    note("the command failed", "");
    rc = NAI_OK;
  } else if (!rc && !nai_fs_exists(trace) && !nai_fs_exists(other)) {
    rc = say_no_trace(c, err);
  } else if (!rc) {
    rc = store_trace(&added, c, nai_fs_exists(trace) ? trace : other, err);
    if (rc == NAI_EINPUT)
      note("its trace cannot be read", err->msg);
    else if (!rc && !added)
      note("the command made a trace that the store has already", "");
    rc = rc == NAI_EINPUT ? NAI_OK : rc;
  }
  *outcome = !rc && !status && added ? UNDECIDED : SKIP;
  nai_cmd_remove(&directory);
  return rc;
}

/* --- the decision ------------------------------------------------------------------------------- */

/* More captures would change it. */
static bool is_open(const struct nai_metric_result *r) {
  enum nai_verdict v = r->judgement.verdict;
  return v == NAI_VERDICT_SUSPECT || v == NAI_VERDICT_NOT_PROVEN || v == NAI_VERDICT_ERROR;
}

static bool is_worse(const struct nai_metric_result *r) {
  return r->judgement.verdict == NAI_VERDICT_REGRESSED || r->judgement.verdict == NAI_VERDICT_CHANGED;
}

static void put_metric(struct nai_buf *out, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  nai_buf_clear(out);
  nai_buf_printf(out, "%s ", r->def.metric);
  nai_put_amount(out, r->def.unit, j->base, false);
  nai_buf_puts(out, " -> ");
  nai_put_amount(out, r->def.unit, j->candidate, false);
  if (!isnan(j->pct))
    nai_put_pct(out, j->pct);
}

/* *decided_by: of the metrics that decide it the one that reports begin with, or else the first. */
static int decide(int *outcome, struct nai_buf *decided_by, const struct nai_comparison *c, const char *metric,
                  struct nai_err *err) {
  const struct nai_metric_result *head = nai_headline(c), *first = NULL;
  bool any = false, open = false, worse = false;
  for (uint32_t i = 0; i < c->result_count; i++) {
    const struct nai_metric_result *r = &c->results[i];
    if (metric ? strcmp(r->def.metric, metric) != 0 : !r->gated || r->judgement.verdict == NAI_VERDICT_SKIPPED)
      continue;
    if (!first || (is_worse(r) == is_worse(first) ? r == head : is_worse(r)))
      first = r;
    any = true;
    open |= is_open(r);
    worse |= is_worse(r);
  }
  if (metric && !any)
    return nai_err_set(err, NAI_EUSAGE, "--metric \"%.100s\": no run has it", metric);
  *outcome = worse ? BAD : open || !any ? UNDECIDED : GOOD;
  if (*outcome != UNDECIDED)
    put_metric(decided_by, first);
  return nai_buf_check(decided_by, err);
}

/* Compares what there is of the commit. */
static int compare(int *outcome, struct commit *c, struct nai_err *err) {
  NAI_SCOPED(nai_comparison) comparison = NAI_COMPARISON;
  struct nai_check_args args = c->args->check;
  struct nai_gate gate;
  const char *paths[NAI_STORE_MAX_CAPTURES];
  char out[PATH_MAX];
  uint32_t count = 0;
  for (; count < c->captures.count && count < NAI_STORE_MAX_CAPTURES; count++)
    paths[count] = nai_strings_get(&c->captures, count);
  if (!nai_fs_join(out, sizeof out, args.common.out, c->label + strlen("commit=")))
    return nai_err_set(err, NAI_EUSAGE, "--out \"%s\" is too long", args.common.out);
  NAI_TRY(nai_fs_mkdir_all(args.common.out, err));
  args.common.out = out;
  args.common.quiet = true;
  NAI_TRY(nai_check_runs(&gate, &comparison, &args, paths, count, err));
  const struct nai_check *obstacle = nai_comparison_obstacle(&comparison);
  if (!obstacle)
    return decide(outcome, &c->decided_by, &comparison, c->args->metric, err);
  note("not comparable", obstacle->reason);
  *outcome = SKIP;
  return NAI_OK;
}

static int open_commit(struct commit *c, const struct bisect_args *args, struct nai_err *err) {
  nai_store_free(&c->store);
  nai_strings_free(&c->captures);
  c->captures = (struct nai_strings){0};
  c->store = (struct nai_store){.arena = NAI_ARENA(NULL)};
  NAI_TRY(nai_store_open(&c->store, args->check.store, true, err));
  NAI_TRY(nai_store_read(&c->store, args->check.common.series, err));
  return find_captures(c, err);
}

/* Captures and compares in turn, until it is decided or there are enough. */
static int find_out(int *outcome, struct commit *c, const char *const *command, struct nai_err *err) {
  *outcome = UNDECIDED;
  NAI_TRY(open_commit(c, c->args, err));
  while (*outcome == UNDECIDED) {
    if (c->captures.count)
      NAI_TRY(compare(outcome, c, err));
    if (*outcome == UNDECIDED && c->captures.count >= (uint32_t)c->args->most) {
      note("not decided", "as many captures as --most allows");
      *outcome = SKIP;
    }
    if (*outcome != UNDECIDED)
      break;
    NAI_TRY(capture(outcome, c, command, err));
    NAI_TRY(open_commit(c, c->args, err));
  }
  return NAI_OK;
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct bisect_args *args = memory;
  NAI_SCOPED(commit) c = {.args = args, .store = {.arena = NAI_ARENA(NULL)}};
  const char *command[NAI_CMD_MAX_CAPTURES + 1] = {NULL};
  int outcome;
  memcpy(command, operands, count * sizeof *command);
  NAI_TRY(find_commit(&c, err));
  NAI_TRY(find_out(&outcome, &c, command, err));
  NAI_TRY(nai_cmd_store_write_index(&c.store, err));
  if (!args->check.common.quiet)
    printf("%s: %s%s%s, %u capture%s\n", c.label + strlen("commit="),
           outcome == GOOD  ? "good"
           : outcome == BAD ? "bad"
                            : "skipped",
           c.decided_by.len ? ": " : "", nai_buf_str(&c.decided_by), c.captures.count,
           c.captures.count == 1 ? "" : "s");
  return outcome;
}

NAI_CLI_COMMAND(
    nai_cmd_bisect, .name = "bisect", .synopsis = "--baseline SELECTOR... --store DIR -- COMMAND...",
    .summary = "for git bisect run: capture a commit until a check of it is decided",
    .description =
        "Runs COMMAND, which builds the commit that is checked out and writes a trace to $TRACE (an SQLite export; or "
        "an .nsys-rep of that name, where there is an nsys), and compares as nsys-ai check does. What one capture does not decide, "
        "the next ones do: $CAPTURE is their number. Every capture stays in the store, with the label commit; one that is there "
        "is not made again. Exit status as git bisect run wants it: 0 good, 1 bad, 125 skip (COMMAND failed, not comparable, "
        "not decided), 255 for mistakes and errors, which end the bisection, as where COMMAND succeeds and writes no $TRACE. See docs/gating.md.",
    .examples = "git bisect run nsys-ai bisect --baseline runs/good --store captures -- perf/capture.sh",
    .options = options, .failed_status = ABORT,
    NAI_CLI_OPERANDS(1, NAI_CMD_MAX_CAPTURES, {.name = "COMMAND", .hint = NAI_CLI_FILE}), .init = init, .check = check,
    .run = run)
