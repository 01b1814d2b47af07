/* Where does the program wait until a GPU has no work, and what idles until the host leads again? Table launch_waits.
 */
#include "analyses/analysis.h"
#include "model/idle/active.h"
#include "model/idle/idle.h"
#include "model/nvtx/nvtx_place.h"
#include "tables/launch_waits.h"

enum { PARTS = 7, PARTS_OF_WAIT = 3 };
/* In the order in which a wait is charged with them. */
static const enum nai_idle_cause causes[PARTS] = {NAI_IDLE_BLOCKING_CALL,  NAI_IDLE_QUEUE_DRAINED,
                                                  NAI_IDLE_IN_LAUNCH_CALL, NAI_IDLE_ALLOCATION,
                                                  NAI_IDLE_CUDA_CALL,      NAI_IDLE_HOST_CODE,
                                                  NAI_IDLE_LAUNCH_LATENCY};
enum {
  LOOP_ROUNDS = 20,
  LOOP_LAUNCHES = 4,
  UNUSUAL = 10,           /* times the median: no round like the others */
  OWN_CODE_NS = 20 * 1000 /* longer, it is work of the program's, not the way from call to call */
};

/* A wait that drained the queue, and the gaps behind it. */
struct round {
  uint32_t wait, place; /* row of api_events; number of the place */
  uint32_t op, end_op;  /* the first operation behind it, and behind the next one */
  int64_t ns[PARTS], all;
  struct nai_interval at; /* from the first gap to the last */
};

/* Waits in the same ranges. */
struct place {
  uint32_t rounds, first; /* first: of its values in `room` */
  int64_t launches, all;
  int64_t limit; /* a loop's rounds that idle longer are not like the others; 0: no loop */
  uint32_t row;  /* of `sums` */
};

/* What becomes a row: a place, or all small ones. */
struct sum {
  uint32_t rounds, place;
  int64_t launches, ns[PARTS], all, longest_ns;
  const struct round *longest;
  int64_t *call_ns; /* per API function */
  bool loop;
};
enum {
  SUMS = 5,
  OTHERS = SUMS - 1,
  PART = SUMS - 1 /* a place with less than this part of all is one of the others */
};

/* The rounds of one GPU. */
struct rounds {
  const struct nai_model *m;
  uint32_t gpu;
  struct nai_arena *arena;
  struct round *v;
  uint32_t count, capacity;
  struct nai_strings names; /* of places */
  struct nai_keyset nodes;  /* NVTX node + 1 of a wait */
  uint32_t *of_node;        /* per key of nodes: its place */
  uint32_t of_node_capacity;
  struct place *places; /* per name */
  struct sum sums[SUMS];
};
static void rounds_free(struct rounds *r) { nai_strings_free(&r->names); }

/* --- rounds ------------------------------------------------------------------------------------- */

static int place_of(uint32_t *place, struct rounds *r, uint32_t wait, struct nai_err *err) {
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

static int new_round(struct rounds *r, const struct nai_idle_drain *drain, const struct nai_idle_gap *gap,
                     struct nai_err *err) {
  uint32_t place = 0;
  NAI_TRY(place_of(&place, r, drain->wait, err));
  NAI_TRY(NAI_ROOM(r->v, r->capacity, r->count, r->arena, err));
  if (r->count)
    r->v[r->count - 1].end_op = gap->op;
  r->v[r->count++] = (struct round){.wait = drain->wait,
                                    .place = place,
                                    .op = gap->op,
                                    .end_op = r->m->gpus[r->gpu].op_count,
                                    .at = {gap->start, gap->end}};
  return NAI_OK;
}

static int take_gap(struct rounds *r, const struct nai_idle_drain *drain, struct nai_err *err) {
  struct nai_idle_gap gap = nai_idle_gap_at(r->m, r->gpu, drain->gap);
  struct nai_idle_split split;
  if (!r->count || r->v[r->count - 1].wait != drain->wait)
    NAI_TRY(new_round(r, drain, &gap, err));
  struct round *round = &r->v[r->count - 1];
  NAI_TRY(nai_idle_split_again(&split, NULL, NULL, r->m, &gap, err));
  if (split.ns[NAI_IDLE_HOST_CODE] > OWN_CODE_NS)
    split.ns[NAI_IDLE_HOST_CODE] = 0;
  for (int i = 0; i < PARTS; i++) {
    round->ns[i] += split.ns[causes[i]];
    round->all += split.ns[causes[i]];
  }
  round->at.end = gap.end;
  return NAI_OK;
}

static int find_rounds(struct rounds *r, struct nai_err *err) {
  const struct nai_gpu_idle *idle = &r->m->idle[r->gpu];
  uint32_t at = 0;
  for (uint32_t i = 0; i < idle->drain_count; i++)
    if (nai_idle_gap_active(&at, r->m, r->gpu, idle->drains[i].gap))
      NAI_TRY(take_gap(r, &idle->drains[i], err));
  return NAI_OK;
}

/* --- places ------------------------------------------------------------------------------------- */

/* Of a place with so many rounds and so few launches between them: what a round of the loop may idle. */
static void find_limits(struct rounds *r, int64_t *room) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < r->names.count; first += r->places[i++].rounds)
    r->places[i].first = first;
  for (uint32_t i = 0; i < r->count; i++)
    room[r->places[r->v[i].place].first++] = r->v[i].all;
  for (uint32_t i = 0; i < r->names.count; i++) {
    struct place *p = &r->places[i];
    if (p->rounds < LOOP_ROUNDS || p->launches > (int64_t)LOOP_LAUNCHES * p->rounds)
      continue;
    double limit = UNUSUAL * nai_stats_of(room + p->first - p->rounds, p->rounds).p50;
    p->limit = limit > 1 ? (int64_t)limit : 1;
  }
}

