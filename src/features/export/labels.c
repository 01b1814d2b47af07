/* What slices are called, and the facts on them. */
#include "features/export/timeline.h"
#include "table/kernel_name.h"
#include "tables/kernel_configs.h"

const char *const nai_arg_names[NAI_ARG_KEYS] = {
    [NAI_ARG_KERNEL] = "kernel",
    [NAI_ARG_GRID] = "grid",
    [NAI_ARG_BLOCK] = "block",
    [NAI_ARG_REGISTERS] = "registers_per_thread",
    [NAI_ARG_STATIC_SHARED] = "static_shared_bytes",
    [NAI_ARG_DYNAMIC_SHARED] = "dynamic_shared_bytes",
    [NAI_ARG_DEVICE] = "device_id",
    [NAI_ARG_CONTEXT] = "context_id",
    [NAI_ARG_STREAM] = "stream_id",
    [NAI_ARG_CORRELATION] = "correlation_id",
    [NAI_ARG_GRAPH] = "graph_id",
    [NAI_ARG_LATENCY] = "launch_latency_ns",
    [NAI_ARG_BYTES] = "bytes",
    [NAI_ARG_SOURCE] = "src_kind",
    [NAI_ARG_TARGET] = "dst_kind",
    [NAI_ARG_RATE] = "gb_per_s",
    [NAI_ARG_CLASS] = "class",
    [NAI_ARG_EXPORT_ROW] = "export_row",
    [NAI_ARG_SITE] = "site",
    [NAI_ARG_GRAPH_SITE] = "graph_launch_site",
    [NAI_ARG_WAIT] = "wait_ns",
    [NAI_ARG_LAST_RANK] = "last_rank",
};

int nai_labels_open(struct nai_timeline *tl, struct nai_err *err) {
  const struct nai_table *const *in = tl->m->tables;
  const struct nai_strings *kernels = &in[NAI_IN_KERNELS]->strings;
  NAI_TRY(NAI_NEW(tl->kernel_name, &tl->arena, kernels->count, err));
  NAI_TRY(NAI_NEW(tl->kernel_value, &tl->arena, kernels->count, err));
  NAI_TRY(NAI_NEW(tl->api_name, &tl->arena, in[NAI_IN_APIS]->strings.count, err));
  NAI_TRY(NAI_NEW(tl->range_name, &tl->arena, in[NAI_IN_NVTX]->strings.count, err));
  NAI_TRY(NAI_NEW(tl->grid, &tl->arena, (size_t)in[NAI_IN_KERNEL_CONFIGS]->rows, err));
  NAI_TRY(NAI_NEW(tl->block, &tl->arena, (size_t)in[NAI_IN_KERNEL_CONFIGS]->rows, err));
  return nai_kernel_names_of(&tl->short_names, kernels, err);
}

uint32_t nai_labels_add(struct nai_timeline *tl, struct nai_strings *texts, const char *text) {
  uint32_t id = nai_strings_add(texts, text, strlen(text));
  tl->arena.oom |= id == NAI_NO_STRING;
  return id == NAI_NO_STRING ? 0 : id;
}

/* The text's id, found once per slot. */
static uint32_t once(struct nai_timeline *tl, struct nai_strings *texts, uint32_t *slot, const char *text) {
  if (!*slot)
    *slot = nai_labels_add(tl, texts, *text ? text : "(no name)") + 1;
  return *slot - 1;
}

/* --- names ------------------------------------------------------------------------------------------- */

/* Where the id of an event's name is kept, NULL where names are few. */
static uint32_t *slot_of(const struct nai_timeline *tl, const struct nai_track_slice *s) {
  const struct nai_model *m = tl->m;
  switch (s->kind) {
  case NAI_LANE_KERNEL: {
    uint32_t id = nai_at_text(&m->kernels.name, s->row);
    return id < m->tables[NAI_IN_KERNELS]->strings.count ? &tl->kernel_name[id] : NULL;
  }
  case NAI_LANE_NVTX:
  case NAI_LANE_NVTX_ASYNC:
    return &tl->range_name[nai_at_text(&m->nvtx.name, s->row)];
  case NAI_LANE_API:
    return &tl->api_name[nai_at_text(&m->apis.name, s->row)];
  case NAI_LANE_COPY:
  case NAI_LANE_SET:
  case NAI_LANE_GRAPH:
    break;
  }
  return NULL;
}

