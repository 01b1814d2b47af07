/* The reports, by their names of 2022 and since 2023. */
#include "features/stats/stats.h"

#define CALLS "CUPTI_ACTIVITY_KIND_RUNTIME"
#define KERNELS "CUPTI_ACTIVITY_KIND_KERNEL"
#define COPIES "CUPTI_ACTIVITY_KIND_MEMCPY"
#define SETS "CUPTI_ACTIVITY_KIND_MEMSET"
#define RANGES "NVTX_EVENTS"
#define UM_FAULTS "CUDA_UM_CPU_PAGE_FAULT_EVENTS", "CUDA_UM_GPU_PAGE_FAULT_EVENTS"

/* What it prints, and what makes its rows. */
#define REPORT(old_, name_, title_, lacks_, columns_, make_, ...)                                            \
  {                                                                                                          \
    .old = old_, .name = name_, .title = title_, .lacks = lacks_, .columns = nai_stats_##columns_##_columns, \
    .make = nai_stats_make_##make_, __VA_ARGS__                                                              \
  }
#define OF(...) .tables = {__VA_ARGS__}
#define NAMED .named = true, .ranged = true
#define PACE .about = NAI_STATS_NEEDS_NAME, .flags = {"summary"}
#define MAP .arguments = {{"bins", 30, 1, 10000}}
#define TABLE(name_, title_, table_, ...)                                                                       \
  {                                                                                                             \
    .name = name_, .title = title_, .lacks = "NCCL kernel", .is_table = {table_}, .make = nai_stats_make_table, \
    __VA_ARGS__                                                                                                 \
  }
/* A report without `tables` that is no table of this program never has data here. */
#define GRAPHICS(old_, name_, title_, lacks_) \
  { .old = old_, .name = name_, .title = title_, .lacks = lacks_ }

/* A rule of nsys analyze, with what to do, and the finding that says more. */
#define RULE(words, finding) .rows = 50, .window = true, .advice = words " (nsys-ai explain SRC " finding ")"

static const char nvtx[] = "NV Tools Extension (NVTX)", nvtx_cuda[] = "NV Tools Extension (NVTX) and CUDA",
                  gpu_trace[] = "GPU trace", calls[] = "CUDA API trace", kernels[] = "CUDA kernel",
                  launches[] = "CUDA kernel and API", copies[] = "CUDA memory copy", um[] = "CUDA Unified Memory",
                  mpi[] = "MPI event";

