/* The verdict, its reasons and its caveats: the values in them; the words are those of templates/many/ranks.txt. */
#include "features/ranks/write.h"

#include "index/index.h"
#include "table/kernel_name.h"
#include "table/stats.h"
#include "tables/mpi_efficiency.h"
#include "tables/rank_mpi_collectives.h"
#include "tables/rank_mpi_pairs.h"
#include "tables/ranks.h"

enum {
  MAX_NAMED = 3,
  MAX_CHARS = 72,
  FEW_SHARE = 4 /* few are a quarter of them and less */
};
static const double worth_saying = 1.03; /* than the median rank, from which on it is said */

/* A view that stays, while sentence after sentence is switched on in it. */
struct speech {
  const struct nai_ranks *r;
  struct nai_ranks_report *to;
  struct nai_view *root;
  struct nai_arena *arena;
};

static void put_ns(struct nai_view *map, const char *key, int64_t ns) {
  nai_view_put_value(map, key, NAI_NS, &(struct nai_value){.type = NAI_I64, .i = ns});
}

static void put_pct(struct nai_view *map, const char *key, double pct) {
  nai_view_put_value(map, key, NAI_PCT, &(struct nai_value){.type = NAI_F64, .f = pct});
}

static void put_share(struct nai_view *map, const char *key, int64_t part, int64_t all) {
  put_pct(map, key, all > 0 ? 100 * (double)part / (double)all : 0);
}

static int say(const char **out, const struct speech *s, const char *sentence, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(nai_index_render(&text, "ranks.txt", s->root, NAI_ESCAPE_NONE, err));
  nai_view_put_bool(s->root, sentence, false);
  NAI_TRY(nai_buf_check(&text, err));
  *out = nai_arena_printf(s->arena, "%.*s", text.len ? (int)text.len - 1 : 0, nai_buf_str(&text)); /* no line break */
  return nai_arena_check(s->arena, err);
}

/* --- verdict ---------------------------------------------------------------------------------- */

static void put_sums(struct nai_view *root, const struct nai_ranks *r) {
  put_ns(root, "doubt", r->residual);
  put_ns(root, "delay", r->delay_ns);
  put_ns(root, "delay_each", r->decided ? r->delay_ns / r->decided : 0);
  put_share(root, "delay_share", r->delay_ns, r->span_ns);
  put_ns(root, "slow_excess", r->slow_excess_ns);
  put_share(root, "slow_share", r->slow_excess_ns, r->span_ns);
  nai_view_put_int(root, "slow_count", r->slow_count);
  nai_view_put_int(root, "split_count", r->split);
  nai_view_put_int(root, "decided_count", r->decided);
  nai_view_put_int(root, "rank_count", r->rank_count);
  nai_view_put_int(root, "left_out", r->left_out);
  nai_view_put_bool(root, "some_absent", r->left_out || r->missing);
  nai_view_put_text(root, "refusal", nai_ranks_refusal(r, NAI_NO_RANK));
}

static struct nai_view *add_rank(struct nai_view *list, const struct nai_job_rank *rank, bool another) {
  struct nai_view *map = nai_view_add_map(list);
  nai_view_put_bool(map, "another", another);
  nai_view_put_text(map, "label", rank->label);
  nai_view_put_int(map, "late_count", rank->late_count);
  put_ns(map, "late_by", rank->late_by_ns);
  return map;
}

static void put_stragglers(struct nai_view *root, const struct nai_ranks *r) {
  struct nai_view *list = nai_view_put_list(root, "stragglers");
  int named = 0;
  for (uint32_t i = 0; i < r->rank_count; i++) {
    const struct nai_job_rank *rank = &r->ranks[i];
    if (!nai_ranks_is_persistent(r, rank) || named++ >= MAX_NAMED)
      continue;
    struct nai_rank_interval share = nai_ranks_late_share(rank);
    struct nai_view *map = add_rank(list, rank, named > 1);
    nai_view_put_int(map, "decided_count", rank->decided);
    nai_view_put_int(map, "low_pct", (int64_t)floor(100 * share.low));
    nai_view_put_int(map, "high_pct", (int64_t)ceil(100 * share.high));
    put_ns(map, "late_median", rank->late_median_ns);
    put_share(map, "late_share", rank->late_by_ns, r->span_ns);
    put_ns(map, "caused_wait", rank->caused_wait_ns);
    nai_view_put_bool(map, "mostly_once", nai_ranks_event_ns(r, rank) > 0);
  }
  if (named > MAX_NAMED)
    nai_view_put_int(root, "more_stragglers", named - MAX_NAMED);
}

