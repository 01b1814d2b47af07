/* A node makes tables from tables: what it is made from is data, so that whoever runs nodes can order them, run them
 * side by side, and leave out those whose tables are there already. An analysis is a node (docs/adding-an-analysis.md).
 */
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "model/model.h"
#include "table/table.h"

/* What a node works on while it runs. */
struct nai_node_io {
  struct nai_table **out;            /* per schema of `outputs`: an empty table; a node with `creates` sets it itself */
  const struct nai_table *const *in; /* per schema of `inputs`, then NULL */
  const struct nai_model *model;     /* with the parts the node needs, NULL when it needs none */
  struct nai_arena *arena;           /* freed when it has run, or failed */
  uint64_t key;                      /* of what it makes; goes into files that it writes itself */
  void *ctx;                         /* what the pipeline's own nodes work on */
};

struct nai_node {
  const char *name;
  const struct nai_schema *const *outputs; /* ends with NULL */
  const struct nai_schema *const *inputs;  /* tables of other nodes, ends with NULL; NULL: none */
  uint32_t parts;                          /* of the model: NAI_PART(...) */
  uint64_t tables;                         /* event tables it reads beside those of its parts: NAI_IN(...) */
  uint32_t config;                         /* configuration it reads beside that of its parts: NAI_CONFIG(...) */
  uint32_t revision;                       /* counted up by hand where the program's own identity does not tell */
  int cost;          /* rough share of the run time on a large trace: the costly ones start first; 0 for the rest */
  bool reads_report; /* its inputs are all tables of the report that earlier stages make */
  bool creates;      /* makes its tables itself instead of filling empty ones */
  const struct nai_schema *const *late; /* of `outputs`: from here on they may have millions of rows, and are opened
                                           when a part of the model needs them; NULL: none */
  /* May run beside other nodes. Its tables are sorted afterwards as they declare. */
  int (*run)(const struct nai_node_io *io, struct nai_err *err);
};
#define NAI_SCHEMAS(...) ((const struct nai_schema *const[]){__VA_ARGS__, NULL})

/* Runs a node whose tables and model are in `io`, with an arena of its own. */
NAI_MUST_CHECK int nai_node_run(const struct nai_node *node, struct nai_node_io io, struct nai_err *err);
