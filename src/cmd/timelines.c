/* What a run must have open before it becomes a timeline. */
#include "cmd/ask/answer.h"

#include "base/threads.h"

#include <stdio.h>

/* Whether the run has all of those event tables: what analyses did not need was not read from the trace. */
static bool has(const struct nai_run *run, uint64_t tables) {
  uint64_t hash;
  for (int i = 0; i < NAI_IN_COUNT; i++)
    if (tables & NAI_IN_BIT(i) && !nai_manifest_table(&hash, &run->manifest, nai_event_tables[i]->name))
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

int nai_cmd_put_timeline(struct nai_buf *out, struct nai_run *run, const struct nai_cmd_timeline *how,
                         struct nai_err *err) {
  struct nai_kernel_classes *classes = NULL;
  struct nai_model *model;
  int rc = nai_kernel_classes_load(&classes, NULL, err);
  if (!rc)
    rc = open_model(&model, run, classes, err);
  if (!rc && !how->quiet)
    warn_of_size(model, &how->options);
  if (!rc)
    rc = how->write(out, model, &how->options, err);
  nai_run_drop_model(run); /* it refers to the classes */
  nai_kernel_classes_free(classes);
  return rc;
}