/* The ranks whose lateness adds up to most. */
static void put_latest(struct nai_view *root, const struct nai_ranks *r, const struct nai_key *latest) {
  struct nai_view *list = nai_view_put_list(root, "latest");
  nai_view_put_bool(root, "mostly", 2 * r->ranks[latest[0].value].late_by_ns > r->delay_ns);
  for (uint32_t n = 0; n < MAX_NAMED && n < r->rank_count; n++) {
    const struct nai_job_rank *rank = &r->ranks[latest[n].value];
    if (rank->late_by_ns)
      nai_view_put_bool(add_rank(list, rank, n > 0), "several", rank->late_count != 1);
  }
}

/* The longest delay, and what remains without it. */
static void put_event(struct nai_view *root, const struct nai_ranks *r) {
  const struct nai_rank_group *group = &r->groups[r->longest.group];
  struct nai_view *event = nai_view_put_map(root, "event");
  uint32_t late = nai_ranks_late_rank(r, group, r->longest.collective);
  nai_view_put_text(event, "label", r->ranks[late].label);
  nai_view_put_int(event, "number", r->longest.collective);
  nai_view_put_bool(event, "by_step", r->by_step);
  nai_view_put_int(event, "step", (int64_t)nai_ranks_bucket(r, group, r->longest.collective) * r->per_bucket);
  put_ns(event, "late_by", r->longest.late_by_ns);
  put_share(event, "share", r->longest.late_by_ns, r->span_ns);
  put_ns(event, "rest", r->delay_ns - r->inherited_ns - r->longest.late_by_ns);
}

/* Traces of which the verdict says nothing, or nothing that concerns the others. */
static int say_operands(const struct speech *s, struct nai_err *err) {
  static const char *const sentences[] = {"silent_traces", "parts"};
  struct nai_view *silent = nai_view_put_list(s->root, "silent"), *others = nai_view_put_list(s->root, "others");
  uint32_t counts[2] = {0, 0};
  for (uint32_t i = 0; i < s->r->source_count; i++) {
    const struct nai_rank_source *source = &s->r->sources[i];
    if (source->communicates && !source->begins_part)
      continue;
    uint32_t *count = &counts[source->communicates];
    if ((*count)++ >= MAX_NAMED)
      continue;
    struct nai_view *map = nai_view_add_map(source->communicates ? others : silent);
    nai_view_put_bool(map, "another", *count > 1);
    nai_view_put_text(map, "path", source->path);
  }
  if (s->r->first_part < s->r->source_count)
    nai_view_put_text(s->root, "first_path", s->r->sources[s->r->first_part].path);
  nai_view_put_bool(s->root, "are_apart", nai_ranks_are_apart(s->r));
  put_ns(s->root, "apart", s->r->apart_ns);
  for (int i = 0; i < 2; i++) {
    const char *text;
    if (!counts[i])
      continue;
    nai_view_put_bool(s->root, "several", counts[i] > 1);
    nai_view_put_bool(s->root, "more", counts[i] > MAX_NAMED);
    nai_view_put_bool(s->root, sentences[i], true);
    NAI_TRY(say(&text, s, sentences[i], err));
    s->to->verdict = nai_arena_printf(s->arena, "%s %s", s->to->verdict, text);
    NAI_TRY(nai_arena_check(s->arena, err));
  }
  return NAI_OK;
}

/* The worst late sender and the rank that others wait longest for in collectives, where that is worth a word, and the
 * efficiencies. */