/* Whether it is one of a loop's rounds, which are like each other. */
static bool in_loop(const struct rounds *r, const struct round *round) {
  return round->all <= r->places[round->place].limit;
}

/* What of a round counts, by part. Without a wait launches would come earlier by no more than it took; without a loop
 * there would be none of its gaps. */
static int64_t count(int64_t ns[PARTS], const struct rounds *r, const struct round *round) {
  bool loop = in_loop(r, round);
  int64_t left = loop ? round->all : nai_call_ns(r->m, round->wait), all = 0;
  memset(ns, 0, PARTS * sizeof *ns);
  for (int i = 0; i < (loop ? PARTS : PARTS_OF_WAIT); i++) {
    ns[i] = round->ns[i] < left ? round->ns[i] : left;
    left -= ns[i];
    all += ns[i];
  }
  return all;
}

/* Rounds of a loop that are not like the others count with the small places. */
static bool is_other(const struct rounds *r, const struct round *round) {
  return r->places[round->place].limit && !in_loop(r, round);
}

static int find_places(struct rounds *r, struct nai_err *err) {
  int64_t *room, ns[PARTS], all = 0;
  uint32_t rows = 0;
  NAI_TRY(NAI_NEW(r->places, r->arena, r->names.count, err));
  NAI_TRY(NAI_NEW(room, r->arena, r->count, err));
  for (uint32_t i = 0; i < r->count; i++) {
    r->places[r->v[i].place].rounds++;
    r->places[r->v[i].place].launches += r->v[i].end_op - r->v[i].op;
  }
  find_limits(r, room);
  for (uint32_t i = 0; i < r->count; i++) {
    int64_t counted = count(ns, r, &r->v[i]);
    r->places[r->v[i].place].all += is_other(r, &r->v[i]) ? 0 : counted;
    all += counted;
  }
  for (uint32_t i = 0; i < r->names.count; i++) {
    struct place *p = &r->places[i];
    p->row = rows < OTHERS && PART * p->all >= all ? rows++ : OTHERS;
    r->sums[p->row].place = i;
    r->sums[p->row].loop = p->limit && p->row != OTHERS;
  }
  return NAI_OK;
}

static void add_round(struct sum *sum, const struct rounds *r, const struct round *round) {
  int64_t ns[PARTS], all = count(ns, r, round);
  for (int i = 0; i < PARTS; i++)
    sum->ns[i] += ns[i];
  sum->rounds++;
  sum->launches += round->end_op - round->op;
  sum->all += all;
  sum->call_ns[nai_val_text(&r->m->apis.name, round->wait)] += all;
  if (all <= sum->longest_ns)
    return;
  sum->longest_ns = all;
  sum->longest = round;
}

static int add_up(struct rounds *r, struct nai_err *err) {
  for (int i = 0; i < SUMS; i++)
    NAI_TRY(NAI_NEW(r->sums[i].call_ns, r->arena, r->m->tables[NAI_IN_APIS]->strings.count, err));
  for (uint32_t i = 0; i < r->count; i++)
    add_round(&r->sums[is_other(r, &r->v[i]) ? OTHERS : r->places[r->v[i].place].row], r, &r->v[i]);
  return NAI_OK;
}

/* --- what a round does -------------------------------------------------------------------------- */

/* The calls of a thread behind one wait up to the next one: their functions, in order of the first call. */
static void count_calls(struct nai_keyset *functions, int64_t *counts, const struct nai_model *m, uint32_t from,
                        uint32_t to) {
  const struct nai_groups *calls = &m->api_by_thread;
  uint32_t thread = nai_val_text(&m->apis.thread, from), end = calls->first[thread + 1];
  uint32_t last = UINT32_MAX;
  for (uint32_t i =
           nai_rows_from(calls->order, calls->first[thread], end, &m->apis.start_ns, nai_val(&m->apis.end_ns, from));
       i < end && last != to; i++) {
    bool added;
    last = calls->order[i];
    counts[nai_keyset_add(functions, nai_val_text(&m->apis.name, last), &added)]++;
  }
}

