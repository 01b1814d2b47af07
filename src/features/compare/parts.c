/* Where did the time go? A tree whose children add up to their parent on each side, so that nothing is missing: step
 * (or window) = compute + exposed communication + exposed copies + idle; idle by cause, compute by category of kernels.
 */
#include "base/strings.h"
#include "features/compare/internal.h"
#include "tables/compared_time.h"
#include "tables/idle_causes.h"
#include "tables/step_idle.h"
#include "tables/steps.h"

struct sums {
  int64_t ns[NAI_SIDES];
};

struct writer {
  struct nai_table *table;
  const struct nai_comparison *c;
  struct sums whole;
};

static double per(const struct writer *w, const struct sums *sums, int side) {
  return (double)sums->ns[side] / nai_comparison_divisor(w->c, side);
}

static void put(struct writer *w, const char *part, const char *parent, const char *title, int depth,
                const struct sums *sums) {
  double base = per(w, sums, NAI_BASE), candidate = per(w, sums, NAI_CANDIDATE), whole = per(w, &w->whole, NAI_BASE);
  double delta = nai_comparison_has_basis(w->c) ? candidate - base : (double)NAN; /* NULL: not of the same work */
  NAI_ADD(COMPARED_TIME, w->table, .part = part, .parent = parent, .title = title, .depth = depth, .base_time_ns = base,
          .new_time_ns = candidate, .delta_ns = delta, .delta_pct_of_whole = whole > 0 ? 100 * delta / whole : NAN,
          .base_sum_ns = sums->ns[NAI_BASE], .new_sum_ns = sums->ns[NAI_CANDIDATE]);
}

/* A column of the steady steps, or of the GPUs. */
static struct sums sum_of(const struct nai_comparison *c, int step_column, enum nai_gpu_time run_part) {
  struct sums out;
  for (int s = 0; s < NAI_SIDES; s++)
    out.ns[s] = c->by_step ? nai_steady_sum(c->sides, s, step_column) : nai_gpu_time(c, s, run_part);
  return out;
}

/* --- children by name ------------------------------------------------------------------------- */

struct children {
  struct nai_arena arena;
  struct nai_strings names;
  struct sums *sums;
  uint32_t capacity;
};

static void children_free(struct children *c) {
  nai_strings_free(&c->names);
  nai_arena_free(&c->arena);
}

static int add_child(struct children *to, int side, const char *name, int64_t ns, struct nai_err *err) {
  uint32_t at;
  NAI_TRY(nai_strings_put(&at, &to->names, name, err));
  NAI_TRY(NAI_ROOM(to->sums, to->capacity, at, &to->arena, err));
  to->sums[at].ns[side] += ns;
  return NAI_OK;
}

static int by_name(const void *a, const void *b, void *names) {
  return strcmp(nai_strings_get(names, *(const uint32_t *)a), nai_strings_get(names, *(const uint32_t *)b));
}

static const char *title_of(const char *parent, const char *name) {
  bool cause = strcmp(parent, "idle") == 0;
  return cause ? nai_column_label(&nai_idle_causes_schema.columns[IDLE_CAUSES_cause], name) : name;
}

static void put_child(struct writer *w, const char *parent, const char *name, const char *title,
                      const struct sums *sums) {
  NAI_SCOPED(nai_buf) part = {0};
  nai_buf_printf(&part, "%s.%s", parent, name);
  put(w, nai_buf_str(&part), parent, title, 2, sums);
  w->table->oom |= part.oom;
}

