/* Tables that describe the capture: strings, names, hardware, options, enumerations. */
#include "gen/meta_enums.h"
#include "gen/plan_internal.h"

#include <stdio.h>
#include <string.h>

enum { GLOBAL_VM = 1 };
static const int64_t serialized_vm = INT64_C(1) << 48;
static const int64_t session_epoch_ns = INT64_C(1767225600000000000);
static const int64_t session_clock_ns = INT64_C(28254349605);
/* Written by the exporter for "no process": 0xFE00000000000000. */
static const int64_t no_process = -144115188075855872;

void nai_gen_hide_devices(struct nai_gen_plan *plan) { plan->hide_devices = true; }

void nai_gen_hide_device_map(struct nai_gen_plan *plan) { plan->hide_device_map = true; }

void nai_gen_bare(struct nai_gen_plan *plan) { plan->bare = true; }

static void insert(struct nai_gen_plan *plan, const struct nai_gen_row *row) {
  if (!nai_gen_failed(plan)) {
    (void)nai_gen_db_insert(plan->db, row, plan->err);
  }
}

static int64_t literal(struct nai_gen_plan *plan, const char *text) { return nai_gen_string(plan, text, strlen(text)); }

static void write_pair(struct nai_gen_plan *plan, const char *table, const char *name, const char *value) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, table);
  nai_gen_row_text(&row, "name", name);
  nai_gen_row_text(&row, "value", value);
  insert(plan, &row);
}

static void write_exported(struct nai_gen_plan *plan, const char *name, const char *value) {
  write_pair(plan, plan->schema >= NAI_GEN_2024 ? "META_DATA_EXPORT" : "EXPORT_META_DATA", name, value);
}

static void write_environment(struct nai_gen_plan *plan, int number, const char *name, const char *value) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "TARGET_INFO_SYSTEM_ENV");
  nai_gen_row_int(&row, "globalVid", serialized_vm);
  nai_gen_row_text(&row, "devStateName", "Local (CLI)");
  nai_gen_row_text(&row, "name", name);
  nai_gen_row_int(&row, "nameEnum", number);
  nai_gen_row_text(&row, "value", value);
  insert(plan, &row);
}

/* Nothing a report prints may contain these texts; every place that holds secrets gets some. */
static void write_canaries(struct nai_gen_plan *plan) {
  static const char *const variables[] = {"HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "PATH", "SSH_AUTH_SOCK"};
  int number = 0;
  char text[96];
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
    snprintf(text, sizeof text, "%s=\"CANARY_SECRET_%d\"", variables[i], ++number);
    write_pair(plan, "META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE", text);
  }
  static const char *const options[] = {"PROCESS_0:COMMAND", "PROCESS_0:ARGUMENT_0", "PROCESS_0:WORKING_DIR",
                                        "PROCESS_0:USER_NAME", "DEVICE_DISPLAY_NAME"};
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
    snprintf(text, sizeof text, "CANARY_SECRET_%d", ++number);
    write_pair(plan, "META_DATA_CAPTURE", options[i], text);
  }
  static const char *const exported[] = {"EXPORT_HOST", "EXPORT_USER", "EXPORT_PARAM_INPUT_PATH_ABS"};
  for (size_t i = 0; i < sizeof exported / sizeof exported[0]; i++) {
    snprintf(text, sizeof text, "CANARY_SECRET_%d", ++number);
    write_exported(plan, exported[i], text);
  }
  snprintf(text, sizeof text, "CANARY_SECRET_%d", ++number);
  write_environment(plan, 619, "Hostname", text);
  snprintf(text, sizeof text, "token CANARY_SECRET_%d on stdout\n", ++number);
  int64_t content = literal(plan, text);
  struct nai_gen_row row;
  if (plan->process_count == 0) {
    return;
  }
  nai_gen_row_start(&row, "ProcessStreams");
  nai_gen_row_int(&row, "globalPid", plan->processes[0].global_pid);
  snprintf(text, sizeof text, "CANARY_SECRET_%d/stdout.log", ++number);
  nai_gen_row_int(&row, "filenameId", literal(plan, text));
  nai_gen_row_int(&row, "contentId", content);
  insert(plan, &row);
}

