/* From the model to the page's data blocks. */
#include "viewer/encoder.h"

#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

static const struct nai_column_def data_columns[] = {
    [VD_BLOCK] = {"block", NAI_STR, NAI_TEXT, "data block of the page", .key = true},
    [VD_TEXT] = {"text", NAI_STR, NAI_TEXT, "its text"},
};
const struct nai_schema nai_viewer_data_schema =
    NAI_SCHEMA("viewer_data", "Viewer data", "One data block of report.html", data_columns);

static void put_block(struct nai_table *table, const char *name, const struct nai_buf *text) {
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, VD_BLOCK, name);
  nai_set_str(table, row, VD_TEXT, nai_buf_str(text));
  table->oom |= text->oom;
}

static int allocate(struct encoder *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  e->names.of_kernel = calloc((size_t)m->kernel_table->strings.count + 1, sizeof(uint32_t));
  e->names.of_api = calloc((size_t)m->api_table->strings.count + 1, sizeof(uint32_t));
  e->names.of_range = calloc((size_t)m->nvtx_table->strings.count + 1, sizeof(uint32_t));
  e->api_event = calloc((size_t)m->apis.n + 1, sizeof *e->api_event);
  return e->names.of_kernel && e->names.of_api && e->names.of_range && e->api_event ? NAI_OK : nai_err_nomem(err);
}

static void find_span(struct encoder *e) {
  e->origin = e->m->window_start;
  e->end = e->m->window_end;
  for (uint32_t i = 0; i < e->lanes.count; i++)
    for (uint32_t k = 0; k < e->lanes.v[i].item_count; k++) {
      const struct item *item = &e->lanes.v[i].items[k];
      e->origin = item->start < e->origin ? item->start : e->origin;
      e->end = item->end > e->end ? item->end : e->end;
    }
}

/* The page's two blocks, printed side by side. */
struct blocks {
  const struct encoder *e;
  struct nai_buf json, events;
};

static int print_block(void *ctx, int task, struct nai_err *err) {
  struct blocks *blocks = ctx;
  return task == 0 ? encoder_print_json(&blocks->json, blocks->e, err)
                   : encoder_print_events(&blocks->events, blocks->e, err);
}

int nai_viewer_data(struct nai_table **out, const struct nai_model *m, const struct nai_interval *places,
                    size_t place_count, struct nai_err *err) {
  struct encoder e = {.m = m};
  struct blocks blocks = {.e = &e};
  int rc = nai_table_new(out, &nai_viewer_data_schema, err);
  if (!rc)
    rc = allocate(&e, err);
  if (!rc)
    rc = lanes_build(&e.lanes, m, err);
  if (!rc)
    rc = lanes_plan(&e.lanes, m, places, place_count, err);
  if (!rc)
    rc = lanes_fill(&e.lanes, m, err);
  find_span(&e);
  for (uint32_t i = 0; !rc && i < e.lanes.count; i++)
    encoder_put_lane(&e, &e.lanes.v[i]);
  for (int c = 0; !rc && c < COLUMNS; c++)
    rc = nai_buf_check(&e.columns[c], err);
  if (!rc && e.names.oom)
    rc = nai_err_nomem(err);
  if (!rc)
    rc = nai_parallel(m->worker_count, 2, print_block, &blocks, err);
  if (!rc) {
    put_block(*out, "timeline_json", &blocks.json);
    put_block(*out, "events_b64", &blocks.events);
    rc = nai_table_check(*out, err);
  }
  lanes_free(&e.lanes);
  for (int c = 0; c < COLUMNS; c++)
    nai_buf_free(&e.columns[c]);
  free(e.names.of_kernel);
  free(e.names.of_api);
  free(e.names.of_range);
  for (int i = 0; i < MAX_DIRECTIONS; i++)
    free(e.names.directions[i]);
  free(e.names.list);
  free(e.api_event);
  nai_buf_free(&blocks.json);
  nai_buf_free(&blocks.events);
  return rc;
}
