/* Rows of table workload: what the signs come to, and in words. */
#include "analyses/health/workload_signs.h"

#include "base/text.h"
#include "tables/workload.h"

enum { MAX_CONFIDENCE = 99, MAX_SHARED = 60 };

/* The chance that all signs mislead, each kind for itself: that of one kind falls to 70 % with a second name and to
 * half with a third. */
double nai_sign_confidence(const struct nai_sign signs[NAI_SIGN_COUNT]) {
  static const double misleads[NAI_SIGN_COUNT] = {
      [NAI_SIGN_KERNELS] = 0.10,   [NAI_SIGN_RANGES] = 0.15,  [NAI_SIGN_DOMAINS] = 0.10, [NAI_SIGN_THREADS] = 0.25,
      [NAI_SIGN_PROCESSES] = 0.15, [NAI_SIGN_MODULES] = 0.20, [NAI_SIGN_CALLS] = 0.20,   [NAI_SIGN_MARKS] = 0.10};
  static const double shared_misleads = 0.60;
  double wrong = 1;
  bool own = false;
  for (int s = 0; s < NAI_SIGN_COUNT; s++) {
    bool mine = signs[s].names[0] > 0;
    int64_t names = signs[s].names[mine ? 0 : 1];
    if (names)
      wrong *= (mine ? misleads[s] : shared_misleads) * (names >= 3 ? 0.5 : names == 2 ? 0.7 : 1);
    own = own || mine;
  }
  double percent = (double)(int64_t)((1 - wrong) * 100 + 0.5), most = own ? MAX_CONFIDENCE : MAX_SHARED;
  return percent > most ? most : percent;
}

int nai_who_best(double *percent, const struct nai_who *who, enum nai_workload_aspect aspect) {
  int best = -1;
  *percent = 0;
  for (int v = 0; v < who->aspects[aspect].values; v++) {
    double sure = nai_sign_confidence(who->aspects[aspect].of[v]);
    if (sure < NAI_SURE_PERCENT || sure <= *percent)
      continue;
    best = v;
    *percent = sure;
  }
  return best;
}

const char *nai_who_rest(double *percent, const char **why, const struct nai_who *who,
                         enum nai_workload_aspect aspect) {
  enum { PLAIN_CUDA = 80, CPP = 75 };
  double other;
  bool foreign = nai_who_best(&other, who, NAI_ASPECT_LANGUAGE) >= 0;
  if (aspect == NAI_ASPECT_FRAMEWORK && who->launches && !foreign) {
    *percent = PLAIN_CUDA;
    *why = "kernels, and none of the names that frameworks use";
    return "cuda";
  }
  if (aspect == NAI_ASPECT_LANGUAGE && who->signatures && who->named) {
    *percent = CPP;
    *why = "kernels of compiled code, and no sign of another language";
    return "c++";
  }
  *percent = 0;
  *why = "none of the names that would tell";
  return "unknown";
}

/* --- a row ---------------------------------------------------------------------------------------- */

/* What was found of an aspect: as it writes itself, NULL where nothing is sure. */
struct told {
  const char *text;
  int value; /* -1: without a sign */
  double percent;
};

struct row {
  const struct nai_node_io *io;
  const struct nai_who *who;
  struct told engine, stack, framework, role, language, harness, launcher;
  bool plain; /* the framework is CUDA and no more */
};

static const char *shown(const struct row *r, enum nai_workload_aspect aspect, int value) {
  return nai_workload_display(r->io->model->workload, aspect, value);
}

static struct told tell(const struct row *r, enum nai_workload_aspect aspect) {
  struct told t = {0};
  t.value = nai_who_best(&t.percent, r->who, aspect);
  t.text = t.value < 0 ? NULL : shown(r, aspect, t.value);
  return t;
}

/* Without a sign: CUDA and C++ are what is left. */
static struct told tell_or_rest(const struct row *r, enum nai_workload_aspect aspect) {
  struct told t = tell(r, aspect);
  const char *why;
  if (t.text)
    return t;
  const char *rest = nai_who_rest(&t.percent, &why, r->who, aspect);
  t.text = strcmp(rest, "cuda") == 0 ? "CUDA" : strcmp(rest, "c++") == 0 ? "C++" : NULL;
  return t;
}

