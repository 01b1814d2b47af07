/* A stored run that somebody forged: cells of its event tables are changed, checksums fit. Whatever passes the checks
 * on opening is analysed whole: model and analyses. The runs to start from are made of generated traces. */
#include "analyses/analysis.h"
#include "bases.h"
#include "changes.h"
#include "config/flops.h"
#include "trace/ingest.h"
#include "rundir/run.h"

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

/* Runs an analysis whose inputs are held. */
static void analyze(struct nai_run *run, const struct nai_node *node) {
  struct nai_table *out[8] = {0};
  const struct nai_table *in[16] = {0};
  struct nai_err err = {0};
  int n = 0;
  for (; node->outputs[n]; n++)
    bases_must(nai_table_new(&out[n], node->outputs[n], &err), &err);
  for (int i = 0; node->inputs && node->inputs[i]; i++)
    in[i] = nai_run_find_loaded(run, node->inputs[i]->name);
  const struct nai_node_io io = {.out = out, .in = in, .model = nai_run_held_model(run)};
  int rc = nai_node_run(node, io, &err); /* may refuse, must not crash */
  for (int i = 0; i < n; i++)
    if (rc)
      nai_table_free(out[i]);
    else
      bases_must(nai_run_add(run, out[i], &err), &err);
}

static bool is_ready(const struct nai_run *run, const struct nai_node *node) {
  for (int i = 0; node->inputs && node->inputs[i]; i++)
    if (!nai_run_find_loaded(run, node->inputs[i]->name))
      return false;
  return !nai_run_find_loaded(run, node->outputs[0]->name);
}

static void analyze_all(struct nai_run *run) {
  struct nai_err err = {0};
  struct nai_flops flops = {0};
  const struct nai_model_options options = {.classes = classes,
                                            .workload = workload,
                                            .gpu_facts = gpu_facts,
                                            .flops = &flops,
                                            .map_nvtx = true,
                                            .page_events = 1500000,
                                            .worker_count = 1};
  struct nai_model *model;
  if (nai_run_model(&model, run, &options, 0, (1u << NAI_PART_COUNT) - 1, &err))
    return;
  for (bool any = true; any;) {
    any = false;
    for (int a = 0; nai_analyses[a]; a++)
      if (is_ready(run, nai_analyses[a])) {
        analyze(run, nai_analyses[a]);
        any |= nai_run_find_loaded(run, nai_analyses[a]->outputs[0]->name) != NULL;
      }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct nai_err err = {0};
  if (!classes)
    make_bases();
  const struct nai_ingest *base = &bases[size ? data[0] % BASES : 0];
  struct nai_run *run;
  bases_must(nai_run_new(&run, &err), &err);
  for (int i = 0; i < NAI_IN_COUNT; i++)
    bases_must(nai_run_add(run, changes_copy(base->tables[i]), &err), &err);
  for (size_t at = 1; at + sizeof(struct change) <= size && at < 1 + 8 * sizeof(struct change);
       at += sizeof(struct change)) {
    struct change change;
    memcpy(&change, data + at, sizeof change);
    changes_apply(nai_run_find_loaded(run, nai_event_tables[change.table % NAI_IN_COUNT]->name), &change);
  }
  if (nai_run_check(run, &err) == NAI_OK)
    analyze_all(run);
  nai_run_close(run);
  return 0;
}