static void write_export(struct nai_gen_plan *plan, const char *scenario) {
  static const struct {
    int schema;
    const char *product, *version, *major, *minor, *micro;
  } releases[] = {{NAI_GEN_2026, "2026.2.1.210", "3.25.0", "3", "25", "0"},
                  {NAI_GEN_2024, "2024.6.2.225", "3.16.1", "3", "16", "1"},
                  {NAI_GEN_2021, "2022.1.3.3", "2.9.1", "2", "9", "1"}};
  write_exported(plan, "EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems");
  for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
    if (releases[i].schema != plan->schema) {
      continue;
    }
    write_exported(plan, "EXPORT_PRODUCT_VERSION", releases[i].product);
    write_exported(plan, "EXPORT_SCHEMA_VERSION", releases[i].version);
    write_exported(plan, "EXPORT_SCHEMA_VERSION_MAJOR", releases[i].major);
    write_exported(plan, "EXPORT_SCHEMA_VERSION_MINOR", releases[i].minor);
    write_exported(plan, "EXPORT_SCHEMA_VERSION_MICRO", releases[i].micro);
  }
  const char *const parameters[][2] = {
      {"EXPORT_PLATFORM", "linux-desktop"},     {"EXPORT_ARCH", "x64"},
      {"EXPORT_PARAM_EXPORT_TYPE", "SQLite"},   {"EXPORT_PARAM_LAZY", "true"},
      {"EXPORT_PARAM_INCLUDE_JSON", "false"},   {"EXPORT_PARAM_INCLUDE_BLOBS", plan->payloads ? "true" : "false"},
      {"EXPORT_PARAM_TIME_NORMALIZE", "false"}, {"EXPORT_PARAM_TIME_SHIFT", "0"},
      {"EXPORT_PARAM_TABLES_TO_EXPORT", ""},    {"EXPORT_PARAM_TIMES_TO_EXPORT", ""}};
  for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
    write_exported(plan, parameters[i][0], parameters[i][1]);
  }
  char input[96];
  snprintf(input, sizeof input, "%s.nsys-rep", scenario);
  write_exported(plan, "EXPORT_PARAM_INPUT_FILE", input);
}

static void write_capture(struct nai_gen_plan *plan) {
  bool graph_nodes = nai_gen_db_row_count(plan->db, "CUDA_GRAPH_NODE_EVENTS") > 0;
  write_pair(plan, "META_DATA_CAPTURE", "CAPTURE_EVENT_TYPE", "Cuda");
  if (nai_gen_db_row_count(plan->db, "NVTX_EVENTS") > 0) {
    write_pair(plan, "META_DATA_CAPTURE", "CAPTURE_EVENT_TYPE", "NvtxEvents");
  }
  write_pair(plan, "META_DATA_CAPTURE", "CUDA_GRAPH_TRACE_OPTIONS:MODE", graph_nodes ? "Node" : "Graph");
  write_pair(plan, "META_DATA_CAPTURE", "CUDA_SKIP_SOME_API_CALLS", "true");
  write_pair(plan, "META_DATA_CAPTURE", "CUDA_TRACE_SCOPE", "ProcessTree");
  write_environment(plan, 1, "CpuCores", "64");
  write_environment(plan, 3, "CpuArchitecture", "x86_64");
  write_environment(plan, 205, "NvDriverVersion", "575.51.03");
  write_environment(plan, 611, "CudaDriverVersion", "12090");
}

