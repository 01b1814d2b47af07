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

_Static_assert((int)C_CUBLAS_globalTid == (int)C_CUDNN_globalTid && (int)C_CUBLAS_nameId == (int)C_CUDNN_nameId &&
                   (int)C_CUBLAS_globalTid == (int)C_JIT_globalTid &&
                   (int)C_CUBLAS_globalTid == (int)C_GRAPH_CREATION_globalTid,
               "put_call relies on a common head");
_Static_assert((int)C_MPI_P2P_textId == (int)C_MPI_COLLECTIVE_textId &&
                   (int)C_MPI_P2P_textId == (int)C_MPI_START_WAIT_textId &&
                   (int)C_MPI_P2P_textId == (int)C_MPI_OTHER_textId,
               "add_calls relies on a common head");
_Static_assert((int)C_SAMPLE_FRAME_stackDepth == (int)C_CUDA_FRAME_stackDepth &&
                   (int)C_SAMPLE_FRAME_stackDepth == (int)C_OSRT_FRAME_stackDepth,
               "add_frames relies on equal tables");

static void put_call(const struct witness *w, struct nai_gen_row *row, enum nai_gen_table table, int i, int class) {
  nai_gen_row_start(row, table);
  nai_gen_row_int(row, C_CUBLAS_start, start_of(i));
  nai_gen_row_int(row, C_CUBLAS_end, end_of(i));
  nai_gen_row_int(row, C_CUBLAS_eventClass, class);
  nai_gen_row_int(row, C_CUBLAS_globalTid, w->global_tid);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void add_memory(const struct witness *w) {
  struct nai_gen_row row;
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, T_MEMORY_USAGE);
    nai_gen_row_int(&row, C_MEMORY_USAGE_start, start_of(i));
    nai_gen_row_int(&row, C_MEMORY_USAGE_globalPid, w->global_pid);
    nai_gen_row_int(&row, C_MEMORY_USAGE_deviceId, 0);
    nai_gen_row_int(&row, C_MEMORY_USAGE_contextId, 1);
    nai_gen_row_int(&row, C_MEMORY_USAGE_address, INT64_C(0x7f0000000000) + (int64_t)(i / 2) * 4096);
    nai_gen_row_int(&row, C_MEMORY_USAGE_pc, 0x1000 + i);
    nai_gen_row_int(&row, C_MEMORY_USAGE_bytes, 4096 + i / 2);
    nai_gen_row_int(&row, C_MEMORY_USAGE_memKind, 2);
    nai_gen_row_int(&row, C_MEMORY_USAGE_memoryOperationType, i % 2);
    nai_gen_row_int(&row, C_MEMORY_USAGE_correlationId, i + 1);
    nai_gen_row_int(&row, C_MEMORY_USAGE_streamId, 7);
    put(w, &row);
    nai_gen_row_start(&row, T_MEMORY_POOL);
    nai_gen_row_int(&row, C_MEMORY_POOL_start, start_of(i));
    nai_gen_row_int(&row, C_MEMORY_POOL_globalPid, w->global_pid);
    nai_gen_row_int(&row, C_MEMORY_POOL_deviceId, 0);
    nai_gen_row_int(&row, C_MEMORY_POOL_address, 0x1000);
    nai_gen_row_int(&row, C_MEMORY_POOL_operationType, 1 + i % 3);
    nai_gen_row_int(&row, C_MEMORY_POOL_poolType, 1);
    nai_gen_row_int(&row, C_MEMORY_POOL_localMemoryPoolSize, 1000 * (int64_t)i);
    nai_gen_row_int(&row, C_MEMORY_POOL_localMemoryPoolUtilizedSize, 500 * (int64_t)i);
    put(w, &row);
  }
}

