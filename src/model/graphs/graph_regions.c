#include "model/graphs/graph_regions.h"

#include "model/build.h"
#include "model/calls/call_class.h"
#include "model/kernels/repeated.h"

void nai_regions_free(struct nai_regions *regions) { nai_arena_free(&regions->arena); }

/* A thread's launches since something that no graph can hold. */
struct run {
  struct launch {
    uint32_t api;    /* row of api_events */
    uint32_t border; /* while repetition is sought */
    int64_t token;
  } * v;
  uint32_t count, capacity;
};

struct search {
  const struct nai_model *m;
  struct nai_regions *out;
  struct nai_shapes shapes;
  uint32_t *first_kernel; /* per api row, NAI_NO_ROW for none */
  uint8_t *breaks;        /* per api row: launches or copies what ends a stretch */
  bool *name_breaks;      /* per api name */
  struct nai_keyset keys; /* hash of thread and tokens -> sequence */
  struct nai_arena *arena;
  struct run run;
};

static int64_t mix(int64_t hash, int64_t value) {
  uint64_t h = ((uint64_t)hash ^ (uint64_t)value) * UINT64_C(0x9E3779B97F4A7C15);
  return (int64_t)(h ^ h >> 29);
}

/* --- what ends a stretch ---------------------------------------------------------------------------- */

/* Copies to the host are read there, those of pageable memory stop the thread. */
static void mark_copies(struct search *s) {
  enum { TO_HOST = 2, PAGEABLE = 0 };
  const struct MEMOP_EVENTS_columns *c = &s->m->memops;
  for (uint32_t i = 0; i < c->n; i++)
    if (s->m->memop_api[i] != NAI_NO_ROW && nai_at_i32(&c->kind, i) == NAI_MEMOP_COPY &&
        (nai_at_i32(&c->copy_kind, i) == TO_HOST || nai_at_i32(&c->src_kind, i) == PAGEABLE ||
         nai_at_i32(&c->dst_kind, i) == PAGEABLE))
      s->breaks[s->m->memop_api[i]] = 1;
}

/* Of several kernels of one call the first, whatever the order of rows. */
static bool precedes(const struct nai_model *m, uint32_t a, uint32_t b) {
  int64_t start_a = nai_val(&m->kernels.start_ns, a), start_b = nai_val(&m->kernels.start_ns, b);
  return start_a != start_b ? start_a < start_b : strcmp(nai_model_kernel_name(m, a), nai_model_kernel_name(m, b)) < 0;
}

static int begin(struct search *s, struct nai_err *err) {
  const struct nai_model *m = s->m;
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  NAI_TRY(NAI_NEW_UNSET(s->first_kernel, s->arena, m->apis.n, err));
  NAI_TRY(NAI_NEW(s->breaks, s->arena, m->apis.n, err));
  NAI_TRY(NAI_NEW(s->name_breaks, s->arena, names->count, err));
  NAI_TRY(NAI_NEW_UNSET(s->out->of_api, &s->out->arena, m->apis.n, err));
  memset(s->first_kernel, 0xff, m->apis.n * sizeof *s->first_kernel); /* NAI_NO_ROW */
  memset(s->out->of_api, 0xff, m->apis.n * sizeof *s->out->of_api);
  for (uint32_t i = 0; i < names->count; i++)
    s->name_breaks[i] = !nai_call_fits_graph(nai_strings_get(names, i));
  for (uint32_t k = 0; k < m->kernels.n; k++) {
    uint32_t api = m->kernel_api[k];
    if (api != NAI_NO_ROW && (s->first_kernel[api] == NAI_NO_ROW || precedes(m, k, s->first_kernel[api])))
      s->first_kernel[api] = k;
  }
  mark_copies(s);
  return nai_shapes_new(&s->shapes, m, err);
}

/* --- stretches -------------------------------------------------------------------------------------- */

/* What has to be equal for a kernel to be the same node: name, grid, block, GPU and stream. */
static int64_t token_of(const struct search *s, uint32_t kernel) {
  const struct KERNEL_EVENTS_columns *k = &s->m->kernels;
  int32_t config = nai_at_i32(&k->config, kernel);
  bool known = config >= 0 && config < s->m->tables[NAI_IN_KERNEL_CONFIGS]->rows;
  int64_t token = mix(mix(0, nai_val(&k->name, kernel)), known ? (int64_t)s->shapes.of_config[config] : -1);
  return mix(mix(token, nai_at(&k->device_id, kernel)), nai_at(&k->stream_id, kernel));
}

