/* What did the CPU do while GPUs had nothing to do? Tables gap_activity and gap_functions. */
#include "analyses/cpu/gap_subjects.h"
#include "analyses/idle/idle.h"
#include "tables/gap_activity.h"
#include "tables/gap_functions.h"
#include "tables/gpu_idle_gaps.h"
#include "tables/idle_patterns.h"
#include "tables/threads.h"

static void put_function(struct nai_table *table, int64_t subject, const char *layer, const char *class,
                         const char *function, int64_t ns, int64_t of) {
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, GAP_FUNCTIONS_subject, subject);
  nai_set_str(table, row, GAP_FUNCTIONS_layer, layer);
  nai_set_str(table, row, GAP_FUNCTIONS_class, class);
  nai_set_str(table, row, GAP_FUNCTIONS_function, function);
  nai_set_i64(table, row, GAP_FUNCTIONS_time_ns, ns);
  if (of)
    nai_set_f64(table, row, GAP_FUNCTIONS_pct, nai_percent((double)ns, (double)of));
}

static void put_layer(struct nai_table *table, int64_t subject, const struct nai_model *m, const struct nai_activity *a,
                      enum nai_activity_layer layer) {
  const char *name = nai_activity_layer_name(layer);
  bool any = false;
  for (uint32_t i = 0; i < a->keys.count; i++) {
    const struct nai_activity_share *s = &a->shares[i];
    if (s->layer != layer)
      continue;
    put_function(table, subject, name, layer == NAI_ACTIVITY_OSRT ? nai_osrt_class_name(s->class) : NULL,
                 nai_activity_name(m, s), s->ns, a->ns);
    nai_set_i64(table, table->rows - 1, GAP_FUNCTIONS_count, s->count);
    nai_set_str(table, table->rows - 1, GAP_FUNCTIONS_caller, s->caller ? nai_chain_name(m, s->caller) : NULL);
    any = true;
  }
  if (any && layer != NAI_ACTIVITY_LAUNCH && a->layer_ns[layer] < a->ns)
    put_function(table, subject, name, "rest", NULL, a->ns - a->layer_ns[layer], a->ns);
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
      put_function(table, subject, "scheduling", sched[i].class, NULL, sched[i].ns, a->ns);
}

static void put_names(struct nai_table *table, int64_t row, const struct nai_model *m,
                      const struct nai_gap_subject *s) {
  char room[NAI_KIND_NAME_MAX];
  if (s->scope == NAI_SCOPE_SET_UP)
    return;
  nai_set_i64(table, row, GAP_ACTIVITY_device_id, m->gpus[s->gpu].device_id);
  if (s->scope == NAI_SCOPE_HOST_CODE) {
    nai_set_str(table, row, GAP_ACTIVITY_cause, nai_idle_cause_name(NAI_IDLE_HOST_CODE));
    return;
  }
  nai_set_str(table, row, GAP_ACTIVITY_cause,
              nai_idle_cause_name((enum nai_idle_cause)m->idle[s->gpu].cause[s->gap.number]));
  nai_set_str(table, row, GAP_ACTIVITY_next_op, nai_next_op_name(room, m, &s->gap));
  nai_set_str(table, row, GAP_ACTIVITY_launch_api,
              s->gap.launch == NAI_NO_ROW ? NULL : nai_model_api_name(m, s->gap.launch));
  nai_set_str(table, row, GAP_ACTIVITY_nvtx_range, nai_launch_range(m, s->gap.launch));
}

static const struct nai_activity_share *most_launches(const struct nai_activity *a) {
  for (uint32_t i = 0; i < a->keys.count; i++)
    if (a->shares[i].layer == NAI_ACTIVITY_LAUNCH)
      return &a->shares[i];
  return NULL;
}

static void put_evidence(struct nai_table *table, int64_t row, const struct nai_model *m, const struct nai_activity *a,
                         bool knows_collections) {
  nai_set_i64(table, row, GAP_ACTIVITY_cuda_api_ns, a->layer_ns[NAI_ACTIVITY_API]);
  if (m->tables[NAI_IN_OVERHEAD]->rows)
    nai_set_i64(table, row, GAP_ACTIVITY_overhead_ns, a->layer_ns[NAI_ACTIVITY_OVERHEAD]);
  if (nai_model_osrt_calls(m))
    nai_set_i64(table, row, GAP_ACTIVITY_os_runtime_ns, a->layer_ns[NAI_ACTIVITY_OSRT]);
  if (m->cpu->samples.thread_count) {
    nai_set_i64(table, row, GAP_ACTIVITY_sample_count, a->samples);
    nai_set_i64(table, row, GAP_ACTIVITY_sampled_ns, a->layer_ns[NAI_ACTIVITY_SAMPLES]);
  }
  if (m->cpu->sched.thread_count) {
    nai_set_i64(table, row, GAP_ACTIVITY_on_cpu_ns, a->cpu.on_ns);
    nai_set_i64(table, row, GAP_ACTIVITY_off_cpu_ns, a->cpu.off_ns);
    nai_set_i64(table, row, GAP_ACTIVITY_sched_unknown_ns, a->cpu.unknown_ns);
  }
  if (m->cpu->tells_runnable)
    nai_set_i64(table, row, GAP_ACTIVITY_preempted_ns, a->cpu.preempted_ns);
  if (m->cpu->chain_count)
    nai_set_i64(table, row, GAP_ACTIVITY_gil_ns, a->gil_ns);
  if (m->cpu->chain_count || knows_collections)
    nai_set_i64(table, row, GAP_ACTIVITY_gc_ns, a->gc_ns);
}