static void put_late_sender(struct nai_view *root, const struct nai_ranks_report *to) {
  const struct nai_table *pairs = to->tables[NAI_RANKS_PAIRS_OF_MPI], *all = to->tables[NAI_RANKS_EFFICIENCY];
  struct MPI_EFFICIENCY_row row = all->rows ? MPI_EFFICIENCY_at(all, 0) : (struct MPI_EFFICIENCY_row){0};
  if (pairs->rows && 100 * RANK_MPI_PAIRS_at(pairs, 0).late_send_ns > row.span_ns) {
    nai_view_put_text(root, "late_sender", RANK_MPI_PAIRS_at(pairs, 0).peer);
    nai_view_put_text(root, "late_receiver", RANK_MPI_PAIRS_at(pairs, 0).rank);
    put_ns(root, "late_send", RANK_MPI_PAIRS_at(pairs, 0).late_send_ns);
  }
  struct RANK_MPI_COLLECTIVES_row last = {0};
  for (int64_t i = 0; i < to->tables[NAI_RANKS_COLLECTIVES_OF_MPI]->rows; i++) {
    struct RANK_MPI_COLLECTIVES_row one = RANK_MPI_COLLECTIVES_at(to->tables[NAI_RANKS_COLLECTIVES_OF_MPI], i);
    last = one.caused_wait_ns > last.caused_wait_ns ? one : last;
  }
  if (last.caused_wait_ns > row.span_ns / 100) {
    nai_view_put_text(root, "last_rank", last.rank);
    nai_view_put_text(root, "last_function", last.function);
    nai_view_put_int(root, "last_count", last.late_count);
    nai_view_put_int(root, "last_calls", last.call_count);
    put_ns(root, "last_caused", last.caused_wait_ns);
  }
  if (!all->rows)
    return;
  put_pct(root, "parallel_efficiency", row.parallel_efficiency_pct);
  put_pct(root, "load_balance", row.load_balance_pct);
  put_pct(root, "communication_efficiency", row.communication_efficiency_pct);
}

/* Of the ranks that MPI takes least and most of. */
static void put_mpi(struct nai_view *root, const struct nai_ranks *r) {
  const struct nai_job_rank *least = r->ranks, *most = r->ranks;
  int64_t sum = 0, exposed = 0;
  for (uint32_t i = 0; i < r->rank_count; i++) {
    const struct nai_job_rank *rank = &r->ranks[i];
    sum += rank->mpi_ns;
    exposed += rank->mpi_exposed_ns != NAI_NULL_I64 ? rank->mpi_exposed_ns : 0;
    least = rank->mpi_ns < least->mpi_ns ? rank : least;
    most = rank->mpi_ns > most->mpi_ns ? rank : most;
  }
  put_ns(root, "mpi_sum", sum);
  put_ns(root, "mpi_exposed", exposed);
  put_ns(root, "mpi_least", least->mpi_ns);
  put_ns(root, "mpi_most", most->mpi_ns);
  nai_view_put_text(root, "mpi_least_label", least->label);
  nai_view_put_text(root, "mpi_most_label", most->label);
  if (least->slowness > worth_saying)
    put_pct(root, "mpi_slower_by", 100 * (least->slowness - 1));
}

static int say_verdict(const struct speech *s, struct nai_err *err) {
  const char *name = nai_ranks_verdict_name(s->r->verdict), *left_out;
  put_sums(s->root, s->r);
  put_stragglers(s->root, s->r);
  put_latest(s->root, s->r, s->to->latest);
  if (s->r->longest.late_by_ns)
    put_event(s->root, s->r);
  if (s->r->verdict == NAI_RANKS_MPI) {
    put_mpi(s->root, s->r);
    put_late_sender(s->root, s->to);
  }
  nai_view_put_bool(s->root, name, true);
  NAI_TRY(say(&s->to->verdict, s, name, err));
  if (s->r->verdict == NAI_RANKS_MPI)
    return NAI_OK;
  NAI_TRY(say_operands(s, err));
  if (!s->r->left_out || s->r->verdict == NAI_RANKS_UNDECIDED)
    return NAI_OK;
  nai_view_put_bool(s->root, "some_left_out", true);
  NAI_TRY(say(&left_out, s, "some_left_out", err));
  s->to->verdict = nai_arena_printf(s->arena, "%s %s", s->to->verdict, left_out);
  return nai_arena_check(s->arena, err);
}

