/* What late ranks did while others waited for them, from their runs; and whose kernels are slow. */
#include "features/ranks/internal.h"

#include "analyses/comm/comm.h"
#include "base/sort.h"
#include "model/idle/idle.h"

#include <math.h>
#include <stdlib.h>

enum { MATTERS_SHARE = 1000 }; /* of the time, that a rank was late, at least */

bool nai_ranks_matters(const struct nai_ranks *r, const struct nai_job_rank *rank) {
  return rank->late_by_ns > r->span_ns / MATTERS_SHARE;
}

/* --- what it did ------------------------------------------------------------------------------ */

/* Marks the kernels of collectives that the rank came last to. */
static void mark(struct nai_comm *c, const struct nai_ranks *r, uint32_t rank) {
  for (uint32_t m = 0; m < r->member_count; m++) {
    const struct nai_rank_line *line = &r->lines[r->members[m]];
    if (line->rank != rank)
      continue;
    const struct nai_rank_group *group = &r->groups[line->group];
    for (uint32_t k = 0; k < group->collectives; k++) {
      uint32_t item = nai_ranks_call(r, group, m - group->first, k)->item;
      if (group->late[k] != m - group->first || item >= c->count)
        continue;
      c->items[item].late = item;
      c->items[item].skew = group->skew[k];
    }
  }
}

/* Why its GPU was idle meanwhile: time by the largest cause of each gap. */
static void find_idle_cause(struct nai_job_rank *rank, const struct nai_comm *c, const struct nai_model *m) {
  uint32_t g = c->ranks[rank->comm_rank].gpu, gap = 0;
  const struct nai_gpu *gpu = &m->gpus[g];
  int64_t ns[NAI_IDLE_CAUSES] = {0};
  for (uint32_t i = c->first_of_gpu[g]; i < c->first_of_gpu[g + 1]; i++) {
    const struct nai_comm_item *item = &c->items[i];
    int64_t from = item->start - item->skew, to = item->start;
    if (item->late != i || item->rank != rank->comm_rank)
      continue;
    while (gap > 0 && nai_idle_span(gpu, gap).end > from) /* waits of several streams may overlap */
      gap--;
    for (; gap <= gpu->all.count && nai_idle_span(gpu, gap).start < to; gap++) {
      struct nai_interval span = nai_idle_span(gpu, gap);
      int64_t part = (span.end < to ? span.end : to) - (span.start > from ? span.start : from);
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
  struct nai_job_rank *rank = &r->ranks[number];
  struct nai_comm c = {0};
  struct nai_comm_late late = {0};
  int rc = nai_comm_collect(&c, m, err);
  if (!rc && rank->comm_rank < c.rank_count) {
    mark(&c, r, number);
    rc = nai_comm_late(&late, &c, rank->comm_rank, err);
    rank->behind_ns = late.ns;
    rank->behind_idle_ns = late.idle_ns;
    rank->behind_with_ns = late.what_ns;
    if (!rc)
      rc = nai_ranks_text(&rank->behind_with, r, late.what, err);
    if (!rc)
      rc = nai_ranks_text(&rank->behind_range, r, late.range, err);
    if (!rc)
      find_idle_cause(rank, &c, m);
  }
  nai_comm_free(&c);
  return rc;
}

int nai_ranks_explain(struct nai_ranks *r, struct nai_err *err) {
  int rc = NAI_OK;
  for (uint32_t s = 0; s < r->source_count && !rc; s++) {
    struct nai_model *m = NULL;
    for (uint32_t i = 0; i < r->rank_count && !rc; i++) {
      if (r->ranks[i].source != s || !nai_ranks_matters(r, &r->ranks[i]))
        continue;
      if (!m)
        rc = nai_ranks_model(&m, r, s, NAI_PART(IDLE) | NAI_PART(NVTX_TREE), err);
      if (!rc)
        rc = explain_rank(r, i, m, err);
    }
    nai_run_drop_model(r->sources[s].run);
  }
  return rc;
}

/* --- whose kernels are slow ------------------------------------------------------------------- */

/* What one call of a kernel takes on the ranks that call it equally often (within 2 %): the median; 0 for fewer than
 * three of them. entries: one per rank that runs it. */
static double usual_ns(const struct nai_rank_kernel *const *entries, uint32_t count, int64_t *room) {
  for (uint32_t i = 0; i < count; i++)
    room[i] = entries[i]->calls;
  double calls = nai_quantile_i64(room, count, 0.5);
  uint32_t n = 0;
  for (uint32_t i = 0; i < count; i++)
    if (fabs((double)entries[i]->calls - calls) <= 0.02 * calls)
      room[n++] = entries[i]->calls ? entries[i]->total_ns * 16 / entries[i]->calls : 0; /* in sixteenths of ns */
  return n < 3 ? 0 : nai_quantile_i64(room, n, 0.5) / 16;
}

struct slowness {
  double own_ns, usual_ns;
};

static int add_kernels(struct slowness *sums, const struct nai_ranks *r, const struct nai_key *keys, size_t count,
                       struct nai_err *err) {
  const struct nai_rank_kernel **entries = malloc((r->rank_count + 1) * sizeof(struct nai_rank_kernel *));
  int64_t *room = malloc(((size_t)r->rank_count + 1) * sizeof *room);
  int rc = entries && room ? NAI_OK : nai_err_nomem(err);
  for (size_t i = 0, j; i < count && !rc; i = j) {
    uint32_t n = 0;
    for (j = i; j < count && keys[j].key >> 32 == keys[i].key >> 32; j++)
      entries[n++] = &r->ranks[(uint32_t)keys[j].key].kernels[keys[j].value];
    double usual = usual_ns(entries, n, room);
    for (size_t k = i; k < j && usual > 0; k++) {
      sums[(uint32_t)keys[k].key].own_ns += (double)entries[k - i]->total_ns;
      sums[(uint32_t)keys[k].key].usual_ns += usual * (double)entries[k - i]->calls;
    }
  }
  free(entries);
  free(room);
  return rc;
}

int nai_ranks_kernels(struct nai_ranks *r, struct nai_err *err) {
  size_t count = 0;
  for (uint32_t i = 0; i < r->rank_count; i++)
    count += r->ranks[i].kernel_count;
  struct nai_key *keys = malloc((count + 1) * sizeof *keys);
  struct slowness *sums = calloc((size_t)r->rank_count + 1, sizeof *sums);
  int rc = keys && sums ? NAI_OK : nai_err_nomem(err);
  count = 0;
  for (uint32_t i = 0; i < r->rank_count && !rc; i++)
    for (uint32_t k = 0; k < r->ranks[i].kernel_count; k++)
      keys[count++] = (struct nai_key){(uint64_t)r->ranks[i].kernels[k].name << 32 | i, k};
  if (!rc)
    rc = nai_sort_keys(keys, count, err);
  if (!rc)
    rc = add_kernels(sums, r, keys, count, err);
  for (uint32_t i = 0; i < r->rank_count && !rc; i++)
    r->ranks[i].slowness = sums[i].usual_ns > 0 ? sums[i].own_ns / sums[i].usual_ns : NAN;
  free(keys);
  free(sums);
  return rc;
}
