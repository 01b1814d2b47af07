/* Tables about ranks: ranks, rank_steps, rank_communicators, collective_mismatches; and all that is reported. */
#include "features/ranks/write.h"

#include "model/comm/comm.h"
#include "tables/collective_mismatches.h"
#include "tables/collectives.h"
#include "tables/rank_communicators.h"
#include "tables/mpi_efficiency.h"
#include "tables/rank_mpi.h"
#include "tables/rank_mpi_collectives.h"
#include "tables/rank_mpi_pairs.h"
#include "tables/rank_mpi_sizes.h"
#include "tables/rank_ops.h"
#include "tables/rank_steps.h"
#include "tables/rank_timeline.h"
#include "tables/ranks.h"
#include "tables/transfers.h"

/* --- ranks ------------------------------------------------------------------------------------ */

static void put_behind(struct RANKS_row *row, const struct nai_ranks *r, const struct nai_job_rank *rank) {
  row->behind_ns = rank->behind_ns;
  row->behind_idle_ns = rank->behind_idle_ns;
  row->idle_cause = rank->idle_cause;
  row->idle_cause_ns = rank->idle_cause ? rank->idle_cause_ns : NAI_NULL_I64;
  row->behind_with = nai_ranks_name(r, rank->behind_with);
  row->behind_with_ns = row->behind_with ? rank->behind_with_ns : NAI_NULL_I64;
  row->behind_range = nai_ranks_name(r, rank->behind_range);
}

static void put_sums(struct RANKS_row *row, const struct nai_ranks *r, const struct nai_job_rank *rank) {
  row->duration_ns = rank->matched_ns;
  row->wait_ns = rank->wait_ns;
  row->transfer_ns = rank->transfer_ns;
  row->decided_count = rank->decided;
  row->late_count = rank->late_count;
  row->late_by_ns = rank->late_by_ns;
  row->caused_wait_ns = rank->caused_wait_ns;
  row->is_persistent = nai_ranks_is_persistent(r, rank);
  if (rank->matched_ns)
    row->wait_pct = 100 * (double)rank->wait_ns / (double)rank->matched_ns;
  if (rank->decided)
    row->late_pct = 100 * (double)rank->late_count / (double)rank->decided;
  if (rank->behind_ns)
    put_behind(row, r, rank);
}

static void put_mpi(struct RANKS_row *row, const struct nai_job_rank *rank) {
  row->mpi_ns = rank->mpi_ns;
  row->mpi_exposed_ns = rank->mpi_exposed_ns;
  if (rank->mpi_span_ns > 0)
    row->mpi_pct = 100 * (double)rank->mpi_ns / (double)rank->mpi_span_ns;
}

static void put_rank(struct nai_table *t, const struct nai_ranks *r, uint32_t number) {
  const struct nai_job_rank *rank = &r->ranks[number];
  struct RANKS_row row =
      NAI_ROW(RANKS, .rank = rank->label, .rank_number = rank->number, .trace = r->sources[rank->source].path,
              .device_id = rank->device >= 0 ? rank->device : NAI_NULL_I64, .pid = rank->pid,
              .gpu_name = nai_ranks_name(r, rank->gpu_name), .collective_count = rank->call_count,
              .matched_count = rank->matched, .split_count = rank->split, .window_ns = rank->window_ns,
              .compute_ns = rank->compute_ns, .kernel_ratio = rank->slowness,
              .refused = rank->matched ? NULL : nai_ranks_refusal(r, number));
  if (rank->mpi_ns != NAI_NULL_I64)
    put_mpi(&row, rank);
  if (rank->split)
    put_sums(&row, r, rank);
  if (rank->reference != NAI_NO_RANK && rank->clock.residual != NAI_NULL_I64) {
    row.clock_reference = r->ranks[rank->reference].label;
    row.clock_offset_ns = rank->clock.offset;
    row.clock_doubt_ns = rank->clock.residual;
    row.clock_drift_ppm = rank->clock.drift * 1e6;
    row.clock_low_ns = rank->clock.low <= rank->clock.high ? rank->clock.low : NAI_NULL_I64;
    row.clock_high_ns = rank->clock.low <= rank->clock.high ? rank->clock.high : NAI_NULL_I64;
  }
  RANKS_add(t, &row);
}

