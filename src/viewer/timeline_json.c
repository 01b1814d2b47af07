/* The JSON block of the page: names, places, lanes, utilisation over time and how the columns are laid out. */
#include "viewer/encoder.h"

#include "base/fmt.h"
#include "model/calls/call_class.h"
#include "model/calls/stream_info.h"
#include "model/memory/copy_rates.h"
#include "table/json.h"
#include "table/kernel_name.h"
#include "tables/gpus.h"
#include "tables/kernel_configs.h"
#include "tables/processes.h"
#include "tables/threads.h"

static const struct {
  const char *name, *encoding;
} column_specs[COLUMNS] = {
    [START] = {"start", "delta"},
    [DURATION] = {"duration", "varint"},
    [NAME] = {"name", "varint"},
    [LINK] = {"link", "zigzag_delta"},
    [CORRELATION] = {"corr", "zigzag_delta"},
    [AUX] = {"aux", "varint"},
    [COUNT] = {"count", "varint"},
    [BUSY] = {"busy", "varint"},
};

static const char *const kind_names[] = {[NAI_LANE_API] = "api",
                                         [NAI_LANE_KERNEL] = "kernel",
                                         [NAI_LANE_COPY] = "copy",
                                         [NAI_LANE_SET] = "set",
                                         [NAI_LANE_GRAPH] = "graph",
                                         [NAI_LANE_NVTX] = "nvtx",
                                         [NAI_LANE_NVTX_ASYNC] = "nvtx_async"};

/* Whether table losses counts what has the name; or graph_savings no further than such a call, by its name alone. */
static bool is_counted(const struct nai_kernel_classes *classes, const struct nai_page_name *name, int as) {
  enum { FUSABLE, CASTS, ALLOCATIONS, BREAKS };
  if (as == BREAKS)
    return !name->kernel && !nai_call_fits_graph(name->text) && nai_call_kind_of(name->text) != NAI_CALL_ALLOCATION &&
           nai_call_class_of(name->text) != NAI_CALL_CLASS_BLOCKING;
  if (as == ALLOCATIONS)
    return !name->kernel && nai_call_kind_of(name->text) == NAI_CALL_ALLOCATION;
  const enum nai_kernel_trait trait = name->kernel ? nai_kernel_classes_trait(classes, name->text) : NAI_TRAIT_RUNTIME;
  return trait == NAI_TRAIT_CAST ||
         (as == FUSABLE && trait == NAI_TRAIT_NONE && nai_kernel_classes_fusable(classes, name->category));
}

/* Names of kernels that could be fused with their neighbors, of those that only change type or layout, of calls that
 * allocate or release, and of others that no graph holds: as tables losses and graph_savings count them, so that the
 * page can mark them. Lists of none are left out. */
static int put_counted(struct nai_json *json, const struct nai_encoder *e, struct nai_err *err) {
  static const char *const keys[] = {"fusable", "casts", "allocations", "breaks"};
  for (int k = 0; k < 4; k++) {
    bool any = false;
    for (uint32_t i = 0; i < e->names.count; i++) {
      if (!is_counted(e->m->classes, &e->names.list[i], k))
        continue;
      if (!any)
        nai_json_put_array(json, keys[k], NAI_JSON_INLINE);
      nai_json_int(json, i);
      any = true;
    }
    if (any)
      nai_json_end(json);
  }
  return nai_kernel_classes_check(e->m->classes, err);
}

/* Of copies and memsets, as their `aux` numbers it behind their size. */
static void put_memory(struct nai_json *json, const struct nai_encoder *e) {
  nai_json_put_array(json, "memory", NAI_JSON_INLINE);
  for (uint32_t i = 0; i < e->memory.count; i++) {
    char rooms[2][NAI_KIND_NAME_MAX];
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "from", nai_memory_kind_label(rooms[0], e->m, e->memory.list[i].from));
    nai_json_put_text(json, "to", nai_memory_kind_label(rooms[1], e->m, e->memory.list[i].to));
    nai_json_end(json);
  }
  nai_json_end(json);
}

/* What counts calls as waits, as their `aux` numbers it. */
static void put_waits(struct nai_json *json, const struct nai_page_waits *waits) {
  if (!waits->count)
    return;
  nai_json_put_array(json, "waits", NAI_JSON_LINES);
  for (uint32_t i = 0; i < waits->count; i++) {
    const struct nai_page_wait *wait = &waits->list[i];
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_int(json, "before", wait->before);
    nai_json_put_int(json, "gpu", wait->gpu);
    nai_json_put_text(json, "place", wait->place);
    nai_json_end(json);
  }
  nai_json_end(json);
}

