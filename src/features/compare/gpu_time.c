/* What GPUs did without steps: within active spans, as reports have it; in the whole window where a run of an earlier
 * version does not tell the spans. */
#include "features/compare/compare.h"
#include "tables/gpu_active.h"
#include "tables/gpu_utilization.h"

static const int columns[NAI_GPU_TIMES][2] = {
    [NAI_GPU_WHOLE] = {GPU_UTILIZATION_window_ns, GPU_ACTIVE_active_ns},
    [NAI_GPU_COMPUTE] = {GPU_UTILIZATION_compute_ns, GPU_ACTIVE_compute_ns},
    [NAI_GPU_EXPOSED_COMM] = {GPU_UTILIZATION_exposed_comm_ns, GPU_ACTIVE_exposed_comm_ns},
    [NAI_GPU_EXPOSED_COPY] = {GPU_UTILIZATION_exposed_copy_ns, GPU_ACTIVE_exposed_copy_ns},
    [NAI_GPU_IDLE] = {GPU_UTILIZATION_idle_ns, GPU_ACTIVE_idle_ns},
};

static const struct nai_schema *gpu_schema(const struct nai_comparison *c) {
  return c->by_active ? &nai_gpu_active_schema : &nai_gpu_utilization_schema;
}

int64_t nai_gpu_time(const struct nai_comparison *c, int side, enum nai_gpu_time part) {
  return nai_side_sum(c->sides, side, gpu_schema(c), columns[part][c->by_active]);
}

/* A capture without a GPU has no time of either kind; one whose GPUs were set up only has no active time. */
static bool tells_active(const struct nai_capture *capture) {
  const struct nai_table *active = nai_capture_table(capture, &nai_gpu_active_schema);
  const struct nai_table *windows = nai_capture_table(capture, &nai_gpu_utilization_schema);
  int64_t longest = 0;
  for (int64_t row = 0; row < active->rows; row++) {
    int64_t ns = nai_or_zero(nai_get_i64(active, row, GPU_ACTIVE_active_ns));
    longest = ns > longest ? ns : longest;
  }
  return active->rows == windows->rows && (longest > 0 || !windows->rows);
}

bool nai_gpu_active_is_known(const struct nai_comparison *c) {
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++)
      if (!tells_active(&c->sides[s].captures[i]))
        return false;
  return true;
}

double nai_gpu_longest(const struct nai_comparison *c, int side, uint32_t capture) {
  const struct nai_table *t = nai_capture_table(&c->sides[side].captures[capture], gpu_schema(c));
  double longest = 0;
  for (int64_t row = 0; row < t->rows; row++)
    longest = fmax(longest, (double)nai_or_zero(nai_get_i64(t, row, columns[NAI_GPU_WHOLE][c->by_active])));
  return longest;
}

double nai_gpu_longest_mean(const struct nai_comparison *c, int side) {
  double sum = 0;
  for (uint32_t i = 0; i < c->sides[side].count; i++)
    sum += nai_gpu_longest(c, side, i);
  return sum / c->sides[side].count;
}

struct nai_gpu_share nai_gpu_idle_pct(const struct nai_comparison *c, int side, uint32_t capture) {
  const struct nai_table *t = nai_capture_table(&c->sides[side].captures[capture], gpu_schema(c));
  struct nai_gpu_share out = {INFINITY, -INFINITY};
  for (int64_t row = 0; row < t->rows; row++) {
    double whole = (double)nai_get_i64(t, row, columns[NAI_GPU_WHOLE][c->by_active]);
    double idle = (double)nai_get_i64(t, row, columns[NAI_GPU_IDLE][c->by_active]);
    if (!(whole > 0))
      continue;
    out.low = fmin(out.low, 100 * idle / whole);
    out.high = fmax(out.high, 100 * idle / whole);
  }
  return out;
}