void nai_labels_name(struct nai_timeline *tl, struct nai_track_slice *s) {
  static const char *const categories[] = {
      [NAI_LANE_API] = "cuda_api",   [NAI_LANE_KERNEL] = "other", [NAI_LANE_COPY] = "memcpy",
      [NAI_LANE_SET] = "memset",     [NAI_LANE_GRAPH] = "graph",  [NAI_LANE_NVTX] = "nvtx",
      [NAI_LANE_NVTX_ASYNC] = "nvtx"};
  const struct nai_model *m = tl->m;
  char room[NAI_KIND_NAME_MAX];
  uint32_t *slot = slot_of(tl, s), fresh = 0;
  const char *name = nai_lane_event_name(room, m, s->kind, s->row), *category = categories[s->kind];
  if (s->kind == NAI_LANE_KERNEL && slot) {
    ptrdiff_t id = slot - tl->kernel_name;
    name = tl->options->full_names ? name : tl->short_names[id];
    category = nai_kernel_classes_name(m->classes, m->kernel_category[id]);
  }
  s->name = once(tl, &tl->names, slot ? slot : &fresh, name);
  s->category = nai_labels_add(tl, &tl->categories, category);
}

/* --- facts ------------------------------------------------------------------------------------------- */

struct args {
  struct nai_arg *v;
  int count;
  struct nai_timeline *tl;
};

static void add_int(struct args *a, enum nai_arg_key key, int64_t value) {
  if (value != NAI_NULL_I64 && value != NAI_NULL_I32)
    a->v[a->count++] = (struct nai_arg){.key = key, .type = NAI_ARG_INT, .i = value};
}

static void add_text(struct args *a, enum nai_arg_key key, uint32_t id) {
  a->v[a->count++] = (struct nai_arg){.key = key, .type = NAI_ARG_TEXT, .i = id};
}

/* "132x1x1" of the three columns of a configuration from `column` on. */
static void add_extent(struct args *a, enum nai_arg_key key, uint32_t *slot, int32_t config, int column) {
  const struct nai_table *t = a->tl->m->tables[NAI_IN_KERNEL_CONFIGS];
  char text[96] = "";
  if (!*slot && nai_get_i64(t, config, column) == NAI_NULL_I64)
    return;
  if (!*slot)
    snprintf(text, sizeof text, "%lldx%lldx%lld", (long long)nai_get_i64(t, config, column),
             (long long)nai_get_i64(t, config, column + 1), (long long)nai_get_i64(t, config, column + 2));
  add_text(a, key, once(a->tl, &a->tl->values, slot, text));
}

static void add_config(struct args *a, int32_t config) {
  const struct nai_table *t = a->tl->m->tables[NAI_IN_KERNEL_CONFIGS];
  if (config < 0 || config >= t->rows)
    return;
  add_extent(a, NAI_ARG_GRID, &a->tl->grid[config], config, KERNEL_CONFIGS_grid_x);
  add_extent(a, NAI_ARG_BLOCK, &a->tl->block[config], config, KERNEL_CONFIGS_block_x);
  add_int(a, NAI_ARG_REGISTERS, nai_get_i64(t, config, KERNEL_CONFIGS_registers_per_thread));
  add_int(a, NAI_ARG_STATIC_SHARED, nai_get_i64(t, config, KERNEL_CONFIGS_static_shared_bytes));
  add_int(a, NAI_ARG_DYNAMIC_SHARED, nai_get_i64(t, config, KERNEL_CONFIGS_dynamic_shared_bytes));
}