static int put_names(struct nai_json *json, const struct nai_encoder *e, struct nai_err *err) {
  const struct nai_page_names *n = &e->names;
  NAI_FREED const char **kernels = malloc(((size_t)n->count + 1) * sizeof *kernels);
  NAI_FREED char **brief = NULL;
  size_t kernel_count = 0;
  NAI_TRY(nai_memory_check(kernels, err));
  for (uint32_t i = 0; i < n->count; i++)
    if (n->list[i].kernel)
      kernels[kernel_count++] = n->list[i].text;
  NAI_TRY(nai_kernel_names_short(&brief, kernels, kernel_count, NAI_SHORT_NAME, err));
  nai_json_put_array(json, "names", NAI_JSON_LINES);
  for (uint32_t i = 0; i < n->count; i++)
    nai_json_text(json, n->list[i].text);
  nai_json_end(json);
  nai_json_put_array(json, "short_names", NAI_JSON_LINES);
  for (uint32_t i = 0, k = 0; i < n->count; i++)
    nai_json_text(json, n->list[i].kernel ? brief[k++] : n->list[i].text);
  nai_json_end(json);
  nai_json_put_array(json, "categories", NAI_JSON_INLINE);
  for (int i = 0; i < nai_kernel_classes_count(e->m->classes); i++)
    nai_json_text(json, nai_kernel_classes_name(e->m->classes, i));
  nai_json_end(json);
  nai_json_put_array(json, "name_category", NAI_JSON_INLINE);
  for (uint32_t i = 0; i < n->count; i++)
    nai_json_int(json, n->list[i].category);
  nai_json_end(json);
  NAI_TRY(put_counted(json, e, err));
  put_waits(json, &e->waits);
  put_memory(json, e);
  if (!e->items.aggregated)
    return NAI_OK;
  nai_json_put_array(json, "name_count", NAI_JSON_INLINE);
  for (uint32_t i = 0; i < n->count; i++)
    nai_json_int(json, n->list[i].count);
  nai_json_end(json);
  nai_json_put_int(json, "names_left_out", e->sums.left_out);
  return NAI_OK;
}

static void put_places(struct nai_json *json, const struct nai_model *m) {
  nai_json_put_array(json, "gpus", NAI_JSON_LINES);
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    struct nai_value name = nai_table_value(m->tables[NAI_IN_GPUS], g, GPUS_gpu_name);
    NAI_SCOPED(nai_buf) label = {0};
    nai_buf_printf(&label, "%s%s%s", nai_get_str(m->tables[NAI_IN_GPUS], g, GPUS_label), name.null ? "" : " ",
                   name.null ? "" : name.s);
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_int(json, "id", m->gpus[g].device_id);
    nai_json_put_text(json, "label", nai_buf_str(&label));
    nai_json_end(json);
    json->out->oom |= label.oom;
  }
  nai_json_end(json);
  nai_json_put_array(json, "processes", NAI_JSON_LINES);
  for (uint32_t p = 0; p < m->process_count; p++) {
    struct nai_value name = nai_table_value(m->tables[NAI_IN_PROCESSES], p, PROCESSES_process_name);
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_int(json, "pid", nai_model_pid(m, (int32_t)p));
    nai_json_put_text(json, "name", name.null ? "" : name.s);
    nai_json_end(json);
  }
  nai_json_end(json);
  nai_json_put_array(json, "threads", NAI_JSON_LINES);
  for (uint32_t t = 0; t < m->thread_count; t++) {
    struct nai_value name = nai_table_value(m->tables[NAI_IN_THREADS], t, THREADS_thread_name);
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_int(json, "pid", nai_get_i64(m->tables[NAI_IN_THREADS], t, THREADS_pid));
    nai_json_put_int(json, "tid", nai_get_i64(m->tables[NAI_IN_THREADS], t, THREADS_tid));
    nai_json_put_text(json, "name", name.null ? "" : name.s);
    nai_json_end(json);
  }
  nai_json_end(json);
  nai_json_put_array(json, "configs", NAI_JSON_LINES);
  for (int64_t i = 0; i < m->tables[NAI_IN_KERNEL_CONFIGS]->rows; i++) {
    nai_json_begin_array(json, NAI_JSON_INLINE);
    for (int c = 0; c <= KERNEL_CONFIGS_dynamic_shared_bytes; c++) {
      struct nai_value v = nai_table_value(m->tables[NAI_IN_KERNEL_CONFIGS], i, c);
      nai_json_value(json, NAI_COUNT, &v);
    }
    nai_json_end(json);
  }
  nai_json_end(json);
}

