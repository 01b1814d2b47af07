/* Why did each GPU have nothing to do, and for how long? Table idle_causes. */
#include "analyses/idle/idle.h"
#include "model/idle/active.h"
#include "tables/idle_causes.h"

/* The words for what took time, NULL for nothing; the arena's. */
static const char *culprit_text(const struct nai_node_io *io, const struct nai_idle_culprit *what) {
  NAI_SCOPED(nai_buf) text = {0};
  if (what->source == NAI_CULPRIT_NOTHING)
    return NULL;
  nai_idle_culprit_put(&text, io->model, what);
  io->arena->oom |= text.oom;
  return nai_arena_printf(io->arena, "%s", nai_buf_str(&text));
}

/* --- within active spans ------------------------------------------------------------------------ */

/* Is there nothing but activity on the GPU? */
static bool all_active(const struct nai_model *m, uint32_t gpu) {
  for (uint32_t i = 0; m->active && i < m->active[gpu].count; i++)
    if (m->active[gpu].spans[i].kind != NAI_SPAN_IS_ACTIVE)
      return false;
  return true;
}

static void take_gap(struct nai_gpu_idle *active, const struct nai_idle_split *split, const struct nai_idle_gap *gap) {
  for (int c = 0; c < NAI_IDLE_CAUSES; c++) {
    active->ns[c] += split->ns[c];
    active->parts[c] += split->ns[c] > 0;
    if (split->ns[c] > active->longest_ns[c]) {
      active->longest_ns[c] = split->ns[c];
      active->longest[c] = (struct nai_interval){gap->start, gap->end};
    }
  }
}

/* Sums of the gaps without pauses, set-up and checks: only a GPU that has some has its gaps cut again. */
static int find_active(struct nai_gpu_idle *active, const struct nai_model *m, uint32_t gpu, struct nai_err *err) {
  NAI_SCOPED(nai_idle_shares) shares = {0};
  uint32_t at = 0;
  *active = m->idle[gpu];
  if (all_active(m, gpu))
    return NAI_OK;
  *active = (struct nai_gpu_idle){0};
  for (struct nai_idle_gap gap = nai_idle_first(gpu); nai_idle_next(&gap, m);) {
    struct nai_idle_split split;
    if (!nai_idle_gap_active(&at, m, gpu, gap.number))
      continue;
    NAI_TRY(nai_idle_split_again(&split, &shares, NULL, m, &gap, err));
    take_gap(active, &split, &gap);
  }
  for (int c = 0; c < NAI_IDLE_CAUSES; c++)
    active->what[c] = nai_idle_largest(&shares, (enum nai_idle_cause)c);
  return shares.oom ? nai_err_nomem(err) : NAI_OK;
}

/* --- what took the time ------------------------------------------------------------------------- */

/* Waits of one function in one NVTX path are one: the one that most time is charged to. `id` is the row of the first of
 * them. */
static int largest_drain(struct nai_idle_culprit *largest, const struct nai_model *m, uint32_t gpu, bool active_only,
                         struct nai_err *err) {
  const struct nai_gpu_idle *idle = &m->idle[gpu];
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_keyset places = {.arena = &arena};
  struct nai_idle_culprit *sums;
  uint32_t at = 0;
  NAI_TRY(NAI_NEW(sums, &arena, idle->drain_count, err));
  for (uint32_t i = 0; i < idle->drain_count; i++) {
    const struct nai_idle_drain *drain = &idle->drains[i];
    if (active_only && !nai_idle_gap_active(&at, m, gpu, drain->gap))
      continue;
    const struct nai_nvtx_node *node = nai_model_call_node(m, drain->wait);
    bool added;
    uint32_t place = nai_keyset_add(
        &places, nai_key_pair(nai_val_text(&m->apis.name, drain->wait), node ? (uint32_t)(node - m->nodes) + 1 : 0),
        &added);
    NAI_TRY(nai_memory_check(!places.oom, err));
    if (added)
      sums[place] = (struct nai_idle_culprit){NAI_CULPRIT_WAIT, drain->wait, 0};
    sums[place].ns += drain->ns;
  }
  *largest = (struct nai_idle_culprit){NAI_CULPRIT_NOTHING, 0, 0};
  for (uint32_t i = 0; i < places.count; i++)
    if (sums[i].ns > largest->ns)
      *largest = sums[i];
  return NAI_OK;
}

