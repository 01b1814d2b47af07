/* From the model to the page's data blocks. */
#include "viewer/deflated.h"

#include "base/deflate.h"
#include "base/threads.h"
#include "tables/viewer_data.h"

static int allocate(struct nai_encoder *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  NAI_TRY(NAI_NEW(e->names.of_kernel, &e->arena, m->tables[NAI_IN_KERNELS]->strings.count, err));
  NAI_TRY(NAI_NEW(e->names.of_api, &e->arena, m->tables[NAI_IN_APIS]->strings.count, err));
  NAI_TRY(NAI_NEW(e->names.of_range, &e->arena, m->tables[NAI_IN_NVTX]->strings.count, err));
  NAI_TRY(NAI_NEW(e->api_event, &e->arena, m->apis.n, err));
  NAI_TRY(NAI_NEW(e->launches, &e->arena, m->apis.n, err));
  for (int c = 0; c < COLUMNS; c++)
    NAI_TRY(nai_sink_aside(&e->columns[c], m->scratch_dir, err));
  return NAI_OK;
}

static void mark(struct nai_encoder *e, const uint32_t *api, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (api[i] != NAI_NO_ROW)
      e->launches[api[i]] = true;
}

static void find_launches(struct nai_encoder *e) {
  mark(e, e->m->kernel_api, (uint32_t)e->m->kernels.n);
  mark(e, e->m->memop_api, (uint32_t)e->m->memops.n);
  mark(e, e->m->graph_api, (uint32_t)e->m->graphs.n);
}

static int find_span(struct nai_encoder *e, struct nai_err *err) {
  bool none = e->m->window_start == e->m->window_end;
  e->origin = none ? INT64_MAX : e->m->window_start;
  e->end = none ? INT64_MIN : e->m->window_end;
  NAI_TRY(nai_host_widen(&e->origin, &e->end, e->m, err));
  if (e->origin > e->end)
    e->origin = e->end = e->m->window_start;
  for (uint32_t i = 0; i < e->items.lane_count; i++) {
    const struct nai_lane_items *lane = &e->items.lanes[i];
    int64_t start = lane->count ? nai_item_at(lane, 0).start : e->origin;
    e->origin = start < e->origin ? start : e->origin;
    for (uint32_t k = 0; k < lane->count; k++) {
      int64_t end = nai_item_at(lane, k).end;
      e->end = end > e->end ? end : e->end;
    }
  }
  return NAI_OK;
}

enum { JSON, EVENTS, BLOCKS };
static const char *const block_names[BLOCKS] = {[JSON] = "timeline_json", [EVENTS] = "events_b64"};

/* The page's two blocks. While the one is printed, the other is deflated piece by piece. */
struct blocks {
  const struct nai_encoder *e;
  struct nai_deflated deflated;
  struct nai_file_sink sinks[BLOCKS];
};

/* Frees what was put aside; whatever went wrong is known by then. */
static void drop(struct nai_file_sink *sinks, int count) {
  for (int i = 0; i < count; i++)
    (void)!nai_sink_finish(&sinks[i], NAI_EINPUT, NULL);
}

static void blocks_free(struct blocks *blocks) {
  drop(blocks->sinks, BLOCKS);
  nai_deflated_free(&blocks->deflated);
}

static int make_blocks(void *ctx, int task, struct nai_err *err) {
  struct blocks *blocks = ctx;
  if (task)
    return nai_deflated_piece(&blocks->deflated, task - 1, err);
  NAI_SCOPED(nai_buf) json = {0};
  NAI_TRY(nai_encoder_print_json(&json, blocks->e, err));
  nai_buf_put_block(&blocks->sinks[JSON].text, &json);
  return NAI_OK;
}

/* A row of the table from what was put aside: megabytes, which pass through no memory but the table's own. */
static int add_block(struct nai_table *table, const char *name, const struct nai_map *text, struct nai_err *err) {
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, VIEWER_DATA_block, name);
  uint32_t id = nai_strings_add(&table->strings, (const char *)text->data, text->size);
  table->oom |= id == NAI_NO_STRING;
  if (!table->oom)
    nai_column_str(table, VIEWER_DATA_text)[row] = id;
  return nai_table_check(table, err);
}

/* Adds the rows, or tells that they are too long: not of those that can become no shorter. */
static int put_blocks(bool *too_long, struct nai_table *table, const struct nai_encoder *e, struct nai_err *err) {
  struct nai_map texts[BLOCKS];
  NAI_SCOPED(blocks) blocks = {.e = e};
  for (int i = 0; i < BLOCKS; i++)
    NAI_TRY(nai_sink_aside(&blocks.sinks[i], e->m->scratch_dir, err));
  NAI_TRY(nai_deflated_begin(&blocks.deflated, e, err));
  NAI_TRY(nai_parallel(e->m->worker_count, 1 + blocks.deflated.count, make_blocks, &blocks, err));
  nai_deflated_print(&blocks.sinks[EVENTS].text, &blocks.deflated);
  nai_deflated_free(&blocks.deflated);
  for (int i = 0; i < BLOCKS; i++)
    NAI_TRY(nai_sink_read(&texts[i], &blocks.sinks[i], err));
  *too_long =
      texts[JSON].size + texts[EVENTS].size > NAI_VIEWER_MAX_BYTES && e->items.halvings < NAI_ITEMS_MAX_HALVINGS;
  for (int i = 0; i < BLOCKS && !*too_long; i++)
    NAI_TRY(add_block(table, block_names[i], &texts[i], err));
  return NAI_OK;
}

