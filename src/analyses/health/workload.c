/* What kind of program is this? Tables workload, workload_evidence. */
#include "analyses/health/workload_signs.h"

#include "base/text.h"
#include "tables/callchain_frames.h"
#include "tables/nvtx_domains.h"
#include "tables/processes.h"
#include "tables/program_marks.h"
#include "tables/threads.h"
#include "tables/workload.h"
#include "tables/workload_evidence.h"

enum { MAX_NAMES = 100000, EXAMPLE_CHARS = 60, RUN = 1 };

struct workload {
  const struct nai_node_io *io;
  const struct nai_model *m;
  struct nai_who *slots; /* [0]: the run */
  uint32_t count;
  uint64_t at_work; /* slots of processes with calls, ranges or work on a GPU */
  uint64_t only;    /* the slot of the only one of these, else none */
};

/* --- what is seen --------------------------------------------------------------------------------- */

static uint64_t slot_of(const struct workload *w, int32_t process) {
  return process >= 0 && (uint32_t)process + 1 < w->count ? UINT64_C(1) << (process + 1) : 0;
}

static void count(struct nai_sign *sign, bool shared, const char *name) {
  const char *before = sign->example[shared];
  sign->names[shared]++;
  sign->example[shared] = before && strcmp(before, name) <= 0 ? before : name; /* whatever the order of rows */
}

/* What started the others tells how, not what they are. */
static bool tells(enum nai_workload_aspect aspect, bool beside) {
  return !beside || aspect == NAI_ASPECT_LAUNCHER || aspect == NAI_ASPECT_COLLECTIVE;
}

static void see(struct workload *w, enum nai_workload_sign sign, const char *name, uint64_t slots, bool beside) {
  for (int a = 0; *name && a < NAI_ASPECT_COUNT; a++)
    for (int shared = 0; shared < 2 && tells((enum nai_workload_aspect)a, beside); shared++) {
      int value = nai_workload_match(w->m->workload, (enum nai_workload_aspect)a, sign, shared, name);
      for (uint32_t s = 0; value >= 0 && s < w->count; s++)
        if (slots & UINT64_C(1) << s)
          count(&w->slots[s].aspects[a].of[value][sign], shared, name);
    }
}

/* What left no row of its own process: the run's, and that of the only process at work. */
static uint64_t everyone(const struct workload *w) { return RUN | w->only; }

/* Slots per name of ranges. With one process at work a name is the run's and that process's. */
static int slots_of_ranges(uint64_t **out, const struct workload *w, struct nai_err *err) {
  enum { BLOCK = 1024 };
  const struct nai_model *m = w->m;
  const uint32_t names = m->tables[NAI_IN_NVTX]->strings.count;
  int64_t texts[BLOCK];
  uint64_t *slots;
  NAI_TRY(NAI_NEW(*out, w->io->arena, names, err));
  slots = *out;
  for (uint32_t first = 0, n; !w->only && first < m->nvtx.n; first += n) {
    n = m->nvtx.n - first < BLOCK ? m->nvtx.n - first : BLOCK;
    nai_unpack(texts, &m->nvtx.name, first, n);
    for (uint32_t i = 0; i < n; i++) {
      uint64_t text = (uint64_t)texts[i];
      if (text >= names || (slots[text] & w->at_work) == w->at_work) /* most rows tell nothing new */
        continue;
      int32_t thread = nai_at_i32(&m->nvtx.thread, first + i);
      slots[text] |= thread < 0 ? 0 : slot_of(w, m->thread_process[thread]);
    }
  }
  return NAI_OK;
}

static int slots_of_kernels(uint64_t **out, const struct workload *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  NAI_TRY(NAI_NEW(*out, w->io->arena, m->tables[NAI_IN_KERNELS]->strings.count, err));
  for (uint32_t i = 0; !w->only && i < m->kernel_kind_count; i++)
    (*out)[m->kernel_groups[m->kernel_kinds[i].group].name] |= slot_of(w, m->kernel_kinds[i].process);
  return NAI_OK;
}

static void mark(struct workload *w, enum nai_workload_sign sign, const char *name, uint64_t slots) {
  bool kernel = sign == NAI_SIGN_KERNELS;
  bool runtime = sign == NAI_SIGN_CALLS && strstr(name, "cudaLaunchKernel");
  bool driver = sign == NAI_SIGN_CALLS && strncmp(name, "cuLaunchKernel", 14) == 0;
  bool signature = kernel && strchr(name, '(');
  for (uint32_t s = 0; (kernel || runtime || driver) && s < w->count; s++)
    if (slots & UINT64_C(1) << s) {
      w->slots[s].launches = true;
      w->slots[s].signatures = w->slots[s].signatures || signature || runtime;
    }
}

