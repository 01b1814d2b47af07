/* State behind plan.h, shared by the files that plan, write and total it. */
#pragma once

#include "gen/plan.h"
#include "gen/steps.h"
#include "gen/truth/answers.h"

enum {
  MAX_PROCESSES = 72,
  MAX_THREADS = 96,
  MAX_GPUS = 72,
  MAX_CONTEXTS = 72,
  MAX_STREAMS = 160,
  MAX_DEPTH = 128,
  MAX_EXPECTATIONS = 32,
  MAX_OPEN_RANGES = 8 /* start/end ranges open on one thread */
};

enum nai_gen_api_class {
  API_CLASS_PLAIN,
  API_CLASS_BLOCKING,
  API_CLASS_COPY, /* blocks until its copy is done */
  API_CLASS_ORDERING,
  API_CLASS_POLL
};

struct nai_gen_api_def {
  const char *canonical;
  const char *raw;
  enum nai_gen_api_class class;
};
const struct nai_gen_api_def *nai_gen_api(enum nai_gen_api api);

struct nai_gen_stat {
  int64_t count, total, min, max;
};
void nai_gen_stat_add(struct nai_gen_stat *stat, int64_t value);

struct nai_gen_string_entry {
  size_t offset, size; /* in plan->string_bytes */
};

struct nai_gen_process {
  int pid;
  const char *name;
  int64_t global_pid;
  int64_t correlation;
  struct nai_gen_stat calls[API_COUNT];
  /* Totals over valid GPU work of this process. */
  struct nai_gen_stat kernels;
  int64_t memcpy_bytes;
  int64_t covered_ns;
  int visible_sms; /* that CUDA shows it, where fewer than the GPU has; 0: all */
};

struct nai_gen_open {
  int name;
  size_t range; /* index into plan->ranges */
  int64_t children_ns;
  int64_t phased_ns; /* time of descendants that have a phase */
};

struct nai_gen_thread {
  int process;
  int tid;
  const char *name;
  int64_t global_tid;
  int64_t now;
  int64_t blocked_ns;
  int64_t callchain; /* of its calls from now on: 0 for none, NAI_GEN_CHAIN_ZERO for one that is called 0 */
  int depth;
  struct nai_gen_open stack[MAX_DEPTH];
  int started_count;
  size_t started[MAX_OPEN_RANGES]; /* open start/end ranges, oldest first */
};

struct nai_gen_gpu {
  int physical_id;
  /* Totals of the written events; see truth_gpu.c. */
  bool used;
  int64_t start, end;                    /* first operation's start, last operation's end */
  int64_t class_ns[NAI_GEN_CLASS_COUNT]; /* compute, exposed communication, exposed copy */
  int64_t comm_ns, comm_hidden_ns;
  struct nai_gen_stat gaps;
  struct nai_gen_stat parts[IDLE_COUNT]; /* planned parts of gaps: one value per gap */
  int64_t swept[IDLE_COUNT];             /* the same by truth_idle.c, totals */
  struct nai_gen_stat kernels;
  int64_t kernel_start, kernel_end, kernel_busy_ns;
  int64_t launch_calls;
  struct nai_gen_vec durations; /* int64_t, kept only for traces written in one piece */
};

struct nai_gen_context {
  int process, device_id, context_id, gpu;
  int green, sm_count;  /* of a green context: the context it was made in, and its SMs; 0: none */
  const char *tpc_mask; /* NULL: not exported */
};

struct nai_gen_stream {
  int context, stream_id;
  int64_t ready;
};

struct nai_gen_kernel {
  int64_t demangled, short_name; /* string ids */
  enum nai_gen_class class;
  enum nai_gen_api launch_api;
  int grid, block, registers, shared_bytes, local_bytes;
  struct nai_gen_stat stats[MAX_GPUS];
};

struct nai_gen_name_stat {
  struct nai_gen_stat ranges; /* total counts outermost instances only */
  int64_t duration_sum;
  int64_t self_ns;
  bool nests;
  struct nai_gen_stat attributed, innermost; /* kernels */
};

struct nai_gen_name {
  size_t offset, size; /* in plan->string_bytes */
  int64_t string_id;   /* -1 until used through StringIds */
  int phase;           /* index into plan->phases, or -1 */
  int64_t marks;
  struct nai_gen_name_stat by_process[MAX_PROCESSES];
};

struct nai_gen_phase {
  const char *name;
  int64_t wall_ns, kernel_ns, kernel_count;
};

enum nai_gen_op_kind { OP_KERNEL, OP_COPY, OP_SET, OP_GRAPH };

