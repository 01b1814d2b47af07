/* CUDA graphs with exact times, and how their nodes come to be. */
#include "gen/plan_internal.h"

static int64_t graph_node_id(int graph_id, int node) { return ((int64_t)graph_id << 32) | (node + 1); }

int64_t nai_gen_graph_replay(struct nai_gen_plan *plan, const struct nai_gen_replay *replay) {
  int64_t call = nai_gen_call(plan, replay->thread, API_GRAPH_LAUNCH, replay->api_ns), start = replay->start_ns;
  for (int i = 0; i < replay->count && !nai_gen_failed(plan); i++) {
    nai_gen_attribute(plan, replay->thread, replay->nodes[i].duration_ns);
    start = nai_gen_add_kernel(plan, call, replay->stream, replay->nodes[i].kernel, start, replay->nodes[i].duration_ns,
                               graph_node_id(replay->graph_id, i)) +
            replay->gap_ns;
  }
  return start - replay->gap_ns;
}

int64_t nai_gen_graph_at(struct nai_gen_plan *plan, int thread, int stream, int graph_id, int64_t api_ns,
                         int64_t start_ns, int64_t duration_ns) {
  int64_t call = nai_gen_call(plan, thread, API_GRAPH_LAUNCH, api_ns);
  return nai_gen_add_envelope(plan, call, stream, graph_id, start_ns, duration_ns);
}

static void add_node(struct nai_gen_plan *plan, int thread, int64_t node, int64_t original) {
  struct nai_gen_graph_node_row *row = nai_gen_plan_push(plan, &plan->graph_nodes);
  if (row) {
    int64_t now = plan->threads[thread].now;
    *row = (struct nai_gen_graph_node_row){now, now + 900, thread, node, original};
    nai_gen_plan_saw(plan, now + 900);
  }
}

void nai_gen_graph_capture(struct nai_gen_plan *plan, int thread, int graph_id, int node) {
  int64_t now = plan->threads[thread].now;
  plan->threads[thread].now = now + 400; /* within the call */
  add_node(plan, thread, graph_node_id(graph_id, node), 0);
  plan->threads[thread].now = now;
  nai_gen_call(plan, thread, API_LAUNCH, 3000);
}

void nai_gen_graph_clone(struct nai_gen_plan *plan, int thread, int from_graph, int to_graph, int node) {
  add_node(plan, thread, graph_node_id(to_graph, node), graph_node_id(from_graph, node));
}

void nai_gen_graph_node_created(struct nai_gen_plan *plan, int thread, int graph_id, int node) {
  add_node(plan, thread, graph_node_id(graph_id, node), 0);
  plan->threads[thread].now += 1200;
}
