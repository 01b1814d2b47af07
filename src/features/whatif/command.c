/* nsys-ai whatif: what a step would take with changes, by replay of the trace's graph of dependencies. */
#include "base/escape.h"
#include "base/fmt.h"
#include "base/temporary.h"
#include "features/export/command.h"
#include "features/whatif/asked.h"
#include "features/whatif/caveats.h"
#include "features/whatif/changes.h"
#include "features/whatif/joined.h"
#include "features/whatif/sensitivity.h"
#include "model/critical/whatif.h"
#include "query/query_rows.h"
#include "table/json.h"
#include "table/stats.h"

enum { MAX_WITHOUT = 32 };

struct whatif_args {
  struct {
    const char *v[NAI_MOST_OF_A_KIND];
    size_t count;
    bool alone; /* of what takes no value */
  } of[NAI_CHANGE_KINDS];
  struct asked asked;
  int64_t most, without[MAX_WITHOUT]; /* INT64_MIN: all that gain */
  size_t without_count;
  bool quiet, sensitivity;
  int format;
};

static void init(void *memory) {
  struct whatif_args *args = memory;
  args->asked.step = args->most = INT64_MIN;
}

enum { TEXT, JSON };
NAI_CLI_NAMES(format_name, "text", "json")

#define NAI_CLI_ARGS struct whatif_args
static const struct nai_cli_option options[] = {
    NAI_CLI_LIST(texts, of[NAI_CHANGE_REMOVE_WAIT].v, of[NAI_CHANGE_REMOVE_WAIT].count, "remove-wait", "RE",
                 "calls no longer wait for the GPU: those whose function, or an NVTX range around them, matches; "
                 "repeatable"),
    NAI_CLI_LIST(texts, of[NAI_CHANGE_REMOVE_WAIT_AT].v, of[NAI_CHANGE_REMOVE_WAIT_AT].count, "remove-wait-at", "PLACE",
                 "the same of one place, as findings name it: FUNCTION in RANGE > RANGE; repeatable"),
    NAI_CLI_LIST(
        texts, of[NAI_CHANGE_KERNEL].v, of[NAI_CHANGE_KERNEL].count, "kernel", "RE=F",
        "kernels whose name matches take F of their time: 0.55, 1.8x (so much faster) or 0.5..0.7; repeatable"),
    NAI_CLI_LIST(
        texts, of[NAI_CHANGE_COPY].v, of[NAI_CHANGE_COPY].count, "copy", "RE=F",
        "copies of that direction do, as in Host-to-Device, HtoD or H2D; 0 keeps the data where it is; repeatable"),
    NAI_CLI_LIST(texts, of[NAI_CHANGE_COPY_AT].v, of[NAI_CHANGE_COPY_AT].count, "copy-at", "PLACE=F",
                 "those of one place do: FUNCTION in RANGE > RANGE; repeatable"),
    NAI_CLI_SWITCH(on, of[NAI_CHANGE_PINNED].alone, "pinned",
                   "pageable copies are asynchronous, at the rate of the trace's pinned ones"),
    NAI_CLI_SWITCH(on, of[NAI_CHANGE_OWN_STREAM].alone, "own-stream",
                   "copies to the GPU are on a stream of their own; what follows waits for them"),
    NAI_CLI_SWITCH(on, of[NAI_CHANGE_OWN_STREAM_COMM].alone, "own-stream-comm",
                   "communication is on a stream of its own; its result is awaited behind the next one"),
    NAI_CLI_LIST(texts, of[NAI_CHANGE_MORE_IN_FLIGHT].v, of[NAI_CHANGE_MORE_IN_FLIGHT].count, "more-in-flight", "RE",
                 "threads whose name or number matches do not wait for others that they take turns with; repeatable"),
    NAI_CLI_LIST(texts, of[NAI_CHANGE_FUSE].v, of[NAI_CHANGE_FUSE].count, "fuse", "RE",
                 "kernels that only move data, whose name matches, are one where they follow each other; repeatable"),
    NAI_CLI_SWITCH(on, of[NAI_CHANGE_GRAPHS].alone, "graphs",
                   "launches less than 50 \u00b5s apart are one launch of a CUDA graph"),
    NAI_CLI_LIST(texts, of[NAI_CHANGE_CALL].v, of[NAI_CHANGE_CALL].count, "call", "RE=F",
                 "CUDA calls of that function or in that NVTX range do, without their waiting; repeatable"),
    NAI_CLI_OPTION(text, of[NAI_CHANGE_HOST].v[0], "host", "F", "host code and calls take F of their time",
                   .otherwise = "as recorded"),
    NAI_CLI_SWITCH(on, of[NAI_CHANGE_NO_PROFILER].alone, "no-profiler",
                   "without what the profiler's buffer flushes took"),
    NAI_CLI_SWITCH(on, of[NAI_CHANGE_BALANCE].alone, "balance",
                   "a rank that comes late to a collective is as fast up to it as the median of the others"),
    ASKED_OPTIONS,
    NAI_CLI_OPTION(int64, most, "max", "N", "of the plan: at most N changes, those that add most",
                   NAI_CLI_RANGE(1, NAI_MOST_CHANGES), .otherwise = "all that add 1 % or more"),
    NAI_CLI_LIST(ints, without, without_count, "without", "N",
                 "not the change that finding N of the report names; repeatable", NAI_CLI_RANGE(1, INT32_MAX)),
    NAI_CLI_SWITCH(on, sensitivity, "sensitivity",
                   "instead of changes: what a step takes if all kernels, copies, calls or host code take less time"),
    NAI_CLI_OPTION(choice, format, "format", "FORMAT", "how the answer is printed", .choices = format_name),
    NAI_CMD_EXPORT_OPTION,
    NAI_CLI_SWITCH(on, quiet, "quiet", "print no notes", .letter = 'q'),
    {0},
};

