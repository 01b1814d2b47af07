/* NCCL's own NVTX ranges: which collectives a thread called, in which groups, and what their payloads say. */
#include "model/comm/comm_build.h"

#include "base/sort.h"
#include "tables/nvtx_domains.h"
#include "tables/nvtx_dynamic_payloads.h"
#include "tables/nvtx_payloads.h"

/* --- names ------------------------------------------------------------------------------------ */

struct call_name {
  const char *name, *op;
  enum nai_comm_call_kind kind;
};
static const struct call_name known[] = {
    {"ncclAllReduce", "AllReduce", NAI_COMM_COLLECTIVE},
    {"ncclAllGather", "AllGather", NAI_COMM_COLLECTIVE},
    {"ncclReduceScatter", "ReduceScatter", NAI_COMM_COLLECTIVE},
    {"ncclBroadcast", "Broadcast", NAI_COMM_COLLECTIVE},
    {"ncclBcast", "Broadcast", NAI_COMM_COLLECTIVE},
    {"ncclReduce", "Reduce", NAI_COMM_COLLECTIVE},
    {"ncclAlltoAll", "AllToAll", NAI_COMM_COLLECTIVE},
    {"ncclAllToAll", "AllToAll", NAI_COMM_COLLECTIVE},
    {"ncclGather", "Gather", NAI_COMM_COLLECTIVE},
    {"ncclScatter", "Scatter", NAI_COMM_COLLECTIVE},
    {"ncclSend", "Send", NAI_COMM_COLLECTIVE},
    {"ncclRecv", "Recv", NAI_COMM_COLLECTIVE},
    {"ncclPutSignal", "Put", NAI_COMM_COLLECTIVE},
    {"ncclSignal", "Signal", NAI_COMM_COLLECTIVE},
    {"ncclWaitSignal", "WaitSignal", NAI_COMM_COLLECTIVE},
    {"ncclGroupStart", NULL, NAI_COMM_GROUP_START},
    {"ncclGroupEnd", NULL, NAI_COMM_GROUP_END},
    {"ncclCommInitRank", NULL, NAI_COMM_INIT},
    {"ncclCommInitAll", NULL, NAI_COMM_INIT},
    {"ncclCommInitRankConfig", NULL, NAI_COMM_INIT},
    {"ncclCommInitRankScalable", NULL, NAI_COMM_INIT},
    {"ncclCommSplit", NULL, NAI_COMM_INIT},
    {"ncclCommShrink", NULL, NAI_COMM_INIT},
    {"ncclCommGrow", NULL, NAI_COMM_INIT},
    {"API Group", NULL, NAI_COMM_ADVANCED},
    {"GroupLaunch", NULL, NAI_COMM_ADVANCED},
    {"GroupRuntime", NULL, NAI_COMM_ADVANCED},
    {"KernelLaunch", NULL, NAI_COMM_ADVANCED},
};

/* What a range of nsys -t nccl tells, whose names lack the "nccl" of the functions: an operation, or NULL. */
static const char *advanced_op(const char *name) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].kind == NAI_COMM_COLLECTIVE && strcmp(known[i].name + strlen("nccl"), name) == 0)
      return known[i].op;
  return NULL;
}

static const struct call_name *find_name(const char *name) {
  bool possible = strchr("nAGK", *name) && *name;
  for (size_t i = 0; possible && i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].name, name) == 0)
      return &known[i];
  return NULL;
}

/* --- payloads --------------------------------------------------------------------------------- */

/* Rows of a table of payloads by row of the export. */
struct by_row {
  const struct nai_table *table;
  struct nai_key *keys;
  size_t count;
};

struct reader {
  struct nai_model *m;
  const struct call_name **names; /* by string of nvtx_events; NULL for other names */
  struct nai_payload_schemas *schemas;
  struct by_row attached; /* nvtx_payloads */
  struct by_row dynamic;  /* nvtx_dynamic_payloads */
};

