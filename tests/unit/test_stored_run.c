/* tests/data/run-2.0: a run as the first program wrote it whose manifest has version 2 and whose table files have
 * version 3. It stays as it is for ever; what later programs make of it is checked here. */
#include "model_fixture.h"

#include "rundir/run.h"
#include "tables/kernel_events.h"

#include <stdio.h>
#include <stdlib.h>

static struct nai_run *stored;

static int open_run(void **state) {
  (void)state;
  char path[4096];
  const char *source = getenv("NAI_SOURCE_DIR");
  snprintf(path, sizeof path, "%s/tests/data/run-2.0", source ? source : ".");
  struct nai_err err = {0};
  int rc = nai_run_open(&stored, path, &err);
  if (rc)
    print_error("%s\n", err.msg);
  return rc;
}

static int close_run(void **state) {
  (void)state;
  nai_run_close(stored);
  return 0;
}

static const struct nai_table *table(const char *name, const struct nai_schema *schema) {
  const struct nai_table *found = NULL;
  ok(nai_run_table(&found, stored, name, schema, err));
  return found;
}

TEST(test_manifest) {
  const struct nai_manifest *m = nai_run_manifest(stored);
  assert_string_equal(m->version, "0.1.0");
  assert_string_equal(m->trace, "minimal.sqlite");
  assert_true(m->identity != 0);
  assert_non_null(nai_manifest_node(m, "extract"));
  assert_ptr_equal(nai_manifest_maker(m, "kernels"), nai_manifest_node(m, "kernels"));
}

TEST(test_tables_as_they_are) {
  const struct nai_table *kernels = table("kernels", NULL), *gpus = table("gpu_utilization", NULL);
  assert_int_equal(kernels->rows, 1);
  assert_string_equal(nai_cell_str(kernels, 0, "kernel_name"), "void saxpy<float>(int, T1, const T1 *, T1 *)");
  assert_int_equal(nai_cell(gpus, 0, "window_ns").i, nai_cell(gpus, 0, "busy_ns").i + nai_cell(gpus, 0, "idle_ns").i);
  const struct nai_column_def *def = &kernels->schema->columns[nai_schema_column(kernels->schema, "kernel_name")];
  assert_true(def->key && def->role == NAI_ROLE_KERNEL_NAME);
}

/* With today's schema: what the file has under other numbers, or not at all. */
TEST(test_tables_as_they_are_now) {
  for (int i = 0; i < NAI_IN_COUNT; i++) {
    char path[4096];
    if (!nai_run_has(stored, nai_event_tables[i]->name))
      continue;
    assert_true(nai_run_table_path(path, sizeof path, stored, nai_event_tables[i]->name));
    FILE *file = fopen(path, "rb");
    if (!file) /* a few tables are enough */
      continue;
    fclose(file);
    const struct nai_table *t = table(nai_event_tables[i]->name, nai_event_tables[i]);
    assert_ptr_equal(t->schema, nai_event_tables[i]);
    assert_true(t->rows >= 0);
  }
  const struct nai_table *events = nai_run_find_loaded(stored, "kernel_events");
  assert_non_null(events);
  assert_true(events->rows > 0 &&
              nai_get_i64(events, 0, KERNEL_EVENTS_start_ns) < nai_get_i64(events, 0, KERNEL_EVENTS_end_ns));
}

TEST(test_missing) {
  const struct nai_table *none;
  struct nai_err refused = {0};
  assert_int_equal(nai_run_table(&none, stored, "no_such_table", NULL, &refused), NAI_ESTALE);
  assert_non_null(strstr(refused.msg, "no_such_table"));
}

UNIT_FIXTURE(open_run, close_run)
