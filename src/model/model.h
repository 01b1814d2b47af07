/* Shared derivations over the event tables, computed once and read by every analysis: launch join, rows grouped by
 * thread, the NVTX tree, and each GPU's timeline. Definitions: docs/analyses.md. */
#pragma once

#include "base/flow.h"
#include "base/keyset.h"
#include "config/flops.h"
#include "config/kernel_classes.h"
#include "config/patterns.h"
#include "config/workload.h"
#include "model/groups.h"
#include "model/lanes.h"
#include "tables/events.h"
#include "table/intervals.h"
#include "table/table.h"

#define NAI_NO_ROW UINT32_MAX

/* One node of the calling-context tree of canonical NVTX names: all instances of a range name on one thread inside the
 * same chain of names. A child's number is greater than its parent's. */
struct nai_nvtx_node {
  uint32_t parent; /* NAI_NO_ROW for outermost ranges */
  uint32_t name;   /* string of nvtx_events */
  int32_t thread;
  uint32_t depth;   /* nodes above */
  bool start_end;   /* start/end ranges: never parents, never children */
  bool outermost;   /* no node above has this name */
  uint32_t longest; /* nvtx_events row of the longest instance, the earliest of equals */
  int64_t count;
  int64_t total_ns;                /* summed durations; start/end instances inside one of the same name left out */
  int64_t self_ns;                 /* minus children */
  int64_t kernel_ns, kernel_count; /* of kernels launched from these ranges, innermost */
  int64_t inclusive_kernel_ns, inclusive_kernel_count; /* and from those inside them */
  int64_t graph_ns, copy_ns;                           /* the same of graphs traced as a whole, of copies and memsets */
  int64_t inclusive_graph_ns, inclusive_copy_ns;
};

/* What an API function does to its thread (docs/analyses.md, "Synchronisation" and "Idle gaps"). */
enum nai_api_class {
  NAI_API_OTHER,
  NAI_API_BLOCKING,
  NAI_API_BLOCKING_COPY,
  NAI_API_ORDERING,
  NAI_API_POLL,
  NAI_API_ALLOCATION, /* and freeing */
  NAI_API_MODULE      /* loading and looking up code */
};

/* What a row of overhead_events is (docs/analyses.md, "Idle gaps"). */
enum nai_overhead_kind {
  NAI_OVERHEAD_OTHER,       /* what the CUDA driver waits for, or memory of the program's that the profiler looks at */
  NAI_OVERHEAD_OF_PROFILER, /* the profiler's own time */
  NAI_OVERHEAD_FLUSH,       /* the same: it empties buffers, which holds up all threads of the process */
  NAI_OVERHEAD_UNNAMED, /* the profiler's by its table, but neither named nor inside of a launch: explains no idle time
                         */
  NAI_OVERHEAD_LOADING  /* modules and functions that CUDA loads or compiles */
};

enum nai_op_type { NAI_OP_KERNEL, NAI_OP_COPY, NAI_OP_SET, NAI_OP_GRAPH };

/* One operation on a GPU. */
struct nai_op {
  int64_t start, end; /* ns: passes over all operations ask for little else */
  uint32_t row;       /* of kernel_events, memop_events or graph_events */
  uint32_t type : 2;  /* enum nai_op_type */
  uint32_t communication : 1;
  uint32_t stream : 29; /* number of its stream, of those of the GPU */
};
#define NAI_MAX_STREAMS (1u << 29)

/* A stream of a GPU. An id is unique within a process and context. */
struct nai_stream {
  int32_t process, context, id; /* row of processes, -1 unknown */
};

/* What one GPU did. Unions are over all its streams and processes; window = first op start .. last op end. */
struct nai_gpu {
  int32_t device_id;
  int64_t window_start, window_end; /* ns; equal when it did nothing */
  struct nai_op *ops;               /* by start, then type, stream, row */
  uint32_t op_count;
  struct nai_stream *streams; /* in order of their first operations */
  uint32_t stream_count;
  int64_t compute_ns;                                             /* kernels but communication, and graph envelopes */
  int64_t communication_ns, copy_ns;                              /* communication kernels; memcpy and memset */
  int64_t kernel_busy_ns, kernel_window_start, kernel_window_end; /* kernels only: the estimate other tools print */
  int64_t graph_ns;                                               /* union of graph envelopes */
  struct nai_intervals all;                                       /* the three together */
  struct nai_intervals exposed_communication;                     /* communication \ compute */
  struct nai_intervals exposed_copy;                              /* copy \ (compute U communication) */
  struct nai_keyset processes; /* rows of processes that used it; -1 for unknown ones */
};