static int sort_payloads(struct by_row *rows, const struct nai_table *t, int column, struct nai_arena *arena,
                         struct nai_err *err) {
  rows->table = t;
  if (!t || !t->rows)
    return NAI_OK;
  const struct nai_column row = nai_table_column(t, column);
  NAI_TRY(NAI_NEW(rows->keys, arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++)
    rows->keys[rows->count++] = (struct nai_key){nai_key_from_i64(nai_at(&row, (uint64_t)i)), (uint32_t)i};
  return nai_sort_keys(rows->keys, rows->count, err);
}

/* Rows of a range's payloads: keys *first to *end - 1. */
static void payloads_of(size_t *first, size_t *end, const struct by_row *rows, const struct reader *r, uint32_t range) {
  const int64_t row = nai_model_export_row(r->m, range);
  *first = *end = 0;
  if (!rows->count || row == NAI_NULL_I64)
    return;
  uint64_t key = nai_key_from_i64(row);
  *first = *end = nai_keys_from(rows->keys, rows->count, key);
  while (*end < rows->count && rows->keys[*end].key == key)
    ++*end;
}

/* Row of a range's domain, -1 unknown. */
static int64_t domain_of(const struct nai_model *m, uint32_t range) {
  const struct nai_table *domains = m->tables[NAI_IN_NVTX_DOMAINS];
  int64_t row = nai_at(&m->nvtx.domain, range);
  return domains && row >= 0 && row < domains->rows ? row : -1;
}

static int64_t domain_id(const struct nai_model *m, uint32_t range) {
  int64_t row = domain_of(m, range);
  return row < 0 ? NAI_NULL_I64 : nai_get_i64(m->tables[NAI_IN_NVTX_DOMAINS], row, NVTX_DOMAINS_domain_id);
}

/* What the exporter has read: several payloads of a range add to each other. */
static bool read_dynamic(struct reader *r, struct nai_comm_call *call, uint32_t range) {
  size_t first, end;
  payloads_of(&first, &end, &r->dynamic, r, range);
  for (size_t i = first; i < end; i++) {
    struct NVTX_DYNAMIC_PAYLOADS_row row = NVTX_DYNAMIC_PAYLOADS_at(r->dynamic.table, r->dynamic.keys[i].value);
    struct nai_payload one;
    r->m->comm->payloads[nai_payload_read_fields(&one, r->schemas, row.domain_id, row.schema_id, row.json,
                                                 strlen(row.json))]++;
    nai_payload_add(&call->payload, &one);
  }
  call->redop = first < end ? nai_payload_redop(&call->payload, r->schemas, domain_id(r->m, range)) : NULL;
  return first < end;
}

static void read_attached(struct reader *r, struct nai_comm_call *call, uint32_t range) {
  size_t first, end;
  payloads_of(&first, &end, &r->attached, r, range);
  if (first == end)
    return;
  const struct nai_table *t = r->attached.table;
  int64_t row = r->attached.keys[first].value, kind = nai_get_i64(t, row, NVTX_PAYLOADS_kind);
  enum nai_payload_verdict verdict = NAI_PAYLOAD_BAD_HEADER;
  if (kind == NAI_PAYLOAD_BLOB) {
    const char *hex = nai_get_str(t, row, NVTX_PAYLOADS_blob);
    verdict = nai_payload_read_hex(&call->payload, r->schemas, domain_id(r->m, range), hex, strlen(hex));
    call->redop = nai_payload_redop(&call->payload, r->schemas, domain_id(r->m, range));
  } else if (kind == NAI_PAYLOAD_JSON) {
    const char *json = nai_get_str(t, row, NVTX_PAYLOADS_json);
    verdict = nai_payload_read_json(&call->payload, json, strlen(json));
  } else {
    return; /* a number, which NCCL does not attach */
  }
  r->m->comm->payloads[verdict]++;
}

/* --- calls of a thread ------------------------------------------------------------------------ */

static const char *domain_name(const struct nai_model *m, uint32_t range) {
  int64_t row = domain_of(m, range);
  return row < 0 ? "" : nai_get_str(m->tables[NAI_IN_NVTX_DOMAINS], row, NVTX_DOMAINS_name);
}

bool nai_comm_is_nccls(const struct nai_model *m, uint32_t range) { return strcmp(domain_name(m, range), "NCCL") == 0; }

/* A trace may not name its domains; the names of functions then have to do. */
static bool is_function(const struct nai_model *m, uint32_t range) {
  return !*domain_name(m, range) || nai_comm_is_nccls(m, range);
}

static int keep_init(struct nai_model *m, uint32_t thread, const struct nai_comm_call *call, struct nai_err *err) {
  struct nai_comm *c = m->comm;
  NAI_TRY(NAI_ROOM(c->inits, c->init_capacity, c->init_count, &m->arena, err));
  c->inits[c->init_count++] = (struct nai_comm_init){call->start, call->end, m->thread_process[thread], call->payload};
  return NAI_OK;
}

/* Of a thread's calls so far: when the last one ends, the groups that are open, and the first call in them. */
struct so_far {
  int64_t until;
  uint32_t depth, first;
};

static int read_call(struct so_far *at, struct reader *r, uint32_t thread, uint32_t range, const struct call_name *name,
                     struct nai_err *err) {
  struct nai_model *m = r->m;
  struct nai_comm_calls *calls = &m->work->comm_calls[thread];
  NAI_TRY(NAI_ROOM(calls->v, calls->capacity, calls->count, &m->work->arenas[NAI_PART_COMM], err));
  struct nai_comm_call *call = &calls->v[calls->count++];
  *call = (struct nai_comm_call){.start = nai_val(&m->nvtx.start_ns, range),
                                 .end = nai_val(&m->nvtx.end_ns, range),
                                 .op = name->op,
                                 .kind = (uint8_t)name->kind};
  at->until = call->end;
  if (!read_dynamic(r, call, range))
    read_attached(r, call, range);
  if (name->kind == NAI_COMM_GROUP_START && at->depth++ == 0)
    at->first = calls->count;
  /* The end of a group that began before the capture: what was in it is not known. */
  if (name->kind == NAI_COMM_GROUP_END && at->depth > 0 && --at->depth == 0)
    call->in_group = calls->count - 1 - at->first;
  return name->kind == NAI_COMM_INIT ? keep_init(m, thread, call, err) : NAI_OK;
}

static int read_thread(struct reader *r, uint32_t thread, struct nai_err *err) {
  struct nai_model *m = r->m;
  const struct nai_groups *g = &m->nvtx_by_thread;
  struct so_far at = {.until = INT64_MIN};
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++) {
    uint32_t range = g->order[i];
    const struct call_name *name = r->names[nai_val_text(&m->nvtx.name, range)];
    if (name && name->kind == NAI_COMM_ADVANCED)
      m->comm->advanced |= nai_comm_is_nccls(m, range);
    else if (name && nai_val(&m->nvtx.start_ns, range) >= at.until && is_function(m, range))
      NAI_TRY(read_call(&at, r, thread, range, name, err));
  }
  return NAI_OK;
}

