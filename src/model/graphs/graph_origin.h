/* Which call made a node of a CUDA graph? Replays have no call of their own around each kernel, the making of their
 * nodes has: clones are followed back to the node that code captured or added. */
#pragma once

#include "model/model.h"
#include "tables/graph_node_events.h"

enum nai_graph_origin { NAI_ORIGIN_FOUND, NAI_ORIGIN_NO_CALL, NAI_ORIGIN_NOT_RECORDED, NAI_ORIGIN_AMBIGUOUS };

/* Creations of nodes by process and id. */
struct nai_graph_nodes {
  const struct nai_model *m;
  struct GRAPH_NODE_EVENTS_columns created;
  struct nai_keyset ids, keys; /* node ids; process << 32 | number of the id */
  int64_t *row_of_key;         /* row of graph_node_events; below 0 when there are several */
  struct nai_arena arena;      /* private */
};
NAI_MUST_CHECK int nai_graph_nodes_new(struct nai_graph_nodes *nodes, const struct nai_model *model,
                                       struct nai_err *err);
void nai_graph_nodes_free(struct nai_graph_nodes *nodes);
/* The call in which the node of a graph was captured or added: row of api_events, NAI_NO_ROW unless found. */
enum nai_graph_origin nai_graph_node_call(uint32_t *api, const struct nai_graph_nodes *nodes, int32_t process,
                                          int64_t node);
