/* What the GPU of each rank did over time, in bins, by the clock of one rank. */
#include "features/ranks/timeline.h"

#include "tables/mpi_events.h"
#include "tables/rank_timeline.h"

/* --- one clock for all ------------------------------------------------------------------------ */

/* So much lies before the first trace, or its first operation of a GPU, for what is recorded earlier. */
static const int64_t BEFORE_NS = 1000000000;

/* The rank whose clock most others are compared with, the first of equals; NAI_NO_RANK for none. */
static int find_reference(uint32_t *out, const struct nai_ranks *r, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  uint32_t *count;
  *out = NAI_NO_RANK;
  NAI_TRY(NAI_NEW(count, &arena, r->rank_count, err));
  for (uint32_t i = 0; i < r->rank_count; i++)
    if (r->ranks[i].clock.residual != NAI_NULL_I64)
      count[r->ranks[i].reference]++;
  for (uint32_t i = 0; i < r->rank_count; i++)
    if (count[i] > (*out == NAI_NO_RANK ? 0 : count[*out]))
      *out = i;
  return NAI_OK;
}

/* By collectives, whose ends tell of clocks. */
static void compare_clocks(struct nai_ranks *r, uint32_t reference) {
  for (uint32_t i = 0; i < r->rank_count; i++) {
    const struct nai_job_rank *rank = &r->ranks[i];
    struct nai_rank_source *source = &r->sources[rank->source];
    if (source->timed || rank->reference != reference || rank->clock.residual == NAI_NULL_I64)
      continue;
    source->timed = true;
    source->clock = rank->clock;
  }
}

/* One host since one boot has one clock, which counts from then. UTC may be corrected meanwhile. */
static bool share_boot(const struct nai_rank_source *a, const struct nai_rank_source *b) {
  const int64_t ms = 1000000;
  return a->host != NAI_NULL_I64 && a->host == b->host && llabs(a->boot - b->boot) < ms;
}

/* The trace that shares its host with most others, the first of equals; NAI_NO_RANK where none does. */
static uint32_t find_host(const struct nai_ranks *r) {
  uint32_t best = NAI_NO_RANK, most = 1;
  for (uint32_t a = 0; a < r->source_count; a++) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < r->source_count; b++)
      count += share_boot(&r->sources[a], &r->sources[b]);
    best = count > most ? a : best;
    most = count > most ? count : most;
  }
  return best;
}

/* Those of its host that collectives do not tell of. */
static void compare_boots(struct nai_ranks *r) {
  enum { RESIDUAL = 333 }; /* a third of 1 us: how well the clock's start is known, which nobody has measured */
  const struct nai_rank_source *to = &r->sources[r->common];
  for (uint32_t s = 0; s < r->source_count; s++) {
    struct nai_rank_source *source = &r->sources[s];
    if (source->timed || !share_boot(source, to))
      continue;
    source->timed = true;
    source->clock.ahead = (to->utc - to->boot) - (source->utc - source->boot);
    source->clock.residual = RESIDUAL;
  }
}

int nai_ranks_find_clocks(struct nai_ranks *r, struct nai_err *err) {
  uint32_t reference;
  NAI_TRY(find_reference(&reference, r, err));
  r->common = r->source_count == 1     ? 0 /* it has one clock, whatever its ranks have in common */
            : reference != NAI_NO_RANK ? r->ranks[reference].source
                                       : find_host(r);
  if (r->common == NAI_NO_RANK)
    return NAI_OK;
  r->sources[r->common].timed = true;
  if (reference != NAI_NO_RANK)
    compare_clocks(r, reference);
  compare_boots(r);
  for (uint32_t s = 0; s < r->source_count; s++) {
    const struct nai_rank_source *source = &r->sources[s];
    int64_t before = source->timed ? source->clock.ahead - source->first_ns : INT64_MIN;
    r->shift = before > r->shift ? before : r->shift;
  }
  r->shift += BEFORE_NS;
  return NAI_OK;
}