/* What the kernels of one name on one GPU add up to. */
struct nai_kernel_group {
  uint32_t gpu, name; /* index of the GPU, string of kernel_events */
  int64_t calls, total_ns, graph_calls;
  double squares;   /* of durations, added in the order of rows */
  uint32_t longest; /* kernel_events row of the longest execution, the earliest of equals */
};

/* Kernels of one group, in one process, with one launch configuration. */
struct nai_kernel_kind {
  uint32_t group;          /* index in kernel_groups */
  int32_t process, config; /* as in kernel_events */
  int64_t calls, total_ns, longest_ns, graph_calls;
  uint32_t first, longest; /* kernel_events rows; of the longest execution the earliest of equals */
};

/* What a process did. */
struct nai_process_sum {
  int64_t kernels, kernel_ns;
  int64_t attributed, attributed_ns; /* the part of them that was launched inside NVTX ranges */
  int64_t without_launch_ns;         /* of kernels whose launching call is not in the export */
  int64_t copied_bytes, api_calls;
  int64_t blocked_ns; /* union per thread, summed */
};

/* What falls into one phase of the phase map. */
struct nai_phase_sum {
  int64_t wall_ns;                      /* of threads: a partition of their time */
  int64_t kernel_ns, graph_ns, copy_ns; /* launched in the phase; copies: sets, too */
  int64_t kernels, ranges;
  uint32_t longest; /* nvtx_events row of its longest range, the earliest of equals */
};

/* Parts of the model: built when somebody needs them, in this order. parts.c says what each needs and costs. */
enum nai_model_part {
  NAI_PART_NAMES,         /* api_class, kernel_category, kernel_communication */
  NAI_PART_LAUNCHES,      /* kernel_api, memop_api, graph_api, api_owns, free_waits */
  NAI_PART_RANGES,        /* nvtx_by_thread */
  NAI_PART_CALLS,         /* api_by_thread */
  NAI_PART_CALL_STATS,    /* call_stats */
  NAI_PART_GPUS,          /* gpus */
  NAI_PART_ACTIVE,        /* active (idle/active.h) */
  NAI_PART_PROCESS_GPUS,  /* process_gpus */
  NAI_PART_WINDOW,        /* window_start, window_end */
  NAI_PART_BLOCKED,       /* blocked */
  NAI_PART_NVTX_TREE,     /* nodes, first_node, nvtx_depth, crossing, checkpoints, api_node; kernel sums if map_nvtx */
  NAI_PART_RANGE_SPANS,   /* range_spans (nvtx/range_spans.h) */
  NAI_PART_KERNEL_GROUPS, /* kernel_group, kernel_groups, kernel_kind, kernel_kinds */
  NAI_PART_PROCESS_SUMS,  /* process_sums */
  NAI_PART_PHASES,        /* phase_sums, call_phase, range_phase */
  NAI_PART_EVIDENCE,      /* evidence, overhead_kind */
  NAI_PART_IDLE,          /* idle (idle.h) */
  NAI_PART_LANES,         /* lanes */
  NAI_PART_CPU,           /* cpu (cpu.h) */
  NAI_PART_STEPS,         /* steps (steps.h) */
  NAI_PART_COMM,          /* comm (comm/comm.h) */
  NAI_PART_MEMORY,        /* memory (memory_track.h) */
  NAI_PART_SAMPLED,       /* sampled (metric_series.h) */
  NAI_PART_DEPENDENCIES,  /* dependencies (critical/dependencies.h) */
  NAI_PART_COUNT
};
#define NAI_PART(name) (1u << NAI_PART_##name)

struct nai_model_options {
  const struct nai_kernel_classes *classes;
  const struct nai_patterns *phases; /* NULL without a phase map */
  bool phases_chosen;                /* by the program, not the user: used where it maps most of the work */
  const struct nai_workload_patterns *workload;
  const struct nai_gpu_facts *gpu_facts;
  const struct nai_flops *flops;         /* what the user says a step computes, or NULL */
  const struct nai_patterns *step;       /* names of the ranges that the user calls steps; NULL: to be found out */
  const struct nai_patterns *comm_names; /* what the user says communicators are for, or NULL */
  bool map_nvtx;                         /* attribute GPU work to NVTX ranges: without it their kernel sums stay 0 */
  int page_events;                       /* events that report.html holds in full */
  int worker_count;
  const char *scratch_dir; /* for large arrays (base/spill_array.h); NULL: in memory */
};

