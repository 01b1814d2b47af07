/* What critical paths consist of, by cause. */
#pragma once

#include "base/strings.h"
#include "model/critical/path.h"

/* What groups are: one cause, of kernels one category; of that one name, or what one NVTX range launches. */
enum nai_path_by { NAI_PATH_BY_CAUSE, NAI_PATH_BY_NAME, NAI_PATH_BY_RANGE };
struct nai_path_group {
  enum nai_path_cause cause;
  int category; /* of kernels, -1 for others */
  int64_t ns, segments, longest_ns, longest_start;
  int64_t near_ns;  /* in segments that something else would have decided at most 5 us earlier */
  const char *what; /* that takes most of it, what_ns: kernel, direction, function; of host code the range around it */
  int64_t what_ns;
};

/* A name of the trace that came before with that cause: its number in `sums`. */
struct nai_path_known {
  const char *name;
  enum nai_path_cause cause;
  uint32_t sum;
};
enum { NAI_PATH_KNOWN = 512 };

struct nai_path_sum {
  enum nai_path_by by;
  struct nai_path_known known[NAI_PATH_KNOWN];
  int64_t wall_ns;  /* what all groups add up to */
  int64_t inferred; /* segments that follow a dependency which no record tells */
  int64_t by_cause[NAI_PATH_CAUSES];
  int64_t asleep_ns; /* of host code in recorded times: its thread was off its CPU, and not for another one's sake */
  struct nai_path_group *groups; /* in order of first appearance */
  uint32_t count, capacity;
  /* private */
  struct nai_arena *arena;
  struct nai_keyset group_keys, subject_keys;
  struct nai_strings subjects;
  struct subject_sum {
    uint32_t group, subject;
    int64_t ns;
  } * sums;
  uint32_t sum_capacity;
};

/* To begin with, and by cause unless `by` is set then; the arena holds all that follows. Without one (NULL) there are
 * wall_ns and by_cause only. */
void nai_path_sum_begin(struct nai_path_sum *sum, struct nai_arena *arena);
/* Adds a stretch of a path. */
NAI_MUST_CHECK int nai_path_sum_segment(struct nai_path_sum *sum, const struct nai_model *model,
                                        const struct nai_path_segment *segment, struct nai_err *err);
/* Adds the judged repetitions of a scope. */
NAI_MUST_CHECK int nai_path_sum_scope(struct nai_path_sum *sum, const struct nai_path_scope *scope,
                                      const struct nai_model *model, const int64_t *moved,
                                      const struct nai_scenario *scenario, struct nai_err *err);
/* Sets `what`, once all is added. */
NAI_MUST_CHECK int nai_path_sum_end(struct nai_path_sum *sum, struct nai_err *err);
/* "kernels 55 %, host code 33 % (most in aten::to), ...": causes from 1 % of the wall time on, at most four. The
 * arena's. */
const char *nai_path_sum_words(const struct nai_path_sum *sum, struct nai_err *err);

/* What may be simulated. */
enum nai_path_state { NAI_PATH_OK, NAI_PATH_BOUND_ONLY, NAI_PATH_NO_SAVINGS, NAI_PATH_REFUSED };
const char *nai_path_state_name(enum nai_path_state state); /* "ok", "bound_only", "path_only", "refused" */
/* By the graph and the path of the window. *reason: a sentence without a full stop, NULL where ok. */
enum nai_path_state nai_path_state_of(const char **reason, const struct nai_model *model,
                                      const struct nai_path_sum *window);
/* Why waits cannot be removed by simulation, NULL where they can. */
const char *nai_path_waits_unknown(const struct nai_model *model);
