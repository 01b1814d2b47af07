/* Table comm_ranks: what each process on each GPU waited for. */
#include "analyses/comm/comm.h"
#include "tables/comm_ranks.h"

#include <stdlib.h>
#include <string.h>

/* One process on one GPU. */
struct rank {
  const struct nai_comm *c;
  uint32_t number;
  int64_t sums[COMM_RANKS_longest_wait_end_ns + 1];
  int64_t first_end; /* of its first communication kernel */
  const struct nai_comm_item *longest;
  int64_t *waits_for;               /* ns by GPU */
  const struct nai_comm_line *line; /* of most kernels that were matched; else of the most kernels */
};

/* --- sums ------------------------------------------------------------------------------------- */

static const struct nai_comm_line *better(const struct nai_comm_line *a, const struct nai_comm_line *b) {
  if (!a || a->sets != b->sets)
    return !a || b->sets > a->sets ? b : a;
  return b->count > a->count ? b : a;
}

static void add_item(struct rank *r, const struct nai_comm_item *item, struct nai_coverage *exposed) {
  const struct nai_comm *c = r->c;
  int64_t ns = item->end - item->start;
  r->sums[COMM_RANKS_kernel_count]++;
  r->sums[COMM_RANKS_total_time_ns] += ns;
  r->line = better(r->line, &c->lines[item->line]);
  r->first_end = r->sums[COMM_RANKS_kernel_count] == 1 || item->end < r->first_end ? item->end : r->first_end;
  if (item->set == NAI_NO_ROW)
    return;
  int64_t shown = nai_coverage_overlap_ns(exposed, item->start, item->start + item->wait);
  r->sums[COMM_RANKS_matched_count]++;
  r->sums[COMM_RANKS_matched_ns] += ns;
  r->sums[COMM_RANKS_wait_ns] += item->wait;
  r->sums[COMM_RANKS_transfer_ns] += item->transfer;
  r->sums[COMM_RANKS_tail_ns] += item->tail;
  r->sums[COMM_RANKS_wait_exposed_ns] += shown < item->active_charged ? shown : item->active_charged;
  r->longest = !r->longest || item->wait > r->longest->wait ? item : r->longest;
  if (item->late == NAI_NO_ROW)
    return;
  const struct nai_comm_item *late = &c->items[item->late];
  if (late != item)
    r->waits_for[late->gpu] += item->wait;
}

/* What others waited for it: known from their items. */
static void add_caused(struct rank *ranks, const struct nai_comm *c) {
  for (uint32_t i = 0; i < c->count; i++) {
    const struct nai_comm_item *item = &c->items[i];
    if (item->late == NAI_NO_ROW)
      continue;
    struct rank *late = &ranks[c->items[item->late].rank];
    if (item->late == i) {
      late->sums[COMM_RANKS_late_count]++;
      late->sums[COMM_RANKS_late_by_ns] += item->late_by;
    } else {
      late->sums[COMM_RANKS_caused_wait_ns] += item->wait;
    }
  }
}

/* --- who waited for whom ---------------------------------------------------------------------- */

static void put_waits_for(struct nai_table *table, int64_t row, const struct rank *r) {
  uint32_t gpus = r->c->m->gpu_count, most = 0;
  for (uint32_t g = 1; g < gpus; g++)
    most = r->waits_for[g] > r->waits_for[most] ? g : most;
  if (!r->waits_for[most])
    return;
  nai_set_i64(table, row, COMM_RANKS_waits_for_device_id, nai_model_device(r->c->m, most));
  nai_set_i64(table, row, COMM_RANKS_waits_for_ns, r->waits_for[most]);
}

static int put_late(struct nai_table *table, int64_t row, const struct rank *r, struct nai_err *err) {
  struct nai_comm_late late = {0};
  int rc = r->sums[COMM_RANKS_late_count] ? nai_comm_late(&late, r->c, r->number, err) : NAI_OK;
  if (rc || !late.ns)
    return rc;
  nai_set_i64(table, row, COMM_RANKS_behind_ns, late.ns);
  nai_set_i64(table, row, COMM_RANKS_behind_idle_ns, late.idle_ns);
  nai_set_str(table, row, COMM_RANKS_behind_with, late.what);
  if (late.what)
    nai_set_i64(table, row, COMM_RANKS_behind_with_ns, late.what_ns);
  nai_set_str(table, row, COMM_RANKS_behind_range, late.range);
  return NAI_OK;
}

/* --- set-up of communicators ------------------------------------------------------------------ */

/* Set-up that the process made after its first collective: within active spans, and with the GPU idle. */
static int add_inits(struct rank *r, const struct nai_intervals *active, struct nai_err *err) {
  const struct nai_comm *c = r->c;
  const struct nai_gpu *gpu = &c->m->gpus[c->ranks[r->number].gpu];
  struct nai_coverage in_span = {0}, busy = {0};
  int rc = nai_coverage_new(&in_span, active, err);
  if (!rc)
    rc = nai_coverage_new(&busy, &gpu->all, err);
  for (uint32_t t = 0; !rc && t < c->m->thread_count; t++) {
    if (c->m->thread_process[t] != c->ranks[r->number].process)
      continue;
    for (uint32_t i = 0; i < c->calls[t].count; i++) {
      const struct nai_comm_call *call = &c->calls[t].v[i];
      if (call->kind != NAI_COMM_INIT || call->start < r->first_end)
        continue;
      int64_t ns = nai_coverage_overlap_ns(&in_span, call->start, call->end);
      int64_t idle = ns - nai_coverage_overlap_ns(&busy, call->start, call->end);
      r->sums[COMM_RANKS_init_count]++;
      r->sums[COMM_RANKS_init_ns] += ns;
      r->sums[COMM_RANKS_init_idle_ns] += idle > 0 ? idle : 0;
    }
  }
  nai_coverage_free(&in_span);
  nai_coverage_free(&busy);
  return rc;
}

