/* What did the CPU do while GPUs had nothing to do? Tables gap_activity and gap_functions. */
#include "analyses/analysis.h"
#include "analyses/cpu/gap_subjects.h"
#include "model/idle/gap_names.h"
#include "tables/gap_activity.h"
#include "tables/gap_functions.h"
#include "tables/gpu_idle_gaps.h"
#include "tables/idle_patterns.h"
#include "tables/threads.h"

/* --- functions ---------------------------------------------------------------------------------- */

static double share_of(int64_t ns, const struct nai_activity *a) {
  return a->ns ? nai_percent((double)ns, (double)a->ns) : NAN;
}

static void put_layer(struct nai_table *table, int64_t subject, const struct nai_model *m, const struct nai_activity *a,
                      enum nai_activity_layer layer) {
  const char *name = nai_activity_layer_name(layer);
  int64_t before = table->rows, rest = a->ns - a->layer_ns[layer];
  for (uint32_t i = 0; i < a->keys.count; i++) {
    const struct nai_activity_share *s = &a->shares[i];
    if (s->layer == layer)
      NAI_ADD(GAP_FUNCTIONS, table, .subject = subject, .layer = name,
              .class = layer == NAI_ACTIVITY_OSRT ? nai_osrt_class_name(s->class) : NULL,
              .function = nai_activity_name(m, s), .caller = s->caller ? nai_chain_name(m, s->caller) : NULL,
              .time_ns = s->ns, .pct = share_of(s->ns, a), .count = s->count);
  }
  if (table->rows > before && layer != NAI_ACTIVITY_LAUNCH && rest > 0)
    NAI_ADD(GAP_FUNCTIONS, table, .subject = subject, .layer = name, .class = "rest", .time_ns = rest,
            .pct = share_of(rest, a));
}

static void put_functions(struct nai_table *table, int64_t subject, const struct nai_model *m,
                          const struct nai_activity *a) {
  const struct {
    const char *class;
    int64_t ns;
  } sched[] = {{"on_cpu", a->cpu.on_ns}, {"off_cpu", a->cpu.off_ns}, {"unknown", a->cpu.unknown_ns}};
  for (int layer = 0; layer < NAI_ACTIVITY_LAYERS; layer++)
    put_layer(table, subject, m, a, (enum nai_activity_layer)layer);
  for (size_t i = 0; (a->cpu.on_ns || a->cpu.off_ns) && i < sizeof sched / sizeof *sched; i++)
    if (sched[i].ns)
      NAI_ADD(GAP_FUNCTIONS, table, .subject = subject, .layer = "scheduling", .class = sched[i].class,
              .time_ns = sched[i].ns, .pct = share_of(sched[i].ns, a));
}

/* --- activity ----------------------------------------------------------------------------------- */

static void add_gap(struct GAP_ACTIVITY_row *row, char room[NAI_KIND_NAME_MAX], const struct nai_model *m,
                    const struct nai_gap_subject *s) {
  if (s->gpu == NAI_NO_ROW)
    return;
  row->device_id = m->gpus[s->gpu].device_id;
  if (s->scope == NAI_SCOPE_HOST_CODE) {
    row->cause = nai_idle_cause_name(NAI_IDLE_HOST_CODE);
    return;
  }
  row->cause = nai_idle_cause_name((enum nai_idle_cause)m->idle[s->gpu].cause[s->gap.number]);
  row->next_op = nai_next_op_name(room, m, &s->gap);
  row->launch_api = nai_launch_function(m, s->gap.launch);
  row->nvtx_range = nai_launch_range(m, s->gap.launch);
}

/* Only what the export tells. */
static void add_evidence(struct GAP_ACTIVITY_row *row, const struct nai_model *m, const struct nai_activity *a,
                         bool knows_collections) {
  row->cuda_api_ns = a->layer_ns[NAI_ACTIVITY_API];
  if (m->tables[NAI_IN_OVERHEAD]->rows)
    row->overhead_ns = a->layer_ns[NAI_ACTIVITY_OVERHEAD];
  if (nai_model_osrt_calls(m))
    row->os_runtime_ns = a->layer_ns[NAI_ACTIVITY_OSRT];
  if (m->cpu->samples.thread_count) {
    row->sample_count = a->samples;
    row->sampled_ns = a->layer_ns[NAI_ACTIVITY_SAMPLES];
  }
  if (m->cpu->sched.thread_count) {
    row->on_cpu_ns = a->cpu.on_ns;
    row->off_cpu_ns = a->cpu.off_ns;
    row->sched_unknown_ns = a->cpu.unknown_ns;
  }
  if (m->cpu->tells_runnable)
    row->preempted_ns = a->cpu.preempted_ns;
  if (m->cpu->chain_count)
    row->gil_ns = a->gil_ns;
  if (m->cpu->chain_count || knows_collections)
    row->gc_ns = a->gc_ns;
}

