/* What the GPU of each rank did over time, in bins, by the clock of one rank. */
#include "features/ranks/timeline.h"

#include "tables/rank_timeline.h"

/* --- one clock for all ------------------------------------------------------------------------ */

/* So much lies before the first trace, or its first operation of a GPU, for what is recorded earlier. */
static const int64_t BEFORE_NS = 1000000000;

/* The rank whose clock most others are compared with, the first of equals; NAI_NO_RANK for none. */
static int find_reference(uint32_t *out, const struct nai_ranks *r, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  uint32_t *count;
  *out = r->source_count == 1 ? 0 : NAI_NO_RANK; /* one trace has one clock, whatever its ranks have in common */
  NAI_TRY(NAI_NEW(count, &arena, r->rank_count, err));
  for (uint32_t i = 0; i < r->rank_count; i++)
    if (r->ranks[i].residual != NAI_NULL_I64)
      count[r->ranks[i].reference]++;
  for (uint32_t i = 0; i < r->rank_count && r->source_count > 1; i++)
    if (count[i] > (*out == NAI_NO_RANK ? 0 : count[*out]))
      *out = i;
  return NAI_OK;
}

int nai_ranks_find_clocks(struct nai_ranks *r, struct nai_err *err) {
  uint32_t reference;
  NAI_TRY(find_reference(&reference, r, err));
  for (uint32_t s = 0; s < r->source_count; s++)
    r->sources[s].clock = NAI_NO_RANK;
  for (uint32_t i = 0; i < r->rank_count && reference != NAI_NO_RANK; i++) {
    const struct nai_job_rank *rank = &r->ranks[i];
    uint32_t *clock = &r->sources[rank->source].clock;
    bool tells = rank->reference == reference && rank->residual != NAI_NULL_I64;
    *clock = i == reference || (*clock == NAI_NO_RANK && tells) ? i : *clock;
  }
  r->common = reference;
  for (uint32_t s = 0; s < r->source_count; s++) {
    const struct nai_rank_source *source = &r->sources[s];
    if (source->clock == NAI_NO_RANK)
      continue;
    int64_t before = (source->clock == reference ? 0 : r->ranks[source->clock].ahead) - source->first_ns;
    r->shift = before > r->shift ? before : r->shift;
  }
  r->shift += BEFORE_NS;
  return NAI_OK;
}

bool nai_ranks_place(struct nai_export_place *out, const struct nai_ranks *r, uint32_t source) {
  uint32_t of = r->sources[source].clock;
  if (of == NAI_NO_RANK)
    return false;
  const struct nai_job_rank *clock = &r->ranks[of];
  *out = (struct nai_export_place){.reference = of == r->common, .shift = r->shift};
  if (out->reference)
    return true;
  out->offset = clock->ahead;
  out->middle = clock->middle;
  out->drift = clock->drift;
  out->doubt = 3 * clock->residual;
  return true;
}

uint32_t nai_ranks_on_timeline(const struct nai_ranks *r) {
  uint32_t count = 0;
  for (uint32_t source = 0; source < r->source_count; source++)
    count += r->sources[source].clock != NAI_NO_RANK;
  return count;
}

const char *const nai_ranks_states[NAI_RANKS_STATES] = {"compute", "wait", "transfer", "copy", "idle"};

/* --- bins ------------------------------------------------------------------------------------- */

/* A rank while its bins are filled. */
struct rank_time {
  const struct nai_ranks_axis *axis;
  struct nai_export_place place;
  int64_t *bins; /* [bin * NAI_RANKS_STATES + state] */
};

static void add_time(const struct rank_time *t, enum nai_ranks_state state, int64_t start, int64_t end) {
  start = nai_export_place_time(&t->place, start) - t->axis->first_ns;
  end = nai_export_place_time(&t->place, end) - t->axis->first_ns;
  for (int64_t bin = start / t->axis->width_ns, next; start < end; bin++, start = next) {
    next = (bin + 1) * t->axis->width_ns < end ? (bin + 1) * t->axis->width_ns : end;
    t->bins[bin * NAI_RANKS_STATES + state] += next - start;
  }
}

/* What waits for others, in matched collectives. */
static int find_waiting(struct nai_intervals *out, const struct nai_ranks *r, uint32_t rank, struct nai_arena *arena,
                        struct nai_err *err) {
  struct nai_interval *v;
  size_t count = 0;
  NAI_TRY(NAI_NEW(v, arena, (size_t)r->ranks[rank].split, err));
  for (uint32_t m = 0; m < r->member_count; m++) {
    const struct nai_rank_line *line = &r->lines[r->members[m]];
    const struct nai_rank_group *group = &r->groups[line->group];
    for (uint32_t k = 0; line->rank == rank && k < group->collectives; k++) {
      const struct nai_rank_call *call = nai_ranks_call(r, group, m - group->first, k);
      if (r->whats[call->what].together && call->end - group->transfer[k] > call->start)
        v[count++] = (struct nai_interval){call->start, call->end - group->transfer[k]};
    }
  }
  nai_intervals_gather(out, v, count);
  return NAI_OK;
}