int64_t nai_comm_own_rank(const struct nai_comm *c, uint32_t number) {
  int64_t rank = NAI_NULL_I64, largest = 0;
  for (uint32_t i = 0; i < c->rank_count; i++)
    if (i != number && c->ranks[i].process == c->ranks[number].process)
      return NAI_NULL_I64;
  for (uint32_t t = 0; t < c->m->thread_count; t++)
    for (uint32_t i = 0; c->m->thread_process[t] == c->ranks[number].process && i < c->calls[t].count; i++) {
      const struct nai_payload *p = &c->calls[t].v[i].payload;
      if (!nai_payload_has(p, NAI_PAYLOAD_RANK) || !nai_payload_has(p, NAI_PAYLOAD_RANKS) ||
          p->value[NAI_PAYLOAD_RANKS] <= largest)
        continue;
      largest = p->value[NAI_PAYLOAD_RANKS];
      rank = p->value[NAI_PAYLOAD_RANK];
    }
  return rank;
}

/* --- the table -------------------------------------------------------------------------------- */

static int put_rank(struct nai_table *table, const struct rank *r, struct nai_err *err) {
  const struct nai_comm *c = r->c;
  const struct nai_comm_rank *of = &c->ranks[r->number];
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, COMM_RANKS_device_id, nai_model_device(c->m, of->gpu));
  nai_set_i64(table, row, COMM_RANKS_pid, nai_model_pid(c->m, of->process));
  nai_set_i64(table, row, COMM_RANKS_rank, nai_comm_own_rank(c, r->number));
  static const int always[] = {COMM_RANKS_kernel_count, COMM_RANKS_total_time_ns, COMM_RANKS_matched_count,
                               COMM_RANKS_init_count,   COMM_RANKS_init_ns,       COMM_RANKS_init_idle_ns};
  static const int if_matched[] = {COMM_RANKS_matched_ns,     COMM_RANKS_wait_ns,         COMM_RANKS_transfer_ns,
                                   COMM_RANKS_tail_ns,        COMM_RANKS_wait_exposed_ns, COMM_RANKS_late_count,
                                   COMM_RANKS_caused_wait_ns, COMM_RANKS_late_by_ns};
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    nai_set_i64(table, row, always[i], r->sums[always[i]]);
  for (size_t i = 0; r->sums[COMM_RANKS_matched_count] && i < sizeof if_matched / sizeof *if_matched; i++)
    nai_set_i64(table, row, if_matched[i], r->sums[if_matched[i]]);
  if (2 * r->sums[COMM_RANKS_matched_count] < r->sums[COMM_RANKS_kernel_count])
    nai_set_str(table, row, COMM_RANKS_refused, r->line->refused);
  if (!r->sums[COMM_RANKS_matched_count])
    return NAI_OK;
  nai_set_f64(table, row, COMM_RANKS_wait_pct,
              nai_percent((double)r->sums[COMM_RANKS_wait_ns], (double)r->sums[COMM_RANKS_matched_ns]));
  if (r->line->sets >= 3)
    nai_set_i64(table, row, COMM_RANKS_clock_correction_ns, r->line->correction);
  nai_set_i64(table, row, COMM_RANKS_clock_mad_ns, r->line->mad);
  if (r->longest && r->longest->wait) {
    nai_set_i64(table, row, COMM_RANKS_longest_wait_start_ns, r->longest->start);
    nai_set_i64(table, row, COMM_RANKS_longest_wait_end_ns, r->longest->start + r->longest->wait);
  }
  put_waits_for(table, row, r);
  return put_late(table, row, r, err);
}

static int add_gpu(struct rank *ranks, const struct nai_comm *c, uint32_t g, struct nai_err *err) {
  struct nai_intervals active = {0}, within = {0};
  struct nai_coverage exposed = {0};
  nai_comm_active(&active, c->spans, c->m->gpus[g].device_id);
  nai_intervals_intersect(&within, &c->m->gpus[g].exposed_communication, &active);
  int rc = nai_coverage_new(&exposed, &within, err);
  for (uint32_t i = c->first_of_gpu[g]; !rc && i < c->first_of_gpu[g + 1]; i++)
    add_item(&ranks[c->items[i].rank], &c->items[i], &exposed);
  for (uint32_t r = 0; !rc && r < c->rank_count; r++)
    if (c->ranks[r].gpu == g)
      rc = add_inits(&ranks[r], &active, err);
  nai_coverage_free(&exposed);
  nai_intervals_free(&active);
  nai_intervals_free(&within);
  return rc;
}

int nai_comm_put_ranks(struct nai_table *table, const struct nai_comm *c, struct nai_err *err) {
  size_t gpus = (size_t)c->m->gpu_count + 1;
  struct rank *ranks = calloc((size_t)c->rank_count + 1, sizeof *ranks);
  int64_t *waits = calloc((size_t)c->rank_count + 1, gpus * sizeof *waits);
  int rc = ranks && waits ? NAI_OK : nai_err_nomem(err);
  for (uint32_t r = 0; !rc && r < c->rank_count; r++) {
    ranks[r].c = c;
    ranks[r].number = r;
    ranks[r].waits_for = waits + r * gpus;
  }
  for (uint32_t g = 0; !rc && g < c->m->gpu_count; g++)
    if (c->first_of_gpu[g + 1] > c->first_of_gpu[g])
      rc = add_gpu(ranks, c, g, err);
  if (!rc)
    add_caused(ranks, c);
  for (uint32_t r = 0; !rc && r < c->rank_count; r++)
    rc = put_rank(table, &ranks[r], err);
  free(ranks);
  free(waits);
  return rc;
}
