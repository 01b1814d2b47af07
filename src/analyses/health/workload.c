/* What kind of program is this? Table workload. */
#include "analyses/analysis.h"
#include "base/text.h"
#include "tables/callchain_frames.h"
#include "tables/nvtx_domains.h"
#include "tables/processes.h"
#include "tables/threads.h"
#include "tables/workload.h"

#include <inttypes.h>
#include <stdlib.h>
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
  if (!t || !t->rows)
    return NAI_OK;
  bool *seen = calloc((size_t)t->strings.count + 1, sizeof *seen);
  if (!seen)
    return nai_err_nomem(err);
  struct nai_column names = nai_table_column(t, column);
  uint32_t count = 0;
  for (int64_t i = 0; i < t->rows && count < MAX_NAMES; i++) {
    uint32_t name = nai_at_text(&names, (uint64_t)i);
    if (name >= t->strings.count || seen[name])
      continue;
    seen[name] = true;
    count++;
    see(w, sign, nai_strings_get(&t->strings, name));
  }
  free(seen);
  return NAI_OK;
}

static int collect(struct workload *w, struct nai_err *err) {
  see_dictionary(w, NAI_SIGN_KERNELS, NAI_IN_KERNELS);
  see_dictionary(w, NAI_SIGN_RANGES, NAI_IN_NVTX);
  see_dictionary(w, NAI_SIGN_CALLS, NAI_IN_APIS);
  int rc = see_column(w, NAI_SIGN_DOMAINS, NAI_IN_NVTX_DOMAINS, NVTX_DOMAINS_name, err);
  if (!rc)
    rc = see_column(w, NAI_SIGN_THREADS, NAI_IN_THREADS, THREADS_thread_name, err);
  if (!rc)
    rc = see_column(w, NAI_SIGN_PROCESSES, NAI_IN_PROCESSES, PROCESSES_process_name, err);
  if (!rc)
    rc = see_column(w, NAI_SIGN_MODULES, NAI_IN_CALLCHAINS, CALLCHAIN_FRAMES_module, err);
  return rc ? rc : nai_workload_patterns_check(w->m->workload, err);
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

static void put(struct nai_table *table, enum nai_workload_aspect aspect, const char *value, double percent,
                int64_t signs, const char *evidence) {
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, WORKLOAD_aspect, nai_workload_aspect_name(aspect));
  nai_set_str(table, row, WORKLOAD_value, value);
  nai_set_f64(table, row, WORKLOAD_confidence, percent);
  nai_set_i64(table, row, WORKLOAD_sign_count, signs);
  nai_set_str(table, row, WORKLOAD_evidence, evidence);
}

/* One value; false when nothing speaks for it. */
static int put_value(struct nai_table *table, const struct workload *w, enum nai_workload_aspect a, int value,
                     bool *found, struct nai_err *err) {
  const struct sign *signs = w->aspects[a].signs[value];
  struct nai_buf evidence = {0};
  int64_t kinds = 0;
  for (int s = 0; s < NAI_SIGN_COUNT; s++) {
    if (!signs[s].names)
      continue;
    nai_buf_printf(&evidence, "%s%s: ", kinds++ ? "; " : "", nai_workload_sign_name((enum nai_workload_sign)s));
    if (signs[s].names > 1)
      nai_buf_printf(&evidence, "%" PRId64 " names, such as ", signs[s].names);
    nai_text_cut(&evidence, signs[s].example, strlen(signs[s].example), EXAMPLE_CHARS);
  }
  int rc = nai_buf_check(&evidence, err);
  if (!rc && kinds)
    put(table, a, nai_workload_value(w->m->workload, a, value), confidence(signs), kinds, nai_buf_str(&evidence));
  *found = *found || kinds;
  nai_buf_free(&evidence);
  return rc;
}

static bool has_signatures(const struct nai_model *m) {
  for (uint32_t i = 0; i < m->tables[NAI_IN_KERNELS]->strings.count && i < MAX_NAMES; i++)
    if (strchr(nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, i), '('))
      return true;
  return false;
}

/* What is left to say of an aspect without any sign. */
static void put_rest(struct nai_table *table, const struct workload *w, enum nai_workload_aspect aspect, bool python) {
  enum { PLAIN_CUDA = 80, CPP_BY_SIGNATURE = 70 };
  if (aspect == NAI_ASPECT_FRAMEWORK && w->m->kernels.n && !python)
    put(table, aspect, "cuda", PLAIN_CUDA, 0, "kernels, and none of the names that frameworks use");
  else if (aspect == NAI_ASPECT_LANGUAGE && has_signatures(w->m))
    put(table, aspect, "c++", CPP_BY_SIGNATURE, 0, "kernels with C++ signatures, and no sign of another language");
  else if (aspect == NAI_ASPECT_FRAMEWORK || aspect == NAI_ASPECT_LANGUAGE || aspect == NAI_ASPECT_ROLE)
    put(table, aspect, "unknown", 0, 0, "none of the names that would tell");
}

static int put_aspects(struct nai_table *table, const struct workload *w, struct nai_err *err) {
  bool python = false;
  for (int v = 0; v < w->aspects[NAI_ASPECT_LANGUAGE].values; v++)
    for (int s = 0; s < NAI_SIGN_COUNT; s++)
      python = python || w->aspects[NAI_ASPECT_LANGUAGE].signs[v][s].names;
  int rc = NAI_OK;
  for (int a = 0; !rc && a < NAI_ASPECT_COUNT; a++) {
    bool found = false;
    for (int v = 0; !rc && v < w->aspects[a].values; v++)
      rc = put_value(table, w, (enum nai_workload_aspect)a, v, &found, err);
    if (!rc && !found)
      put_rest(table, w, (enum nai_workload_aspect)a, python);
  }
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct workload w = {.m = io->model};
  int rc = NAI_OK;
  for (int a = 0; !rc && a < NAI_ASPECT_COUNT; a++) {
    w.aspects[a].values = nai_workload_value_count(w.m->workload, (enum nai_workload_aspect)a);
    w.aspects[a].signs = calloc((size_t)w.aspects[a].values + 1, sizeof *w.aspects[a].signs);
    rc = w.aspects[a].signs ? NAI_OK : nai_err_nomem(err);
  }
  if (!rc)
    rc = collect(&w, err);
  if (!rc)
    rc = put_aspects(io->out[0], &w, err);
  for (int a = 0; a < NAI_ASPECT_COUNT; a++)
    free(w.aspects[a].signs);
  return rc;
}

NAI_ANALYSIS(workload, .outputs = NAI_SCHEMAS(&nai_workload_schema),
             .tables = NAI_IN(KERNELS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(NVTX_DOMAINS) | NAI_IN(THREADS) |
                       NAI_IN(PROCESSES) | NAI_IN(CALLCHAINS),
             .config = NAI_CONFIG(WORKLOAD), .run = run)
