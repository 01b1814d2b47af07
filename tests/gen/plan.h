/* The vocabulary scenarios are written in: processes, threads, streams, calls, kernels, ranges.
 *
 * A plan simulates host and GPU clocks. Every emitter advances the clock of the host thread it runs
 * on, queues GPU work behind what its stream already holds, and books the true answers at that
 * moment, from what the plan knows (which call launches, which ranges are open) rather than by
 * searching the finished events. Handles are small integers; a plan that runs out of memory or
 * exceeds its fixed limits becomes failed and ignores everything after, so scenarios need no error
 * handling.
 *
 * Times are ns since session start, durations ns, sizes bytes.
 */
#pragma once

#include "gen/base.h"
#include "gen/db.h"

struct nai_gen_plan;

/* X(id, canonical name, suffix the exporter writes, class) */
#define NAI_GEN_APIS(X)                                                   \
  X(LAUNCH, "cudaLaunchKernel", "_v7000", PLAIN)                          \
  X(LAUNCH_EX, "cudaLaunchKernelExC", "_v11060", PLAIN)                   \
  X(LAUNCH_DRIVER, "cuLaunchKernelEx", "", PLAIN)                         \
  X(GRAPH_LAUNCH, "cudaGraphLaunch", "_v10000", PLAIN)                    \
  X(MEMCPY, "cudaMemcpy", "_v3020", COPY)                                 \
  X(MEMCPY_ASYNC, "cudaMemcpyAsync", "_v3020", PLAIN)                     \
  X(MEMSET_ASYNC, "cudaMemsetAsync", "_v3020", PLAIN)                     \
  X(STREAM_SYNC, "cudaStreamSynchronize", "_v3020", BLOCKING)             \
  X(DEVICE_SYNC, "cudaDeviceSynchronize", "_v3020", BLOCKING)             \
  X(EVENT_SYNC, "cudaEventSynchronize", "_v3020", BLOCKING)               \
  X(STREAM_WAIT, "cudaStreamWaitEvent", "_v3020", ORDERING)               \
  X(EVENT_QUERY, "cudaEventQuery", "_v3020", POLL)                        \
  X(EVENT_RECORD, "cudaEventRecord", "_v3020", PLAIN)                     \
  X(MALLOC, "cudaMalloc", "_v3020", PLAIN)                                \
  X(HOST_ALLOC, "cudaHostAlloc", "_v3020", PLAIN)                         \
  X(IS_CAPTURING, "cudaStreamIsCapturing", "_v10000", PLAIN)              \
  X(CAPTURE_INFO, "cudaStreamGetCaptureInfo_v2", "_v11030", PLAIN)        \
  X(KERNEL_ATTRIBUTE, "cuKernelGetAttribute", "", PLAIN)                  \
  X(GRAPH_INSTANTIATE, "cudaGraphInstantiateWithFlags", "_v11040", PLAIN) \
  X(FREE, "cudaFree", "_v3020", PLAIN)                                    \
  X(MALLOC_ASYNC, "cudaMallocAsync", "_v11020", PLAIN)                    \
  X(FREE_ASYNC, "cudaFreeAsync", "_v11020", PLAIN)                        \
  X(STREAM_CREATE, "cudaStreamCreateWithFlags", "_v5000", PLAIN)          \
  X(MODULE_LOAD, "cuModuleLoadDataEx", "", PLAIN)                         \
  X(MODULE_UNLOAD, "cuModuleUnload", "", PLAIN)                           \
  X(LAUNCH_DRIVER_OLD, "cuLaunchKernel", "", PLAIN)                       \
  X(DRIVER_STREAM_SYNC, "cuStreamSynchronize", "", BLOCKING)              \
  X(DRIVER_HOST_ALLOC, "cuMemHostAlloc", "", PLAIN)                       \
  X(DRIVER_STREAM_CREATE, "cuStreamCreate", "", PLAIN)                    \
  X(DRIVER_ALLOC, "cuMemAlloc_v2", "", PLAIN)