static void put_steps(struct nai_table *t, const struct nai_ranks *r) {
  for (uint32_t i = 0; i < r->rank_count; i++)
    for (uint32_t b = 0; b < r->buckets && r->ranks[i].matched; b++)
      NAI_ADD(RANK_STEPS, t, .rank = r->ranks[i].label, .first_step = (int64_t)b * r->per_bucket,
              .last_step = ((int64_t)b + 1) * r->per_bucket - 1, .late_by_ns = r->late_by[(size_t)i * r->buckets + b],
              .wait_ns = r->waited[(size_t)i * r->buckets + b]);
}

/* --- communicators ---------------------------------------------------------------------------- */

static void put_line(struct nai_table *t, const struct nai_ranks *r, const struct nai_rank_line *line) {
  char id[NAI_COMM_ID_MAX];
  struct RANK_COMMUNICATORS_row row =
      NAI_ROW(RANK_COMMUNICATORS, .rank = r->ranks[line->rank].label,
              .communicator = line->known_comm ? nai_comm_id(id, line->comm) : NULL, .stream_id = line->stream,
              .rank_count = line->size > 0 ? line->size : NAI_NULL_I64, .collective_count = line->count,
              .refused = line->refused);
  if (line->group != NAI_NO_RANK) {
    row.group = line->group;
    row.given_count = r->groups[line->group].count;
    row.first_matched = line->begin;
    row.matched_count = r->groups[line->group].collectives;
    row.method = nai_rank_method_name(line->how.method);
  }
  if (line->group != NAI_NO_RANK && line->how.clock.residual != NAI_NULL_I64) {
    row.clock_offset_ns = line->how.clock.offset;
    row.clock_doubt_ns = line->how.clock.residual;
    row.clock_drift_ppm = line->how.clock.drift * 1e6;
  }
  RANK_COMMUNICATORS_add(t, &row);
}

/* --- mismatches ------------------------------------------------------------------------------- */

/* "AllReduce of bf16, 1024 bytes"; nothing behind the end of a line. */
static const char *what_at(struct nai_buf *text, const struct nai_ranks *r, const struct nai_rank_line *line,
                           uint32_t number) {
  if (number >= line->count)
    return NULL;
  const struct nai_rank_what *what = &r->whats[r->ranks[line->rank].calls[line->first + number].what];
  const char *op = nai_ranks_name(r, what->op), *dtype = nai_ranks_name(r, what->dtype);
  nai_buf_printf(text, "%s%s%s", op ? op : "unknown", dtype ? " of " : "", dtype ? dtype : "");
  if (what->bytes >= 0)
    nai_buf_printf(text, ", %" PRId64 " bytes", what->bytes);
  return nai_buf_str(text);
}

/* Of a line: kernel `at`, and what is wrong with it. */
static void put_mismatch(struct nai_table *t, const struct nai_ranks *r, const struct nai_rank_line *line, uint32_t at,
                         const char *reason) {
  const struct nai_rank_line *reference = &r->lines[r->members[r->groups[line->group].first]];
  uint32_t reference_at = line->how.begin_a + at - line->how.begin_b;
  NAI_SCOPED(nai_buf) here = {0};
  NAI_SCOPED(nai_buf) there = {0};
  NAI_ADD(COLLECTIVE_MISMATCHES, t, .rank = r->ranks[line->rank].label, .reference = r->ranks[reference->rank].label,
          .group = line->group, .number = at, .reference_number = reference_at, .here = what_at(&here, r, line, at),
          .there = what_at(&there, r, reference, reference_at), .reason = reason);
  t->oom |= here.oom || there.oom;
}

