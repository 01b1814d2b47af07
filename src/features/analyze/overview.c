#include "features/analyze/overview.h"

#include "base/threads.h"
#include "command/command.h"
#include "table/column.h"
#include "tables/gpus.h"
#include "tables/graph_events.h"
#include "tables/kernel_events.h"
#include "tables/memop_events.h"
#include "tables/nvtx_events.h"

/* Every event table begins with its times. */
enum { START, END };

static void widen(int64_t *start, int64_t *end, int64_t from, int64_t to) {
  *start = from < *start ? from : *start;
  *end = to > *end ? to : *end;
}

static void add_times(struct nai_overview *out, const struct nai_table *table, bool begins) {
  struct nai_column start = nai_table_column(table, START), end = nai_table_column(table, END);
  int64_t from = INT64_MAX, until = INT64_MIN;
  for (int64_t i = 0; i < table->rows; i++)
    widen(&from, &until, nai_at(&start, (uint64_t)i), nai_at(&end, (uint64_t)i));
  widen(&out->start_ns, &out->end_ns, from, until);
  if (begins)
    widen(&out->from_ns, &out->until_ns, from, until);
}

static int64_t count_kind(const struct nai_table *table, int column, int kind) {
  struct nai_column kinds = nai_table_column(table, column);
  int64_t n = 0;
  for (int64_t i = 0; i < table->rows; i++)
    n += nai_at(&kinds, (uint64_t)i) == kind;
  return n;
}

/* Adds the rows of a table with GPU work to their GPUs. `field` gives the counter of a row's kind. */
static void add_work(struct nai_overview *out, const struct nai_table *gpus, const struct nai_table *table,
                     int device_column, int kind_column, size_t field, size_t field_of_sets) {
  struct nai_column device = nai_table_column(table, device_column), start = nai_table_column(table, START),
                    end = nai_table_column(table, END);
  int64_t row = 0;
  for (int64_t i = 0; i < table->rows; i++) {
    int64_t id = nai_at(&device, (uint64_t)i), seen = 0;
    while (seen < gpus->rows && nai_get_i64(gpus, row, GPUS_device_id) != id) { /* mostly the same as before */
      row = (row + 1) % gpus->rows;
      seen++;
    }
    if (seen == gpus->rows)
      continue;
    struct nai_gpu_overview *gpu = &out->gpus[row];
    bool set = kind_column >= 0 && nai_get_i64(table, i, kind_column) == NAI_MEMOP_SET;
    ++*(int64_t *)((char *)gpu + (set ? field_of_sets : field));
    widen(&gpu->start_ns, &gpu->end_ns, nai_at(&start, (uint64_t)i), nai_at(&end, (uint64_t)i));
  }
}

/* From the tables of nai_extract. NAI_ELIMIT. */
static int make_overview(struct nai_overview *out, const struct nai_ingest *in, struct nai_err *err) {
  struct nai_table *const *t = in->tables;
  const struct nai_table *gpus = t[NAI_IN_GPUS], *memops = t[NAI_IN_MEMOPS], *nvtx = t[NAI_IN_NVTX];
  *out = (struct nai_overview){.start_ns = INT64_MAX, .end_ns = INT64_MIN, .from_ns = INT64_MAX, .until_ns = INT64_MIN};
  out->gpus = calloc((size_t)gpus->rows + 1, sizeof *out->gpus);
  NAI_TRY(nai_memory_check(out->gpus, err));
  for (int64_t g = 0; g < gpus->rows; g++)
    out->gpus[g] = (struct nai_gpu_overview){.start_ns = INT64_MAX, .end_ns = INT64_MIN};
  for (int i = NAI_IN_FIRST_EVENTS; i <= NAI_IN_OSRT; i++)
    if (t[i])
      add_times(out, t[i], nai_input_begins(i));
  out->counts[NAI_EVENT_KERNELS] = t[NAI_IN_KERNELS]->rows;
  out->counts[NAI_EVENT_SETS] = count_kind(memops, MEMOP_EVENTS_kind, NAI_MEMOP_SET);
  out->counts[NAI_EVENT_COPIES] = memops->rows - out->counts[NAI_EVENT_SETS];
  out->counts[NAI_EVENT_GRAPHS] = t[NAI_IN_GRAPHS]->rows;
  out->counts[NAI_EVENT_API_CALLS] = t[NAI_IN_APIS]->rows;
  out->counts[NAI_EVENT_NVTX_MARKS] = count_kind(nvtx, NVTX_EVENTS_kind, NAI_NVTX_MARK);
  out->counts[NAI_EVENT_NVTX_RANGES] = nvtx->rows - out->counts[NAI_EVENT_NVTX_MARKS];
  out->counts[NAI_EVENT_OS_CALLS] = t[NAI_IN_OSRT]->rows;
  add_work(out, gpus, t[NAI_IN_KERNELS], KERNEL_EVENTS_device_id, -1, offsetof(struct nai_gpu_overview, kernels), 0);
  add_work(out, gpus, memops, MEMOP_EVENTS_device_id, MEMOP_EVENTS_kind, offsetof(struct nai_gpu_overview, copies),
           offsetof(struct nai_gpu_overview, sets));
  add_work(out, gpus, t[NAI_IN_GRAPHS], GRAPH_EVENTS_device_id, -1, offsetof(struct nai_gpu_overview, graphs), 0);
  return NAI_OK;
}

/* The event tables lie in temporary files, whose names are gone as soon as they are mapped. */
int nai_overview_read(struct nai_overview *out, struct nai_ingest *in, struct nai_trace *trace, int threads,
                      struct nai_err *err) {
  struct nai_temporary directory;
  NAI_TRY(nai_temporary_in(&directory, nai_temporary_place(), err));
  struct nai_ingest_options how = {.threads = threads ? threads : nai_cpu_count(), .directory = directory.path};
  int rc = nai_extract(in, trace, &how, err);
  if (rc == NAI_EIO)
    nai_err_wrap(err, rc, "no room for the events in a temporary directory (TMPDIR; or use --no-events)");
  nai_cmd_remove(&directory);
  return rc ? rc : make_overview(out, in, err);
}

void nai_overview_free(struct nai_overview *overview) {
  free(overview->gpus);
  overview->gpus = NULL;
}
