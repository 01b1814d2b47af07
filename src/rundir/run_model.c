/* The model of a run: its event tables, checked against each other, and what it says of kernels. */
#include "config/kernel_classes.h"
#include "rundir/run_internal.h"
#include "tables/events.h"

static const struct nai_table *look_up(void *run, const char *name) { return nai_run_find_loaded(run, name); }

int nai_run_check(struct nai_run *run, struct nai_err *err) {
  for (uint32_t i = 0; i < run->table_count; i++)
    NAI_TRY(nai_table_check_refs(run->tables[i], look_up, run, err));
  for (uint32_t i = 0; i < run->table_count; i++)
    NAI_TRY(nai_table_check_cells(run->tables[i], err));
  return NAI_OK;
}

int nai_run_open_events(struct nai_run *run, uint64_t tables, struct nai_err *err) {
  uint32_t held = run->unchecked ? UINT32_MAX : run->table_count;
  const struct nai_table *table;
  for (int i = 0; i < NAI_IN_COUNT; i++)
    if (tables & NAI_IN_BIT(i))
      NAI_TRY(nai_run_table(&table, run, nai_event_tables[i]->name, nai_event_tables[i], err));
  run->unchecked = false;
  /* What this program has just made is right; tables from files may hold anything. */
  return run->table_count == held ? NAI_OK : nai_run_check(run, err);
}

static int open_model(struct nai_run *run, const struct nai_model_options *options, uint64_t tables,
                      struct nai_err *err) {
  struct nai_table *held[NAI_IN_COUNT];
  NAI_TRY(nai_run_open_events(run, tables, err));
  for (int i = 0; i < NAI_IN_COUNT; i++)
    held[i] = nai_run_find_loaded(run, nai_event_tables[i]->name);
  run->model = malloc(sizeof *run->model);
  NAI_TRY(nai_memory_check(run->model, err));
  nai_model_open(run->model, held, options);
  return NAI_OK;
}

int nai_run_model(struct nai_model **out, struct nai_run *run, const struct nai_model_options *options, uint64_t tables,
                  uint32_t parts, struct nai_err *err) {
  if (!run->model)
    NAI_TRY(open_model(run, options, tables | nai_parts_tables(parts), err));
  *out = run->model;
  return parts ? nai_model_build(run->model, parts, err) : NAI_OK;
}

struct nai_model *nai_run_held_model(const struct nai_run *run) {
  return run->model;
}

struct nai_model *nai_run_exchange_model(struct nai_run *run, struct nai_model *model) {
  struct nai_model *held = run->model;
  run->model = model;
  return held;
}

/* Options stand in the manifest with their values. */
static bool has_own_classes(const struct nai_run *run) {
  static const char option[] = "--kernel-classes ";
  const struct nai_strings *options = &run->manifest.options;
  for (uint32_t i = 0; i < options->count; i++)
    if (strncmp(nai_strings_get(options, i), option, strlen(option)) == 0)
      return true;
  return false;
}

/* By the names of columns: the table may be another version's. */
static int tell(struct nai_kernel_classes *classes, struct nai_run *run, struct nai_err *err) {
  const struct nai_table *kernels;
  NAI_TRY(nai_run_table(&kernels, run, "kernels", NULL, err));
  for (int64_t i = 0; i < kernels->rows; i++) {
    const char *category = nai_cell_str(kernels, i, "category");
    if (*category)
      NAI_TRY(nai_kernel_classes_tell(classes, nai_cell_str(kernels, i, "kernel_name"), category, err));
  }
  return NAI_OK;
}

int nai_run_tell_classes(struct nai_kernel_classes *classes, struct nai_run *run, struct nai_err *err) {
  int rc = has_own_classes(run) ? tell(classes, run, err) : NAI_OK;
  return rc == NAI_ESTALE ? err->code = NAI_EINPUT : rc;
}
