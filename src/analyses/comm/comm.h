/* What communication kernels did: the facts that the tables comm_* are made from, and those that several traces are
 * matched by (src/features/ranks). */
#pragma once

#include "analyses/analysis.h"
#include "model/payload.h"

#define NAI_COMM_UNKNOWN (-1)

/* One communication kernel. */
struct nai_comm_item {
  uint32_t kernel;                  /* row of kernel_events */
  uint32_t gpu, stream, line, rank; /* index of the GPU; numbers in nai_comm */
  int64_t start, end;               /* ns */
  int64_t exposed;                  /* no compute kernel beside it */
  int64_t charged, active_charged;  /* its share of exposed communication: of the GPU, and of its active spans */
  /* what it was asked to do */
  const char *op;    /* "AllReduce"; NULL unknown */
  const char *redop; /* NULL unknown */
  uint32_t calls;    /* text in nai_comm.texts: the calls behind it; NAI_NO_STRING unknown */
  bool known_comm;
  int64_t comm;           /* id of the communicator */
  int64_t peer;           /* the other rank of all sends and receives behind it, NAI_COMM_UNKNOWN */
  int64_t pair;           /* the two ranks, of more than two, that it is between; 0 for none */
  int64_t sent, received; /* bytes, NAI_COMM_UNKNOWN */
  int64_t ranks;          /* in the communicator, NAI_COMM_UNKNOWN */
  int64_t launched;       /* start of the call that launched it, NAI_NULL_I64 unknown */
  int32_t thread;         /* that issued it: launched it, or captured it into a CUDA graph; -1 unknown */
  int64_t issued;         /* start of the call that did */
  bool first_run;         /* of a node of a graph the first replay, or of no graph */
  /* the matched set it belongs to */
  uint32_t set;  /* NAI_NO_ROW for none */
  uint32_t late; /* item of the set that began last; NAI_NO_ROW when that is within the clocks' doubt */
  int64_t members, wait, transfer, tail, skew;
  int64_t late_by; /* of the late one: since the last but one began */
};

/* Kernels of one communicator (between two of its ranks, where `pair` tells them) on one GPU where its id is known,
 * else those of one stream. */
struct nai_comm_line {
  uint32_t gpu, stream;
  bool known_comm;
  int64_t comm, pair;
  uint32_t *items, count;
  const char *refused; /* why it was not matched with those of other GPUs; NULL when it was */
  int64_t unmatched;   /* of its kernels */
  int64_t correction, mad,
      sets; /* clock against the first GPU of its set, ns; mad NAI_NULL_I64 for fewer than 3 sets */
};

struct nai_comm_stream {
  uint32_t gpu;
  int32_t process, context, id;
};

/* A process on a GPU. */
struct nai_comm_rank {
  uint32_t gpu;
  int32_t process;
};

/* A range of NCCL's on a thread. */
enum nai_comm_call_kind { NAI_COMM_COLLECTIVE, NAI_COMM_GROUP_START, NAI_COMM_GROUP_END, NAI_COMM_INIT };
struct nai_comm_call {
  int64_t start, end;
  const char *op; /* of a collective */
  uint8_t kind;
  struct nai_payload payload;
  uint32_t first, last; /* of the end of a group: its collectives lie among the thread's calls first .. last - 1 */
  uint32_t kernels;     /* launched inside */
  const char *redop;
};
struct nai_comm_calls {
  struct nai_comm_call *v;
  uint32_t count, capacity;
};

struct nai_comm {
  const struct nai_model *m;
  const struct nai_table *spans; /* active_spans */
  struct nai_comm_name *names;   /* by string of kernel_events; of communication kernels only */
  struct nai_comm_item *items;   /* GPU by GPU, by start */
  uint32_t count, *first_of_gpu; /* gpu_count + 1 entries */
  struct nai_comm_stream *streams;
  uint32_t stream_count, stream_capacity;
  struct nai_comm_rank *ranks;
  uint32_t rank_count, rank_capacity;
  struct nai_comm_line *lines;
  uint32_t line_count;
  uint32_t *line_items; /* what lines' items point into */
  uint32_t set_count;
  struct nai_strings texts;
  struct nai_comm_calls *calls;           /* per thread */
  int64_t payloads[NAI_PAYLOAD_VERDICTS]; /* of NCCL's ranges, by what became of them */
  int64_t attributed, in_groups;          /* kernels whose calls are known; of them launched at the end of a group */
  int64_t captured;                       /* of them: in CUDA graphs, by the calls that captured them */
  int64_t sized;                          /* kernels whose message size is known */
};

/* Finds the kernels. Without any, nothing else need be done. */
NAI_MUST_CHECK int nai_comm_collect(struct nai_comm *comm, const struct nai_model *model, struct nai_err *err);
void nai_comm_free(struct nai_comm *comm);

/* Shares exposed time among the kernels that run at each instant, so that shares add up to it: shares[i] of item
 * first + i, of the items of one GPU in start order. */
