/* Events as columns of variable-length numbers (docs/viewer.md, "Data blocks"). */
#include "viewer/encoder.h"

static uint32_t add_name(struct nai_encoder *e, uint32_t *slot, const char *text, int category, bool kernel) {
  struct nai_page_names *names = &e->names;
  struct nai_err ignored;
  if (NAI_ROOM(names->list, names->capacity, names->count, &e->arena, &ignored)) {
    e->arena.oom = true;
    return 0;
  }
  names->list[names->count] = (struct nai_page_name){text, category, kernel, 0};
  *slot = ++names->count;
  return *slot - 1;
}

/* The number of the name that a slot is for; its text is asked for where the name has none yet. */
#define NUMBER_OF(e, slot, text, category, kernel) \
  (*(slot) ? *(slot)-1 : add_name((e), (slot), (text), (category), (kernel)))

/* --- numbers ---------------------------------------------------------------------------------- */

static uint64_t zigzag(int64_t v) { return (uint64_t)v << 1 ^ (uint64_t)(v >> 63); }

/* The numbers of some events, column by column. */
enum { BLOCK_EVENTS = 256 };
struct block {
  uint64_t of[COLUMNS][BLOCK_EVENTS];
  uint32_t count;
};

static void put_block(struct nai_encoder *e, struct block *block) {
  for (int c = 0; c < COLUMNS; c++)
    if (nai_encoder_has(e, c))
      nai_buf_put_varints(&e->columns[c].text, block->of[c], block->count);
  block->count = 0;
}

/* An event of a block that has room. The other columns are the caller's. */
static uint32_t add_event(struct nai_encoder *e, struct block *block, const struct nai_item *item, int64_t last_start) {
  uint32_t at = block->count++;
  block->of[START][at] = (uint64_t)(item->start - last_start);
  block->of[DURATION][at] = (uint64_t)(item->end - item->start);
  block->of[COUNT][at] = item->count;
  e->events++;
  return at;
}

static void add_links(struct nai_encoder *e, struct block *block, uint32_t at, int64_t link, int64_t correlation) {
  block->of[LINK][at] = zigzag(link - e->last_link);
  block->of[CORRELATION][at] = zigzag(correlation - e->last_correlation);
  e->last_link = link;
  e->last_correlation = correlation;
}

/* --- events ----------------------------------------------------------------------------------- */

/* What an event's columns hold beside its times. */
struct facts {
  uint32_t name, api; /* api: launching call, NAI_NO_ROW for none */
  int64_t correlation;
  uint64_t aux;
};

static uint32_t direction_name(struct nai_encoder *e, const char *text) {
  struct nai_page_names *names = &e->names;
  for (uint32_t i = 0; i < MAX_DIRECTIONS; i++) {
    if (names->directions[i] && strcmp(names->directions[i], text) != 0)
      continue;
    if (!names->directions[i])
      names->directions[i] = nai_arena_printf(&e->arena, "%s", text);
    return NUMBER_OF(e, &names->of_direction[i], names->directions[i], -1, false);
  }
  return 0;
}

/* What a copy or set is called. */
static uint32_t memop_name(struct nai_encoder *e, uint32_t row) {
  struct nai_page_names *names = &e->names;
  char room[NAI_KIND_NAME_MAX];
  if (nai_val_i32(&e->m->memops.kind, row) == NAI_MEMOP_SET)
    return direction_name(e, nai_model_direction(room, e->m, row));
  int32_t kind = nai_at_i32(&e->m->memops.copy_kind, row);
  if (!names->last_copy || names->last_copy_kind != kind) {
    names->last_copy = direction_name(e, nai_model_direction(room, e->m, row)) + 1;
    names->last_copy_kind = kind;
  }
  return names->last_copy - 1;
}

static uint64_t memory_of(struct nai_page_memory *memory, int32_t from, int32_t to) {
  uint32_t at = 0;
  while (at < memory->count && (memory->list[at].from != from || memory->list[at].to != to))
    at++;
  if (at == memory->count && memory->count < NAI_PAGE_MEMORY_KINDS - 1)
    memory->list[memory->count++] = (struct nai_page_memory_kind){from, to};
  return at;
}

