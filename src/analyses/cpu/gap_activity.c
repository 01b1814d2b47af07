/* What did the CPU do while GPUs had nothing to do? Tables gap_activity and gap_functions. */
#include "analyses/cpu/gap_subjects.h"
#include "analyses/idle/idle.h"
#include "table/columns.h"

enum {
  SCOPE,
  DEVICE,
  CAUSE,
  NEXT_OP,
  LAUNCH_API,
  NVTX_RANGE,
  THREAD,
  PID,
  TID,
  START,
  END,
  GAPS,
  TOTAL,
  ACTIVITY,
  FUNCTION,
  FUNCTION_PCT,
  LAUNCHED_FROM,
  API,
  OVERHEAD,
  OSRT,
  SAMPLED,
  SAMPLES,
  ON_CPU,
  OFF_CPU,
  UNKNOWN,
  PREEMPTED,
  GIL,
  GC
};
static const struct nai_column_def columns[] = {
    [SCOPE] = NAI_NAME_COLUMN("scope",
                              "gap: one gap; pattern: all gaps of a row of idle_patterns; host_code: where the cause "
                              "is host_code within active spans; set_up: before the process's first CUDA call",
                              .key = true),
    [DEVICE] = NAI_DEVICE_COLUMN("GPU; empty for set_up", .key = true),
    [CAUSE] = NAI_LABEL_COLUMN("cause", "cause of the gap's largest part, a word of idle_causes", .key = true),
    [NEXT_OP] = NAI_KERNEL_NAME_COLUMN("next_op", "operation that ends the gap", .key = true),
    [LAUNCH_API] = NAI_LABEL_COLUMN("launch_api", "API call that launched it", .key = true),
    [NVTX_RANGE] = NAI_RANGE_NAME_COLUMN("nvtx_range", "innermost NVTX range around the launch", .key = true),
    [THREAD] = NAI_LABEL_COLUMN("thread", "the thread that is looked at: the one that made the launch"),
    [PID] = NAI_PID_COLUMN("process of the thread", .key = true),
    [TID] = NAI_TID_COLUMN("thread", .key = true),
    [START] = NAI_START_COLUMN("start_ns", "start of the gap, of many the longest", .key = true),
    [END] = NAI_END_COLUMN("end_ns", "end of it"),
    [GAPS] = NAI_COUNT_COLUMN("gap_count", "gaps"),
    [TOTAL] =
        NAI_TIME_COLUMN("total_ns", "time looked at; each layer of evidence divides it", .better = NAI_BETTER_LOWER),
    [ACTIVITY] = NAI_LABEL_COLUMN(
        "activity", "what takes a tenth of it or more, in words; layers overlap, shares do not add up between them"),
    [FUNCTION] = NAI_LABEL_COLUMN("function", "the function that says most about it"),
    [FUNCTION_PCT] = NAI_PCT_COLUMN("function_pct", "share of total_ns in it"),
    [LAUNCHED_FROM] = NAI_LABEL_COLUMN(
        "launched_from", "function that most of the launches came from, where CUDA calls have callchains"),
    [API] = NAI_TIME_COLUMN("cuda_api_ns", "in CUDA calls"),
    [OVERHEAD] = NAI_TIME_COLUMN("overhead_ns", "in records of overhead"),
    [OSRT] = NAI_TIME_COLUMN("os_runtime_ns", "in OS runtime calls, those inside CUDA calls included"),
    [SAMPLED] = NAI_TIME_COLUMN("sampled_ns", "about: samples times the usual distance between them"),
    [SAMPLES] = NAI_COUNT_COLUMN("sample_count", "CPU samples of the thread"),
    [ON_CPU] = NAI_TIME_COLUMN("on_cpu_ns", "the thread ran; empty without records of scheduling"),
    [OFF_CPU] = NAI_TIME_COLUMN("off_cpu_ns", "it did not run"),
    [UNKNOWN] = NAI_TIME_COLUMN("sched_unknown_ns", "rest: not told"),
    [PREEMPTED] = NAI_TIME_COLUMN("preempted_ns",
                                  "of off_cpu_ns: it could have run but another thread did; empty where not recorded"),
    [GIL] = NAI_TIME_COLUMN("gil_ns", "about: waiting for Python's interpreter lock; empty without callchains"),
    [GC] = NAI_TIME_COLUMN(
        "gc_ns",
        "in Python's garbage collection: in NVTX ranges around it, else about, by samples; empty without both"),
};
static const struct nai_schema schema = NAI_SCHEMA(
    "gap_activity", "What the CPU did in idle gaps",
    "The time of one thread in the longest gaps, in the patterns with most time, in its own code, and before "
    "the first CUDA call",
    columns);

