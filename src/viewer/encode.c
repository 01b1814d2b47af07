/* From lanes to the page's two data blocks. */
#include "viewer/lanes.h"

#include "render/json.h"
#include "table/kernel_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const struct nai_column_def data_columns[] = {
    [VD_BLOCK] = {"block", NAI_STR, NAI_TEXT, "data block of the page", NULL},
    [VD_TEXT] = {"text", NAI_STR, NAI_TEXT, "its text", NULL},
};
const struct nai_schema nai_viewer_data_schema =
    NAI_SCHEMA("viewer_data", "Viewer data", "One data block of report.html", data_columns);

enum column { START, DURATION, NAME, LINK, CORRELATION, AUX, COUNT, BUSY, COLUMNS };
static const struct {
  const char *name, *encoding;
} column_specs[COLUMNS] = {
    [START] = {"start", "delta"},       [DURATION] = {"duration", "varint"},     [NAME] = {"name", "varint"},
    [LINK] = {"link", "zigzag_delta"},  [CORRELATION] = {"corr", "zigzag_delta"}, [AUX] = {"aux", "varint"},
    [COUNT] = {"count", "varint"},      [BUSY] = {"busy", "varint"},
};

enum { MAX_DIRECTIONS = 32 }; /* copy kinds, memset and graphs */

/* The page's list of names, numbered as they come up: kernels, API calls, ranges and directions in one list. */
struct names {
  uint32_t *of_kernel, *of_api, *of_range; /* name id of the table -> number + 1, 0 = not yet */
  uint32_t of_direction[MAX_DIRECTIONS];
  uint32_t count, capacity;
  struct name {
    const char *text;
    int category; /* -1 for host names */
    bool kernel;
  } * list;
  bool oom;
};

static uint32_t number_of(struct names *names, uint32_t *slot, const char *text, int category, bool kernel) {
  if (*slot)
    return *slot - 1;
  if (names->count == names->capacity) {
    uint32_t capacity = names->capacity ? names->capacity * 2 : 256;
    struct name *list = realloc(names->list, (size_t)capacity * sizeof *list);
    if (!list) {
      names->oom = true;
      return 0;
    }
    names->list = list;
    names->capacity = capacity;
  }
  names->list[names->count] = (struct name){text, category, kernel};
  *slot = ++names->count;
  return *slot - 1;
}

struct encoder {
  const struct nai_model *m;
  struct lanes lanes;
  struct names names;
  struct nai_buf columns[COLUMNS];
  int64_t origin, end;                 /* ns: first start and last end of any event; times of the page count from origin */
  uint32_t events;                     /* written so far */
  int64_t last_link, last_correlation; /* of the columns so far */
  uint32_t *api_event;                 /* API row -> number of its event + 1, 0 when it is part of an aggregate */
};

/* --- numbers -------------------------------------------------------------------------------------------------------- */

static void put_varint(struct nai_buf *out, uint64_t v) {
  char *at = nai_buf_reserve(out, 10);
  size_t n = 0;
  if (!at)
    return;
  for (; v >= 0x80; v >>= 7)
    at[n++] = (char)(v | 0x80);
  at[n++] = (char)v;
  out->len += n;
}

static void put_zigzag(struct nai_buf *out, int64_t v) { put_varint(out, (uint64_t)v << 1 ^ (uint64_t)(v >> 63)); }

/* --- events --------------------------------------------------------------------------------------------------------- */

/* What an event's columns hold beside its times. */
struct facts {
  uint32_t name, api; /* api: launching call, NAI_NO_ROW for none */
  int64_t correlation;
  uint64_t aux;
};

static uint32_t direction_name(struct names *names, const char *text) {
  for (uint32_t i = 0; i < MAX_DIRECTIONS; i++)
    if (!names->of_direction[i] || strcmp(names->list[names->of_direction[i] - 1].text, text) == 0)
      return number_of(names, &names->of_direction[i], text, -1, false);
  return 0;
}

static uint64_t api_aux(const struct nai_model *m, uint32_t api) {
  if (nai_model_api_blocks(m, api))
    return 1;
  enum nai_api_class c = m->api_class[m->apis.name[api]];
  return c == NAI_API_ORDERING || c == NAI_API_POLL ? 2 : 0;
}