/* --- reasons ---------------------------------------------------------------------------------- */

/* A collective that others waited in for the rank at hand. */
struct delay {
  uint32_t group, number;
  int64_t ns;
};

/* The longest MAX_NAMED delays by a rank, the longest first. */
static uint32_t find_longest(struct delay out[MAX_NAMED], const struct nai_ranks *r, uint32_t rank) {
  uint32_t count = 0;
  for (uint32_t g = 0; g < r->group_count; g++)
    for (uint32_t k = 0; k < r->groups[g].collectives; k++) {
      int64_t ns = r->groups[g].skew[k];
      if (nai_ranks_late_rank(r, &r->groups[g], k) != rank || (count == MAX_NAMED && ns <= out[count - 1].ns))
        continue;
      uint32_t at = count < MAX_NAMED ? count++ : count - 1;
      for (; at > 0 && out[at - 1].ns < ns; at--)
        out[at] = out[at - 1];
      out[at] = (struct delay){g, k, ns};
    }
  return count;
}

NAI_ORDER(by_place, struct delay, {a->group, b->group}, {a->number, b->number})

/* Few collectives that have more than half of what others waited for a rank, where there are such. */
static void put_concentration(struct nai_view *map, const struct nai_ranks *r, const struct nai_job_rank *rank) {
  struct delay longest[MAX_NAMED];
  uint32_t count = find_longest(longest, r, (uint32_t)(rank - r->ranks)), n = 0;
  int64_t sum = 0;
  while (n < count && 2 * sum <= rank->behind_ns)
    sum += longest[n++].ns;
  if (2 * sum <= rank->behind_ns || FEW_SHARE * (int64_t)n > rank->late_count)
    return;
  qsort(longest, n, sizeof *longest, by_place);
  struct nai_view *few = nai_view_put_map(map, "few"), *list = nai_view_put_list(few, "collectives");
  for (uint32_t i = 0; i < n; i++) {
    struct nai_view *one = nai_view_add_map(list);
    nai_view_put_trusted(one, "before", !i ? "" : i + 1 < n ? ", " : " and ");
    nai_view_put_int(one, "number", longest[i].number);
    nai_view_put_bool(one, "several_groups", r->group_count > 1);
    nai_view_put_int(one, "group", longest[i].group);
  }
  nai_view_put_bool(few, "several", n > 1);
  put_ns(few, "few_time", sum);
}

/* Which of the two is told first: what took longer. */
static void put_idle(struct nai_view *map, const struct nai_job_rank *rank) {
  int64_t busy = rank->behind_ns - rank->behind_idle_ns;
  nai_view_put_bool(map, "both", busy > 0 && rank->behind_idle_ns > 0);
  nai_view_put_bool(map, "mostly_idle", rank->behind_idle_ns > busy);
  put_ns(map, "busy_time", busy);
  put_ns(map, "idle_time", rank->behind_idle_ns);
  if (rank->idle_cause) {
    nai_view_put_text(map, "cause", nai_column_label(&nai_ranks_schema.columns[RANKS_idle_cause], rank->idle_cause));
    put_ns(map, "cause_time", rank->idle_cause_ns);
  }
}

