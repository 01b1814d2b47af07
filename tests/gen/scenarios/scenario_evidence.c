/* One run with every source that analyses read only when they need it: a little work on one GPU and, beside it, rows
 * of each such table whose sums are known. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

#include <stdio.h>
#include <string.h>

enum { PID = 6001, ROWS = 200 };
static const int64_t first_ns = 1001000000; /* the work begins at 1 s */

struct witness {
  struct nai_gen_plan *plan;
  int64_t global_pid, global_tid;
  int64_t function, module, call; /* StringIds */
  int correlation;
};

static int64_t string(const struct witness *w, const char *text) { return nai_gen_string(w->plan, text, strlen(text)); }

/* Row i begins at first_ns + 1000 i; an interval takes 100 ns more than the one before. */
static int64_t start_of(int i) { return first_ns + 1000 * (int64_t)i; }
static int64_t end_of(int i) { return start_of(i) + 100 + i; }

static void put(const struct witness *w, const struct nai_gen_row *row) { nai_gen_evidence_row(w->plan, row); }

static void put_call(const struct witness *w, struct nai_gen_row *row, const char *table, int i, int class) {
  nai_gen_row_start(row, table);
  nai_gen_row_int(row, "start", start_of(i));
  nai_gen_row_int(row, "end", end_of(i));
  nai_gen_row_int(row, "eventClass", class);
  nai_gen_row_int(row, "globalTid", w->global_tid);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void add_memory(const struct witness *w) {
  struct nai_gen_row row;
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, "CUDA_GPU_MEMORY_USAGE_EVENTS");
    nai_gen_row_int(&row, "start", start_of(i));
    nai_gen_row_int(&row, "globalPid", w->global_pid);
    nai_gen_row_int(&row, "deviceId", 0);
    nai_gen_row_int(&row, "contextId", 1);
    nai_gen_row_int(&row, "address", INT64_C(0x7f0000000000) + (int64_t)(i / 2) * 4096);
    nai_gen_row_int(&row, "pc", 0x1000 + i);
    nai_gen_row_int(&row, "bytes", 4096 + i / 2);
    nai_gen_row_int(&row, "memKind", 2);
    nai_gen_row_int(&row, "memoryOperationType", i % 2);
    nai_gen_row_int(&row, "correlationId", i + 1);
    nai_gen_row_int(&row, "streamId", 7);
    put(w, &row);
    nai_gen_row_start(&row, "CUDA_GPU_MEMORY_POOL_EVENTS");
    nai_gen_row_int(&row, "start", start_of(i));
    nai_gen_row_int(&row, "globalPid", w->global_pid);
    nai_gen_row_int(&row, "deviceId", 0);
    nai_gen_row_int(&row, "address", 0x1000);
    nai_gen_row_int(&row, "operationType", 1 + i % 3);
    nai_gen_row_int(&row, "poolType", 1);
    nai_gen_row_int(&row, "localMemoryPoolSize", 1000 * (int64_t)i);
    nai_gen_row_int(&row, "localMemoryPoolUtilizedSize", 500 * (int64_t)i);
    put(w, &row);
  }
}

static void add_page_faults(const struct witness *w) {
  struct nai_gen_row row;
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, "CUDA_UM_CPU_PAGE_FAULT_EVENTS");
    nai_gen_row_int(&row, "start", start_of(i));
    nai_gen_row_int(&row, "globalPid", w->global_pid);
    nai_gen_row_int(&row, "address", 65536 * (int64_t)i);
    nai_gen_row_int(&row, "CpuInstruction", w->function);
    nai_gen_row_int(&row, "module", w->module);
    put(w, &row);
    nai_gen_row_start(&row, "CUDA_UM_GPU_PAGE_FAULT_EVENTS");
    nai_gen_row_int(&row, "start", start_of(i));
    nai_gen_row_int(&row, "end", end_of(i));
    nai_gen_row_int(&row, "globalPid", w->global_pid);
    nai_gen_row_int(&row, "deviceId", 0);
    nai_gen_row_int(&row, "address", 65536 * (int64_t)i);
    nai_gen_row_int(&row, "numberOfPageFaults", i % 7);
    nai_gen_row_int(&row, "faultAccessType", 1 + i % 2);
    put(w, &row);
  }
}

