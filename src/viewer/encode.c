/* From the model to the page's data blocks. */
#include "viewer/deflated.h"

#include "base/spill_array.h"
#include "base/threads.h"
#include "tables/viewer_data.h"

#include <stdlib.h>

static int allocate(struct nai_encoder *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  e->names.of_kernel = calloc((size_t)m->tables[NAI_IN_KERNELS]->strings.count + 1, sizeof(uint32_t));
  e->names.of_api = calloc((size_t)m->tables[NAI_IN_APIS]->strings.count + 1, sizeof(uint32_t));
  e->names.of_range = calloc((size_t)m->tables[NAI_IN_NVTX]->strings.count + 1, sizeof(uint32_t));
  e->api_event = calloc((size_t)m->apis.n + 1, sizeof *e->api_event);
  e->launches = calloc((size_t)m->apis.n + 1, sizeof *e->launches);
  bool ok = e->names.of_kernel && e->names.of_api && e->names.of_range && e->api_event && e->launches;
  return ok ? NAI_OK : nai_err_nomem(err);
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

static void find_span(struct nai_encoder *e) {
  e->origin = e->m->window_start;
  e->end = e->m->window_end;
  for (uint32_t i = 0; i < e->items.lane_count; i++)
    for (uint32_t k = 0; k < e->items.lanes[i].count; k++) {
      const struct nai_item item = nai_item_at(&e->items.lanes[i], k);
      e->origin = item.start < e->origin ? item.start : e->origin;
      e->end = item.end > e->end ? item.end : e->end;
    }
}

enum { JSON, EVENTS, BLOCKS };
static const char *const block_names[BLOCKS] = {[JSON] = "timeline_json", [EVENTS] = "events_b64"};

/* The page's two blocks. While the one is printed, the other is deflated piece by piece. */
struct blocks {
  const struct nai_encoder *e;
  struct nai_deflated deflated;
  struct nai_file_sink sinks[BLOCKS];
};

static int make_blocks(void *ctx, int task, struct nai_err *err) {
  struct blocks *blocks = ctx;
  return task ? nai_deflated_piece(&blocks->deflated, task - 1, err)
              : nai_encoder_print_json(&blocks->sinks[JSON].text, blocks->e, err);
}

/* A row of the table from what was put aside: megabytes, which pass through no memory but the table's own. */
static int add_block(struct nai_table *table, const char *name, struct nai_file_sink *sink, struct nai_err *err) {
  struct nai_map text;
  int64_t row = nai_table_add_row(table);
  NAI_TRY(nai_sink_read(&text, sink, err));
  nai_set_str(table, row, VIEWER_DATA_block, name);
  uint32_t id = nai_strings_add(&table->strings, (const char *)text.data, text.size);
  table->oom |= id == NAI_NO_STRING;
  if (!table->oom)
    nai_column_str(table, VIEWER_DATA_text)[row] = id;
  return nai_table_check(table, err);
}

static int put_blocks(struct nai_table *table, const struct nai_encoder *e, struct nai_err *err) {
  struct blocks blocks = {.e = e};
  int rc = NAI_OK, opened = 0;
  while (!rc && opened < BLOCKS)
    rc = nai_sink_aside(&blocks.sinks[opened++], e->m->scratch_dir, err);
  if (!rc)
    rc = nai_deflated_begin(&blocks.deflated, e, err);
  if (!rc)
    rc = nai_parallel(e->m->worker_count, 1 + blocks.deflated.count, make_blocks, &blocks, err);
  if (!rc)
    nai_deflated_print(&blocks.sinks[EVENTS].text, &blocks.deflated);
  nai_deflated_free(&blocks.deflated);
  for (int i = 0; !rc && i < BLOCKS; i++)
    rc = add_block(table, block_names[i], &blocks.sinks[i], err);
  for (int i = 0; i < opened; i++)
    rc = nai_sink_finish(&blocks.sinks[i], rc, err);
  return rc;
}

static void encoder_free(struct nai_encoder *e) {
  nai_items_free(&e->items);
  for (int c = 0; c < COLUMNS; c++)
    if (e->columns_open) /* whatever went wrong is known by now */
      (void)!nai_sink_finish(&e->columns[c], NAI_EINPUT, NULL);
  nai_buf_free(&e->mix);
  nai_buf_free(&e->sums.stream);
  free(e->sums.list);
  free(e->names.of_kernel);
  free(e->names.of_api);
  free(e->names.of_range);
  free(e->names.of_host);
  nai_encoder_free_totals(e);
  nai_host_free(&e->host);
  for (int i = 0; i < MAX_DIRECTIONS; i++)
    free(e->names.directions[i]);
  nai_spill_array_free(e->names.list);
  free(e->api_event);
  free(e->launches);
}

static int put_host(struct nai_encoder *e, struct nai_err *err) {
  NAI_TRY(nai_host_build(&e->host, e->m, e->origin, e->end, err));
  e->names.of_host = calloc((size_t)e->host.names.count + 1, sizeof(uint32_t));
  if (!e->names.of_host)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < e->host.count; i++)
    nai_encoder_put_host(e, &e->host.v[i]);
  return NAI_OK;
}

static int encode(struct nai_encoder *e, const struct nai_model *m, bool aggregated, const struct nai_interval *places,
                  size_t place_count, struct nai_err *err) {
  *e = (struct nai_encoder){.m = m, .names.directory = m->scratch_dir};
  int rc = allocate(e, err);
  e->columns_open = true;
  for (int c = 0; c < COLUMNS; c++) {
    int failed = nai_sink_aside(&e->columns[c], m->scratch_dir, rc ? NULL : err);
    rc = rc ? rc : failed;
  }
  if (rc)
    return rc;
  find_launches(e);
  rc = nai_items_build(&e->items, m, aggregated, places, place_count, err);
  find_span(e);
  if (!rc && aggregated)
    rc = nai_encoder_total(e, err);
  if (!rc && aggregated)
    nai_encoder_list_names(e);
  if (!rc && aggregated)
    rc = nai_encoder_sum(e, err);
  for (uint32_t i = 0; !rc && i < e->items.lane_count; i++)
    nai_encoder_put_lane(e, &e->items.lanes[i]);
  if (!rc)
    rc = put_host(e, err);
  for (int c = 0; c < COLUMNS && !rc; c++)
    rc = nai_sink_read(&e->column_bytes[c], &e->columns[c], err);
  if (!rc)
    rc = nai_buf_check(&e->mix, err);
  if (!rc && aggregated)
    nai_encoder_count_names(e);
  return !rc && e->names.oom ? nai_err_nomem(err) : rc;
}

int nai_viewer_data(struct nai_table **out, const struct nai_model *m, const struct nai_interval *places,
                    size_t place_count, struct nai_err *err) {
  struct nai_encoder e;
  int64_t bytes = 0;
  int rc = nai_table_new(out, &nai_viewer_data_schema, err);
  if (rc)
    return rc;
  nai_table_keep_in(*out, m->scratch_dir);
  bool aggregated = m->lanes.total > (uint64_t)m->page_events;
  rc = encode(&e, m, aggregated, places, place_count, err);
  if (!rc && !aggregated && e.events > NAI_VIEWER_SURE_EVENTS)
    rc = nai_deflated_estimate(&bytes, &e, err);
  if (!rc && bytes > NAI_VIEWER_MAX_BYTES) {
    encoder_free(&e);
    rc = encode(&e, m, true, places, place_count, err);
  }
  if (!rc)
    rc = put_blocks(*out, &e, err);
  encoder_free(&e);
  return rc;
}