static void add_page_faults(const struct witness *w) {
  struct nai_gen_row row;
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, T_CPU_FAULT);
    nai_gen_row_int(&row, C_CPU_FAULT_start, start_of(i));
    nai_gen_row_int(&row, C_CPU_FAULT_globalPid, w->global_pid);
    nai_gen_row_int(&row, C_CPU_FAULT_address, 65536 * (int64_t)i);
    nai_gen_row_int(&row, C_CPU_FAULT_CpuInstruction, w->function);
    nai_gen_row_int(&row, C_CPU_FAULT_module, w->module);
    put(w, &row);
    nai_gen_row_start(&row, T_GPU_FAULT);
    nai_gen_row_int(&row, C_GPU_FAULT_start, start_of(i));
    nai_gen_row_int(&row, C_GPU_FAULT_end, end_of(i));
    nai_gen_row_int(&row, C_GPU_FAULT_globalPid, w->global_pid);
    nai_gen_row_int(&row, C_GPU_FAULT_deviceId, 0);
    nai_gen_row_int(&row, C_GPU_FAULT_address, 65536 * (int64_t)i);
    nai_gen_row_int(&row, C_GPU_FAULT_numberOfPageFaults, i % 7);
    nai_gen_row_int(&row, C_GPU_FAULT_faultAccessType, 1 + i % 2);
    put(w, &row);
  }
}

/* Pages that move to the GPU: on no stream, by no call. */
static void add_migrations(const struct witness *w) {
  struct nai_gen_row row;
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, T_MEMCPY);
    nai_gen_row_int(&row, C_MEMCPY_start, start_of(i));
    nai_gen_row_int(&row, C_MEMCPY_end, end_of(i));
    nai_gen_row_int(&row, C_MEMCPY_deviceId, 0);
    nai_gen_row_int(&row, C_MEMCPY_contextId, 1);
    nai_gen_row_int(&row, C_MEMCPY_streamId, 0);
    nai_gen_row_int(&row, C_MEMCPY_correlationId, 0);
    nai_gen_row_int(&row, C_MEMCPY_globalPid, w->global_pid);
    nai_gen_row_int(&row, C_MEMCPY_bytes, 65536);
    nai_gen_row_int(&row, C_MEMCPY_copyKind, 11 + i % 2);
    nai_gen_row_int(&row, C_MEMCPY_migrationCause, 1 + i % 5);
    nai_gen_row_int(&row, C_MEMCPY_virtualAddress, 65536 * (int64_t)i);
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

static void add_frames(const struct witness *w, enum nai_gen_table table, int64_t id, int depth) {
  struct nai_gen_row row;
  for (int d = 0; d < depth; d++) {
    nai_gen_row_start(&row, table);
    nai_gen_row_int(&row, C_SAMPLE_FRAME_id, id);
    nai_gen_row_int(&row, C_SAMPLE_FRAME_symbol, d == 0 ? w->function : w->call);
    nai_gen_row_int(&row, C_SAMPLE_FRAME_module, w->module);
    nai_gen_row_int(&row, C_SAMPLE_FRAME_unresolved, d % 2);
    nai_gen_row_int(&row, C_SAMPLE_FRAME_stackDepth, d);
    put(w, &row);
  }
}