const struct nai_stats_report nai_stats_reports[] = {
    REPORT("apigpusum", "cuda_api_gpu_sum", "CUDA Summary (API/Kernels/MemOps)", "CUDA trace", operation, operations,
           .what = NAI_STATS_WITH_CALLS, OF(CALLS, KERNELS, COPIES, SETS), NAMED),
    REPORT("cudaapisum", "cuda_api_sum", "CUDA API Summary", calls, call, calls, .what = NAI_STATS_CUDA_CALLS,
           OF(CALLS)),
    REPORT("cudaapitrace", "cuda_api_trace", "CUDA API Trace", calls, call_trace, call_trace, OF(CALLS)),
    REPORT("gpukernsum", "cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", kernels, kernel, kernels, OF(KERNELS), NAMED,
           .old_columns = nai_stats_grid_columns),
    REPORT(NULL, "cuda_gpu_kern_gb_sum", "CUDA GPU Kernel/Grid/Block Summary", kernels, grid, kernels,
           .what = NAI_STATS_BY_GRID, OF(KERNELS), NAMED),
    REPORT("gpumemsizesum", "cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size)", "GPU memory", copy_size,
           copies, .what = NAI_STATS_COPY_SIZES, OF(COPIES, SETS)),
    REPORT("gpumemtimesum", "cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)", "GPU memory", copy_time,
           copies, OF(COPIES, SETS)),
    REPORT("gpusum", "cuda_gpu_sum", "CUDA GPU Summary (Kernels/MemOps)", gpu_trace, operation, operations,
           OF(KERNELS, COPIES, SETS), NAMED),
    REPORT("gputrace", "cuda_gpu_trace", "CUDA GPU Trace", gpu_trace, gpu_trace, gpu_trace, OF(KERNELS, COPIES, SETS),
           NAMED, .old_columns = nai_stats_old_gpu_trace_columns, .flags = {"exact", "mapped"}),
    REPORT("kernexecsum", "cuda_kern_exec_sum", "CUDA Kernel Launch & Exec Time Summary", launches, launch_sum,
           launch_sums, OF(KERNELS), .second = CALLS, NAMED),
    REPORT("kernexectrace", "cuda_kern_exec_trace", "CUDA Kernel Launch & Exec Time Trace", launches, launch, launches,
           OF(KERNELS), .second = CALLS, NAMED),
    REPORT("nvtxgpuproj", "nvtx_gpu_proj_trace", "NVTX GPU Projection Trace", nvtx_cuda, projection, projections,
           OF(RANGES), .second = CALLS, .flags = {"graphs"}),
    REPORT(NULL, "nvtx_gpu_proj_sum", "NVTX GPU Projection Summary", nvtx_cuda, projection_sum, projection_sums,
           OF(RANGES), .second = CALLS, .flags = {"graphs"}),
    REPORT("nvtxkernsum", "nvtx_kern_sum", "NVTX Range Kernel Summary", "NV Tools Extension (NVTX) and CUDA kernel",
           range_kernel, range_kernels, OF(KERNELS), .second = RANGES, .named = true, .flags = {"once"}),
    REPORT("nvtxsum", "nvtx_sum", "NVTX Range Summary", nvtx, range, ranges, OF(RANGES), .flags = {"canonical"}),
    REPORT("nvtxppsum", "nvtx_pushpop_sum", "NVTX Push/Pop Range Summary", nvtx, one_style, ranges,
           .what = NAI_STATS_PUSH_POP_RANGES, OF(RANGES), .flags = {"canonical"}),
    REPORT("nvtxpptrace", "nvtx_pushpop_trace", "NVTX Push/Pop Range Trace", nvtx, push_pop_trace, push_pop_trace,
           OF(RANGES)),
    REPORT("nvtxsesum", "nvtx_startend_sum", "NVTX Start/End Range Summary", nvtx, one_style, ranges,
           .what = NAI_STATS_START_END_RANGES, OF(RANGES), .flags = {"canonical"}, .also = "nvtxsssum"),
    REPORT("osrtsum", "osrt_sum", "OS Runtime Summary", "OS Runtime trace", call, calls, .what = NAI_STATS_OSRT_CALLS,
           OF("OSRT_API"), .flags = {"outer"}),
    REPORT("openaccsum", "openacc_sum", "OpenACC Summary", "OpenACC event", call, events,
           .what = NAI_STATS_OPENACC_EVENTS, OF("CUPTI_ACTIVITY_KIND_OPENACC_*"),
           .old_columns = nai_stats_old_openacc_columns),
    REPORT("openmpevtsum", "openmp_sum", "OpenMP Summary", "OpenMP event", openmp, events, OF("OPENMP_EVENT_KIND_*")),
    REPORT("unifiedmemory", "um_sum", "Unified Memory Analysis Summary", um, um, um, OF(UM_FAULTS, COPIES),
           .old_columns = nai_stats_old_um_columns, .rows = 10),
    REPORT("unifiedmemorytotals", "um_total_sum", "Unified Memory Totals Summary", um, um_total, um_totals,
           OF(UM_FAULTS, COPIES)),
    REPORT("umcpupagefaults", "um_cpu_page_faults_sum", "Unified Memory CPU Page Faults Summary",
           "CUDA Unified Memory CPU page faults", um_fault, um_faults, OF("CUDA_UM_CPU_PAGE_FAULT_EVENTS")),
    REPORT(NULL, "mpi_event_sum", "MPI Event Summary", mpi, mpi, events, .what = NAI_STATS_MPI_EVENTS,
           OF(NAI_STATS_MPI)),
    REPORT(NULL, "syscall_sum", "Syscall Summary", "syscall", call, calls, OF("SYSCALL")),
    REPORT("cuda-async-memcpy", "cuda_memcpy_async", "CUDA Async Memcpy with Pageable Memory", copies, copy_rule,
           copy_rule, OF(COPIES), .second = CALLS,
           RULE("Copies of pageable memory block their caller: pin the host buffers", "pageable-copies")),
    REPORT("cuda-sync-memcpy", "cuda_memcpy_sync", "CUDA Synchronous Memcpy", copies, copy_rule, copy_rule,
           .what = NAI_STATS_SYNC_COPIES, OF(COPIES), .second = CALLS,
           RULE("cudaMemcpy blocks its caller: use cudaMemcpyAsync on a stream, with pinned memory",
                "idle-blocking-call")),
    REPORT("cuda-sync-memset", "cuda_memset_sync", "CUDA Synchronous Memset", "CUDA memset", set_rule, copy_rule,
           .what = NAI_STATS_SYNC_SETS, OF(SETS), .second = CALLS,
           RULE("A memset of host memory blocks its caller: use cudaMemsetAsync", "idle-blocking-call")),
    REPORT("cuda-sync-api", "cuda_api_sync", "CUDA Synchronization APIs", calls, call_rule, sync_calls, OF(CALLS),
           RULE("Synchronization blocks the host: wait for an event, or wait less often", "idle-blocking-call")),
    REPORT("gpu-starv", "gpu_gaps", "GPU Gaps", gpu_trace, gap, gaps, OF(KERNELS, COPIES, SETS),
           .arguments = {{"gap", 500, 0, 1000000000}},
           RULE("The GPU is idle in these gaps: see what the CPU does there", "idle-host-code")),
    REPORT("gpu-low-util", "gpu_time_util", "GPU Time Utilization", gpu_trace, utilization, utilization,
           OF(KERNELS, COPIES, SETS), .arguments = {{"chunks", 30, 1, 1000}, {"threshold", 50, 0, 100}},
           RULE("The GPU is mostly idle here: launch more work ahead, or overlap CPU and GPU", "idle-host-code")),
    REPORT(NULL, "mpi_event_trace", "MPI Event Trace", mpi, mpi_trace, mpi_trace, OF(NAI_STATS_MPI)),
    REPORT(NULL, "mpi_msg_size_sum", "MPI Message Size Summary", mpi, mpi_size, mpi_sizes,
           OF("MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS")),
    REPORT(NULL, "nvvideo_api_sum", "NvVideo API Summary", "NvVideo API", video, events, .what = NAI_STATS_VIDEO_EVENTS,
           OF("NVVIDEO_ENCODER_API", "NVVIDEO_DECODER_API", "NVVIDEO_JPEG_API")),
    REPORT(NULL, "cuda_gpu_kern_hist", "CUDA GPU Kernel Duration Histogram", kernels, histogram, histogram, OF(KERNELS),
           .named = true, .arguments = {{"bins", 30, 1, 1000}}, .flags = {"log"}, .about = NAI_STATS_MAY_HAVE_NAME),
    REPORT(NULL, "cuda_gpu_kern_pace", "CUDA GPU Kernel Pacing", kernels, pace, kernel_pace, OF(KERNELS), PACE),
    REPORT(NULL, "nvtx_pace", "NVTX Pacing", nvtx, pace, range_pace, OF(RANGES), PACE),
    REPORT(NULL, "nvtx_gpu_proj_pace", "NVTX GPU Projection Pacing", nvtx_cuda, pace, range_pace,
           .what = NAI_STATS_ON_THE_GPU, OF(RANGES), .second = CALLS, PACE),
    REPORT(NULL, "cuda_gpu_time_util_map", "CUDA GPU Time Utilization Map", kernels, use_map, use_map, OF(KERNELS),
           MAP),
    REPORT(NULL, "nccl_gpu_time_util_map", "NCCL GPU Time Utilization Map", "NCCL kernel", nccl_map, use_map,
           .what = NAI_STATS_NCCL_MAP, OF(KERNELS), MAP),
    REPORT(NULL, "mpi_gpu_time_util_map", "MPI and GPU Time Utilization Map", "MPI event and CUDA kernel", mpi_map,
           use_map, .what = NAI_STATS_MPI_MAP, OF(NAI_STATS_MPI), .second = KERNELS, MAP),
    REPORT(NULL, "mpi_sum", "MPI Summary", mpi, mpi, events, .what = NAI_STATS_MPI_EVENTS, OF(NAI_STATS_MPI),
           .quartiles = true),
    REPORT(NULL, "gpu_metric_util_sum", "GPU Metric Utilization Summary", "GPU metrics", metric, gpu_metrics,
           OF("GPU_METRICS"), .arguments = {{"longest", -1, 1, 100000000}},
           .flags = {"per-kernel", "per-projected-nvtx"}, .about = NAI_STATS_MAY_HAVE_NAME),
    REPORT(NULL, "nvlink_sum", "NVLink Summary", "NVLink metrics", nvlink, nvlink, OF("GPU_METRICS")),
    REPORT(NULL, "file_access_sum", "File Access Summary", "file access", file, files, OF("OSRT_FILE_ACCESS_EVENTS"),
           .second = "OSRT_FILE_ACCESS_DESCRIPTORS"),
    REPORT(NULL, "network_congestion", "Network Devices Congestion", "network device metrics", congestion, congestion,
           OF("NET_NIC_METRIC", "NET_IB_SWITCH_METRIC"), .arguments = {{"ticks_threshold", 10000, 0, 999999999}}),
    TABLE("nccl_sum", "NCCL Summary", "comm_ops"),
    TABLE("nccl_gpu_proj_sum", "NCCL GPU Projection Summary", "comm_ops"),
    TABLE("nccl_gpu_overlap_trace", "NCCL GPU Overlap Trace", "comm_instances", .is_table[1] = "gpu_utilization",
          .flags = {"summary"}),
    GRAPHICS("dx11pixsum", "dx11_pix_sum", "DX11 PIX Range Summary", "DX11 CPU debug markers"),
    GRAPHICS("dx12gpumarkersum", "dx12_gpu_marker_sum", "DX12 GPU Command List PIX Ranges Summary",
             "DX12 GPU debug markers"),
    GRAPHICS("dx12pixsum", "dx12_pix_sum", "DX12 PIX Range Summary", "DX12 CPU debug markers"),
    GRAPHICS("khrdebugsum", "opengl_khr_range_sum", "OpenGL KHR_debug Range Summary", "KHR Extension (KHR_DEBUG)"),
    GRAPHICS("khrdebuggpusum", "opengl_khr_gpu_range_sum", "OpenGL KHR_debug GPU Range Summary",
             "GPU KHR Extension (KHR_DEBUG)"),
    GRAPHICS("vulkanapisum", "vulkan_api_sum", "Vulkan API Summary", "Vulkan API"),
    GRAPHICS("vulkanapitrace", "vulkan_api_trace", "Vulkan API Trace", "Vulkan API"),
    GRAPHICS("vulkanmarkerssum", "vulkan_marker_sum", "Vulkan Range Summary",
             "Vulkan Debug Extension (Vulkan Debug Util)"),
    GRAPHICS("vulkangpumarkersum", "vulkan_gpu_marker_sum", "Vulkan GPU Range Summary",
             "GPU Vulkan Debug Extension (GPU Vulkan Debug markers)"),
    GRAPHICS("wddmqueuesdetails", "wddm_queue_sum", "WDDM Queue Utilization Summary", "WDDM context"),
    {0},
};

bool nai_stats_is_old(const struct nai_stats_report *report, const char *name) {
  return (report->old && strcmp(report->old, name) == 0) || (report->also && strcmp(report->also, name) == 0);
}

const struct nai_stats_report *nai_stats_find(const char *name) {
  for (const struct nai_stats_report *report = nai_stats_reports; report->title; report++)
    if (strcmp(report->name, name) == 0 || nai_stats_is_old(report, name))
      return report;
  return NULL;
}

bool nai_stats_has_quartiles(const struct nai_stats_report *report) {
  const struct nai_stats_column *column = report->columns;
  while (column && column->name && !column->quartile)
    column++;
  return column && column->name;
}

const char *nai_stats_names(size_t index, const char *before) {
  (void)before;
  for (const struct nai_stats_report *report = nai_stats_reports; report->title; report++) {
    if (!report->make)
      continue;
    if (index-- == 0)
      return report->name;
    if (report->old && index-- == 0)
      return report->old;
  }
  return NULL;
}