/* --- nsys -t nccl ----------------------------------------------------------------------------------- */

/* A call, or a launch of the calls of a group, perhaps by another thread; or what a channel of the GPU did of a call.
 */
enum what { CALL, KERNEL_LAUNCH, GROUP_LAUNCH, ON_GPU };
struct grouped {
  enum what what;
  uint32_t thread;
  int64_t process, group, id; /* id: of a call, NAI_NULL_I64 unknown */
  struct nai_comm_call call;
  uint32_t first, count; /* of a launch: its calls */
};
struct grouped_list {
  struct grouped *v;
  uint32_t count, capacity;
};

NAI_ORDER(by_group, struct grouped, {a->process, b->process}, {a->group, b->group}, {(int)a->what, (int)b->what},
          {a->id, b->id}, {a->call.start, b->call.start}, {b->call.end, a->call.end}, {a->thread, b->thread})
NAI_ORDER(by_thread, struct grouped, {a->thread, b->thread}, {a->call.start, b->call.start}, {b->call.end, a->call.end},
          {a->group, b->group})

static int read_grouped(struct grouped_list *list, struct reader *r, uint32_t range, struct nai_err *err) {
  struct nai_model *m = r->m;
  const char *name = nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, nai_val_text(&m->nvtx.name, range));
  const char *op = advanced_op(name);
  bool init = strcmp(name, "CommInit") == 0, kernel = strcmp(name, "KernelLaunch") == 0;
  int32_t thread = nai_val_i32(&m->nvtx.thread, range);
  if ((!op && !init && !kernel && strcmp(name, "GroupLaunch") != 0) || thread < 0 || !nai_comm_is_nccls(m, range))
    return NAI_OK;
  struct nai_comm_call call = {.start = nai_val(&m->nvtx.start_ns, range),
                               .end = nai_val(&m->nvtx.end_ns, range),
                               .op = op,
                               .category = nai_at(&m->nvtx.category, range)};
  const struct nai_payload *p = &call.payload;
  int64_t before = m->comm->payloads[NAI_PAYLOAD_READ];
  if (!read_dynamic(r, &call, range))
    read_attached(r, &call, range);
  if (init)
    return keep_init(m, (uint32_t)thread, &call, err);
  bool grouped = nai_payload_has(p, NAI_PAYLOAD_GROUP) && (!op || nai_payload_has(p, NAI_PAYLOAD_COMM));
  if (!grouped && m->comm->payloads[NAI_PAYLOAD_READ] > before &&
      !(op && nai_payload_has(p, NAI_PAYLOAD_COMM) && nai_payload_has(p, NAI_PAYLOAD_CALL))) {
    m->comm->payloads[NAI_PAYLOAD_READ]--;
    m->comm->payloads[NAI_PAYLOAD_NO_GROUP]++;
  }
  bool on_gpu = !grouped && op && nai_payload_has(p, NAI_PAYLOAD_COMM) && nai_payload_has(p, NAI_PAYLOAD_CALL);
  if (!grouped && !on_gpu)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(list->v, list->capacity, list->count, &m->work->arenas[NAI_PART_COMM], err));
  list->v[list->count++] =
      (struct grouped){.what = on_gpu ? ON_GPU
                             : op     ? CALL
                             : kernel ? KERNEL_LAUNCH
                                      : GROUP_LAUNCH,
                       .thread = (uint32_t)thread,
                       .process = m->thread_process[thread],
                       .group = on_gpu ? INT64_MIN : p->value[NAI_PAYLOAD_GROUP],
                       .id = nai_payload_has(p, NAI_PAYLOAD_CALL) ? p->value[NAI_PAYLOAD_CALL] : NAI_NULL_I64,
                       .call = call};
  return NAI_OK;
}