/* Under a harness the role is the harness's, which the file has first. */
static struct told tell_role(const struct row *r) {
  struct told best = tell(r, NAI_ASPECT_ROLE);
  for (int v = 0; r->harness.text && v < r->who->aspects[NAI_ASPECT_ROLE].values; v++) {
    double sure = nai_sign_confidence(r->who->aspects[NAI_ASPECT_ROLE].of[v]);
    if (sure >= NAI_SURE_PERCENT)
      return (struct told){shown(r, NAI_ASPECT_ROLE, v), v, sure};
  }
  return best;
}

static const char *framework_text(const struct row *r) {
  if (r->stack.text && r->framework.text && !r->plain)
    return nai_arena_printf(r->io->arena, "%s with %s", r->stack.text, r->framework.text);
  return r->stack.text ? r->stack.text : r->framework.text ? r->framework.text : "unknown";
}

/* The library that has half of the kernels' names or more; NULL: none. */
static const char *main_library(const struct row *r) {
  const struct nai_model *m = r->io->model;
  const struct nai_signs *libraries = &r->who->aspects[NAI_ASPECT_RUNTIME];
  int64_t kernels = m->gpu_count ? m->kernel_group_count / m->gpu_count : 0;
  for (int v = 0; v < libraries->values; v++) {
    const struct nai_sign *signs = libraries->of[v];
    if (signs[NAI_SIGN_KERNELS].names[0] && 2 * signs[NAI_SIGN_KERNELS].names[0] >= kernels &&
        nai_sign_confidence(signs) >= NAI_SURE_PERCENT)
      return shown(r, NAI_ASPECT_RUNTIME, v);
  }
  return NULL;
}

/* "PyTorch FSDP training in Python (torchrun)"; "gtest of nvFuser, C++ with PyTorch"; "CUTLASS in C++". */
static const char *program_text(const struct row *r, struct nai_buf *out) {
  const char *base = r->framework.text && !r->plain ? r->framework.text : NULL;
  const char *head = r->engine.text ? r->engine.text : base;
  head = head || r->stack.text || r->harness.text || r->role.text ? head : main_library(r);
  if (!head && !r->stack.text && !r->harness.text && !r->role.text)
    return "";
  head = head ? head : r->plain ? "CUDA" : "";
  if (r->harness.text)
    nai_buf_printf(out, "%s%s", r->harness.text, *head || r->stack.text ? " of " : "");
  nai_buf_puts(out, head);
  if (r->stack.text)
    nai_buf_printf(out, "%s%s", *head ? " " : "", r->stack.text);
  if (r->role.text && !r->harness.text && out->len)
    nai_buf_printf(out, " %s", r->role.text);
  else if (r->role.text && !r->harness.text)
    nai_buf_printf(out, "%c%s", toupper((unsigned char)*r->role.text), r->role.text + 1);
  const char *with = r->engine.text ? base : NULL;
  if (with)
    nai_buf_printf(out, ", %s%s%s", r->language.text ? r->language.text : "", r->language.text ? " with " : "with ",
                   with);
  else if (r->language.text)
    nai_buf_printf(out, " in %s", r->language.text);
  if (r->launcher.text)
    nai_buf_printf(out, " (%s)", r->launcher.text);
  return nai_buf_str(out);
}

/* Everything of these aspects that ran. */
static void put_libraries(const struct row *r, struct nai_buf *out) {
  enum { MAX_LIBRARIES = 8 };
  static const enum nai_workload_aspect aspects[] = {NAI_ASPECT_FRAMEWORK, NAI_ASPECT_COLLECTIVE, NAI_ASPECT_RUNTIME};
  int count = 0;
  for (size_t a = 0; a < sizeof aspects / sizeof *aspects; a++)
    for (int v = 0; v < r->who->aspects[aspects[a]].values; v++) {
      bool named = aspects[a] == NAI_ASPECT_FRAMEWORK && v == r->framework.value;
      if (named || nai_sign_confidence(r->who->aspects[aspects[a]].of[v]) < NAI_SURE_PERCENT || count == MAX_LIBRARIES)
        continue;
      nai_buf_printf(out, "%s%s", count++ ? ", " : "", shown(r, aspects[a], v));
    }
}

