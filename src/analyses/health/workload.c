/* What kind of program is this? Table workload. */
#include "analyses/analysis.h"
#include "base/text.h"
#include "tables/callchain_frames.h"
#include "tables/nvtx_domains.h"
#include "tables/processes.h"
#include "tables/threads.h"
#include "tables/workload.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_NAMES = 100000, EXAMPLE_CHARS = 60, MAX_CONFIDENCE = 99 };

/* What one kind of sign says for one value. */
struct sign {
  int64_t names;       /* different ones */
  const char *example; /* the first, bytewise */
};

/* Signs of every value of one aspect. */
struct aspect {
  int values;
  struct sign (*signs)[NAI_SIGN_COUNT];
};

struct workload {
  const struct nai_node_io *io;
  const struct nai_model *m;
  struct aspect aspects[NAI_ASPECT_COUNT];
};

static void see(struct workload *w, enum nai_workload_sign sign, const char *name) {
  if (!*name)
    return;
  for (int a = 0; a < NAI_ASPECT_COUNT; a++) {
    int value = nai_workload_match(w->m->workload, (enum nai_workload_aspect)a, sign, name);
    if (value < 0)
      continue;
    struct sign *s = &w->aspects[a].signs[value][sign];
    s->names++;
    s->example = s->example && strcmp(s->example, name) <= 0 ? s->example : name; /* whatever the order of rows */
  }
}

/* Every text of a table that has names in one column only. */
static void see_dictionary(struct workload *w, enum nai_workload_sign sign, enum nai_input_table table) {
  const struct nai_table *t = w->m->tables[table];
  for (uint32_t i = 0; t && i < t->strings.count && i < MAX_NAMES; i++)
    see(w, sign, nai_strings_get(&t->strings, i));
}

/* Each text of a column once. */
static int see_column(struct workload *w, enum nai_workload_sign sign, enum nai_input_table table, int column,
                      struct nai_err *err) {
  const struct nai_table *t = w->m->tables[table];
  bool *seen;
  uint32_t count = 0;
  if (!t || !t->rows)
    return NAI_OK;
  NAI_TRY(NAI_NEW(seen, w->io->arena, t->strings.count, err));
  struct nai_column names = nai_table_column(t, column);
  for (int64_t i = 0; i < t->rows && count < MAX_NAMES; i++) {
    uint32_t name = nai_at_text(&names, (uint64_t)i);
    if (name >= t->strings.count || seen[name])
      continue;
    seen[name] = true;
    count++;
    see(w, sign, nai_strings_get(&t->strings, name));
  }
  return NAI_OK;
}

