#include "features/view/scene.h"

#include "model/idle/idle.h"
#include "table/kernel_name.h"
#include "tables/threads.h"

/* A row of a lane without its events, or, with lane NULL, of a GPU as a whole. */
static struct nai_row row_of(const struct nai_lane *lane, uint32_t gpu) {
  struct nai_row row = {.gpu = gpu, .thread = -1, .process = -1, .context = -1, .stream = -1, .depth = -1};
  if (lane) {
    row.kind = NAI_ROW_EVENTS;
    row.lane = lane->kind;
    row.thread = lane->thread;
    row.process = lane->process;
    row.context = lane->context;
    row.stream = lane->stream;
  }
  return row;
}

static int add_row(struct nai_scene *scene, struct nai_row row, const char *label, struct nai_err *err) {
  row.label = label;
  NAI_TRY(nai_arena_check(&scene->arena, err));
  NAI_TRY(NAI_ROOM(scene->rows, scene->capacity, scene->count, &scene->arena, err));
  struct nai_row *added = &scene->rows[scene->count++];
  *added = row;
  return added->kind == NAI_ROW_EVENTS ? nai_spans_index(&added->all, &scene->arena, err) : NAI_OK;
}

/* --- GPUs --------------------------------------------------------------------------------------------- */

static int add_stream(struct nai_scene *scene, const struct nai_lane *lane, uint32_t gpu, bool shared,
                      struct nai_err *err) {
  static const char *const kinds[] = {
      [NAI_LANE_KERNEL] = "", [NAI_LANE_COPY] = " copies", [NAI_LANE_SET] = " memsets", [NAI_LANE_GRAPH] = " graphs"};
  struct nai_row row = row_of(lane, gpu);
  int64_t pid = shared ? nai_model_pid(scene->m, lane->process) : NAI_NULL_I64;
  const char *stream =
      lane->stream < 0 ? " other streams" : nai_arena_printf(&scene->arena, " stream %d", lane->stream);
  const char *of = pid == NAI_NULL_I64 ? "" : nai_arena_printf(&scene->arena, " pid %lld", (long long)pid);
  row.all = (struct nai_spans){.rows = lane->rows, .count = lane->count};
  nai_lane_times(&row.all.start, &row.all.end, scene->m, lane->kind);
  return add_row(scene, row, nai_arena_printf(&scene->arena, "%s%s%s", stream, kinds[lane->kind], of), err);
}

/* The first gap and the last may be empty. */
static struct nai_spans gaps_of(const struct nai_gpu *gpu) {
  struct nai_interval first = nai_idle_span(gpu, 0), last = nai_idle_span(gpu, gpu->all.count);
  uint32_t from = first.end <= first.start, to = (uint32_t)gpu->all.count + (last.end > last.start);
  return (struct nai_spans){.gaps_of = gpu, .first_gap = from, .count = to > from ? to - from : 0};
}

static int index_bands(struct nai_scene *scene, struct nai_bands *bands, const struct nai_gpu *gpu,
                       struct nai_err *err) {
  const struct nai_intervals *sets[] = {&gpu->all, &gpu->exposed_communication, &gpu->exposed_copy};
  struct nai_spans *spans[] = {&bands->all, &bands->communication, &bands->copy};
  for (int i = 0; i < 3; i++) {
    *spans[i] = (struct nai_spans){.set = sets[i]->v, .count = (uint32_t)sets[i]->count};
    NAI_TRY(nai_spans_index(spans[i], &scene->arena, err));
  }
  bands->gaps = gaps_of(gpu);
  return nai_spans_index(&bands->gaps, &scene->arena, err);
}

static bool wanted(const int64_t *gpus, size_t count, int64_t device) {
  for (size_t i = 0; i < count; i++)
    if (gpus[i] == device)
      return true;
  return !count;
}

static int add_gpu(struct nai_scene *scene, uint32_t g, struct nai_err *err) {
  static const char *const labels[] = {" busy", " work", " gaps"};
  const struct nai_model *m = scene->m;
  const struct nai_gpu *gpu = &m->gpus[g];
  NAI_TRY(index_bands(scene, &scene->bands[g], gpu, err));
  for (int kind = NAI_ROW_BUSY; kind <= NAI_ROW_GAPS; kind++) {
    struct nai_row row = row_of(NULL, g);
    row.kind = (enum nai_row_kind)kind;
    const char *gpu_label = nai_model_gpu_label(m, gpu->device_id);
    NAI_TRY(add_row(scene, row, nai_arena_printf(&scene->arena, "%s%s", gpu_label, labels[kind]), err));
  }
  for (uint32_t l = 0; l < m->lanes.count; l++)
    if (m->lanes.v[l].thread < 0 && m->lanes.v[l].gpu == gpu->device_id)
      NAI_TRY(add_stream(scene, &m->lanes.v[l], g, gpu->processes.count > 1, err));
  return NAI_OK;
}

/* --- threads ------------------------------------------------------------------------------------------ */

