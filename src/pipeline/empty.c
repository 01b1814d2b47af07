/* A run without rows: what statements are checked against before there is a trace. */
#include "pipeline/analyze.h"

#include "rundir/run.h"

static int hold_empty(struct nai_run *run, const struct nai_schema *schema, struct nai_err *err) {
  struct nai_table *table;
  if (nai_run_find_loaded(run, schema->name))
    return NAI_OK;
  NAI_TRY(nai_table_new(&table, schema, err));
  return nai_run_add(run, table, err);
}

int nai_empty_run(struct nai_run **out, struct nai_err *err) {
  const struct nai_schema *schemas[NAI_REPORT_MAX_TABLES];
  size_t count = nai_report_schemas(schemas, NAI_STAGE_RENDER);
  NAI_OWNED(nai_run) *run = NULL;
  *out = NULL;
  NAI_TRY(nai_run_new(&run, err));
  for (size_t i = 0; i < count; i++)
    NAI_TRY(hold_empty(run, schemas[i], err));
  for (int i = 0; i < NAI_IN_COUNT; i++)
    if (NAI_IN_DEFAULT & NAI_IN_BIT(i))
      NAI_TRY(hold_empty(run, nai_event_tables[i], err));
  *out = run;
  run = NULL;
  return NAI_OK;
}
