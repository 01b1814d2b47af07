/* Tables critical_path, critical_path_causes and critical_path_summary, of what stretches of a trace are asked for. */
#pragma once

#include "model/critical/path_sum.h"
#include "table/table.h"

struct nai_path_tables {
  const struct nai_model *model; /* with the parts that analysis critical_path needs */
  struct nai_arena *arena;
  struct nai_table *path, *causes, *summary;
  enum nai_path_by by; /* that rows of `causes` are of */
};
/* Adds the rows of scopes. The first has one repetition: its segments are listed, and what it holds decides about all.
 */
NAI_MUST_CHECK int nai_path_put_tables(const struct nai_path_tables *out, const struct nai_path_scope *scopes,
                                       uint32_t count, struct nai_err *err);
