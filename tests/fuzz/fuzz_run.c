/* A stored run that somebody forged: cells of its event tables are changed, checksums fit. Whatever passes the checks
 * on opening is analysed whole: model and analyses. The runs to start from are made of generated traces. */
#include "analyses/analysis.h"
#include "bases.h"
#include "config/flops.h"
#include "ingest/ingest.h"
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BASES = 3 };
static struct nai_ingest bases[BASES];
static struct nai_kernel_classes *classes;
static struct nai_workload_patterns *workload;
static struct nai_gpu_facts *gpu_facts;

static void make_base(struct nai_ingest *in, const char *scenario) {
  char path[PATH_MAX], directory[PATH_MAX]; /* its own: table files of two traces have the same names */
  struct nai_trace *trace = NULL;
  struct nai_err err = {0};
  bases_generate(path, scenario, "");
  snprintf(directory, sizeof directory, "%s/%s", bases_directory(), scenario);
  bases_must(nai_fs_mkdir(directory, &err), &err);
  const struct nai_ingest_options options = {.threads = 1, .directory = directory, .tables = NAI_IN_ALL};
  bases_must(nai_trace_open(&trace, path, &(struct nai_trace_options){0}, &err), &err);
  bases_must(nai_probe(in, trace, NAI_IN_ALL, &err), &err);
  bases_must(nai_extract(in, trace, &options, &err), &err);
  nai_trace_close(trace);
}

static void make_bases(void) {
  static const char *const scenarios[BASES] = {"evidence", "nvtx-mix", "collectives"};
  struct nai_err err = {0};
  for (int i = 0; i < BASES; i++)
    make_base(&bases[i], scenarios[i]);
  bases_must(nai_kernel_classes_load(&classes, NULL, &err), &err);
  bases_must(nai_workload_patterns_load(&workload, NULL, &err), &err);
  bases_must(nai_gpu_facts_load(&gpu_facts, NULL, &err), &err);
}

static struct nai_table *copy_of(const struct nai_table *from) {
  struct nai_table *to;
  struct nai_err err = {0};
  bases_must(nai_table_new(&to, from->schema, &err), &err);
  for (int64_t row = 0; row < from->rows; row++) {
    nai_table_add_row(to);
    for (int c = 0; c < (int)from->schema->column_count; c++) {
      struct nai_value v = nai_table_value(from, row, c);
      if (v.null)
        continue;
      if (v.type == NAI_STR)
        nai_set_str(to, row, c, v.s);
      else if (v.type == NAI_F64)
        nai_set_f64(to, row, c, v.f);
      else
        nai_set_i64(to, row, c, v.i);
    }
  }
  return to;
}

/* One change: which table, column and row, and what becomes of the cell. */
struct change {
  uint8_t table, column, row[2], how, value;
};

static int64_t changed(const struct nai_table *t, int64_t row, int column, const struct change *change) {
  int64_t old = nai_get_i64(t, row, column);
  const int64_t known[] = {NAI_NULL_I64, INT64_MAX, INT64_MIN + 1, INT32_MAX, -1, 0, 1, t->rows};
  switch (change->how & 7) {
  case 0:
    return known[change->value & 7];
  case 1:
    return change->value;
  case 2:
    return (int64_t)((uint64_t)old + change->value - 128);
  case 3:
    return (int64_t)((uint64_t)old ^ UINT64_C(1) << (change->value & 63));
  case 4:
    return nai_get_i64(t, change->value % t->rows, column);
  case 5:
    return (int64_t)((uint64_t)old * change->value);
  default:
    return (int64_t)((uint64_t)change->value << (change->how >> 3 & 7) * 8);
  }
}