/* Pages that move to the GPU: on no stream, by no call. */
static void add_migrations(const struct witness *w) {
  struct nai_gen_row row;
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, "CUPTI_ACTIVITY_KIND_MEMCPY");
    nai_gen_row_int(&row, "start", start_of(i));
    nai_gen_row_int(&row, "end", end_of(i));
    nai_gen_row_int(&row, "deviceId", 0);
    nai_gen_row_int(&row, "contextId", 1);
    nai_gen_row_int(&row, "streamId", 0);
    nai_gen_row_int(&row, "correlationId", 0);
    nai_gen_row_int(&row, "globalPid", w->global_pid);
    nai_gen_row_int(&row, "bytes", 65536);
    nai_gen_row_int(&row, "copyKind", 11 + i % 2);
    nai_gen_row_int(&row, "migrationCause", 1 + i % 5);
    nai_gen_row_int(&row, "virtualAddress", 65536 * (int64_t)i);
    put(w, &row);
  }
}

static void state_migrations(struct nai_gen_plan *plan) {
  static const struct {
    const char *column;
    int64_t value;
  } facts[] = {{"migration_count", ROWS},
               {"to_gpu_bytes", ROWS / 2 * 65536},
               {"to_host_bytes", ROWS / 2 * 65536},
               {"fault_bytes", ROWS / 5 * 65536},
               {"eviction_bytes", ROWS / 5 * 65536},
               {"gpu_fault_groups", ROWS},
               {"cpu_faults", ROWS},
               {"to_host_distinct_bytes", ROWS / 2 * 65536}};
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    nai_gen_fact(plan,
                 &(struct nai_gen_fact){.table = "unified_memory", .key = facts[i].column, .count = facts[i].value});
  }
}

/* --- CPUs ------------------------------------------------------------------------------------- */

static void add_frames(const struct witness *w, const char *table, int64_t id, int depth) {
  struct nai_gen_row row;
  for (int d = 0; d < depth; d++) {
    nai_gen_row_start(&row, table);
    nai_gen_row_int(&row, "id", id);
    nai_gen_row_int(&row, "symbol", d == 0 ? w->function : w->call);
    nai_gen_row_int(&row, "module", w->module);
    nai_gen_row_int(&row, "unresolved", d % 2);
    nai_gen_row_int(&row, "stackDepth", d);
    put(w, &row);
  }
}

static void add_cpu(const struct witness *w) {
  struct nai_gen_row row;
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, "SCHED_EVENTS");
    nai_gen_row_int(&row, "start", start_of(i));
    nai_gen_row_int(&row, "cpu", i % 4);
    nai_gen_row_int(&row, "isSchedIn", i % 2);
    nai_gen_row_int(&row, "globalTid", w->global_tid + i % 3); /* threads that nothing else knows, too */
    nai_gen_row_int(&row, "threadState", i % 2 ? 1 : 2);
    nai_gen_row_int(&row, "threadBlock", 3);
    put(w, &row);
    nai_gen_row_start(&row, "COMPOSITE_EVENTS");
    nai_gen_row_int(&row, "id", 1 + i);
    nai_gen_row_int(&row, "start", start_of(i));
    nai_gen_row_int(&row, "cpu", i % 4);
    nai_gen_row_int(&row, "threadState", 1);
    nai_gen_row_int(&row, "globalTid", w->global_tid);
    nai_gen_row_int(&row, "cpuCycles", i % 2);
    put(w, &row);
    add_frames(w, "SAMPLING_CALLCHAINS", 1 + i, 1 + i % 4);
    nai_gen_row_start(&row, "OSRT_API");
    nai_gen_row_int(&row, "start", start_of(i));
    nai_gen_row_int(&row, "end", end_of(i));
    nai_gen_row_int(&row, "eventClass", 27);
    nai_gen_row_int(&row, "globalTid", w->global_tid);
    nai_gen_row_int(&row, "nameId", w->call);
    nai_gen_row_int(&row, "returnValue", 0);
    nai_gen_row_int(&row, "nestingLevel", i % 2);
    nai_gen_row_int(&row, "callchainId", 1 + i % 5);
    put(w, &row);
  }
  for (int i = 0; i < 5; i++) {
    add_frames(w, "OSRT_CALLCHAINS", 1 + i, 2);
    add_frames(w, "CUDA_CALLCHAINS", 1 + i, 3);
  }
}

