/* Where did a series of numbers change? Deterministic: E-divisive inside of windows, Welch's t test in the place of
 * permutations, merging from the weakest, and a least magnitude (docs/nightly.md says why). */
#pragma once

#include "base/arena.h"

enum {
  NAI_TREND_WINDOW = 50,
  NAI_TREND_STEP = 25,
  NAI_TREND_SEGMENT = 4,   /* fewest values of a segment */
  NAI_TREND_NEIGHBOURS = 7 /* on each side, which a spike differs from */
};

/* What counts as a change, in the unit of the values. */
struct nai_trend_rule {
  bool exact;           /* the values have no noise: any change that lasts counts */
  double noise_pct;     /* of the level before, NaN: none */
  double noise;         /* NaN: none */
  double history_noise; /* relative, 0.01 = 1 %; NaN: unknown */
};

struct nai_change {
  uint32_t at;          /* first value of the new level */
  double before, after; /* medians of the two segments */
  double p;             /* Welch, two-sided */
  bool is_made_up;      /* by the caller: other numbers changed as much the other way */
};

struct nai_trend_found {
  struct nai_change *changes; /* in their order */
  uint32_t count;
  bool *spikes; /* per value: alone among its neighbours */
};

/* `values` are finite. What is found is the arena's. */
NAI_MUST_CHECK int nai_trend_changes(struct nai_trend_found *out, const double *values, uint32_t count,
                                     const struct nai_trend_rule *rule, struct nai_arena *arena, struct nai_err *err);

/* Two-sided p of Welch's test; 0 where both sides are constant and differ, 1 where they are equal or have fewer than
 * two values. */
double nai_welch_p(const double *a, size_t m, const double *b, size_t n);
/* The E-divisive statistic Q of values[0..split) against values[split..count), and the split where it is largest, both
 * sides at least NAI_TREND_SEGMENT long; 0 when there is none. O(count^2). */
void nai_e_divisive(uint32_t *split, double *q, const double *values, uint32_t count);
