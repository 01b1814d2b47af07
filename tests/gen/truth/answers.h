/* Known answers for a diagnosis: idle gaps whose parts are planned, ns by ns, and facts that must be found.
 *
 * A gap is told as a list of parts, each with what the host did and the cause that a right diagnosis gives it. The
 * emitter makes the calls, rows and operation that follow from it, at exactly these times, and books the causes.
 */
#pragma once

#include "gen/plan.h"

/* Causes of idle time, X(id, word in the truth). */
#define NAI_GEN_IDLE_CAUSES(X)        \
  X(PROFILER, "profiler")             \
  X(MODULE_LOAD, "module_load")       \
  X(ALLOCATION, "allocation")         \
  X(BLOCKING_CALL, "blocking_call")   \
  X(QUEUE_DRAINED, "queue_drained")   \
  X(IN_LAUNCH_CALL, "in_launch_call") \
  X(CUDA_CALL, "cuda_call")           \
  X(HOST_CODE, "host_code")           \
  X(LAUNCH_LATENCY, "launch_latency") \
  X(DEPENDENCY, "dependency")         \
  X(HOST_FUNCTION, "host_function")   \
  X(PAGE_MIGRATION, "page_migration") \
  X(UNKNOWN, "unknown")

#define NAI_GEN_IDLE_ENUM(id, word) IDLE_##id,
enum nai_gen_idle { NAI_GEN_IDLE_CAUSES(NAI_GEN_IDLE_ENUM) IDLE_COUNT };
#undef NAI_GEN_IDLE_ENUM

enum nai_gen_doing {
  DOING_OWN_CODE,
  DOING_OS_CALL,      /* own code, inside the OS runtime function `name` */
  DOING_CALL,         /* inside the CUDA call `api`, which launches nothing that ends the gap */
  DOING_LAUNCH,       /* inside the call that launches what ends the gap */
  DOING_LOAD,         /* the same, while it loads a module */
  DOING_LAZY_LOAD,    /* the same, while it loads a function */
  DOING_FLUSH,        /* stopped by the profiler: overhead `name`, NULL for a buffer flush */
  DOING_FLUSH_BESIDE, /* own code or the launch call, while the profiler works on another thread of the process */
  DOING_AFTER_LAUNCH  /* whatever: the launch call has returned */
};

struct nai_gen_part {
  enum nai_gen_doing doing;
  enum nai_gen_idle cause;
  int64_t ns;
  enum nai_gen_api api; /* DOING_CALL */
  const char *name;     /* DOING_OS_CALL, DOING_FLUSH and DOING_FLUSH_BESIDE */
  int callchain;        /* DOING_OS_CALL, DOING_CALL: its callchainId, 0 for none; of other calls the thread's */
};

struct nai_gen_gap {
  int thread, stream;
  int beside; /* thread of DOING_FLUSH_BESIDE */
  const struct nai_gen_part *parts;
  int count;
  int64_t lead_ns; /* the first part began so long before the gap */
  int kernel;      /* what ends the gap: a kernel, or `copy` */
  int64_t duration_ns;
  const struct nai_gen_copy *copy;
};

/* Leaves a gap from the end of all work on the stream's GPU on, and ends it by a kernel or copy, whose end it returns.
 * The launch call spans the parts from the first to the last DOING_LAUNCH, _LOAD or _LAZY_LOAD; without such a part it
 * is made at the thread's current time, before the gap. No parts: the work follows without a gap. */
int64_t nai_gen_gap(struct nai_gen_plan *plan, const struct nai_gen_gap *gap);
/* A kernel that was launched in time and follows without a gap. */
int64_t nai_gen_follow(struct nai_gen_plan *plan, int thread, int stream, int kernel, int64_t duration_ns);
/* End of all planned work on the stream's GPU. */
int64_t nai_gen_gpu_ready(const struct nai_gen_plan *plan, int stream);
/* A call from start_ns to end_ns; the thread continues at end_ns. */
int64_t nai_gen_call_at(struct nai_gen_plan *plan, int thread, enum nai_gen_api api, int64_t start_ns, int64_t end_ns);
/* Records an event behind `other`'s work and makes `stream` wait for it, with the rows of both. */
void nai_gen_wait_event(struct nai_gen_plan *plan, int thread, int stream, int other, int event);

/* A stretch of a GPU's window as a right analysis divides it; kinds: active, set_up, check, pause. */
void nai_gen_span(struct nai_gen_plan *plan, int gpu, const char *kind, int64_t start_ns, int64_t end_ns);

struct nai_gen_fact {
  const char *table, *key; /* row of the analyser's table: capture_health, workload_evidence, losses, kernel_shape,
                              gap_functions; of unified_memory, memory_use, memory_growth a column of their only row */
  const char *value;       /* NULL: the row must be there, whatever it says */
  int64_t count;           /* 0: not stated */
  int64_t at_most_ns;      /* the row's time must not be longer; 0: not stated */
  int64_t exact_ns;        /* the row's time; 0: not stated */
  int64_t gain_ns;         /* what the row prices: of losses gain, of copy_rates the first use; 0: not stated */
  bool absent;             /* there must be no such row */
};
/* Something that must be found, or must not. Texts are literals. */
void nai_gen_fact(struct nai_gen_plan *plan, const struct nai_gen_fact *fact);

/* Gives all launches of a kernel this shape; for two shapes of one name declare two kernels. */
void nai_gen_kernel_shape(struct nai_gen_plan *plan, int kernel, int grid, int block);
/* What its launches take of a multiprocessor: registers per thread, shared memory per block, local memory per thread.
 */
void nai_gen_kernel_resources(struct nai_gen_plan *plan, int kernel, int registers, int shared_bytes, int local_bytes);
/* Kernels declared from here on fill the GPU with full blocks, whatever the seed. */
void nai_gen_even_shapes(struct nai_gen_plan *plan);

/* One process with one thread and stream on one GPU, ordinal 0, and even shapes: where most small programs begin. */
struct nai_gen_program {
  struct nai_gen_plan *plan;
  int process, thread, stream, gpu;
};
void nai_gen_program(struct nai_gen_program *program, struct nai_gen_plan *plan, int pid, const char *name);
/* A gap of the program's own stream; `parts` is an array. */
#define nai_gen_program_gap(program, parts_, kernel_, duration_)                                                   \
  nai_gen_gap((program)->plan, &(struct nai_gen_gap){.thread = (program)->thread,                                  \
                                                     .stream = (program)->stream,                                  \
                                                     .parts = (parts_),                                            \
                                                     .count = (int)(sizeof(parts_) / sizeof(struct nai_gen_part)), \
                                                     .kernel = (kernel_),                                          \
                                                     .duration_ns = (duration_)})
