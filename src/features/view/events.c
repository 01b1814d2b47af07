/* What one event of a row is: its name, its facts, where it comes from. */
#include "features/view/scene.h"

#include "base/fmt.h"
#include "config/kernel_classes.h"
#include "model/idle/idle.h"
#include "tables/kernel_configs.h"
#include "tables/threads.h"

static uint32_t table_row(const struct nai_scene *scene, const struct nai_row *row, uint32_t event) {
  return nai_row_spans(scene, row)->rows[event];
}

/* enum nai_idle_cause of a gap, -1 where causes are not known. */
static int cause_of(const struct nai_scene *scene, uint32_t gpu, uint32_t event) {
  const struct nai_gpu_idle *idle = scene->m->idle ? &scene->m->idle[gpu] : NULL;
  return idle && idle->cause ? idle->cause[scene->bands[gpu].gaps.first_gap + event] : -1;
}

/* --- names -------------------------------------------------------------------------------------------- */

void nai_event_name(struct nai_buf *out, const struct nai_scene *scene, const struct nai_row *row, uint32_t event,
                    bool full) {
  const struct nai_model *m = scene->m;
  char room[NAI_KIND_NAME_MAX];
  if (row->kind != NAI_ROW_EVENTS) {
    nai_buf_puts(out, row->kind == NAI_ROW_GAPS ? nai_gap_cause(scene, row->gpu, event) : "busy");
    return;
  }
  uint32_t r = table_row(scene, row, event);
  const char *name = nai_lane_event_name(room, m, row->lane, r);
  if (row->lane == NAI_LANE_KERNEL && *name && !full)
    name = scene->short_names[nai_at_text(&m->kernels.name, r)];
  nai_buf_puts(out, *name || row->lane == NAI_LANE_API ? name : "(no name)");
}

uint64_t nai_event_name_id(const struct nai_scene *scene, const struct nai_row *row, uint32_t event) {
  const struct nai_model *m = scene->m;
  if (row->kind == NAI_ROW_GAPS)
    return (uint64_t)cause_of(scene, row->gpu, event);
  if (row->kind != NAI_ROW_EVENTS)
    return 0;
  uint32_t r = table_row(scene, row, event);
  switch (row->lane) {
  case NAI_LANE_KERNEL:
    return nai_at_text(&m->kernels.name, r);
  case NAI_LANE_COPY:
    return (uint64_t)(uint32_t)nai_at_i32(&m->memops.copy_kind, r);
  case NAI_LANE_NVTX:
  case NAI_LANE_NVTX_ASYNC:
    return nai_at_text(&m->nvtx.name, r);
  case NAI_LANE_API:
    return nai_at_text(&m->apis.name, r);
  case NAI_LANE_SET:
  case NAI_LANE_GRAPH:
    break;
  }
  return 0;
}

int nai_event_category(const struct nai_scene *scene, const struct nai_row *row, uint32_t event) {
  const struct nai_model *m = scene->m;
  if (row->kind != NAI_ROW_EVENTS)
    return 0;
  if (row->lane == NAI_LANE_KERNEL) {
    uint32_t id = nai_at_text(&m->kernels.name, table_row(scene, row, event));
    return id < m->tables[NAI_IN_KERNELS]->strings.count ? m->kernel_category[id] + 1 : 0;
  }
  return row->lane == NAI_LANE_NVTX || row->lane == NAI_LANE_NVTX_ASYNC
           ? 1 + (int)(nai_event_name_id(scene, row, event) % 64)
           : (int)row->lane + 1;
}

/* --- where it comes from ------------------------------------------------------------------------------ */

uint32_t nai_event_call(const struct nai_scene *scene, const struct nai_row *row, uint32_t event) {
  return row->kind == NAI_ROW_EVENTS ? nai_lane_call(scene->m, row->lane, table_row(scene, row, event)) : NAI_NO_ROW;
}

/* The ranges around an event of a row of ranges: what is open, when it begins, in the rows above of its thread. */
static int ranges_around(uint32_t ranges[NAI_DEPTHS], const struct nai_scene *scene, const struct nai_row *row,
                         uint32_t event) {
  int64_t start = nai_spans_start(&row->all, event);
  int count = 0;
  for (const struct nai_row *r = scene->rows; r < row; r++) {
    uint32_t open = r->thread == row->thread && r->depth >= 0 && r->depth < row->depth ? nai_spans_at(&r->all, start)
                                                                                       : r->all.count;
    if (open < r->all.count && count < NAI_DEPTHS)
      ranges[count++] = r->all.rows[open];
  }
  return count;
}