enum { F_SUBJECT, F_LAYER, F_CLASS, F_FUNCTION, F_CALLER, F_TIME, F_PCT, F_COUNT };
static const struct nai_column_def function_columns[] = {
    [F_SUBJECT] = {"subject", NAI_I64, NAI_ID, "row of table gap_activity", .key = true, .refers = "gap_activity"},
    [F_LAYER] = NAI_LABEL_COLUMN("layer",
                                 "evidence: cuda_api, overhead, os_runtime, samples, scheduling or launched_from; the "
                                 "rows of one layer add up to total_ns",
                                 .key = true),
    [F_CLASS] = NAI_LABEL_COLUMN("class",
                                 "of os_runtime: lock, io, poll, sleep, process or other; of scheduling: on_cpu, "
                                 "off_cpu, unknown; rest: what the layer says nothing about",
                                 .key = true),
    [F_FUNCTION] =
        NAI_NAME_COLUMN("function", "CUDA call, overhead, OS runtime call, or function of the program", .key = true),
    [F_CALLER] = NAI_LABEL_COLUMN("caller", "function that made the longest OS runtime call, where callchains tell"),
    [F_TIME] = NAI_TIME_COLUMN("time_ns", "time; of samples about", .sum = true),
    [F_PCT] = NAI_PCT_COLUMN("pct", "of total_ns"),
    [F_COUNT] = NAI_COUNT_COLUMN("count", "calls, records, samples or launches", .sum = true),
};
static const struct nai_schema functions_schema =
    NAI_SCHEMA("gap_functions", "Functions in idle gaps", "One name in one layer of evidence of a row of gap_activity",
               function_columns);

static void put_function(struct nai_table *table, int64_t subject, const char *layer, const char *class,
                         const char *function, int64_t ns, int64_t of) {
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, F_SUBJECT, subject);
  nai_set_str(table, row, F_LAYER, layer);
  nai_set_str(table, row, F_CLASS, class);
  nai_set_str(table, row, F_FUNCTION, function);
  nai_set_i64(table, row, F_TIME, ns);
  if (of)
    nai_set_f64(table, row, F_PCT, nai_percent((double)ns, (double)of));
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
    nai_set_i64(table, table->rows - 1, F_COUNT, s->count);
    nai_set_str(table, table->rows - 1, F_CALLER, s->caller ? nai_chain_name(m, s->caller) : NULL);
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
  nai_set_i64(table, row, DEVICE, m->gpus[s->gpu].device_id);
  if (s->scope == NAI_SCOPE_HOST_CODE) {
    nai_set_str(table, row, CAUSE, nai_idle_cause_name(NAI_IDLE_HOST_CODE));
    return;
  }
  nai_set_str(table, row, CAUSE, nai_idle_cause_name((enum nai_idle_cause)m->idle[s->gpu].cause[s->gap.number]));
  nai_set_str(table, row, NEXT_OP, nai_next_op_name(room, m, &s->gap));
  nai_set_str(table, row, LAUNCH_API, s->gap.launch == NAI_NO_ROW ? NULL : nai_model_api_name(m, s->gap.launch));
  nai_set_str(table, row, NVTX_RANGE, nai_launch_range(m, s->gap.launch));
}

static const struct nai_activity_share *most_launches(const struct nai_activity *a) {
  for (uint32_t i = 0; i < a->keys.count; i++)
    if (a->shares[i].layer == NAI_ACTIVITY_LAUNCH)
      return &a->shares[i];
  return NULL;
}