static void nai_encoder_free(struct nai_encoder *e) {
  drop(e->columns, COLUMNS);
  nai_buf_free(&e->mix);
  nai_buf_free(&e->sums.stream);
  nai_encoder_free_queues(e);
  nai_buf_free(&e->pass_times);
  nai_strings_free(&e->host.names);
  nai_arena_free(&e->arena);
}

/* What an aggregated timeline is told beside its events. */
struct beside {
  struct nai_encoder *e;
  const struct nai_table *units;
};

/* Queues have no names, which passes number. */
static int find_beside(void *ctx, int task, struct nai_err *err) {
  const struct beside *b = ctx;
  return task ? nai_encoder_queue(b->e, err) : nai_encoder_pass(b->e, b->units, err);
}

static int put_beside(struct nai_encoder *e, const struct nai_table *units, struct nai_err *err) {
  NAI_TRY(nai_encoder_total(e, err));
  nai_encoder_list_names(e);
  NAI_TRY(nai_encoder_sum(e, err));
  return nai_parallel(e->m->worker_count, 2, find_beside, &(struct beside){e, units}, err);
}

/* What is made of the model alone. */
struct beginning {
  struct nai_encoder *e;
  int halvings;
  const struct nai_viewer_input *what;
};

static int begin_task(void *ctx, int task, struct nai_err *err) {
  const struct beginning *b = ctx;
  struct nai_encoder *e = b->e;
  if (!task)
    return nai_items_build(&e->items, e->m, b->halvings, b->what->places, b->what->place_count, &e->arena, err);
  find_launches(e);
  return nai_encoder_find_waits(e, err);
}

static int encode(struct nai_encoder *e, const struct nai_model *m, int halvings, const struct nai_viewer_input *what,
                  struct nai_err *err) {
  bool aggregated = halvings != NAI_ITEMS_ALL;
  *e = (struct nai_encoder){.m = m, .arena = NAI_ARENA(m->scratch_dir)};
  NAI_TRY(allocate(e, err));
  NAI_TRY(nai_parallel(m->worker_count, 2, begin_task, &(struct beginning){e, halvings, what}, err));
  NAI_TRY(find_span(e, err));
  if (aggregated)
    NAI_TRY(put_beside(e, what->units, err));
  NAI_TRY(nai_host_build(&e->host, &e->items, m, e->origin, e->end, err));
  NAI_TRY(NAI_NEW(e->names.of_host, &e->arena, e->host.names.count, err));
  e->single = !aggregated && !e->host.bucket_ns;
  for (uint32_t i = 0; i < e->items.lane_count; i++)
    nai_encoder_put_lane(e, &e->items.lanes[i]);
  for (uint32_t i = 0; i < e->host.count; i++)
    nai_encoder_put_host(e, &e->host.v[i]);
  for (int c = 0; c < COLUMNS; c++)
    NAI_TRY(nai_sink_read(&e->column_bytes[c], &e->columns[c], err));
  if (aggregated)
    nai_encoder_count_names(e);
  NAI_TRY(nai_buf_check(&e->mix, err));
  return nai_arena_check(&e->arena, err);
}

/* One try. */
static int make(bool *too_long, struct nai_table *out, const struct nai_model *m, int halvings,
                const struct nai_viewer_input *what, struct nai_err *err) {
  NAI_SCOPED(nai_encoder) e = {0};
  int64_t bytes = 0;
  NAI_TRY(encode(&e, m, halvings, what, err));
  if (e.events > NAI_VIEWER_SURE_EVENTS)
    NAI_TRY(nai_deflated_estimate(&bytes, &e, err));
  *too_long = bytes > NAI_VIEWER_MAX_BYTES && halvings < NAI_ITEMS_MAX_HALVINGS;
  return *too_long ? NAI_OK : put_blocks(too_long, out, &e, err);
}

int nai_viewer_data(struct nai_table **out, const struct nai_model *m, const struct nai_viewer_input *what,
                    struct nai_err *err) {
  int halvings = m->lanes.total > (uint64_t)m->page_events ? 0 : NAI_ITEMS_ALL;
  NAI_TRY(nai_table_new(out, &nai_viewer_data_schema, err));
  nai_table_keep_in(*out, m->scratch_dir);
  for (bool too_long = true; too_long; halvings++)
    NAI_TRY(make(&too_long, *out, m, halvings, what, err));
  return NAI_OK;
}