/* "PyTorch: threads pt_autograd_0; " of the kind that misleads least. */
static void put_evidence(const struct row *r, struct nai_buf *out, int *count, enum nai_workload_aspect aspect,
                         const struct told *told) {
  enum { MAX_LINES = 3, EXAMPLE_CHARS = 60 };
  static const enum nai_workload_sign best[NAI_SIGN_COUNT] = {NAI_SIGN_KERNELS, NAI_SIGN_MARKS,     NAI_SIGN_DOMAINS,
                                                              NAI_SIGN_RANGES,  NAI_SIGN_PROCESSES, NAI_SIGN_THREADS,
                                                              NAI_SIGN_MODULES, NAI_SIGN_CALLS};
  if (!told->text || told->value < 0 || *count == MAX_LINES)
    return;
  const struct nai_sign *signs = r->who->aspects[aspect].of[told->value];
  for (int shared = 0; shared < 2; shared++)
    for (int i = 0; i < NAI_SIGN_COUNT; i++) {
      const char *example = signs[best[i]].example[shared];
      if (!example)
        continue;
      nai_buf_printf(out, "%s%s: %s ", (*count)++ ? "; " : "", told->text, nai_workload_sign_name(best[i]));
      nai_text_cut(out, example, strlen(example), EXAMPLE_CHARS);
      nai_buf_puts(out, shared ? " (shared)" : "");
      return;
    }
}

int nai_who_put(const struct nai_node_io *io, const struct nai_who *who, int64_t pid, struct nai_err *err) {
  struct row r = {.io = io, .who = who};
  r.engine = tell(&r, NAI_ASPECT_ENGINE);
  r.stack = tell(&r, NAI_ASPECT_STACK);
  r.framework = tell_or_rest(&r, NAI_ASPECT_FRAMEWORK);
  r.language = tell_or_rest(&r, NAI_ASPECT_LANGUAGE);
  r.harness = tell(&r, NAI_ASPECT_HARNESS);
  r.launcher = tell(&r, NAI_ASPECT_LAUNCHER);
  r.role = tell_role(&r);
  r.plain = r.framework.text && r.framework.value < 0;
  NAI_SCOPED(nai_buf) program = {0}, libraries = {0}, evidence = {0};
  int count = 0;
  put_libraries(&r, &libraries);
  put_evidence(&r, &evidence, &count, NAI_ASPECT_HARNESS, &r.harness);
  put_evidence(&r, &evidence, &count, NAI_ASPECT_ENGINE, &r.engine);
  put_evidence(&r, &evidence, &count, NAI_ASPECT_STACK, &r.stack);
  put_evidence(&r, &evidence, &count, NAI_ASPECT_FRAMEWORK, &r.framework);
  put_evidence(&r, &evidence, &count, NAI_ASPECT_ROLE, &r.role);
  put_evidence(&r, &evidence, &count, NAI_ASPECT_LANGUAGE, &r.language);
  NAI_ADD(WORKLOAD, io->out[0], .pid = pid, .program = program_text(&r, &program),
          .language = r.language.text ? r.language.text : "unknown", .framework = framework_text(&r),
          .engine = r.engine.text, .libraries = libraries.len ? nai_buf_str(&libraries) : NULL,
          .harness = r.harness.text, .launcher = r.launcher.text, .role = r.role.text ? r.role.text : "unknown",
          .confidence = r.engine.text ? r.engine.percent : r.framework.percent,
          .evidence = evidence.len ? nai_buf_str(&evidence) : NULL);
  NAI_TRY(nai_buf_check(&program, err));
  NAI_TRY(nai_buf_check(&libraries, err));
  return nai_buf_check(&evidence, err);
}