static int append(struct search *s, uint32_t api, int64_t token, struct nai_err *err) {
  struct run *run = &s->run;
  NAI_TRY(NAI_ROOM(run->v, run->capacity, run->count, s->arena, err));
  run->v[run->count++] = (struct launch){.api = api, .token = token};
  return NAI_OK;
}

/* How many launches one pass has: the shortest unit of which the run is made by repetition, the last time maybe in
 * part; several of them where they are short; the run itself where there are no three of those. */
static uint32_t pass_length(struct run *run) {
  enum { USUAL_NODES = 32 };
  struct launch *v = run->v;
  v[0].border = 0; /* of launch i: longest proper prefix of the tokens up to it that is their suffix, too */
  for (uint32_t i = 1, k = 0; i < run->count; i++) {
    while (k && v[i].token != v[k].token)
      k = v[k - 1].border;
    k += v[i].token == v[k].token;
    v[i].border = k;
  }
  uint32_t unit = run->count - v[run->count - 1].border, pass = (USUAL_NODES + unit - 1) / unit * unit;
  return run->count / pass >= NAI_REGION_REPEATS ? pass : run->count;
}

static int add_region(struct search *s, uint32_t thread, const struct launch *v, uint32_t n, struct nai_err *err) {
  struct nai_regions *out = s->out;
  int64_t hash = mix(mix(0, thread), n);
  bool added = false;
  for (uint32_t i = 0; i < n; i++)
    hash = mix(hash, v[i].token);
  uint32_t sequence = nai_keyset_add(&s->keys, hash, &added);
  NAI_TRY(nai_memory_check(!s->keys.oom, err));
  NAI_TRY(NAI_ROOM(out->v, out->capacity, out->count, &out->arena, err));
  NAI_TRY(NAI_ROOM(out->sequences, out->sequence_capacity, sequence, &out->arena, err));
  if (added) {
    out->sequences[sequence] = (struct nai_sequence){thread, n, 0, s->first_kernel[v->api], v->api};
    out->sequence_count = sequence + 1;
  }
  out->sequences[sequence].count++;
  for (uint32_t i = 0; i < n; i++)
    out->of_api[v[i].api] = out->count;
  out->v[out->count++] = (struct nai_region){sequence, v[0].api, v[n - 1].api};
  return NAI_OK;
}

/* The run is over: it is one pass, or several. */
static int end_run(struct search *s, uint32_t thread, struct nai_err *err) {
  uint32_t count = s->run.count;
  if (count >= NAI_REGION_FEWEST_KERNELS) {
    uint32_t unit = pass_length(&s->run);
    for (uint32_t at = 0; at + unit <= count; at += unit)
      NAI_TRY(add_region(s, thread, s->run.v + at, unit, err));
  }
  s->run.count = 0;
  return NAI_OK;
}

static bool ends_run(const struct search *s, uint32_t api) {
  return s->breaks[api] || s->name_breaks[nai_val_text(&s->m->apis.name, api)] || nai_model_api_blocks(s->m, api);
}

static void search_free(struct search *s) { nai_shapes_free(&s->shapes); }

int nai_regions_find(struct nai_regions *out, const struct nai_model *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  NAI_SCOPED(search) s = {.m = m, .out = out, .keys.arena = &arena, .arena = &arena};
  *out = (struct nai_regions){.arena = NAI_ARENA(m->scratch_dir)};
  NAI_TRY(begin(&s, err));
  for (uint32_t t = 0; t < m->thread_count; t++) {
    for (uint32_t i = m->api_by_thread.first[t]; i < m->api_by_thread.first[t + 1]; i++) {
      uint32_t api = m->api_by_thread.order[i];
      if (ends_run(&s, api))
        NAI_TRY(end_run(&s, t, err));
      else if (s.first_kernel[api] != NAI_NO_ROW)
        NAI_TRY(append(&s, api, token_of(&s, s.first_kernel[api]), err));
    }
    NAI_TRY(end_run(&s, t, err));
  }
  return NAI_OK;
}
