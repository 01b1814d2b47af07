/* What a batch will do: its traces, limits and the options of each analysis, from the command line and what is there.
 */
#include "features/batch/command.h"

#include "base/fs.h"
#include "pipeline/analyze.h"

#include <unistd.h>

/* A mistake in a rule should not fail a thousand items. */
static int check_configuration(const struct batch_args *a, struct nai_err *err) {
  struct nai_options run;
  nai_options_init(&run);
  for (size_t i = 0; i < a->forwarded_count; i++) {
    const char *name = a->forwarded[i].option->name, *value = a->forwarded[i].value;
    if (strcmp(name, "rules") == 0 && run.rule_count < NAI_MAX_RULE_FILES)
      run.rules[run.rule_count++] = value;
    else if (strcmp(name, "metrics") == 0 && run.metric_count < NAI_MAX_RULE_FILES)
      run.metrics[run.metric_count++] = value;
    else if (strcmp(name, "templates") == 0)
      run.templates = value;
    else if (strcmp(name, "phase-map") == 0)
      run.phase_map = value;
    else if (strcmp(name, "kernel-classes") == 0)
      run.kernel_classes = value;
    else if (strcmp(name, "workload") == 0)
      run.workload = value;
  }
  return nai_analyze_check(&run, err);
}

/* Tasks may run elsewhere, so files get their whole path. */
static int take_options(struct nai_batch *b, const struct batch_args *a, struct nai_err *err) {
  for (size_t i = 0; i < a->forwarded_count; i++) {
    const struct batch_forwarded *f = &a->forwarded[i];
    char name[64];
    snprintf(name, sizeof name, "--%s", f->option->name);
    NAI_FREED char *whole = f->value && nai_fs_exists(f->value) ? realpath(f->value, NULL) : NULL;
    NAI_TRY(nai_batch_add_option(b, name, err));
    if (f->value)
      NAI_TRY(nai_batch_add_option(b, whole ? whole : f->value, err));
  }
  return NAI_OK;
}

static const char *absolute(const char *path, struct nai_arena *arena) {
  char directory[PATH_MAX];
  return path[0] == '/' || !getcwd(directory, sizeof directory) ? nai_arena_printf(arena, "%s", path)
                                                                : nai_arena_printf(arena, "%s/%s", directory, path);
}

/* The batch that is there, with what this command line says anew. */
static int plan_again(struct nai_batch *b, const struct batch_args *a, struct nai_err *err) {
  NAI_TRY(nai_batch_open(b, a->out, err));
  if (!a->forwarded_count) /* those of before */
    return NAI_OK;
  b->option_count = 0;
  return take_options(b, a, err);
}

/* Without inputs a batch that is not there would be one of no traces, and succeed. */
static int nothing_to_resume(const char *out, struct nai_err *err) {
  char plan[PATH_MAX];
  bool begun = nai_fs_join(plan, sizeof plan, out, "batch.json") && access(plan, F_OK) == 0;
  return begun
           ? nai_err_set(err, NAI_EUSAGE,
                         "\"%s\" has no manifest.csv, so its traces are unknown: the batch was killed in its first "
                         "moments, or the file was removed; give them again with nsys-ai batch INPUT --resume --out "
                         "DIR",
                         out)
           : nai_batch_none(out, err);
}

int nai_cmd_batch_plan(struct nai_batch *b, const struct batch_args *a, const char *const *inputs, size_t count,
                       struct nai_err *err) {
  bool exists = nai_batch_exists(a->out);
  if (exists && !a->resume)
    return nai_err_set(err, NAI_EUSAGE,
                       "\"%s\" holds a batch already: finish it with --resume, or choose another --out", a->out);
  if (!exists && !count)
    return nothing_to_resume(a->out, err);
  NAI_TRY(check_configuration(a, err));
  NAI_TRY(exists ? plan_again(b, a, err) : take_options(b, a, err));
  if (count) {
    b->manifest = (struct nai_batch_manifest){.arena = b->arena};
    NAI_TRY(nai_batch_manifest_make(&b->manifest, inputs, count, err));
  }
  if (!b->out)
    b->out = absolute(a->out, b->arena);
  if (a->time_limit_s)
    b->time_limit_s = a->time_limit_s;
  if (a->memory_limit_bytes)
    b->memory_limit_bytes = a->memory_limit_bytes;
  if (a->scratch)
    b->scratch = a->scratch;
  b->retry_refused = a->retry != NULL;
  return nai_arena_check(b->arena, err);
}
