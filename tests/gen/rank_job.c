#include "gen/rank_job.h"

#include <stdlib.h>

#include "gen/truth/truth_json.h"

enum { US = 1000, MS = 1000 * US, COMPUTE_NS = 300 * US, GAP_NS = 20 * US, STEP_GAP_NS = 100 * US };

/* A number that depends on nothing but its arguments, below `limit`. */
static int64_t draw(const struct nai_gen_rank_job *job, int what, int a, int b, int64_t limit) {
  struct nai_gen_rng rng = {(uint64_t)job->how.seed};
  const int about[] = {what, a, b};
  for (int i = 0; i < 3; i++) {
    uint64_t next = nai_gen_rng_next(&rng);
    rng.state = next + (uint64_t)about[i];
  }
  return limit > 1 ? nai_gen_rng_between(&rng, 0, limit - 1) : 0;
}

enum { DRAW_LATE_RANK, DRAW_LATE, DRAW_SKEW, DRAW_COMPUTE, DRAW_CLOCK, DRAW_START, DRAW_DRIFT };

/* --- when ------------------------------------------------------------------------------------- */

int64_t nai_gen_rank_late(const struct nai_gen_rank_job *job, int i, int rank) {
  int late = job->how.straggler == NAI_GEN_STRAGGLER_PERSISTENT ? job->how.late_rank
           : job->how.straggler == NAI_GEN_STRAGGLER_ROTATING   ? (int)draw(job, DRAW_LATE_RANK, i, 0, job->how.ranks)
                                                                : -1;
  return rank == late ? job->how.late_ns + draw(job, DRAW_LATE, i, 0, 1000) : 0;
}

/* Ranks differ by less than a microsecond where none is late. */
int64_t nai_gen_rank_arrival(const struct nai_gen_rank_job *job, int i, int rank) {
  int64_t varies = job->how.periodic ? 0 : draw(job, DRAW_COMPUTE, i, 0, 50 * US) + draw(job, DRAW_SKEW, i, rank, 900);
  return job->begin[i] + COMPUTE_NS + varies + nai_gen_rank_late(job, i, rank);
}

int64_t nai_gen_rank_bytes(const struct nai_gen_rank_job *job, int i) {
  return INT64_C(1) << (20 + (job->how.periodic ? 0 : i % job->how.collectives % 8));
}

static int64_t transfer_ns(const struct nai_gen_rank_job *job, int i) {
  int step = i / job->how.collectives, of_step = job->how.periodic ? 0 : i % job->how.collectives % 8;
  bool slow = job->how.straggler == NAI_GEN_STRAGGLER_NETWORK && step % 4 == 3;
  return (int64_t)(60 + 40 * of_step) * US * (slow ? 4 : 1);
}

static int64_t last_arrival(const struct nai_gen_rank_job *job, int i) {
  int64_t last = INT64_MIN;
  for (int r = 0; r < job->how.ranks; r++) {
    int64_t arrival = nai_gen_rank_arrival(job, i, r);
    last = arrival > last ? arrival : last;
  }
  return last;
}

int64_t nai_gen_rank_time(const struct nai_gen_rank_job *job, int rank, int64_t t) {
  int64_t since = t - job->started[rank];
  return since + (int64_t)((double)since * job->drift[rank]);
}

int nai_gen_rank_job_new(struct nai_gen_rank_job *job, const struct nai_gen_rank_options *how,
                         struct nai_gen_err *err) {
  *job = (struct nai_gen_rank_job){.how = *how, .count = how->steps * how->collectives};
  job->begin = calloc((size_t)job->count + 1, sizeof *job->begin);
  job->end = calloc((size_t)job->count + 1, sizeof *job->end);
  job->clock = calloc((size_t)how->ranks, sizeof *job->clock);
  job->started = calloc((size_t)how->ranks, sizeof *job->started);
  job->drift = calloc((size_t)how->ranks, sizeof *job->drift);
  if (!job->begin || !job->end || !job->clock || !job->started || !job->drift) {
    return nai_gen_fail(NAI_GEN_ENOMEM, err, "out of memory");
  }
  for (int r = 1; r < how->ranks; r++) {
    job->clock[r] = how->offset_ns ? draw(job, DRAW_CLOCK, r, 0, 2 * how->offset_ns) - how->offset_ns : 0;
    job->started[r] = how->offset_ns ? draw(job, DRAW_START, r, 0, 5 * MS) : 0;
    job->drift[r] = how->drift_ppm * (double)(draw(job, DRAW_DRIFT, r, 0, 2001) - 1000) / 1e9;
  }
  int64_t t = (int64_t)1100 * MS; /* hosts begin at a second */
  for (int i = 0; i < job->count; i++) {
    job->begin[i] = t;
    job->end[i] = last_arrival(job, i) + transfer_ns(job, i);
    t = job->end[i] + GAP_NS + ((i + 1) % how->collectives == 0 ? STEP_GAP_NS : 0);
  }
  return 0;
}