static void put_evidence(struct nai_table *table, int64_t row, const struct nai_model *m, const struct nai_activity *a,
                         bool knows_collections) {
  nai_set_i64(table, row, API, a->layer_ns[NAI_ACTIVITY_API]);
  if (m->tables[NAI_IN_OVERHEAD]->rows)
    nai_set_i64(table, row, OVERHEAD, a->layer_ns[NAI_ACTIVITY_OVERHEAD]);
  if (nai_model_osrt_calls(m))
    nai_set_i64(table, row, OSRT, a->layer_ns[NAI_ACTIVITY_OSRT]);
  if (m->cpu->samples.thread_count) {
    nai_set_i64(table, row, SAMPLES, a->samples);
    nai_set_i64(table, row, SAMPLED, a->layer_ns[NAI_ACTIVITY_SAMPLES]);
  }
  if (m->cpu->sched.thread_count) {
    nai_set_i64(table, row, ON_CPU, a->cpu.on_ns);
    nai_set_i64(table, row, OFF_CPU, a->cpu.off_ns);
    nai_set_i64(table, row, UNKNOWN, a->cpu.unknown_ns);
  }
  if (m->cpu->tells_runnable)
    nai_set_i64(table, row, PREEMPTED, a->cpu.preempted_ns);
  if (m->cpu->chain_count)
    nai_set_i64(table, row, GIL, a->gil_ns);
  if (m->cpu->chain_count || knows_collections)
    nai_set_i64(table, row, GC, a->gc_ns);
}

static void put_words(struct nai_table *table, int64_t row, const struct nai_model *m, const struct nai_activity *a) {
  struct nai_buf text = {0};
  nai_activity_print(&text, m, a);
  nai_set_str(table, row, ACTIVITY, text.len ? nai_buf_str(&text) : NULL);
  table->oom |= text.oom;
  nai_buf_free(&text);
  const struct nai_activity_share *most = nai_activity_main(a), *launch = most_launches(a);
  if (most) {
    nai_set_str(table, row, FUNCTION, nai_activity_name(m, most));
    nai_set_f64(table, row, FUNCTION_PCT, nai_percent((double)most->ns, (double)a->ns));
  }
  nai_set_str(table, row, LAUNCHED_FROM, launch ? nai_activity_name(m, launch) : NULL);
}

static void put_subject(struct nai_table *table, const struct nai_model *m, const struct nai_gap_subject *s,
                        bool knows_collections) {
  static const char *const scopes[NAI_SCOPES] = {"gap", "pattern", "host_code", "set_up"};
  char label[NAI_THREAD_LABEL_MAX];
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, SCOPE, scopes[s->scope]);
  put_names(table, row, m, s);
  nai_set_i64(table, row, START, s->gap.start);
  nai_set_i64(table, row, END, s->gap.end);
  nai_set_i64(table, row, GAPS, s->gaps);
  if (s->thread < 0) {
    nai_set_i64(table, row, TOTAL, s->gap.end - s->gap.start);
    return;
  }
  nai_set_i64(table, row, TOTAL, s->does.ns);
  nai_set_str(table, row, THREAD, nai_thread_label(label, m, s->thread));
  nai_set_i64(table, row, PID, nai_get_i64(m->tables[NAI_IN_THREADS], s->thread, TH_PID));
  nai_set_i64(table, row, TID, nai_get_i64(m->tables[NAI_IN_THREADS], s->thread, TH_TID));
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

static const char *const inputs[] = {"gpu_idle_gaps", "idle_patterns", NULL};
static const struct nai_schema *const schemas[] = {&schema, &functions_schema, NULL};
const struct nai_node nai_analysis_gap_activity = {
    .name = "gap_activity",
    .outputs = schemas,
    .inputs = inputs,
    .parts = NAI_PART(ACTIVE) | NAI_PART(IDLE) | NAI_PART(EVIDENCE) | NAI_PART(CPU) | NAI_PART(GPUS) |
             NAI_PART(LAUNCHES) | NAI_PART(NVTX_TREE) | NAI_PART(NAMES),
    .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(APIS) | NAI_IN(THREADS) | NAI_IN(NVTX) | NAI_IN(LABELS) |
              NAI_IN(OVERHEAD) | NAI_IN(OSRT) | NAI_IN(SCHED) | NAI_IN(SAMPLES) | NAI_IN(CALLCHAINS),
    .run = run};
