/* A run without rows: what statements are checked against before there is a trace. */
#include "pipeline/analyze.h"

#include "rundir/run.h"

#include <stdlib.h>

static int hold_empty(struct nai_run *run, const struct nai_schema *schema, struct nai_err *err) {
  struct nai_table *table;
  int rc = nai_run_find_loaded(run, schema->name) ? NAI_OK : nai_table_new(&table, schema, err);
  return rc || nai_run_find_loaded(run, schema->name) ? rc : nai_run_add(run, table, err);
}

int nai_empty_run(struct nai_run **out, struct nai_err *err) {
  const struct nai_schema *schemas[NAI_REPORT_MAX_TABLES];
  size_t count = nai_report_schemas(schemas, NAI_STAGE_RENDER);
  struct nai_run *run = *out = calloc(1, sizeof *run);
  int rc = run ? NAI_OK : nai_err_nomem(err);
  if (run)
    run->directory = -1;
  for (size_t i = 0; i < count && !rc; i++)
    rc = hold_empty(run, schemas[i], err);
  for (int i = 0; i < NAI_IN_COUNT && !rc; i++)
    if (NAI_IN_DEFAULT & NAI_IN_BIT(i))
      rc = hold_empty(run, nai_event_tables[i], err);
  if (rc && run) {
    nai_run_close(run);
    *out = NULL;
  }
  return rc;
}
