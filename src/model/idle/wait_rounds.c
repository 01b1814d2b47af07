#include "model/idle/wait_rounds.h"

#include "model/idle/active.h"
#include "model/nvtx/nvtx_place.h"
#include "table/stats.h"

static const enum nai_idle_cause causes[NAI_WAIT_PARTS] = {NAI_IDLE_BLOCKING_CALL,  NAI_IDLE_QUEUE_DRAINED,
                                                           NAI_IDLE_IN_LAUNCH_CALL, NAI_IDLE_ALLOCATION,
                                                           NAI_IDLE_CUDA_CALL,      NAI_IDLE_HOST_CODE,
                                                           NAI_IDLE_LAUNCH_LATENCY};
enum {
  OWN_PARTS = 3, /* the first ones: a wait's own, without a loop */
  LOOP_ROUNDS = 20,
  LOOP_LAUNCHES = 4,
  UNUSUAL = 10,            /* times the median: no round like the others */
  OWN_CODE_NS = 20 * 1000, /* longer, it is work of the program's, not the way from call to call */
  PART = 4                 /* a place with less than this part of all is one of the others */
};

/* --- rounds ------------------------------------------------------------------------------------- */

static int place_of(uint32_t *place, struct nai_wait_rounds *r, uint32_t wait, struct nai_err *err) {
  const struct nai_nvtx_node *node = nai_model_call_node(r->m, wait);
  bool added;
  uint32_t index = nai_keyset_add(&r->nodes, node ? (int64_t)(node - r->m->nodes) + 1 : 0, &added);
  NAI_TRY(nai_memory_check(!r->nodes.oom, err));
  NAI_TRY(NAI_ROOM(r->of_node, r->of_node_capacity, index, r->arena, err));
  if (added) {
    NAI_SCOPED(nai_buf) path = {0};
    nai_nvtx_put_path(&path, r->m, node);
    NAI_TRY(nai_buf_check(&path, err));
    r->of_node[index] = nai_strings_add(&r->names, nai_buf_str(&path), path.len);
    NAI_TRY(nai_memory_check(r->of_node[index] != NAI_NO_STRING, err));
  }
  *place = r->of_node[index];
  return NAI_OK;
}

static int new_round(struct nai_wait_rounds *r, const struct nai_idle_drain *drain, const struct nai_idle_gap *gap,
                     struct nai_err *err) {
  uint32_t place = 0;
  NAI_TRY(place_of(&place, r, drain->wait, err));
  NAI_TRY(NAI_ROOM(r->v, r->capacity, r->count, r->arena, err));
  if (r->count)
    r->v[r->count - 1].end_op = gap->op;
  r->v[r->count++] = (struct nai_wait_round){.wait = drain->wait,
                                             .place = place,
                                             .op = gap->op,
                                             .end_op = r->m->gpus[r->gpu].op_count,
                                             .at = {gap->start, gap->end}};
  return NAI_OK;
}

static int take_gap(struct nai_wait_rounds *r, const struct nai_idle_drain *drain, struct nai_err *err) {
  struct nai_idle_gap gap = nai_idle_gap_at(r->m, r->gpu, drain->gap);
  struct nai_idle_split split;
  if (!r->count || r->v[r->count - 1].wait != drain->wait)
    NAI_TRY(new_round(r, drain, &gap, err));
  struct nai_wait_round *round = &r->v[r->count - 1];
  NAI_TRY(nai_idle_split_again(&split, NULL, NULL, r->m, &gap, err));
  if (split.ns[NAI_IDLE_HOST_CODE] > OWN_CODE_NS)
    split.ns[NAI_IDLE_HOST_CODE] = 0;
  for (int i = 0; i < NAI_WAIT_PARTS; i++) {
    round->ns[i] += split.ns[causes[i]];
    round->all += split.ns[causes[i]];
  }
  round->at.end = gap.end;
  return NAI_OK;
}

static int find_rounds(struct nai_wait_rounds *r, struct nai_err *err) {
  const struct nai_gpu_idle *idle = &r->m->idle[r->gpu];
  uint32_t at = 0;
  for (uint32_t i = 0; i < idle->drain_count; i++)
    if (nai_idle_gap_active(&at, r->m, r->gpu, idle->drains[i].gap))
      NAI_TRY(take_gap(r, &idle->drains[i], err));
  return NAI_OK;
}