struct nai_gen_op {
  enum nai_gen_op_kind kind;
  int64_t start, end;
  int stream;
  int kernel;
  int64_t correlation;
  int64_t call; /* index into plan->calls, -1: not in the trace */
  int64_t bytes;
  int direction, source, target;
  int64_t graph_id, graph_node; /* 0: none */
  int64_t grid_id;
};

struct nai_gen_call {
  int64_t start, end;
  int thread;
  enum nai_gen_api api;
  int64_t correlation;
  bool launches;
  int64_t callchain; /* as in struct nai_gen_thread */
};

struct nai_gen_sync {
  int64_t start, end;
  int thread, stream;
  enum nai_gen_api api;
  int64_t correlation;
  int64_t event; /* 0: any */
};

struct nai_gen_range {
  int64_t start, end;
  bool open; /* end is NULL in the trace */
  int type;  /* NVTX event type */
  int thread, end_thread;
  int name; /* -1: text only */
  size_t text_offset, text_size;
  int64_t text_id;               /* -1: inline text */
  int domain, category;          /* 0: none */
  int64_t range_id;              /* -1: none */
  size_t blob_offset, blob_size; /* of its payload, in the plan's text */
  bool json;                     /* that is text */
};

/* What a GPU waited and transferred in collectives of one kind. */
struct nai_gen_wait {
  int gpu;
  const char *op;
  int64_t count, total_ns, wait_ns, transfer_ns, bytes;
};

struct nai_gen_overhead {
  int64_t start, end;
  int thread;
  int64_t correlation; /* -1: the profiler's own */
  int kind;
  const char *name; /* of the profiler's own; NULL: a buffer flush */
};

struct nai_gen_graph_node_row {
  int64_t start, end;
  int thread;
  int64_t node, original; /* original: 0 for none */
};

struct nai_gen_diagnostic {
  int severity;
  const char *text;
};

struct nai_gen_transfer {
  int gpu, direction, source, target; /* direction 0: memset, source: kind of memory */
  struct nai_gen_stat stat;
  int64_t bytes;
};

struct nai_gen_drop {
  const char *table;
  const char *reason;
  int64_t count;
};

struct nai_gen_span {
  int gpu;
  const char *kind;
  int64_t start, end;
};

/* A step's begin, or the end of a process's steps (no state). */
struct nai_gen_step_mark {
  struct nai_gen_step step;
  size_t first_op; /* of the plan's operations */
  int gpu;
  int64_t start, end, kernels;
  int64_t work_end;                    /* of its own work */
  int64_t ns[NAI_GEN_CLASS_COUNT + 1]; /* by class, then idle */
};

struct nai_gen_unit {
  int process, kernels, count;
  const char *level;
};

struct nai_gen_expectation {
  const char *id;
  size_t id_size;
  bool fires;
};

/* Rows written one by one: of a column its integers and their sum, wrapping; of a table, where column is NULL, its
 * rows. */
struct nai_gen_evidence {
  const char *table, *column;
  int64_t count;
  uint64_t sum;
};

struct nai_gen_plan {
  struct nai_gen_rng rng;
  struct nai_gen_rng order_rng; /* for row order, so that --shuffle changes nothing else */
  struct nai_gen_db *db;
  struct nai_gen_err *err;
  int schema;
  int64_t utc_ns;
  const char *gpu_name;
  double scale;
  bool shuffle;
  bool hide_devices;
  bool inexact;
  bool parts_planned; /* every gap of the trace has planned parts */
  bool hide_device_map;
  bool even_shapes; /* every kernel fills the GPU, unless it is given another shape */
  bool odd_labels;  /* the export calls kinds of copies and memory otherwise than usual */
  bool bare;        /* event tables and StringIds only */
  bool streaming;   /* written in several pieces: costly truths are left out */

  int process_count, thread_count, gpu_count, context_count, stream_count;
  struct nai_gen_process processes[MAX_PROCESSES];
  struct nai_gen_thread threads[MAX_THREADS];
  struct nai_gen_gpu gpus[MAX_GPUS];
  struct nai_gen_context contexts[MAX_CONTEXTS];
  struct nai_gen_stream streams[MAX_STREAMS];

  struct nai_gen_vec string_bytes, strings, kernels, names, phases;
  int64_t api_strings[API_COUNT]; /* string ids, -1 until used */
  int expectation_count, caveat_count;
  struct nai_gen_expectation expectations[MAX_EXPECTATIONS];
  const char *caveats[MAX_EXPECTATIONS];