/* Every text of a table that has names in one column only. */
static int see_events(struct workload *w, enum nai_workload_sign sign, enum nai_input_table table,
                      int (*slots_of)(uint64_t **out, const struct workload *w, struct nai_err *err),
                      struct nai_err *err) {
  const struct nai_table *t = w->m->tables[table];
  uint64_t *slots;
  if (!t)
    return NAI_OK;
  NAI_TRY(slots_of(&slots, w, err));
  for (uint32_t i = 0; i < t->strings.count && i < MAX_NAMES; i++) {
    const char *text = nai_strings_get(&t->strings, i);
    see(w, sign, text, slots[i] | everyone(w), false);
    mark(w, sign, text, slots[i] | everyone(w));
  }
  return NAI_OK;
}

/* Of all processes together: there are more calls than all else, and few of their names tell anything. */
static void see_calls(struct workload *w) {
  const struct nai_table *t = w->m->tables[NAI_IN_APIS];
  for (uint32_t i = 0; t && i < t->strings.count && i < MAX_NAMES; i++) {
    see(w, NAI_SIGN_CALLS, nai_strings_get(&t->strings, i), everyone(w), false);
    mark(w, NAI_SIGN_CALLS, nai_strings_get(&t->strings, i), everyone(w));
  }
}

/* Each different name of a column once, with the slots of all rows that have it. Rows without RUN are of processes
 * beside those at work. */
static int see_slots(struct workload *w, enum nai_workload_sign sign, const struct nai_table *t, int column,
                     const uint64_t *slots_of_row, struct nai_err *err) {
  uint64_t *slots;
  if (!t || !t->rows)
    return NAI_OK;
  NAI_TRY(NAI_NEW(slots, w->io->arena, t->strings.count, err));
  struct nai_column names = nai_table_column(t, column);
  for (int64_t i = 0; i < t->rows; i++) {
    uint32_t name = nai_at_text(&names, (uint64_t)i);
    if (name < t->strings.count)
      slots[name] |= slots_of_row[i];
  }
  for (uint32_t i = 0; i < t->strings.count && i < MAX_NAMES; i++)
    if (slots[i])
      see(w, sign, nai_strings_get(&t->strings, i), slots[i] | RUN, !(slots[i] & RUN));
  return NAI_OK;
}