static void add_cpu(const struct witness *w) {
  struct nai_gen_row row;
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, T_SCHED);
    nai_gen_row_int(&row, C_SCHED_start, start_of(i));
    nai_gen_row_int(&row, C_SCHED_cpu, i % 4);
    nai_gen_row_int(&row, C_SCHED_isSchedIn, i % 2);
    nai_gen_row_int(&row, C_SCHED_globalTid, w->global_tid + i % 3); /* threads that nothing else knows, too */
    nai_gen_row_int(&row, C_SCHED_threadState, i % 2 ? 1 : 2);
    nai_gen_row_int(&row, C_SCHED_threadBlock, 3);
    put(w, &row);
    nai_gen_row_start(&row, T_SAMPLE);
    nai_gen_row_int(&row, C_SAMPLE_id, 1 + i);
    nai_gen_row_int(&row, C_SAMPLE_start, start_of(i));
    nai_gen_row_int(&row, C_SAMPLE_cpu, i % 4);
    nai_gen_row_int(&row, C_SAMPLE_threadState, 1);
    nai_gen_row_int(&row, C_SAMPLE_globalTid, w->global_tid);
    nai_gen_row_int(&row, C_SAMPLE_cpuCycles, i % 2);
    put(w, &row);
    add_frames(w, T_SAMPLE_FRAME, 1 + i, 1 + i % 4);
    nai_gen_row_start(&row, T_OSRT);
    nai_gen_row_int(&row, C_OSRT_start, start_of(i));
    nai_gen_row_int(&row, C_OSRT_end, end_of(i));
    nai_gen_row_int(&row, C_OSRT_eventClass, 27);
    nai_gen_row_int(&row, C_OSRT_globalTid, w->global_tid);
    nai_gen_row_int(&row, C_OSRT_nameId, w->call);
    nai_gen_row_int(&row, C_OSRT_returnValue, 0);
    nai_gen_row_int(&row, C_OSRT_nestingLevel, i % 2);
    nai_gen_row_int(&row, C_OSRT_callchainId, 1 + i % 5);
    put(w, &row);
  }
  for (int i = 0; i < 5; i++) {
    add_frames(w, T_OSRT_FRAME, 1 + i, 2);
    add_frames(w, T_CUDA_FRAME, 1 + i, 3);
  }
}

/* --- calls ------------------------------------------------------------------------------------ */

static void add_calls(const struct witness *w) {
  static const enum nai_gen_table mpi[] = {T_MPI_P2P, T_MPI_COLLECTIVE, T_MPI_START_WAIT, T_MPI_OTHER};
  struct nai_gen_row row;
  for (int i = 0; i < ROWS; i++) {
    put_call(w, &row, i % 2 ? T_CUBLAS : T_CUDNN, i, i % 2 ? 29 : 28);
    nai_gen_row_int(&row, C_CUBLAS_nameId, w->call);
    put(w, &row);
    nai_gen_row_start(&row, mpi[i % 4]);
    nai_gen_row_int(&row, C_MPI_P2P_start, start_of(i));
    nai_gen_row_int(&row, C_MPI_P2P_end, end_of(i));
    nai_gen_row_int(&row, C_MPI_P2P_globalTid, w->global_tid);
    nai_gen_row_int(&row, C_MPI_P2P_textId, w->call);
    if (i % 4 == 0) {
      nai_gen_row_int(&row, C_MPI_P2P_remoteRank, i % 8);
      nai_gen_row_int(&row, C_MPI_P2P_size, i);
    }
    if (i % 4 == 1) {
      nai_gen_row_int(&row, C_MPI_COLLECTIVE_rootRank, 0);
      nai_gen_row_int(&row, C_MPI_COLLECTIVE_size, i);
    }
    put(w, &row);
    put_call(w, &row, T_JIT, i, 102);
    nai_gen_row_int(&row, C_JIT_nameId, w->call);
    nai_gen_row_int(&row, C_JIT_overheadType, 0);
    nai_gen_row_int(&row, C_JIT_jitEntryType, 1);
    nai_gen_row_int(&row, C_JIT_jitOperationType, 1 + i % 3);
    nai_gen_row_int(&row, C_JIT_cacheSize, i);
    nai_gen_row_text(&row, C_JIT_cachePath, "/home/CANARY_SECRET_jit/.nv/ComputeCache");
    put(w, &row);
    put_call(w, &row, T_GRAPH_CREATION, i, 95);
    nai_gen_row_int(&row, C_GRAPH_CREATION_nameId, w->call);
    nai_gen_row_int(&row, C_GRAPH_CREATION_graphId, 1 + i);
    nai_gen_row_int(&row, C_GRAPH_CREATION_graphExecId, 1000 + i);
    put(w, &row);
  }
  nai_gen_row_start(&row, T_MPI_RANK);
  nai_gen_row_int(&row, C_MPI_RANK_globalTid, w->global_tid);
  nai_gen_row_int(&row, C_MPI_RANK_rank, 3);
  put(w, &row);
}

