/* What communication kernels did: what each was asked to do, which of different GPUs are one collective, what of them
 * is waiting and what nothing hides. Part COMM of the model; definitions: docs/analyses.md, "Collectives". */
#pragma once

#include "model/model.h"
#include "model/payload.h"

#define NAI_COMM_UNKNOWN (-1)

/* One communication kernel. */
struct nai_comm_item {
  uint32_t kernel;                  /* row of kernel_events */
  uint32_t gpu, stream, line, rank; /* index of the GPU; numbers in nai_comm */
  int64_t start, end;               /* ns */
  int64_t exposed;                  /* no compute kernel beside it */
  int64_t charged, active_charged;  /* its share of exposed communication: of the GPU, and of its active time */
  /* what it was asked to do */
  const char *op;    /* "AllReduce"; NULL unknown */
  const char *redop; /* NULL unknown */
  uint32_t calls;    /* text in nai_comm.texts: the calls behind it; NAI_NO_STRING unknown */
  bool known_comm;
  int64_t comm;           /* id of the communicator */
  int64_t category;       /* of NVTX, whose name is the communicator's; none is below 1 */
  int64_t peer;           /* the other rank of all sends and receives behind it, NAI_COMM_UNKNOWN */
  int64_t pair;           /* the two ranks, of more than two, that it is between; 0 for none */
  int64_t sent, received; /* bytes that leave for, or come from, other ranks; NAI_COMM_UNKNOWN */
  int64_t self;           /* bytes sent to the own rank, which use no link; NAI_COMM_UNKNOWN */
  int64_t ranks;          /* in the communicator, NAI_COMM_UNKNOWN */
  int64_t root;           /* rank, NAI_COMM_UNKNOWN */
  int64_t own, parent;    /* its rank in the communicator; the one that was split from, 0 none; NAI_COMM_UNKNOWN */
  int64_t seq;            /* of the one operation behind it, as -t nccl counts; NAI_COMM_UNKNOWN */
  int64_t launched;       /* start of the call that launched it, NAI_NULL_I64 unknown */
  /* when the GPU did it, as nsys -t nccl records: empty and 0 unknown */
  struct nai_interval on_gpu;
  uint32_t channels;
  /* the matched set it belongs to */
  uint32_t set;  /* NAI_NO_ROW for none */
  uint32_t late; /* item of the set that came last; NAI_NO_ROW where nothing tells which that is */
  int64_t members, wait, transfer, tail, skew;
  int64_t late_by; /* of the shortest one: by which it is shorter than the second shortest */
};

/* Whether who came last to a collective is late: by 2 us, by 2 % of the transfer, and by the doubt of the ends. The one
 * that came last is the one whose kernel is the shortest, `late_by` what the second shortest is longer. */
bool nai_comm_is_late(int64_t late_by, int64_t transfer, int64_t doubt);

/* Kernels of one communicator (between two of its ranks, where `pair` tells them) on one GPU where its id is known,
 * else those of one stream. */
struct nai_comm_line {
  uint32_t gpu;
  bool known_comm;
  int64_t comm, pair;
  uint32_t *items, count;
  const char *refused; /* why it was not matched with those of other GPUs; NULL when it was */
  int64_t sets;
  int64_t correction, mad; /* clock against the first GPU of its set, ns; mad NAI_NULL_I64 for fewer than 3 sets */
};

struct nai_comm_stream {
  uint32_t gpu;
  int32_t process, context, id;
  uint32_t rank; /* number in nai_comm */
};

/* A process on a GPU. */
struct nai_comm_rank {
  uint32_t gpu;
  int32_t process;
};

/* Messages between a process on a GPU and a rank of one of its communicators. A kernel has its share of those of its
 * group: sums over a group are whole. */
struct nai_comm_peer {
  uint32_t rank;                          /* number in nai_comm */
  int64_t comm, peer;                     /* id of the communicator; rank in it at the other end */
  int64_t self;                           /* its own rank in it, NAI_COMM_UNKNOWN */
  double sends, receives, sent, received; /* messages, bytes */
};

/* A set-up of a communicator, as a range of NCCL's. */
struct nai_comm_init {
  int64_t start, end;
  int32_t process; /* row of processes, -1 unknown */
  struct nai_payload payload;
};

