/* Builds a model from event tables filled in memory, so that tests need no export. Times are ns. */
#pragma once

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "analyses/analysis.h"
#include "config/kernel_classes.h"
#include "config/phase_map.h"
#include "model/model.h"
#include "trace/ingest.h"
#include "tables/api_events.h"
#include "tables/gpus.h"
#include "tables/kernel_events.h"
#include "tables/nvtx_events.h"
#include "tables/osrt_events.h"
#include "tables/overhead_events.h"
#include "tables/processes.h"

struct fixture {
  struct nai_ingest in;
  struct nai_kernel_classes *classes;
  struct nai_workload_patterns *workload;
  struct nai_gpu_facts *gpu_facts;
  struct nai_model m;
  uint64_t seed;
};

#define ok(call)                                  \
  do {                                            \
    struct nai_err fixture_err = {0};             \
    struct nai_err *err = &fixture_err;           \
    if ((call) != 0)                              \
      fail_msg("%s: %s", #call, fixture_err.msg); \
  } while (0)

static inline void fixture_init(struct fixture *f) {
  *f = (struct fixture){.seed = 1};
  for (int i = 0; i < NAI_IN_COUNT; i++)
    ok(nai_table_new(&f->in.tables[i], nai_event_tables[i], err));
  ok(nai_kernel_classes_load(&f->classes, NULL, err));
  ok(nai_workload_patterns_load(&f->workload, NULL, err));
  ok(nai_gpu_facts_load(&f->gpu_facts, NULL, err));
  f->m.map_nvtx = true;
  f->m.page_events = 1500000;
  f->m.worker_count = 2;
}

/* Pseudo-random number below n, the same on every run. */
static inline int64_t fixture_random(struct fixture *f, int64_t n) {
  f->seed = f->seed * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((f->seed >> 33) % (uint64_t)n);
}

static inline void fixture_cells(struct nai_table *table, const int64_t *values, int count) {
  int64_t row = nai_table_add_row(table);
  for (int c = 0; c < count; c++)
    if (table->schema->columns[c].type != NAI_STR)
      nai_set_i64(table, row, c, values[c]);
}
#define CELLS(table, ...) \
  fixture_cells(table, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static inline int32_t fixture_process(struct fixture *f, int64_t pid) {
  struct nai_table *t = f->in.tables[NAI_IN_PROCESSES];
  CELLS(t, pid << 24, pid);
  return (int32_t)t->rows - 1;
}

static inline int32_t fixture_thread(struct fixture *f, int32_t process, int64_t tid) {
  struct nai_table *t = f->in.tables[NAI_IN_THREADS];
  int64_t pid = process < 0 ? 0 : nai_get_i64(f->in.tables[NAI_IN_PROCESSES], process, PROCESSES_pid);
  CELLS(t, pid << 24 | tid, process, pid, tid);
  return (int32_t)t->rows - 1;
}

static inline void fixture_gpu(struct fixture *f, int64_t device) {
  struct nai_table *t = f->in.tables[NAI_IN_GPUS];
  CELLS(t, device);
  nai_set_str(t, t->rows - 1, GPUS_label, "GPU");
}

/* A new fixture with process 10, its thread 10 and GPU 0; returns the process. */
static inline int32_t fixture_begin(struct fixture *f) {
  fixture_init(f);
  int32_t process = fixture_process(f, 10);
  fixture_gpu(f, 0);
  fixture_thread(f, process, 10);
  return process;
}

static inline void fixture_kernel(struct fixture *f, int64_t start, int64_t end, const char *name, int64_t device,
                                  int64_t process, int64_t stream, int64_t correlation) {
  struct nai_table *t = f->in.tables[NAI_IN_KERNELS], *configs = f->in.tables[NAI_IN_KERNEL_CONFIGS];
  if (!configs->rows)
    CELLS(configs, 1, 1, 1, 32, 1, 1, 16, 0, 0);
  CELLS(t, start, end, 0, device, process, 1, stream, correlation, 0, NAI_NULL_I64);
  nai_set_str(t, t->rows - 1, KERNEL_EVENTS_name, name);
}

static inline void fixture_memop(struct fixture *f, int64_t start, int64_t end, int kind, int64_t device,
                                 int64_t process, int64_t stream, int64_t correlation, int64_t bytes, int64_t copy_kind,
                                 int64_t src, int64_t dst) {
  CELLS(f->in.tables[NAI_IN_MEMOPS], start, end, kind, device, process, 1, stream, correlation, bytes, copy_kind, src,
        dst, NAI_NULL_I64);
}

static inline void fixture_graph(struct fixture *f, int64_t start, int64_t end, int64_t device, int64_t process,
                                 int64_t stream, int64_t correlation) {
  CELLS(f->in.tables[NAI_IN_GRAPHS], start, end, device, process, 1, stream, correlation, 5, 6);
}

static inline void fixture_api(struct fixture *f, int64_t start, int64_t end, int64_t thread, const char *name,
                               int64_t correlation) {
  struct nai_table *t = f->in.tables[NAI_IN_APIS];
  CELLS(t, start, end, thread, 0, correlation);
  nai_set_str(t, t->rows - 1, API_EVENTS_name, name);
}

static inline void fixture_nvtx(struct fixture *f, int64_t start, int64_t end, int64_t thread, const char *name,
                                int kind) {
  struct nai_table *t = f->in.tables[NAI_IN_NVTX];
  CELLS(t, start, end, thread, 0, kind, 1);
  nai_set_str(t, t->rows - 1, NVTX_EVENTS_name, name);
}

static inline void fixture_overhead(struct fixture *f, int64_t start, int64_t end, int64_t thread, const char *name,
                                    int source) {
  struct nai_table *t = f->in.tables[NAI_IN_OVERHEAD];
  CELLS(t, start, end, thread, 0, source, NAI_NULL_I64, 0);
  nai_set_str(t, t->rows - 1, OVERHEAD_EVENTS_name, name);
}

static inline void fixture_osrt(struct fixture *f, int64_t start, int64_t end, int64_t thread, const char *name,
                                int level) {
  struct nai_table *t = f->in.tables[NAI_IN_OSRT];
  CELLS(t, start, end, thread, 0, level, NAI_NULL_I64);
  nai_set_str(t, t->rows - 1, OSRT_EVENTS_name, name);
}

static inline void fixture_build(struct fixture *f) {
  struct nai_table *const *t = f->in.tables;
  struct nai_table *capture = t[NAI_IN_CAPTURE];
  if (!capture->rows)
    nai_table_add_row(capture);
  const struct nai_model_options options = {.classes = f->classes,
                                            .phases = f->m.phases,
                                            .workload = f->workload,
                                            .gpu_facts = f->gpu_facts,
                                            .step = f->m.step,
                                            .map_nvtx = f->m.map_nvtx,
                                            .page_events = f->m.page_events,
                                            .worker_count = f->m.worker_count};
  for (int i = 0; i < NAI_IN_COUNT; i++)
    ok(nai_table_check(t[i], err));
  nai_model_open(&f->m, t, &options);
  ok(nai_model_build(&f->m, (1u << NAI_PART_COUNT) - 1, err));
}

static inline void fixture_free(struct fixture *f) {
  nai_model_free(&f->m);
  nai_kernel_classes_free(f->classes);
  nai_workload_patterns_free(f->workload);
  nai_gpu_facts_free(f->gpu_facts);
  nai_ingest_free(&f->in);
}

/* The table of that name, by the analysis that makes it and those whose tables it reads; NULL when none makes it. */
static inline struct nai_table *fixture_input(struct fixture *f, const char *name) {
  struct nai_table *tables[8] = {0}, *kept = NULL;
  for (int a = 0; nai_analyses[a] && !kept; a++) {
    const struct nai_node *node = nai_analyses[a];
    const struct nai_table *in[8] = {0};
    int n = 0, wanted = -1;
    for (; node->outputs[n]; n++)
      wanted = strcmp(node->outputs[n]->name, name) == 0 ? n : wanted;
    if (wanted < 0)
      continue;
    for (int i = 0; i < n; i++)
      ok(nai_table_new(&tables[i], node->outputs[i], err));
    for (int i = 0; node->inputs && node->inputs[i]; i++)
      in[i] = fixture_input(f, node->inputs[i]->name);
    ok(nai_node_run(node, (struct nai_node_io){.out = tables, .in = in, .model = &f->m}, err));
    kept = tables[wanted];
    for (int i = 0; i < 8; i++)
      nai_table_free((struct nai_table *)in[i]);
    for (int i = 0; i < n; i++)
      if (i != wanted)
        nai_table_free(tables[i]);
  }
  return kept;
}

/* Runs the analysis of that name; its table number `index` is kept (free it), the others are dropped. */
static inline struct nai_table *fixture_analyze(struct fixture *f, const char *analysis, int index) {
  struct nai_table *tables[8] = {0}, *kept = NULL;
  for (int a = 0; nai_analyses[a]; a++) {
    const struct nai_node *node = nai_analyses[a];
    if (strcmp(node->name, analysis) != 0)
      continue;
    int n = 0;
    for (; node->outputs[n]; n++)
      ok(nai_table_new(&tables[n], node->outputs[n], err));
    const struct nai_table *in[8] = {0};
    for (int i = 0; node->inputs && node->inputs[i]; i++)
      in[i] = fixture_input(f, node->inputs[i]->name);
    ok(nai_node_run(node, (struct nai_node_io){.out = tables, .in = in, .model = &f->m}, err));
    for (int i = 0; i < 8; i++)
      nai_table_free((struct nai_table *)in[i]);
    for (int i = 0; i < n; i++)
      ok(nai_table_check(tables[i], err));
    for (int i = 0; i < n; i++) {
      if (i == index)
        kept = tables[i];
      else
        nai_table_free(tables[i]);
    }
  }
  assert_non_null(kept);
  return kept;
}

/* Cells by column name. */
static inline int64_t cell_int(const struct nai_table *t, int64_t row, const char *column) {
  int c = nai_schema_column(t->schema, column);
  assert_true(c >= 0 && row < t->rows);
  return nai_get_i64(t, row, c);
}

static inline double cell_real(const struct nai_table *t, int64_t row, const char *column) {
  int c = nai_schema_column(t->schema, column);
  assert_true(c >= 0 && row < t->rows);
  return nai_get_f64(t, row, c);
}

static inline const char *cell_text(const struct nai_table *t, int64_t row, const char *column) {
  int c = nai_schema_column(t->schema, column);
  assert_true(c >= 0 && row < t->rows);
  return nai_get_str(t, row, c);
}

/* First row whose text column has the value, -1 when there is none. */
static inline int64_t row_where(const struct nai_table *t, const char *column, const char *value) {
  for (int64_t i = 0; i < t->rows; i++)
    if (strcmp(cell_text(t, i, column), value) == 0)
      return i;
  return -1;
}
