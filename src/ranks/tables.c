/* Tables about ranks: ranks, rank_steps, rank_communicators, collective_mismatches. */
#include "ranks/tables_internal.h"

#include "base/buf.h"
#include "table/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct nai_column_def rank_columns[] = {
    [RK_LABEL] = NAI_NAME_COLUMN("rank", "how the rank is called here", .key = true),
    [RK_NUMBER] = {"rank_number", NAI_I64, NAI_ID, "its number in the job; NULL when nothing tells"},
    [RK_TRACE] = NAI_LABEL_COLUMN("trace", "the operand that it is in"),
    [RK_DEVICE] = {"device_id", NAI_I64, NAI_ID, "GPU, in its trace"},
    [RK_PID] = {"pid", NAI_I64, NAI_ID, "process"},
    [RK_GPU] = NAI_LABEL_COLUMN("gpu_name", "product name of the GPU"),
    [RK_CALLS] = NAI_COUNT_COLUMN("collective_count", "communication kernels in its trace"),
    [RK_MATCHED] = NAI_COUNT_COLUMN("matched_count", "of them, matched with those of other ranks"),
    [RK_SPLIT] =
        NAI_COUNT_COLUMN("split_count", "of these, collectives that all ranks wait in: the following are of them"),
    [RK_DURATION] = NS("duration_ns", "summed durations; wait_ns and transfer_ns add up to it"),
    [RK_WAIT] = NS("wait_ns", "waiting for the last rank"),
    [RK_TRANSFER] = NS("transfer_ns", "with all ranks there"),
    [RK_WAIT_PCT] = NAI_PCT_COLUMN("wait_pct", "waiting, of the durations"),
    [RK_DECIDED] = NAI_COUNT_COLUMN("decided_count", "collectives in which some rank came last beyond doubt"),
    [RK_LATE] = NAI_COUNT_COLUMN("late_count", "those in which this rank did"),
    [RK_LATE_PCT] = NAI_PCT_COLUMN("late_pct", "late_count of decided_count"),
    [RK_LATE_BY] = NS("late_by_ns", "summed time from the last but one to this rank, where it came last"),
    [RK_CAUSED] = NS("caused_wait_ns", "summed waiting of the other ranks there"),
    [RK_PERSISTENT] = {"is_persistent", NAI_I32, NAI_ID, "1: a persistent straggler, else 0"},
    [RK_BEHIND] = NS("behind_ns", "time in which another rank waited already, in collectives this one was late in"),
    [RK_BEHIND_IDLE] = NS("behind_idle_ns", "the part of it in which this rank's GPU did nothing"),
    [RK_IDLE_CAUSE] = NAI_LABEL_COLUMN("idle_cause", "largest cause of that, as in table idle_causes"),
    [RK_IDLE_CAUSE_NS] = NS("idle_cause_ns", "time of gaps whose largest part is of this cause"),
    [RK_BEHIND_WITH] =
        NAI_KERNEL_NAME_COLUMN("behind_with", "what the GPU did most of the rest: a kernel, copies, CUDA graphs"),
    [RK_BEHIND_WITH_NS] = NS("behind_with_ns", "time of that"),
    [RK_BEHIND_RANGE] = NAI_RANGE_NAME_COLUMN("behind_range", "NVTX range that launched it"),
    [RK_WINDOW] = NS("window_ns", "from the first to the last operation of its GPU"),
    [RK_COMPUTE] = NS("compute_ns", "time in it with compute running, of all processes on the GPU"),
    [RK_SLOWNESS] = {"kernel_ratio", NAI_F64, NAI_COUNT,
                     "time of its compute kernels over what the median rank takes for the same calls; NULL unknown",
                     .role = NAI_ROLE_METRIC},
    [RK_REFERENCE] = NAI_LABEL_COLUMN("clock_reference", "the rank whose clock its own is compared with"),
    [RK_OFFSET] = NS("clock_offset_ns", "its clock is ahead of that by so much"),
    [RK_RESIDUAL] = NS("clock_doubt_ns", "1.4826 MAD of what ends of collectives differ beyond offset and drift"),
    [RK_DRIFT] = {"clock_drift_ppm", NAI_F64, NAI_COUNT, "parts per million that its clock is faster",
                  .role = NAI_ROLE_METRIC},
    [RK_REFUSED] = NAI_LABEL_COLUMN("refused", "why nothing of it was matched")};