static void write_session(struct nai_gen_plan *plan) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "TARGET_INFO_SESSION_START_TIME");
  nai_gen_row_int(&row, "utcEpochNs", plan->utc_ns ? plan->utc_ns : session_epoch_ns);
  nai_gen_row_text(&row, "utcTime", "2026-01-01T00:00:00");
  nai_gen_row_text(&row, "localTime", "2026-01-01T00:00:00");
  nai_gen_row_int(&row, "systemClockNs", session_clock_ns);
  insert(plan, &row);
  nai_gen_row_start(&row, "ANALYSIS_DETAILS");
  nai_gen_row_int(&row, "globalVid", serialized_vm);
  nai_gen_row_int(&row, "duration", plan->last_ns);
  /* On the raw system clock, unlike every event: a reader must not filter events with them. */
  nai_gen_row_int(&row, "startTime", session_clock_ns);
  nai_gen_row_int(&row, "stopTime", session_clock_ns + plan->last_ns);
  insert(plan, &row);
}

static void write_diagnostic(struct nai_gen_plan *plan, int64_t time, int severity, const char *text, int64_t process) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "DIAGNOSTIC_EVENT");
  nai_gen_row_int(&row, "timestamp", time);
  nai_gen_row_int(&row, "timestampType", 1);
  nai_gen_row_int(&row, "source", severity > 1 ? 1 : 3);
  nai_gen_row_int(&row, "severity", severity);
  nai_gen_row_text(&row, "text", text);
  nai_gen_row_int(&row, "globalPid", process);
  insert(plan, &row);
}

static void write_diagnostics(struct nai_gen_plan *plan) {
  const struct nai_gen_diagnostic *diagnostics = plan->diagnostics.items;
  int64_t process = plan->process_count > 0 ? plan->processes[0].global_pid : no_process;
  write_diagnostic(plan, 0, 1, "Profiling has started.", no_process);
  write_diagnostic(plan, 978149737, 1, "CUDA injection initialized successfully.", process);
  for (size_t i = 0; i < plan->diagnostics.count; i++) {
    write_diagnostic(plan, 1000000000 + (int64_t)i, diagnostics[i].severity, diagnostics[i].text, process);
  }
  write_diagnostic(plan, plan->last_ns, 1, "Profiling has stopped.", no_process);
}

/* Their texts are the last, also where there is no table of them. */
static void name_diagnostics(struct nai_gen_plan *plan) {
  const struct nai_gen_diagnostic *diagnostics = plan->diagnostics.items;
  literal(plan, "Profiling has started.");
  for (size_t i = 0; i < plan->diagnostics.count; i++) {
    literal(plan, diagnostics[i].text);
  }
  literal(plan, "Profiling has stopped.");
}

static void write_processes(struct nai_gen_plan *plan) {
  struct nai_gen_row row;
  for (int i = 0; i < plan->process_count; i++) {
    nai_gen_row_start(&row, "PROCESSES");
    nai_gen_row_int(&row, "globalPid", plan->processes[i].global_pid);
    nai_gen_row_int(&row, "pid", plan->processes[i].pid);
    nai_gen_row_text(&row, "name", plan->processes[i].name);
    insert(plan, &row);
  }
  /* The exporter lists the whole machine, not only what was profiled. */
  nai_gen_row_start(&row, "PROCESSES");
  nai_gen_row_int(&row, "globalPid", serialized_vm | (INT64_C(99) << 24));
  nai_gen_row_int(&row, "pid", 99);
  nai_gen_row_text(&row, "name", "bash");
  insert(plan, &row);
  for (int i = 0; i < plan->thread_count; i++) {
    nai_gen_row_start(&row, "ThreadNames");
    nai_gen_row_int(&row, "nameId", literal(plan, plan->threads[i].name));
    nai_gen_row_int(&row, "priority", 20);
    nai_gen_row_int(&row, "globalTid", plan->threads[i].global_tid);
    insert(plan, &row);
  }
}