/* --- calls ------------------------------------------------------------------------------------ */

static void add_calls(const struct witness *w) {
  static const char *const mpi[] = {"MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS",
                                    "MPI_OTHER_EVENTS"};
  struct nai_gen_row row;
  for (int i = 0; i < ROWS; i++) {
    put_call(w, &row, i % 2 ? "CUBLAS_EVENTS" : "CUDNN_EVENTS", i, i % 2 ? 29 : 28);
    nai_gen_row_int(&row, "nameId", w->call);
    put(w, &row);
    nai_gen_row_start(&row, mpi[i % 4]);
    nai_gen_row_int(&row, "start", start_of(i));
    nai_gen_row_int(&row, "end", end_of(i));
    nai_gen_row_int(&row, "globalTid", w->global_tid);
    nai_gen_row_int(&row, "textId", w->call);
    if (i % 4 == 0) {
      nai_gen_row_int(&row, "remoteRank", i % 8);
      nai_gen_row_int(&row, "size", i);
    }
    if (i % 4 == 1) {
      nai_gen_row_int(&row, "rootRank", 0);
      nai_gen_row_int(&row, "size", i);
    }
    put(w, &row);
    put_call(w, &row, "CUPTI_ACTIVITY_KIND_JIT", i, 102);
    nai_gen_row_int(&row, "nameId", w->call);
    nai_gen_row_int(&row, "overheadType", 0);
    nai_gen_row_int(&row, "jitEntryType", 1);
    nai_gen_row_int(&row, "jitOperationType", 1 + i % 3);
    nai_gen_row_int(&row, "cacheSize", i);
    nai_gen_row_text(&row, "cachePath", "/home/CANARY_SECRET_jit/.nv/ComputeCache");
    put(w, &row);
    put_call(w, &row, "CUDA_GRAPH_EVENTS", i, 95);
    nai_gen_row_int(&row, "nameId", w->call);
    nai_gen_row_int(&row, "graphId", 1 + i);
    nai_gen_row_int(&row, "graphExecId", 1000 + i);
    put(w, &row);
  }
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, "UCP_SUBMIT_EVENTS");
    nai_gen_row_int(&row, "start", start_of(i));
    nai_gen_row_int(&row, "end", end_of(i));
    nai_gen_row_int(&row, "globalTid", w->global_tid);
    nai_gen_row_int(&row, "textId", w->call);
    nai_gen_row_int(&row, "packedSize", 64 + i);
    nai_gen_row_int(&row, "peerWorkerUid", i % 5);
    put(w, &row);
  }
  nai_gen_row_start(&row, "MPI_RANKS");
  nai_gen_row_int(&row, "globalTid", w->global_tid);
  nai_gen_row_int(&row, "rank", 3);
  put(w, &row);
}