static void put_mismatches(struct nai_table *t, const struct nai_ranks *r, const struct nai_rank_line *line) {
  const struct nai_rank_alignment *how = &line->how;
  if (line->group == NAI_NO_RANK)
    return;
  if (how->began_late)
    put_mismatch(t, r, line, how->begin_b - 1,
                 "up to here they do not end together: one rank has a call that the other lacks");
  if (how->broke)
    put_mismatch(t, r, line, how->begin_b + how->count,
                 how->broke_by_ends ? "from here on they do not end together: one rank has a call that the other lacks"
                                    : "the two ranks ran different collectives");
}

/* --- all of them ------------------------------------------------------------------------------ */

static void fill(struct nai_table **tables, const struct nai_ranks *r) {
  for (uint32_t i = 0; i < r->rank_count; i++)
    put_rank(tables[NAI_RANKS_RANKS], r, i);
  put_steps(tables[NAI_RANKS_STEPS], r);
  for (uint32_t l = 0; l < r->line_count; l++) {
    put_line(tables[NAI_RANKS_LINES], r, &r->lines[l]);
    put_mismatches(tables[NAI_RANKS_MISMATCHES], r, &r->lines[l]);
  }
}

int nai_ranks_report_make(struct nai_ranks_report *report, struct nai_ranks *r, struct nai_err *err) {
  static const struct nai_schema *const schemas[NAI_RANKS_TABLES] = {
      [NAI_RANKS_RANKS] = &nai_ranks_schema,
      [NAI_RANKS_STEPS] = &nai_rank_steps_schema,
      [NAI_RANKS_TIMELINE] = &nai_rank_timeline_schema,
      [NAI_RANKS_OPS] = &nai_rank_ops_schema,
      [NAI_RANKS_LINES] = &nai_rank_communicators_schema,
      [NAI_RANKS_TRANSFERS] = &nai_transfers_schema,
      [NAI_RANKS_COLLECTIVES] = &nai_collectives_schema,
      [NAI_RANKS_MISMATCHES] = &nai_collective_mismatches_schema,
      [NAI_RANKS_CALLS_OF_MPI] = &nai_rank_mpi_schema,
      [NAI_RANKS_SIZES_OF_MPI] = &nai_rank_mpi_sizes_schema,
      [NAI_RANKS_PAIRS_OF_MPI] = &nai_rank_mpi_pairs_schema,
      [NAI_RANKS_COLLECTIVES_OF_MPI] = &nai_rank_mpi_collectives_schema,
      [NAI_RANKS_EFFICIENCY] = &nai_mpi_efficiency_schema};
  report->ranks = r;
  for (int i = 0; i < NAI_RANKS_TABLES; i++)
    NAI_TRY(nai_table_new(&report->tables[i], schemas[i], err));
  fill(report->tables, r);
  NAI_TRY(nai_ranks_make_axis(&report->axis, r, err));
  nai_ranks_put_axis(report->tables[NAI_RANKS_TIMELINE], &report->axis, r);
  NAI_TRY(nai_ranks_put_ops(report->tables[NAI_RANKS_OPS], r, err));
  NAI_TRY(nai_ranks_put_transfers(report->tables[NAI_RANKS_TRANSFERS], r, err));
  NAI_TRY(nai_ranks_put_collectives(report->tables[NAI_RANKS_COLLECTIVES], r, err));
  NAI_TRY(nai_ranks_put_mpi(report->tables[NAI_RANKS_CALLS_OF_MPI], report->tables[NAI_RANKS_SIZES_OF_MPI], r, err));
  NAI_TRY(nai_ranks_put_messages(report->tables, r, err));
  for (int i = 0; i < NAI_RANKS_TABLES; i++) {
    NAI_TRY(nai_table_check(report->tables[i], err));
    NAI_TRY(nai_table_sort(report->tables[i], err));
  }
  return nai_ranks_put_words(report, r, err);
}

void nai_ranks_report_free(struct nai_ranks_report *report) {
  for (int i = 0; i < NAI_RANKS_TABLES; i++)
    nai_table_free(report->tables[i]);
}