static void add_functions(struct GAP_ACTIVITY_row *row, const struct nai_model *m, const struct nai_activity *a) {
  const struct nai_activity_share *most = nai_activity_main(a);
  if (most) {
    row->function = nai_activity_name(m, most);
    row->function_pct = nai_percent((double)most->ns, (double)a->ns);
  }
  for (uint32_t i = 0; i < a->keys.count && !row->launched_from; i++)
    if (a->shares[i].layer == NAI_ACTIVITY_LAUNCH)
      row->launched_from = nai_activity_name(m, &a->shares[i]);
}

/* Whom the thread waits for, as far as scheduling tells. */
static void add_waker(struct GAP_ACTIVITY_row *row, const struct nai_node_io *io, const struct nai_gap_subject *s) {
  const int64_t tid = nai_get_i64(io->model->tables[NAI_IN_THREADS], s->thread, THREADS_global_tid);
  const struct nai_waker waker = nai_waker_of(&s->wakes, io->model, tid);
  if (waker.thread < 0)
    return;
  row->woken_by = nai_thread_label(io->model, waker.thread, io->arena);
  row->woken_count = waker.count;
  row->sleep_count = s->wakes.count;
}

static void add_workers(struct GAP_ACTIVITY_row *row, const struct nai_workers *workers,
                        const struct nai_gap_subject *s) {
  const double busy = nai_workers_busy(workers, s->thread, &s->stretches);
  if (!isnan(busy))
    row->busy_threads = llround(busy);
}

static int put_subject(const struct nai_node_io *io, const struct nai_gap_subjects *all, uint32_t number,
                       struct nai_err *err) {
  static const char *const scopes[NAI_SCOPES] = {"gap", "pattern", "host_code", "set_up", "before_work", "after_work"};
  const struct nai_model *m = io->model;
  const struct nai_gap_subject *s = &all->v[number];
  char room[NAI_KIND_NAME_MAX];
  NAI_SCOPED(nai_buf) activity = {0};
  struct GAP_ACTIVITY_row row =
      NAI_ROW(GAP_ACTIVITY, .scope = scopes[s->scope], .start_ns = s->gap.start, .end_ns = s->gap.end,
              .gap_count = s->gaps, .total_ns = s->thread < 0 ? s->gap.end - s->gap.start : s->does.ns);
  add_gap(&row, room, m, s);
  if (s->thread >= 0) {
    row.thread = nai_thread_label(m, s->thread, io->arena);
    row.pid = nai_get_i64(m->tables[NAI_IN_THREADS], s->thread, THREADS_pid);
    row.tid = nai_get_i64(m->tables[NAI_IN_THREADS], s->thread, THREADS_tid);
    nai_activity_print(&activity, m, &s->does);
    row.activity = activity.len ? nai_buf_str(&activity) : NULL;
    add_evidence(&row, m, &s->does, all->collections.count > 0);
    add_functions(&row, m, &s->does);
    add_waker(&row, io, s);
    add_workers(&row, &all->workers, s);
  }
  GAP_ACTIVITY_add(io->out[0], &row);
  return nai_buf_check(&activity, err);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  NAI_SCOPED(nai_gap_subjects) subjects = {0};
  NAI_TRY(nai_gap_subjects_find(&subjects, io, err));
  for (uint32_t i = 0; i < subjects.count; i++) {
    NAI_TRY(put_subject(io, &subjects, i, err));
    put_functions(io->out[1], i, io->model, &subjects.v[i].does);
  }
  return NAI_OK;
}

NAI_ANALYSIS(gap_activity, .outputs = NAI_SCHEMAS(&nai_gap_activity_schema, &nai_gap_functions_schema),
             .inputs = NAI_SCHEMAS(&nai_gpu_idle_gaps_schema, &nai_idle_patterns_schema),
             .parts = NAI_PART(ACTIVE) | NAI_PART(IDLE) | NAI_PART(EVIDENCE) | NAI_PART(CPU) | NAI_PART(GPUS) |
                      NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(NVTX_TREE) | NAI_PART(NAMES),
             .tables = NAI_IN(LABELS), .run = run)