/* "144/145 main thread" */
static const char *thread_label(struct nai_scene *scene, int32_t thread) {
  const struct nai_table *threads = scene->m->tables[NAI_IN_THREADS];
  const char *name = nai_get_str(threads, thread, THREADS_thread_name);
  int64_t pid = nai_model_pid(scene->m, scene->m->thread_process[thread]),
          tid = nai_get_i64(threads, thread, THREADS_tid);
  struct nai_arena *arena = &scene->arena;
  const char *process = pid == NAI_NULL_I64 ? "" : nai_arena_printf(arena, "%lld", (long long)pid);
  const char *own = tid == NAI_NULL_I64 || tid == pid ? "" : nai_arena_printf(arena, "/%lld", (long long)tid);
  return nai_arena_printf(arena, "%s%s%s%s", process, own, *name ? " " : "", name);
}

/* `label` NULL: the thread's. */
static int add_host(struct nai_scene *scene, const struct nai_lane *lane, const char *label, int depth,
                    const uint32_t *rows, uint32_t count, struct nai_err *err) {
  struct nai_row row = row_of(lane, UINT32_MAX);
  row.depth = depth;
  row.all = (struct nai_spans){.rows = rows, .count = count};
  nai_lane_times(&row.all.start, &row.all.end, scene->m, lane->kind);
  return add_row(scene, row, label ? label : thread_label(scene, lane->thread), err);
}

static int depth_of(const struct nai_model *m, uint32_t range) {
  return m->nvtx_depth[range] < NAI_DEPTHS ? m->nvtx_depth[range] : NAI_DEPTHS - 1;
}

/* A row per depth. */
static int add_ranges(struct nai_scene *scene, const struct nai_lane *lane, struct nai_err *err) {
  uint32_t counts[NAI_DEPTHS] = {0}, *rows[NAI_DEPTHS];
  for (uint32_t i = 0; i < lane->count; i++)
    counts[depth_of(scene->m, lane->rows[i])]++;
  for (int d = 0; d < NAI_DEPTHS; d++) {
    NAI_TRY(NAI_NEW(rows[d], &scene->arena, counts[d], err));
    counts[d] = 0;
  }
  for (uint32_t i = 0; i < lane->count; i++) {
    int d = depth_of(scene->m, lane->rows[i]);
    rows[d][counts[d]++] = lane->rows[i];
  }
  for (int d = 0; d < NAI_DEPTHS; d++)
    if (counts[d])
      NAI_TRY(add_host(scene, lane, d ? nai_arena_printf(&scene->arena, " depth %d", d) : NULL, d, rows[d], counts[d],
                       err));
  return NAI_OK;
}

/* The lanes of a thread lie apart in the model: ranges first here, then calls. */
static int add_threads(struct nai_scene *scene, struct nai_err *err) {
  const struct nai_lanes *lanes = &scene->m->lanes;
  enum { RANGES, START_END, CALLS, OF_THREAD };
  uint32_t threads = scene->m->thread_count, (*of)[OF_THREAD]; /* lane + 1 */
  NAI_TRY(NAI_NEW(of, &scene->arena, threads, err));
  for (uint32_t l = 0; l < lanes->count; l++)
    if (lanes->v[l].thread >= 0)
      of[lanes->v[l].thread][lanes->v[l].kind == NAI_LANE_API          ? CALLS
                             : lanes->v[l].kind == NAI_LANE_NVTX_ASYNC ? START_END
                                                                       : RANGES] = l + 1;
  for (uint32_t t = 0; t < threads; t++) {
    static const char *const labels[] = {NULL, " start/end", " calls"};
    bool first = true;
    for (int k = 0; k < OF_THREAD; k++) {
      const struct nai_lane *lane = of[t][k] ? &lanes->v[of[t][k] - 1] : NULL;
      if (!lane)
        continue;
      NAI_TRY(k == RANGES ? add_ranges(scene, lane, err)
                          : add_host(scene, lane, first ? NULL : labels[k], -1, lane->rows, lane->count, err));
      first = false;
    }
  }
  return NAI_OK;
}

/* --- all ---------------------------------------------------------------------------------------------- */

static void find_extent(struct nai_scene *scene) {
  const struct nai_model *m = scene->m;
  scene->first = INT64_MAX;
  scene->last = INT64_MIN;
  for (uint32_t r = 0; r < scene->count; r++) {
    const struct nai_spans *s = &scene->rows[r].all;
    if (scene->rows[r].kind != NAI_ROW_EVENTS || !s->count)
      continue;
    int64_t first = nai_spans_start(s, 0), last = s->reach[s->sizes[0] - 1];
    for (uint32_t i = (s->sizes[0] - 1) * NAI_SPANS_BLOCK; i < s->count; i++)
      last = nai_spans_end(s, i) > last ? nai_spans_end(s, i) : last;
    scene->first = first < scene->first ? first : scene->first;
    scene->last = last > scene->last ? last : scene->last;
  }
  if (scene->first > scene->last)
    scene->first = m->window_start, scene->last = m->window_end;
  if (scene->last == scene->first)
    scene->last++; /* a window has a length */
}