/* --- places ------------------------------------------------------------------------------------- */

/* Of a place with so many rounds and so few launches between them: what a round of the loop may idle. */
static void find_limits(struct nai_wait_rounds *r, int64_t *room) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < r->names.count; first += r->places[i++].rounds)
    r->places[i].first = first;
  for (uint32_t i = 0; i < r->count; i++)
    room[r->places[r->v[i].place].first++] = r->v[i].all;
  for (uint32_t i = 0; i < r->names.count; i++) {
    struct nai_wait_place *p = &r->places[i];
    if (p->rounds < LOOP_ROUNDS || p->launches > (int64_t)LOOP_LAUNCHES * p->rounds)
      continue;
    double limit = UNUSUAL * nai_stats_of(room + p->first - p->rounds, p->rounds).p50;
    p->limit = limit > 1 ? (int64_t)limit : 1;
  }
}

bool nai_wait_in_loop(const struct nai_wait_rounds *r, const struct nai_wait_round *round) {
  return round->all <= r->places[round->place].limit;
}

int64_t nai_wait_counts(int64_t ns[NAI_WAIT_PARTS], const struct nai_wait_rounds *r,
                        const struct nai_wait_round *round) {
  const bool loop = nai_wait_in_loop(r, round);
  int64_t left = loop ? round->all : nai_call_ns(r->m, round->wait), all = 0;
  memset(ns, 0, NAI_WAIT_PARTS * sizeof *ns);
  for (int i = 0; i < (loop ? NAI_WAIT_PARTS : OWN_PARTS); i++) {
    ns[i] = round->ns[i] < left ? round->ns[i] : left;
    left -= ns[i];
    all += ns[i];
  }
  return all;
}

static bool is_other(const struct nai_wait_rounds *r, const struct nai_wait_round *round) {
  return r->places[round->place].limit && !nai_wait_in_loop(r, round);
}

uint32_t nai_wait_row(const struct nai_wait_rounds *r, const struct nai_wait_round *round) {
  return is_other(r, round) ? NAI_WAIT_OTHERS : r->places[round->place].row;
}

const char *nai_wait_row_place(const struct nai_wait_rounds *r, uint32_t row) {
  return row == NAI_WAIT_OTHERS ? "other places" : nai_strings_get(&r->names, r->place_of[row]);
}

static int find_places(struct nai_wait_rounds *r, struct nai_err *err) {
  int64_t *room, ns[NAI_WAIT_PARTS], all = 0;
  uint32_t rows = 0;
  NAI_TRY(NAI_NEW(r->places, r->arena, r->names.count, err));
  NAI_TRY(NAI_NEW(room, r->arena, r->count, err));
  for (uint32_t i = 0; i < r->count; i++) {
    r->places[r->v[i].place].rounds++;
    r->places[r->v[i].place].launches += r->v[i].end_op - r->v[i].op;
  }
  find_limits(r, room);
  for (uint32_t i = 0; i < r->count; i++) {
    int64_t counted = nai_wait_counts(ns, r, &r->v[i]);
    r->places[r->v[i].place].all += is_other(r, &r->v[i]) ? 0 : counted;
    all += counted;
  }
  for (uint32_t i = 0; i < r->names.count; i++) {
    struct nai_wait_place *p = &r->places[i];
    p->row = rows < NAI_WAIT_OTHERS && PART * p->all >= all ? rows++ : NAI_WAIT_OTHERS;
    r->place_of[p->row] = i;
  }
  return NAI_OK;
}

int nai_wait_rounds_find(struct nai_wait_rounds *out, const struct nai_model *m, uint32_t gpu, struct nai_arena *arena,
                         struct nai_err *err) {
  *out = (struct nai_wait_rounds){.m = m, .gpu = gpu, .arena = arena, .nodes = {.arena = arena}};
  NAI_TRY(find_rounds(out, err));
  return out->count ? find_places(out, err) : NAI_OK;
}
