/* Rows of an event table grouped by a small integer and ordered inside each group. */
#pragma once

#include "base/arena.h"
#include "base/strings.h"
#include "table/column.h"

struct nai_groups {
  uint32_t *order; /* row numbers; group g is order[first[g]] .. order[first[g+1]-1] */
  uint32_t *first; /* groups + 1 entries */
  uint32_t groups;
};

/* Groups rows 0..n-1 by their cell of `group` (0..groups-1; negative = left out), each in row order. The arena's. */
NAI_MUST_CHECK int nai_groups_collect(struct nai_groups *out, uint32_t n, const struct nai_column *group,
                                      uint32_t groups, struct nai_arena *arena, struct nai_err *err);
/* By start ascending, then end descending, then name text (where there are names), then row. */
struct nai_row_order {
  struct nai_column start, end, name;
  const struct nai_strings *names; /* NULL: not by name */
};
NAI_MUST_CHECK int nai_rows_sort(uint32_t *rows, uint32_t n, const struct nai_row_order *by, const char *scratch_dir,
                                 struct nai_err *err);
/* By the rows' cells of `columns`, of which the first counts most. Rows that agree in all keep their order. */
NAI_MUST_CHECK int nai_rows_arrange(uint32_t *rows, uint32_t n, const struct nai_column *const *columns, int count,
                                    struct nai_err *err);
/* The end of the run of rows from place `first` on that agree in all of `columns`, by which they are arranged. */
uint32_t nai_rows_run(const uint32_t *rows, uint32_t first, uint32_t n, const struct nai_column *const *columns,
                      int count);
/* nai_groups_collect, then each group sorted. */
NAI_MUST_CHECK int nai_groups_build(struct nai_groups *out, uint32_t n, const struct nai_column *group, uint32_t groups,
                                    const struct nai_row_order *by, struct nai_arena *arena, struct nai_err *err);
/* The first place in order[first..last) whose row has a cell of `column` not below t, `last` when there is none; the
 * cells ascend in that order. `order` NULL: rows in the order they have. */
uint32_t nai_rows_from(const uint32_t *order, uint32_t first, uint32_t last, const struct nai_column *column,
                       int64_t t);