#define NAI_GEN_API_ENUM(id, name, suffix, class) API_##id,
enum nai_gen_api { NAI_GEN_APIS(NAI_GEN_API_ENUM) API_COUNT };
#undef NAI_GEN_API_ENUM

/* What part of a GPU's time an operation belongs to. */
enum nai_gen_class { NAI_GEN_COMPUTE, NAI_GEN_COMM, NAI_GEN_COPY, NAI_GEN_CLASS_COUNT };

enum nai_gen_memory { NAI_GEN_PAGEABLE = 0, NAI_GEN_PINNED = 1, NAI_GEN_DEVICE = 2, NAI_GEN_UNKNOWN = 7 };
/* DECOMPRESSION has a table of its own, and no kinds of memory. */
enum nai_gen_direction { NAI_GEN_HTOD = 1, NAI_GEN_DTOH = 2, NAI_GEN_DTOD = 8, NAI_GEN_DECOMPRESSION = 64 };

/* --- Set-up ----------------------------------------------------------------------------------- */

struct nai_gen_rng *nai_gen_rng(struct nai_gen_plan *plan);
/* `count` times the --scale factor, at least 1. */
int nai_gen_scaled(const struct nai_gen_plan *plan, int count);

int nai_gen_process(struct nai_gen_plan *plan, int pid, const char *name);
int nai_gen_thread(struct nai_gen_plan *plan, int process, int tid, const char *name);
/* A GPU as a correct analysis must tell it apart; physical_id is -1 where the trace cannot say. */
int nai_gen_gpu(struct nai_gen_plan *plan, int physical_id);
int nai_gen_context(struct nai_gen_plan *plan, int process, int device_id, int context_id, int gpu);
/* A green context made in `parent`: so many SMs of its GPU (0: not told), which ones by TPC (NULL: not told). */
int nai_gen_green_context(struct nai_gen_plan *plan, int parent, int context_id, int sm_count, const char *tpc_mask);
/* CUDA shows the process so many SMs of its GPU, as under MIG. */
void nai_gen_visible_sms(struct nai_gen_plan *plan, int process, int sm_count);
int nai_gen_stream(struct nai_gen_plan *plan, int context, int stream_id);
struct nai_gen_kernel_spec {
  const char *demangled;
  const char *short_name;   /* NULL: same as demangled */
  enum nai_gen_class class; /* COMPUTE or COMM */
  enum nai_gen_api launch_api;
};
int nai_gen_kernel_from(struct nai_gen_plan *plan, const struct nai_gen_kernel_spec *spec);
/* The common case: compute, launched through the runtime API. */
int nai_gen_kernel(struct nai_gen_plan *plan, const char *demangled, const char *short_name);
void nai_gen_kernels(struct nai_gen_plan *plan, int *handles, const struct nai_gen_kernel_spec *specs, size_t count);
int nai_gen_kernel_bytes(struct nai_gen_plan *plan, const char *name, size_t size);
/* A kernel whose name id is missing from StringIds. */
int nai_gen_kernel_missing(struct nai_gen_plan *plan, int64_t string_id);
/* A range name as reports must show it (PyTorch's per-call suffix is given at push). */
int nai_gen_name(struct nai_gen_plan *plan, const char *text);
int nai_gen_name_bytes(struct nai_gen_plan *plan, const char *text, size_t size);
struct nai_gen_name_spec {
  const char *text;
  const char *phase; /* NULL: none */
};
void nai_gen_names(struct nai_gen_plan *plan, int *handles, const struct nai_gen_name_spec *specs, size_t count);
/* Puts all ranges of this name into a phase; `phase` is a literal. */
void nai_gen_name_phase(struct nai_gen_plan *plan, int name, const char *phase);
/* First correlation id of a process minus one; ids count up from there. */
void nai_gen_correlation_base(struct nai_gen_plan *plan, int process, int64_t base);
/* Leaves out what containers lack: TARGET_INFO_GPU, TARGET_INFO_CUDA_DEVICE, contexts, streams. */
void nai_gen_hide_devices(struct nai_gen_plan *plan);
/* Leaves out TARGET_INFO_CUDA_DEVICE, as exports before 2025 do: nothing maps ordinals to GPUs. */
void nai_gen_hide_device_map(struct nai_gen_plan *plan);
/* Leaves out every descriptive table but StringIds. */
void nai_gen_bare(struct nai_gen_plan *plan);

