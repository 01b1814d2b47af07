/* What a run must have open before it becomes a timeline. */
#include "features/export/command.h"

#include "base/temporary.h"
#include "base/threads.h"
#include "tables/call_sites.h"

/* Those of event tables that the run has: what analyses did not need was not read from the trace. */
static uint64_t present(const struct nai_run *run, uint64_t tables) {
  for (int i = 0; i < NAI_IN_COUNT; i++)
    if (tables & NAI_IN_BIT(i) && !nai_run_has(run, nai_event_tables[i]->name))
      tables &= ~NAI_IN_BIT(i);
  return tables;
}

int nai_cmd_with_model(struct nai_run *run, const struct nai_cmd_model_needs *needs, nai_cmd_model_fn *use, void *ctx,
                       struct nai_err *err) {
  NAI_OWNED(nai_kernel_classes) *classes = NULL;
  struct nai_model *model;
  uint64_t tables = needs->tables | present(run, needs->optional_tables),
           of_parts = nai_parts_tables(nai_parts_needed(needs->optional_parts));
  bool optional = present(run, of_parts) == of_parts;
  NAI_TRY(nai_kernel_classes_load(&classes, NULL, err));
  NAI_TRY(nai_run_tell_classes(classes, run, err));
  const struct nai_model_options options = {.classes = classes,
                                            .worker_count = nai_cpu_count(),
                                            .map_nvtx = needs->map_nvtx,
                                            .scratch_dir = nai_temporary_place()};
  int rc = nai_run_model(&model, run, &options, tables, needs->parts | (optional ? needs->optional_parts : 0), err);
  if (rc == NAI_ESTALE)
    rc = nai_err_wrap(err, NAI_EINPUT, "the run's event tables cannot be read; make it again with nsys-ai analyze");
  if (!rc)
    rc = use(model, ctx, err);
  nai_run_drop_model(run); /* it refers to the classes */
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

static int write_events(const struct nai_model *model, void *ctx, struct nai_err *err) {
  const struct writing *w = ctx;
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

static int write_run(struct writing w, struct nai_run *run, struct nai_err *err) {
  struct nai_cmd_model_needs needs = {.tables = NAI_EXPORT_TABLES,
                                      .optional_tables = NAI_EXPORT_OPTIONAL_TABLES,
                                      .parts = NAI_EXPORT_PARTS,
                                      .optional_parts = NAI_EXPORT_OPTIONAL_PARTS};
  const struct nai_table *sites;
  NAI_TRY(nai_run_table_if_any(&sites, run, nai_call_sites_schema.name, &nai_call_sites_schema, err));
  if (sites && sites->rows) {
    needs.optional_tables |= NAI_EXPORT_SITE_TABLES;
    needs.parts |= NAI_EXPORT_SITE_PARTS;
  }
  return nai_cmd_with_model(run, &needs, write_events, &w, err);
}

int nai_cmd_put_timeline(struct nai_buf *out, struct nai_run *run, const struct nai_cmd_timeline *how,
                         struct nai_err *err) {
  return write_run((struct writing){.out = out, .how = how}, run, err);
}

int nai_cmd_put_profiles(const struct nai_export_profiles *into, struct nai_run *run,
                         const struct nai_cmd_timeline *how, struct nai_err *err) {
  return write_run((struct writing){.how = how, .profiles = into}, run, err);
}