struct nai_model {
  /* inputs, borrowed */
  const struct nai_table *tables[NAI_IN_COUNT];
  const struct nai_kernel_classes *classes;
  const struct nai_patterns *phases; /* NULL from part PHASES on, where it was chosen and maps little */
  bool phases_chosen;
  const struct nai_workload_patterns *workload;
  const struct nai_gpu_facts *gpu_facts;
  const struct nai_flops *flops; /* what the user says a step computes, or NULL */
  const struct nai_patterns *step, *comm_names;
  bool map_nvtx;
  int page_events;
  int worker_count;
  const char *scratch_dir;
  struct nai_arena arena; /* what the parts are made of */

  struct KERNEL_EVENTS_columns kernels;
  struct MEMOP_EVENTS_columns memops;
  struct GRAPH_EVENTS_columns graphs;
  struct API_EVENTS_columns apis;
  struct NVTX_EVENTS_columns nvtx;
  uint32_t process_count, thread_count;
  const int32_t *thread_process; /* row of processes per thread, -1 unknown */

  /* names */
  uint8_t *api_class;         /* per api name id: enum nai_api_class by name alone */
  int *kernel_category;       /* per kernel name id */
  bool *kernel_communication; /* per kernel name id */

  /* launch join: row of api_events, NAI_NO_ROW when unmatched */
  uint32_t *kernel_api, *memop_api, *graph_api;
  uint8_t *api_owns;   /* per api row: bit per enum nai_op_type it launched */
  uint8_t *free_waits; /* per api row: it frees memory, and waited for the GPU; NULL: none did */

  /* host timelines */
  struct nai_groups api_by_thread;  /* by start, then end descending */
  struct nai_stats *call_stats;     /* per name of API calls: of their durations (table/stats.h) */
  struct nai_groups nvtx_by_thread; /* in the same order; marks left out */
  struct nai_intervals *blocked;    /* per thread: union of its blocking calls */
  struct nai_nvtx_node *nodes;      /* the NVTX tree, threads one after the other */
  uint32_t node_count;
  uint32_t *first_node;                /* per thread: its first node; thread_count + 1 entries */
  uint8_t *nvtx_depth;                 /* per range: push/pop ranges around it, 255 for more; unset for marks */
  uint32_t *crossing;                  /* per thread: push/pop ranges that overlap another without lying in it */
  struct nai_checkpoints *checkpoints; /* per thread (nvtx/nvtx_open.h) */
  uint32_t *api_node; /* node of the innermost NVTX range on the call's thread that contains its start; NAI_NO_ROW:
                       * none */
  struct nai_range_spans *range_spans; /* when ranges ran on GPUs */

  struct nai_gpu *gpus; /* by device_id, those of table gpus */
  uint32_t gpu_count;
  const int32_t *gpu_device;        /* device_id per GPU */
  struct nai_groups process_gpus;   /* per process: indices of the GPUs it used, ascending */
  int64_t window_start, window_end; /* over all GPUs; of all events when no GPU worked */

  /* sums that several analyses start from */
  uint32_t *kernel_group; /* per kernel: index in kernel_groups */
  struct nai_kernel_group *kernel_groups;
  uint32_t kernel_group_count;
  uint32_t *kernel_kind; /* per kernel: index in kernel_kinds, which are in the order of their first kernels */
  struct nai_kernel_kind *kernel_kinds;
  uint32_t kernel_kind_count;
  struct nai_process_sum *process_sums; /* per process; [process_count]: those of unknown process */
  struct nai_phase_sum *phase_sums;     /* per phase of the phase map */
  int *call_phase;                      /* per API call: its phase, -1 for none; NULL without a phase map */
  int *range_phase; /* per row of nvtx_events: the phase of its name; -1: none, or it lies in a range
                       of the same phase; NULL without a phase map */

  struct nai_evidence *evidence; /* of what threads did (evidence.h) */
  uint8_t *overhead_kind;        /* per row of overhead_events: enum nai_overhead_kind */
  struct nai_gpu_idle *idle;     /* per GPU */
  struct nai_gpu_active *active; /* per GPU */
  struct nai_lanes lanes;        /* the rows of the timeline */
  struct nai_cpu *cpu;           /* what CPUs did */
  struct nai_steps *steps;       /* of training, inference, or whatever the program repeats */
  struct nai_comm *comm;         /* what communication kernels did */
  /* what was allocated when */
  struct nai_memory_track *memory;
  /* samples of metrics */
  struct nai_sampled *sampled;
  struct nai_dependencies *dependencies; /* what had to happen before what */

