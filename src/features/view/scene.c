#include "features/view/scene.h"

#include "base/array.h"
#include "model/idle/idle.h"
#include "table/kernel_name.h"
#include "tables/threads.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add_row(struct nai_scene *scene, struct nai_row row, struct nai_buf *label, struct nai_err *err) {
  row.label = label->oom ? NULL : strdup(nai_buf_str(label));
  nai_buf_clear(label);
  if (!row.label || !nai_array_room(&scene->rows, &scene->capacity, scene->count, sizeof row)) {
    free(row.label);
    free(row.all.own);
    return nai_err_nomem(err);
  }
  scene->rows[scene->count] = row;
  struct nai_row *added = &scene->rows[scene->count++];
  return added->kind == NAI_ROW_EVENTS ? nai_spans_index(&added->all, err) : NAI_OK;
}

/* --- GPUs --------------------------------------------------------------------------------------------- */

static int add_stream(struct nai_scene *scene, const struct nai_lane *lane, uint32_t gpu, bool shared,
                      struct nai_err *err) {
  static const char *const kinds[] = {
      [NAI_LANE_KERNEL] = "", [NAI_LANE_COPY] = " copies", [NAI_LANE_SET] = " memsets", [NAI_LANE_GRAPH] = " graphs"};
  struct nai_row row = {.kind = NAI_ROW_EVENTS,
                        .lane = lane->kind,
                        .gpu = gpu,
                        .thread = -1,
                        .process = lane->process,
                        .context = lane->context,
                        .stream = lane->stream,
                        .depth = -1};
  struct nai_buf label = {0};
  if (lane->stream < 0)
    nai_buf_printf(&label, " other streams%s", kinds[lane->kind]);
  else
    nai_buf_printf(&label, " stream %d%s", lane->stream, kinds[lane->kind]);
  if (shared && nai_model_pid(scene->m, lane->process) != NAI_NULL_I64)
    nai_buf_printf(&label, " pid %lld", (long long)nai_model_pid(scene->m, lane->process));
  row.all = (struct nai_spans){.rows = lane->rows, .count = lane->count};
  nai_lane_times(&row.all.start, &row.all.end, scene->m, lane->kind);
  int rc = add_row(scene, row, &label, err);
  nai_buf_free(&label);
  return rc;
}

/* The first gap and the last may be empty. */
static struct nai_spans gaps_of(const struct nai_gpu *gpu) {
  struct nai_interval first = nai_idle_span(gpu, 0), last = nai_idle_span(gpu, gpu->all.count);
  uint32_t from = first.end <= first.start, to = (uint32_t)gpu->all.count + (last.end > last.start);
  return (struct nai_spans){.gaps_of = gpu, .first_gap = from, .count = to > from ? to - from : 0};
}

static int index_bands(struct nai_bands *bands, const struct nai_gpu *gpu, struct nai_err *err) {
  const struct nai_intervals *sets[] = {&gpu->all, &gpu->exposed_communication, &gpu->exposed_copy};
  struct nai_spans *spans[] = {&bands->all, &bands->communication, &bands->copy};
  int rc = NAI_OK;
  for (int i = 0; i < 3 && !rc; i++) {
    *spans[i] = (struct nai_spans){.set = sets[i]->v, .count = (uint32_t)sets[i]->count};
    rc = nai_spans_index(spans[i], err);
  }
  bands->gaps = gaps_of(gpu);
  return rc ? rc : nai_spans_index(&bands->gaps, err);
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
  struct nai_buf label = {0};
  int rc = index_bands(&scene->bands[g], gpu, err);
  for (int kind = NAI_ROW_BUSY; kind <= NAI_ROW_GAPS && !rc; kind++) {
    nai_buf_printf(&label, "%s%s", nai_model_gpu_label(m, gpu->device_id), labels[kind]);
    rc = add_row(scene,
                 (struct nai_row){.kind = (enum nai_row_kind)kind,
                                  .gpu = g,
                                  .thread = -1,
                                  .process = -1,
                                  .context = -1,
                                  .stream = -1,
                                  .depth = -1},
                 &label, err);
  }
  for (uint32_t l = 0; l < m->lanes.count && !rc; l++)
    if (m->lanes.v[l].thread < 0 && m->lanes.v[l].gpu == gpu->device_id)
      rc = add_stream(scene, &m->lanes.v[l], g, gpu->processes.count > 1, err);
  nai_buf_free(&label);
  return rc;
}

