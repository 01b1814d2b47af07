#include "analyses/analysis.h"

extern const struct nai_node nai_analysis_kernels, nai_analysis_utilization, nai_analysis_idle_gaps,
    nai_analysis_idle_patterns, nai_analysis_launches, nai_analysis_launch_breakdown, nai_analysis_sync,
    nai_analysis_nvtx, nai_analysis_phases, nai_analysis_nvtx_tree, nai_analysis_processes, nai_analysis_memory,
    nai_analysis_osrt, nai_analysis_quality;

/* Their tables appear in reports in this order. */
const struct nai_node *const nai_analyses[] = {
    &nai_analysis_nvtx,
    &nai_analysis_phases,
    &nai_analysis_kernels,
    &nai_analysis_idle_gaps,
    &nai_analysis_idle_patterns,
    &nai_analysis_launches,
    &nai_analysis_launch_breakdown,
    &nai_analysis_nvtx_tree,
    &nai_analysis_sync,
    &nai_analysis_processes,
    &nai_analysis_utilization,
    &nai_analysis_memory,
    &nai_analysis_osrt,
    &nai_analysis_quality,
    NULL,
};