static void add_cuda_events(const struct witness *w) {
  struct nai_gen_row row;
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, "CUPTI_ACTIVITY_KIND_CUDA_EVENT");
    nai_gen_row_int(&row, "timestamp", start_of(i));
    nai_gen_row_int(&row, "deviceId", 0);
    nai_gen_row_int(&row, "contextId", 1);
    nai_gen_row_int(&row, "streamId", 7);
    nai_gen_row_int(&row, "correlationId", 1 + i);
    nai_gen_row_int(&row, "globalPid", w->global_pid);
    nai_gen_row_int(&row, "eventId", i % 10);
    nai_gen_row_int(&row, "eventSyncId", 1 + i);
    put(w, &row);
  }
}

/* --- metrics and payloads --------------------------------------------------------------------- */

static void add_metrics(const struct witness *w) {
  static const char *const names[] = {"SMs Active [Throughput %]", "DRAM Read Bandwidth [Throughput %]"};
  struct nai_gen_row row;
  for (int metric = 0; metric < 2; metric++) {
    nai_gen_row_start(&row, "TARGET_INFO_GPU_METRICS");
    nai_gen_row_int(&row, "typeId", INT64_C(0x1000000000));
    nai_gen_row_int(&row, "sourceId", 1);
    nai_gen_row_text(&row, "typeName", "GPU Metrics [0]");
    nai_gen_row_int(&row, "metricId", 20 + metric);
    nai_gen_row_text(&row, "metricName", names[metric]);
    put(w, &row);
  }
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, "GPU_METRICS");
    nai_gen_row_int(&row, "rawTimestamp", start_of(i) - 10);
    nai_gen_row_int(&row, "timestamp", i < 3 ? -1000 * (3 - i) : start_of(i)); /* before the session */
    nai_gen_row_int(&row, "typeId", INT64_C(0x1000000000));
    nai_gen_row_int(&row, "metricId", 20 + i % 2);
    nai_gen_row_int(&row, "value", i % 101);
    put(w, &row);
  }
}

/* Two ports of one card; 1,000 B/ms and so on. */
static void add_nics(const struct witness *w) {
  static const char *const names[] = {"IB: Bytes sent", "IB: Send waits"}, *const units[] = {"bytes/ms", "ticks/ms"};
  struct nai_gen_row row;
  for (int metric = 0; metric < 2; metric++) {
    nai_gen_row_start(&row, "TARGET_INFO_NETWORK_METRICS");
    nai_gen_row_int(&row, "metricsListId", 5);
    nai_gen_row_int(&row, "metricsIdx", metric);
    nai_gen_row_text(&row, "name", names[metric]);
    nai_gen_row_text(&row, "description", "");
    nai_gen_row_text(&row, "unit", units[metric]);
    put(w, &row);
  }
  nai_gen_row_start(&row, "NIC_ID_MAP");
  nai_gen_row_int(&row, "nicId", 1);
  nai_gen_row_int(&row, "globalId", 77);
  put(w, &row);
  nai_gen_row_start(&row, "TARGET_INFO_NIC_INFO");
  nai_gen_row_int(&row, "GUID", 99);
  nai_gen_row_text(&row, "stateName", "active");
  nai_gen_row_int(&row, "nicId", 1);
  nai_gen_row_text(&row, "name", "mlx5_0");
  put(w, &row);
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, "NET_NIC_METRIC");
    nai_gen_row_int(&row, "start", start_of(i / 2 * 2));
    nai_gen_row_int(&row, "end", start_of(i / 2 * 2 + 2));
    nai_gen_row_int(&row, "globalId", 77);
    nai_gen_row_int(&row, "portId", 1);
    nai_gen_row_int(&row, "metricsListId", 5);
    nai_gen_row_int(&row, "metricsIdx", i % 2);
    nai_gen_row_int(&row, "value", 1000 * (i / 2));
    put(w, &row);
  }
}