/* --- changes ---------------------------------------------------------------------------------- */

static int read_changes(struct nai_changes *c, const struct whatif_args *args, struct nai_err *err) {
  for (int kind = 0; kind < NAI_CHANGE_KINDS; kind++) {
    for (size_t i = 0; i < NAI_MOST_OF_A_KIND && args->of[kind].v[i]; i++)
      NAI_TRY(nai_changes_add(c, (enum nai_change_kind)kind, args->of[kind].v[i], err));
    if (args->of[kind].alone)
      NAI_TRY(nai_changes_add(c, (enum nai_change_kind)kind, "", err));
  }
  return NAI_OK;
}

/* --- the answer ------------------------------------------------------------------------------- */

struct answer {
  bool of_findings; /* the changes are those that findings name, for the command line names none */
  struct nai_buf *out;
  const struct whatif_args *args;
  struct nai_changes *changes;
  struct asked of; /* args->asked, to be placed */
  struct nai_path_asked room;
  const struct nai_path_asked *asked; /* NULL: all */
  struct nai_whatif whatif;
  struct nai_plan_step *plan;
  uint32_t chosen;
  struct nai_whatif_result together;
  const char *refused; /* why nothing is simulated, or NULL */
  uint32_t unit_ops;   /* operations of the GPU in one repetition of the unit */
  struct nai_whatif_caveats caveats;
  struct nai_sensitivity sensitivity;
};

/* "16.4 ms (15.8 ms to 17.1 ms)" */
static void put_times(struct nai_buf *out, const struct nai_whatif_result *r) {
  nai_fmt_duration(out, r->ns[NAI_CASE_LIKELY]);
  nai_buf_puts(out, " (");
  nai_fmt_duration(out, r->ns[NAI_CASE_HIGH]);
  nai_buf_puts(out, " to ");
  nai_fmt_duration(out, r->ns[NAI_CASE_LOW]);
  nai_buf_putc(out, ')');
}

static void put_saving(struct nai_buf *out, double before, double after, double now, const char *bound) {
  nai_buf_puts(out, after > before ? ", loses " : bound ? ", saves at most " : ", saves ");
  nai_fmt_duration(out, fabs(before - after));
  nai_buf_puts(out, " (");
  nai_fmt_percent(out, now > 0 ? 100 * fabs(before - after) / now : 0);
  nai_buf_putc(out, ')');
  if (fabs(before - after) < NAI_MODEL_ERROR * now)
    nai_buf_puts(out, ", below the model's error of 4 %");
}

