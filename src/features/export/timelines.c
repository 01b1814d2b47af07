/* What a run must have open before it becomes a timeline. */
#include "features/export/command.h"

#include "base/threads.h"

#include <stdio.h>

/* Whether the run has all of those event tables: what analyses did not need was not read from the trace. */
static bool has(const struct nai_run *run, uint64_t tables) {
  for (int i = 0; i < NAI_IN_COUNT; i++)
    if (tables & NAI_IN_BIT(i) && !nai_run_has(run, nai_event_tables[i]->name))
      return false;
  return true;
}

static int open_model(struct nai_model **out, struct nai_run *run, struct nai_kernel_classes *classes,
                      struct nai_err *err) {
  const struct nai_model_options options = {.classes = classes, .worker_count = nai_cpu_count()};
  uint64_t tables = NAI_EXPORT_TABLES;
  uint32_t parts = NAI_EXPORT_PARTS;
  if (has(run, NAI_EXPORT_OPTIONAL_TABLES))
    tables |= NAI_EXPORT_OPTIONAL_TABLES;
  if (has(run, nai_parts_tables(nai_parts_needed(NAI_EXPORT_OPTIONAL_PARTS))))
    parts |= NAI_EXPORT_OPTIONAL_PARTS;
  int rc = nai_run_model(out, run, &options, tables, parts, err);
  if (rc == NAI_ESTALE)
    rc = nai_err_wrap(err, NAI_EINPUT, "the run's event tables cannot be read; make it again with nsys-ai analyze");
  return rc;
}

/* Viewers hold everything in memory. */
static void warn_of_size(const struct nai_model *model, const struct nai_export_options *options) {
  enum { MANY = 5 * 1000 * 1000 };
  if (model->lanes.total > MANY && options->start_ns == INT64_MIN)
    fprintf(stderr, "nsys-ai: %llu events are more than viewers can hold; --trim exports a stretch of them\n",
            (unsigned long long)model->lanes.total);
}

/* What is done with the model: a timeline as a file, or as profiles. */
struct writing {
  struct nai_buf *out;
  const struct nai_cmd_timeline *how;
  const struct nai_export_profiles *profiles;
};

static int write_events(const struct writing *w, const struct nai_model *model, struct nai_err *err) {
  enum { MOST = 2 * 1000 * 1000 };
  if (!w->profiles) {
    if (!w->how->quiet)
      warn_of_size(model, &w->how->options);
    return w->how->write(w->out, model, &w->how->options, err);
  }
  if (w->how->all || model->lanes.total <= MOST)
    return nai_export_profiles(w->profiles, model, &w->how->options, err);
  if (!w->how->quiet)
    fprintf(
        stderr,
        "nsys-ai: without the profiles of threads and streams: %llu events are too many for most viewers; --all writes them\n",
        (unsigned long long)model->lanes.total);
  return NAI_OK;
}

static int with_model(const struct writing *w, struct nai_run *run, struct nai_err *err) {
  struct nai_kernel_classes *classes = NULL;
  struct nai_model *model;
  int rc = nai_kernel_classes_load(&classes, NULL, err);
  if (!rc)
    rc = nai_run_tell_classes(classes, run, err);
  if (!rc)
    rc = open_model(&model, run, classes, err);
  if (!rc)
    rc = write_events(w, model, err);
  nai_run_drop_model(run); /* it refers to the classes */
  nai_kernel_classes_free(classes);
  return rc;
}

int nai_cmd_put_timeline(struct nai_buf *out, struct nai_run *run, const struct nai_cmd_timeline *how,
                         struct nai_err *err) {
  return with_model(&(struct writing){.out = out, .how = how}, run, err);
}

int nai_cmd_put_profiles(const struct nai_export_profiles *into, struct nai_run *run,
                         const struct nai_cmd_timeline *how, struct nai_err *err) {
  return with_model(&(struct writing){.how = how, .profiles = into}, run, err);
}