static struct facts facts_of(struct encoder *e, enum lane_kind kind, uint32_t row) {
  const struct nai_model *m = e->m;
  struct names *n = &e->names;
  switch (kind) {
  case LANE_KERNEL: {
    uint32_t name = m->kernels.name[row];
    return (struct facts){number_of(n, &n->of_kernel[name], nai_model_kernel_name(m, row), m->kernel_category[name], true),
                          m->kernel_api[row], m->kernels.correlation[row], (uint64_t)m->kernels.config[row] + 1};
  }
  case LANE_COPY:
  case LANE_SET:
    return (struct facts){direction_name(n, nai_model_direction(m, row)), m->memop_api[row], m->memops.correlation[row],
                          (uint64_t)m->memops.bytes[row]};
  case LANE_GRAPH:
    return (struct facts){direction_name(n, "CUDA graph"), m->graph_api[row], m->graphs.correlation[row],
                          m->graphs.graph[row] > 0 ? (uint64_t)m->graphs.graph[row] : 0};
  case LANE_NVTX:
  case LANE_NVTX_ASYNC:
    return (struct facts){number_of(n, &n->of_range[m->nvtx.name[row]], nai_model_range_name(m, row), -1, false),
                          NAI_NO_ROW, m->nvtx.row[row] == NAI_NULL_I32 ? 0 : m->nvtx.row[row],
                          kind == LANE_NVTX ? e->lanes.depth_of_node[m->first_node[m->nvtx.thread[row]] + m->nvtx_node[row]] : 0};
  case LANE_API:
    break;
  }
  return (struct facts){number_of(n, &n->of_api[m->apis.name[row]], nai_model_api_name(m, row), -1, false), NAI_NO_ROW,
                        m->apis.correlation[row], api_aux(m, row)};
}

/* The page's numbers stay below 2^53, and that is what coded differences of these do; larger ids are no real ones. */
#define MAX_CORRELATION ((int64_t)1 << 50)

static void put_lane(struct encoder *e, const struct lane *lane) {
  int64_t last_start = e->origin;
  for (uint32_t i = 0; i < lane->item_count; i++) {
    const struct item *item = &lane->items[i];
    struct facts f = facts_of(e, lane->kind, item->row);
    bool plain = item->count == 1;
    int64_t link = plain && f.api != NAI_NO_ROW ? e->api_event[f.api] : 0;
    int64_t correlation = plain && f.correlation > -MAX_CORRELATION && f.correlation < MAX_CORRELATION ? f.correlation : 0;
    if (plain && lane->kind == LANE_API)
      e->api_event[item->row] = e->events + 1;
    put_varint(&e->columns[START], (uint64_t)(item->start - last_start));
    put_varint(&e->columns[DURATION], (uint64_t)(item->end - item->start));
    put_varint(&e->columns[NAME], f.name);
    put_zigzag(&e->columns[LINK], link - e->last_link);
    put_zigzag(&e->columns[CORRELATION], correlation - e->last_correlation);
    put_varint(&e->columns[AUX], f.aux);
    put_varint(&e->columns[COUNT], item->count);
    put_varint(&e->columns[BUSY], (uint64_t)item->busy);
    last_start = item->start;
    e->last_link = link;
    e->last_correlation = correlation;
    e->events++;
  }
}

/* --- the JSON block --------------------------------------------------------------------------------------------------- */

static const char *const kind_names[] = {
    [LANE_API] = "api", [LANE_KERNEL] = "kernel", [LANE_COPY] = "copy", [LANE_SET] = "set",
    [LANE_GRAPH] = "graph", [LANE_NVTX] = "nvtx", [LANE_NVTX_ASYNC] = "nvtx_async"};