/* What the i-th change of the plan assumes, where that widens the interval. */
static const char *choice_of(const struct answer *a, uint32_t i, enum nai_case which) {
  const struct nai_plan_step *s = &a->plan[i];
  return s->chosen ? nai_whatif_choice(&a->whatif, &a->changes->v[s->change], &s->after,
                                       i ? &a->plan[i - 1].after : NULL, which)
                   : NULL;
}

static void put_step(const struct answer *a, uint32_t i) {
  const struct nai_plan_step *s = &a->plan[i];
  const char *title = a->changes->titles[s->change];
  NAI_SCOPED(nai_buf) words = {0};
  nai_change_put_words(&words, &a->changes->v[s->change]);
  a->out->oom |= words.oom;
  if (s->chosen)
    nai_buf_printf(a->out, "%u. ", i + 1);
  else
    nai_buf_puts(a->out, "-  ");
  if (title) {
    nai_escape_terminal(a->out, title, strlen(title));
    nai_buf_puts(a->out, " (");
  }
  nai_escape_terminal(a->out, nai_buf_str(&words), words.len);
  nai_buf_puts(a->out, title ? "): " : ": ");
  if (s->chosen) {
    put_times(a->out, &s->after);
    put_saving(a->out, s->before_ns, s->after_ns, a->whatif.now_ns,
               nai_whatif_bound(&a->whatif, &a->changes->v[s->change]));
  } else {
    nai_buf_puts(a->out, a->chosen == a->args->most       ? "left out"
                         : s->alone_ns > a->whatif.now_ns ? "no gain"
                         : a->chosen                      ? "nothing after these"
                                                          : "less than 1 %");
  }
  nai_buf_puts(a->out, s->alone_ns > a->whatif.now_ns ? "; alone loses " : "; alone ");
  nai_fmt_duration(a->out, fabs(a->whatif.now_ns - s->alone_ns));
  nai_buf_putc(a->out, '\n');
  for (int which = 0; which < NAI_CASES; which++)
    if (choice_of(a, i, (enum nai_case)which))
      nai_buf_printf(a->out, "   %s: %s\n", which == NAI_CASE_LOW ? "cautious" : "favorable",
                     choice_of(a, i, (enum nai_case)which));
}

/* Of all changes together; NULL: none is a bound. */
static const char *find_bound(const struct answer *a) {
  const char *bound = NULL;
  for (uint32_t i = 0; i < a->changes->count && !bound; i++)
    bound = nai_whatif_bound(&a->whatif, &a->changes->v[i]);
  return bound;
}

static void put_plan(const struct answer *a) {
  for (uint32_t i = 0; i < a->changes->count; i++)
    put_step(a, i);
  nai_buf_puts(a->out, "Together: ");
  put_times(a->out, &a->together);
  put_saving(a->out, a->whatif.now_ns, a->together.ns[NAI_CASE_LIKELY], a->whatif.now_ns, find_bound(a));
  nai_buf_printf(a->out, "; then %s %.0f %% of the critical path\n", nai_path_cause_title(a->together.limit),
                 a->together.limit_pct);
  if (find_bound(a))
    nai_buf_printf(a->out, "At most: %s.\n", find_bound(a));
}

/* "Unit of 12 operations now 805.2 us, mean of 40, 97 % of the active time" */
static void put_now(const struct answer *a) {
  static const char *const titles[] = {"Window", "Step", "Unit", "Longest active span"};
  const struct nai_whatif *w = &a->whatif;
  nai_buf_puts(a->out, titles[w->kind]);
  if (w->kind == NAI_SCOPE_UNIT)
    nai_buf_printf(a->out, " of %u operation%s", a->unit_ops, a->unit_ops == 1 ? "" : "s");
  nai_buf_puts(a->out, " now ");
  nai_fmt_duration(a->out, w->now_ns);
  if (w->repetitions > 1)
    nai_buf_printf(a->out, ", mean of %u", w->repetitions);
  if (w->kind != NAI_SCOPE_WINDOW && !a->asked)
    nai_buf_printf(a->out, ", %.0f %% of the active time",
                   fmin(100, nai_percent((double)w->covered_ns, (double)w->active_ns)));
  nai_buf_putc(a->out, '\n');
}

