/* Numbers of events, and how answers say them. Internal to src/features/ask. */
#pragma once

#include "features/ask/relation.h"
#include "table/stats.h"

/* Of durations, or of sizes. */
struct nai_thing_numbers {
  struct nai_stats stats;
  double p95;
  int64_t bytes, ns;                     /* of all, whichever the statistics are of */
  const struct nai_thing_event *longest; /* or largest; NULL: there are none */
  bool of_sizes;
};
/* Some of the events. */
typedef bool nai_is_one_fn(const struct nai_thing_event *event, const void *ctx);
/* Of those for which `is` holds; NULL: of all. */
NAI_MUST_CHECK int nai_numbers_of(struct nai_thing_numbers *out, const struct nai_thing_events *events, bool sizes,
                                  nai_is_one_fn *is, const void *ctx, struct nai_arena *arena, struct nai_err *err);
double nai_number_of(const struct nai_thing_numbers *numbers, enum nai_statistic statistic);
/* "average", "p90". */
const char *nai_statistic_name(enum nai_statistic statistic);

/* "1,051", "2.54 ms", "12 MiB", by what it is. */
void nai_put_number(struct nai_buf *out, double number, enum nai_statistic statistic);
/* "Yes: ", "No: "; "Hardly: " by less than 2 %. */
void nai_put_whether_more(struct nai_buf *out, double one, double other);
/* "1.820090 s" */
void nai_put_moment(struct nai_buf *out, int64_t at);
/* How many times the one is the other: "12.9". */
void nai_put_factor(struct nai_buf *out, double one, double other);
/* Whether it is said of in the singular: of a name. */
static inline bool nai_thing_is_one(const struct nai_thing *thing) {
  return thing->work || (thing->names && !thing->part);
}
/* "Host-to-Device copies", "naive_gemm"; `one`: "Host-to-Device copy" */
void nai_put_thing(struct nai_buf *out, const struct nai_thing *thing, bool one);
/* "1,051 kernels of naive_gemm", "1 copy" */
void nai_put_count(struct nai_buf *out, const struct nai_thing *thing, int64_t count);
/* ", 178.1 ms total, average 169.5 us, median 168.9 us, ..."; the deviation where it is asked for. */
void nai_put_spread(struct nai_buf *out, const struct nai_thing_numbers *numbers, enum nai_statistic asked);
/* "; the longest begins at 1.820090 s", where there are several; of sizes the largest, with its time and rate. */
void nai_put_begin_of_longest(struct nai_buf *out, const struct nai_thing_numbers *numbers);