void nai_gen_rank_job_free(struct nai_gen_rank_job *job) {
  free(job->begin);
  free(job->end);
  free(job->clock);
  free(job->started);
  free(job->drift);
}

/* --- truth ------------------------------------------------------------------------------------ */

/* What one rank adds up to. */
struct sums {
  int64_t wait_ns, transfer_ns, late_count, late_by_ns, caused_ns;
};

struct moment {
  int late;                          /* rank that is planned to be late, -1 for none */
  int64_t last, before_last, waited; /* arrivals; time that all ranks wait */
};

static struct moment look_at(const struct nai_gen_rank_job *job, int i) {
  struct moment m = {-1, INT64_MIN, INT64_MIN, 0};
  for (int r = 0; r < job->how.ranks; r++) {
    int64_t arrival = nai_gen_rank_arrival(job, i, r);
    m.late = nai_gen_rank_late(job, i, r) ? r : m.late;
    m.before_last = arrival > m.last ? m.last : arrival > m.before_last ? arrival : m.before_last;
    m.last = arrival > m.last ? arrival : m.last;
  }
  for (int r = 0; r < job->how.ranks; r++) {
    m.waited += m.last - nai_gen_rank_arrival(job, i, r);
  }
  return m;
}

static void add(struct sums *sums, json_t *steps, const struct nai_gen_rank_job *job, int i) {
  struct moment m = look_at(job, i);
  for (int r = 0; r < job->how.ranks; r++) {
    sums[r].wait_ns += m.last - nai_gen_rank_arrival(job, i, r);
    sums[r].transfer_ns += job->end[i] - m.last;
  }
  if (m.late < 0) {
    return;
  }
  sums[m.late].late_count++;
  sums[m.late].late_by_ns += m.last - m.before_last;
  sums[m.late].caused_ns += m.waited;
  json_t *row = json_array_get(json_array_get(steps, (size_t)m.late), (size_t)(i / job->how.collectives));
  json_integer_set(row, json_integer_value(row) + m.last - m.before_last);
}

/* A row per rank: by how much it came last, step by step. */
static json_t *empty_steps(const struct nai_gen_rank_job *job) {
  json_t *rows = json_array();
  for (int r = 0; r < job->how.ranks; r++) {
    json_t *row = json_array();
    for (int s = 0; s < job->how.steps; s++) {
      json_array_append_new(row, json_integer(0));
    }
    json_array_append_new(rows, row);
  }
  return rows;
}

void nai_gen_rank_truth(json_t *truth, const struct nai_gen_rank_job *job, int from, int to) {
  struct sums *sums = calloc((size_t)job->how.ranks, sizeof *sums);
  json_t *list = json_array(), *steps = empty_steps(job);
  for (int i = from; sums && i < to; i++) {
    add(sums, steps, job, i);
  }
  nai_gen_json_int(truth, "matched", to - from);
  for (int r = 0; sums && r < job->how.ranks; r++) {
    json_t *object = nai_gen_json_object_in(list);
    nai_gen_json_int(object, "rank", r);
    nai_gen_json_int(object, "clock_offset_ns", job->clock[r] - job->clock[0]);
    json_object_set_new(object, "drift_ppm", json_real((job->drift[r] - job->drift[0]) * 1e6));
    nai_gen_json_int(object, "wait_ns", sums[r].wait_ns);
    nai_gen_json_int(object, "transfer_ns", sums[r].transfer_ns);
    nai_gen_json_int(object, "late_count", sums[r].late_count);
    nai_gen_json_int(object, "late_by_ns", sums[r].late_by_ns);
    nai_gen_json_int(object, "caused_wait_ns", sums[r].caused_ns);
  }
  json_object_set_new(truth, "ranks", list);
  json_object_set_new(truth, "late_by_step_ns", steps);
  free(sums);
}