static int see_domains(struct workload *w, struct nai_err *err) {
  const struct nai_table *t = w->m->tables[NAI_IN_NVTX_DOMAINS];
  uint64_t *slots;
  if (!t)
    return NAI_OK;
  NAI_TRY(NAI_NEW(slots, w->io->arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++)
    slots[i] = everyone(w) | slot_of(w, (int32_t)nai_get_i64(t, i, NVTX_DOMAINS_process));
  return see_slots(w, NAI_SIGN_DOMAINS, t, NVTX_DOMAINS_name, slots, err);
}

/* Libraries by their own names: a path tells who the user is. */
static int see_modules(struct workload *w, struct nai_err *err) {
  const struct nai_table *t = w->m->tables[NAI_IN_CALLCHAINS];
  bool *seen;
  uint32_t different = 0;
  if (!t || !t->rows)
    return NAI_OK;
  NAI_TRY(NAI_NEW(seen, w->io->arena, t->strings.count, err));
  struct nai_column names = nai_table_column(t, CALLCHAIN_FRAMES_module);
  for (int64_t i = 0; i < t->rows && different < MAX_NAMES; i++) {
    uint32_t name = nai_at_text(&names, (uint64_t)i);
    if (name >= t->strings.count || seen[name])
      continue;
    seen[name] = true;
    different++;
    const char *path = nai_strings_get(&t->strings, name), *slash = strrchr(path, '/');
    see(w, NAI_SIGN_MODULES, slash ? slash + 1 : path, everyone(w), false);
  }
  return NAI_OK;
}

/* Of what a process has; the run has it, too, unless the process only stands beside those at work. */
static uint64_t slots_beside(const struct workload *w, int32_t process) {
  uint64_t slot = slot_of(w, process);
  return slot | (w->at_work && slot && !(w->at_work & slot) ? 0 : RUN);
}

static int see_processes(struct workload *w, struct nai_err *err) {
  const struct nai_table *t = w->m->tables[NAI_IN_PROCESSES];
  uint64_t *slots;
  NAI_TRY(NAI_NEW(slots, w->io->arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    slots[i] = slots_beside(w, (int32_t)i);
    if (i + 1 < w->count)
      w->slots[i + 1].named = *nai_get_str(t, i, PROCESSES_process_name);
  }
  return see_slots(w, NAI_SIGN_PROCESSES, t, PROCESSES_process_name, slots, err);
}

/* A main thread has the name of what was started. */
static int see_threads(struct workload *w, struct nai_err *err) {
  const struct nai_table *t = w->m->tables[NAI_IN_THREADS];
  uint64_t *slots;
  NAI_TRY(NAI_NEW(slots, w->io->arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    const struct THREADS_row thread = THREADS_at(t, i);
    int32_t process = (int32_t)thread.process;
    slots[i] = slots_beside(w, process);
    if (*thread.thread_name && thread.tid == thread.pid && slot_of(w, process))
      w->slots[process + 1].named = true;
  }
  return see_slots(w, NAI_SIGN_THREADS, t, THREADS_thread_name, slots, err);
}

static void name_run(struct workload *w) {
  for (uint32_t s = 1; s < w->count; s++)
    w->slots[0].named = w->slots[0].named || (w->slots[s].named && w->at_work & UINT64_C(1) << s);
}

/* Whether all is the program's own code: no engine and no framework, but for what compiles its loops. */
static bool is_own_code(const struct workload *w) {
  double percent;
  int framework = nai_who_best(&percent, &w->slots[0], NAI_ASPECT_FRAMEWORK);
  const char *name = framework < 0 ? "openmp" : nai_workload_value(w->m->workload, NAI_ASPECT_FRAMEWORK, framework);
  return nai_text_is_one(name, strlen(name), NAI_WORDS("openmp", "openacc")) &&
         nai_who_best(&percent, &w->slots[0], NAI_ASPECT_ENGINE) < 0 &&
         nai_who_best(&percent, &w->slots[0], NAI_ASPECT_STACK) < 0;
}

/* Rates and checks are printed by programs of every kind: they say what the program is for where nothing else could. */
static bool counts(const struct workload *w, const struct PROGRAM_MARKS_row *mark) {
  enum { FEW_KERNELS = 20, FEW_NAMES = 3 };
  const struct nai_model *m = w->m;
  bool rate = strcmp(mark->mark, "rate") == 0, check = strcmp(mark->mark, "self-check") == 0;
  bool few = m->kernels.n && m->kernels.n < FEW_KERNELS && m->tables[NAI_IN_KERNELS]->strings.count <= FEW_NAMES;
  return (!rate || is_own_code(w)) && (!check || (few && is_own_code(w)));
}

static void see_marks(struct workload *w) {
  const struct nai_table *t = w->m->tables[NAI_IN_PROGRAM_MARKS], *acc = w->m->tables[NAI_IN_OPENACC];
  if (acc && acc->rows)
    see(w, NAI_SIGN_MARKS, "recorded openacc", everyone(w), false);
  for (int64_t i = 0; t && i < t->rows; i++) {
    const struct PROGRAM_MARKS_row row = PROGRAM_MARKS_at(t, i);
    if (strcmp(row.source, "thread") == 0)
      see(w, NAI_SIGN_THREADS, row.mark, everyone(w), false);
    else if (counts(w, &row))
      see(w, NAI_SIGN_MARKS, nai_arena_printf(w->io->arena, "%s %s", row.source, row.mark), everyone(w), false);
  }
}

static void find_work(struct workload *w) {
  const struct nai_model *m = w->m;
  for (uint32_t i = 0; i < m->kernel_kind_count; i++)
    w->at_work |= slot_of(w, m->kernel_kinds[i].process);
  for (uint32_t t = 0; t < m->thread_count; t++)
    if (m->api_by_thread.first[t + 1] > m->api_by_thread.first[t] ||
        m->nvtx_by_thread.first[t + 1] > m->nvtx_by_thread.first[t])
      w->at_work |= slot_of(w, m->thread_process[t]);
  w->only = w->at_work && !(w->at_work & (w->at_work - 1)) ? w->at_work : 0;
}

static int collect(struct workload *w, struct nai_err *err) {
  find_work(w);
  NAI_TRY(see_events(w, NAI_SIGN_KERNELS, NAI_IN_KERNELS, slots_of_kernels, err));
  NAI_TRY(see_events(w, NAI_SIGN_RANGES, NAI_IN_NVTX, slots_of_ranges, err));
  see_calls(w);
  NAI_TRY(see_domains(w, err));
  NAI_TRY(see_processes(w, err));
  NAI_TRY(see_threads(w, err));
  name_run(w);
  see_marks(w);
  NAI_TRY(see_modules(w, err));
  NAI_TRY(nai_arena_check(w->io->arena, err));
  return nai_workload_patterns_check(w->m->workload, err);
}

/* --- rows of workload_evidence -------------------------------------------------------------------- */

static void put(const struct workload *w, enum nai_workload_aspect aspect, const char *value, double percent,
                int64_t signs, const char *evidence) {
  NAI_ADD(WORKLOAD_EVIDENCE, w->io->out[1], .aspect = nai_workload_aspect_name(aspect), .value = value,
          .confidence = percent, .sign_count = signs, .evidence = evidence);
}

/* "kernels: 3 names, such as X" */
static void put_sign(struct nai_buf *out, enum nai_workload_sign kind, const struct nai_sign *sign, bool shared) {
  nai_buf_printf(out, "%s%s: ", out->len ? "; " : "", nai_workload_sign_name(kind));
  if (sign->names[shared] > 1)
    nai_buf_printf(out, "%" PRId64 " names, such as ", sign->names[shared]);
  nai_text_cut(out, sign->example[shared], strlen(sign->example[shared]), EXAMPLE_CHARS);
  nai_buf_puts(out, shared ? " (shared)" : "");
}

/* One value, if something speaks for it. */
static int put_value(const struct workload *w, enum nai_workload_aspect a, int value, bool *found,
                     struct nai_err *err) {
  const struct nai_sign *signs = w->slots[0].aspects[a].of[value];
  NAI_SCOPED(nai_buf) evidence = {0};
  int64_t kinds = 0;
  for (int s = 0; s < NAI_SIGN_COUNT; s++) {
    bool shared = !signs[s].names[0];
    if (!signs[s].names[shared])
      continue;
    kinds++;
    put_sign(&evidence, (enum nai_workload_sign)s, &signs[s], shared);
  }
  if (kinds)
    put(w, a, nai_workload_value(w->m->workload, a, value), nai_sign_confidence(signs), kinds, nai_buf_str(&evidence));
  *found = *found || kinds;
  return nai_buf_check(&evidence, err);
}

static int put_aspects(const struct workload *w, struct nai_err *err) {
  for (int a = 0; a < NAI_ASPECT_COUNT; a++) {
    enum nai_workload_aspect aspect = (enum nai_workload_aspect)a;
    bool found = false,
         always = aspect == NAI_ASPECT_FRAMEWORK || aspect == NAI_ASPECT_LANGUAGE || aspect == NAI_ASPECT_ROLE;
    double percent;
    const char *why;
    for (int v = 0; v < w->slots[0].aspects[a].values; v++)
      NAI_TRY(put_value(w, aspect, v, &found, err));
    if (found || !always)
      continue;
    const char *rest = nai_who_rest(&percent, &why, &w->slots[0], aspect);
    put(w, aspect, rest, percent, 0, why);
  }
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct workload w = {.io = io, .m = m, .count = m->process_count + 1};
  w.count = w.count < NAI_WHO_SLOTS ? w.count : NAI_WHO_SLOTS;
  NAI_TRY(NAI_NEW(w.slots, io->arena, w.count, err));
  for (uint32_t s = 0; s < w.count; s++)
    for (int a = 0; a < NAI_ASPECT_COUNT; a++) {
      struct nai_signs *signs = &w.slots[s].aspects[a];
      signs->values = nai_workload_value_count(m->workload, (enum nai_workload_aspect)a);
      NAI_TRY(NAI_NEW(signs->of, io->arena, (size_t)signs->values, err));
    }
  NAI_TRY(collect(&w, err));
  NAI_TRY(nai_who_put(io, &w.slots[0], NAI_NULL_I64, err));
  for (uint32_t s = 1; s < w.count; s++)
    if (w.at_work & UINT64_C(1) << s)
      NAI_TRY(nai_who_put(io, &w.slots[s], nai_model_pid(m, (int32_t)s - 1), err));
  return put_aspects(&w, err);
}

NAI_ANALYSIS(workload, .outputs = NAI_SCHEMAS(&nai_workload_schema, &nai_workload_evidence_schema),
             .parts = NAI_PART(KERNEL_GROUPS) | NAI_PART(CALLS) | NAI_PART(RANGES),
             .tables = NAI_IN(KERNELS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(NVTX_DOMAINS) | NAI_IN(THREADS) |
                       NAI_IN(PROCESSES) | NAI_IN(CALLCHAINS) | NAI_IN(PROGRAM_MARKS) | NAI_IN(OPENACC),
             .config = NAI_CONFIG(WORKLOAD), .run = run)