static void print_text(const struct answer *a) {
  put_now(a);
  if (a->args->sensitivity)
    nai_sensitivity_put_text(a->out, &a->sensitivity);
  else if (a->changes->count)
    put_plan(a);
  else if (!a->changes->left_out)
    nai_buf_puts(a->out, "No finding names a change that can be simulated here.\n");
  for (int i = 0; i < a->caveats.count && !a->args->quiet; i++)
    if (a->changes->count || a->args->sensitivity || a->changes->left_out)
      nai_buf_printf(a->out, "%s\n", a->caveats.v[i]);
}

static int64_t whole(double ns) { return llround(ns); }

static void put_json_times(struct nai_json *json, const struct nai_whatif_result *r) {
  nai_json_put_int(json, "after_ns", whole(r->ns[NAI_CASE_LIKELY]));
  nai_json_put_int(json, "after_low_ns", whole(r->ns[NAI_CASE_LOW]));
  nai_json_put_int(json, "after_high_ns", whole(r->ns[NAI_CASE_HIGH]));
  nai_json_put_text(json, "limited_by", nai_path_cause_name(r->limit));
  nai_json_put_int(json, "limited_by_pct", whole(r->limit_pct));
  nai_json_put_int(json, "inferred_count", r->inferred);
}

static void print_json(const struct answer *a) {
  NAI_SCOPED(nai_json) json = {0};
  nai_json_open(&json, a->out, NAI_JSON_INLINE);
  nai_json_put_text(&json, "scope", nai_path_scope_name(a->whatif.kind));
  nai_json_put_int(&json, "now_ns", whole(a->whatif.now_ns));
  nai_json_put_int(&json, "repetition_count", a->whatif.repetitions);
  nai_json_put_int(&json, "covered_ns", a->whatif.covered_ns);
  nai_json_put_int(&json, "active_ns", a->whatif.active_ns);
  nai_json_put_text(&json, "state", a->refused ? "refused" : nai_path_state_name(a->whatif.state));
  nai_json_put_text(&json, "reason", a->refused ? a->refused : a->whatif.reason);
  nai_json_put_array(&json, "changes", NAI_JSON_INLINE);
  for (uint32_t i = 0; i < a->changes->count && !a->refused; i++) {
    const struct nai_plan_step *s = &a->plan[i];
    NAI_SCOPED(nai_buf) words = {0};
    nai_change_put_words(&words, &a->changes->v[s->change]);
    a->out->oom |= words.oom;
    nai_json_begin_object(&json, NAI_JSON_INLINE);
    nai_json_put_text(&json, "change", a->changes->v[s->change].text);
    nai_json_put_text(&json, "action", nai_buf_str(&words));
    nai_json_put_text(&json, "finding", a->changes->titles[s->change]);
    nai_json_put_int(&json, "edited_count", a->changes->edited[s->change]);
    nai_json_put_bool(&json, "chosen", s->chosen);
    nai_json_put_int(&json, "before_ns", whole(s->before_ns));
    nai_json_put_int(&json, "saving_ns", whole(s->before_ns - s->after_ns));
    nai_json_put_text(&json, "bound", nai_whatif_bound(&a->whatif, &a->changes->v[s->change]));
    nai_json_put_int(&json, "alone_saving_ns", whole(a->whatif.now_ns - s->alone_ns));
    nai_json_put_text(&json, "cautious", choice_of(a, i, NAI_CASE_LOW));
    nai_json_put_text(&json, "favorable", choice_of(a, i, NAI_CASE_HIGH));
    if (s->chosen)
      put_json_times(&json, &s->after);
    nai_json_end(&json);
  }
  nai_json_end(&json);
  if (!a->refused && a->changes->count) {
    nai_json_put_object(&json, "together", NAI_JSON_INLINE);
    nai_json_put_int(&json, "saving_ns", whole(a->whatif.now_ns - a->together.ns[NAI_CASE_LIKELY]));
    put_json_times(&json, &a->together);
    nai_json_end(&json);
  }
  if (a->args->sensitivity)
    nai_sensitivity_put_json(&json, &a->sensitivity);
  nai_json_put_array(&json, "caveats", NAI_JSON_INLINE);
  for (int i = 0; i < a->caveats.count; i++)
    nai_json_text(&json, a->caveats.v[i]);
  nai_json_close(&json);
}