/* --- Clocks ----------------------------------------------------------------------------------- */

int64_t nai_gen_now(const struct nai_gen_plan *plan, int thread);
void nai_gen_work(struct nai_gen_plan *plan, int thread, int64_t duration_ns);
void nai_gen_wait_until(struct nai_gen_plan *plan, int thread, int64_t time_ns);
/* When the stream's queued work ends. */
int64_t nai_gen_ready(const struct nai_gen_plan *plan, int stream);
void nai_gen_hold(struct nai_gen_plan *plan, int stream, int64_t until_ns);

/* --- Host calls and GPU work ------------------------------------------------------------------ */

/* CUDA_CALLCHAINS.id of the thread's calls from now on; 0: they have none, NAI_GEN_CHAIN_ZERO: their rows say 0. */
enum { NAI_GEN_CHAIN_ZERO = -1 };
void nai_gen_callchain(struct nai_gen_plan *plan, int thread, int64_t chain);
/* A CUDA API call of the given length; returns its handle until the next flush. */
int64_t nai_gen_call(struct nai_gen_plan *plan, int thread, enum nai_gen_api api, int64_t duration_ns);
/* These return the end of the GPU operation. */
int64_t nai_gen_launch(struct nai_gen_plan *plan, int thread, int stream, int kernel, int64_t duration_ns);
/* Like launch, but the kernel starts exactly at start_ns. */
int64_t nai_gen_launch_at(struct nai_gen_plan *plan, int thread, int stream, int kernel, int64_t start_ns,
                          int64_t duration_ns);
/* A kernel whose launching call is not in the trace. */
int64_t nai_gen_orphan(struct nai_gen_plan *plan, int stream, int kernel, int64_t start_ns, int64_t duration_ns);

struct nai_gen_copy {
  int direction, source, target; /* enum nai_gen_direction, enum nai_gen_memory, or made-up */
  int64_t bytes;
  int64_t duration_ns;
  bool blocking; /* cudaMemcpy that returns after the copy */
};
int64_t nai_gen_copy(struct nai_gen_plan *plan, int thread, int stream, const struct nai_gen_copy *copy);
int64_t nai_gen_set(struct nai_gen_plan *plan, int thread, int stream, int64_t bytes, int64_t duration_ns);
/* Blocks the thread until the stream (or, for DEVICE_SYNC, the whole context) is done, plus extra.
 */
void nai_gen_synchronize(struct nai_gen_plan *plan, int thread, int stream, enum nai_gen_api api, int64_t extra_ns);
/* cudaStreamWaitEvent: `stream` continues after what `other` holds now. */
void nai_gen_stream_wait(struct nai_gen_plan *plan, int thread, int stream, int other);

/* One graph launch traced as an envelope. */
int64_t nai_gen_graph(struct nai_gen_plan *plan, int thread, int stream, int graph_id, int64_t duration_ns);
struct nai_gen_node {
  int kernel;
  int64_t duration_ns;
};
/* One graph launch traced node by node: one call owns all kernels. */
int64_t nai_gen_graph_nodes(struct nai_gen_plan *plan, int thread, int stream, int graph_id,
                            const struct nai_gen_node *nodes, int count);
/* Nodes that ran from start_ns on, each gap_ns after the one before, launched by one call of api_ns at the thread's
 * time. Returns the last one's end. */
struct nai_gen_replay {
  int thread, stream, graph_id;
  const struct nai_gen_node *nodes;
  int count;
  int64_t api_ns, start_ns, gap_ns;
};
int64_t nai_gen_graph_replay(struct nai_gen_plan *plan, const struct nai_gen_replay *replay);
/* One graph launch traced as an envelope, with exact times. */
int64_t nai_gen_graph_at(struct nai_gen_plan *plan, int thread, int stream, int graph_id, int64_t api_ns,
                         int64_t start_ns, int64_t duration_ns);
