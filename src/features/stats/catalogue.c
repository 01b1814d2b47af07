/* The reports, by their names of 2022 and since 2023. */
#include "features/stats/stats.h"

#include <string.h>

#define CALLS "CUPTI_ACTIVITY_KIND_RUNTIME"
#define KERNELS "CUPTI_ACTIVITY_KIND_KERNEL"
#define COPIES "CUPTI_ACTIVITY_KIND_MEMCPY"
#define SETS "CUPTI_ACTIVITY_KIND_MEMSET"
#define RANGES "NVTX_EVENTS"

/* A report of nsys that is not here yet has no function; one without `tables` never has data here: graphics. */
#define ABSENT(old_, name_, title_) \
  { .old = old_, .name = name_, .title = title_ }
#define GRAPHICS(old_, name_, title_, lacks_) \
  { .old = old_, .name = name_, .title = title_, .lacks = lacks_ }

const struct nai_stats_report nai_stats_reports[] = {
    {.old = "apigpusum",
     .name = "cuda_api_gpu_sum",
     .title = "CUDA Summary (API/Kernels/MemOps)",
     .lacks = "CUDA trace",
     .tables = {CALLS, KERNELS, COPIES, SETS},
     .columns = nai_stats_operation_columns,
     .named = true,
     .make = nai_stats_make_api_gpu},
    {.old = "cudaapisum",
     .name = "cuda_api_sum",
     .title = "CUDA API Summary",
     .lacks = "CUDA API trace",
     .tables = {CALLS},
     .columns = nai_stats_call_columns,
     .make = nai_stats_make_api},
    {.old = "cudaapitrace",
     .name = "cuda_api_trace",
     .title = "CUDA API Trace",
     .lacks = "CUDA API trace",
     .tables = {CALLS},
     .columns = nai_stats_call_trace_columns,
     .make = nai_stats_make_call_trace},
    {.old = "gpukernsum",
     .name = "cuda_gpu_kern_sum",
     .title = "CUDA GPU Kernel Summary",
     .lacks = "CUDA kernel",
     .tables = {KERNELS},
     .columns = nai_stats_kernel_columns,
     .old_columns = nai_stats_grid_columns,
     .named = true,
     .make = nai_stats_make_kernels},
    {.name = "cuda_gpu_kern_gb_sum",
     .title = "CUDA GPU Kernel/Grid/Block Summary",
     .lacks = "CUDA kernel",
     .tables = {KERNELS},
     .columns = nai_stats_grid_columns,
     .named = true,
     .make = nai_stats_make_grids},
    {.old = "gpumemsizesum",
     .name = "cuda_gpu_mem_size_sum",
     .title = "CUDA GPU MemOps Summary (by Size)",
     .lacks = "GPU memory",
     .tables = {COPIES, SETS},
     .columns = nai_stats_copy_size_columns,
     .make = nai_stats_make_copy_sizes},
    {.old = "gpumemtimesum",
     .name = "cuda_gpu_mem_time_sum",
     .title = "CUDA GPU MemOps Summary (by Time)",
     .lacks = "GPU memory",
     .tables = {COPIES, SETS},
     .columns = nai_stats_copy_time_columns,
     .make = nai_stats_make_copy_times},
    {.old = "gpusum",
     .name = "cuda_gpu_sum",
     .title = "CUDA GPU Summary (Kernels/MemOps)",
     .lacks = "GPU trace",
     .tables = {KERNELS, COPIES, SETS},
     .columns = nai_stats_operation_columns,
     .named = true,
     .make = nai_stats_make_gpu},
    {.old = "gputrace",
     .name = "cuda_gpu_trace",
     .title = "CUDA GPU Trace",
     .lacks = "GPU trace",
     .tables = {KERNELS, COPIES, SETS},
     .columns = nai_stats_gpu_trace_columns,
     .old_columns = nai_stats_old_gpu_trace_columns,
     .named = true,
     .make = nai_stats_make_gpu_trace},
    {.old = "kernexecsum",
     .name = "cuda_kern_exec_sum",
     .title = "CUDA Kernel Launch & Exec Time Summary",
     .lacks = "CUDA kernel and API",
     .tables = {KERNELS},
     .second = CALLS,
     .columns = nai_stats_launch_sum_columns,
     .named = true,
     .make = nai_stats_make_launch_sums},
    {.old = "kernexectrace",
     .name = "cuda_kern_exec_trace",
     .title = "CUDA Kernel Launch & Exec Time Trace",
     .lacks = "CUDA kernel and API",
     .tables = {KERNELS},
     .second = CALLS,
     .columns = nai_stats_launch_columns,
     .named = true,
     .make = nai_stats_make_launches},
    {.old = "nvtxgpuproj",
     .name = "nvtx_gpu_proj_trace",
     .title = "NVTX GPU Projection Trace",
     .lacks = "NV Tools Extension (NVTX) and CUDA",
     .tables = {RANGES},
     .second = CALLS,
     .columns = nai_stats_projection_columns,
     .make = nai_stats_make_projections},
    {.name = "nvtx_gpu_proj_sum",
     .title = "NVTX GPU Projection Summary",
     .lacks = "NV Tools Extension (NVTX) and CUDA",
     .tables = {RANGES},
     .second = CALLS,
     .columns = nai_stats_projection_sum_columns,
     .make = nai_stats_make_projection_sums},
    {.old = "nvtxkernsum",
     .name = "nvtx_kern_sum",
     .title = "NVTX Range Kernel Summary",
     .lacks = "NV Tools Extension (NVTX) and CUDA kernel",
     .tables = {KERNELS},
     .second = RANGES,
     .columns = nai_stats_range_kernel_columns,
     .named = true,
     .make = nai_stats_make_range_kernels},
    {.old = "nvtxsum",
     .name = "nvtx_sum",
     .title = "NVTX Range Summary",
     .lacks = "NV Tools Extension (NVTX)",
     .tables = {RANGES},
     .columns = nai_stats_range_columns,
     .make = nai_stats_make_ranges},
    {.old = "nvtxppsum",
     .name = "nvtx_pushpop_sum",
     .title = "NVTX Push/Pop Range Summary",
     .lacks = "NV Tools Extension (NVTX)",
     .tables = {RANGES},
     .columns = nai_stats_one_style_columns,
     .make = nai_stats_make_push_pop},
    {.old = "nvtxpptrace",
     .name = "nvtx_pushpop_trace",
     .title = "NVTX Push/Pop Range Trace",
     .lacks = "NV Tools Extension (NVTX)",
     .tables = {RANGES},
     .columns = nai_stats_push_pop_trace_columns,
     .make = nai_stats_make_push_pop_trace},
    {.old = "nvtxsesum",
     .also = "nvtxsssum",
     .name = "nvtx_startend_sum",
     .title = "NVTX Start/End Range Summary",
     .lacks = "NV Tools Extension (NVTX)",
     .tables = {RANGES},
     .columns = nai_stats_one_style_columns,
     .make = nai_stats_make_start_end},
    {.old = "osrtsum",
     .name = "osrt_sum",
     .title = "OS Runtime Summary",
     .lacks = "OS Runtime trace",
     .tables = {"OSRT_API"},
     .columns = nai_stats_call_columns,
     .make = nai_stats_make_osrt},
    ABSENT("openaccsum", "openacc_sum", "OpenACC Summary"),
    ABSENT("openmpevtsum", "openmp_sum", "OpenMP Summary"),
    ABSENT("unifiedmemory", "um_sum", "Unified Memory Analysis Summary"),
    ABSENT("unifiedmemorytotals", "um_total_sum", "Unified Memory Totals Summary"),
    ABSENT("umcpupagefaults", "um_cpu_page_faults_sum", "Unified Memory CPU Page Faults Summary"),
    ABSENT(NULL, "mpi_event_sum", "MPI Event Summary"),
    ABSENT(NULL, "mpi_event_trace", "MPI Event Trace"),
    ABSENT(NULL, "mpi_msg_size_sum", "MPI Message Size Summary"),
    ABSENT(NULL, "syscall_sum", "Syscall Summary"),
    ABSENT(NULL, "nvvideo_api_sum", "NvVideo API Summary"),
    ABSENT(NULL, "network_congestion", "Network Devices Congestion"),
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

bool nai_stats_is_absent(const struct nai_stats_report *report) { return !report->make && !report->lacks; }

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
