/* What could the program save on the GPU itself? Table losses. */
#include "analyses/losses.h"
#include "analyses/active_spans.h"
#include "analyses/analysis.h"
#include "table/columns.h"

static const struct nai_column_def columns[] = {
    [LO_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [LO_WHAT] = NAI_NAME_COLUMN("what",
                                "unfused, casts, allocation, tiny_copies, copies_on_compute_stream, repeated_copies, "
                                "underfilled, small_blocks, bimodal or page_migration",
                                .key = true),
    [LO_TIME] = NAI_TIME_COLUMN("time_ns", "time concerned, within active spans: no more than this can be won",
                                .better = NAI_BETTER_LOWER),
    [LO_COUNT] = NAI_COUNT_COLUMN("count", "kernels, copies or calls", .better = NAI_BETTER_LOWER),
    [LO_PCT] = NAI_PCT_COLUMN("pct_of_active", "time, of the GPU's active time", .better = NAI_BETTER_LOWER),
    [LO_BASE_PCT] = NAI_PCT_COLUMN("pct_of_kind", "time, of all kernel time (or copy time) within active spans",
                                   .better = NAI_BETTER_LOWER),
    [LO_EXAMPLE] =
        NAI_KERNEL_NAME_COLUMN("example", "the kernel, kind of copy or function with the largest share", .key = true),
    [LO_EXAMPLE_NS] = NAI_TIME_COLUMN("example_ns", "its share of the time"),
    [LO_DETAIL] = NAI_LABEL_COLUMN("detail", "what was counted, with numbers"),
    [LO_SHORT] = NAI_AVERAGE_COLUMN("low_median_ns", "bimodal: median of the shorter mode"),
    [LO_LONG] = NAI_AVERAGE_COLUMN("high_median_ns", "bimodal: median of the longer mode"),
    [LO_START] = NAI_START_COLUMN("longest_start_ns", "start of the longest of them"),
    [LO_END] = NAI_END_COLUMN("longest_end_ns", "end of the longest of them"),
};
const struct nai_schema nai_losses_schema =
    NAI_SCHEMA("losses", "Losses",
               "One kind of work on one GPU that may be avoidable; rows overlap and must not be added", columns);

static int run(const struct nai_node_io *io, struct nai_err *err) {
  (void)io, (void)err;
  return NAI_OK;
}

static const char *const inputs[] = {"active_spans", "gpu_active", NULL};
static const struct nai_schema *const schemas[] = {&nai_losses_schema, NULL};
const struct nai_node nai_analysis_losses = {.name = "losses",
                                             .outputs = schemas,
                                             .inputs = inputs,
                                             .parts = NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS),
                                             .tables = NAI_IN(GPUS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) |
                                                       NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(THREADS) |
                                                       NAI_IN(KERNEL_CONFIGS) | NAI_IN(LABELS),
                                             .run = run};