/* A launch call that is captured into a graph: nothing runs, a node comes to be. */
void nai_gen_graph_capture(struct nai_gen_plan *plan, int thread, int graph_id, int node);
/* A node of one graph becomes a node of another. */
void nai_gen_graph_clone(struct nai_gen_plan *plan, int thread, int from_graph, int to_graph, int node);
/* Creation record of a graph node, during `thread`'s current time. */
void nai_gen_graph_node_created(struct nai_gen_plan *plan, int thread, int graph_id, int node);

/* --- NVTX ------------------------------------------------------------------------------------- */

/* Push/pop range with its name inline; suffix (may be NULL) is appended, as PyTorch does. */
void nai_gen_push(struct nai_gen_plan *plan, int thread, int name, const char *suffix);
/* Push/pop range named through StringIds, in a domain. */
void nai_gen_push_id(struct nai_gen_plan *plan, int thread, int name, int domain);
void nai_gen_pop(struct nai_gen_plan *plan, int thread);
int nai_gen_range_start(struct nai_gen_plan *plan, int thread, int name);
void nai_gen_range_end(struct nai_gen_plan *plan, int range, int thread);
void nai_gen_mark(struct nai_gen_plan *plan, int thread, int name);
/* Names a domain for the thread's process; domain ids are per process. */
void nai_gen_domain(struct nai_gen_plan *plan, int thread, int domain, const char *name);
/* And a category in it. */
void nai_gen_category(struct nai_gen_plan *plan, int thread, int domain, int category, const char *name);
/* Two push/pop rows that cross: a opens, b opens, a ends, b ends; no GPU work inside. */
void nai_gen_crossing(struct nai_gen_plan *plan, int thread, int name_a, int name_b, int64_t quarter_ns);

/* --- Everything else -------------------------------------------------------------------------- */

void nai_gen_profiler_overhead(struct nai_gen_plan *plan, int thread, int64_t duration_ns);
/* Stall inside a finished call, e.g. kind 8 = command buffer full. */
void nai_gen_cuda_overhead(struct nai_gen_plan *plan, int64_t call, int kind);
/* severity: 1 info, 2 warning, 3 error, 4 verbose. Texts are literals. */
void nai_gen_diagnostic(struct nai_gen_plan *plan, int severity, const char *text);
/* StringIds id of a text, added when new; size bytes, may hold anything. */
int64_t nai_gen_string(struct nai_gen_plan *plan, const char *bytes, size_t size);
/* A row written as it is after the planned events; reason is why a reader must drop it, or NULL. */
void nai_gen_raw_row(struct nai_gen_plan *plan, const struct nai_gen_row *row, const char *reason);
/* A row written at once, whose integers are added to the truth's sums of its table's columns. */
void nai_gen_evidence_row(struct nai_gen_plan *plan, const struct nai_gen_row *row);
/* Findings that must fire, or must not, under the default rules. `ids` are literals, separated by
 * single spaces. */
void nai_gen_expect_findings(struct nai_gen_plan *plan, const char *ids);
void nai_gen_expect_no_findings(struct nai_gen_plan *plan, const char *ids);
/* The trace holds rows whose treatment is a matter of choice: the truth then only counts rows. */
void nai_gen_inexact(struct nai_gen_plan *plan);
/* The export calls kinds of copies and of memory otherwise than Nsight Systems does. */
void nai_gen_odd_labels(struct nai_gen_plan *plan);
/* States a fact about the trace that a report must mention. `id` is a literal. */
void nai_gen_caveat(struct nai_gen_plan *plan, const char *id);

/* Writes what is planned so far and forgets it, so that a long trace needs little memory. All
 * ranges must be closed and everything planned later must start later. */
void nai_gen_flush(struct nai_gen_plan *plan);
/* Size of the file so far. */
int64_t nai_gen_written_bytes(struct nai_gen_plan *plan);