static int put_names(struct nai_json *json, const struct encoder *e, struct nai_err *err) {
  enum { SHORT_MAX = 72 };
  const struct names *n = &e->names;
  const char **kernels = malloc(((size_t)n->count + 1) * sizeof *kernels);
  char **brief = NULL;
  size_t kernel_count = 0;
  if (!kernels)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < n->count; i++)
    if (n->list[i].kernel)
      kernels[kernel_count++] = n->list[i].text;
  int rc = nai_kernel_names_short(&brief, kernels, kernel_count, SHORT_MAX, err);
  free(kernels);
  if (rc)
    return rc;
  nai_json_key(json, "names");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (uint32_t i = 0; i < n->count; i++)
    nai_json_text(json, n->list[i].text);
  nai_json_end(json);
  nai_json_key(json, "short_names");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (uint32_t i = 0, k = 0; i < n->count; i++)
    nai_json_text(json, n->list[i].kernel ? brief[k++] : n->list[i].text);
  nai_json_end(json);
  free(brief);
  nai_json_key(json, "categories");
  nai_json_begin_array(json, NAI_JSON_INLINE);
  for (int i = 0; i < nai_kernel_classes_count(e->m->classes); i++)
    nai_json_text(json, nai_kernel_classes_name(e->m->classes, i));
  nai_json_end(json);
  nai_json_key(json, "name_category");
  nai_json_begin_array(json, NAI_JSON_INLINE);
  for (uint32_t i = 0; i < n->count; i++)
    nai_json_int(json, n->list[i].category);
  nai_json_end(json);
  return NAI_OK;
}

static void put_places(struct nai_json *json, const struct nai_model *m) {
  nai_json_key(json, "gpus");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    struct nai_value name = nai_table_value(m->gpu_table, g, GP_NAME);
    struct nai_buf label = {0};
    nai_buf_printf(&label, "%s%s%s", nai_get_str(m->gpu_table, g, GP_LABEL), name.null ? "" : " ", name.null ? "" : name.s);
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_int(json, "id", m->gpus[g].device_id);
    nai_json_put_text(json, "label", nai_buf_str(&label));
    nai_json_end(json);
    nai_buf_free(&label);
  }
  nai_json_end(json);
  nai_json_key(json, "processes");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (uint32_t p = 0; p < m->process_count; p++) {
    struct nai_value name = nai_table_value(m->processes, p, PR_NAME);
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_int(json, "pid", nai_model_pid(m, (int32_t)p));
    nai_json_put_text(json, "name", name.null ? "" : name.s);
    nai_json_end(json);
  }
  nai_json_end(json);
  nai_json_key(json, "threads");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (uint32_t t = 0; t < m->thread_count; t++) {
    struct nai_value name = nai_table_value(m->threads, t, TH_NAME);
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_int(json, "pid", nai_get_i64(m->threads, t, TH_PID));
    nai_json_put_int(json, "tid", nai_get_i64(m->threads, t, TH_TID));
    nai_json_put_text(json, "name", name.null ? "" : name.s);
    nai_json_end(json);
  }
  nai_json_end(json);
  nai_json_key(json, "configs");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (int64_t i = 0; i < m->configs->rows; i++) {
    nai_json_begin_array(json, NAI_JSON_INLINE);
    for (int c = 0; c < KC_COLUMNS; c++) {
      struct nai_value v = nai_table_value(m->configs, i, c);
      nai_json_value(json, NAI_COUNT, &v);
    }
    nai_json_end(json);
  }
  nai_json_end(json);
}

enum { BINS = 1000 };

/* Adds the parts of each interval to the bins it covers. */
static void bin(int64_t *bins, const struct nai_intervals *set, int64_t start, int64_t bin_ns) {
  for (size_t i = 0; i < set->count; i++)
    for (int64_t at = set->v[i].start; at < set->v[i].end;) {
      int64_t b = (at - start) / bin_ns, edge = start + (b + 1) * bin_ns;
      int64_t until = edge < set->v[i].end ? edge : set->v[i].end;
      if (b >= 0 && b < BINS)
        bins[b] += until - at;
      at = until;
    }
}