static int collect(struct workload *w, struct nai_err *err) {
  see_dictionary(w, NAI_SIGN_KERNELS, NAI_IN_KERNELS);
  see_dictionary(w, NAI_SIGN_RANGES, NAI_IN_NVTX);
  see_dictionary(w, NAI_SIGN_CALLS, NAI_IN_APIS);
  NAI_TRY(see_column(w, NAI_SIGN_DOMAINS, NAI_IN_NVTX_DOMAINS, NVTX_DOMAINS_name, err));
  NAI_TRY(see_column(w, NAI_SIGN_THREADS, NAI_IN_THREADS, THREADS_thread_name, err));
  NAI_TRY(see_column(w, NAI_SIGN_PROCESSES, NAI_IN_PROCESSES, PROCESSES_process_name, err));
  NAI_TRY(see_column(w, NAI_SIGN_MODULES, NAI_IN_CALLCHAINS, CALLCHAIN_FRAMES_module, err));
  return nai_workload_patterns_check(w->m->workload, err);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The chance that all signs mislead, each kind for itself: that of one kind falls to 70 % with a second name and to
 * half with a third. */
static double confidence(const struct sign signs[NAI_SIGN_COUNT]) {
  static const double misleads[NAI_SIGN_COUNT] = {
      [NAI_SIGN_KERNELS] = 0.10,   [NAI_SIGN_RANGES] = 0.15,  [NAI_SIGN_DOMAINS] = 0.10, [NAI_SIGN_THREADS] = 0.25,
      [NAI_SIGN_PROCESSES] = 0.15, [NAI_SIGN_MODULES] = 0.20, [NAI_SIGN_CALLS] = 0.20};
  double wrong = 1;
  for (int s = 0; s < NAI_SIGN_COUNT; s++)
    if (signs[s].names)
      wrong *= misleads[s] * (signs[s].names >= 3 ? 0.5 : signs[s].names == 2 ? 0.7 : 1);
  double percent = (double)(int64_t)((1 - wrong) * 100 + 0.5);
  return percent > MAX_CONFIDENCE ? MAX_CONFIDENCE : percent;
}

static void put(const struct workload *w, enum nai_workload_aspect aspect, const char *value, double percent,
                int64_t signs, const char *evidence) {
  NAI_ADD(WORKLOAD, w->io->out[0], .aspect = nai_workload_aspect_name(aspect), .value = value, .confidence = percent,
          .sign_count = signs, .evidence = evidence);
}

/* One value, if something speaks for it. */
static int put_value(const struct workload *w, enum nai_workload_aspect a, int value, bool *found,
                     struct nai_err *err) {
  const struct sign *signs = w->aspects[a].signs[value];
  NAI_SCOPED(nai_buf) evidence = {0};
  int64_t kinds = 0;
  for (int s = 0; s < NAI_SIGN_COUNT; s++) {
    if (!signs[s].names)
      continue;
    nai_buf_printf(&evidence, "%s%s: ", kinds++ ? "; " : "", nai_workload_sign_name((enum nai_workload_sign)s));
    if (signs[s].names > 1)
      nai_buf_printf(&evidence, "%" PRId64 " names, such as ", signs[s].names);
    nai_text_cut(&evidence, signs[s].example, strlen(signs[s].example), EXAMPLE_CHARS);
  }
  if (kinds)
    put(w, a, nai_workload_value(w->m->workload, a, value), confidence(signs), kinds, nai_buf_str(&evidence));
  *found = *found || kinds;
  return nai_buf_check(&evidence, err);
}

static bool has_signatures(const struct nai_model *m) {
  const struct nai_strings *names = &m->tables[NAI_IN_KERNELS]->strings;
  for (uint32_t i = 0; i < names->count && i < MAX_NAMES; i++)
    if (strchr(nai_strings_get(names, i), '('))
      return true;
  return false;
}

/* What is left to say of an aspect without any sign. */
static void put_rest(const struct workload *w, enum nai_workload_aspect aspect, bool python) {
  enum { PLAIN_CUDA = 80, CPP_BY_SIGNATURE = 70 };
  if (aspect == NAI_ASPECT_FRAMEWORK && w->m->kernels.n && !python)
    put(w, aspect, "cuda", PLAIN_CUDA, 0, "kernels, and none of the names that frameworks use");
  else if (aspect == NAI_ASPECT_LANGUAGE && has_signatures(w->m))
    put(w, aspect, "c++", CPP_BY_SIGNATURE, 0, "kernels with C++ signatures, and no sign of another language");
  else if (aspect == NAI_ASPECT_FRAMEWORK || aspect == NAI_ASPECT_LANGUAGE || aspect == NAI_ASPECT_ROLE)
    put(w, aspect, "unknown", 0, 0, "none of the names that would tell");
}

static int put_aspects(const struct workload *w, struct nai_err *err) {
  bool python = false;
  for (int v = 0; v < w->aspects[NAI_ASPECT_LANGUAGE].values; v++)
    for (int s = 0; s < NAI_SIGN_COUNT; s++)
      python = python || w->aspects[NAI_ASPECT_LANGUAGE].signs[v][s].names;
  for (int a = 0; a < NAI_ASPECT_COUNT; a++) {
    bool found = false;
    for (int v = 0; v < w->aspects[a].values; v++)
      NAI_TRY(put_value(w, (enum nai_workload_aspect)a, v, &found, err));
    if (!found)
      put_rest(w, (enum nai_workload_aspect)a, python);
  }
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct workload w = {.io = io, .m = io->model};
  for (int a = 0; a < NAI_ASPECT_COUNT; a++) {
    w.aspects[a].values = nai_workload_value_count(w.m->workload, (enum nai_workload_aspect)a);
    NAI_TRY(NAI_NEW(w.aspects[a].signs, io->arena, (size_t)w.aspects[a].values, err));
  }
  NAI_TRY(collect(&w, err));
  return put_aspects(&w, err);
}

NAI_ANALYSIS(workload, .outputs = NAI_SCHEMAS(&nai_workload_schema),
             .tables = NAI_IN(KERNELS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(NVTX_DOMAINS) | NAI_IN(THREADS) |
                       NAI_IN(PROCESSES) | NAI_IN(CALLCHAINS),
             .config = NAI_CONFIG(WORKLOAD), .run = run)