static bool same_call(const struct grouped *a, const struct grouped *b) {
  return a->what == CALL && b->what == CALL && a->id != NAI_NULL_I64 && a->id == b->id && a->call.op == b->call.op;
}

/* Those on the GPU, which lie before the groups of their process, become one per call; and each call takes its own. */
NAI_ORDER(by_call, struct grouped, {a->process, b->process}, {a->id, b->id},
          {a->call.payload.value[NAI_PAYLOAD_COMM], b->call.payload.value[NAI_PAYLOAD_COMM]},
          {a->call.payload.value[NAI_PAYLOAD_RANK], b->call.payload.value[NAI_PAYLOAD_RANK]},
          {strcmp(a->call.op ? a->call.op : "", b->call.op ? b->call.op : ""), 0},
          {(int)(a->what != ON_GPU), (int)(b->what != ON_GPU)})
static void join_gpu(struct grouped *v, uint32_t count) {
  struct grouped *own = NULL;
  qsort(v, count, sizeof *v, by_call);
  for (uint32_t i = 0; i < count; i++) {
    bool same = own && own->process == v[i].process && own->id == v[i].id && own->call.op == v[i].call.op &&
                nai_payload_same(&own->call.payload, &v[i].call.payload, NAI_PAYLOAD_COMM) &&
                nai_payload_same(&own->call.payload, &v[i].call.payload, NAI_PAYLOAD_RANK);
    if (v[i].what == ON_GPU) {
      own = same ? own : &v[i];
      struct nai_comm_call *all = &own->call;
      all->on_gpu.start = all->channels && all->on_gpu.start < v[i].call.start ? all->on_gpu.start : v[i].call.start;
      all->on_gpu.end = all->on_gpu.end > v[i].call.end ? all->on_gpu.end : v[i].call.end;
      all->channels++;
    } else if (v[i].what == CALL && same) {
      v[i].call.on_gpu = own->call.on_gpu;
      v[i].call.channels = own->call.channels;
    }
  }
}

/* Of one group: its calls, each once, come first; then the launches that they belong to, which go to *launches.
 * Several launches share the calls, as several kernels of one group do. */
static void join_group(struct grouped *v, uint32_t first, uint32_t end, struct grouped_list *launches) {
  uint32_t calls = first, kernels = 0;
  for (uint32_t i = first; i < end; i++) {
    kernels += v[i].what == KERNEL_LAUNCH;
    if (v[i].what == CALL && (calls == first || !same_call(&v[calls - 1], &v[i])))
      v[calls++] = v[i];
  }
  uint32_t mine = launches->count;
  for (uint32_t i = calls; i < end && calls > first; i++)
    if (v[i].what == (kernels ? KERNEL_LAUNCH : GROUP_LAUNCH)) {
      launches->v[launches->count] = v[i];
      launches->v[launches->count].first = first;
      launches->v[launches->count++].count = calls - first;
    }
  for (uint32_t i = mine; i < launches->count; i++)
    launches->v[i].call.kernels = launches->count - mine - 1;
}