static void add_cuda_events(const struct witness *w) {
  struct nai_gen_row row;
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, T_CUDA_EVENT);
    nai_gen_row_int(&row, C_CUDA_EVENT_timestamp, start_of(i));
    nai_gen_row_int(&row, C_CUDA_EVENT_deviceId, 0);
    nai_gen_row_int(&row, C_CUDA_EVENT_contextId, 1);
    nai_gen_row_int(&row, C_CUDA_EVENT_streamId, 7);
    nai_gen_row_int(&row, C_CUDA_EVENT_correlationId, 1 + i);
    nai_gen_row_int(&row, C_CUDA_EVENT_globalPid, w->global_pid);
    nai_gen_row_int(&row, C_CUDA_EVENT_eventId, i % 10);
    nai_gen_row_int(&row, C_CUDA_EVENT_eventSyncId, 1 + i);
    put(w, &row);
  }
}

/* --- metrics and payloads --------------------------------------------------------------------- */

static void add_metrics(const struct witness *w) {
  static const char *const names[] = {"SMs Active [Throughput %]", "DRAM Read Bandwidth [Throughput %]"};
  struct nai_gen_row row;
  for (int metric = 0; metric < 2; metric++) {
    nai_gen_row_start(&row, T_METRIC);
    nai_gen_row_int(&row, C_METRIC_typeId, INT64_C(0x1000000000));
    nai_gen_row_int(&row, C_METRIC_sourceId, 1);
    nai_gen_row_text(&row, C_METRIC_typeName, "GPU Metrics [0]");
    nai_gen_row_int(&row, C_METRIC_metricId, 20 + metric);
    nai_gen_row_text(&row, C_METRIC_metricName, names[metric]);
    put(w, &row);
  }
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, T_METRIC_SAMPLE);
    nai_gen_row_int(&row, C_METRIC_SAMPLE_rawTimestamp, start_of(i) - 10);
    nai_gen_row_int(&row, C_METRIC_SAMPLE_timestamp, i < 3 ? -1000 * (3 - i) : start_of(i)); /* before the session */
    nai_gen_row_int(&row, C_METRIC_SAMPLE_typeId, INT64_C(0x1000000000));
    nai_gen_row_int(&row, C_METRIC_SAMPLE_metricId, 20 + i % 2);
    nai_gen_row_int(&row, C_METRIC_SAMPLE_value, i % 101);
    put(w, &row);
  }
}

/* Two ports of one card; 1,000 B/ms and so on. */
static void add_nics(const struct witness *w) {
  static const char *const names[] = {"IB: Bytes sent", "IB: Send waits"}, *const units[] = {"bytes/ms", "ticks/ms"};
  struct nai_gen_row row;
  for (int metric = 0; metric < 2; metric++) {
    nai_gen_row_start(&row, T_NIC_METRIC);
    nai_gen_row_int(&row, C_NIC_METRIC_metricsListId, 5);
    nai_gen_row_int(&row, C_NIC_METRIC_metricsIdx, metric);
    nai_gen_row_text(&row, C_NIC_METRIC_name, names[metric]);
    nai_gen_row_text(&row, C_NIC_METRIC_description, "");
    nai_gen_row_text(&row, C_NIC_METRIC_unit, units[metric]);
    put(w, &row);
  }
  nai_gen_row_start(&row, T_NIC_ID);
  nai_gen_row_int(&row, C_NIC_ID_nicId, 1);
  nai_gen_row_int(&row, C_NIC_ID_globalId, 77);
  put(w, &row);
  nai_gen_row_start(&row, T_NIC);
  nai_gen_row_int(&row, C_NIC_GUID, 99);
  nai_gen_row_text(&row, C_NIC_stateName, "active");
  nai_gen_row_int(&row, C_NIC_nicId, 1);
  nai_gen_row_text(&row, C_NIC_name, "mlx5_0");
  put(w, &row);
  for (int i = 0; i < ROWS; i++) {
    nai_gen_row_start(&row, T_NIC_SAMPLE);
    nai_gen_row_int(&row, C_NIC_SAMPLE_start, start_of(i / 2 * 2));
    nai_gen_row_int(&row, C_NIC_SAMPLE_end, start_of(i / 2 * 2 + 2));
    nai_gen_row_int(&row, C_NIC_SAMPLE_globalId, 77);
    nai_gen_row_int(&row, C_NIC_SAMPLE_portId, 1);
    nai_gen_row_int(&row, C_NIC_SAMPLE_metricsListId, 5);
    nai_gen_row_int(&row, C_NIC_SAMPLE_metricsIdx, i % 2);
    nai_gen_row_int(&row, C_NIC_SAMPLE_value, 1000 * (i / 2));
    put(w, &row);
  }
}