/* Puts the children in order of name, then what is left of the parent. */
static int put_children(struct writer *w, struct children *list, const char *parent, const struct sums *all,
                        const char *rest_title, struct nai_err *err) {
  NAI_SCOPED(nai_buf) rest_name = {0};
  struct sums rest = *all;
  uint32_t *order;
  NAI_TRY(NAI_NEW(order, &list->arena, list->names.count, err));
  for (uint32_t i = 0; i < list->names.count; i++)
    order[i] = i;
  qsort_r(order, list->names.count, sizeof *order, by_name, &list->names);
  for (uint32_t i = 0; i < list->names.count; i++) {
    const char *name = nai_strings_get(&list->names, order[i]);
    put_child(w, parent, name, title_of(parent, name), &list->sums[order[i]]);
    for (int s = 0; s < NAI_SIDES; s++)
      rest.ns[s] -= list->sums[order[i]].ns[s];
  }
  nai_buf_puts(&rest_name, "rest");
  while (nai_strings_find(&list->names, nai_buf_str(&rest_name), rest_name.len) != NAI_NO_STRING && !rest_name.oom)
    nai_buf_putc(&rest_name, '_'); /* a class of the user's may be called so */
  if (rest.ns[NAI_BASE] || rest.ns[NAI_CANDIDATE])
    put_child(w, parent, nai_buf_str(&rest_name), rest_title, &rest);
  return nai_buf_check(&rest_name, err);
}

static int put_idle(struct writer *w, const struct sums *idle, struct nai_err *err) {
  NAI_SCOPED(children) list = {.arena = NAI_ARENA(NULL)};
  bool by_step = w->c->by_step;
  int name = by_step ? STEP_IDLE_cause : IDLE_CAUSES_cause, ns = by_step         ? STEP_IDLE_total_ns
                                                               : w->c->by_active ? IDLE_CAUSES_active_ns
                                                                                 : IDLE_CAUSES_total_ns;
  struct nai_side_rows r = nai_all_rows(w->c->sides, by_step ? &nai_step_idle_schema : &nai_idle_causes_schema);
  put(w, "idle", "whole", "idle", 1, idle);
  while (nai_next_row(&r))
    NAI_TRY(
        add_child(&list, r.side, nai_get_str(r.table, r.row, name), nai_or_zero(nai_get_i64(r.table, r.row, ns)), err));
  return put_children(w, &list, "idle", idle, "other idle time", err);
}

/* Summed durations of kernels that compute; what is left is counted twice in them, or no kernel. */
static int put_compute(struct writer *w, const struct sums *compute, struct nai_err *err) {
  NAI_SCOPED(children) list = {.arena = NAI_ARENA(NULL)};
  put(w, "compute", "whole", "compute", 1, compute);
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < w->c->uses[s].count; i++) {
      const struct nai_kernel_use *use = &w->c->uses[s].list[i];
      if (strcmp(use->category, "communication") != 0)
        NAI_TRY(add_child(&list, s, use->category, use->ns, err));
    }
  return put_children(w, &list, "compute", compute,
                      w->c->by_step ? "kernels that overlap (counted once), whole graphs, work of neighboring steps"
                                    : "kernels that overlap (counted once), whole graphs, work outside active time",
                      err);
}

int nai_fill_time(struct nai_table *out, const struct nai_comparison *c, struct nai_err *err) {
  struct writer w = {out, c, sum_of(c, STEPS_duration_ns, NAI_GPU_WHOLE)};
  struct sums compute = sum_of(c, STEPS_compute_ns, NAI_GPU_COMPUTE),
              comm = sum_of(c, STEPS_exposed_comm_ns, NAI_GPU_EXPOSED_COMM),
              copy = sum_of(c, STEPS_exposed_copy_ns, NAI_GPU_EXPOSED_COPY),
              idle = sum_of(c, STEPS_idle_ns, NAI_GPU_IDLE);
  put(&w, "whole", NULL,
      c->by_step     ? "step"
      : c->unit      ? "repetition"
      : c->by_active ? "active time of a GPU"
                     : "window of a GPU",
      0, &w.whole);
  NAI_TRY(put_compute(&w, &compute, err));
  put(&w, "exposed_comm", "whole", "exposed communication", 1, &comm);
  put(&w, "exposed_copy", "whole", "exposed copies", 1, &copy);
  return put_idle(&w, &idle, err);
}
