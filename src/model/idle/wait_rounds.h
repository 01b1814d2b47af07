/* Waits that drain a GPU's queue, and what idles behind each until the host leads again: rounds, by place in the
 * program. Table launch_waits has a row for each of them, and the page marks their calls. */
#pragma once

#include "base/strings.h"
#include "model/idle/idle.h"

/* Causes of idle time, in the order in which a wait is charged with them: blocking_call, queue_drained, in_launch_call,
 * allocation, cuda_call, host_code, launch_latency. */
enum { NAI_WAIT_PARTS = 7 };

/* A wait that drained the queue, and the gaps behind it in active time. */
struct nai_wait_round {
  uint32_t wait, place;            /* row of api_events; number of the place */
  uint32_t op, end_op;             /* the first operation behind it, and behind the next one */
  int64_t ns[NAI_WAIT_PARTS], all; /* idle, by cause */
  struct nai_interval at;          /* from the first gap to the last */
};

/* Waits in the same ranges. */
struct nai_wait_place {
  uint32_t rounds, first; /* first: of its values, while they are sorted */
  int64_t launches, all;
  int64_t limit; /* a loop's rounds that idle longer are not like the others; 0: no loop */
  uint32_t row;  /* that its rounds count with */
};

/* What rounds count with: the largest places, and all others together. */
enum { NAI_WAIT_ROWS = 5, NAI_WAIT_OTHERS = NAI_WAIT_ROWS - 1 };

/* The rounds of one GPU. */
struct nai_wait_rounds {
  const struct nai_model *m;
  uint32_t gpu;
  struct nai_arena *arena;
  struct nai_wait_round *v;
  uint32_t count, capacity;
  struct nai_strings names; /* of places */
  struct nai_keyset nodes;  /* NVTX node + 1 of a wait */
  uint32_t *of_node;        /* per key of nodes: its place */
  uint32_t of_node_capacity;
  struct nai_wait_place *places;    /* per name */
  uint32_t place_of[NAI_WAIT_ROWS]; /* of a row, but for the others' */
};
/* Finds them in time order. Needs parts ACTIVE, IDLE, GPUS, CALLS and NVTX_TREE; what is found is the arena's, but for
 * the names. */
NAI_MUST_CHECK int nai_wait_rounds_find(struct nai_wait_rounds *out, const struct nai_model *model, uint32_t gpu,
                                        struct nai_arena *arena, struct nai_err *err);
static inline void nai_wait_rounds_free(struct nai_wait_rounds *rounds) { nai_strings_free(&rounds->names); }

/* Whether it is one of a loop's rounds, which are like each other. */
bool nai_wait_in_loop(const struct nai_wait_rounds *rounds, const struct nai_wait_round *round);
/* What of a round counts, by part; the sum. Without a wait launches would come earlier by no more than it took; without
 * a loop there would be none of its gaps. */
int64_t nai_wait_counts(int64_t ns[NAI_WAIT_PARTS], const struct nai_wait_rounds *rounds,
                        const struct nai_wait_round *round);
/* The row that a round counts with: rounds of a loop that are not like the others count with the small places. */
uint32_t nai_wait_row(const struct nai_wait_rounds *rounds, const struct nai_wait_round *round);
/* Its place in words: NVTX ranges, "" without any, "other places". */
const char *nai_wait_row_place(const struct nai_wait_rounds *rounds, uint32_t row);