static const char *const host_kinds[NAI_HOST_KINDS] = {
    [NAI_HOST_OVERHEAD] = "overhead", [NAI_HOST_MPI] = "mpi",      [NAI_HOST_OPENACC] = "openacc",
    [NAI_HOST_OSRT] = "osrt",         [NAI_HOST_FILE] = "file",    [NAI_HOST_FUNCTION] = "host_function",
    [NAI_HOST_SCHED] = "sched",       [NAI_HOST_SAMPLE] = "sample"};

static void put_host_lanes(struct nai_json *json, const struct nai_host_lanes *host, uint32_t first) {
  for (uint32_t i = 0; i < host->count; i++) {
    const struct nai_host_lane *lane = &host->v[i];
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "kind", host_kinds[lane->kind]);
    nai_json_put_int(json, "gpu", lane->gpu);
    nai_json_put_int(json, "pid", lane->pid);
    nai_json_put_int(json, "tid", lane->tid);
    nai_json_put_int(json, "context", lane->context);
    nai_json_put_int(json, "stream", lane->stream);
    nai_json_put_int(json, "first", first);
    nai_json_put_int(json, "count", lane->count);
    nai_json_end(json);
    first += lane->count;
  }
}

static void put_lanes(struct nai_json *json, const struct nai_encoder *e) {
  const struct nai_model *m = e->m;
  uint32_t first = 0;
  nai_json_put_array(json, "lanes", NAI_JSON_LINES);
  for (uint32_t i = 0; i < e->items.lane_count; i++) {
    const struct nai_lane *lane = e->items.lanes[i].lane;
    uint32_t count = e->items.lanes[i].count;
    int64_t pid = lane->thread >= 0 ? nai_get_i64(m->tables[NAI_IN_THREADS], lane->thread, THREADS_pid)
                                    : nai_model_pid(m, lane->process);
    struct nai_stream_info stream = nai_stream_info_of(m, lane->process, lane->context, lane->stream);
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "kind", kind_names[lane->kind]);
    nai_json_put_int(json, "gpu", lane->gpu);
    nai_json_put_int(json, "pid", pid == NAI_NULL_I64 ? 0 : pid);
    nai_json_put_int(json, "tid",
                     lane->thread >= 0 ? nai_get_i64(m->tables[NAI_IN_THREADS], lane->thread, THREADS_tid) : 0);
    nai_json_put_int(json, "context", lane->context == NAI_NULL_I32 ? -1 : lane->context);
    nai_json_put_int(json, "stream", lane->stream == NAI_NULL_I32 ? -1 : lane->stream);
    if (lane->stream >= 0 && stream.name)
      nai_json_put_text(json, "name", stream.name);
    nai_json_put_int(json, "first", first);
    nai_json_put_int(json, "count", count);
    nai_json_end(json);
    first += count;
  }
  put_host_lanes(json, &e->host, first);
  nai_json_end(json);
}

static void put_part(struct nai_json *json, const char *key, int64_t offset, const struct nai_buf *part) {
  nai_json_put_object(json, key, NAI_JSON_INLINE);
  nai_json_put_int(json, "offset", offset);
  nai_json_put_int(json, "bytes", (int64_t)part->len);
  nai_json_end(json);
}

