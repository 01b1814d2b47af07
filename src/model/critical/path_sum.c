#include "model/critical/path_sum.h"

#include "base/buf.h"
#include "base/sort.h"
#include "model/calls/call_class.h"
#include "model/cpu/cpu.h"
#include "model/idle/gap_names.h"
#include "table/stats.h"
#include "tables/threads.h"

void nai_path_sum_begin(struct nai_path_sum *s, struct nai_arena *arena) {
  *s = (struct nai_path_sum){
      .arena = arena, .group_keys = {.arena = arena}, .subject_keys = {.arena = arena}, .subjects = {.arena = arena}};
}

static int category_of(const struct nai_model *m, const struct nai_path_segment *segment) {
  if (segment->cause != NAI_PATH_KERNEL)
    return -1;
  const struct nai_op *op = nai_dep_op(m, nai_node_op(m->dependencies, segment->node));
  return m->kernel_category[nai_val_text(&m->kernels.name, op->row)];
}

static const char *subject_of(char room[NAI_KIND_NAME_MAX], const struct nai_model *m,
                              const struct nai_path_segment *segment, enum nai_path_by by) {
  bool of_range = by == NAI_PATH_BY_RANGE || (by == NAI_PATH_BY_CAUSE && segment->cause == NAI_PATH_HOST);
  const char *range = of_range ? nai_launch_range(m, nai_path_call(m, segment)) : NULL;
  return range ? range : by == NAI_PATH_BY_RANGE ? "" : nai_path_subject(room, m, segment);
}

/* The group of a segment, and its subject within that: numbers in `groups` and `sums`; *sum is NAI_NO_STRING without a
 * subject. */
static int find_sum(uint32_t *at, uint32_t *sum, struct nai_path_sum *s, const struct nai_model *m,
                    const struct nai_path_segment *segment, const char *name, struct nai_err *err) {
  int category = category_of(m, segment);
  bool added;
  uint32_t subject = *name ? nai_strings_add(&s->subjects, name, strlen(name)) : NAI_NO_STRING;
  uint32_t kind = (uint32_t)(category + 1) * NAI_PATH_CAUSES + segment->cause;
  *at = nai_keyset_add(&s->group_keys, nai_key_pair(s->by ? (int32_t)subject : 0, kind), &added);
  *sum = NAI_NO_STRING;
  NAI_TRY(NAI_ROOM(s->groups, s->capacity, *at, s->arena, err));
  if (added)
    s->groups[s->count++] = (struct nai_path_group){.cause = segment->cause, .category = category};
  if (!*name)
    return s->group_keys.oom ? nai_err_nomem(err) : NAI_OK;
  *sum = nai_keyset_add(&s->subject_keys, nai_key_pair(*at, subject), &added);
  if (subject == NAI_NO_STRING || s->group_keys.oom || s->subject_keys.oom)
    return nai_err_nomem(err);
  NAI_TRY(NAI_ROOM(s->sums, s->sum_capacity, *sum, s->arena, err));
  if (added)
    s->sums[*sum] = (struct subject_sum){*at, subject, 0};
  return NAI_OK;
}

/* Of host code. */
static int64_t asleep_ns(const struct nai_model *m, const struct nai_path_segment *segment) {
  struct nai_cpu_time time = {0};
  uint32_t api = m->cpu && m->cpu->sched.thread_count ? nai_path_call(m, segment) : NAI_NO_ROW;
  if (api == NAI_NO_ROW)
    return 0;
  nai_cpu_time_add(&time, m,
                   nai_get_i64(m->tables[NAI_IN_THREADS], nai_val_i32(&m->apis.thread, api), THREADS_global_tid),
                   segment->start, segment->end);
  return time.off_ns - time.preempted_ns;
}

