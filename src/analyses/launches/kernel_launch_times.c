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
  uint32_t thread = (uint32_t)nai_val_i32(&m->apis.thread, api), function = nai_val_text(&m->apis.name, api);
  uint32_t *last = &w->last[m->kernel_group[kernel]];
  if (*last && w->groups[*last - 1].thread == thread && w->groups[*last - 1].api == function) {
    w->group[kernel] = *last - 1;
    return NAI_OK;
  }
  const struct group group = {thread, (uint32_t)nai_val_i32(&m->kernels.device_id, kernel), function,
                              nai_val_text(&m->kernels.name, kernel)};
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

/* Of each time of a group's kernels: of QUEUE without those that began inside of their calls. */
static void measure(struct nai_stats stats[TIMES], int64_t *const of[TIMES], struct nai_stats_room *room,
                    const struct nai_model *m, const uint32_t *kernels, uint32_t n) {
  uint32_t queued = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t kernel = kernels[i], api = m->kernel_api[kernel];
    int64_t called = nai_val(&m->apis.start_ns, api), returned = nai_val(&m->apis.end_ns, api),
            start = nai_val(&m->kernels.start_ns, kernel), end = nai_val(&m->kernels.end_ns, kernel);
    of[TOTAL][i] = (end > returned ? end : returned) - called;
    of[API][i] = returned - called;
    of[KERNEL][i] = end - start;
    of[QUEUE][queued] = start - returned;
    queued += start >= returned;
  }
  for (int t = 0; t < TIMES; t++)
    stats[t] = nai_stats_in(room, of[t], t == QUEUE ? queued : n, NAI_P50);
}

static void put(const struct nai_node_io *io, const struct group *group, const struct nai_stats stats[TIMES]) {
  const struct nai_model *m = io->model;
  const struct nai_stats *total = &stats[TOTAL], *api = &stats[API], *queue = &stats[QUEUE], *kernel = &stats[KERNEL];
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

static int put_groups(const struct nai_node_io *io, const struct work *w, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_column group = nai_column_of_u32(w->group);
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_groups kernels;
  struct nai_stats_room *room;
  int64_t *of[TIMES];
  NAI_TRY(nai_groups_collect(&kernels, m->kernels.n, &group, w->known.count, &arena, err));
  NAI_TRY(nai_stats_room_in(&room, m->kernels.n, &arena, err));
  for (int t = 0; t < TIMES; t++)
    NAI_TRY(NAI_NEW_UNSET(of[t], &arena, m->kernels.n, err));
  for (uint32_t g = 0; g < w->known.count; g++) {
    struct nai_stats stats[TIMES];
    measure(stats, of, room, m, kernels.order + kernels.first[g], kernels.first[g + 1] - kernels.first[g]);
    put(io, &w->groups[g], stats);
  }
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct work w = {
      .m = m, .places = {.arena = io->arena}, .names = {.arena = io->arena}, .known = {.arena = io->arena}};
  NAI_TRY(NAI_NEW(w.group, io->arena, m->kernels.n, err));
  NAI_TRY(NAI_NEW(w.last, io->arena, m->kernel_group_count, err));
  for (uint32_t i = 0; i < m->kernels.n; i++)
    NAI_TRY(group_kernel(&w, i, io->arena, err));
  return put_groups(io, &w, err);
}

NAI_ANALYSIS(kernel_launch_times, .outputs = NAI_SCHEMAS(&nai_kernel_launch_times_schema),
             .parts = NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(KERNEL_GROUPS),
             .tables = NAI_IN(APIS) | NAI_IN(KERNELS) | NAI_IN(THREADS), .cost = 1, .run = run)
