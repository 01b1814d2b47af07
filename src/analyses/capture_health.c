/* What did the capture catch, and did the program do its work? Table capture_health. */
#include "analyses/active_spans.h"
#include "analyses/analysis.h"
#include "table/columns.h"

enum { CHECK, STATE, COUNT, TIME, PCT, DETAIL, START, END };
static const struct nai_column_def columns[] = {
    [CHECK] = NAI_NAME_COLUMN("check", "what was looked at", .key = true),
    [STATE] = NAI_LABEL_COLUMN("state", "ok, note, problem, or unknown where the export cannot tell"),
    [COUNT] = NAI_COUNT_COLUMN("count", "rows, launches or spans concerned"),
    [TIME] = NAI_TIME_COLUMN("time_ns", "time concerned"),
    [PCT] = NAI_PCT_COLUMN("pct_of_capture", "time, of the capture"),
    [DETAIL] = NAI_LABEL_COLUMN("detail", "what was found, with numbers"),
    [START] = NAI_START_COLUMN("start_ns", "where it is, if it is one place"),
    [END] = NAI_END_COLUMN("end_ns", "its end"),
};
static const struct nai_schema schema =
    NAI_SCHEMA("capture_health", "Health of the capture",
               "One question on what the capture holds, to be asked before any number is judged", columns);

static int run(const struct nai_node_io *io, struct nai_err *err) {
  (void)io, (void)err;
  return NAI_OK;
}

static const char *const inputs[] = {"active_spans", "gpu_active", NULL};
static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_capture_health = {
    .name = "capture_health",
    .outputs = schemas,
    .inputs = inputs,
    .parts = NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(RANGES),
    .tables = NAI_IN(CAPTURE) | NAI_IN(CAPABILITIES) | NAI_IN(GPUS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) |
              NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(OVERHEAD) |
              NAI_IN(PROGRAM_OUTPUTS),
    .run = run};
