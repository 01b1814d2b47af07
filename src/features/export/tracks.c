/* Tracks that others lie below: announced when something on them is. */
#include "features/export/timeline.h"
#include "tables/gpus.h"
#include "tables/processes.h"
#include "tables/threads.h"

#include <string.h>

struct nai_track nai_timeline_announce(struct nai_timeline *tl, struct nai_track track) {
  track.number = ++tl->tracks;
  tl->writer->track(tl->writer, &track);
  return track;
}

static uint32_t process_track(struct nai_timeline *tl, int32_t process) {
  uint32_t p = process < 0 ? tl->m->process_count : (uint32_t)process;
  const char *name = process < 0 ? "" : nai_get_str(tl->m->tables[NAI_IN_PROCESSES], process, PROCESSES_process_name);
  int64_t own = nai_model_pid(tl->m, process);
  NAI_SCOPED(nai_buf) text = {0};
  if (tl->process_track[p])
    return tl->process_track[p];
  nai_buf_puts(&text, *name ? name : "process");
  if (own == NAI_NULL_I64)
    nai_buf_puts(&text, " (pid unknown)");
  else if (own != tl->pid[p])
    nai_buf_printf(&text, " (pid %lld)", (long long)own);
  tl->oom |= text.oom;
  tl->process_track[p] =
      nai_timeline_announce(
          tl, (struct nai_track){.kind = NAI_TRACK_PROCESS, .name = nai_buf_str(&text), .pid = tl->pid[p]})
          .number;
  return tl->process_track[p];
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
  struct nai_buf text = {0};
  struct nai_track track = nai_timeline_host(tl, NAI_TRACK_THREAD, thread, "");
  if (tl->thread_track[thread]) {
    track.number = tl->thread_track[thread];
    return track;
  }
  nai_buf_puts(&text, *name ? name : "thread");
  if (own != NAI_NULL_I64 && own != tl->tid[thread])
    nai_buf_printf(&text, " (tid %lld)", (long long)own);
  tl->oom |= text.oom;
  track.name = nai_buf_str(&text);
  track.parent = process_track(tl, tl->m->thread_process[thread]);
  track = nai_timeline_announce(tl, track);
  track.name = "";
  nai_buf_free(&text);
  tl->thread_track[thread] = track.number;
  return track;
}

uint32_t nai_timeline_gpu(struct nai_timeline *tl, uint32_t gpu) {
  const struct nai_table *gpus = tl->m->tables[NAI_IN_GPUS];
  struct nai_track track = {.kind = NAI_TRACK_GPU, .gpu = gpu, .rank = gpu};
  NAI_SCOPED(nai_buf) text = {0};
  if (tl->gpu_track[gpu])
    return tl->gpu_track[gpu];
  nai_buf_puts(&text, nai_model_gpu_label(tl->m, tl->m->gpus[gpu].device_id));
  for (int64_t i = 0; i < gpus->rows; i++) {
    const char *name = nai_get_str(gpus, i, GPUS_gpu_name);
    if (nai_get_i64(gpus, i, GPUS_device_id) == tl->m->gpus[gpu].device_id && *name &&
        !strstr(nai_buf_str(&text), name))
      nai_buf_printf(&text, " (%s)", name);
  }
  tl->oom |= text.oom;
  track.name = nai_buf_str(&text);
  tl->gpu_track[gpu] = nai_timeline_announce(tl, track).number;
  return tl->gpu_track[gpu];
}