static void apply(struct nai_table *t, const struct change *change) {
  int column = change->column % (int)t->schema->column_count;
  if (!t->rows)
    return;
  int64_t first = (change->row[0] << 8 | change->row[1]) % t->rows, end = change->how & 0x80 ? t->rows : first + 1;
  for (int64_t row = first; row < end; row++)
    switch (t->schema->columns[column].type) {
    case NAI_STR: /* numbers out of range are refused on opening */
      nai_column_str(t, column)[row] =
          t->strings.count && change->how & 1 ? change->value % t->strings.count : NAI_NO_STRING;
      break;
    case NAI_F64:
      nai_set_f64(t, row, column, (double)change->value * 1e30);
      break;
    case NAI_I32: {
      int64_t value = changed(t, row, column, change);
      nai_column_i32(t, column)[row] = value == NAI_NULL_I64 ? NAI_NULL_I32 : (int32_t)value;
      break;
    }
    case NAI_I64:
      nai_column_i64(t, column)[row] = changed(t, row, column, change);
      break;
    }
}

/* Runs an analysis whose inputs are held. */
static void analyze(struct nai_run *run, const struct nai_node *node) {
  struct nai_table *out[8] = {0};
  const struct nai_table *in[16] = {0};
  struct nai_err err = {0};
  int n = 0;
  for (; node->outputs[n]; n++)
    bases_must(nai_table_new(&out[n], node->outputs[n], &err), &err);
  for (int i = 0; node->inputs && node->inputs[i]; i++)
    in[i] = nai_run_held(run, node->inputs[i]);
  const struct nai_node_io io = {.out = out, .in = in, .model = run->model};
  int rc = node->run(&io, &err); /* may refuse, must not crash */
  for (int i = 0; i < n; i++)
    if (rc)
      nai_table_free(out[i]);
    else
      bases_must(nai_run_hold(run, out[i], &err), &err);
}

static bool is_ready(const struct nai_run *run, const struct nai_node *node) {
  for (int i = 0; node->inputs && node->inputs[i]; i++)
    if (!nai_run_held(run, node->inputs[i]))
      return false;
  return !nai_run_held(run, node->outputs[0]->name);
}

static void analyze_all(struct nai_run *run) {
  struct nai_table *held[NAI_IN_COUNT];
  struct nai_err err = {0};
  struct nai_flops flops = {0};
  const struct nai_model_options options = {.classes = classes,
                                            .workload = workload,
                                            .gpu_facts = gpu_facts,
                                            .flops = &flops,
                                            .map_nvtx = true,
                                            .page_events = 1500000,
                                            .worker_count = 1};
  for (int i = 0; i < NAI_IN_COUNT; i++)
    held[i] = nai_run_held(run, nai_event_tables[i]->name);
  run->model = malloc(sizeof *run->model);
  nai_model_open(run->model, held, &options);
  if (nai_model_build(run->model, (1u << NAI_PART_COUNT) - 1, &err))
    return;
  for (bool any = true; any;) {
    any = false;
    for (int a = 0; nai_analyses[a]; a++)
      if (is_ready(run, nai_analyses[a])) {
        analyze(run, nai_analyses[a]);
        any |= nai_run_held(run, nai_analyses[a]->outputs[0]->name) != NULL;
      }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct nai_err err = {0};
  if (!classes)
    make_bases();
  const struct nai_ingest *base = &bases[size ? data[0] % BASES : 0];
  struct nai_run *run = calloc(1, sizeof *run);
  run->directory = -1;
  for (int i = 0; i < NAI_IN_COUNT; i++)
    bases_must(nai_run_hold(run, copy_of(base->tables[i]), &err), &err);
  for (size_t at = 1; at + sizeof(struct change) <= size && at < 1 + 8 * sizeof(struct change);
       at += sizeof(struct change)) {
    struct change change;
    memcpy(&change, data + at, sizeof change);
    apply(nai_run_held(run, nai_event_tables[change.table % NAI_IN_COUNT]->name), &change);
  }
  if (nai_run_check(run, &err) == NAI_OK)
    analyze_all(run);
  nai_run_close(run);
  return 0;
}