static int check_gpus(const struct nai_model *m, const int64_t *gpus, size_t count, struct nai_err *err) {
  for (size_t i = 0; i < count; i++)
    if (gpus[i] < INT32_MIN || gpus[i] > INT32_MAX || nai_model_gpu_index(m, (int32_t)gpus[i]) == m->gpu_count)
      return nai_err_set(err, NAI_EUSAGE, "--gpu %lld: the trace has no such GPU; nsys-ai info SRC lists them",
                         (long long)gpus[i]);
  return NAI_OK;
}

int nai_scene_open(struct nai_scene *scene, const struct nai_model *m, const int64_t *gpus, size_t gpu_count,
                   struct nai_err *err) {
  *scene = (struct nai_scene){.m = m, .arena = NAI_ARENA(NULL), .filter = {.arena = NAI_ARENA(NULL)}};
  NAI_TRY(check_gpus(m, gpus, gpu_count, err));
  NAI_TRY(NAI_NEW(scene->bands, &scene->arena, m->gpu_count, err));
  NAI_TRY(nai_kernel_names_of(&scene->short_names, &m->tables[NAI_IN_KERNELS]->strings, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    if (wanted(gpus, gpu_count, m->gpus[g].device_id))
      NAI_TRY(add_gpu(scene, g, err));
  NAI_TRY(add_threads(scene, err));
  find_extent(scene);
  return NAI_OK;
}

void nai_scene_free(struct nai_scene *scene) {
  free(scene->short_names);
  nai_arena_free(&scene->arena);
  nai_arena_free(&scene->filter.arena);
}

/* --- filter ------------------------------------------------------------------------------------------- */

bool nai_scene_filtered(const struct nai_scene *scene) { return scene->filter.text || scene->filter.min_ns > 0; }

static bool is_filtered(const struct nai_row *row) { return row->kind == NAI_ROW_EVENTS && row->thread < 0; }

const struct nai_spans *nai_row_spans(const struct nai_scene *scene, const struct nai_row *row) {
  if (row->kind == NAI_ROW_EVENTS)
    return nai_scene_filtered(scene) && is_filtered(row) ? &row->matching : &row->all;
  const struct nai_bands *bands = &scene->bands[row->gpu];
  return row->kind == NAI_ROW_GAPS ? &bands->gaps : &bands->all;
}

static bool matches(const struct nai_scene *scene, const struct nai_row *row, uint32_t i, const bool *names) {
  if (nai_spans_end(&row->all, i) - nai_spans_start(&row->all, i) < scene->filter.min_ns)
    return false;
  if (row->lane != NAI_LANE_KERNEL)
    return !scene->filter.text;
  uint32_t name = nai_at_text(&scene->m->kernels.name, row->all.rows[i]);
  return name < scene->m->tables[NAI_IN_KERNELS]->strings.count ? names[name] : !scene->filter.text;
}

static int filter_row(struct nai_scene *scene, struct nai_row *row, const bool *names, struct nai_err *err) {
  struct nai_spans s = {.start = row->all.start, .end = row->all.end};
  uint32_t count = 0, *rows;
  for (uint32_t i = 0; i < row->all.count; i++)
    count += matches(scene, row, i, names);
  NAI_TRY(NAI_NEW(rows, &scene->filter.arena, count, err));
  for (uint32_t i = 0; i < row->all.count; i++)
    if (matches(scene, row, i, names))
      rows[s.count++] = row->all.rows[i];
  s.rows = rows;
  NAI_TRY(nai_spans_index(&s, &scene->filter.arena, err));
  row->matching = s;
  scene->matches += count;
  return NAI_OK;
}

int nai_scene_filter(struct nai_scene *scene, const char *text, int64_t min_ns, struct nai_err *err) {
  const struct nai_strings *strings = &scene->m->tables[NAI_IN_KERNELS]->strings;
  NAI_FREED char *copy = text && *text ? strdup(text) : NULL; /* it may be the text of the filter before */
  bool *names;
  if (text && *text && !copy)
    return nai_err_nomem(err);
  for (uint32_t r = 0; r < scene->count; r++)
    scene->rows[r].matching = (struct nai_spans){0};
  nai_arena_free(&scene->filter.arena);
  scene->filter = (struct nai_filter){.min_ns = min_ns, .arena = NAI_ARENA(NULL)};
  scene->filter.text = copy ? nai_arena_printf(&scene->filter.arena, "%s", copy) : NULL;
  scene->matches = 0;
  NAI_TRY(nai_arena_check(&scene->filter.arena, err));
  if (!nai_scene_filtered(scene))
    return NAI_OK;
  NAI_TRY(NAI_NEW(names, &scene->filter.arena, strings->count, err));
  for (uint32_t i = 0; i < strings->count; i++)
    names[i] = !copy || strcasestr(nai_strings_get(strings, i), copy);
  for (uint32_t r = 0; r < scene->count; r++)
    if (is_filtered(&scene->rows[r]))
      NAI_TRY(filter_row(scene, &scene->rows[r], names, err));
  return NAI_OK;
}