/* Ranges whose blob is a header of four words and a message size. */
static void add_payloads(const struct witness *w) {
  struct nai_gen_row row;
  for (int i = 0; i < 8; i++) { /* as exports do: once per process */
    nai_gen_row_start(&row, T_PAYLOAD_SCHEMA);
    nai_gen_row_int(&row, C_PAYLOAD_SCHEMA_domainId, 2);
    nai_gen_row_int(&row, C_PAYLOAD_SCHEMA_schemaId, 16777221);
    nai_gen_row_int(&row, C_PAYLOAD_SCHEMA_numEntries, 1);
    nai_gen_row_int(&row, C_PAYLOAD_SCHEMA_payloadSize, 8);
    put(w, &row);
    nai_gen_row_start(&row, T_PAYLOAD_ENTRY);
    nai_gen_row_int(&row, C_PAYLOAD_ENTRY_domainId, 2);
    nai_gen_row_int(&row, C_PAYLOAD_ENTRY_schemaId, 16777221);
    nai_gen_row_int(&row, C_PAYLOAD_ENTRY_idx, 0);
    nai_gen_row_int(&row, C_PAYLOAD_ENTRY_type, 22);
    nai_gen_row_text(&row, C_PAYLOAD_ENTRY_name, "Message size [bytes]");
    put(w, &row);
  }
  for (int i = 0; i < ROWS; i++) {
    uint64_t blob[5] = {2, 16777221, 8, 32, 1024 * (uint64_t)i};
    nai_gen_row_start(&row, T_NVTX);
    nai_gen_row_int(&row, C_NVTX_start, start_of(i));
    nai_gen_row_int(&row, C_NVTX_end, end_of(i));
    nai_gen_row_int(&row, C_NVTX_eventType, 59);
    nai_gen_row_int(&row, C_NVTX_category, i % 3);
    nai_gen_row_int(&row, C_NVTX_color, INT64_C(0xff00ff00));
    nai_gen_row_int(&row, C_NVTX_globalTid, w->global_tid);
    nai_gen_row_int(&row, C_NVTX_textId, w->call);
    nai_gen_row_int(&row, C_NVTX_domainId, 2);
    if (i % 2) {
      nai_gen_row_blob(&row, C_NVTX_binaryData, blob, sizeof blob);
    } else if (i % 4) {
      nai_gen_row_int(&row, C_NVTX_int64Value, i);
    }
    put(w, &row);
  }
}

/* --- output of the program -------------------------------------------------------------------- */

static void add_output(const struct witness *w) {
  static const char failure[] =
      "CANARY_SECRET_out\nTraceback (most recent call last):\n  ...\nRuntimeError: step failed\n";
  struct nai_gen_row row;
  nai_gen_row_start(&row, T_STREAMS);
  nai_gen_row_int(&row, C_STREAMS_globalPid, w->global_pid);
  nai_gen_row_int(&row, C_STREAMS_filenameId, string(w, "CANARY_SECRET_dir/pid_6001_stderr.log"));
  nai_gen_row_int(&row, C_STREAMS_contentId, string(w, failure));
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