/* --- threads ------------------------------------------------------------------------------------------ */

static void print_thread(struct nai_buf *out, const struct nai_model *m, int32_t thread) {
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  const char *name = nai_get_str(threads, thread, THREADS_thread_name);
  int64_t pid = nai_model_pid(m, m->thread_process[thread]), tid = nai_get_i64(threads, thread, THREADS_tid);
  if (pid != NAI_NULL_I64)
    nai_buf_printf(out, "%lld", (long long)pid);
  if (tid != NAI_NULL_I64 && tid != pid)
    nai_buf_printf(out, "/%lld", (long long)tid);
  if (*name)
    nai_buf_printf(out, " %s", name);
}

static int add_host(struct nai_scene *scene, const struct nai_lane *lane, const char *what, int depth,
                    const uint32_t *rows, uint32_t *own, uint32_t count, struct nai_err *err) {
  struct nai_row row = {.kind = NAI_ROW_EVENTS,
                        .lane = lane->kind,
                        .gpu = UINT32_MAX,
                        .thread = lane->thread,
                        .process = lane->process,
                        .context = -1,
                        .stream = -1,
                        .depth = depth};
  struct nai_buf label = {0};
  if (!what)
    print_thread(&label, scene->m, lane->thread);
  else
    nai_buf_puts(&label, what);
  row.all = (struct nai_spans){.rows = rows, .own = own, .count = count};
  nai_lane_times(&row.all.start, &row.all.end, scene->m, lane->kind);
  int rc = add_row(scene, row, &label, err);
  nai_buf_free(&label);
  return rc;
}

static int depth_of(const struct nai_model *m, uint32_t range) {
  return m->nvtx_depth[range] < NAI_DEPTHS ? m->nvtx_depth[range] : NAI_DEPTHS - 1;
}

/* A row per depth. */
static int add_ranges(struct nai_scene *scene, const struct nai_lane *lane, struct nai_err *err) {
  uint32_t counts[NAI_DEPTHS] = {0}, *rows[NAI_DEPTHS] = {0};
  char label[32];
  int rc = NAI_OK;
  for (uint32_t i = 0; i < lane->count; i++)
    counts[depth_of(scene->m, lane->rows[i])]++;
  for (int d = 0; d < NAI_DEPTHS && !rc; d++) {
    rows[d] = malloc(((size_t)counts[d] + 1) * sizeof **rows);
    rc = rows[d] ? NAI_OK : nai_err_nomem(err);
    counts[d] = 0;
  }
  for (uint32_t i = 0; i < lane->count && !rc; i++) {
    int d = depth_of(scene->m, lane->rows[i]);
    rows[d][counts[d]++] = lane->rows[i];
  }
  for (int d = 0; d < NAI_DEPTHS; d++) {
    snprintf(label, sizeof label, " depth %d", d);
    if (rc || !counts[d])
      free(rows[d]);
    else
      rc = add_host(scene, lane, d ? label : NULL, d, rows[d], rows[d], counts[d], err);
  }
  return rc;
}

/* The lanes of a thread lie apart in the model: ranges first here, then calls. */
static int add_threads(struct nai_scene *scene, struct nai_err *err) {
  const struct nai_lanes *lanes = &scene->m->lanes;
  enum { OF_THREAD = 3 };
  uint32_t threads = scene->m->thread_count, *of = calloc((size_t)threads * OF_THREAD + 1, sizeof *of); /* lane + 1 */
  int rc = of ? NAI_OK : nai_err_nomem(err);
  for (uint32_t l = 0; l < lanes->count && !rc; l++)
    if (lanes->v[l].thread >= 0)
      of[(size_t)lanes->v[l].thread * OF_THREAD + (lanes->v[l].kind == NAI_LANE_API          ? 2
                                                   : lanes->v[l].kind == NAI_LANE_NVTX_ASYNC ? 1
                                                                                             : 0)] = l + 1;
  for (uint32_t i = 0; i < threads * OF_THREAD && !rc; i++) {
    if (!of[i])
      continue;
    const struct nai_lane *lane = &lanes->v[of[i] - 1];
    bool first = i % OF_THREAD == 0 || (!of[i - 1] && (i % OF_THREAD == 1 || !of[i - 2]));
    const char *what = first ? NULL : lane->kind == NAI_LANE_API ? " calls" : " start/end";
    rc = lane->kind == NAI_LANE_NVTX ? add_ranges(scene, lane, err)
                                     : add_host(scene, lane, what, -1, lane->rows, NULL, lane->count, err);
  }
  free(of);
  return rc;
}