  /* Events since the last flush. */
  struct nai_gen_vec calls, ops, syncs, ranges, text, overheads, graph_nodes, raws;
  struct nai_gen_vec diagnostics, transfers, drops, evidence;
  struct nai_gen_vec spans, facts, steps, units, waits;
  bool payloads; /* some range has one */

  int64_t grid_id, range_id;
  int64_t last_ns; /* last timestamp of any event */
  int64_t kernels_joined, kernels_unjoined, covered_ns, launch_calls, foreign_pairs;
  int64_t crossing_ranges, open_ranges, range_rows, mark_rows;
  int64_t profiler_ns;
};

static inline struct nai_gen_kernel *nai_gen_kernel_at(const struct nai_gen_plan *plan, int kernel) {
  return (struct nai_gen_kernel *)plan->kernels.items + kernel;
}

static inline struct nai_gen_name *nai_gen_name_at(const struct nai_gen_plan *plan, int name) {
  return (struct nai_gen_name *)plan->names.items + name;
}

static inline const char *nai_gen_bytes_at(const struct nai_gen_plan *plan, size_t offset) {
  return (const char *)plan->string_bytes.items + offset;
}

static inline struct nai_gen_gpu *nai_gen_stream_gpu(struct nai_gen_plan *plan, int stream) {
  return &plan->gpus[plan->contexts[plan->streams[stream].context].gpu];
}

static inline bool nai_gen_failed(const struct nai_gen_plan *plan) { return plan->err->code != 0; }

/* Appends a zeroed item to one of the plan's arrays; NULL and a failed plan when out of memory. */
void *nai_gen_plan_push(struct nai_gen_plan *plan, struct nai_gen_vec *vec);
void nai_gen_plan_saw(struct nai_gen_plan *plan, int64_t end_ns);

struct nai_gen_plan_options {
  uint64_t seed;
  int schema;
  double scale;
  bool shuffle;
  int64_t utc_ns;       /* session start, ns since 1970; 0: that of all scenarios */
  const char *gpu_name; /* NULL: likewise; a literal */
};
/* `db` and `err` are borrowed. NULL when out of memory. */
struct nai_gen_plan *nai_gen_plan_new(struct nai_gen_db *db, const struct nai_gen_plan_options *options,
                                      struct nai_gen_err *err);
void nai_gen_plan_free(struct nai_gen_plan *plan);

/* The rows and totals of work that a call queues (events.c). graph_node: 0 for none. The work's end, or what was added.
 */
int64_t nai_gen_add_kernel(struct nai_gen_plan *plan, int64_t call, int stream, int kernel, int64_t start,
                           int64_t duration_ns, int64_t graph_node);
int64_t nai_gen_add_envelope(struct nai_gen_plan *plan, int64_t call, int stream, int graph_id, int64_t start,
                             int64_t duration_ns);
int64_t nai_gen_add_copy(struct nai_gen_plan *plan, int64_t call, int thread, int stream, int64_t start,
                         const struct nai_gen_copy *copy);
struct nai_gen_sync *nai_gen_add_sync(struct nai_gen_plan *plan, int thread, int stream, int64_t call);
void nai_gen_add_overhead(struct nai_gen_plan *plan, const struct nai_gen_overhead *overhead);

/* Books a kernel launched by `thread` now under the ranges open there (ranges.c). */
void nai_gen_attribute(struct nai_gen_plan *plan, int thread, int64_t duration_ns);
/* Writes the events planned since the last flush (write.c). */
void nai_gen_write_events(struct nai_gen_plan *plan);
/* Ends whatever is still open at the last timestamp, as open ranges (ranges.c). */
void nai_gen_close_open_ranges(struct nai_gen_plan *plan);
/* Partition, gaps and causes of the events since the last flush (truth_gpu.c). */
void nai_gen_total_gpus(struct nai_gen_plan *plan);
/* Divides a gap that ends with what the call `launch` (-1: not in the trace) started (truth_idle.c). */
void nai_gen_sweep_gap(const struct nai_gen_plan *plan, struct nai_gen_gpu *gpu, int64_t launch, int64_t start,
                       int64_t end);
/* Windows of the steps, before their GPUs' events are swept; then each stretch of a class (idle: the number of classes)
 * that the sweep finds (steps.c). */
void nai_gen_window_steps(struct nai_gen_plan *plan);
void nai_gen_book_step_time(struct nai_gen_plan *plan, const struct nai_gen_gpu *gpu, int class, int64_t start,
                            int64_t end);
/* Descriptive tables, written once after the last event (meta.c). */
void nai_gen_write_meta(struct nai_gen_plan *plan, const char *scenario);