/* The node of the tree with those names, from the outermost on. */
static const struct nai_nvtx_node *range_node(const struct nai_scene *scene, const struct nai_row *row,
                                              uint32_t event) {
  const struct nai_model *m = scene->m;
  uint32_t ranges[NAI_DEPTHS + 1], above = NAI_NO_ROW;
  int count = row->lane == NAI_LANE_NVTX ? ranges_around(ranges, scene, row, event) : 0;
  bool start_end = row->lane == NAI_LANE_NVTX_ASYNC;
  ranges[count++] = row->all.rows[event];
  for (int i = 0; i < count; i++) {
    uint32_t n = m->first_node[row->thread], end = m->first_node[row->thread + 1];
    uint32_t name = nai_at_text(&m->nvtx.name, ranges[i]);
    while (n < end && (m->nodes[n].parent != above || m->nodes[n].name != name || m->nodes[n].start_end != start_end))
      n++;
    if (n == end)
      return NULL;
    above = n;
  }
  return &m->nodes[above];
}

const struct nai_nvtx_node *nai_event_node(const struct nai_scene *scene, const struct nai_row *row, uint32_t event) {
  const struct nai_model *m = scene->m;
  if (row->kind != NAI_ROW_EVENTS || !m->nodes)
    return NULL;
  uint32_t r = table_row(scene, row, event);
  if (row->lane == NAI_LANE_NVTX || row->lane == NAI_LANE_NVTX_ASYNC)
    return range_node(scene, row, event);
  uint32_t call = row->lane == NAI_LANE_API ? r : nai_event_call(scene, row, event);
  return call == NAI_NO_ROW ? NULL : nai_model_call_node(m, call);
}

/* "step > forward > attention" of a node. */
static void put_node_path(struct nai_buf *out, const struct nai_model *m, const struct nai_nvtx_node *node) {
  enum { MOST = 256 };
  const struct nai_nvtx_node *path[MOST];
  int depth = 0;
  for (; node && depth < MOST; depth++) {
    path[depth] = node;
    node = node->parent == NAI_NO_ROW ? NULL : &m->nodes[node->parent];
  }
  for (int i = depth; i-- > 0;) {
    nai_buf_puts(out, i == depth - 1 ? "" : " > ");
    nai_buf_puts(out, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, path[i]->name));
  }
}

void nai_event_path(struct nai_buf *out, const struct nai_scene *scene, const struct nai_row *row, uint32_t event) {
  uint32_t ranges[NAI_DEPTHS];
  bool range = row->kind == NAI_ROW_EVENTS && (row->lane == NAI_LANE_NVTX || row->lane == NAI_LANE_NVTX_ASYNC);
  if (!range) {
    put_node_path(out, scene->m, nai_event_node(scene, row, event));
    return;
  }
  int count = row->lane == NAI_LANE_NVTX ? ranges_around(ranges, scene, row, event) : 0;
  for (int i = 0; i < count; i++)
    nai_buf_printf(out, "%s > ", nai_model_range_name(scene->m, ranges[i]));
  nai_buf_puts(out, nai_model_range_name(scene->m, row->all.rows[event]));
}

/* --- facts -------------------------------------------------------------------------------------------- */

static void put_number(struct nai_buf *out, const char *what, int64_t value) {
  if (value != NAI_NULL_I64 && value != NAI_NULL_I32)
    nai_buf_printf(out, "%s%lld", what, (long long)value);
}

static void put_config(struct nai_buf *out, const struct nai_model *m, int32_t config) {
  const struct nai_table *t = m->tables[NAI_IN_KERNEL_CONFIGS];
  if (config < 0 || config >= t->rows || nai_get_i64(t, config, KERNEL_CONFIGS_grid_x) == NAI_NULL_I64)
    return;
  nai_buf_printf(out, "  grid %lldx%lldx%lld  block %lldx%lldx%lld",
                 (long long)nai_get_i64(t, config, KERNEL_CONFIGS_grid_x),
                 (long long)nai_get_i64(t, config, KERNEL_CONFIGS_grid_y),
                 (long long)nai_get_i64(t, config, KERNEL_CONFIGS_grid_z),
                 (long long)nai_get_i64(t, config, KERNEL_CONFIGS_block_x),
                 (long long)nai_get_i64(t, config, KERNEL_CONFIGS_block_y),
                 (long long)nai_get_i64(t, config, KERNEL_CONFIGS_block_z));
  put_number(out, "  registers ", nai_get_i64(t, config, KERNEL_CONFIGS_registers_per_thread));
}