static int put_utilization(struct nai_json *json, const struct encoder *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  int64_t bin_ns = (m->window_end - m->window_start) / BINS + 1;
  int64_t *bins = malloc(4 * BINS * sizeof *bins);
  if (!bins)
    return nai_err_nomem(err);
  nai_json_key(json, "utilization");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    const struct nai_gpu *gpu = &m->gpus[g];
    const struct {
      const char *key;
      const struct nai_intervals *set;
    } parts[] = {{"compute_ns", &gpu->compute}, {"exposed_comm_ns", &gpu->exposed_communication},
                 {"exposed_copy_ns", &gpu->exposed_copy}};
    /* Idle is what the GPU's own window leaves, so that bins outside of it stay empty. */
    struct nai_intervals window = {0}, idle = {0};
    nai_intervals_add(&window, gpu->window_start, gpu->window_end);
    nai_intervals_subtract(&idle, &window, &gpu->all);
    memset(bins, 0, 4 * BINS * sizeof *bins);
    for (int p = 0; p < 3; p++)
      bin(bins + p * BINS, parts[p].set, m->window_start, bin_ns);
    bin(bins + 3 * BINS, &idle, m->window_start, bin_ns);
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_int(json, "device_id", gpu->device_id);
    nai_json_put_int(json, "bin_ns", bin_ns);
    nai_json_put_int(json, "start_ns", m->window_start - e->origin);
    for (int p = 0; p < 4; p++) {
      nai_json_key(json, p < 3 ? parts[p].key : "idle_ns");
      nai_json_begin_array(json, NAI_JSON_INLINE);
      for (int b = 0; b < BINS && b * bin_ns < m->window_end - m->window_start; b++)
        nai_json_int(json, bins[p * BINS + b]);
      nai_json_end(json);
    }
    nai_json_end(json);
    json->out->oom |= window.oom || idle.oom;
    nai_intervals_free(&window);
    nai_intervals_free(&idle);
  }
  nai_json_end(json);
  free(bins);
  return NAI_OK;
}

static void put_lanes(struct nai_json *json, const struct encoder *e) {
  const struct nai_model *m = e->m;
  uint32_t first = 0;
  nai_json_key(json, "lanes");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (uint32_t i = 0; i < e->lanes.count; i++) {
    const struct lane *lane = &e->lanes.v[i];
    int64_t pid = lane->thread >= 0 ? nai_get_i64(m->threads, lane->thread, TH_PID) : nai_model_pid(m, lane->process);
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "kind", kind_names[lane->kind]);
    nai_json_put_int(json, "gpu", lane->gpu);
    nai_json_put_int(json, "pid", pid == NAI_NULL_I64 ? 0 : pid);
    nai_json_put_int(json, "tid", lane->thread >= 0 ? nai_get_i64(m->threads, lane->thread, TH_TID) : 0);
    nai_json_put_int(json, "context", lane->context == NAI_NULL_I32 ? -1 : lane->context);
    nai_json_put_int(json, "stream", lane->stream == NAI_NULL_I32 ? -1 : lane->stream);
    nai_json_put_int(json, "first", first);
    nai_json_put_int(json, "count", lane->item_count);
    nai_json_end(json);
    first += lane->item_count;
  }
  nai_json_end(json);
}

static void put_columns(struct nai_json *json, const struct encoder *e) {
  int64_t offset = 0;
  nai_json_key(json, "columns");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (int c = 0; c < COLUMNS; c++) {
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "name", column_specs[c].name);
    nai_json_put_text(json, "encoding", column_specs[c].encoding);
    nai_json_put_int(json, "offset", offset);
    nai_json_put_int(json, "bytes", (int64_t)e->columns[c].len);
    nai_json_end(json);
    offset += (int64_t)e->columns[c].len;
  }
  nai_json_end(json);
  nai_json_put_int(json, "events", e->events);
  nai_json_put_int(json, "raw_bytes", offset);
}

static int put_json(struct nai_buf *out, const struct encoder *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  const struct lanes *lanes = &e->lanes;
  struct nai_json json;
  char text[160];
  nai_json_init(&json, out, true);
  nai_json_begin_object(&json, NAI_JSON_LINES);
  nai_json_put_int(&json, "version", 1);
  snprintf(text, sizeof text, "%" PRId64, e->origin);
  nai_json_put_text(&json, "origin_ns", text);
  nai_json_put_int(&json, "start_ns", 0);
  nai_json_put_int(&json, "end_ns", e->end - e->origin);
  nai_json_put_int(&json, "total_events", (int64_t)lanes->total);
  nai_json_put_int(&json, "embedded_events", e->events);
  nai_json_put_bool(&json, "aggregated", lanes->aggregated);
  nai_json_key(&json, "detail_windows");
  nai_json_begin_array(&json, NAI_JSON_LINES);
  for (size_t i = 0; i < lanes->detail.count; i++) {
    nai_json_begin_array(&json, NAI_JSON_INLINE);
    nai_json_int(&json, lanes->detail.v[i].start - e->origin);
    nai_json_int(&json, lanes->detail.v[i].end - e->origin);
    nai_json_end(&json);
  }
  nai_json_end(&json);
  snprintf(text, sizeof text,
           "Outside of the detail windows, events shorter than %" PRId64 " us are drawn together, %" PRId64 " us at a time.",
           lanes->bucket_ns / 1000, lanes->bucket_ns / 1000);
  nai_json_put_text(&json, "note", lanes->aggregated ? text : NULL);
  int rc = put_names(&json, e, err);
  put_places(&json, m);
  if (!rc)
    rc = put_utilization(&json, e, err);
  put_lanes(&json, e);
  put_columns(&json, e);
  nai_json_end(&json);
  nai_json_finish(&json);
  return rc;
}