static void add_site(struct args *a, enum nai_arg_key key, uint32_t stack) {
  const struct nai_call_stacks *s = &a->tl->stacks;
  uint32_t site = s->stacks[stack].site;
  if (site)
    add_text(a, key, once(a->tl, &a->tl->values, &a->tl->site_value[site], s->sites[site].label));
}

/* Of the call that made an operation. */
static void add_source(struct args *a, int32_t process, int64_t node, bool graph, uint32_t launch) {
  struct nai_call_source source = nai_call_source_of(&a->tl->stacks, &a->tl->nodes, process, node, launch);
  bool replayed = graph || (node != NAI_NULL_I64 && node);
  add_site(a, replayed && !source.captured ? NAI_ARG_GRAPH_SITE : NAI_ARG_SITE, source.stack);
}

/* The same columns of each table of operations. */
struct place {
  const struct nai_column *start, *device, *context, *stream, *correlation, *graph, *process, *node;
  const uint32_t *call;
};

static void add_place(struct args *a, const struct nai_track_slice *s, const struct place *at) {
  const struct nai_model *m = a->tl->m;
  uint32_t call = at->call[s->row];
  add_int(a, NAI_ARG_DEVICE, nai_at(at->device, s->row));
  add_int(a, NAI_ARG_CONTEXT, nai_at(at->context, s->row));
  add_int(a, NAI_ARG_STREAM, nai_at(at->stream, s->row));
  if (s->call == NAI_NO_ROW) /* else it stands at the other end of the arrow: a tenth of a file's bytes */
    add_int(a, NAI_ARG_CORRELATION, nai_at(at->correlation, s->row));
  if (at->graph && nai_at(at->graph, s->row) > 0)
    add_int(a, NAI_ARG_GRAPH, nai_at(at->graph, s->row));
  if (call != NAI_NO_ROW)
    add_int(a, NAI_ARG_LATENCY, nai_at(at->start, s->row) - nai_at(&m->apis.start_ns, call));
  if (a->tl->stacks.m)
    add_source(a, nai_at_i32(at->process, s->row), at->node ? nai_at(at->node, s->row) : NAI_NULL_I64,
               s->kind == NAI_LANE_GRAPH, call);
}

static void add_kind(struct args *a, enum nai_arg_key key, int32_t kind) {
  char room[NAI_KIND_NAME_MAX];
  if (kind != NAI_NULL_I32)
    add_text(a, key,
             nai_labels_add(a->tl, &a->tl->values, nai_model_kind_name(room, a->tl->m, NAI_LABEL_MEMORY, kind)));
}

static void add_copy(struct args *a, const struct nai_track_slice *s) {
  const struct MEMOP_EVENTS_columns *v = &a->tl->m->memops;
  int64_t bytes = nai_at(&v->bytes, s->row), ns = nai_at(&v->end_ns, s->row) - nai_at(&v->start_ns, s->row);
  add_int(a, NAI_ARG_BYTES, bytes);
  if (bytes >= 0 && ns > 0 && nai_memop_rate_is_possible(a->tl->m, s->row))
    a->v[a->count++] = (struct nai_arg){.key = NAI_ARG_RATE, .type = NAI_ARG_REAL, .f = (double)bytes / (double)ns};
  if (s->kind == NAI_LANE_COPY)
    add_kind(a, NAI_ARG_SOURCE, nai_at_i32(&v->src_kind, s->row));
  add_kind(a, NAI_ARG_TARGET, nai_at_i32(&v->dst_kind, s->row));
}