/* Its size, and what memory that is in. */
static uint64_t memop_aux(struct nai_encoder *e, uint32_t row) {
  enum { MOST_BITS = 48 }; /* of a size: more than any memory has, and the page's numbers stay below 2^53 */
  const struct MEMOP_EVENTS_columns *v = &e->m->memops;
  const uint64_t bytes = (uint64_t)nai_val(&v->bytes, row), most = UINT64_C(1) << MOST_BITS;
  return (bytes < most ? bytes : most) << NAI_PAGE_MEMORY_BITS |
         memory_of(&e->memory, nai_at_i32(&v->src_kind, row), nai_at_i32(&v->dst_kind, row));
}

static uint64_t api_aux(const struct nai_encoder *e, uint32_t api) {
  enum { BLOCKS = 1, ORDERS = 2, LAUNCHES = 4, WAIT_SHIFT = 3 };
  const struct nai_model *m = e->m;
  const enum nai_api_class c = m->api_class[nai_val_text(&m->apis.name, api)];
  uint64_t aux = e->waits.of ? (uint64_t)e->waits.of[api] << WAIT_SHIFT : 0;
  aux |= e->launches[api] ? LAUNCHES : 0;
  if (nai_model_api_blocks(m, api))
    return aux | BLOCKS;
  return aux | (c == NAI_API_ORDERING || c == NAI_API_POLL ? ORDERS : 0);
}

static inline uint32_t number_named(struct nai_encoder *e, enum nai_lane_kind kind, uint32_t id) {
  const struct nai_model *m = e->m;
  switch (kind) {
  case NAI_LANE_KERNEL:
    return NUMBER_OF(e, &e->names.of_kernel[id], nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, id),
                     m->kernel_category[id], true);
  case NAI_LANE_API:
    return NUMBER_OF(e, &e->names.of_api[id], nai_strings_get(&m->tables[NAI_IN_APIS]->strings, id), -1, false);
  default:
    return NUMBER_OF(e, &e->names.of_range[id], nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, id), -1, false);
  }
}

static inline struct facts facts_of(struct nai_encoder *e, enum nai_lane_kind kind, uint32_t row) {
  const struct nai_model *m = e->m;
  struct facts f = {.api = NAI_NO_ROW};
  switch (kind) {
  case NAI_LANE_KERNEL:
    f.name = number_named(e, kind, nai_val_text(&m->kernels.name, row));
    f.correlation = nai_at(&m->kernels.correlation_id, row);
    f.aux = (uint64_t)nai_val_i32(&m->kernels.config, row) + 1;
    f.api = m->kernel_api[row];
    break;
  case NAI_LANE_COPY:
  case NAI_LANE_SET:
    f.name = memop_name(e, row);
    f.correlation = nai_at(&m->memops.correlation_id, row);
    f.aux = memop_aux(e, row);
    f.api = m->memop_api[row];
    break;
  case NAI_LANE_GRAPH: {
    int32_t graph = nai_at_i32(&m->graphs.graph_id, row);
    f.name = direction_name(e, "CUDA graph");
    f.correlation = nai_at(&m->graphs.correlation_id, row);
    f.aux = graph > 0 ? (uint64_t)graph : 0;
    f.api = m->graph_api[row];
    break;
  }
  case NAI_LANE_NVTX:
  case NAI_LANE_NVTX_ASYNC:
    f.name = number_named(e, NAI_LANE_NVTX, nai_val_text(&m->nvtx.name, row));
    f.correlation = nai_model_export_row(m, row);
    f.aux = kind == NAI_LANE_NVTX ? m->nvtx_depth[row] : 0;
    break;
  case NAI_LANE_API:
    f.name = number_named(e, kind, nai_val_text(&m->apis.name, row));
    f.correlation = nai_at(&m->apis.correlation_id, row);
    f.aux = api_aux(e, row);
    break;
  }
  return f;
}

uint32_t nai_encoder_name(struct nai_encoder *e, enum nai_lane_kind kind, uint32_t row) {
  return facts_of(e, kind, row).name;
}