/* Ranges whose blob is a header of four words and a message size. */
static void add_payloads(const struct witness *w) {
  struct nai_gen_row row;
  for (int i = 0; i < 8; i++) { /* as exports do: once per process */
    nai_gen_row_start(&row, "NVTX_PAYLOAD_SCHEMAS");
    nai_gen_row_int(&row, "domainId", 2);
    nai_gen_row_int(&row, "schemaId", 16777221);
    nai_gen_row_int(&row, "numEntries", 1);
    nai_gen_row_int(&row, "payloadSize", 8);
    put(w, &row);
    nai_gen_row_start(&row, "NVTX_PAYLOAD_SCHEMA_ENTRIES");
    nai_gen_row_int(&row, "domainId", 2);
    nai_gen_row_int(&row, "schemaId", 16777221);
    nai_gen_row_int(&row, "idx", 0);
    nai_gen_row_int(&row, "type", 22);
    nai_gen_row_text(&row, "name", "Message size [bytes]");
    put(w, &row);
  }
  for (int i = 0; i < ROWS; i++) {
    uint64_t blob[5] = {2, 16777221, 8, 32, 1024 * (uint64_t)i};
    nai_gen_row_start(&row, "NVTX_EVENTS");
    nai_gen_row_int(&row, "start", start_of(i));
    nai_gen_row_int(&row, "end", end_of(i));
    nai_gen_row_int(&row, "eventType", 59);
    nai_gen_row_int(&row, "category", i % 3);
    nai_gen_row_int(&row, "color", INT64_C(0xff00ff00));
    nai_gen_row_int(&row, "globalTid", w->global_tid);
    nai_gen_row_int(&row, "textId", w->call);
    nai_gen_row_int(&row, "domainId", 2);
    if (i % 2) {
      nai_gen_row_blob(&row, "binaryData", blob, sizeof blob);
    } else if (i % 4) {
      nai_gen_row_int(&row, "int64Value", i);
    }
    put(w, &row);
  }
}

/* --- output of the program -------------------------------------------------------------------- */

static void add_output(const struct witness *w) {
  static const char failure[] =
      "CANARY_SECRET_out\nTraceback (most recent call last):\n  ...\nRuntimeError: step failed\n";
  struct nai_gen_row row;
  nai_gen_row_start(&row, "ProcessStreams");
  nai_gen_row_int(&row, "globalPid", w->global_pid);
  nai_gen_row_int(&row, "filenameId", string(w, "CANARY_SECRET_dir/pid_6001_stderr.log"));
  nai_gen_row_int(&row, "contentId", string(w, failure));
  put(w, &row);
}

void nai_gen_plan_evidence(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct witness w = {.plan = plan, .global_pid = (INT64_C(1) << 48) | ((int64_t)PID << 24)};
  w.global_tid = w.global_pid | PID;
  int process = nai_gen_process(plan, PID, "python3");
  int thread = nai_gen_thread(plan, process, PID, "python3");
  int stream = nai_gen_stream(plan, nai_gen_context(plan, process, 0, 1, nai_gen_gpu(plan, 0)), 7);
  int kernel = nai_gen_kernel(plan, "void step_kernel<float>(T1 *, int)", "step_kernel");
  for (int i = 0; i < 20; i++) {
    nai_gen_push(plan, thread, nai_gen_name(plan, "step"), NULL);
    nai_gen_launch(plan, thread, stream, kernel, 100000);
    nai_gen_pop(plan, thread);
  }
  nai_gen_synchronize(plan, thread, stream, API_STREAM_SYNC, 0);
  nai_gen_domain(plan, thread, 2, "NCCL");
  w.function = string(&w, "pthread_cond_timedwait");
  w.module = string(&w, "/usr/lib/x86_64-linux-gnu/libc.so.6");
  w.call = string(&w, "some_call");
  add_memory(&w);
  add_page_faults(&w);
  add_migrations(&w);
  state_migrations(plan);
  add_cpu(&w);
  add_calls(&w);
  add_cuda_events(&w);
  add_metrics(&w);
  add_nics(&w);
  add_payloads(&w);
  add_output(&w);
  nai_gen_inexact(plan); /* its truth is the sums of the rows above */
}