static int say_reason(const char **reason, const struct speech *s, const struct nai_job_rank *rank,
                      struct nai_err *err) {
  NAI_SCOPED(nai_buf) with = {0};
  const char *name = nai_ranks_name(s->r, rank->behind_with);
  *reason = "";
  if (!rank->behind_ns)
    return NAI_OK;
  struct nai_view *map = nai_view_put_map(s->root, "behind");
  nai_view_put_text(map, "label", rank->label);
  put_ns(map, "time", rank->behind_ns);
  put_idle(map, rank);
  put_concentration(map, s->r, rank);
  if (name)
    nai_kernel_name_short(&with, name, MAX_CHARS);
  nai_view_inherit(map, &with);
  nai_view_put_bool(map, "ran", name != NULL);
  nai_view_put_text(map, "kernel", nai_buf_str(&with));
  put_ns(map, "kernel_time", rank->behind_with_ns);
  nai_view_put_bool(map, "in_range", rank->behind_range != NAI_NO_STRING);
  nai_view_put_text(map, "range", nai_ranks_name(s->r, rank->behind_range));
  if (rank->slowness > worth_saying)
    put_pct(map, "slower_by", 100 * (rank->slowness - 1));
  return say(reason, s, "behind", err);
}

/* --- caveats ---------------------------------------------------------------------------------- */

static bool several_gpus(const struct nai_ranks *r) {
  for (uint32_t i = 1; i < r->rank_count; i++)
    if (r->ranks[i].gpu_name != r->ranks[0].gpu_name)
      return true;
  return false;
}

/* The first line that was matched from a later call on, or (`begins` false) only up to one. */
static const struct nai_rank_line *cut_line(const struct nai_ranks *r, bool begins) {
  for (const struct nai_rank_line *line = r->lines; line < r->lines + r->line_count; line++)
    if (line->group != NAI_NO_RANK && (begins ? line->how.began_late : line->how.broke))
      return line;
  return NULL;
}

static bool any_guessed(const struct nai_ranks *r) {
  for (uint32_t g = 0; g < r->group_count; g++)
    if (!r->lines[r->members[r->groups[g].first]].known_comm)
      return true;
  return false;
}

static int add_caveat(const struct speech *s, const char *sentence, bool holds, struct nai_err *err) {
  if (!holds)
    return NAI_OK;
  nai_view_put_bool(s->root, sentence, true);
  return say(&s->to->caveats[s->to->caveat_count++], s, sentence, err);
}

/* How idle the GPUs of ranks are, where that differs by a tenth of the time and more. */
static int add_idle_spread(const struct speech *s, struct nai_err *err) {
  const struct nai_ranks_axis *axis = &s->to->axis;
  int64_t span = axis->width_ns * NAI_RANKS_BUCKETS, of[2] = {INT64_MAX, -1};
  uint32_t rank[2] = {0, 0};
  for (uint32_t i = 0; i < s->r->rank_count && span; i++) {
    int64_t idle = 0, all = 0;
    for (int64_t bin = 0; bin < NAI_RANKS_BUCKETS; bin++) {
      const int64_t *state = nai_ranks_bin(axis, i, bin);
      for (int k = 0; k < NAI_RANKS_STATES; k++)
        all += state[k];
      idle += state[NAI_RANKS_IDLE] + state[NAI_RANKS_IN_MPI];
    }
    for (int k = 0; k < 2 && all; k++)
      if (k ? idle > of[k] : idle < of[k]) {
        of[k] = idle;
        rank[k] = i;
      }
  }
  put_ns(s->root, "idle_least", of[0]);
  put_ns(s->root, "idle_most", of[1]);
  nai_view_put_text(s->root, "idle_least_label", s->r->ranks[rank[0]].label);
  nai_view_put_text(s->root, "idle_most_label", s->r->ranks[rank[1]].label);
  if (of[1] < of[0])
    return NAI_OK;
  put_pct(s->root, "idle_spread_pct", nai_percent((double)(of[1] - of[0]), (double)span));
  return add_caveat(s, "idle_spread", 10 * (of[1] - of[0]) >= span, err);
}

static int add_unrelated(const struct speech *s, struct nai_err *err) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->r->source_count; i++)
    count += !s->r->sources[i].timed;
  nai_view_put_int(s->root, "untimed_count", count);
  nai_view_put_int(s->root, "trace_count", s->r->source_count);
  return add_caveat(s, "clock_unrelated", count && s->r->source_count > 1, err);
}

