/* What late ranks did while others waited for them, from their runs; and whose kernels are slow. */
#include "features/ranks/ranks.h"

#include "base/sort.h"
#include "model/comm/comm.h"
#include "model/idle/idle.h"

enum { MATTERS_SHARE = 1000 }; /* of the time, that a rank was late, at least */

/* --- what it did ------------------------------------------------------------------------------ */

/* Collectives that the rank came last to: from when the first one waited to when it came, by the latter. */
struct waits {
  struct nai_interval *v;
  uint32_t count;
};

static void add_waits(struct waits *w, const struct nai_ranks *r, uint32_t member) {
  const struct nai_rank_group *group = &r->groups[r->lines[r->members[member]].group];
  for (uint32_t k = 0; k < group->collectives; k++) {
    int64_t start = nai_ranks_call(r, group, member - group->first, k)->start;
    if (group->late[k] == member - group->first)
      w->v[w->count++] = (struct nai_interval){start - group->skew[k], start};
  }
}

NAI_ORDER(by_end, struct nai_interval, {a->end, b->end})

static int find_waits(struct waits *w, const struct nai_ranks *r, uint32_t rank, struct nai_arena *arena,
                      struct nai_err *err) {
  w->count = 0;
  NAI_TRY(NAI_NEW(w->v, arena, (size_t)r->ranks[rank].late_count, err));
  for (uint32_t m = 0; m < r->member_count; m++)
    if (r->lines[r->members[m]].rank == rank)
      add_waits(w, r, m);
  qsort(w->v, w->count, sizeof *w->v, by_end);
  return NAI_OK;
}

/* Why its GPU was idle meanwhile: time by the largest cause of each gap. */
static void find_idle_cause(struct nai_job_rank *rank, const struct nai_model *m, uint32_t g, const struct waits *w) {
  const struct nai_gpu *gpu = &m->gpus[g];
  int64_t ns[NAI_IDLE_CAUSES] = {0};
  uint32_t gap = 0;
  for (uint32_t i = 0; i < w->count; i++) {
    while (gap > 0 && nai_idle_span(gpu, gap).end > w->v[i].start) /* waits of several streams may overlap */
      gap--;
    for (; gap <= gpu->all.count && nai_idle_span(gpu, gap).start < w->v[i].end; gap++) {
      struct nai_interval span = nai_idle_span(gpu, gap);
      int64_t part =
          (span.end < w->v[i].end ? span.end : w->v[i].end) - (span.start > w->v[i].start ? span.start : w->v[i].start);
      if (part > 0 && m->idle[g].cause[gap] < NAI_IDLE_CAUSES)
        ns[m->idle[g].cause[gap]] += part;
    }
    gap -= gap > 0;
  }
  int most = 0;
  for (int cause = 1; cause < NAI_IDLE_CAUSES; cause++)
    most = ns[cause] > ns[most] ? cause : most;
  rank->idle_cause_ns = ns[most];
  rank->idle_cause = ns[most] ? nai_idle_cause_name((enum nai_idle_cause)most) : NULL;
}

static int explain_rank(struct nai_ranks *r, uint32_t number, const struct nai_model *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_job_rank *rank = &r->ranks[number];
  uint32_t gpu = nai_model_gpu_index(m, rank->device);
  struct nai_comm_behind behind;
  struct waits waits;
  if (gpu == m->gpu_count)
    return NAI_OK;
  NAI_TRY(find_waits(&waits, r, number, &arena, err));
  NAI_TRY(nai_comm_behind(&behind, m, gpu, waits.v, waits.count, err));
  rank->behind_ns = behind.ns;
  rank->behind_idle_ns = behind.idle_ns;
  rank->behind_with_ns = behind.with_ns;
  find_idle_cause(rank, m, gpu, &waits);
  NAI_TRY(nai_ranks_text(&rank->behind_with, r, behind.with, err));
  return nai_ranks_text(&rank->behind_range, r, behind.range, err);
}

