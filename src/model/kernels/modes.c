#include "model/kernels/modes.h"

#include "base/sort.h"

enum { MIN_COUNT = 10, MIN_SHARE_PCT = 20, MIN_RATIO = 3 };

static bool is_much(double part, double whole) { return part * 100 >= whole * MIN_SHARE_PCT; }

bool nai_modes_of(struct nai_modes *out, int64_t *sorted, uint32_t count) {
  double total = 0, below = 0, best = 0;
  uint32_t at = 0;
  if (count < MIN_COUNT)
    return false;
  for (uint32_t i = 0; i < count; i++)
    total += (double)sorted[i];
  for (uint32_t i = 0; i + 1 < count; i++) {
    below += (double)sorted[i];
    double ratio = (double)sorted[i + 1] / (double)(sorted[i] > 0 ? sorted[i] : 1);
    if (ratio > best && (is_much(i + 1, count) || is_much(below, total)) &&
        (is_much(count - i - 1, count) || is_much(total - below, total))) {
      best = ratio;
      at = i + 1;
    }
  }
  if (best < MIN_RATIO)
    return false;
  *out = (struct nai_modes){at, count - at, nai_quantile_i64(sorted, at, 0.5),
                            nai_quantile_i64(sorted + at, count - at, 0.5)};
  return true;
}
