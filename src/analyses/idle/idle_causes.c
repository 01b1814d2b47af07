/* Why did each GPU have nothing to do, and for how long? Table idle_causes. */
#include "analyses/idle/idle.h"
#include "base/sort.h"
#include "table/columns.h"

#include <stdlib.h>

enum {
  DEVICE,
  CAUSE,
  PARTS,
  TOTAL,
  PCT_IDLE,
  LONGEST,
  PCT_WINDOW,
  WHAT,
  WHAT_TIME,
  ACTIVE,
  ACTIVE_PARTS,
  ACTIVE_LONGEST,
  ACTIVE_LONGEST_START, /* the first two times are a row's place on the timeline: findings are about this gap */
  ACTIVE_LONGEST_END,
  ACTIVE_WHAT,
  ACTIVE_WHAT_TIME,
  LONGEST_START,
  LONGEST_END
};
static const struct nai_column_def columns[] = {
    [DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [CAUSE] = NAI_NAME_COLUMN("cause", "why the GPU had nothing to do", .key = true),
    [PARTS] =
        NAI_COUNT_COLUMN("part_count", "idle gaps with a part of this cause", .better = NAI_BETTER_LOWER, .sum = true),
    [TOTAL] = {"total_ns", NAI_I64, NAI_NS, "summed length of the parts", .prints = NAI_AS_NS | NAI_AS_MS,
               .role = NAI_ROLE_METRIC, .better = NAI_BETTER_LOWER, .sum = true},
    [PCT_IDLE] = NAI_PCT_COLUMN("pct_of_idle", "of this GPU's idle time"),
    [LONGEST] = NAI_TIME_COLUMN("longest_ns", "longest part of one gap", .better = NAI_BETTER_LOWER),
    [LONGEST_START] = NAI_START_COLUMN("longest_start_ns", "start of the gap with the longest part"),
    [LONGEST_END] = NAI_END_COLUMN("longest_end_ns", "end of the gap with the longest part"),
    [PCT_WINDOW] = NAI_PCT_COLUMN("pct_of_window", "of this GPU's window", .better = NAI_BETTER_LOWER),
    [WHAT] = NAI_LABEL_COLUMN(
        "what", "the function, overhead or NVTX range that took most of it; empty where that is less than 5 %"),
    [WHAT_TIME] = NAI_TIME_COLUMN("what_ns", "time that this took", .better = NAI_BETTER_LOWER),
    [ACTIVE] =
        NAI_TIME_COLUMN("active_ns", "of total_ns: within active spans", .better = NAI_BETTER_LOWER, .sum = true),
    [ACTIVE_PARTS] =
        NAI_COUNT_COLUMN("active_count", "of part_count: within active spans", .better = NAI_BETTER_LOWER, .sum = true),
    [ACTIVE_LONGEST] =
        NAI_TIME_COLUMN("active_longest_ns", "longest part of one gap within active spans", .better = NAI_BETTER_LOWER),
    [ACTIVE_LONGEST_START] = NAI_START_COLUMN("active_longest_start_ns", "start of that gap"),
    [ACTIVE_LONGEST_END] = NAI_END_COLUMN("active_longest_end_ns", "end of that gap"),
    [ACTIVE_WHAT] = NAI_LABEL_COLUMN("active_what", "what took most of active_ns; empty where that is less than 5 %"),
    [ACTIVE_WHAT_TIME] = NAI_TIME_COLUMN("active_what_ns", "time that this took", .better = NAI_BETTER_LOWER),
};
const struct nai_schema nai_idle_causes =
    NAI_SCHEMA("idle_causes", "Idle time by cause", "One cause on one GPU; the rows of a GPU add up to its idle time",
               columns);

/* Waits of one function in one NVTX path are one: the one that most time is charged to. `id` is the row of the first of
 * them. */
static int largest_drain(struct nai_idle_what *largest, const struct nai_model *m, uint32_t gpu, bool active_only,
                         struct nai_err *err) {
  const struct nai_gpu_idle *idle = &m->idle[gpu];
  struct nai_keyset places = {0};
  uint32_t at = 0;
  int64_t *ns = malloc(((size_t)idle->drain_count + 1) * sizeof *ns);
  uint32_t *first = malloc(((size_t)idle->drain_count + 1) * sizeof *first);
  *largest = (struct nai_idle_what){NAI_WHAT_NOTHING, 0, 0};
  for (uint32_t i = 0; ns && first && i < idle->drain_count; i++) {
    const struct nai_idle_drain *drain = &idle->drains[i];
    if (active_only && !nai_idle_gap_active(&at, m, gpu, drain->gap))
      continue;
    const struct nai_nvtx_node *node = nai_model_call_node(m, drain->wait);
    bool added;
    uint32_t place = nai_keyset_add(
        &places, nai_key_pair(nai_at_text(&m->apis.name, drain->wait), node ? (uint32_t)(node - m->nodes) + 1 : 0),
        &added);
    if (places.oom)
      break;
    first[place] = added ? drain->wait : first[place];
    ns[place] = (added ? 0 : ns[place]) + drain->ns;
  }
  bool oom = !ns || !first || places.oom;
  for (uint32_t i = 0; !oom && i < places.count; i++)
    if (ns[i] > largest->ns)
      *largest = (struct nai_idle_what){NAI_WHAT_WAIT, first[i], ns[i]};
  free(ns);
  free(first);
  nai_keyset_free(&places);
  return oom ? nai_err_nomem(err) : NAI_OK;
}

/* What takes less than a twentieth of a cause does not stand for it. `into`: columns of the time of all, what, its
 * time. */
static int put_what(struct nai_table *table, int64_t row, const int into[3], const struct nai_model *m,
                    const struct nai_idle_what *what, struct nai_err *err) {
  enum { PARTS_OF_WHOLE = 20 };
  struct nai_buf text = {0};
  if (what->ns < nai_get_i64(table, row, into[0]) / PARTS_OF_WHOLE)
    return NAI_OK;
  nai_idle_what_print(&text, m, what);
  if (what->source != NAI_WHAT_NOTHING) {
    nai_set_str(table, row, into[1], nai_buf_str(&text));
    nai_set_i64(table, row, into[2], what->ns);
  }
  bool oom = text.oom;
  nai_buf_free(&text);
  return oom ? nai_err_nomem(err) : NAI_OK;
}

static int put_active(struct nai_table *table, int64_t row, const struct nai_model *m, uint32_t gpu,
                      enum nai_idle_cause c, const struct nai_idle_active *active, const struct nai_idle_host *host,
                      struct nai_err *err) {
  static const int whats[] = {ACTIVE, ACTIVE_WHAT, ACTIVE_WHAT_TIME};
  nai_set_i64(table, row, ACTIVE, active->ns[c]);
  nai_set_i64(table, row, ACTIVE_PARTS, active->parts[c]);
  if (!active->parts[c])
    return NAI_OK;
  nai_set_i64(table, row, ACTIVE_LONGEST, active->longest_ns[c]);
  nai_set_i64(table, row, ACTIVE_LONGEST_START, active->longest[c].start);
  nai_set_i64(table, row, ACTIVE_LONGEST_END, active->longest[c].end);
  struct nai_idle_what what = c == NAI_IDLE_HOST_CODE ? nai_idle_largest(&host[gpu].active, c) : active->what[c];
  int rc = c == NAI_IDLE_QUEUE_DRAINED ? largest_drain(&what, m, gpu, true, err) : NAI_OK;
  return rc ? rc : put_what(table, row, whats, m, &what, err);
}

static int put_cause(struct nai_table *table, int64_t row, const struct nai_model *m, uint32_t gpu,
                     enum nai_idle_cause c, const struct nai_idle_host *host, struct nai_err *err) {
  static const int whats[] = {TOTAL, WHAT, WHAT_TIME};
  int64_t all = 0;
  const struct nai_gpu *of = &m->gpus[gpu];
  const struct nai_gpu_idle *idle = &m->idle[gpu];
  int64_t window = of->window_end - of->window_start;
  nai_set_i64(table, row, DEVICE, of->device_id);
  nai_set_str(table, row, CAUSE, nai_idle_cause_name(c));
  nai_set_i64(table, row, PARTS, idle->parts[c]);
  nai_set_i64(table, row, TOTAL, idle->ns[c]);
  for (int i = 0; i < NAI_IDLE_CAUSES; i++)
    all += idle->ns[i];
  nai_set_f64(table, row, PCT_IDLE, nai_percent((double)idle->ns[c], (double)all));
  nai_set_f64(table, row, PCT_WINDOW, nai_percent((double)idle->ns[c], (double)window));
  nai_set_i64(table, row, LONGEST, idle->longest_ns[c]);
  nai_set_i64(table, row, LONGEST_START, idle->longest[c].start);
  nai_set_i64(table, row, LONGEST_END, idle->longest[c].end);
  struct nai_idle_what what = c == NAI_IDLE_HOST_CODE ? nai_idle_largest(&host[gpu].all, c) : idle->what[c];
  int rc = c == NAI_IDLE_QUEUE_DRAINED ? largest_drain(&what, m, gpu, false, err) : NAI_OK;
  return rc ? rc : put_what(table, row, whats, m, &what, err);
}

int nai_put_idle_causes(struct nai_table *table, const struct nai_model *m, const struct nai_idle_host *host,
                        struct nai_err *err) {
  int rc = NAI_OK;
  for (uint32_t g = 0; !rc && g < m->gpu_count; g++) {
    struct nai_idle_active active;
    rc = nai_idle_within_active(&active, m, g, err);
    for (int c = 0; !rc && c < NAI_IDLE_CAUSES; c++) {
      if (!m->idle[g].ns[c])
        continue;
      int64_t row = nai_table_add_row(table);
      rc = put_cause(table, row, m, g, (enum nai_idle_cause)c, host, err);
      if (!rc)
        rc = put_active(table, row, m, g, (enum nai_idle_cause)c, &active, host, err);
    }
  }
  static const struct nai_sort_by order[] = {{DEVICE, false}, {TOTAL, true}, {CAUSE, false}};
  return rc ? rc : nai_table_sort(table, order, 3, err);
}