static void write_gpu(struct nai_gen_plan *plan, int id) {
  struct nai_gen_row row;
  char uuid[48], bus[24];
  snprintf(uuid, sizeof uuid, "6b1f0c7e-0000-4000-8000-%012d", id + 1);
  snprintf(bus, sizeof bus, "0000:%02x:00.0", 0x18 + 0x11 * id);
  nai_gen_row_start(&row, "TARGET_INFO_GPU");
  row.zeroed = true;
  nai_gen_row_int(&row, "vmId", serialized_vm);
  nai_gen_row_int(&row, "id", id);
  nai_gen_row_text(&row, "name", plan->gpu_name ? plan->gpu_name : "NVIDIA H100 80GB HBM3");
  nai_gen_row_text(&row, "busLocation", bus);
  nai_gen_row_int(&row, "isDiscrete", 1);
  nai_gen_row_int(&row, "l2CacheSize", 52428800);
  nai_gen_row_int(&row, "totalMemory", INT64_C(85045280768));
  nai_gen_row_int(&row, "memoryBandwidth", INT64_C(3352320000000));
  nai_gen_row_int(&row, "clockRate", 1980000000);
  nai_gen_row_int(&row, "smCount", 132);
  nai_gen_row_text(&row, "uuid", uuid);
  nai_gen_row_text(&row, "chipName", "GH100");
  nai_gen_row_text(&row, "ctxswDevPath", "");
  nai_gen_row_text(&row, "ctrlDevPath", "");
  nai_gen_row_int(&row, "cuDevice", id);
  nai_gen_row_int(&row, "maxRegistersPerBlock", 65536);
  nai_gen_row_int(&row, "maxShmemPerBlock", 49152);
  nai_gen_row_int(&row, "maxShmemPerBlockOptin", 232448);
  nai_gen_row_int(&row, "maxShmemPerSm", 233472);
  nai_gen_row_int(&row, "maxRegistersPerSm", 65536);
  nai_gen_row_int(&row, "asyncEngines", 3);
  nai_gen_row_int(&row, "threadsPerWarp", 32);
  nai_gen_row_int(&row, "maxWarpsPerSm", 64);
  nai_gen_row_int(&row, "maxBlocksPerSm", 32);
  nai_gen_row_int(&row, "maxThreadsPerBlock", 1024);
  nai_gen_row_int(&row, "computeMajor", 9);
  nai_gen_row_int(&row, "smMajor", 9);
  insert(plan, &row);
}

/* Exporters before 2024. */
static void write_old_gpu(struct nai_gen_plan *plan, int id) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "TARGET_INFO_CUDA_GPU");
  nai_gen_row_int(&row, "deviceId", id);
  nai_gen_row_text(&row, "name", "Tesla V100-SXM2-32GB");
  nai_gen_row_int(&row, "computeCapabilityMajor", 7);
  nai_gen_row_int(&row, "computeCapabilityMinor", 0);
  nai_gen_row_int(&row, "globalMemoryBandwidth", 898048000); /* kB/s, as the clock is in kHz */
  nai_gen_row_int(&row, "globalMemorySize", INT64_C(34089730048));
  nai_gen_row_int(&row, "numMultiprocessors", 80);
  nai_gen_row_int(&row, "coreClockRate", 1530000);
  insert(plan, &row);
}

static void write_device_map(struct nai_gen_plan *plan, const struct nai_gen_context *context) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "TARGET_INFO_CUDA_DEVICE");
  nai_gen_row_int(&row, "gpuId", plan->gpus[context->gpu].physical_id);
  nai_gen_row_int(&row, "cudaId", context->device_id);
  nai_gen_row_int(&row, "pid", plan->processes[context->process].pid);
  nai_gen_row_text(&row, "uuid", "");
  int visible = plan->processes[context->process].visible_sms;
  nai_gen_row_int(&row, "numMultiprocessors", visible ? visible : 132);
  insert(plan, &row);
}