static const struct nai_schema rank_schema = NAI_SCHEMA("ranks", "Ranks", "One rank: a process on a GPU", rank_columns);

enum { ST_LABEL, ST_FIRST, ST_LAST, ST_LATE, ST_WAIT };
static const struct nai_column_def step_columns[] = {
    [ST_LABEL] = NAI_NAME_COLUMN("rank", "rank", .key = true),
    [ST_FIRST] = {"first_step", NAI_I64, NAI_ID,
                  "first step that the row is of, from 0; without steps, first collective", .key = true},
    [ST_LAST] = {"last_step", NAI_I64, NAI_ID, "the last one"},
    [ST_LATE] = NS("late_by_ns", "by how much the rank came last"),
    [ST_WAIT] = NS("wait_ns", "what the rank waited for others")};
static const struct nai_schema step_schema =
    NAI_SCHEMA("rank_steps", "Ranks by step", "One rank in one step, or in several side by side", step_columns);

static const struct nai_column_def line_columns[] = {
    [LN_LABEL] = NAI_NAME_COLUMN("rank", "rank"),
    [LN_GROUP] = {"group", NAI_I64, NAI_ID, "number of the communicator here; NULL when it was not matched"},
    [LN_COMM] = NAI_LABEL_COLUMN("communicator", "its id; NULL where the trace does not tell"),
    [LN_STREAM] = {"stream_id", NAI_I64, NAI_ID, "CUDA stream of its kernels"},
    [LN_SIZE] = NAI_COUNT_COLUMN("rank_count", "ranks of the communicator, as its initialisation says"),
    [LN_GIVEN] = NAI_COUNT_COLUMN("given_count", "ranks that were matched"),
    [LN_CALLS] = NAI_COUNT_COLUMN("collective_count", "kernels in this trace"),
    [LN_FIRST] = {"first_matched", NAI_I64, NAI_ID, "the first that was matched, counted from 0"},
    [LN_MATCHED] = NAI_COUNT_COLUMN("matched_count", "of them, matched"),
    [LN_METHOD] = NAI_LABEL_COLUMN(
        "method",
        "what tells which is which: sequence, initialisation, ends or clock; reference for what the others are laid over"),
    [LN_OFFSET] = NS("clock_offset_ns", "clock against the reference's, of UTC where both traces tell it"),
    [LN_RESIDUAL] = NS("clock_doubt_ns", "what is left of it"),
    [LN_DRIFT] = {"clock_drift_ppm", NAI_F64, NAI_COUNT, "parts per million that the clock is faster",
                  .role = NAI_ROLE_METRIC},
    [LN_REFUSED] = NAI_LABEL_COLUMN("refused", "why it was not matched")};
static const struct nai_schema line_schema =
    NAI_SCHEMA("rank_communicators", "Communicators by rank",
               "One communicator on one rank; where ids are not known, one stream", line_columns);

static const struct nai_column_def mismatch_columns[] = {
    [MM_LABEL] = NAI_NAME_COLUMN("rank", "rank"),
    [MM_REFERENCE] = NAI_LABEL_COLUMN("reference", "the rank that it was laid over"),
    [MM_GROUP] = {"group", NAI_I64, NAI_ID, "communicator"},
    [MM_AT] = {"number", NAI_I64, NAI_ID, "kernel of the rank in that communicator, from 0"},
    [MM_REFERENCE_AT] = {"reference_number", NAI_I64, NAI_ID, "that of the reference"},
    [MM_HERE] = NAI_LABEL_COLUMN("here", "what the rank ran"),
    [MM_THERE] = NAI_LABEL_COLUMN("there", "what the reference ran"),
    [MM_REASON] = NAI_LABEL_COLUMN("reason", "what is wrong; nothing behind it is matched")};