static int put_calls(const char **text, const struct rounds *r, uint32_t place, struct nai_err *err) {
  const struct nai_strings *names = &r->m->tables[NAI_IN_APIS]->strings;
  struct nai_keyset functions = {.arena = r->arena};
  NAI_SCOPED(nai_buf) out = {0};
  int64_t *counts;
  uint32_t rounds = 0;
  NAI_TRY(NAI_NEW(counts, r->arena, (size_t)names->count + 1, err));
  for (uint32_t i = 0; i + 1 < r->count; i++) {
    const struct round *round = &r->v[i];
    bool same = round->place == place && round[1].place == place && in_loop(r, round) &&
                nai_val_text(&r->m->apis.thread, round->wait) == nai_val_text(&r->m->apis.thread, round[1].wait) &&
                nai_val(&r->m->apis.start_ns, round->wait) < nai_val(&r->m->apis.start_ns, round[1].wait);
    rounds += same;
    if (same)
      count_calls(&functions, counts, r->m, round->wait, round[1].wait);
  }
  for (uint32_t i = 0; i < functions.count; i++)
    if (2 * counts[i] >= rounds)
      nai_buf_printf(&out, "%s%s", out.len ? ", " : "", nai_strings_get(names, (uint32_t)functions.keys[i]));
  *text = out.len ? nai_arena_printf(r->arena, "%s", nai_buf_str(&out)) : NULL;
  return functions.oom || out.oom ? nai_err_nomem(err) : nai_arena_check(r->arena, err);
}

/* --- rows --------------------------------------------------------------------------------------- */

static uint32_t largest_call(const struct sum *p, const struct nai_strings *names) {
  uint32_t most = 0;
  for (uint32_t i = 1; i < names->count; i++) /* of equals the first by text, whatever their numbers are */
    if (p->call_ns[i] > p->call_ns[most] ||
        (p->call_ns[i] == p->call_ns[most] && strcmp(nai_strings_get(names, i), nai_strings_get(names, most)) < 0))
      most = i;
  return most;
}

static int put(struct nai_table *table, const struct rounds *r, const struct sum *sum, const char *place,
               struct nai_err *err) {
  const struct nai_strings *names = &r->m->tables[NAI_IN_APIS]->strings;
  int64_t active_ns = nai_intervals_total_ns(&r->m->active[r->gpu].active);
  struct LAUNCH_WAITS_row row =
      NAI_ROW(LAUNCH_WAITS, .device_id = r->m->gpus[r->gpu].device_id, .place = *place ? place : NULL,
              .kind = sum->loop ? "loop" : "wait", .wait_count = sum->rounds, .launch_count = sum->launches,
              .launches_per_wait = (double)sum->launches / sum->rounds, .idle_ns = sum->all,
              .idle_pct = nai_percent((double)sum->all, (double)active_ns), .in_wait_ns = sum->ns[0],
              .behind_wait_ns = sum->ns[1], .in_launch_ns = sum->ns[2], .allocation_ns = sum->ns[3],
              .cuda_call_ns = sum->ns[4], .host_code_ns = sum->ns[5], .latency_ns = sum->ns[6]);
  if (sum->loop)
    NAI_TRY(put_calls(&row.round_calls, r, sum->place, err));
  if (sum->longest) {
    uint32_t most = largest_call(sum, names);
    row.call = nai_strings_get(names, most);
    row.call_ns = sum->call_ns[most];
    row.longest_ns = sum->longest_ns;
    row.longest_start_ns = sum->longest->at.start;
    row.longest_end_ns = sum->longest->at.end;
  }
  LAUNCH_WAITS_add(table, &row);
  return NAI_OK;
}

static int add_gpu(const struct nai_node_io *io, uint32_t gpu, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(io->model->scratch_dir);
  NAI_SCOPED(rounds) r = {.m = io->model, .gpu = gpu, .arena = &arena, .nodes = {.arena = &arena}};
  NAI_TRY(find_rounds(&r, err));
  if (!r.count)
    return NAI_OK;
  NAI_TRY(find_places(&r, err));
  NAI_TRY(add_up(&r, err));
  for (int i = 0; i < SUMS; i++)
    if (r.sums[i].all)
      NAI_TRY(put(io->out[0], &r, &r.sums[i], i == OTHERS ? "other places" : nai_strings_get(&r.names, r.sums[i].place),
                  err));
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  for (uint32_t g = 0; g < io->model->gpu_count; g++)
    NAI_TRY(add_gpu(io, g, err));
  return NAI_OK;
}

NAI_ANALYSIS(launch_waits, .outputs = NAI_SCHEMAS(&nai_launch_waits_schema),
             .parts = NAI_PART(ACTIVE) | NAI_PART(IDLE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) |
                      NAI_PART(NVTX_TREE) | NAI_PART(NAMES),
             .tables = NAI_IN(NVTX), .cost = 1, .run = run)