static void write_context(struct nai_gen_plan *plan, const struct nai_gen_context *context) {
  struct nai_gen_row row;
  int pid = plan->processes[context->process].pid;
  if (!plan->hide_device_map && !context->green) {
    write_device_map(plan, context);
  }
  nai_gen_row_start(&row, "TARGET_INFO_CUDA_CONTEXT_INFO");
  nai_gen_row_int(&row, "nullStreamId", 7);
  nai_gen_row_int(&row, "hwId", 0);
  nai_gen_row_int(&row, "vmId", GLOBAL_VM); /* plain here, serialized elsewhere */
  nai_gen_row_int(&row, "processId", pid);
  nai_gen_row_int(&row, "deviceId", context->device_id);
  nai_gen_row_int(&row, "contextId", context->context_id);
  nai_gen_row_int(&row, "isGreenContext", context->green > 0);
  if (context->green) {
    nai_gen_row_int(&row, "parentContextId", context->green);
    nai_gen_row_int(&row, "numMultiprocessors", context->sm_count);
  }
  if (context->tpc_mask) {
    nai_gen_row_text(&row, "tpcMask", context->tpc_mask);
  }
  insert(plan, &row);
}

static void write_devices(struct nai_gen_plan *plan) {
  struct nai_gen_row row;
  if (plan->hide_devices) {
    return;
  }
  for (int i = 0; i < plan->gpu_count; i++) {
    (plan->schema < NAI_GEN_2024 ? write_old_gpu : write_gpu)(plan, plan->gpus[i].physical_id);
  }
  for (int i = 0; i < plan->context_count; i++) {
    write_context(plan, &plan->contexts[i]);
  }
  for (int i = 0; i < plan->stream_count; i++) {
    const struct nai_gen_stream *stream = &plan->streams[i];
    const struct nai_gen_context *context = &plan->contexts[stream->context];
    nai_gen_row_start(&row, "TARGET_INFO_CUDA_STREAM");
    nai_gen_row_int(&row, "streamId", stream->stream_id);
    nai_gen_row_int(&row, "hwId", 0);
    nai_gen_row_int(&row, "vmId", GLOBAL_VM);
    nai_gen_row_int(&row, "processId", plan->processes[context->process].pid);
    nai_gen_row_int(&row, "contextId", context->context_id);
    nai_gen_row_int(&row, "priority", 0);
    nai_gen_row_int(&row, "flag", stream->stream_id == 7 ? 3 : 2);
    insert(plan, &row);
  }
}

static void write_enums(struct nai_gen_plan *plan) {
  struct nai_gen_row row;
  for (size_t i = 0; i < sizeof nai_gen_labels / sizeof nai_gen_labels[0]; i++) {
    const struct nai_gen_label *label = &nai_gen_labels[i];
    nai_gen_row_start(&row, label->table);
    nai_gen_row_int(&row, "id", label->id);
    nai_gen_row_text(&row, "name", label->name);
    char odd[96];
    snprintf(odd, sizeof odd, "exported: %s", label->label);
    nai_gen_row_text(&row, "label", plan->odd_labels ? odd : label->label);
    insert(plan, &row);
  }
}

static void write_strings(struct nai_gen_plan *plan) {
  const struct nai_gen_string_entry *strings = plan->strings.items;
  struct nai_gen_row row;
  for (size_t i = 0; i < plan->strings.count; i++) {
    nai_gen_row_start(&row, "StringIds");
    nai_gen_row_int(&row, "id", (int64_t)i);
    nai_gen_row_bytes(&row, "value", nai_gen_bytes_at(plan, strings[i].offset), strings[i].size);
    insert(plan, &row);
  }
}

void nai_gen_write_meta(struct nai_gen_plan *plan, const char *scenario) {
  if (plan->bare) {
    write_strings(plan);
    return;
  }
  write_processes(plan);
  write_devices(plan);
  write_session(plan);
  write_diagnostics(plan);
  write_capture(plan);
  write_export(plan, scenario);
  write_canaries(plan);
  write_enums(plan);
  name_diagnostics(plan);
  write_strings(plan); /* last: the others add strings */
}