/* A rank whose collectives hold for no offset of its clock. */
static int add_contradiction(const struct speech *s, struct nai_err *err) {
  const struct nai_job_rank *rank = NULL;
  for (uint32_t i = 0; i < s->r->rank_count && !rank; i++)
    rank = s->r->ranks[i].clock.low > s->r->ranks[i].clock.high ? &s->r->ranks[i] : NULL;
  nai_view_put_text(s->root, "clock_label", rank ? rank->label : NULL);
  return add_caveat(s, "clock_contradiction", rank != NULL, err);
}

static int add_refused(const struct speech *s, struct nai_err *err) {
  for (uint32_t i = 0; i < s->r->rank_count && s->to->caveat_count < MAX_NAMED; i++) {
    const char *why = s->r->ranks[i].matched ? NULL : nai_ranks_refusal(s->r, i);
    nai_view_put_text(s->root, "refused_label", s->r->ranks[i].label);
    nai_view_put_text(s->root, "refused_why", why);
    NAI_TRY(add_caveat(s, "not_compared", why != NULL, err));
  }
  return NAI_OK;
}

static int say_caveats(const struct speech *s, struct nai_err *err) {
  const struct nai_ranks *r = s->r;
  const struct nai_rank_line *line = cut_line(r, false);
  int64_t calls = 0, matched = 0;
  for (uint32_t i = 0; i < r->rank_count; i++) {
    matched += r->ranks[i].matched;
    calls += r->ranks[i].call_count;
  }
  NAI_TRY(add_refused(s, err));
  nai_view_put_int(s->root, "missing_count", r->missing);
  nai_view_put_bool(s->root, "several_missing", r->missing != 1);
  NAI_TRY(add_caveat(s, "missing", r->missing > 0, err));
  nai_view_put_text(s->root, "broken_label", line ? r->ranks[line->rank].label : NULL);
  nai_view_put_int(s->root, "broken_at", line ? line->how.begin_b + line->how.count : 0);
  nai_view_put_bool(s->root, "broken_by_ends", line && line->how.broke_by_ends);
  NAI_TRY(add_caveat(s, "broken", line != NULL, err));
  line = cut_line(r, true);
  nai_view_put_text(s->root, "begun_label", line ? r->ranks[line->rank].label : NULL);
  nai_view_put_int(s->root, "begun_at", line ? line->how.begin_b : 0);
  NAI_TRY(add_caveat(s, "began_late", line != NULL, err));
  nai_view_put_int(s->root, "unmatched_count", calls - matched);
  nai_view_put_int(s->root, "call_count", calls);
  NAI_TRY(add_caveat(s, "unmatched", matched < calls, err));
  NAI_TRY(add_caveat(s, "several_gpus", several_gpus(r), err));
  NAI_TRY(add_caveat(s, "guessed", any_guessed(r), err));
  NAI_TRY(add_unrelated(s, err));
  NAI_TRY(add_contradiction(s, err));
  NAI_TRY(add_idle_spread(s, err));
  nai_view_put_int(s->root, "not_split_count", r->collectives - r->split);
  return add_caveat(s, "not_split", r->split < r->collectives, err);
}

static int order_by_lateness(struct nai_key **out, struct nai_ranks *r, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, &r->arena, r->rank_count, err));
  for (uint32_t i = 0; i < r->rank_count; i++)
    (*out)[i] = (struct nai_key){UINT64_MAX - (uint64_t)r->ranks[i].late_by_ns, i};
  return nai_sort_keys(*out, r->rank_count, err);
}

int nai_ranks_put_words(struct nai_ranks_report *report, struct nai_ranks *r, struct nai_err *err) {
  NAI_OWNED(nai_view) *root = nai_view_new();
  const struct speech s = {.r = r, .to = report, .root = root, .arena = &r->arena};
  NAI_TRY(order_by_lateness(&report->latest, r, err));
  NAI_TRY(say_verdict(&s, err));
  NAI_TRY(NAI_NEW(report->reasons, s.arena, r->rank_count, err));
  for (uint32_t i = 0; i < r->rank_count; i++)
    NAI_TRY(say_reason(&report->reasons[i], &s, &r->ranks[i], err));
  return say_caveats(&s, err);
}