  struct nai_model_work *work; /* private to src/model (build.h) */
};

/* Looks at the event tables: all of them, or those the wanted parts read. Nothing is built yet. */
void nai_model_open(struct nai_model *model, struct nai_table *const tables[NAI_IN_COUNT],
                    const struct nai_model_options *options);
void nai_model_free(struct nai_model *model);
/* Parts with all the parts they need. */
uint32_t nai_parts_needed(uint32_t parts);
/* What `parts` (with those they need) read: event tables as bits 1 << enum nai_input_table, configuration as bits of
 * enum nai_config. */
uint64_t nai_parts_tables(uint32_t parts);
uint32_t nai_parts_config(uint32_t parts);
/* Adds what builds the parts that are not there yet to a flow. done[part] = the task after which the part may be read,
 * NAI_FLOW_END when it may be already. NAI_ELIMIT. Once the flow has run, call nai_model_built. */
NAI_MUST_CHECK int nai_model_plan(struct nai_model *model, struct nai_flow *flow, uint32_t parts,
                                  uint32_t done[NAI_PART_COUNT], struct nai_err *err);
void nai_model_built(struct nai_model *model, uint32_t parts);
/* Builds parts now, on `worker_count` threads. */
NAI_MUST_CHECK int nai_model_build(struct nai_model *model, uint32_t parts, struct nai_err *err);
/* Anonymous memory that parts take, bytes: about half as much again as measured (docs/performance.md). */
int64_t nai_parts_bytes(const struct nai_model *model, uint32_t parts);

/* How long a kernel, a graph, a copy or set, an API call or an NVTX range took, ns. */
static inline int64_t nai_kernel_ns(const struct nai_model *m, uint32_t kernel) {
  return nai_val(&m->kernels.end_ns, kernel) - nai_val(&m->kernels.start_ns, kernel);
}
static inline int64_t nai_graph_ns(const struct nai_model *m, uint32_t graph) {
  return nai_val(&m->graphs.end_ns, graph) - nai_val(&m->graphs.start_ns, graph);
}
static inline int64_t nai_memop_ns(const struct nai_model *m, uint32_t memop) {
  return nai_val(&m->memops.end_ns, memop) - nai_val(&m->memops.start_ns, memop);
}
/* Whether a copy or set could be as fast as its row says. The fastest memories of GPUs move 10^4 bytes per ns and their
 * caches less than ten times that; durations below 1 us may be ticks of a coarse clock. */
#define NAI_MEMOP_BYTES_PER_NS 100000
#define NAI_MEMOP_SHORT_NS 1000
static inline bool nai_memop_rate_is_possible(const struct nai_model *m, uint32_t memop) {
  int64_t ns = nai_memop_ns(m, memop);
  return nai_at(&m->memops.bytes, memop) / NAI_MEMOP_BYTES_PER_NS <=
         (ns > NAI_MEMOP_SHORT_NS ? ns : NAI_MEMOP_SHORT_NS);
}
static inline int64_t nai_call_ns(const struct nai_model *m, uint32_t api) {
  return nai_val(&m->apis.end_ns, api) - nai_val(&m->apis.start_ns, api);
}
static inline int64_t nai_range_ns(const struct nai_model *m, uint32_t range) {
  return nai_val(&m->nvtx.end_ns, range) - nai_val(&m->nvtx.start_ns, range);
}

/* How GPU `device_id` is called in reports. */
const char *nai_model_gpu_label(const struct nai_model *model, int32_t device_id);
/* device_id of the GPU with that index. */
int32_t nai_model_device(const struct nai_model *model, uint32_t gpu);
/* Index of the GPU in `gpus`, gpu_count when the trace has no such GPU. */
uint32_t nai_model_gpu_search(const struct nai_model *model, int32_t device_id);
static inline uint32_t nai_model_gpu_index(const struct nai_model *m, int32_t device_id) {
  bool plain =
      (uint32_t)device_id < m->gpu_count && m->gpu_device[device_id] == device_id; /* mostly none is left out */
  return plain ? (uint32_t)device_id : nai_model_gpu_search(m, device_id);
}
/* What operations of a type have in the column of that name. */
#define NAI_OP_COLUMN(m, op, column)                   \
  ((op)->type == NAI_OP_KERNEL  ? &(m)->kernels.column \
   : (op)->type == NAI_OP_GRAPH ? &(m)->graphs.column  \
                                : &(m)->memops.column)
