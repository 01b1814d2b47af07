#include "model/graphs/graph_regions.h"

#include "model/kernels/repeated.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* A thread's launches since something that no graph can hold. */
struct run {
  uint32_t *api; /* rows of api_events */
  int64_t *token;
  uint32_t *border; /* while repetition is sought */
  uint32_t count, capacity, token_capacity, border_capacity;
};

struct search {
  const struct nai_model *m;
  struct nai_regions *out;
  struct nai_shapes shapes;
  uint32_t *first_kernel; /* per api row, NAI_NO_ROW for none */
  uint8_t *breaks;        /* per api row: launches or copies what ends a stretch */
  bool *name_breaks;      /* per api name */
  struct nai_keyset keys; /* hash of thread and tokens -> sequence */
  struct run run;
};

static int64_t mix(int64_t hash, int64_t value) {
  uint64_t h = ((uint64_t)hash ^ (uint64_t)value) * UINT64_C(0x9E3779B97F4A7C15);
  return (int64_t)(h ^ h >> 29);
}

/* --- what ends a stretch ---------------------------------------------------------------------------- */

static bool breaks_by_name(const char *name, enum nai_api_class class) {
  static const char *const parts[] = {"Graph", "Capture", "HostFunc", "AddCallback"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strstr(name, parts[i]))
      return true;
  return class == NAI_API_BLOCKING || class == NAI_API_ALLOCATION || class == NAI_API_MODULE;
}

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
  int64_t start_a = nai_at(&m->kernels.start_ns, a), start_b = nai_at(&m->kernels.start_ns, b);
  return start_a != start_b ? start_a < start_b : strcmp(nai_model_kernel_name(m, a), nai_model_kernel_name(m, b)) < 0;
}

static int begin(struct search *s, const struct nai_model *m, struct nai_regions *out, struct nai_err *err) {
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  *s = (struct search){.m = m,
                       .out = out,
                       .first_kernel = malloc(((size_t)m->apis.n + 1) * sizeof *s->first_kernel),
                       .breaks = calloc((size_t)m->apis.n + 1, 1),
                       .name_breaks = malloc((size_t)names->count + 1)};
  out->of_api = malloc(((size_t)m->apis.n + 1) * sizeof *out->of_api);
  if (!s->first_kernel || !s->breaks || !s->name_breaks || !out->of_api)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < m->apis.n; i++)
    s->first_kernel[i] = out->of_api[i] = NAI_NO_ROW;
  for (uint32_t i = 0; i < names->count; i++)
    s->name_breaks[i] = breaks_by_name(nai_strings_get(names, i), m->api_class[i]);
  for (uint32_t k = 0; k < m->kernels.n; k++) {
    uint32_t api = m->kernel_api[k];
    if (api == NAI_NO_ROW)
      continue;
    if (s->first_kernel[api] == NAI_NO_ROW || precedes(m, k, s->first_kernel[api]))
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
  int64_t token = mix(mix(0, nai_at(&k->name, kernel)), known ? (int64_t)s->shapes.of_config[config] : -1);
  return mix(mix(token, nai_at(&k->device_id, kernel)), nai_at(&k->stream_id, kernel));
}

static bool append(struct run *run, uint32_t api, int64_t token) {
  if (!nai_array_room(&run->api, &run->capacity, run->count, sizeof *run->api) ||
      !nai_array_room(&run->token, &run->token_capacity, run->count, sizeof *run->token) ||
      !nai_array_room(&run->border, &run->border_capacity, run->count, sizeof *run->border))
    return false;
  run->api[run->count] = api;
  run->token[run->count++] = token;
  return true;
}

/* How many launches one pass has: the shortest unit of which the run is made by repetition, the last time maybe in
 * part; several of them where they are short; the run itself where there are no three of those. */
static uint32_t pass_length(struct run *run) {
  enum { USUAL_NODES = 32 };
  uint32_t *border = run->border; /* longest proper prefix of token[0..i] that is its suffix, too */
  border[0] = 0;
  for (uint32_t i = 1, k = 0; i < run->count; i++) {
    while (k && run->token[i] != run->token[k])
      k = border[k - 1];
    k += run->token[i] == run->token[k];
    border[i] = k;
  }
  uint32_t unit = run->count - border[run->count - 1], pass = (USUAL_NODES + unit - 1) / unit * unit;
  return run->count / pass >= NAI_REGION_REPEATS ? pass : run->count;
}

static bool add_region(struct search *s, uint32_t thread, uint32_t at, uint32_t n) {
  struct nai_regions *out = s->out;
  const uint32_t *api = s->run.api + at;
  int64_t hash = mix(mix(0, thread), n);
  bool added = false;
  for (uint32_t i = 0; i < n; i++)
    hash = mix(hash, s->run.token[at + i]);
  uint32_t sequence = nai_keyset_add(&s->keys, hash, &added);
  if (s->keys.oom || !nai_array_room(&out->v, &out->capacity, out->count, sizeof *out->v) ||
      (added && !nai_array_room(&out->sequences, &out->sequence_capacity, sequence, sizeof *out->sequences)))
    return false;
  if (added) {
    out->sequences[sequence] = (struct nai_sequence){thread, n, 0, s->first_kernel[*api], *api};
    out->sequence_count = sequence + 1;
  }
  out->sequences[sequence].count++;
  for (uint32_t i = 0; i < n; i++)
    out->of_api[api[i]] = out->count;
  out->v[out->count++] = (struct nai_region){sequence, api[0], api[n - 1]};
  return true;
}

/* The run is over: it is one pass, or several. */
static bool end_run(struct search *s, uint32_t thread) {
  bool ok = true;
  if (s->run.count >= NAI_REGION_FEWEST_KERNELS) {
    uint32_t unit = pass_length(&s->run);
    for (uint32_t at = 0; ok && at + unit <= s->run.count; at += unit)
      ok = add_region(s, thread, at, unit);
  }
  s->run.count = 0;
  return ok;
}

static bool ends_run(const struct search *s, uint32_t api) {
  return s->breaks[api] || s->name_breaks[nai_at_text(&s->m->apis.name, api)] || nai_model_api_blocks(s->m, api);
}

int nai_regions_find(struct nai_regions *out, const struct nai_model *m, struct nai_err *err) {
  struct search s;
  int rc = begin(&s, m, out, err);
  for (uint32_t t = 0; !rc && t < m->thread_count; t++) {
    bool ok = true;
    for (uint32_t i = m->api_by_thread.first[t]; ok && i < m->api_by_thread.first[t + 1]; i++) {
      uint32_t api = m->api_by_thread.order[i];
      if (ends_run(&s, api))
        ok = end_run(&s, t);
      else if (s.first_kernel[api] != NAI_NO_ROW)
        ok = append(&s.run, api, token_of(&s, s.first_kernel[api]));
    }
    rc = ok && end_run(&s, t) ? NAI_OK : nai_err_nomem(err);
  }
  nai_shapes_free(&s.shapes);
  nai_keyset_free(&s.keys);
  free(s.first_kernel);
  free(s.breaks);
  free(s.name_breaks);
  free(s.run.api);
  free(s.run.token);
  free(s.run.border);
  return rc;
}

void nai_regions_free(struct nai_regions *regions) {
  free(regions->v);
  free(regions->sequences);
  free(regions->of_api);
  *regions = (struct nai_regions){0};
}
