#include "index/index.h"

#include "base/sort.h"
#include "base/temporary.h"
#include "base/text.h"
#include "rundir/run.h"
#include "tables/capture.h"
#include "tables/index_findings.h"
#include "tables/index_kernels.h"
#include "tables/index_metrics.h"

int nai_index_new(struct nai_index *out, struct nai_err *err) {
  *out = (struct nai_index){.title = "Index", .what = "run", .group = "series"};
  NAI_TRY(nai_table_new(&out->runs, &nai_runs_schema, err));
  NAI_TRY(nai_table_new(&out->metrics, &nai_index_metrics_schema, err));
  NAI_TRY(nai_table_new(&out->findings, &nai_index_findings_schema, err));
  NAI_TRY(nai_table_new(&out->kernels, &nai_index_kernels_schema, err));
  struct nai_table *const large[] = {out->metrics, out->findings, out->kernels}; /* those of a whole store */
  for (size_t i = 0; i < sizeof large / sizeof *large; i++)
    nai_table_keep_in(large[i], nai_temporary_place());
  return NAI_OK;
}

void nai_index_free(struct nai_index *index) {
  nai_table_free(index->runs);
  nai_table_free(index->metrics);
  nai_table_free(index->findings);
  nai_table_free(index->kernels);
  *index = (struct nai_index){0};
}

/* What comes from file names, manifests and messages is as clean in the index as what comes from traces. */
int64_t nai_index_add(struct nai_index *index, const struct RUNS_row *run) {
  struct nai_table *t = index->runs;
  int64_t row = RUNS_add(t, run);
  for (int c = 0; c < RUNS_COLUMN_COUNT; c++) {
    NAI_SCOPED(nai_buf) clean = {0};
    const char *text = t->schema->columns[c].type == NAI_STR ? nai_get_str(t, row, c) : "-";
    if (*text && nai_text_is_clean(text, strlen(text)))
      continue;
    nai_text_clean(&clean, text, strlen(text));
    nai_set_str(t, row, c, clean.len ? clean.data : NULL);
    t->oom |= clean.oom;
  }
  return row;
}

int nai_index_utc(int64_t *utc_ns, struct nai_run *run, struct nai_err *err) {
  const struct nai_table *capture;
  NAI_TRY(nai_run_table(&capture, run, "capture", &nai_capture_schema, err));
  *utc_ns = nai_run_utc(run);
  return NAI_OK;
}

int nai_index_sort(struct nai_index *index, struct nai_err *err) {
  struct nai_table *const tables[] = {index->runs, index->metrics, index->findings, index->kernels};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    NAI_TRY(nai_table_check(tables[i], err));
  for (size_t i = 1; i < sizeof tables / sizeof *tables; i++)
    NAI_TRY(nai_table_sort(tables[i], err));
  return NAI_OK;
}

struct rows_of {
  const struct nai_table *table;
  const char *run_id;
};

static bool run_before(const void *ctx, size_t row) {
  const struct rows_of *of = ctx;
  return strcmp(nai_get_str(of->table, (int64_t)row, 0), of->run_id) < 0;
}

int64_t nai_index_rows_of(int64_t *count, const struct nai_table *table, const char *run_id) {
  int64_t first = (int64_t)nai_search(0, (size_t)table->rows, run_before, &(struct rows_of){table, run_id}),
          end = first;
  while (end < table->rows && strcmp(nai_get_str(table, end, 0), run_id) == 0)
    end++;
  *count = end - first;
  return first;
}
