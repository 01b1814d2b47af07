/* Where does the program wait until a GPU has no work, and what idles until the host leads again? Table launch_waits.
 */
#include "analyses/analysis.h"
#include "model/idle/active.h"
#include "model/idle/wait_rounds.h"
#include "tables/launch_waits.h"

/* What becomes a row: a place, or all small ones. */
struct sum {
  uint32_t rounds;
  int64_t launches, ns[NAI_WAIT_PARTS], all, longest_ns;
  const struct nai_wait_round *longest;
  int64_t *call_ns; /* per API function */
};

static void add_round(struct sum *sum, const struct nai_wait_rounds *r, const struct nai_wait_round *round) {
  int64_t ns[NAI_WAIT_PARTS], all = nai_wait_counts(ns, r, round);
  for (int i = 0; i < NAI_WAIT_PARTS; i++)
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

static int add_up(struct sum sums[NAI_WAIT_ROWS], const struct nai_wait_rounds *r, struct nai_err *err) {
  for (int i = 0; i < NAI_WAIT_ROWS; i++)
    NAI_TRY(NAI_NEW(sums[i].call_ns, r->arena, r->m->tables[NAI_IN_APIS]->strings.count, err));
  for (uint32_t i = 0; i < r->count; i++)
    add_round(&sums[nai_wait_row(r, &r->v[i])], r, &r->v[i]);
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

static int put_calls(const char **text, const struct nai_wait_rounds *r, uint32_t place, struct nai_err *err) {
  const struct nai_strings *names = &r->m->tables[NAI_IN_APIS]->strings;
  struct nai_keyset functions = {.arena = r->arena};
  NAI_SCOPED(nai_buf) out = {0};
  int64_t *counts;
  uint32_t rounds = 0;
  NAI_TRY(NAI_NEW(counts, r->arena, (size_t)names->count + 1, err));
  for (uint32_t i = 0; i + 1 < r->count; i++) {
    const struct nai_wait_round *round = &r->v[i];
    bool same = round->place == place && round[1].place == place && nai_wait_in_loop(r, round) &&
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

static int put(struct nai_table *table, const struct nai_wait_rounds *r, const struct sum *sum, uint32_t number,
               struct nai_err *err) {
  const bool loop = number != NAI_WAIT_OTHERS && r->places[r->place_of[number]].limit;
  const char *place = nai_wait_row_place(r, number);
  const struct nai_strings *names = &r->m->tables[NAI_IN_APIS]->strings;
  int64_t active_ns = nai_intervals_total_ns(&r->m->active[r->gpu].active);
  struct LAUNCH_WAITS_row row =
      NAI_ROW(LAUNCH_WAITS, .device_id = r->m->gpus[r->gpu].device_id, .place = *place ? place : NULL,
              .kind = loop ? "loop" : "wait", .wait_count = sum->rounds, .launch_count = sum->launches,
              .launches_per_wait = (double)sum->launches / sum->rounds, .idle_ns = sum->all,
              .idle_pct = nai_percent((double)sum->all, (double)active_ns), .in_wait_ns = sum->ns[0],
              .behind_wait_ns = sum->ns[1], .in_launch_ns = sum->ns[2], .allocation_ns = sum->ns[3],
              .cuda_call_ns = sum->ns[4], .host_code_ns = sum->ns[5], .latency_ns = sum->ns[6]);
  if (loop)
    NAI_TRY(put_calls(&row.round_calls, r, r->place_of[number], err));
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
  NAI_SCOPED(nai_wait_rounds) rounds = {0};
  struct sum sums[NAI_WAIT_ROWS] = {0};
  NAI_TRY(nai_wait_rounds_find(&rounds, io->model, gpu, &arena, err));
  if (!rounds.count)
    return NAI_OK;
  NAI_TRY(add_up(sums, &rounds, err));
  for (uint32_t row = 0; row < NAI_WAIT_ROWS; row++)
    if (sums[row].all)
      NAI_TRY(put(io->out[0], &rounds, &sums[row], row, err));
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
