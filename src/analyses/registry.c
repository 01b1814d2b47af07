#include "analyses/analysis.h"

/* Every analysis, a line each. Reports show their tables in this order. */
#define ANALYSES(X)      \
  X(nvtx)                \
  X(nvtx_projection)     \
  X(phases)              \
  X(kernels)             \
  X(kernel_shape)        \
  X(profile_targets)     \
  X(sm_partitions)       \
  X(gpu_residency)       \
  X(autotuning)          \
  X(idle_gaps)           \
  X(idle_patterns)       \
  X(host_functions)      \
  X(launch_waits)        \
  X(gap_activity)        \
  X(cpu_threads)         \
  X(call_sites)          \
  X(launches)            \
  X(tiny_kernels)        \
  X(launch_breakdown)    \
  X(api_calls)           \
  X(kernel_launch_times) \
  X(graphs)              \
  X(graph_calls)         \
  X(graph_ranges)        \
  X(graph_savings)       \
  X(range_losses)        \
  X(sync)                \
  X(call_rounds)         \
  X(processes)           \
  X(utilization)         \
  X(low_utilization)     \
  X(memory)              \
  X(copy_rates)          \
  X(peer_copies)         \
  X(unified_memory)      \
  X(um_addresses)        \
  X(memory_use)          \
  X(memory_growth)       \
  X(memory_timeline)     \
  X(gpu_metrics)         \
  X(kernel_metrics)      \
  X(metric_timeline)     \
  X(nic_metrics)         \
  X(metric_parts)        \
  X(mpi_calls)           \
  X(directives)          \
  X(directive_data)      \
  X(directive_waits)     \
  X(osrt)                \
  X(file_access)         \
  X(syscalls)            \
  X(quality)             \
  X(active_spans)        \
  X(capture_health)      \
  X(workload)            \
  X(gemm_shapes)         \
  X(mfu)                 \
  X(losses)              \
  X(steps)               \
  X(serving)             \
  X(serving_bound)       \
  X(step_idle)           \
  X(step_categories)     \
  X(comm_ops)            \
  X(comm_streams)        \
  X(comm_sizes)          \
  X(comm_instances)      \
  X(comm_peers)          \
  X(comm_ranks)          \
  X(comm_capture)        \
  X(step_comm)           \
  X(comm_overlap)        \
  X(step_calls)          \
  X(kernel_paths)        \
  X(critical_path)

#define DECLARE(name) extern const struct nai_node nai_analysis_##name;
ANALYSES(DECLARE)

#define LIST(name) &nai_analysis_##name,
const struct nai_node *const nai_analyses[] = {ANALYSES(LIST) NULL};