static void put_bytes(struct nai_buf *out, const struct nai_model *m, uint32_t r) {
  const struct MEMOP_EVENTS_columns *v = &m->memops;
  int64_t bytes = nai_at(&v->bytes, r), ns = nai_at(&v->end_ns, r) - nai_at(&v->start_ns, r);
  if (bytes == NAI_NULL_I64)
    return;
  nai_buf_puts(out, "  ");
  nai_fmt_bytes(out, (double)bytes);
  if (ns > 0 && nai_memop_rate_is_possible(m, r)) {
    nai_buf_puts(out, " at ");
    nai_fmt_real(out, (double)bytes / (double)ns, 2);
    nai_buf_puts(out, " GB/s");
  }
}

static void put_place(struct nai_buf *out, const struct nai_scene *scene, const struct nai_row *row) {
  const struct nai_model *m = scene->m;
  nai_buf_puts(out, nai_model_gpu_label(m, m->gpus[row->gpu].device_id));
  if (row->stream >= 0)
    nai_buf_printf(out, "  stream %d", row->stream);
  put_number(out, "  pid ", nai_model_pid(m, row->process));
}

static void put_thread(struct nai_buf *out, const struct nai_scene *scene, const struct nai_row *row) {
  const struct nai_model *m = scene->m;
  const char *name = nai_get_str(m->tables[NAI_IN_THREADS], row->thread, THREADS_thread_name);
  put_number(out, "pid ", nai_model_pid(m, row->process));
  put_number(out, "  thread ", nai_get_i64(m->tables[NAI_IN_THREADS], row->thread, THREADS_tid));
  nai_buf_printf(out, "%s%s", *name ? " " : "", name);
}

void nai_event_facts(struct nai_buf *out, const struct nai_scene *scene, const struct nai_row *row, uint32_t event) {
  const struct nai_model *m = scene->m;
  if (row->thread >= 0)
    put_thread(out, scene, row);
  else
    put_place(out, scene, row);
  if (row->kind != NAI_ROW_EVENTS)
    return;
  uint32_t r = table_row(scene, row, event);
  if (row->lane == NAI_LANE_KERNEL) {
    int category = nai_event_category(scene, row, event);
    nai_buf_printf(out, "  %s", category ? nai_kernel_classes_name(m->classes, category - 1) : "other");
    put_config(out, m, nai_at_i32(&m->kernels.config, r));
  } else if (row->lane == NAI_LANE_COPY || row->lane == NAI_LANE_SET) {
    put_bytes(out, m, r);
  } else if (row->lane == NAI_LANE_API) {
    nai_buf_puts(out, nai_model_api_blocks(m, r) ? "  waits for the GPU" : "");
  }
}

/* --- gaps --------------------------------------------------------------------------------------------- */

static const char letters[NAI_IDLE_CAUSES] = {
    [NAI_IDLE_PROFILER] = 'p',      [NAI_IDLE_MODULE_LOAD] = 'm',    [NAI_IDLE_ALLOCATION] = 'a',
    [NAI_IDLE_BLOCKING_CALL] = 'b', [NAI_IDLE_QUEUE_DRAINED] = 'q',  [NAI_IDLE_IN_LAUNCH_CALL] = 'i',
    [NAI_IDLE_CUDA_CALL] = 'c',     [NAI_IDLE_HOST_CODE] = 'h',      [NAI_IDLE_LAUNCH_LATENCY] = 'l',
    [NAI_IDLE_DEPENDENCY] = 'd',    [NAI_IDLE_PAGE_MIGRATION] = 'g', [NAI_IDLE_HOST_FUNCTION] = 'f',
    [NAI_IDLE_UNKNOWN] = '?',
};

const char *nai_gap_cause(const struct nai_scene *scene, uint32_t gpu, uint32_t event) {
  int cause = cause_of(scene, gpu, event);
  return cause < 0 ? "cause not known" : nai_idle_cause_label((enum nai_idle_cause)cause);
}

char nai_cause_letter(const struct nai_scene *scene, uint32_t gpu, uint32_t event) {
  int cause = cause_of(scene, gpu, event);
  return cause < 0 ? '?' : letters[cause];
}

void nai_cause_letters(struct nai_buf *out) {
  for (int c = 0; c < NAI_IDLE_UNKNOWN; c++)
    nai_buf_printf(out, "%s%c %s", c ? "  " : "", letters[c], nai_idle_cause_label((enum nai_idle_cause)c));
}