static void put_words(struct nai_table *table, int64_t row, const struct nai_model *m, const struct nai_activity *a) {
  struct nai_buf text = {0};
  nai_activity_print(&text, m, a);
  nai_set_str(table, row, GAP_ACTIVITY_activity, text.len ? nai_buf_str(&text) : NULL);
  table->oom |= text.oom;
  nai_buf_free(&text);
  const struct nai_activity_share *most = nai_activity_main(a), *launch = most_launches(a);
  if (most) {
    nai_set_str(table, row, GAP_ACTIVITY_function, nai_activity_name(m, most));
    nai_set_f64(table, row, GAP_ACTIVITY_function_pct, nai_percent((double)most->ns, (double)a->ns));
  }
  nai_set_str(table, row, GAP_ACTIVITY_launched_from, launch ? nai_activity_name(m, launch) : NULL);
}

static void put_subject(struct nai_table *table, const struct nai_model *m, const struct nai_gap_subject *s,
                        bool knows_collections) {
  static const char *const scopes[NAI_SCOPES] = {"gap", "pattern", "host_code", "set_up"};
  char label[NAI_THREAD_LABEL_MAX];
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, GAP_ACTIVITY_scope, scopes[s->scope]);
  put_names(table, row, m, s);
  nai_set_i64(table, row, GAP_ACTIVITY_start_ns, s->gap.start);
  nai_set_i64(table, row, GAP_ACTIVITY_end_ns, s->gap.end);
  nai_set_i64(table, row, GAP_ACTIVITY_gap_count, s->gaps);
  if (s->thread < 0) {
    nai_set_i64(table, row, GAP_ACTIVITY_total_ns, s->gap.end - s->gap.start);
    return;
  }
  nai_set_i64(table, row, GAP_ACTIVITY_total_ns, s->does.ns);
  nai_set_str(table, row, GAP_ACTIVITY_thread, nai_thread_label(label, m, s->thread));
  nai_set_i64(table, row, GAP_ACTIVITY_pid, nai_get_i64(m->tables[NAI_IN_THREADS], s->thread, THREADS_pid));
  nai_set_i64(table, row, GAP_ACTIVITY_tid, nai_get_i64(m->tables[NAI_IN_THREADS], s->thread, THREADS_tid));
  put_evidence(table, row, m, &s->does, knows_collections);
  put_words(table, row, m, &s->does);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nai_gap_subjects subjects = {.m = m};
  if (io->in) {
    subjects.gaps = io->in[0];
    subjects.patterns = io->in[1];
  }
  int rc = nai_gap_subjects_find(&subjects, err);
  for (uint32_t i = 0; !rc && i < subjects.count; i++) {
    put_subject(io->out[0], m, &subjects.v[i], subjects.collections.count > 0);
    put_functions(io->out[1], i, m, &subjects.v[i].does);
  }
  nai_gap_subjects_free(&subjects);
  return rc;
}

NAI_ANALYSIS(gap_activity, .outputs = NAI_SCHEMAS(&nai_gap_activity_schema, &nai_gap_functions_schema),
             .inputs = NAI_SCHEMAS(&nai_gpu_idle_gaps_schema, &nai_idle_patterns_schema),
             .parts = NAI_PART(ACTIVE) | NAI_PART(IDLE) | NAI_PART(EVIDENCE) | NAI_PART(CPU) | NAI_PART(GPUS) |
                      NAI_PART(LAUNCHES) | NAI_PART(NVTX_TREE) | NAI_PART(NAMES),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(APIS) | NAI_IN(THREADS) | NAI_IN(NVTX) |
                       NAI_IN(LABELS) | NAI_IN(OVERHEAD) | NAI_IN(OSRT) | NAI_IN(SCHED) | NAI_IN(SAMPLES) |
                       NAI_IN(CALLCHAINS),
             .run = run)
