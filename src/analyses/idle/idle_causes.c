/* Why did each GPU have nothing to do, and for how long? Table idle_causes. */
#include "analyses/idle/idle.h"
#include "base/sort.h"
#include "tables/idle_causes.h"

#include <stdlib.h>

/* Waits of one function in one NVTX path are one: the one that most time is charged to. `id` is the row of the first of
 * them. */
static int largest_drain(struct nai_idle_culprit *largest, const struct nai_model *m, uint32_t gpu, bool active_only,
                         struct nai_err *err) {
  const struct nai_gpu_idle *idle = &m->idle[gpu];
  struct nai_keyset places = {0};
  uint32_t at = 0;
  int64_t *ns = malloc(((size_t)idle->drain_count + 1) * sizeof *ns);
  uint32_t *first = malloc(((size_t)idle->drain_count + 1) * sizeof *first);
  *largest = (struct nai_idle_culprit){NAI_CULPRIT_NOTHING, 0, 0};
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
      *largest = (struct nai_idle_culprit){NAI_CULPRIT_WAIT, first[i], ns[i]};
  free(ns);
  free(first);
  nai_keyset_free(&places);
  return oom ? nai_err_nomem(err) : NAI_OK;
}

/* What takes less than a twentieth of a cause does not stand for it. `into`: columns of the time of all, what, its
 * time. */
static int put_what(struct nai_table *table, int64_t row, const int into[3], const struct nai_model *m,
                    const struct nai_idle_culprit *what, struct nai_err *err) {
  enum { PARTS_OF_WHOLE = 20 };
  struct nai_buf text = {0};
  if (what->ns < nai_get_i64(table, row, into[0]) / PARTS_OF_WHOLE)
    return NAI_OK;
  nai_idle_culprit_put(&text, m, what);
  if (what->source != NAI_CULPRIT_NOTHING) {
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
  static const int whats[] = {IDLE_CAUSES_active_ns, IDLE_CAUSES_active_what, IDLE_CAUSES_active_what_ns};
  nai_set_i64(table, row, IDLE_CAUSES_active_ns, active->ns[c]);
  nai_set_i64(table, row, IDLE_CAUSES_active_count, active->parts[c]);
  if (!active->parts[c])
    return NAI_OK;
  nai_set_i64(table, row, IDLE_CAUSES_active_longest_ns, active->longest_ns[c]);
  nai_set_i64(table, row, IDLE_CAUSES_active_longest_start_ns, active->longest[c].start);
  nai_set_i64(table, row, IDLE_CAUSES_active_longest_end_ns, active->longest[c].end);
  struct nai_idle_culprit what = c == NAI_IDLE_HOST_CODE ? nai_idle_largest(&host[gpu].active, c) : active->what[c];
  int rc = c == NAI_IDLE_QUEUE_DRAINED ? largest_drain(&what, m, gpu, true, err) : NAI_OK;
  return rc ? rc : put_what(table, row, whats, m, &what, err);
}

static int put_cause(struct nai_table *table, int64_t row, const struct nai_model *m, uint32_t gpu,
                     enum nai_idle_cause c, const struct nai_idle_host *host, struct nai_err *err) {
  static const int whats[] = {IDLE_CAUSES_total_ns, IDLE_CAUSES_what, IDLE_CAUSES_what_ns};
  int64_t all = 0;
  const struct nai_gpu *of = &m->gpus[gpu];
  const struct nai_gpu_idle *idle = &m->idle[gpu];
  int64_t window = of->window_end - of->window_start;
  nai_set_i64(table, row, IDLE_CAUSES_device_id, of->device_id);
  nai_set_str(table, row, IDLE_CAUSES_cause, nai_idle_cause_name(c));
  nai_set_i64(table, row, IDLE_CAUSES_part_count, idle->parts[c]);
  nai_set_i64(table, row, IDLE_CAUSES_total_ns, idle->ns[c]);
  for (int i = 0; i < NAI_IDLE_CAUSES; i++)
    all += idle->ns[i];
  nai_set_f64(table, row, IDLE_CAUSES_pct_of_idle, nai_percent((double)idle->ns[c], (double)all));
  nai_set_f64(table, row, IDLE_CAUSES_pct_of_window, nai_percent((double)idle->ns[c], (double)window));
  nai_set_i64(table, row, IDLE_CAUSES_longest_ns, idle->longest_ns[c]);
  nai_set_i64(table, row, IDLE_CAUSES_longest_start_ns, idle->longest[c].start);
  nai_set_i64(table, row, IDLE_CAUSES_longest_end_ns, idle->longest[c].end);
  struct nai_idle_culprit what = c == NAI_IDLE_HOST_CODE ? nai_idle_largest(&host[gpu].all, c) : idle->what[c];
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
  return rc;
}