static const struct nai_schema mismatch_schema =
    NAI_SCHEMA("collective_mismatches", "Mismatches", "One place where the collectives of two ranks part",
               mismatch_columns);

/* --- ranks ------------------------------------------------------------------------------------ */

static void put_sums(struct nai_table *t, int64_t row, const struct nai_ranks *r, const struct nai_job_rank *rank) {
  const struct {
    int column;
    int64_t value;
  } cells[] = {{RK_DURATION, rank->matched_ns},  {RK_WAIT, rank->wait_ns},    {RK_TRANSFER, rank->transfer_ns},
               {RK_DECIDED, rank->decided},      {RK_LATE, rank->late_count}, {RK_LATE_BY, rank->late_by_ns},
               {RK_CAUSED, rank->caused_wait_ns}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
    nai_set_i64(t, row, cells[i].column, cells[i].value);
  nai_set_i64(t, row, RK_PERSISTENT, nai_ranks_is_persistent(r, rank));
  if (rank->matched_ns)
    nai_set_f64(t, row, RK_WAIT_PCT, 100 * (double)rank->wait_ns / (double)rank->matched_ns);
  if (rank->decided)
    nai_set_f64(t, row, RK_LATE_PCT, 100 * (double)rank->late_count / (double)rank->decided);
  if (!rank->behind_ns)
    return;
  nai_set_i64(t, row, RK_BEHIND, rank->behind_ns);
  nai_set_i64(t, row, RK_BEHIND_IDLE, rank->behind_idle_ns);
  nai_set_str(t, row, RK_IDLE_CAUSE, rank->idle_cause);
  if (rank->idle_cause)
    nai_set_i64(t, row, RK_IDLE_CAUSE_NS, rank->idle_cause_ns);
  nai_set_str(t, row, RK_BEHIND_WITH, nai_ranks_name(r, rank->behind_with));
  if (rank->behind_with != NAI_NO_STRING)
    nai_set_i64(t, row, RK_BEHIND_WITH_NS, rank->behind_with_ns);
  nai_set_str(t, row, RK_BEHIND_RANGE, nai_ranks_name(r, rank->behind_range));
}

static void put_rank(struct nai_table *t, const struct nai_ranks *r, uint32_t number) {
  const struct nai_job_rank *rank = &r->ranks[number];
  int64_t row = nai_table_add_row(t);
  nai_set_str(t, row, RK_LABEL, rank->label);
  nai_set_i64(t, row, RK_NUMBER, rank->number);
  nai_set_str(t, row, RK_TRACE, r->sources[rank->source].path);
  nai_set_i64(t, row, RK_DEVICE, rank->device);
  nai_set_i64(t, row, RK_PID, rank->pid);
  nai_set_str(t, row, RK_GPU, nai_ranks_name(r, rank->gpu_name));
  nai_set_i64(t, row, RK_CALLS, rank->call_count);
  nai_set_i64(t, row, RK_MATCHED, rank->matched);
  nai_set_i64(t, row, RK_SPLIT, rank->split);
  nai_set_i64(t, row, RK_WINDOW, rank->window_ns);
  nai_set_i64(t, row, RK_COMPUTE, rank->compute_ns);
  if (rank->split)
    put_sums(t, row, r, rank);
  if (!isnan(rank->slowness))
    nai_set_f64(t, row, RK_SLOWNESS, rank->slowness);
  if (rank->reference != NAI_NO_RANK && rank->residual != NAI_NULL_I64) {
    nai_set_str(t, row, RK_REFERENCE, r->ranks[rank->reference].label);
    nai_set_i64(t, row, RK_OFFSET, rank->offset);
    nai_set_i64(t, row, RK_RESIDUAL, rank->residual);
    nai_set_f64(t, row, RK_DRIFT, rank->drift * 1e6);
  }
  if (!rank->matched)
    nai_set_str(t, row, RK_REFUSED, nai_ranks_refusal(r, number));
}

static void put_steps(struct nai_table *t, const struct nai_ranks *r) {
  for (uint32_t i = 0; i < r->rank_count; i++)
    for (uint32_t b = 0; b < r->buckets && r->ranks[i].matched; b++) {
      int64_t row = nai_table_add_row(t);
      nai_set_str(t, row, ST_LABEL, r->ranks[i].label);
      nai_set_i64(t, row, ST_FIRST, (int64_t)b * r->per_bucket);
      nai_set_i64(t, row, ST_LAST, ((int64_t)b + 1) * r->per_bucket - 1);
      nai_set_i64(t, row, ST_LATE, r->late_by[(size_t)i * r->buckets + b]);
      nai_set_i64(t, row, ST_WAIT, r->waited[(size_t)i * r->buckets + b]);
    }
}

/* --- communicators ---------------------------------------------------------------------------- */

static void put_line(struct nai_table *t, const struct nai_ranks *r, const struct nai_rank_line *line) {
  int64_t row = nai_table_add_row(t);
  char id[24];
  nai_set_str(t, row, LN_LABEL, r->ranks[line->rank].label);
  if (line->known_comm) {
    snprintf(id, sizeof id, "0x%016" PRIx64, (uint64_t)line->comm);
    nai_set_str(t, row, LN_COMM, id);
  }
  nai_set_i64(t, row, LN_STREAM, line->stream);
  if (line->size > 0)
    nai_set_i64(t, row, LN_SIZE, line->size);
  nai_set_i64(t, row, LN_CALLS, line->count);
  nai_set_str(t, row, LN_REFUSED, line->refused);
  if (line->group == NAI_NO_RANK)
    return;
  const struct nai_rank_group *group = &r->groups[line->group];
  nai_set_i64(t, row, LN_GROUP, line->group);
  nai_set_i64(t, row, LN_GIVEN, group->count);
  nai_set_i64(t, row, LN_FIRST, line->begin);
  nai_set_i64(t, row, LN_MATCHED, group->collectives);
  nai_set_str(t, row, LN_METHOD, nai_rank_method_name(line->method));
  if (line->residual == NAI_NULL_I64)
    return;
  nai_set_i64(t, row, LN_OFFSET, line->offset);
  nai_set_i64(t, row, LN_RESIDUAL, line->residual);
  nai_set_f64(t, row, LN_DRIFT, line->drift * 1e6);
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
    nai_set_str(t, row, MM_LABEL, r->ranks[line->rank].label);
    nai_set_str(t, row, MM_REFERENCE, r->ranks[reference->rank].label);
    nai_set_i64(t, row, MM_GROUP, line->group);
    nai_set_i64(t, row, MM_AT, line->broke_at);
    nai_set_i64(t, row, MM_REFERENCE_AT, line->broke_reference_at);
    put_what(t, row, MM_HERE, r, line, line->broke_at);
    put_what(t, row, MM_THERE, r, reference, line->broke_reference_at);
    nai_set_str(t, row, MM_REASON,
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
  static const struct nai_schema *const schemas[NAI_RANKS_TABLES] = {[NAI_RANKS_RANKS] = &rank_schema,
                                                                     [NAI_RANKS_STEPS] = &step_schema,
                                                                     [NAI_RANKS_OPS] = &nai_rank_op_schema,
                                                                     [NAI_RANKS_LINES] = &line_schema,
                                                                     [NAI_RANKS_TRANSFERS] = &nai_rank_transfer_schema,
                                                                     [NAI_RANKS_COLLECTIVES] =
                                                                         &nai_rank_collective_schema,
                                                                     [NAI_RANKS_MISMATCHES] = &mismatch_schema};
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