int nai_ranks_explain(struct nai_ranks *r, struct nai_err *err) {
  const uint32_t parts = NAI_PART(NAMES) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(IDLE) | NAI_PART(NVTX_TREE);
  for (uint32_t s = 0; s < r->source_count; s++) {
    struct nai_model *m = NULL;
    for (uint32_t i = 0; i < r->rank_count; i++) {
      if (r->ranks[i].source != s || r->ranks[i].late_by_ns <= r->span_ns / MATTERS_SHARE)
        continue;
      if (!m)
        NAI_TRY(nai_ranks_model(&m, r, s, parts, 0, err));
      NAI_TRY(explain_rank(r, i, m, err));
    }
    nai_run_drop_model(r->sources[s].run);
  }
  return NAI_OK;
}

/* --- whose kernels are slow ------------------------------------------------------------------- */

/* What a call takes, in sixteenths of ns; the total may be any. */
static int64_t in_sixteenths(const struct nai_rank_kernel *k) {
  return k->calls ? k->total_ns / k->calls * 16 + k->total_ns % k->calls * 16 / k->calls : 0;
}

/* What one call of a kernel takes on the ranks that call it equally often (within 2 %): the median; 0 for fewer than
 * three of them. entries: one per rank that runs it. */
static double usual_ns(const struct nai_rank_kernel *const *entries, uint32_t count, int64_t *room) {
  for (uint32_t i = 0; i < count; i++)
    room[i] = entries[i]->calls;
  double calls = nai_quantile_i64(room, count, 0.5);
  uint32_t n = 0;
  for (uint32_t i = 0; i < count; i++)
    if (fabs((double)entries[i]->calls - calls) <= 0.02 * calls)
      room[n++] = in_sixteenths(entries[i]);
  return n < 3 ? 0 : nai_quantile_i64(room, n, 0.5) / 16;
}

/* Of one rank. */
struct slowness {
  double own_ns, usual_ns;
};

/* key: name of the kernel, rank; value: the rank's kernel. */
static int list_kernels(struct nai_key **keys, size_t *count, const struct nai_ranks *r, struct nai_arena *arena,
                        struct nai_err *err) {
  size_t all = *count = 0;
  for (uint32_t i = 0; i < r->rank_count; i++)
    all += r->ranks[i].kernel_count;
  NAI_TRY(NAI_NEW(*keys, arena, all, err));
  for (uint32_t i = 0; i < r->rank_count; i++)
    for (uint32_t k = 0; k < r->ranks[i].kernel_count; k++)
      (*keys)[(*count)++] = (struct nai_key){(uint64_t)r->ranks[i].kernels[k].name << 32 | i, k};
  return nai_sort_keys(*keys, all, err);
}

int nai_ranks_kernels(struct nai_ranks *r, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const struct nai_rank_kernel **entries;
  struct slowness *sums;
  struct nai_key *keys;
  int64_t *room;
  size_t count;
  NAI_TRY(list_kernels(&keys, &count, r, &arena, err));
  NAI_TRY(NAI_NEW(entries, &arena, r->rank_count, err));
  NAI_TRY(NAI_NEW(room, &arena, r->rank_count, err));
  NAI_TRY(NAI_NEW(sums, &arena, r->rank_count, err));
  for (size_t i = 0, j; i < count; i = j) {
    uint32_t n = 0;
    for (j = i; j < count && keys[j].key >> 32 == keys[i].key >> 32; j++)
      entries[n++] = &r->ranks[(uint32_t)keys[j].key].kernels[keys[j].value];
    double usual = usual_ns(entries, n, room);
    for (size_t k = i; k < j && usual > 0; k++) {
      sums[(uint32_t)keys[k].key].own_ns += (double)entries[k - i]->total_ns;
      sums[(uint32_t)keys[k].key].usual_ns += usual * (double)entries[k - i]->calls;
    }
  }
  for (uint32_t i = 0; i < r->rank_count; i++)
    r->ranks[i].slowness = sums[i].usual_ns > 0 ? sums[i].own_ns / sums[i].usual_ns : NAN;
  return NAI_OK;
}
