/* Tracks that others lie below: announced when something on them is. */
#include "base/keyset.h"
#include "features/export/timeline.h"
#include "tables/gpus.h"
#include "tables/processes.h"
#include "tables/threads.h"

/* Viewers know processes by pid alone: it is unique here, whatever the traced programs had. Its own number where that
 * is free and no number that is made here. */
static int32_t number(struct nai_keyset *taken, int64_t own, uint32_t index, uint32_t gpus) {
  bool fits = own > 0 && own < NAI_MADE_ID && (own < NAI_GPU_PID || own >= (int64_t)NAI_GPU_PID + gpus);
  bool added = false;
  if (fits)
    nai_keyset_add(taken, own, &added);
  return added ? (int32_t)own : (int32_t)(NAI_MADE_ID + index);
}

int nai_tracks_open(struct nai_timeline *tl, struct nai_err *err) {
  const struct nai_model *m = tl->m;
  struct nai_keyset pids = {.arena = &tl->arena}, tids = {.arena = &tl->arena};
  NAI_TRY(NAI_NEW(tl->process_track, &tl->arena, (size_t)m->process_count + 1, err));
  NAI_TRY(NAI_NEW(tl->thread_track, &tl->arena, m->thread_count, err));
  NAI_TRY(NAI_NEW(tl->gpu_track, &tl->arena, m->gpu_count, err));
  NAI_TRY(NAI_NEW(tl->pid, &tl->arena, (size_t)m->process_count + 1, err));
  NAI_TRY(NAI_NEW(tl->tid, &tl->arena, m->thread_count, err));
  for (uint32_t p = 0; p <= m->process_count; p++) /* the last: unknown ones */
    tl->pid[p] = number(&pids, p < m->process_count ? nai_model_pid(m, (int32_t)p) : 0, p, m->gpu_count);
  for (uint32_t t = 0; t < m->thread_count; t++)
    tl->tid[t] = number(&tids, nai_get_i64(m->tables[NAI_IN_THREADS], t, THREADS_tid), t, 0);
  return pids.oom || tids.oom ? nai_err_nomem(err) : NAI_OK;
}

struct nai_track nai_timeline_announce(struct nai_timeline *tl, struct nai_track track) {
  track.number = ++tl->tracks;
  tl->writer->track(tl->writer, &track);
  return track;
}

static uint32_t process_track(struct nai_timeline *tl, int32_t process) {
  uint32_t p = process < 0 ? tl->m->process_count : (uint32_t)process;
  const char *name = process < 0 ? "" : nai_get_str(tl->m->tables[NAI_IN_PROCESSES], process, PROCESSES_process_name);
  int64_t own = nai_model_pid(tl->m, process);
  if (tl->process_track[p])
    return tl->process_track[p];
  name = *name ? name : "process";
  if (own == NAI_NULL_I64)
    name = nai_arena_printf(&tl->arena, "%s (pid unknown)", name);
  else if (own != tl->pid[p])
    name = nai_arena_printf(&tl->arena, "%s (pid %lld)", name, (long long)own);
  const struct nai_track track = {.kind = NAI_TRACK_PROCESS, .name = name, .pid = tl->pid[p]};
  return tl->process_track[p] = nai_timeline_announce(tl, track).number;
}

/* A track of a host thread. */
struct nai_track nai_timeline_host(const struct nai_timeline *tl, enum nai_track_kind kind, uint32_t thread,
                                   const char *name) {
  int32_t process = tl->m->thread_process[thread];
  return (struct nai_track){.kind = kind,
                            .name = name,
                            .pid = tl->pid[process < 0 ? tl->m->process_count : (uint32_t)process],
                            .tid = kind == NAI_TRACK_THREAD ? tl->tid[thread] : 0};
}

struct nai_track nai_timeline_thread(struct nai_timeline *tl, uint32_t thread) {
  const struct nai_table *threads = tl->m->tables[NAI_IN_THREADS];
  const char *name = nai_get_str(threads, thread, THREADS_thread_name);
  int64_t own = nai_get_i64(threads, thread, THREADS_tid);
  struct nai_track track = nai_timeline_host(tl, NAI_TRACK_THREAD, thread, *name ? name : "thread");
  track.number = tl->thread_track[thread];
  if (track.number)
    return track;
  if (own != NAI_NULL_I64 && own != tl->tid[thread])
    track.name = nai_arena_printf(&tl->arena, "%s (tid %lld)", track.name, (long long)own);
  track.parent = process_track(tl, tl->m->thread_process[thread]);
  track = nai_timeline_announce(tl, track);
  tl->thread_track[thread] = track.number;
  return track;
}

uint32_t nai_timeline_gpu(struct nai_timeline *tl, uint32_t gpu) {
  const struct nai_table *gpus = tl->m->tables[NAI_IN_GPUS];
  int32_t device = tl->m->gpus[gpu].device_id;
  struct nai_track track = {.kind = NAI_TRACK_GPU, .gpu = gpu, .rank = gpu};
  if (tl->gpu_track[gpu])
    return tl->gpu_track[gpu];
  track.name = nai_model_gpu_label(tl->m, device);
  for (int64_t i = 0; i < gpus->rows; i++) {
    const char *name = nai_get_str(gpus, i, GPUS_gpu_name);
    if (nai_get_i64(gpus, i, GPUS_device_id) == device && *name && !strstr(track.name, name))
      track.name = nai_arena_printf(&tl->arena, "%s (%s)", track.name, name);
  }
  return tl->gpu_track[gpu] = nai_timeline_announce(tl, track).number;
}
