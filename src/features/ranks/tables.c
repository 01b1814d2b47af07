/* Tables about ranks: ranks, rank_steps, rank_communicators, collective_mismatches. */
#include "features/ranks/tables_internal.h"

#include "base/buf.h"
#include "tables/collective_mismatches.h"
#include "tables/collectives.h"
#include "tables/rank_communicators.h"
#include "tables/rank_ops.h"
#include "tables/rank_steps.h"
#include "tables/ranks.h"
#include "tables/transfers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- ranks ------------------------------------------------------------------------------------ */

static void put_sums(struct nai_table *t, int64_t row, const struct nai_ranks *r, const struct nai_job_rank *rank) {
  const struct {
    int column;
    int64_t value;
  } cells[] = {{RANKS_duration_ns, rank->matched_ns},       {RANKS_wait_ns, rank->wait_ns},
               {RANKS_transfer_ns, rank->transfer_ns},      {RANKS_decided_count, rank->decided},
               {RANKS_late_count, rank->late_count},        {RANKS_late_by_ns, rank->late_by_ns},
               {RANKS_caused_wait_ns, rank->caused_wait_ns}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
    nai_set_i64(t, row, cells[i].column, cells[i].value);
  nai_set_i64(t, row, RANKS_is_persistent, nai_ranks_is_persistent(r, rank));
  if (rank->matched_ns)
    nai_set_f64(t, row, RANKS_wait_pct, 100 * (double)rank->wait_ns / (double)rank->matched_ns);
  if (rank->decided)
    nai_set_f64(t, row, RANKS_late_pct, 100 * (double)rank->late_count / (double)rank->decided);
  if (!rank->behind_ns)
    return;
  nai_set_i64(t, row, RANKS_behind_ns, rank->behind_ns);
  nai_set_i64(t, row, RANKS_behind_idle_ns, rank->behind_idle_ns);
  nai_set_str(t, row, RANKS_idle_cause, rank->idle_cause);
  if (rank->idle_cause)
    nai_set_i64(t, row, RANKS_idle_cause_ns, rank->idle_cause_ns);
  nai_set_str(t, row, RANKS_behind_with, nai_ranks_name(r, rank->behind_with));
  if (rank->behind_with != NAI_NO_STRING)
    nai_set_i64(t, row, RANKS_behind_with_ns, rank->behind_with_ns);
  nai_set_str(t, row, RANKS_behind_range, nai_ranks_name(r, rank->behind_range));
}

static void put_rank(struct nai_table *t, const struct nai_ranks *r, uint32_t number) {
  const struct nai_job_rank *rank = &r->ranks[number];
  int64_t row = nai_table_add_row(t);
  nai_set_str(t, row, RANKS_rank, rank->label);
  nai_set_i64(t, row, RANKS_rank_number, rank->number);
  nai_set_str(t, row, RANKS_trace, r->sources[rank->source].path);
  nai_set_i64(t, row, RANKS_device_id, rank->device);
  nai_set_i64(t, row, RANKS_pid, rank->pid);
  nai_set_str(t, row, RANKS_gpu_name, nai_ranks_name(r, rank->gpu_name));
  nai_set_i64(t, row, RANKS_collective_count, rank->call_count);
  nai_set_i64(t, row, RANKS_matched_count, rank->matched);
  nai_set_i64(t, row, RANKS_split_count, rank->split);
  nai_set_i64(t, row, RANKS_window_ns, rank->window_ns);
  nai_set_i64(t, row, RANKS_compute_ns, rank->compute_ns);
  if (rank->split)
    put_sums(t, row, r, rank);
  if (!isnan(rank->slowness))
    nai_set_f64(t, row, RANKS_kernel_ratio, rank->slowness);
  if (rank->reference != NAI_NO_RANK && rank->residual != NAI_NULL_I64) {
    nai_set_str(t, row, RANKS_clock_reference, r->ranks[rank->reference].label);
    nai_set_i64(t, row, RANKS_clock_offset_ns, rank->offset);
    nai_set_i64(t, row, RANKS_clock_doubt_ns, rank->residual);
    nai_set_f64(t, row, RANKS_clock_drift_ppm, rank->drift * 1e6);
  }
  if (!rank->matched)
    nai_set_str(t, row, RANKS_refused, nai_ranks_refusal(r, number));
}

static void put_steps(struct nai_table *t, const struct nai_ranks *r) {
  for (uint32_t i = 0; i < r->rank_count; i++)
    for (uint32_t b = 0; b < r->buckets && r->ranks[i].matched; b++) {
      int64_t row = nai_table_add_row(t);
      nai_set_str(t, row, RANK_STEPS_rank, r->ranks[i].label);
      nai_set_i64(t, row, RANK_STEPS_first_step, (int64_t)b * r->per_bucket);
      nai_set_i64(t, row, RANK_STEPS_last_step, ((int64_t)b + 1) * r->per_bucket - 1);
      nai_set_i64(t, row, RANK_STEPS_late_by_ns, r->late_by[(size_t)i * r->buckets + b]);
      nai_set_i64(t, row, RANK_STEPS_wait_ns, r->waited[(size_t)i * r->buckets + b]);
    }
}

/* --- communicators ---------------------------------------------------------------------------- */

static void put_line(struct nai_table *t, const struct nai_ranks *r, const struct nai_rank_line *line) {
  int64_t row = nai_table_add_row(t);
  char id[24];
  nai_set_str(t, row, RANK_COMMUNICATORS_rank, r->ranks[line->rank].label);
  if (line->known_comm) {
    snprintf(id, sizeof id, "0x%016" PRIx64, (uint64_t)line->comm);
    nai_set_str(t, row, RANK_COMMUNICATORS_communicator, id);
  }
  nai_set_i64(t, row, RANK_COMMUNICATORS_stream_id, line->stream);
  if (line->size > 0)
    nai_set_i64(t, row, RANK_COMMUNICATORS_rank_count, line->size);
  nai_set_i64(t, row, RANK_COMMUNICATORS_collective_count, line->count);
  nai_set_str(t, row, RANK_COMMUNICATORS_refused, line->refused);
  if (line->group == NAI_NO_RANK)
    return;
  const struct nai_rank_group *group = &r->groups[line->group];
  nai_set_i64(t, row, RANK_COMMUNICATORS_group, line->group);
  nai_set_i64(t, row, RANK_COMMUNICATORS_given_count, group->count);
  nai_set_i64(t, row, RANK_COMMUNICATORS_first_matched, line->begin);
  nai_set_i64(t, row, RANK_COMMUNICATORS_matched_count, group->collectives);
  nai_set_str(t, row, RANK_COMMUNICATORS_method, nai_rank_method_name(line->method));
  if (line->residual == NAI_NULL_I64)
    return;
  nai_set_i64(t, row, RANK_COMMUNICATORS_clock_offset_ns, line->offset);
  nai_set_i64(t, row, RANK_COMMUNICATORS_clock_doubt_ns, line->residual);
  nai_set_f64(t, row, RANK_COMMUNICATORS_clock_drift_ppm, line->drift * 1e6);
}

/* --- mismatches ------------------------------------------------------------------------------- */

static void put_what(struct nai_table *t, int64_t row, int column, const struct nai_ranks *r,
                     const struct nai_rank_line *line, uint32_t number) {
  struct nai_buf text = {0};
  if (number >= line->count)
    return;
  const struct nai_rank_what *what = &r->whats[r->ranks[line->rank].calls[line->first + number].what];
  const char *op = nai_ranks_name(r, what->op), *dtype = nai_ranks_name(r, what->dtype);
  nai_buf_printf(&text, "%s", op ? op : "unknown");
  if (dtype)
    nai_buf_printf(&text, " of %s", dtype);
  if (what->bytes >= 0)
    nai_buf_printf(&text, ", %" PRId64 " bytes", what->bytes);
  nai_set_str(t, row, column, nai_buf_str(&text));
  t->oom |= text.oom;
  nai_buf_free(&text);
}

static void put_mismatches(struct nai_table *t, const struct nai_ranks *r) {
  for (uint32_t l = 0; l < r->line_count; l++) {
    const struct nai_rank_line *line = &r->lines[l];
    if (line->group == NAI_NO_RANK || !line->broke)
      continue;
    const struct nai_rank_line *reference = &r->lines[r->members[r->groups[line->group].first]];
    int64_t row = nai_table_add_row(t);
    nai_set_str(t, row, COLLECTIVE_MISMATCHES_rank, r->ranks[line->rank].label);
    nai_set_str(t, row, COLLECTIVE_MISMATCHES_reference, r->ranks[reference->rank].label);
    nai_set_i64(t, row, COLLECTIVE_MISMATCHES_group, line->group);
    nai_set_i64(t, row, COLLECTIVE_MISMATCHES_number, line->broke_at);
    nai_set_i64(t, row, COLLECTIVE_MISMATCHES_reference_number, line->broke_reference_at);
    put_what(t, row, COLLECTIVE_MISMATCHES_here, r, line, line->broke_at);
    put_what(t, row, COLLECTIVE_MISMATCHES_there, r, reference, line->broke_reference_at);
    nai_set_str(t, row, COLLECTIVE_MISMATCHES_reason,
                line->broke_by_ends ? "from here on they do not end together: one rank has a call that the other lacks"
                                    : "the two ranks ran different collectives");
  }
}

/* --- all of them ------------------------------------------------------------------------------ */

static void fill(struct nai_ranks_tables *tables, const struct nai_ranks *r) {
  for (uint32_t i = 0; i < r->rank_count; i++)
    put_rank(tables->v[NAI_RANKS_RANKS], r, i);
  put_steps(tables->v[NAI_RANKS_STEPS], r);
  for (uint32_t l = 0; l < r->line_count; l++)
    put_line(tables->v[NAI_RANKS_LINES], r, &r->lines[l]);
  put_mismatches(tables->v[NAI_RANKS_MISMATCHES], r);
}

int nai_ranks_tables_new(struct nai_ranks_tables *tables, const struct nai_ranks *r, struct nai_err *err) {
  static const struct nai_schema *const schemas[NAI_RANKS_TABLES] = {[NAI_RANKS_RANKS] = &nai_ranks_schema,
                                                                     [NAI_RANKS_STEPS] = &nai_rank_steps_schema,
                                                                     [NAI_RANKS_OPS] = &nai_rank_ops_schema,
                                                                     [NAI_RANKS_LINES] = &nai_rank_communicators_schema,
                                                                     [NAI_RANKS_TRANSFERS] = &nai_transfers_schema,
                                                                     [NAI_RANKS_COLLECTIVES] = &nai_collectives_schema,
                                                                     [NAI_RANKS_MISMATCHES] =
                                                                         &nai_collective_mismatches_schema};
  int rc = NAI_OK;
  *tables = (struct nai_ranks_tables){0};
  for (int i = 0; i < NAI_RANKS_TABLES && !rc; i++)
    rc = nai_table_new(&tables->v[i], schemas[i], err);
  if (rc)
    return rc;
  fill(tables, r);
  rc = nai_ranks_put_ops(tables->v[NAI_RANKS_OPS], r, err);
  if (!rc)
    rc = nai_ranks_put_transfers(tables->v[NAI_RANKS_TRANSFERS], r, err);
  if (!rc)
    rc = nai_ranks_put_collectives(tables->v[NAI_RANKS_COLLECTIVES], r, err);
  for (int i = 0; i < NAI_RANKS_TABLES && !rc; i++)
    rc = nai_table_check(tables->v[i], err);
  return rc;
}

void nai_ranks_tables_free(struct nai_ranks_tables *tables) {
  for (int i = 0; i < NAI_RANKS_TABLES; i++)
    nai_table_free(tables->v[i]);
}
