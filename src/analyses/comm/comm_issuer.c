/* Which call issued each communication kernel? Its launch; of a kernel of a CUDA graph the call that was captured. */
#include "analyses/comm/comm.h"
#include "model/graphs/graph_origin.h"

static bool in_graph(const struct nai_comm *c, const struct nai_comm_item *item) {
  return nai_at_i32(&c->m->kernels.graph_id, item->kernel) != NAI_NULL_I32;
}

static void set_issuer(struct nai_comm *c, struct nai_comm_item *item, uint32_t api) {
  const struct API_EVENTS_columns *apis = &c->m->apis;
  item->thread = api == NAI_NO_ROW ? -1 : nai_at_i32(&apis->thread, api);
  item->issued = api == NAI_NO_ROW ? NAI_NULL_I64 : nai_at(&apis->start_ns, api);
  item->first_run = true;
}

/* Nodes seen so far. */
struct seen {
  struct nai_keyset ids, keys; /* node ids; process << 32 | number of the id */
};

static bool is_new(struct seen *seen, int32_t process, int64_t node) {
  bool added;
  uint32_t id = nai_keyset_add(&seen->ids, node, &added);
  nai_keyset_add(&seen->keys, nai_key_pair(process, id), &added);
  return added;
}

static int find_captured(struct nai_comm *c, struct nai_err *err) {
  const struct KERNEL_EVENTS_columns *k = &c->m->kernels;
  struct nai_graph_nodes nodes;
  struct seen seen = {0};
  int rc = nai_graph_nodes_new(&nodes, c->m, err);
  for (uint32_t i = 0; !rc && i < c->count; i++) {
    struct nai_comm_item *item = &c->items[i];
    int32_t process = nai_at_i32(&k->process, item->kernel);
    int64_t node = nai_at(&k->graph_node_id, item->kernel);
    uint32_t api;
    if (!in_graph(c, item) || process < 0 || node == NAI_NULL_I64)
      continue;
    (void)nai_graph_node_call(&api, &nodes, process, node);
    set_issuer(c, item, api);
    item->first_run = is_new(&seen, process, node);
    if (seen.ids.oom || seen.keys.oom)
      rc = nai_err_nomem(err);
  }
  nai_keyset_free(&seen.ids);
  nai_keyset_free(&seen.keys);
  nai_graph_nodes_free(&nodes);
  return rc;
}

int nai_comm_find_issuers(struct nai_comm *c, struct nai_err *err) {
  bool any = false;
  for (uint32_t i = 0; i < c->count; i++) {
    set_issuer(c, &c->items[i], c->m->kernel_api[c->items[i].kernel]);
    any |= in_graph(c, &c->items[i]);
  }
  return any && c->m->tables[NAI_IN_GRAPH_NODES]->rows ? find_captured(c, err) : NAI_OK;
}
