/* What kind of program is this? Table workload. */
#include "analyses/analysis.h"
#include "table/columns.h"

enum { ASPECT, VALUE, CONFIDENCE, SIGNS, EVIDENCE };
static const struct nai_column_def columns[] = {
    [ASPECT] = NAI_LABEL_COLUMN("aspect", "framework, role, language, precision, collective or runtime", .key = true),
    [VALUE] = NAI_NAME_COLUMN("value", "what it is: pytorch, cuda, mpi, ...; unknown", .key = true),
    [CONFIDENCE] = NAI_PCT_COLUMN("confidence", "how sure that is, from the number and kind of signs"),
    [SIGNS] = NAI_COUNT_COLUMN("sign_count", "kinds of signs seen: kernels, ranges, threads, ..."),
    [EVIDENCE] = NAI_LABEL_COLUMN("evidence", "what was seen: kinds, counts and one name of each"),
};
static const struct nai_schema schema =
    NAI_SCHEMA("workload", "Workload", "One thing the program is, by what it shows of itself", columns);

static int run(const struct nai_node_io *io, struct nai_err *err) {
  (void)io, (void)err;
  return NAI_OK;
}

static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_workload = {.name = "workload",
                                               .outputs = schemas,
                                               .tables = NAI_IN(KERNELS) | NAI_IN(APIS) | NAI_IN(NVTX) |
                                                         NAI_IN(NVTX_DOMAINS) | NAI_IN(THREADS) | NAI_IN(PROCESSES) |
                                                         NAI_IN(CALLCHAINS),
                                               .run = run};