/* --- all ---------------------------------------------------------------------------------------------- */

static int shorten(struct nai_scene *scene, struct nai_err *err) {
  enum { SHORT_MAX = 72 }; /* as in table kernels */
  const struct nai_strings *names = &scene->m->tables[NAI_IN_KERNELS]->strings;
  const char **list = calloc((size_t)names->count + 1, sizeof *list);
  for (uint32_t i = 0; list && i < names->count; i++)
    list[i] = nai_strings_get(names, i);
  int rc = list ? nai_kernel_names_short(&scene->short_names, list, names->count, SHORT_MAX, err) : nai_err_nomem(err);
  free(list);
  return rc;
}

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
  *scene = (struct nai_scene){.m = m};
  scene->bands = calloc((size_t)m->gpu_count + 1, sizeof *scene->bands);
  int rc = scene->bands ? check_gpus(m, gpus, gpu_count, err) : nai_err_nomem(err);
  if (!rc)
    rc = shorten(scene, err);
  for (uint32_t g = 0; g < m->gpu_count && !rc; g++)
    if (wanted(gpus, gpu_count, m->gpus[g].device_id))
      rc = add_gpu(scene, g, err);
  if (!rc)
    rc = add_threads(scene, err);
  if (!rc)
    find_extent(scene);
  return rc;
}

void nai_scene_free(struct nai_scene *scene) {
  for (uint32_t r = 0; r < scene->count; r++) {
    nai_spans_free(&scene->rows[r].all);
    nai_spans_free(&scene->rows[r].matching);
    free(scene->rows[r].label);
  }
  for (uint32_t g = 0; scene->bands && g < scene->m->gpu_count; g++) {
    struct nai_spans *bands[] = {&scene->bands[g].all, &scene->bands[g].communication, &scene->bands[g].copy,
                                 &scene->bands[g].gaps};
    for (int i = 0; i < 4; i++)
      nai_spans_free(bands[i]);
  }
  free(scene->rows);
  free(scene->bands);
  free(scene->short_names);
  free(scene->filter.text);
  *scene = (struct nai_scene){0};
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

/* Whether each kernel name has the text in it. */
static bool *match_names(const struct nai_scene *scene) {
  const struct nai_strings *names = &scene->m->tables[NAI_IN_KERNELS]->strings;
  bool *match = calloc((size_t)names->count + 1, sizeof *match);
  for (uint32_t i = 0; match && i < names->count; i++)
    match[i] = !scene->filter.text || strcasestr(nai_strings_get(names, i), scene->filter.text);
  return match;
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
  uint32_t count = 0;
  nai_spans_free(&row->matching);
  for (uint32_t i = 0; i < row->all.count; i++)
    count += matches(scene, row, i, names);
  uint32_t *own = malloc(((size_t)count + 1) * sizeof *own);
  if (!own)
    return nai_err_nomem(err);
  row->matching = (struct nai_spans){.start = row->all.start, .end = row->all.end, .rows = own, .own = own};
  for (uint32_t i = 0; i < row->all.count; i++)
    if (matches(scene, row, i, names))
      own[row->matching.count++] = row->all.rows[i];
  scene->matches += count;
  return nai_spans_index(&row->matching, err);
}

int nai_scene_filter(struct nai_scene *scene, const char *text, int64_t min_ns, struct nai_err *err) {
  char *copy = text && *text ? strdup(text) : NULL;
  if (text && *text && !copy)
    return nai_err_nomem(err);
  free(scene->filter.text);
  scene->filter = (struct nai_filter){copy, min_ns};
  scene->matches = 0;
  if (!nai_scene_filtered(scene))
    return NAI_OK;
  bool *names = match_names(scene);
  int rc = names ? NAI_OK : nai_err_nomem(err);
  for (uint32_t r = 0; r < scene->count && !rc; r++)
    if (is_filtered(&scene->rows[r]))
      rc = filter_row(scene, &scene->rows[r], names, err);
  free(names);
  return rc;
}