bool nai_ranks_place(struct nai_export_place *out, const struct nai_ranks *r, uint32_t source) {
  const struct nai_rank_clock *clock = &r->sources[source].clock;
  int64_t above = clock->high - clock->offset, below = clock->offset - clock->low, room = above > below ? above : below;
  if (!r->sources[source].timed)
    return false;
  *out =
      (struct nai_export_place){.reference = source == r->common,
                                .shift = r->shift,
                                .offset = clock->ahead,
                                .middle = clock->middle,
                                .drift = clock->drift,
                                .doubt = clock->low < clock->high && room < 3 * clock->residual ? room
                                                                                                : 3 * clock->residual};
  return true;
}

uint32_t nai_ranks_on_timeline(const struct nai_ranks *r) {
  uint32_t count = 0;
  for (uint32_t source = 0; source < r->source_count; source++)
    count += r->sources[source].timed;
  return count;
}

const char *const nai_ranks_states[NAI_RANKS_STATES] = {"compute", "wait", "transfer", "copy", "mpi", "idle"};

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

/* MPI calls of the processes that use the GPU. */
static int find_mpi(struct nai_intervals *out, const struct nai_model *m, const struct nai_gpu *gpu,
                    struct nai_arena *arena, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_MPI];
  struct nai_interval *v;
  size_t count = 0;
  NAI_TRY(NAI_NEW(v, arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    struct MPI_EVENTS_row row = MPI_EVENTS_at(t, i);
    int32_t process = row.thread < 0 ? -1 : m->thread_process[row.thread];
    int64_t start = row.start_ns > gpu->window_start ? row.start_ns : gpu->window_start,
            end = row.end_ns < gpu->window_end ? row.end_ns : gpu->window_end;
    if (process >= 0 && nai_keyset_find(&gpu->processes, process) != UINT32_MAX && end > start)
      v[count++] = (struct nai_interval){start, end};
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
                      op->start, op->end);
  }
  NAI_TRY(find_waiting(&sets[NAI_RANKS_WAIT], r, rank, &arena, err));
  NAI_TRY(find_mpi(&sets[NAI_RANKS_IN_MPI], m, gpu, &arena, err));
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
        NAI_TRY(nai_ranks_model(&m, r, s, NAI_PART(GPUS), NAI_IN(MPI) | NAI_IN(THREADS), err));
      t.bins = nai_ranks_bin(axis, i, 0);
      NAI_TRY(fill_rank(&t, r, i, m, err));
    }
    nai_run_drop_model(r->sources[s].run);
  }
  return NAI_OK;
}

bool nai_ranks_own_times(int64_t *from, int64_t *to, const struct nai_ranks_axis *axis, const struct nai_ranks *r,
                         uint32_t rank) {
  struct nai_export_place place;
  if (!axis->width_ns || !has_time(&r->ranks[rank], r->ranks[rank].source) ||
      !nai_ranks_place(&place, r, r->ranks[rank].source))
    return false;
  int64_t ends[] = {axis->first_ns, axis->first_ns + axis->width_ns * NAI_RANKS_BUCKETS};
  for (int i = 0; i < 2; i++) { /* a drift is some millionths of a time: twice is exact */
    int64_t own = ends[i] - place.shift + place.offset;
    for (int n = 0; n < 2; n++)
      own += ends[i] - nai_export_place_time(&place, own);
    ends[i] = own;
  }
  *from = ends[0];
  *to = ends[1];
  return true;
}

void nai_ranks_put_axis(struct nai_table *t, const struct nai_ranks_axis *axis, const struct nai_ranks *r) {
  for (uint32_t i = 0; i < r->rank_count && axis->width_ns; i++) {
    if (!has_time(&r->ranks[i], r->ranks[i].source) || !r->sources[r->ranks[i].source].timed)
      continue;
    for (int64_t bin = 0; bin < NAI_RANKS_BUCKETS; bin++) {
      const int64_t *ns = nai_ranks_bin(axis, i, bin);
      NAI_ADD(RANK_TIMELINE, t, .rank = r->ranks[i].label, .bin = bin, .start_ns = bin * axis->width_ns,
              .compute_ns = ns[NAI_RANKS_COMPUTE], .wait_ns = ns[NAI_RANKS_WAIT], .transfer_ns = ns[NAI_RANKS_TRANSFER],
              .copy_ns = ns[NAI_RANKS_COPY], .mpi_ns = ns[NAI_RANKS_IN_MPI], .idle_ns = ns[NAI_RANKS_IDLE]);
    }
  }
}