int nai_path_sum_segment(struct nai_path_sum *s, const struct nai_model *m, const struct nai_path_segment *segment,
                         struct nai_err *err) {
  enum { NEAR_NS = 5000 };
  char room[NAI_KIND_NAME_MAX];
  int64_t ns = segment->end - segment->start;
  uint32_t at, sum;
  s->by_cause[segment->cause] += ns;
  s->wall_ns += ns;
  s->asleep_ns += segment->cause == NAI_PATH_HOST ? asleep_ns(m, segment) : 0;
  s->inferred += segment->dep.inferred;
  if (!s->arena)
    return NAI_OK;
  /* Names of the trace do not move, and few follow each other all the time. */
  const char *name = subject_of(room, m, segment, s->by);
  struct nai_path_known *known = &s->known[((uintptr_t)name / 8 * 31 + segment->cause) % NAI_PATH_KNOWN];
  bool may_know = name != room && *name && s->by != NAI_PATH_BY_RANGE; /* a range has kernels of several categories */
  if (may_know && known->name == name && known->cause == segment->cause) {
    sum = known->sum;
    at = s->sums[sum].group;
  } else {
    NAI_TRY(find_sum(&at, &sum, s, m, segment, name, err));
    if (may_know)
      *known = (struct nai_path_known){name, segment->cause, sum};
  }
  struct nai_path_group *group = &s->groups[at];
  int64_t margin = nai_path_margin(m, segment);
  group->ns += ns;
  group->near_ns += margin != NAI_NULL_I64 && margin <= NEAR_NS ? ns : 0;
  group->segments++;
  if (ns > group->longest_ns) {
    group->longest_ns = ns;
    group->longest_start = segment->start;
  }
  if (sum != NAI_NO_STRING)
    s->sums[sum].ns += ns;
  return NAI_OK;
}

/* Adds a path that has not been walked yet. */
static int add_path(struct nai_path_sum *s, struct nai_path path, struct nai_err *err) {
  for (struct nai_path_segment segment; nai_path_next(&path, &segment);)
    NAI_TRY(nai_path_sum_segment(s, path.model, &segment, err));
  return NAI_OK;
}

int nai_path_sum_scope(struct nai_path_sum *s, const struct nai_path_scope *scope, const struct nai_model *m,
                       const int64_t *moved, const struct nai_scenario *scenario, struct nai_err *err) {
  if (scope->kind == NAI_SCOPE_WINDOW)
    return add_path(s, nai_path_at(m, moved, scenario, scope->nodes[1], nai_path_scope_start(scope, m, moved)), err);
  for (uint32_t i = 0; i < scope->count; i++)
    if (!scope->counts || scope->counts[i])
      NAI_TRY(add_path(s,
                       nai_path_at(m, moved, scenario, scope->nodes[i + 1],
                                   nai_node_time(m->dependencies, moved, scope->nodes[i])),
                       err));
  return NAI_OK;
}

int nai_path_sum_end(struct nai_path_sum *s, struct nai_err *err) {
  for (uint32_t i = 0; i < s->subject_keys.count; i++) {
    struct nai_path_group *group = &s->groups[s->sums[i].group];
    if (s->sums[i].ns > group->what_ns) {
      group->what_ns = s->sums[i].ns;
      group->what = nai_strings_get(&s->subjects, s->sums[i].subject);
    }
  }
  return nai_arena_check(s->arena, err);
}

/* --- words ------------------------------------------------------------------------------------ */

struct cause_time {
  enum nai_path_cause cause;
  int64_t ns;
};

NAI_ORDER(compare_times, struct cause_time, {b->ns, a->ns}, {a->cause, b->cause})

/* The range that most of the host code is in, where that is at least half of it. Without ranges it is called by the
 * CUDA call behind it, which says nothing of it. */
static const char *host_range(const struct nai_path_sum *s) {
  for (uint32_t i = 0; i < s->count; i++)
    if (s->groups[i].cause == NAI_PATH_HOST && s->groups[i].what_ns * 2 >= s->groups[i].ns)
      return s->groups[i].what && !nai_call_is_known(s->groups[i].what) ? s->groups[i].what : NULL;
  return NULL;
}