/* --- simulation ------------------------------------------------------------------------------- */

/* Why changes like these cannot be simulated, NULL where they can. */
static const char *why_not(const struct answer *a) {
  const char *reason = nai_whatif_refuses(&a->whatif, NULL);
  for (uint32_t i = 0; i < a->changes->count && !reason; i++)
    reason = nai_whatif_refuses(&a->whatif, &a->changes->v[i]);
  return reason;
}

/* Leaves, of the changes that findings name, those that can be simulated; of the others table what_if says why not. */
static int keep_possible(const struct answer *a, struct nai_err *err) {
  struct nai_changes *c = a->changes;
  for (uint32_t i = 0; i < c->count;) {
    int rc = NAI_EUSAGE;
    if (!nai_whatif_refuses(&a->whatif, &c->v[i]))
      rc = nai_change_count(&c->edited[i], &a->whatif, &c->v[i], err);
    if (rc && rc != NAI_EUSAGE)
      return rc;
    if (rc || !c->edited[i]) {
      nai_changes_drop(c, i);
      continue;
    }
    bool left_out;
    NAI_TRY(nai_changes_leave_out(&left_out, c, i, &a->whatif, err));
    i += !left_out;
  }
  return NAI_OK;
}

static int simulate(const struct nai_model *m, void *ctx, struct nai_err *err) {
  struct answer *a = ctx;
  struct nai_changes *c = a->changes;
  const struct nai_change *all[NAI_MOST_CHANGES];
  NAI_TRY(nai_whatif_begin(&a->whatif, m, a->asked, NAI_WHATIF_ALL, NULL, &c->arena, err));
  if (a->of_findings && a->whatif.state < NAI_PATH_NO_SAVINGS)
    NAI_TRY(keep_possible(a, err));
  a->refused = why_not(a);
  if (a->whatif.count) { /* the model is gone when the answer is printed */
    const struct nai_path_scope *of = &a->whatif.scopes[a->whatif.slowest];
    a->unit_ops =
        (nai_node_op(m->dependencies, of->nodes[of->count]) - nai_node_op(m->dependencies, of->nodes[0])) / of->count;
  }
  if (!a->refused && a->args->sensitivity)
    NAI_TRY(nai_find_sensitivity(&a->sensitivity, &a->whatif, err));
  if (!a->refused && c->count) {
    if (!a->of_findings)
      NAI_TRY(nai_changes_count(c, &a->whatif, err));
    for (uint32_t i = 0; i < c->count; i++)
      all[i] = &c->v[i];
    NAI_TRY(NAI_NEW(a->plan, &c->arena, c->count, err));
    NAI_TRY(nai_whatif_plan(a->plan, &a->chosen, &a->whatif, c->v, NULL, c->count,
                            a->args->most < 0 ? c->count : (uint32_t)a->args->most, err));
    if (a->chosen == c->count || a->chosen == a->args->most || (a->of_findings && a->chosen))
      a->together = a->plan[a->chosen - 1].after;
    else
      NAI_TRY(nai_whatif_try(&a->together, &a->whatif, all, c->count, err));
  }
  NAI_TRY(nai_whatif_find_caveats(&a->caveats, m, c->v, c->count, &a->together, &c->arena, err));
  if (c->left_out)
    a->caveats.v[a->caveats.count++] = nai_arena_printf(&c->arena, "%s.", c->left_out);
  return nai_arena_check(&c->arena, err);
}

static int print(const struct answer *a, struct nai_err *err) {
  if (a->args->format == JSON)
    print_json(a);
  else if (a->refused)
    nai_buf_printf(a->out, "Not simulated: %s.\n", a->refused);
  else
    print_text(a);
  return a->args->format == JSON ? nai_cmd_print(a->out, err) : nai_cmd_print_lines(a->out, err);
}

enum { PARTS = NAI_PART(DEPENDENCIES) | NAI_PART(STEPS) | NAI_PART(NVTX_TREE) | NAI_PART(EVIDENCE) };