NAI_MUST_CHECK int nai_comm_charge(int64_t *shares, const struct nai_comm_item *items, uint32_t count,
                                   const struct nai_intervals *exposed, struct nai_err *err);
/* exposed, charged, active_charged of all items. */
NAI_MUST_CHECK int nai_comm_expose(struct nai_comm *comm, struct nai_err *err);
/* Active spans of a GPU. */
void nai_comm_active(struct nai_intervals *out, const struct nai_table *spans, int32_t device);

/* The calls of NCCL, and what their payloads say. */
NAI_MUST_CHECK int nai_comm_read_calls(struct nai_comm *comm, struct nai_err *err);
/* Which call issued each kernel: of CUDA graphs the one that captured it. */
NAI_MUST_CHECK int nai_comm_find_issuers(struct nai_comm *comm, struct nai_err *err);
/* What each kernel was asked to do, by its issuer. */
NAI_MUST_CHECK int nai_comm_attribute(struct nai_comm *comm, struct nai_err *err);

/* pair of all items. */
NAI_MUST_CHECK int nai_comm_pairs(struct nai_comm *comm, struct nai_err *err);
/* Sorts the kernels into lines. */
NAI_MUST_CHECK int nai_comm_lines(struct nai_comm *comm, struct nai_err *err);
/* The same, matches lines of different GPUs, and splits what their kernels took. */
NAI_MUST_CHECK int nai_comm_match(struct nai_comm *comm, struct nai_err *err);
/* One communicator: kernels of `lines`, each of another GPU, that are one collective, set by set in `partners`:
 * partners[k * stride + i] = item of line i in set k, NAI_NO_ROW for none. */
NAI_MUST_CHECK int nai_comm_split(struct nai_comm *comm, struct nai_comm_line *const *lines, uint32_t count,
                                  const uint32_t *partners, uint32_t stride, uint32_t rows, struct nai_err *err);
/* By how much the clock of b is ahead of that of a, the median absolute deviation of that, and whether their kernels
 * end together: a[k * stride] and b[k * stride] are items of set k. */
NAI_MUST_CHECK int nai_comm_clock(bool *together, int64_t *correction, int64_t *mad, const struct nai_comm *comm,
                                  const uint32_t *a, const uint32_t *b, uint32_t stride, uint32_t rows,
                                  struct nai_err *err);

/* Rates as nccl-tests defines them, 10^9 bytes per second; NaN unknown. bytes: message size as NCCL's payloads have it;
 * ranks: NAI_COMM_UNKNOWN. */
struct nai_comm_rates {
  double algorithm, bus;
};
struct nai_comm_rates nai_comm_rates(const char *op, int64_t bytes, int64_t ranks, int64_t ns);
/* Time that a rate is measured over: the transfer where it is known, else the duration. */
static inline int64_t nai_comm_rated_ns(const struct nai_comm_item *item) {
  return item->set == NAI_NO_ROW ? item->end - item->start : item->transfer;
}
/* Bytes of the direction that carries more, NAI_COMM_UNKNOWN. */
static inline int64_t nai_comm_bytes(const struct nai_comm_item *item) {
  return item->sent > item->received ? item->sent : item->received;
}

/* The number a rank has in its largest communicator, as that one's initialisation says; NAI_NULL_I64 when it does not,
 * or when its process has several GPUs: nothing tells then which is whose. */
int64_t nai_comm_own_rank(const struct nai_comm *comm, uint32_t rank);

/* What a rank's GPU did between the first start of a set and its own, over all sets in which it came last. */
struct nai_comm_late {
  int64_t ns, idle_ns; /* that time, and the part in which the GPU did nothing */
  const char *what;    /* the kernel that took most of it; "copies" or "CUDA graphs"; NULL for none */
  int64_t what_ns;
  const char *range; /* innermost NVTX range around the launch of that, NULL for none */
};
NAI_MUST_CHECK int nai_comm_late(struct nai_comm_late *late, const struct nai_comm *comm, uint32_t rank,
                                 struct nai_err *err);

NAI_MUST_CHECK int nai_comm_put_ops(struct nai_table *table, const struct nai_comm *comm, struct nai_err *err);
NAI_MUST_CHECK int nai_comm_put_streams(struct nai_table *table, const struct nai_comm *comm, struct nai_err *err);
NAI_MUST_CHECK int nai_comm_put_instances(struct nai_table *table, const struct nai_comm *comm, struct nai_err *err);
NAI_MUST_CHECK int nai_comm_put_ranks(struct nai_table *table, const struct nai_comm *comm, struct nai_err *err);
/* Tables step_comm and step_comm_ops. */
NAI_MUST_CHECK int nai_comm_put_steps(struct nai_table *steps, struct nai_table *ops, const struct nai_comm *comm,
                                      struct nai_err *err);

/* The parsed name of an item's kernel, and its stream. */
static inline const struct nai_comm_name *nai_comm_name_of(const struct nai_comm *comm,
                                                           const struct nai_comm_item *item) {
  return &comm->names[nai_at_text(&comm->m->kernels.name, item->kernel)];
}