const char *nai_path_sum_words(const struct nai_path_sum *s, struct nai_err *err) {
  enum { MAX_CAUSES = 4, RANGE_MAX = 60 };
  struct cause_time order[NAI_PATH_CAUSES];
  NAI_SCOPED(nai_buf) out = {0};
  for (int c = 0; c < NAI_PATH_CAUSES; c++)
    order[c] = (struct cause_time){(enum nai_path_cause)c, s->by_cause[c]};
  qsort(order, NAI_PATH_CAUSES, sizeof *order, compare_times);
  for (int i = 0; i < MAX_CAUSES && 100.0 * (double)order[i].ns >= (double)s->wall_ns && order[i].ns; i++) {
    const char *range = order[i].cause == NAI_PATH_HOST ? host_range(s) : NULL;
    nai_buf_printf(&out, "%s%s %.0f %%", i ? ", " : "", nai_path_cause_title(order[i].cause),
                   nai_percent((double)order[i].ns, (double)s->wall_ns));
    if (range && *range)
      nai_buf_printf(&out, " (most around %.*s)", RANGE_MAX, range);
  }
  const char *words = nai_arena_printf(s->arena, "%s", nai_buf_str(&out));
  return nai_buf_check(&out, err) ? NULL : words;
}

/* --- what holds ------------------------------------------------------------------------------- */

const char *nai_path_state_name(enum nai_path_state state) {
  static const char *const names[] = {"ok", "bound_only", "path_only", "refused"};
  return names[state];
}

static bool shares_gpu(const struct nai_model *m) {
  for (uint32_t g = 0; g < m->gpu_count; g++)
    if (m->gpus[g].processes.count > 1)
      return true;
  return false;
}

enum nai_path_state nai_path_state_of(const char **reason, const struct nai_model *m,
                                      const struct nai_path_sum *window) {
  enum { UNLINKED_PCT = 10, DROPPED_PCT = 1, UNEXPLAINED_PCT = 20, BOUND_PCT = 5, ASLEEP_PCT = 20 };
  const struct nai_dependencies *d = m->dependencies;
  double unexplained = nai_percent((double)window->by_cause[NAI_PATH_UNEXPLAINED], (double)window->wall_ns);
  *reason = NULL;
  if (d->op_count && d->quality.unlinked == d->op_count) {
    *reason = "launches were not recorded";
    return NAI_PATH_REFUSED;
  }
  if (d->quality.unlinked_behind * 100 > (int64_t)d->op_count * UNLINKED_PCT) {
    *reason = "more than a tenth of the operations have no recorded launch";
    return NAI_PATH_REFUSED;
  }
  if (d->quality.kinds[NAI_DEP_DROPPED] * 100 > d->count * DROPPED_PCT) {
    *reason = "over a hundredth of the dependencies contradict each other: clocks or launches are wrong";
    return NAI_PATH_REFUSED;
  }
  if (window->by_cause[NAI_PATH_NOT_RECORDED] > window->wall_ns / 2) {
    *reason = "more than half of the window lies before the first thing that its path reaches";
    return NAI_PATH_REFUSED;
  }
  if (unexplained > UNEXPLAINED_PCT) {
    *reason = "more than a fifth of the path has no recorded cause";
    return NAI_PATH_NO_SAVINGS;
  }
  if (unexplained > BOUND_PCT)
    *reason = "more than a twentieth of the path has no recorded cause";
  else if (shares_gpu(m))
    *reason = "several processes share a GPU";
  else if (window->asleep_ns * 100 > window->wall_ns * ASLEEP_PCT)
    *reason = "the host sleeps for more than a fifth of the path, and what it waits for is not recorded";
  return *reason ? NAI_PATH_BOUND_ONLY : NAI_PATH_OK;
}

const char *nai_path_waits_unknown(const struct nai_model *m) {
  enum { UNRESOLVED_PCT = 5 };
  const struct nai_dep_quality *q = &m->dependencies->quality;
  return 100.0 * (double)q->unresolved_ns > UNRESOLVED_PCT * (double)q->waits_ns
           ? "what more than a twentieth of the waiting is for is not recorded"
           : NULL;
}