static int simulate_trace(struct answer *a, const char *source, struct nai_err *err) {
  static const struct nai_cmd_model_needs needs = {.tables = NAI_IN(LABELS), .parts = PARTS, .map_nvtx = true};
  NAI_OWNED(nai_run) *run = NULL;
  NAI_TRY(nai_cmd_source_open(&run, source, &(struct nai_cmd_source){.quiet = a->args->quiet}, err));
  NAI_TRY(nai_asked_place(&a->asked, &a->room, &a->of, run, err));
  if (a->of_findings)
    NAI_TRY(nai_changes_of_findings(a->changes, a->args->without, a->args->without_count, run, err));
  return nai_cmd_with_model(run, &needs, simulate, a, err);
}

/* Ranks that are late are seen beside the others only: no finding of one trace names that change. */
static int simulate_ranks(struct answer *a, const char *const *sources, size_t count, struct nai_err *err) {
  NAI_SCOPED(nai_joined) joined = {0};
  NAI_TRY(nai_join(&joined, sources, count, PARTS, a->args->quiet, err));
  NAI_TRY(nai_asked_place(&a->asked, &a->room, &a->of, joined.ranks.sources[0].run, err));
  for (size_t i = 0; i < count && a->of_findings; i++)
    NAI_TRY(nai_changes_of_findings(a->changes, NULL, 0, joined.ranks.sources[i].run, err));
  if (a->of_findings && a->changes->count < NAI_MOST_CHANGES)
    NAI_TRY(nai_changes_add(a->changes, NAI_CHANGE_BALANCE, "", err));
  a->refused = joined.refused;
  a->caveats.doubt_ns = joined.doubt_ns;
  a->caveats.ranks_missing = joined.ranks.missing > 0 || joined.ranks.left_out > 0;
  return a->refused ? NAI_OK : simulate(&joined.model, a, err);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  enum { UNDECIDED = 7 };
  const struct whatif_args *args = memory;
  NAI_SCOPED(nai_buf) out = {0};
  NAI_SCOPED(nai_changes) changes = {.arena = NAI_ARENA(nai_temporary_place())};
  struct answer a = {.out = &out, .args = args, .changes = &changes, .of = args->asked};
  NAI_TRY(read_changes(&changes, args, err));
  a.of_findings = !changes.count && !args->sensitivity;
  if (args->sensitivity && changes.count)
    return nai_err_set(err, NAI_EUSAGE, "--sensitivity is of no change: give it or changes");
  if (args->without_count && (!a.of_findings || count > 1))
    return nai_err_set(err, NAI_EUSAGE, "--without is of the plan that the findings of one trace make");
  NAI_TRY(count == 1 ? simulate_trace(&a, operands[0], err) : simulate_ranks(&a, operands, count, err));
  NAI_TRY(print(&a, err));
  return a.refused ? UNDECIDED : NAI_OK;
}

NAI_CLI_COMMAND(
    nai_cmd_whatif, .name = "whatif", .synopsis = "SRC...", .summary = "simulate what changes would save",
    .description =
        "Replays the trace with changed durations: every recorded call and operation keeps what it depends on, and "
        "happens as early as that allows. Prints what a step (a repeating unit that has half of the active time, or the "
        "window, without its pauses where one span of work has half) would take, change by change in the order of what "
        "each adds, and with all of them. In parentheses stands the interval from favorable to cautious, at least 4 % "
        "to either side. Without a change: those that the findings of the report name. Several SRC are the ranks of a "
        "job: their collectives are matched, and their clocks compared, as by nsys-ai ranks. "
        "Status 7: the traces do not hold what a simulation needs. " NAI_CMD_ABOUT_SOURCE,
    .examples = "nsys-ai whatif artifacts/run1\n"
                "nsys-ai whatif artifacts/run1 --kernel 'flash.*=0.55' --remove-wait 'aten::to'\n"
                "nsys-ai whatif trace.sqlite --no-profiler --balance\n"
                "nsys-ai whatif rank0.sqlite rank1.sqlite --balance\n"
                "nsys-ai whatif trace.sqlite --copy HtoD=0.5 --format json",
    .options = options, .init = init, NAI_CLI_OPERANDS(1, NAI_CLI_ANY_NUMBER, NAI_CMD_SOURCE("SRC")), .run = run)
