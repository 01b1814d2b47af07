#include "model/graphs/graph_origin.h"

enum { MAX_CLONES = 16, SEVERAL = -2 };

static int64_t key_of(const struct nai_graph_nodes *n, int32_t process, int64_t node) {
  uint32_t id = nai_keyset_find(&n->ids, node);
  return id == UINT32_MAX ? -1 : nai_key_pair(process, id);
}

void nai_graph_nodes_free(struct nai_graph_nodes *n) { nai_arena_free(&n->arena); }

int nai_graph_nodes_new(struct nai_graph_nodes *n, const struct nai_model *m, struct nai_err *err) {
  *n = (struct nai_graph_nodes){.m = m,
                                .created = GRAPH_NODE_EVENTS_columns_of(m->tables[NAI_IN_GRAPH_NODES]),
                                .ids.arena = &n->arena,
                                .keys.arena = &n->arena,
                                .arena = NAI_ARENA(m->scratch_dir)};
  NAI_TRY(NAI_NEW(n->row_of_key, &n->arena, n->created.n, err));
  for (uint32_t i = 0; i < n->created.n; i++) {
    int32_t thread = nai_at_i32(&n->created.thread, i), process = thread < 0 ? -1 : m->thread_process[thread];
    bool added;
    if (process < 0)
      continue;
    uint32_t id = nai_keyset_add(&n->ids, nai_at(&n->created.graph_node_id, i), &added);
    uint32_t key = nai_keyset_add(&n->keys, nai_key_pair(process, id), &added);
    NAI_TRY(nai_memory_check(!n->ids.oom && !n->keys.oom, err));
    n->row_of_key[key] = added ? (int64_t)i : SEVERAL;
  }
  return NAI_OK;
}

/* The latest call of the thread that begins at or before t, if it lasts until then. */
static uint32_t call_around(const struct nai_model *m, int32_t thread, int64_t t) {
  const struct nai_groups *calls = &m->api_by_thread;
  uint32_t first = calls->first[thread], last = calls->first[thread + 1];
  uint32_t at = nai_rows_from(calls->order, first, last, &m->apis.start_ns, t + 1);
  for (uint32_t back = 0; at > first && back < 8; back++) { /* calls hardly ever nest */
    uint32_t api = calls->order[--at];
    if (nai_val(&m->apis.end_ns, api) >= t)
      return api;
  }
  return NAI_NO_ROW;
}

enum nai_graph_origin nai_graph_node_call(uint32_t *api, const struct nai_graph_nodes *n, int32_t process,
                                          int64_t node) {
  int64_t row = -1;
  *api = NAI_NO_ROW;
  for (int clone = 0; clone < MAX_CLONES && node > 0; clone++) {
    int64_t key = key_of(n, process, node);
    uint32_t found = key < 0 ? UINT32_MAX : nai_keyset_find(&n->keys, key);
    if (found == UINT32_MAX)
      return NAI_ORIGIN_NOT_RECORDED;
    row = n->row_of_key[found];
    if (row == SEVERAL)
      return NAI_ORIGIN_AMBIGUOUS;
    node = nai_at(&n->created.original_graph_node_id, row);
  }
  if (node > 0 || row < 0) /* a chain without an end */
    return row < 0 ? NAI_ORIGIN_NOT_RECORDED : NAI_ORIGIN_AMBIGUOUS;
  *api = call_around(n->m, nai_at_i32(&n->created.thread, row), nai_val(&n->created.start_ns, row));
  return *api == NAI_NO_ROW ? NAI_ORIGIN_NO_CALL : NAI_ORIGIN_FOUND;
}