uint32_t nai_encoder_named(struct nai_encoder *e, enum nai_lane_kind kind, uint32_t id) {
  return number_named(e, kind, id);
}

static void put_mix(struct nai_encoder *e, const struct nai_lane_items *items, const struct nai_item *item) {
  nai_buf_put_varint(&e->mix, item->mix_count);
  for (uint32_t i = 0; i < item->mix_count; i++) {
    nai_buf_put_varint(&e->mix, (uint64_t)items->mix[item->mix + i].category);
    nai_buf_put_varint(&e->mix, (uint64_t)items->mix[item->mix + i].ns);
  }
}

/* The page's numbers stay below 2^53, and that is what coded differences of these do; larger ids are no real ones. */
#define MAX_CORRELATION ((int64_t)1 << 50)

/* The items of a lane. The compiler has its kind, and whether they are the events themselves. */
__attribute__((always_inline)) static inline void put_items(struct nai_encoder *e, const struct nai_lane_items *items,
                                                            enum nai_lane_kind kind, bool events) {
  int64_t last_start = e->origin;
  struct block block;
  block.count = 0;
  for (uint32_t i = 0, count = items->count; i < count; i++) {
    const struct nai_item shown = events ? nai_item_of_event(items, i) : items->v[i], *item = &shown;
    struct facts f = facts_of(e, kind, item->row);
    bool plain = events || item->count == 1;
    int64_t link = plain && f.api != NAI_NO_ROW ? e->api_event[f.api] : 0;
    int64_t correlation =
        plain && f.correlation > -MAX_CORRELATION && f.correlation < MAX_CORRELATION ? f.correlation : 0;
    if (plain && kind == NAI_LANE_API)
      e->api_event[item->row] = e->events + 1;
    if (!plain)
      e->merged_events += item->count;
    if (!plain && kind == NAI_LANE_KERNEL)
      put_mix(e, items, item);
    uint32_t at = add_event(e, &block, item, last_start);
    block.of[NAME][at] = f.name;
    block.of[AUX][at] = f.aux;
    block.of[BUSY][at] = (uint64_t)item->busy;
    add_links(e, &block, at, link, correlation);
    last_start = item->start;
    if (block.count == BLOCK_EVENTS)
      put_block(e, &block);
  }
  put_block(e, &block);
}

#define PUT_ITEMS(e, items, kind) \
  ((items)->v ? put_items((e), (items), (kind), false) : put_items((e), (items), (kind), true))

void nai_encoder_put_lane(struct nai_encoder *e, const struct nai_lane_items *items) {
  switch (items->lane->kind) {
  case NAI_LANE_KERNEL:
    PUT_ITEMS(e, items, NAI_LANE_KERNEL);
    break;
  case NAI_LANE_NVTX:
    PUT_ITEMS(e, items, NAI_LANE_NVTX);
    break;
  case NAI_LANE_API:
    PUT_ITEMS(e, items, NAI_LANE_API);
    break;
  default:
    PUT_ITEMS(e, items, items->lane->kind);
  }
}

void nai_encoder_put_host(struct nai_encoder *e, const struct nai_host_lane *lane) {
  struct nai_page_names *names = &e->names;
  int64_t last_start = e->origin;
  struct block block;
  block.count = 0;
  for (uint32_t i = 0; i < lane->count; i++) {
    const struct nai_item *item = &lane->v[i];
    uint32_t name = NUMBER_OF(e, &names->of_host[item->row], nai_strings_get(&e->host.names, item->row), -1, false);
    if (e->arena.oom)
      return;
    names->list[name].count += item->count;
    uint32_t at = add_event(e, &block, item, last_start);
    block.of[NAME][at] = name;
    block.of[AUX][at] = item->mix;
    block.of[BUSY][at] = (uint64_t)(item->count > 1 ? item->busy : 0);
    add_links(e, &block, at, 0, 0);
    last_start = item->start;
    e->host_events++;
    if (block.count == BLOCK_EVENTS)
      put_block(e, &block);
  }
  put_block(e, &block);
}