/* --- the events block --------------------------------------------------------------------------------------------------- */

static void put_base64(struct nai_buf *out, const unsigned char *data, size_t len) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *at = nai_buf_reserve(out, (len + 2) / 3 * 4);
  if (!at)
    return;
  for (size_t i = 0; i < len; i += 3) {
    uint32_t v = (uint32_t)data[i] << 16 | (i + 1 < len ? (uint32_t)data[i + 1] << 8 : 0) | (i + 2 < len ? data[i + 2] : 0);
    *at++ = digits[v >> 18];
    *at++ = digits[v >> 12 & 63];
    *at++ = i + 1 < len ? digits[v >> 6 & 63] : '=';
    *at++ = i + 2 < len ? digits[v & 63] : '=';
  }
  out->len += (len + 2) / 3 * 4;
  *at = '\0';
}

static int put_events(struct nai_buf *out, const struct encoder *e, struct nai_err *err) {
  enum { LEVEL = 3 }; /* level 6 takes three times as long for a tenth less */
  struct nai_buf packed = {0};
  z_stream z = {0};
  if (deflateInit(&z, LEVEL) != Z_OK)
    return nai_err_nomem(err);
  for (int c = 0; c < COLUMNS; c++) {
    z.next_in = (unsigned char *)e->columns[c].data;
    z.avail_in = (unsigned)e->columns[c].len;
    int state = Z_OK;
    do {
      enum { CHUNK = 1 << 20 };
      char *at = nai_buf_reserve(&packed, CHUNK);
      if (!at)
        break;
      z.next_out = (unsigned char *)at;
      z.avail_out = CHUNK;
      state = deflate(&z, c == COLUMNS - 1 ? Z_FINISH : Z_NO_FLUSH);
      packed.len += CHUNK - z.avail_out;
    } while (z.avail_in || (c == COLUMNS - 1 && state == Z_OK));
  }
  deflateEnd(&z);
  put_base64(out, (const unsigned char *)nai_buf_str(&packed), packed.len);
  int rc = nai_buf_check(&packed, err);
  nai_buf_free(&packed);
  return rc;
}

/* --- all of it ------------------------------------------------------------------------------------------------------------ */

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

int nai_viewer_data(struct nai_table **out, const struct nai_model *m, const struct nai_interval *places, size_t place_count,
                    struct nai_err *err) {
  struct encoder e = {.m = m};
  struct nai_buf json = {0}, events = {0};
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
    put_lane(&e, &e.lanes.v[i]);
  for (int c = 0; !rc && c < COLUMNS; c++)
    rc = nai_buf_check(&e.columns[c], err);
  if (!rc && e.names.oom)
    rc = nai_err_nomem(err);
  if (!rc)
    rc = put_json(&json, &e, err);
  if (!rc)
    rc = put_events(&events, &e, err);
  if (!rc) {
    put_block(*out, "timeline_json", &json);
    put_block(*out, "events_b64", &events);
    rc = nai_table_check(*out, err);
  }
  lanes_free(&e.lanes);
  for (int c = 0; c < COLUMNS; c++)
    nai_buf_free(&e.columns[c]);
  free(e.names.of_kernel);
  free(e.names.of_api);
  free(e.names.of_range);
  free(e.names.list);
  free(e.api_event);
  nai_buf_free(&json);
  nai_buf_free(&events);
  return rc;
}