/* Row of processes of an operation, -1 unknown. */
static inline int32_t nai_model_op_process(const struct nai_model *m, const struct nai_op *op) {
  return nai_at_i32(NAI_OP_COLUMN(m, op, process), op->row);
}
static inline int32_t nai_model_op_context(const struct nai_model *m, const struct nai_op *op) {
  return nai_at_i32(NAI_OP_COLUMN(m, op, context_id), op->row);
}
static inline int32_t nai_model_op_stream(const struct nai_model *m, const struct nai_op *op) {
  return nai_at_i32(NAI_OP_COLUMN(m, op, stream_id), op->row);
}
/* API row that launched an operation. */
static inline uint32_t nai_model_op_api(const struct nai_model *m, const struct nai_op *op) {
  return op->type == NAI_OP_KERNEL ? m->kernel_api[op->row]
       : op->type == NAI_OP_GRAPH  ? m->graph_api[op->row]
                                   : m->memop_api[op->row];
}
/* Number of the first operation of a GPU that starts at t or later, its op_count when there is none. */
uint32_t nai_gpu_op_from(const struct nai_gpu *gpu, int64_t t);
/* The same, where operations before number `first` start earlier, and few others do. */
uint32_t nai_gpu_op_behind(const struct nai_gpu *gpu, uint32_t first, int64_t t);
/* Whether the call frees memory, and waited for the GPU. */
static inline bool nai_model_free_waits(const struct nai_model *m, uint32_t api) {
  return m->free_waits && m->free_waits[api];
}
/* Whether the call waits for the GPU: a synchronisation function, a blocking copy that owns a copy, or one that frees
 * memory and came back when the work launched before it was done. */
static inline bool nai_model_api_blocks(const struct nai_model *m, uint32_t api) {
  enum nai_api_class c = m->api_class[nai_val_text(&m->apis.name, api)];
  return c == NAI_API_BLOCKING || nai_model_free_waits(m, api) ||
         (c == NAI_API_BLOCKING_COPY && (!m->memops.n || m->api_owns[api] & (1 << NAI_OP_COPY | 1 << NAI_OP_SET)));
}
const char *nai_model_api_name(const struct nai_model *model, uint32_t api);
const char *nai_model_kernel_name(const struct nai_model *model, uint32_t kernel);
/* Whether the thread has start/end ranges. */
bool nai_model_has_start_end(const struct nai_model *model, uint32_t thread);
/* Canonical name of an NVTX row. */
const char *nai_model_range_name(const struct nai_model *model, uint32_t range);
/* Rowid of a range in the export's NVTX_EVENTS, NAI_NULL_I64 when it has none. Of a forged run it may be any number. */
static inline int64_t nai_model_export_row(const struct nai_model *model, uint32_t range) {
  int64_t offset = nai_at(&model->nvtx.export_row_offset, range);
  return offset == NAI_NULL_I64 ? offset : (int64_t)((uint64_t)offset + range);
}
/* pid of a row of processes, NAI_NULL_I64 for -1. */
int64_t nai_model_pid(const struct nai_model *model, int32_t process);
/* The process with that pid, -1 for none. */
int32_t nai_model_process(const struct nai_model *model, int64_t pid);
/* Where a range is on the timeline; all NAI_NULL_I64 for NAI_NO_ROW. */
struct nai_range_place {
  int64_t start, end, pid, tid;
};
struct nai_range_place nai_model_range_place(const struct nai_model *model, uint32_t range);
/* Sum of all kernel durations over all devices, ns: the base of pct_total_kernel_time. Needs part KERNEL_GROUPS. */
int64_t nai_total_kernel_ns(const struct nai_model *model);
/* What a copy or memory kind is called: the export's label, else the built-in one, else "kind N" in `room`; "Unknown"
 * for NULL. */
enum { NAI_KIND_NAME_MAX = 24 };
const char *nai_model_kind_name(char room[NAI_KIND_NAME_MAX], const struct nai_model *model, int enumeration,
                                int32_t kind);
/* Direction of a memory operation: "Host-to-Device", ..., "memset". */
const char *nai_model_direction(char room[NAI_KIND_NAME_MAX], const struct nai_model *model, uint32_t memop);

/* Node of the innermost NVTX range around the start of an API call, NULL when there is none. */
static inline struct nai_nvtx_node *nai_model_call_node(const struct nai_model *m, uint32_t api) {
  uint32_t node = m->api_node[api];
  return node == NAI_NO_ROW ? NULL : &m->nodes[node];
}

/* Whether work of any GPU is recorded. */
static inline bool nai_model_gpu_work(const struct nai_model *m) { return m->kernels.n || m->memops.n || m->graphs.n; }