static int fill_rank(const struct rank_time *t, const struct nai_ranks *r, uint32_t rank, const struct nai_model *m,
                     struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const struct nai_gpu *gpu = &m->gpus[nai_model_gpu_index(m, r->ranks[rank].device)];
  struct nai_intervals sets[NAI_RANKS_STATES], done = {.arena = &arena};
  for (int state = 0; state < NAI_RANKS_STATES; state++)
    sets[state] = (struct nai_intervals){.arena = &arena};
  for (const struct nai_op *op = gpu->ops; op < gpu->ops + gpu->op_count; op++) {
    bool copies = op->type == NAI_OP_COPY || op->type == NAI_OP_SET;
    nai_intervals_add(&sets[copies              ? NAI_RANKS_COPY
                            : op->communication ? NAI_RANKS_TRANSFER
                                                : NAI_RANKS_COMPUTE],
                      nai_model_op_start(m, op), nai_model_op_end(m, op));
  }
  NAI_TRY(find_waiting(&sets[NAI_RANKS_WAIT], r, rank, &arena, err));
  nai_intervals_add(&sets[NAI_RANKS_IDLE], gpu->window_start, gpu->window_end);
  for (int state = 0; state < NAI_RANKS_STATES; state++) { /* each less those before it */
    struct nai_intervals only = {.arena = &arena}, all = {.arena = &arena};
    nai_intervals_subtract(&only, &sets[state], &done);
    nai_intervals_union(&all, &done, &only);
    if (only.oom || all.oom || sets[state].oom)
      return nai_err_nomem(err);
    for (size_t i = 0; i < only.count; i++)
      add_time(t, (enum nai_ranks_state)state, only.v[i].start, only.v[i].end);
    done = all;
  }
  return NAI_OK;
}

static bool has_time(const struct nai_job_rank *rank, uint32_t source) {
  return rank->source == source && rank->device >= 0 && rank->window_ns > 0;
}

/* From the first operation of all to the end of the last one. */
static void find_extent(struct nai_ranks_axis *axis, const struct nai_ranks *r) {
  int64_t end = 0;
  axis->first_ns = INT64_MAX;
  for (uint32_t i = 0; i < r->rank_count; i++) {
    const struct nai_job_rank *rank = &r->ranks[i];
    struct nai_export_place place;
    if (!has_time(rank, rank->source) || !nai_ranks_place(&place, r, rank->source))
      continue;
    int64_t from = nai_export_place_time(&place, rank->window_start),
            to = nai_export_place_time(&place, rank->window_start + rank->window_ns);
    axis->first_ns = from < axis->first_ns ? from : axis->first_ns;
    end = to > end ? to : end;
  }
  axis->width_ns = end > axis->first_ns ? (end - axis->first_ns - 1) / NAI_RANKS_BUCKETS + 1 : 0;
}

int nai_ranks_make_axis(struct nai_ranks_axis *axis, struct nai_ranks *r, struct nai_err *err) {
  find_extent(axis, r);
  if (!axis->width_ns)
    return NAI_OK;
  NAI_TRY(NAI_NEW(axis->bins, &r->arena, (size_t)r->rank_count * NAI_RANKS_BUCKETS * NAI_RANKS_STATES, err));
  for (uint32_t s = 0; s < r->source_count; s++) {
    struct rank_time t = {.axis = axis};
    struct nai_model *m = NULL;
    for (uint32_t i = 0; i < r->rank_count && nai_ranks_place(&t.place, r, s); i++) {
      if (!has_time(&r->ranks[i], s))
        continue;
      if (!m)
        NAI_TRY(nai_ranks_model(&m, r, s, NAI_PART(GPUS), err));
      t.bins = nai_ranks_bin(axis, i, 0);
      NAI_TRY(fill_rank(&t, r, i, m, err));
    }
    nai_run_drop_model(r->sources[s].run);
  }
  return NAI_OK;
}

void nai_ranks_put_axis(struct nai_table *t, const struct nai_ranks_axis *axis, const struct nai_ranks *r) {
  for (uint32_t i = 0; i < r->rank_count && axis->width_ns; i++) {
    if (!has_time(&r->ranks[i], r->ranks[i].source) || r->sources[r->ranks[i].source].clock == NAI_NO_RANK)
      continue;
    for (int64_t bin = 0; bin < NAI_RANKS_BUCKETS; bin++) {
      const int64_t *ns = nai_ranks_bin(axis, i, bin);
      NAI_ADD(RANK_TIMELINE, t, .rank = r->ranks[i].label, .bin = bin, .start_ns = bin * axis->width_ns,
              .compute_ns = ns[NAI_RANKS_COMPUTE], .wait_ns = ns[NAI_RANKS_WAIT], .transfer_ns = ns[NAI_RANKS_TRANSFER],
              .copy_ns = ns[NAI_RANKS_COPY], .idle_ns = ns[NAI_RANKS_IDLE]);
    }
  }
}