/* Without communication kernels all counts are 0. */
struct nai_comm {
  struct nai_comm_name *names;   /* by string of kernel_events; of communication kernels only */
  struct nai_comm_item *items;   /* GPU by GPU, by start */
  uint32_t count, *first_of_gpu; /* gpu_count + 1 entries */
  struct nai_comm_stream *streams;
  uint32_t stream_count, stream_capacity;
  struct nai_comm_rank *ranks;
  uint32_t rank_count, rank_capacity;
  struct nai_comm_line *lines;
  uint32_t line_count;
  uint32_t set_count;
  struct nai_strings texts;
  struct nai_comm_peer *peers; /* in no order */
  uint32_t peer_count, peer_capacity;
  struct nai_comm_init *inits; /* by thread, in order */
  uint32_t init_count, init_capacity;
  int64_t payloads[NAI_PAYLOAD_VERDICTS]; /* of NCCL's ranges, by what became of them */
  bool advanced;                          /* in the form of nsys -t nccl */
  int64_t attributed, in_groups;          /* kernels whose calls are known; of them launched at the end of a group */
  int64_t captured;                       /* of them: in CUDA graphs, by the calls that captured them */
  int64_t sized;                          /* kernels whose message size is known */
};

/* The parsed name of an item's kernel; what it did. */
static inline const struct nai_comm_name *nai_comm_name_of(const struct nai_model *m,
                                                           const struct nai_comm_item *item) {
  return &m->comm->names[nai_val_text(&m->kernels.name, item->kernel)];
}
static inline const char *nai_comm_op(const struct nai_comm_item *item) { return item->op ? item->op : "unknown"; }
/* Whether an operation is between two ranks: others of the communicator may have no part in it. */
bool nai_comm_is_between_two(const char *op);
/* Whether two kernels are the same operation of the same library on the same type. */
bool nai_comm_same_kind(const struct nai_model *model, const struct nai_comm_item *a, const struct nai_comm_item *b);
/* How often which operations were done: "AllReduce 12, Broadcast 1". */
struct nai_comm_ops {
  struct nai_comm_op_count {
    const char *op;
    int64_t count;
  } v[16];
  uint32_t count;
};
void nai_comm_ops_add(struct nai_comm_ops *ops, const char *op);
void nai_comm_ops_say(struct nai_buf *out, struct nai_comm_ops *ops);
/* Bytes of the direction that carries more, NAI_COMM_UNKNOWN. */
static inline int64_t nai_comm_bytes(const struct nai_comm_item *item) {
  return item->sent > item->received ? item->sent : item->received;
}
/* Whether a range is of NCCL's domain. */
bool nai_comm_is_nccls(const struct nai_model *model, uint32_t range);
/* What the program calls the communicator of an item (commName), as nsys -t nccl tells; NULL where it does not. */
const char *nai_comm_given_name(const struct nai_model *model, const struct nai_comm_item *item);
/* The id of a communicator as texts have it: "0x000000000000000b". */
enum { NAI_COMM_ID_MAX = 24 };
const char *nai_comm_id(char room[NAI_COMM_ID_MAX], int64_t comm);

/* The number a rank has in its largest communicator, as that one's initialisation says; NAI_NULL_I64 when it does not,
 * or when its process has several GPUs: nothing tells then which is whose. */
int64_t nai_comm_own_rank(const struct nai_comm *comm, uint32_t rank);

/* Rates as nccl-tests defines them, 10^9 bytes per second; NaN unknown. bytes: message size as NCCL's payloads have it;
 * ranks: NAI_COMM_UNKNOWN. */
struct nai_comm_rates {
  double algorithm, bus;
};
struct nai_comm_rates nai_comm_rates(const char *op, int64_t bytes, int64_t ranks, int64_t ns);
/* Of a kernel by its transfer where that is known, else by its duration. */
struct nai_comm_rates nai_comm_rates_of(const struct nai_comm_item *item);

/* What a GPU did while others waited for it. */
struct nai_comm_behind {
  int64_t ns, idle_ns; /* that time, and the part in which the GPU did nothing */
  const char *with;    /* the kernel that took most of it; "copies" or "CUDA graphs"; NULL for none */
  int64_t with_ns;
  const char *range; /* innermost NVTX range around the launch of that, NULL for none */
};
/* `waits`: from when the first GPU waited to when this one came, by the latter; they may overlap. Needs the parts
 * NAMES, GPUS, LAUNCHES, and NVTX_TREE for the range. */
NAI_MUST_CHECK int nai_comm_behind(struct nai_comm_behind *out, const struct nai_model *model, uint32_t gpu,
                                   const struct nai_interval *waits, uint32_t count, struct nai_err *err);