static void put_sums(struct nai_json *json, const struct nai_encoder *e, int64_t offset) {
  static const char *const kinds[] = {[NAI_SERIES_KERNEL] = "kernel",
                                      [NAI_SERIES_COPY] = "copy",
                                      [NAI_SERIES_CALL] = "call",
                                      [NAI_SERIES_BLOCKED] = "blocked",
                                      [NAI_SERIES_LAUNCH] = "launch"};
  const struct nai_sums *sums = &e->sums;
  put_part(json, "mix", offset, &e->mix);
  put_part(json, "sums", offset + (int64_t)e->mix.len, &sums->stream);
  nai_json_put_object(json, "grid", NAI_JSON_INLINE);
  nai_json_put_int(json, "bin_ns", sums->bin_ns);
  nai_json_put_int(json, "bins", sums->bins);
  nai_json_end(json);
  nai_json_put_array(json, "series", NAI_JSON_LINES);
  for (uint32_t i = 0; i < sums->count; i++) {
    const struct nai_series *series = &sums->list[i];
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "kind", kinds[series->kind]);
    nai_json_put_int(json, "gpu", series->gpu);
    nai_json_put_int(json, "name", series->name);
    nai_json_put_int(json, "entries", series->entries);
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_queues(struct nai_json *json, const struct nai_encoder *e, int64_t offset) {
  if (!e->queue_bins.len)
    return;
  put_part(json, "queue_bins", offset, &e->queue_bins);
  nai_json_put_array(json, "queues", NAI_JSON_LINES);
  for (uint32_t i = 0; i < e->queue_count; i++) {
    const struct nai_launch_queue *queue = &e->queues[i];
    if (!queue->stream.len)
      continue;
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_int(json, "gpu", queue->gpu);
    nai_json_put_int(json, "start_ns", queue->start - e->origin);
    nai_json_put_int(json, "end_ns", queue->end - e->origin);
    nai_json_put_int(json, "bin_ns", queue->bin_ns);
    nai_json_put_int(json, "lead_bins", queue->lead_bins);
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_passes(struct nai_json *json, const struct nai_encoder *e, int64_t offset) {
  if (!e->pass_count)
    return;
  put_part(json, "pass_times", offset, &e->pass_times);
  nai_json_put_array(json, "passes", NAI_JSON_LINES);
  for (uint32_t i = 0; i < e->pass_count; i++) {
    const struct nai_passes *passes = &e->passes[i];
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_int(json, "gpu", passes->gpu);
    nai_json_put_int(json, "count", passes->count);
    nai_json_put_text(json, "name", passes->name); /* null: of a unit */
    nai_json_put_int(json, "pid", passes->pid);
    nai_json_put_int(json, "unit", passes->unit);
    nai_json_put_bool(json, "last_is_cut", passes->last_is_cut);
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_columns(struct nai_json *json, const struct nai_encoder *e) {
  int64_t offset = 0;
  nai_json_put_array(json, "columns", NAI_JSON_LINES);
  for (int c = 0; c < COLUMNS && nai_encoder_has(e, c); c++) {
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "name", column_specs[c].name);
    nai_json_put_text(json, "encoding", column_specs[c].encoding);
    nai_json_put_int(json, "offset", offset);
    nai_json_put_int(json, "bytes", (int64_t)e->column_bytes[c].size);
    nai_json_end(json);
    offset += (int64_t)e->column_bytes[c].size;
  }
  nai_json_end(json);
  if (e->items.aggregated)
    put_sums(json, e, offset);
  offset += (int64_t)(e->mix.len + e->sums.stream.len);
  put_queues(json, e, offset);
  offset += (int64_t)e->queue_bins.len;
  put_passes(json, e, offset);
  nai_json_put_int(json, "events", e->events);
  nai_json_put_int(json, "raw_bytes", offset + (int64_t)e->pass_times.len);
}

int nai_encoder_print_json(struct nai_buf *out, const struct nai_encoder *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  const struct nai_items *items = &e->items;
  NAI_SCOPED(nai_json) json = {0};
  char text[160];
  nai_json_init(&json, out, true);
  nai_json_begin_object(&json, NAI_JSON_LINES);
  nai_json_put_int(&json, "version", 1);
  snprintf(text, sizeof text, "%" PRId64, e->origin);
  nai_json_put_text(&json, "origin_ns", text);
  nai_json_put_int(&json, "start_ns", 0);
  nai_json_put_int(&json, "end_ns", e->end - e->origin);
  nai_json_put_int(&json, "total_events", (int64_t)m->lanes.total);
  nai_json_put_int(&json, "embedded_events", e->events - e->host_events);
  nai_json_put_int(&json, "host_bucket_ns", e->host.bucket_ns);
  nai_json_put_bool(&json, "aggregated", items->aggregated);
  nai_json_put_array(&json, "detail_windows", NAI_JSON_LINES);
  for (size_t i = 0; i < items->detail.count; i++) {
    nai_json_begin_array(&json, NAI_JSON_INLINE);
    nai_json_int(&json, items->detail.v[i].start - e->origin);
    nai_json_int(&json, items->detail.v[i].end - e->origin);
    nai_json_end(&json);
  }
  nai_json_end(&json);
  NAI_SCOPED(nai_buf) note = {0};
  nai_buf_puts(&note,
               "Too many events for one page. The marked stretches have every event; elsewhere those shorter than ");
  nai_fmt_duration(&note, (double)items->bucket_ns);
  nai_buf_puts(&note, " (");
  nai_fmt_count(&note, (int64_t)e->merged_events);
  nai_buf_puts(&note, " of ");
  nai_fmt_count(&note, (int64_t)m->lanes.total);
  nai_buf_puts(&note, ") are drawn as blocks of that length. Numbers of a selected range are exact everywhere.");
  if (e->sums.left_out) {
    nai_buf_putc(&note, ' ');
    nai_fmt_count(&note, e->sums.left_out);
    nai_buf_puts(&note, " more names are not on the page: search finds their events in the marked stretches only.");
  }
  nai_json_put_text(&json, "note", items->aggregated ? nai_buf_str(&note) : NULL);
  out->oom |= note.oom;
  NAI_TRY(put_names(&json, e, err));
  put_places(&json, m);
  NAI_TRY(nai_encoder_put_utilization(&json, e, err));
  put_lanes(&json, e);
  put_columns(&json, e);
  nai_json_finish(&json);
  return NAI_OK;
}
