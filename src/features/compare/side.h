/* The two sides of a comparison: their captures, and the rows of these captures' tables. */
#pragma once

#include "base/err.h"
#include "tables/run_info.h"

struct nai_run;

enum nai_side_id { NAI_BASE, NAI_CANDIDATE, NAI_SIDES };
extern const char *const nai_side_names[NAI_SIDES]; /* as outputs call them: "base", "new" */

/* A run with a name for people, without directories. Texts are the comparison's. */
struct nai_capture {
  struct nai_run *run; /* owned */
  const char *label;   /* as short as tells it from the others */
  const char *longer;  /* the same with the directory before it */
};
struct nai_side {
  struct nai_capture *captures;
  uint32_t count, capacity;
};

/* Tables by which runs are compared, all of them small; then NULL. Who removes others leaves a run that can be
 * compared. */
extern const struct nai_schema *const nai_compared_tables[];
/* Opens one of them; *table is NULL where the run has none. What an earlier version did not compare, it may have
 * pruned. */
NAI_MUST_CHECK int nai_capture_open_table(const struct nai_table **table, struct nai_run *run,
                                          const struct nai_schema *schema, struct nai_err *err);
/* Puts another run of the same trace in the place of a capture's. */
NAI_MUST_CHECK int nai_capture_replace(struct nai_capture *capture, struct nai_run *run, struct nai_err *err);
/* One of them, with the columns of its schema; a run of another version that lacks it has an empty one. Borrowed. */
const struct nai_table *nai_capture_table(const struct nai_capture *capture, const struct nai_schema *schema);
/* Its only row of run_info. */
struct RUN_INFO_row nai_capture_info(const struct nai_capture *capture);

/* The rows of a table over all captures of a side, or of both:
 *
 *   for (struct nai_side_rows r = nai_all_rows(c->sides, &nai_findings_schema); nai_next_row(&r);) {
 *     struct FINDINGS_row finding = FINDINGS_at(r.table, r.row); */
struct nai_side_rows {
  const struct nai_side *sides;
  const struct nai_schema *schema;
  const struct nai_table *table;
  int64_t row;
  int side, end; /* of sides */
  uint32_t capture;
};
struct nai_side_rows nai_rows_of_side(const struct nai_side *sides, int side, const struct nai_schema *schema);
struct nai_side_rows nai_all_rows(const struct nai_side *sides, const struct nai_schema *schema);
bool nai_next_row(struct nai_side_rows *rows);

/* How many rows of a table a side has, and what a column of integers adds up to. */
int64_t nai_side_count(const struct nai_side *sides, int side, const struct nai_schema *schema);
int64_t nai_side_sum(const struct nai_side *sides, int side, const struct nai_schema *schema, int column);
/* The same of steady steps. */
int64_t nai_steady_count(const struct nai_side *sides, int side);
int64_t nai_steady_sum(const struct nai_side *sides, int side, int column);

/* A number that may be unknown. */
int64_t nai_or_zero(int64_t value);