static void add_call(struct args *a, const struct nai_track_slice *s) {
  static const char *const classes[] = {[NAI_API_ORDERING] = "ordering",
                                        [NAI_API_POLL] = "poll",
                                        [NAI_API_ALLOCATION] = "allocation",
                                        [NAI_API_MODULE] = "module"};
  const struct nai_model *m = a->tl->m;
  uint8_t class = m->api_class[nai_at_text(&m->apis.name, s->row)];
  const char *text = nai_model_api_blocks(m, s->row)          ? "blocking"
                   : class < sizeof classes / sizeof *classes ? classes[class]
                                                              : NULL;
  add_int(a, NAI_ARG_CORRELATION, nai_at(&m->apis.correlation_id, s->row));
  if (a->tl->stacks.m)
    add_site(a, NAI_ARG_SITE, a->tl->stacks.stack_of[s->row]);
  if (text)
    add_text(a, NAI_ARG_CLASS, nai_labels_add(a->tl, &a->tl->values, text));
}

const struct nai_export_collective *nai_labels_collective(const struct nai_timeline *tl,
                                                          const struct nai_track_slice *s) {
  const struct nai_export_place *place = tl->options->place;
  const struct KERNEL_EVENTS_columns *k = &tl->m->kernels;
  if (!place || s->bare || s->kind != NAI_LANE_KERNEL)
    return NULL;
  uint32_t found = nai_keyset_find(place->kernels,
                                   nai_export_kernel_key(nai_at(&k->start_ns, s->row), nai_at(&k->device_id, s->row)));
  return found == UINT32_MAX || place->collectives[found].end != nai_at(&k->end_ns, s->row)
           ? NULL
           : &place->collectives[found];
}

static void add_collective(struct args *a, const struct nai_track_slice *s) {
  const struct nai_export_collective *c = nai_labels_collective(a->tl, s);
  if (c && c->wait_ns >= 0)
    add_int(a, NAI_ARG_WAIT, c->wait_ns);
  if (c && c->last_rank)
    add_text(a, NAI_ARG_LAST_RANK, nai_labels_add(a->tl, &a->tl->values, c->last_rank));
}

int nai_labels_args(struct nai_arg args[NAI_MAX_ARGS], struct nai_timeline *tl, const struct nai_track_slice *s) {
  const struct nai_model *m = tl->m;
  const struct KERNEL_EVENTS_columns *k = &m->kernels;
  const struct MEMOP_EVENTS_columns *c = &m->memops;
  const struct GRAPH_EVENTS_columns *g = &m->graphs;
  const struct place kernel = {&k->start_ns, &k->device_id, &k->context_id,    &k->stream_id, &k->correlation_id,
                               &k->graph_id, &k->process,   &k->graph_node_id, m->kernel_api};
  const struct place memop = {&c->start_ns, &c->device_id, &c->context_id,    &c->stream_id, &c->correlation_id,
                              NULL,         &c->process,   &c->graph_node_id, m->memop_api};
  const struct place graph = {&g->start_ns, &g->device_id, &g->context_id, &g->stream_id, &g->correlation_id,
                              &g->graph_id, &g->process,   NULL,           m->graph_api};
  struct args a = {args, 0, tl};
  if (s->bare)
    return 0;
  switch (s->kind) {
  case NAI_LANE_KERNEL: {
    uint32_t name = nai_at_text(&k->name, s->row);
    if (name < m->tables[NAI_IN_KERNELS]->strings.count)
      add_text(&a, NAI_ARG_KERNEL, once(tl, &tl->values, &tl->kernel_value[name], nai_model_kernel_name(m, s->row)));
    add_config(&a, nai_at_i32(&k->config, s->row));
    add_place(&a, s, &kernel);
    add_collective(&a, s);
    break;
  }
  case NAI_LANE_COPY:
  case NAI_LANE_SET:
    add_copy(&a, s);
    add_place(&a, s, &memop);
    break;
  case NAI_LANE_GRAPH:
    add_place(&a, s, &graph);
    break;
  case NAI_LANE_API:
    add_call(&a, s);
    break;
  case NAI_LANE_NVTX:
  case NAI_LANE_NVTX_ASYNC:
    if (nai_model_export_row(m, s->row) != NAI_NULL_I64)
      add_int(&a, NAI_ARG_EXPORT_ROW, nai_model_export_row(m, s->row));
    break;
  }
  return a.count;
}
