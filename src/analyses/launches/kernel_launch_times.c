/* How long are kernels called, queued and run, by name? Table kernel_launch_times. */
#include "analyses/analysis.h"
#include "tables/kernel_launch_times.h"
#include "tables/threads.h"

/* Kernels of a thread, GPU, function and name. */
struct group {
  uint32_t thread, device, api, kernel; /* device_id as an unsigned number; strings of api_events, kernel_events */
};
struct work {
  const struct nai_model *m;
  struct nai_keyset places, names, known; /* (thread, GPU); (function, kernel); a pair of both */
  struct group *groups;
  uint32_t capacity;
  uint32_t *group; /* per kernel, NAI_NO_GROUP without call */
  uint32_t *last;  /* per GPU and name (kernel_groups): 1 + the group met last, 0 for none */
};

static int group_kernel(struct work *w, uint32_t kernel, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_model *m = w->m;
  uint32_t api = m->kernel_api[kernel];
  bool added;
  w->group[kernel] = NAI_NO_GROUP;
  if (api == NAI_NO_ROW || nai_val_i32(&m->apis.thread, api) < 0)
    return NAI_OK;
  const struct group group = {(uint32_t)nai_val_i32(&m->apis.thread, api),
                              (uint32_t)nai_val_i32(&m->kernels.device_id, kernel), nai_val_text(&m->apis.name, api),
                              nai_val_text(&m->kernels.name, kernel)};
  uint32_t *last = &w->last[m->kernel_group[kernel]];
  if (*last && w->groups[*last - 1].thread == group.thread && w->groups[*last - 1].api == group.api) {
    w->group[kernel] = *last - 1;
    return NAI_OK;
  }
  uint32_t place = nai_keyset_add(&w->places, nai_key_pair(group.thread, group.device), &added),
           name = nai_keyset_add(&w->names, nai_key_pair(group.api, group.kernel), &added);
  w->group[kernel] = nai_keyset_add(&w->known, nai_key_pair(place, name), &added);
  NAI_TRY(nai_memory_check(!w->places.oom && !w->names.oom && !w->known.oom, err));
  NAI_TRY(NAI_ROOM(w->groups, w->capacity, w->group[kernel], arena, err));
  w->groups[w->group[kernel]] = group;
  *last = w->group[kernel] + 1;
  return NAI_OK;
}

/* --- the times of a kernel ------------------------------------------------------------------------------ */

enum time { TOTAL, API, QUEUE, KERNEL, TIMES };

static int64_t time_of(const struct nai_model *m, uint32_t kernel, enum time which) {
  uint32_t api = m->kernel_api[kernel];
  if (which == KERNEL)
    return nai_kernel_ns(m, kernel);
  int64_t returned = nai_val(&m->apis.end_ns, api);
  if (which == QUEUE)
    return nai_val(&m->kernels.start_ns, kernel) - returned;
  int64_t end = which == TOTAL ? nai_val(&m->kernels.end_ns, kernel) : returned;
  return (end > returned ? end : returned) - nai_val(&m->apis.start_ns, api);
}

struct times {
  const struct work *work;
  enum time which;
};

static void time_block(const void *ctx, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct times *times = ctx;
  for (uint32_t i = 0; i < count; i++) {
    group[i] = times->work->group[first + i];
    value[i] = group[i] == NAI_NO_GROUP ? 0 : time_of(times->work->m, first + i, times->which);
    if (times->which == QUEUE && value[i] < 0) /* it began inside of its call */
      group[i] = NAI_NO_GROUP;
  }
}

static void put(const struct nai_node_io *io, const struct group *group, const struct nai_stats *const stats[TIMES],
                uint32_t number) {
  const struct nai_model *m = io->model;
  const struct nai_stats *total = &stats[TOTAL][number], *api = &stats[API][number], *queue = &stats[QUEUE][number],
                         *kernel = &stats[KERNEL][number];
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  struct KERNEL_LAUNCH_TIMES_row row =
      NAI_ROW(KERNEL_LAUNCH_TIMES, .pid = nai_get_i64(threads, group->thread, THREADS_pid),
              .tid = nai_get_i64(threads, group->thread, THREADS_tid), .device_id = (int32_t)group->device,
              .api_name = nai_strings_get(&m->tables[NAI_IN_APIS]->strings, group->api),
              .kernel_name = nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, group->kernel),
              .kernel_count = total->count, .total_time_ns = total->total, .total_avg_ns = total->mean,
              .total_p50_ns = total->p50, .api_avg_ns = api->mean, .api_p50_ns = api->p50, .queued_count = queue->count,
              .kernel_avg_ns = kernel->mean, .kernel_p50_ns = kernel->p50);
  if (queue->count) {
    row.queue_avg_ns = queue->mean;
    row.queue_p50_ns = queue->p50;
    row.queue_max_ns = queue->max;
  }
  KERNEL_LAUNCH_TIMES_add(io->out[0], &row);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct work w = {
      .m = m, .places = {.arena = io->arena}, .names = {.arena = io->arena}, .known = {.arena = io->arena}};
  struct nai_stats *stats[TIMES];
  NAI_TRY(NAI_NEW(w.group, io->arena, m->kernels.n, err));
  NAI_TRY(NAI_NEW(w.last, io->arena, m->kernel_group_count, err));
  for (uint32_t i = 0; i < m->kernels.n; i++)
    NAI_TRY(group_kernel(&w, i, io->arena, err));
  for (int t = 0; t < TIMES; t++) {
    const struct times times = {&w, (enum time)t};
    const struct nai_values values = {m->kernels.n, time_block, &times, m->scratch_dir};
    NAI_TRY(NAI_NEW(stats[t], io->arena, w.known.count, err));
    NAI_TRY(nai_group_stats(stats[t], w.known.count, &values, err));
  }
  for (uint32_t g = 0; g < w.known.count; g++)
    put(io, &w.groups[g], (const struct nai_stats *const *)stats, g);
  return NAI_OK;
}

NAI_ANALYSIS(kernel_launch_times, .outputs = NAI_SCHEMAS(&nai_kernel_launch_times_schema),
             .parts = NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(KERNEL_GROUPS),
             .tables = NAI_IN(APIS) | NAI_IN(KERNELS) | NAI_IN(THREADS), .cost = 1, .run = run)
