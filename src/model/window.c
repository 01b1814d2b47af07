/* When anything happened. */
#include "model/build.h"

static int find_window(void *ctx, int task, struct nai_err *err) {
  (void)task, (void)err;
  struct nai_model *m = ctx;
  m->window_start = INT64_MAX;
  m->window_end = INT64_MIN;
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    const struct nai_gpu *gpu = &m->gpus[g];
    if (!gpu->op_count)
      continue;
    m->window_start = gpu->window_start < m->window_start ? gpu->window_start : m->window_start;
    m->window_end = gpu->window_end > m->window_end ? gpu->window_end : m->window_end;
  }
  if (m->window_start <= m->window_end)
    return NAI_OK;
  for (uint32_t i = 0; i < m->apis.n; i++) {
    m->window_start = nai_at(&m->apis.start_ns, i) < m->window_start ? nai_at(&m->apis.start_ns, i) : m->window_start;
    m->window_end = nai_at(&m->apis.end_ns, i) > m->window_end ? nai_at(&m->apis.end_ns, i) : m->window_end;
  }
  for (uint32_t i = 0; i < m->nvtx.n; i++) {
    m->window_start = nai_at(&m->nvtx.start_ns, i) < m->window_start ? nai_at(&m->nvtx.start_ns, i) : m->window_start;
    m->window_end = nai_at(&m->nvtx.end_ns, i) > m->window_end ? nai_at(&m->nvtx.end_ns, i) : m->window_end;
  }
  if (m->window_start > m->window_end)
    m->window_start = m->window_end = 0;
  return NAI_OK;
}

const struct nai_part_def nai_part_window = {
    .name = "window", .needs = NAI_PART(GPUS), .tables = NAI_IN(APIS) | NAI_IN(NVTX), .begin = find_window};
