/* When is a GPU busy for less than half of the time? Table low_utilization. */
#include "analyses/analysis.h"
#include "tables/low_utilization.h"

enum { PIECES = 30, LOW_PCT = 50 };

struct stretch {
  int64_t start, end, busy;
};

static void put(struct nai_table *table, const struct nai_gpu *gpu, const struct stretch *s) {
  int64_t length = s->end - s->start;
  if (length > 0)
    NAI_ADD(LOW_UTILIZATION, table, .device_id = gpu->device_id, .start_ns = s->start, .end_ns = s->end,
            .duration_ns = length, .busy_ns = s->busy, .busy_pct = nai_percent((double)s->busy, (double)length),
            .idle_ns = length - s->busy);
}

static void put_gpu(struct nai_table *table, const struct nai_gpu *gpu) {
  int64_t window = gpu->window_end - gpu->window_start, piece = (window + PIECES - 1) / PIECES;
  struct stretch open = {gpu->window_start, gpu->window_start, 0};
  for (int64_t at = gpu->window_start; at < gpu->window_end; at += piece) {
    int64_t end = at + piece < gpu->window_end ? at + piece : gpu->window_end;
    int64_t busy = nai_intervals_overlap_ns(&gpu->all, at, end);
    if (100.0 * (double)busy < LOW_PCT * (double)(end - at)) {
      open.end = end;
      open.busy += busy;
      continue;
    }
    put(table, gpu, &open);
    open = (struct stretch){end, end, 0};
  }
  put(table, gpu, &open);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  (void)err;
  for (uint32_t g = 0; g < io->model->gpu_count; g++)
    if (io->model->gpus[g].op_count)
      put_gpu(io->out[0], &io->model->gpus[g]);
  return NAI_OK;
}

NAI_ANALYSIS(low_utilization, .outputs = NAI_SCHEMAS(&nai_low_utilization_schema), .parts = NAI_PART(GPUS), .run = run)
