#pragma once
#include "tables/declare.h"

#define COPY_RATES_COLUMNS(C, T)                                                                                      \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                             \
  C(T, direction, NAME, "label of the copy kind in the export", .key = true, .order = 3)                              \
  C(T, src_kind, LABEL, "memory copied from")                                                                         \
  C(T, dst_kind, LABEL, "memory copied to")                                                                           \
  C(T, count, COUNT, "copies, but for migrated pages", .sum = true)                                                   \
  C(T, large_count, COUNT, "of 1 MiB or more that had their direction for themselves: rates are theirs", .sum = true) \
  C(T, shared_count, COUNT, "of 1 MiB or more, beside another copy in that direction", .sum = true)                   \
  C(T, p50_gb_per_s, MORE(GB_PER_S), "median rate")                                                                   \
  C(T, p90_gb_per_s, MORE(GB_PER_S), "rate that a tenth exceeds")                                                     \
  C(T, link, LABEL, "what limits them at best: the GPU's link to the host, or its memory")                            \
  C(T, limit_gb_per_s, GB_PER_S, "what that reaches in practice, NULL unknown")                                       \
  C(T, p50_pct_of_limit, MORE(PCT), "median rate, of the limit")                                                      \
  C(T, excess_ns, LESS(TIME), "time of the large copies beyond what they would take at the limit", .sum = true)       \
  C(T, exposed_ns, LESS(TIME), "time that no kernel hides, summed over all copies", .sum = true, .order = -2)         \
  C(T, at_limit_gain_ns, LESS(TIME),                                                                                  \
    "of the time within active spans that no kernel hides, moments counted once: what would go if these "             \
    "copies, small ones included, ran at the limit; all of it where that is unknown; without first touch",            \
    .sum = true)                                                                                                      \
  C(T, first_touch_ns, LESS(TIME),                                                                                    \
    "of the time within active spans that no kernel hides: what copies to pageable memory take longer "               \
    "than later ones of their size, or than such copies to the GPU, likely for page faults in host memory "           \
    "used for the first time",                                                                                        \
    .sum = true)                                                                                                      \
  C(T, first_touch_count, COUNT, "copies with such time", .sum = true)                                                \
  C(T, overlappable_ns, LESS(TIME),                                                                                   \
    "of exposed_ns: the GPU computed while the data lay there, before it was used (to the GPU) or after "             \
    "it was made (from it)",                                                                                          \
    .sum = true)                                                                                                      \
  C(T, overlappable_count, COUNT, "copies with such time", .sum = true)                                               \
  C(T, copy_kind, ID32, "number behind direction: CUPTI copy kind", .key = true, .order = 4)                          \
  C(T, src_kind_id, ID32, "number behind src_kind: CUPTI memory kind", .key = true, .order = 5)                       \
  C(T, dst_kind_id, ID32, "number behind dst_kind: CUPTI memory kind", .key = true, .order = 6)                       \
  C(T, longest_start_ns, START, "start of the longest copy")                                                          \
  C(T, longest_end_ns, END, "its end")
NAI_TABLE(
    COPY_RATES, copy_rates, "Memcpy bandwidth", "Copies in one direction between two kinds of memory on one GPU",
    "how many lanes the slot has; which link a peer-to-peer copy takes; whether another stream used the data earlier",
    .csv = true)
