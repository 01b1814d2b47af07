/* What the thread of the steps did between them, and for how much of that the GPU had no work. */
#include "analyses/serving/serving.h"
#include "model/idle/evidence.h"
#include "tables/serving_host.h"

enum { SYNCHRONIZATION = NAI_SERVING_PARTS, CUDA_CALLS, OS_CALLS, OWN_CODE, CAUSES };
static const char *const causes[CAUSES] = {"scheduling",      "input preparation", "sampling", "bookkeeping", "output",
                                           "synchronization", "other CUDA calls",  "OS calls", "host code"};

/* Time of the thread by cause; an earlier one wins, so that known[c] is that of the causes up to c. */
struct layers {
  struct nai_intervals known[OWN_CODE];
};

static int check(const struct nai_intervals *set, struct nai_err *err) {
  return set->oom ? nai_err_nomem(err) : NAI_OK;
}

/* Named parts, by part. */
static int find_parts(struct nai_intervals parts[NAI_SERVING_PARTS], const struct serving_rank *r,
                      struct nai_arena *arena, struct nai_err *err) {
  const struct nai_model *m = r->m;
  const struct nai_strings *names = &m->tables[NAI_IN_NVTX]->strings;
  const struct nai_groups *ranges = &m->nvtx_by_thread;
  uint8_t *part;
  NAI_TRY(NAI_NEW(part, arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++)
    part[i] = (uint8_t)nai_serving_part_of(nai_strings_get(names, i));
  for (uint32_t i = ranges->first[r->steps->thread]; i < ranges->first[r->steps->thread + 1]; i++) {
    uint32_t row = ranges->order[i];
    enum nai_serving_part p = (enum nai_serving_part)part[nai_val_text(&m->nvtx.name, row)];
    if (p != NAI_SERVING_PARTS)
      nai_intervals_add(&parts[p], nai_val(&m->nvtx.start_ns, row), nai_val(&m->nvtx.end_ns, row));
  }
  return NAI_OK;
}

static void find_calls(struct nai_intervals *calls, const struct nai_model *m, uint32_t thread) {
  const struct nai_groups *g = &m->api_by_thread;
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++)
    nai_intervals_add(calls, nai_val(&m->apis.start_ns, g->order[i]), nai_val(&m->apis.end_ns, g->order[i]));
}

static void find_os_calls(struct nai_intervals *calls, const struct nai_model *m, uint32_t thread) {
  const struct nai_groups *g = &m->evidence->osrt_by_thread;
  for (uint32_t i = g->first ? g->first[thread] : 0; g->first && i < g->first[thread + 1]; i++)
    nai_intervals_add(calls, nai_val(&m->evidence->osrt.start_ns, g->order[i]),
                      nai_val(&m->evidence->osrt.end_ns, g->order[i]));
}

static int find_layers(struct layers *l, const struct serving_rank *r, struct nai_arena *arena, struct nai_err *err) {
  struct nai_intervals own[OWN_CODE];
  for (int c = 0; c < OWN_CODE; c++)
    own[c] = l->known[c] = (struct nai_intervals){.arena = arena};
  NAI_TRY(find_parts(own, r, arena, err));
  own[SYNCHRONIZATION] = r->m->blocked[r->steps->thread];
  find_calls(&own[CUDA_CALLS], r->m, r->steps->thread);
  find_os_calls(&own[OS_CALLS], r->m, r->steps->thread);
  for (int c = 0; c < OWN_CODE; c++) {
    const struct nai_intervals none = {0};
    NAI_TRY(check(&own[c], err));
    nai_intervals_union(&l->known[c], c ? &l->known[c - 1] : &none, &own[c]);
    NAI_TRY(check(&l->known[c], err));
  }
  return NAI_OK;
}

/* Adds the time of [from, to) to each cause's. */
static void divide(int64_t ns[CAUSES], struct nai_coverage known[OWN_CODE], int64_t from, int64_t to) {
  int64_t before = 0;
  if (to <= from)
    return;
  for (int c = 0; c < OWN_CODE; c++) {
    int64_t covered = nai_coverage_overlap_ns(&known[c], from, to);
    ns[c] += covered - before;
    before = covered;
  }
  ns[OWN_CODE] += to - from - before;
}

/* Between a step's range and the next one's: all of it, and where the GPU had finished every earlier step's work and
 * not begun the next one's. */
static int add_gaps(int64_t total[CAUSES], int64_t idle[CAUSES], const struct serving_rank *r, const struct layers *l,
                    struct nai_arena *arena, struct nai_err *err) {
  struct nai_coverage known[OWN_CODE], known_idle[OWN_CODE];
  for (int c = 0; c < OWN_CODE; c++) {
    NAI_TRY(nai_coverage_in(&known[c], &l->known[c], arena, err));
    NAI_TRY(nai_coverage_in(&known_idle[c], &l->known[c], arena, err));
  }
  for (uint32_t i = 0; i + 1 < r->count; i++) {
    const struct serving_step *s = &r->v[i], *next = &r->v[i + 1];
    if (!serving_is_steady(s) || s->period_ns == NAI_NULL_I64 || next->step != s->step + 1)
      continue;
    const struct nai_step *host = &r->steps->v[s->step];
    divide(total, known, host->work_end, host->end);
    divide(idle, known_idle, host->work_end > next->earlier_end ? host->work_end : next->earlier_end,
           host->end < next->start ? host->end : next->start);
  }
  return NAI_OK;
}

int nai_serving_put_host(const struct serving_engine *e, struct nai_table *out, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(e->rank->m->scratch_dir);
  struct layers layers;
  int64_t total[CAUSES] = {0}, idle[CAUSES] = {0}, periods = 0;
  if (e->rank->steps->thread == NAI_NO_ROW)
    return NAI_OK;
  NAI_TRY(find_layers(&layers, e->rank, &arena, err));
  NAI_TRY(add_gaps(total, idle, e->rank, &layers, &arena, err));
  for (uint32_t i = 0; i < e->rank->count; i++)
    if (serving_is_steady(&e->rank->v[i]) && e->rank->v[i].period_ns != NAI_NULL_I64)
      periods += e->rank->v[i].period_ns;
  for (int c = 0; c < CAUSES; c++)
    if (total[c])
      NAI_ADD(SERVING_HOST, out, .engine = e->number, .cause = causes[c], .total_ns = total[c], .gpu_idle_ns = idle[c],
              .pct_of_periods = nai_percent((double)idle[c], (double)periods));
  return NAI_OK;
}
