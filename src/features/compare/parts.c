/* Where did the time go? A tree whose children add up to their parent on each side, so that nothing is missing: step
 * (or window) = compute + exposed communication + exposed copies + idle; idle by cause, compute by category of kernels.
 */
#include "features/compare/internal.h"

#include "base/array.h"
#include "tables/compared_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sums {
  int64_t ns[NAI_SIDES];
};

struct writer {
  struct nai_table *table;
  const struct nai_comparison *c;
  struct sums whole;
};

static double per(const struct nai_comparison *c, const struct sums *sums, int side) {
  return (double)sums->ns[side] / (c->divisor[side] ? (double)c->divisor[side] : 1);
}

static void put(struct writer *w, const char *part, const char *parent, const char *title, int depth,
                const struct sums *sums) {
  int64_t row = nai_table_add_row(w->table);
  double base = per(w->c, sums, NAI_BASE), fresh = per(w->c, sums, NAI_NEW), whole = per(w->c, &w->whole, NAI_BASE);
  nai_set_str(w->table, row, COMPARED_TIME_part, part);
  nai_set_str(w->table, row, COMPARED_TIME_parent, parent);
  nai_set_str(w->table, row, COMPARED_TIME_title, title);
  nai_set_i64(w->table, row, COMPARED_TIME_depth, depth);
  nai_set_f64(w->table, row, COMPARED_TIME_base_time_ns, base);
  nai_set_f64(w->table, row, COMPARED_TIME_new_time_ns, fresh);
  nai_set_f64(w->table, row, COMPARED_TIME_delta_ns, fresh - base);
  if (whole > 0)
    nai_set_f64(w->table, row, COMPARED_TIME_delta_pct_of_whole, 100 * (fresh - base) / whole);
  nai_set_i64(w->table, row, COMPARED_TIME_base_sum_ns, sums->ns[NAI_BASE]);
  nai_set_i64(w->table, row, COMPARED_TIME_new_sum_ns, sums->ns[NAI_NEW]);
}

/* A column of the steady steps, or of the GPUs. */
static struct sums sum_of(const struct nai_comparison *c, const char *step_column, const char *run_column) {
  struct sums out;
  for (int s = 0; s < NAI_SIDES; s++)
    out.ns[s] = c->by_step ? nai_side_sum(&c->sides[s], "steps", step_column, "state", "steady")
                           : nai_side_sum(&c->sides[s], "gpu_utilization", run_column, NULL, NULL);
  return out;
}

/* --- children by name ------------------------------------------------------------------------- */

struct children {
  struct nai_strings names;
  struct sums *sums;
  uint32_t capacity;
};

static int add_child(struct children *to, int side, const char *name, int64_t ns, struct nai_err *err) {
  uint32_t known = to->names.count, at = nai_strings_add(&to->names, name, strlen(name));
  if (at == NAI_NO_STRING || !nai_array_room(&to->sums, &to->capacity, at, sizeof *to->sums))
    return nai_err_nomem(err);
  if (to->names.count > known)
    to->sums[at] = (struct sums){{0}};
  to->sums[at].ns[side] += ns;
  return NAI_OK;
}

static void free_children(struct children *c) {
  nai_strings_free(&c->names);
  free(c->sums);
}

static int by_name(const void *a, const void *b, void *names) {
  return strcmp(nai_strings_get(names, *(const uint32_t *)a), nai_strings_get(names, *(const uint32_t *)b));
}

/* Puts the children in order of name, then what is left of the parent. */
static int put_children(struct writer *w, struct children *list, const char *parent, const struct sums *all,
                        const char *rest_title, struct nai_err *err) {
  uint32_t *order = malloc(((size_t)list->names.count + 1) * sizeof *order);
  struct sums rest = *all;
  struct nai_buf part = {0}, left = {0};
  if (!order)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < list->names.count; i++)
    order[i] = i;
  qsort_r(order, list->names.count, sizeof *order, by_name, &list->names);
  for (uint32_t i = 0; i < list->names.count; i++) {
    const struct sums *sums = &list->sums[order[i]];
    const char *name = nai_strings_get(&list->names, order[i]);
    nai_buf_clear(&part);
    nai_buf_printf(&part, "%s.%s", parent, name);
    put(w, nai_buf_str(&part), parent, name, 2, sums);
    rest.ns[0] -= sums->ns[0];
    rest.ns[1] -= sums->ns[1];
  }
  nai_buf_puts(&left, "rest");
  while (nai_strings_find(&list->names, nai_buf_str(&left), left.len) != NAI_NO_STRING && !left.oom)
    nai_buf_putc(&left, '_'); /* a class of the user's may be called so */
  nai_buf_clear(&part);
  nai_buf_printf(&part, "%s.%s", parent, nai_buf_str(&left));
  if (rest.ns[0] || rest.ns[1])
    put(w, nai_buf_str(&part), parent, rest_title, 2, &rest);
  free(order);
  nai_buf_free(&left);
  bool stored = !part.oom && !left.oom;
  nai_buf_free(&part);
  return stored ? NAI_OK : nai_err_nomem(err);
}

static int put_idle(struct writer *w, const struct sums *idle, struct nai_err *err) {
  const char *name = w->c->by_step ? "step_idle" : "idle_causes", *column = "total_ns";
  struct children list = {0};
  int rc = NAI_OK;
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < w->c->sides[s].count; i++) {
      const struct nai_table *t = nai_capture_table(&w->c->sides[s].captures[i], name);
      for (int64_t row = 0; !rc && t && row < t->rows; row++)
        rc = add_child(&list, s, nai_cell_str(t, row, "cause"), nai_cell_i64(t, row, column), err);
    }
  put(w, "idle", "whole", "idle", 1, idle);
  if (!rc)
    rc = put_children(w, &list, "idle", idle, "other idle time", err);
  free_children(&list);
  return rc;
}

/* Summed durations of kernels that compute; what is left is counted twice in them, or no kernel. */
static int put_compute(struct writer *w, const struct sums *compute, struct nai_err *err) {
  struct children list = {0};
  int rc = NAI_OK;
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; !rc && i < w->c->use_count[s]; i++)
      if (strcmp(w->c->uses[s][i].category, "communication") != 0)
        rc = add_child(&list, s, w->c->uses[s][i].category, w->c->uses[s][i].ns, err);
  put(w, "compute", "whole", "compute", 1, compute);
  if (!rc)
    rc = put_children(w, &list, "compute", compute,
                      "kernels that overlap (counted once), whole graphs, work of neighbouring steps", err);
  free_children(&list);
  return rc;
}

int nai_parts_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  int rc = nai_table_new(out, &nai_compared_time_schema, err);
  struct writer w = {.table = *out, .c = c};
  if (rc)
    return rc;
  w.whole = sum_of(c, "duration_ns", "window_ns");
  struct sums compute = sum_of(c, "compute_ns", "compute_ns"), comm = sum_of(c, "exposed_comm_ns", "exposed_comm_ns"),
              copy = sum_of(c, "exposed_copy_ns", "exposed_copy_ns"), idle = sum_of(c, "idle_ns", "idle_ns");
  put(&w, "whole", NULL, c->by_step ? "step" : "window of a GPU", 0, &w.whole);
  rc = put_compute(&w, &compute, err);
  put(&w, "exposed_comm", "whole", "exposed communication", 1, &comm);
  put(&w, "exposed_copy", "whole", "exposed copies", 1, &copy);
  return rc ? rc : put_idle(&w, &idle, err);
}
