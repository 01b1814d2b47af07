/* The one name by which people read each enumerated value, in every output. A label goes on within a sentence.
 * templates/viewer/src/colors.js has the same for the page. */
#include "tables/capture_time.h"
#include "tables/declare.h"

/* Causes of idle time and of pauses. */
const struct nai_value_label nai_cause_labels[] = {{"profiler", "profiler overhead"},
                                                   {"module_load", "module loading"},
                                                   {"allocation", "memory allocation"},
                                                   {"blocking_call", "synchronization"},
                                                   {"queue_drained", "starved after synchronization"},
                                                   {"in_launch_call", "launch call"},
                                                   {"cuda_call", "other CUDA call"},
                                                   {"host_code", "host-bound"},
                                                   {"launch_latency", "launch latency"},
                                                   {"dependency", "dependency"},
                                                   {"host_function", "host function"},
                                                   {"page_migration", "page migration"},
                                                   {"input_wait", "waiting for input"},
                                                   {"file_read", "reading files"},
                                                   {"sleep", "sleeping"},
                                                   {"wait", "waiting for a thread"},
                                                   {"os_call", "OS call"},
                                                   {"unknown", "unknown"},
                                                   {0}};

/* Causes of time on the critical path, in the order of enum nai_path_cause. */
const struct nai_value_label nai_path_labels[] = {{"kernel", "GPU kernels"},
                                                  {"communication", "communication"},
                                                  {"copy", "memory copies"},
                                                  {"memset", "memsets"},
                                                  {"cuda_graph", "CUDA graphs"},
                                                  {"host_bound", "host code"},
                                                  {"launch_call", "launch calls"},
                                                  {"allocation", "memory allocation"},
                                                  {"module_load", "module loading"},
                                                  {"cuda_call", "other CUDA call"},
                                                  {"sync_return", "return of synchronization"},
                                                  {"launch_latency", "launch latency"},
                                                  {"queue_full", "full launch queue"},
                                                  {"stream_gap", "gaps between operations"},
                                                  {"device_busy", "busy engine"},
                                                  {"unexplained", "unexplained delay"},
                                                  {"not_recorded", "time before the first recorded call"},
                                                  {0}};

/* Active spans. */
const struct nai_value_label nai_span_labels[] = {
    {"active", "active"}, {"set_up", "setup"}, {"check", "result check"}, {"pause", "pause"}, {0}};

/* Kinds of a GPU's time. */
const struct nai_value_label nai_time_labels[] = {{"window", "window"},
                                                  {"busy", "busy"},
                                                  {"compute", "compute"},
                                                  {"exposed_comm", "exposed communication"},
                                                  {"exposed_copy", "exposed copy"},
                                                  {"idle", "idle"},
                                                  {"gemm_only", "GEMMs only"},
                                                  {"steady_steps", "steady steps"},
                                                  {"spread", "spread"},
                                                  {0}};

/* What marks steps. */
const struct nai_value_label nai_method_labels[] = {{"user", "--step"}, {"serving", "serving engine"},
                                                    {"nvtx", "NVTX"},   {"kernels", "repeating kernels"},
                                                    {"none", "none"},   {0}};

/* How a call site is that of a kernel, and what it is. */
const struct nai_value_label nai_scope_labels[] = {
    {"call", "launched"}, {"captured", "captured in a graph"}, {"graph_launch", "graph launch"}, {0}};
const struct nai_value_label nai_site_labels[] = {{"python", "Python"},
                                                  {"native", "native"},
                                                  {"python_framework", "Python framework"},
                                                  {"framework", "framework"},
                                                  {"library", "library"},
                                                  {"module", "library without symbols"},
                                                  {"none", "none"},
                                                  {0}};

/* Phases of the capture, and the parts of one. */
#define LABEL(id, name, label) {name, label},
const struct nai_value_label nai_phase_labels[] = {NAI_CAPTURE_PHASES(LABEL){0}};
#undef LABEL
const struct nai_value_label nai_part_labels[] = {{"copy", "memory copies"},
                                                  {"first_use", "CUDA start-up"},
                                                  {"profiler", "profiler overhead"},
                                                  {"launch", "launches"},
                                                  {"wait", "waiting"},
                                                  {"allocation", "memory allocation"},
                                                  {"calls", "CUDA calls"},
                                                  {"ranges", "NVTX ranges"},
                                                  {"os_wait", "OS waits"},
                                                  {"io", "input and output"},
                                                  {"host", "host code"},
                                                  {"input", "waiting for input"},
                                                  {0}};

const struct nai_value_label *const nai_all_labels[] = {
    nai_cause_labels, nai_span_labels, nai_time_labels, nai_method_labels, nai_scope_labels,
    nai_site_labels,  nai_path_labels, nai_part_labels, nai_phase_labels,  NULL};