/* The calls of a launch, as if they had been made when it began: a thread's calls do not overlap. */
static int put_launch(struct nai_model *m, const struct grouped *all, const struct grouped *launch,
                      struct nai_err *err) {
  struct nai_comm_calls *calls = &m->work->comm_calls[launch->thread];
  for (uint32_t i = 0; i <= launch->count; i++) {
    bool last = i == launch->count, one = launch->count == 1;
    if (one && last)
      break;
    NAI_TRY(NAI_ROOM(calls->v, calls->capacity, calls->count, &m->work->arenas[NAI_PART_COMM], err));
    struct nai_comm_call *call = &calls->v[calls->count++];
    *call = last ? launch->call : all[launch->first + i].call;
    call->kind = last ? NAI_COMM_GROUP_END : NAI_COMM_COLLECTIVE;
    call->start = launch->call.start;
    call->end = last || one ? launch->call.end : launch->call.start;
    call->kernels = launch->call.kernels;
    call->in_group = last ? launch->count : 0;
  }
  return NAI_OK;
}

static int read_advanced(struct reader *r, struct nai_err *err) {
  struct nai_model *m = r->m;
  struct grouped_list all = {0}, launches = {0};
  for (uint32_t i = 0; i < m->nvtx.n; i++)
    NAI_TRY(read_grouped(&all, r, i, err));
  if (!all.count)
    return NAI_OK;
  NAI_TRY(NAI_NEW(launches.v, &m->work->arenas[NAI_PART_COMM], all.count, err));
  join_gpu(all.v, all.count);
  qsort(all.v, all.count, sizeof *all.v, by_group);
  for (uint32_t i = 0, j; i < all.count; i = j) {
    for (j = i + 1; j < all.count && all.v[i].process == all.v[j].process && all.v[i].group == all.v[j].group; j++)
      ;
    join_group(all.v, i, j, &launches);
  }
  qsort(launches.v, launches.count, sizeof *launches.v, by_thread);
  int64_t until = INT64_MIN;
  for (uint32_t i = 0; i < launches.count; i++) {
    const struct grouped *launch = &launches.v[i];
    if (!i || launches.v[i - 1].thread != launch->thread) /* a thread's calls in the other form tell the same */
      until = m->work->comm_calls[launch->thread].count ? INT64_MAX : INT64_MIN;
    if (launch->call.start < until)
      continue;
    until = launch->call.end;
    NAI_TRY(put_launch(m, all.v, launch, err));
  }
  return NAI_OK;
}

static int open_reader(struct reader *r, struct nai_err *err) {
  struct nai_model *m = r->m;
  struct nai_arena *work = &m->work->arenas[NAI_PART_COMM];
  const struct nai_strings *strings = &m->tables[NAI_IN_NVTX]->strings;
  NAI_TRY(NAI_NEW(r->names, work, strings->count, err));
  for (uint32_t i = 0; i < strings->count; i++)
    r->names[i] = find_name(nai_strings_get(strings, i));
  NAI_TRY(sort_payloads(&r->attached, m->tables[NAI_IN_NVTX_PAYLOADS], NVTX_PAYLOADS_export_row, work, err));
  return sort_payloads(&r->dynamic, m->tables[NAI_IN_DYNAMIC_PAYLOADS], NVTX_DYNAMIC_PAYLOADS_export_row, work, err);
}

int nai_comm_read_calls(struct nai_model *m, struct nai_err *err) {
  NAI_OWNED(nai_payload_schemas) *schemas = NULL;
  NAI_TRY(NAI_NEW(m->work->comm_calls, &m->work->arenas[NAI_PART_COMM], m->thread_count, err));
  if (!m->nvtx.n)
    return NAI_OK;
  NAI_TRY(nai_payload_schemas_new(&schemas, m->tables[NAI_IN_PAYLOAD_SCHEMAS], m->tables[NAI_IN_PAYLOAD_ENTRIES],
                                  m->tables[NAI_IN_PAYLOAD_ENUMS], err));
  struct reader r = {.m = m, .schemas = schemas};
  NAI_TRY(open_reader(&r, err));
  for (uint32_t t = 0; t < m->thread_count; t++)
    NAI_TRY(read_thread(&r, t, err));
  return m->comm->advanced ? read_advanced(&r, err) : NAI_OK;
}
