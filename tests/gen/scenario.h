/* The scenarios the generator knows: each is a function that plans one trace. */
#pragma once

#include "gen/plan.h"

struct nai_gen_scenario {
  const char *name;
  const char *summary;
  /* target_bytes: the --size of a sized scenario, 0 when not given */
  void (*plan)(struct nai_gen_plan *plan, int64_t target_bytes);
  int first_schema;    /* oldest generation that can express it */
  bool sized;          /* takes --size */
  bool without_checks; /* needs rows that break NOT NULL */
  bool all_tables;     /* writes empty tables, too */
};

/* The list ends with a NULL name. */
extern const struct nai_gen_scenario nai_gen_scenarios[];

void nai_gen_plan_inference(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_training(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_copy_bound(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_host_bound(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_graphs(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_graphs_node(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_shared_gpu(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_shared_gpu_mapped(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_nvtx_mix(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_hostile(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_hostile_values(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_empty(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_minimal(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_no_nvtx(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_healthy(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_neglected(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_evidence(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_launch_load(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_profiler_flush(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_launch_in_flight(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_dependency(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_drained_queue(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_alloc_churn(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_row_loop(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_tiny_copies(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_collectives_graph(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_decompression(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_mpi(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_partitions(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_grouped_sends(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_collectives(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_collectives_skewed(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_collectives_advanced(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_bimodal(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_long_calls(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_graph_capture(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_graph_churn(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_graph_small(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_launch_storm(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_copy_lag(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_first_touch(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_shapes(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_autotune(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_gemm(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_memory(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_cpu(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_pause(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_failed(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_cold(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_api_only(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_nvtx_only(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_two_processes(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_eight_gpus(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_many_gpus(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_pytorch_like(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_tensorrt_like(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_cupy_like(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_openacc_like(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_openmp_like(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_steps(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_steps_bare(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_steps_jitter(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_steps_input(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_steps_drift(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_layers(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_phantom_steps(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_cpp(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_loop(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_loop_slower(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_loop_renumbered(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_loop_retuned(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_loop_fused(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_loop_drift(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_loop_waits(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_loop_fewer(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_serving(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_serving_eager(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_serving_uncounted(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_serving_guessing(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_call_sites(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_call_sites_mended(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_call_sites_renamed(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_sampled(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_sampled_coarse(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_host_functions(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_host_functions_hidden(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_mpi_ranks(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_mpi_hidden(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_mpi_late(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_mpi_on_time(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_openacc(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_openacc_mended(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_openacc_waits(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_openacc_async(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_files(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_files_ahead(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_switches(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_switches_alone(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_plain(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_no_prefetch(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_unsharded(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_offload(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_scalar_reads(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_constants(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_loader(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_optimizer(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_recompute(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_compile(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_first_touch(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_round_trips(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_small_collectives(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_uneven(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_train_communicators(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_bench(struct nai_gen_plan *plan, int64_t target_bytes);
