/* CUDA graphs, traced as envelopes (the exporter's default) or node by node. */
#include "gen/scenario.h"

enum { NODES = 24, GRAPH_ID = 5, LAZY_LOADING = 7 };

struct serving {
  struct nai_gen_plan *plan;
  int thread, stream;
  int gemm, attention, norm, sample;
  int decode, sampling;
};

static void open_serving(struct serving *s, struct nai_gen_plan *plan) {
  s->plan = plan;
  int process = nai_gen_process(plan, 8001, "python3");
  int context = nai_gen_context(plan, process, 0, 1, nai_gen_gpu(plan, 0));
  s->thread = nai_gen_thread(plan, process, 8001, "python3");
  s->stream = nai_gen_stream(plan, context, 7);
  s->gemm = nai_gen_kernel_from(plan, &(struct nai_gen_kernel_spec){"nvjet_tst_64x64_64x10_4x1_v_bz_TNT", NULL,
                                                                    NAI_GEN_COMPUTE, API_LAUNCH_DRIVER});
  s->attention =
      nai_gen_kernel(plan, "void paged_attention_v2_kernel<float, (int)128>(T1 *, int)", "paged_attention_v2_kernel");
  s->norm = nai_gen_kernel(plan, "void rms_norm_kernel<float>(T1 *, const T1 *, int)", "rms_norm_kernel");
  s->sample = nai_gen_kernel(plan, "void sample_top_p_kernel<float>(const T1 *, int *)", "sample_top_p_kernel");
  s->decode = nai_gen_name(plan, "decode");
  s->sampling = nai_gen_name(plan, "sampling");
}

static void sample_token(struct serving *s) {
  nai_gen_push(s->plan, s->thread, s->sampling, NULL);
  nai_gen_launch(s->plan, s->thread, s->stream, s->sample, nai_gen_rng_vary(nai_gen_rng(s->plan), 30000, 10));
  nai_gen_synchronize(s->plan, s->thread, s->stream, API_STREAM_SYNC, 0);
  nai_gen_pop(s->plan, s->thread);
}

void nai_gen_plan_graphs(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct serving s;
  open_serving(&s, plan);
  for (int step = 0; step < nai_gen_scaled(plan, 60); step++) {
    nai_gen_push(plan, s.thread, s.decode, NULL);
    nai_gen_graph(plan, s.thread, s.stream, GRAPH_ID, nai_gen_rng_vary(nai_gen_rng(plan), 900000, 10));
    nai_gen_pop(plan, s.thread);
    sample_token(&s);
  }
  nai_gen_expect_findings(plan, "graph-envelope-only");
  nai_gen_expect_no_findings(plan, "launch-bound idle-host-code exposed-copy no-nvtx");
  nai_gen_caveat(plan, "graph-envelopes");
}

void nai_gen_plan_graphs_node(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct serving s;
  open_serving(&s, plan);
  const int kinds[] = {s.norm, s.gemm, s.attention, s.gemm};
  for (int node = 0; node < NODES; node++) {
    nai_gen_graph_node_created(plan, s.thread, GRAPH_ID, node);
  }
  nai_gen_cuda_overhead(plan, nai_gen_call(plan, s.thread, API_GRAPH_INSTANTIATE, 450000), LAZY_LOADING);
  for (int step = 0; step < nai_gen_scaled(plan, 60); step++) {
    struct nai_gen_node nodes[NODES];
    for (int node = 0; node < NODES; node++) {
      nodes[node].kernel = kinds[node % 4];
      nodes[node].duration_ns = nai_gen_rng_vary(nai_gen_rng(plan), 35000, 20);
    }
    nai_gen_push(plan, s.thread, s.decode, NULL);
    nai_gen_graph_nodes(plan, s.thread, s.stream, GRAPH_ID, nodes, NODES);
    nai_gen_pop(plan, s.thread);
    sample_token(&s);
  }
  nai_gen_expect_no_findings(plan, "graph-envelope-only launch-bound idle-host-code exposed-copy "
                                   "low-nvtx-coverage no-nvtx");
}