/* What takes less than a twentieth of a cause does not stand for it. idle: all gaps, or the active ones. */
static int find_culprit(struct nai_idle_culprit *what, const struct nai_model *m, uint32_t gpu, enum nai_idle_cause c,
                        const struct nai_gpu_idle *idle, const struct nai_idle_shares *host, bool active_only,
                        struct nai_err *err) {
  enum { PARTS_OF_WHOLE = 20 };
  *what = c == NAI_IDLE_HOST_CODE ? nai_idle_largest(host, c) : idle->what[c];
  if (c == NAI_IDLE_QUEUE_DRAINED)
    NAI_TRY(largest_drain(what, m, gpu, active_only, err));
  if (what->ns < idle->ns[c] / PARTS_OF_WHOLE)
    what->source = NAI_CULPRIT_NOTHING;
  return NAI_OK;
}

/* --- rows ----------------------------------------------------------------------------------------- */

static int add_active(struct IDLE_CAUSES_row *row, const struct nai_node_io *io, uint32_t gpu, enum nai_idle_cause c,
                      const struct nai_gpu_idle *active, const struct nai_idle_host *host, struct nai_err *err) {
  struct nai_idle_culprit what;
  row->active_ns = active->ns[c];
  row->active_count = active->parts[c];
  if (!active->parts[c])
    return NAI_OK;
  row->active_longest_ns = active->longest_ns[c];
  row->active_longest_start_ns = active->longest[c].start;
  row->active_longest_end_ns = active->longest[c].end;
  NAI_TRY(find_culprit(&what, io->model, gpu, c, active, &host->active, true, err));
  row->active_what = culprit_text(io, &what);
  row->active_what_ns = row->active_what ? what.ns : NAI_NULL_I64;
  return NAI_OK;
}

static int put_cause(const struct nai_node_io *io, struct nai_table *table, uint32_t gpu, enum nai_idle_cause c,
                     const struct nai_gpu_idle *active, const struct nai_idle_host *host, struct nai_err *err) {
  const struct nai_gpu *of = &io->model->gpus[gpu];
  const struct nai_gpu_idle *idle = &io->model->idle[gpu];
  struct nai_idle_culprit what;
  int64_t all = 0;
  for (int i = 0; i < NAI_IDLE_CAUSES; i++)
    all += idle->ns[i];
  NAI_TRY(find_culprit(&what, io->model, gpu, c, idle, &host->all, false, err));
  struct IDLE_CAUSES_row row =
      NAI_ROW(IDLE_CAUSES, .device_id = of->device_id, .cause = nai_idle_cause_name(c), .part_count = idle->parts[c],
              .total_ns = idle->ns[c], .pct_of_idle = nai_percent((double)idle->ns[c], (double)all),
              .longest_ns = idle->longest_ns[c],
              .pct_of_window = nai_percent((double)idle->ns[c], (double)(of->window_end - of->window_start)),
              .what = culprit_text(io, &what), .longest_start_ns = idle->longest[c].start,
              .longest_end_ns = idle->longest[c].end);
  row.what_ns = row.what ? what.ns : NAI_NULL_I64;
  NAI_TRY(add_active(&row, io, gpu, c, active, host, err));
  IDLE_CAUSES_add(table, &row);
  return NAI_OK;
}

int nai_put_idle_causes(const struct nai_node_io *io, struct nai_table *table, const struct nai_idle_host *host,
                        struct nai_err *err) {
  for (uint32_t g = 0; g < io->model->gpu_count; g++) {
    struct nai_gpu_idle active;
    NAI_TRY(find_active(&active, io->model, g, err));
    for (int c = 0; c < NAI_IDLE_CAUSES; c++)
      if (io->model->idle[g].ns[c])
        NAI_TRY(put_cause(io, table, g, (enum nai_idle_cause)c, &active, &host[g], err));
  }
  return NAI_OK;
}
