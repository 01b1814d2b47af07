/* How much of the GPUs' peak does a step reach, by what the user or sizes in range names say it computes? Table mfu. */
#include "analyses/analysis.h"
#include "config/flops.h"
#include "model/kernels/gpu_peak.h"
#include "tables/gemm_coverage.h"
#include "tables/gemm_shapes.h"
#include "tables/mfu.h"
#include "tables/sm_partitions.h"
#include "tables/step_summary.h"

/* What a step computes, and the peak of GPUs added up so far. */
struct basis {
  const struct nai_node_io *io;
  const char *source, *peak_source;
  double flop, tflops;
  int dtype;
  bool unverified, scaled;
  const char *why; /* there is no number; NULL: there is one */
};

static void add_gpu(struct basis *b, int64_t device) {
  const struct nai_flops *flops = b->io->model->flops;
  struct nai_gpu_peak peak = nai_gpu_peak_of(b->io->model, device);
  if (flops && flops->peak_tflops > 0) {
    b->tflops += flops->peak_tflops;
    b->peak_source = "--peak-tflops";
    return;
  }
  if (b->dtype < 0 && peak.product)
    b->dtype = peak.product->tflops[NAI_DTYPE_BF16] > 0 ? NAI_DTYPE_BF16 : NAI_DTYPE_FP16;
  double tflops = b->dtype < 0 ? 0 : nai_gpu_peak_tflops(&peak, (enum nai_dtype)b->dtype);
  if (b->why)
    return;
  if (tflops <= 0) {
    const char *missing = *peak.name ? nai_arena_printf(b->io->arena, "no peak is known for \"%s\"", peak.name)
                                     : "the export does not name the GPU";
    b->why =
        nai_arena_printf(b->io->arena, "%s%s: give --peak-tflops", missing, peak.product ? " in this data type" : "");
    return;
  }
  b->tflops += tflops;
  b->scaled |= peak.share < 1;
  b->unverified |= !peak.product->verified;
  b->peak_source = peak.product->source;
}

static bool seen_before(const struct nai_table *summary, int64_t row) {
  for (int64_t i = 0; i < row; i++)
    if (nai_get_i64(summary, i, STEP_SUMMARY_device_id) == nai_get_i64(summary, row, STEP_SUMMARY_device_id))
      return true;
  return false;
}

/* The slowest GPU's median step, and the fewest steady steps. */
static void add_gpus(struct MFU_row *row, struct basis *b) {
  const struct nai_table *summary = b->io->in[0];
  row->step_time_ns = summary->rows ? 0 : NAI_NULL_I64;
  row->steady_steps = summary->rows ? INT64_MAX : NAI_NULL_I64;
  for (int64_t i = 0; i < summary->rows; i++) {
    int64_t median = nai_get_i64(summary, i, STEP_SUMMARY_median_ns),
            steps = nai_get_i64(summary, i, STEP_SUMMARY_steady_steps);
    row->step_time_ns = median > row->step_time_ns ? median : row->step_time_ns;
    row->steady_steps = steps < row->steady_steps ? steps : row->steady_steps;
    if (seen_before(summary, i))
      continue;
    row->gpu_count++;
    add_gpu(b, nai_get_i64(summary, i, STEP_SUMMARY_device_id));
  }
}

/* NULL for none. */
static const char *doubts(const struct basis *b) {
  const struct nai_table *parts = b->io->in[3];
  bool green = false;
  for (int64_t i = 0; i < parts->rows; i++)
    green |= nai_get_i64(parts, i, SM_PARTITIONS_green_context) != NAI_NULL_I64;
  const struct {
    bool holds;
    const char *doubt;
  } list[] = {{b->unverified, "the peak is a data sheet's, not verified"},
              {b->scaled, "the peak is scaled to the multiprocessors there are"},
              {green, "kernels ran in green contexts (sm_partitions), and the peak is that of whole GPUs"}};
  const char *all = NULL;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (list[i].holds)
      all = all ? nai_arena_printf(b->io->arena, "%s; %s", all, list[i].doubt) : list[i].doubt;
  return all;
}

static void add_result(struct MFU_row *row, const struct basis *b) {
  const struct nai_flops *flops = b->io->model->flops;
  row->achieved_tflops = b->flop / (double)row->step_time_ns / 1e3; /* per ns = 10^9 per second */
  row->note = b->why;
  if (b->why)
    return;
  row->peak_tflops = b->tflops;
  row->peak_source = b->peak_source;
  if (!flops || flops->peak_tflops <= 0)
    row->dtype = nai_dtype_name((enum nai_dtype)b->dtype);
  if (row->achieved_tflops > b->tflops) {
    row->note = "more than the peak: the operations, the data type or what a step is are not as said";
    return;
  }
  row->mfu_pct = nai_percent(row->achieved_tflops, b->tflops);
  row->note = doubts(b);
}

static struct MFU_row row_of(struct basis *b) {
  enum { FEWEST_STEPS = 3 };
  struct MFU_row row = NAI_ROW(MFU, .source = b->source, .flop_per_step = b->flop, .gpu_count = 0);
  add_gpus(&row, b);
  if (!row.gpu_count)
    row.note = "no steps are known (table step_search says why; --step names them)";
  else if (row.steady_steps < FEWEST_STEPS || row.step_time_ns <= 0)
    row.note = "fewer than three steady steps";
  else
    add_result(&row, b);
  return row;
}

/* --- sizes in range names --------------------------------------------------------------------------- */

/* The data type of most operations, -1 where most is unknown. */
static int main_dtype(const struct nai_table *shapes) {
  double flop[NAI_DTYPE_COUNT] = {0}, all = 0;
  int most = 0;
  for (int64_t i = 0; i < shapes->rows; i++) {
    const char *name = nai_get_str(shapes, i, GEMM_SHAPES_dtype);
    double part = nai_get_f64(shapes, i, GEMM_SHAPES_flop_per_op) * nai_get_f64(shapes, i, GEMM_SHAPES_count);
    all += part;
    for (int d = 0; d < NAI_DTYPE_COUNT; d++)
      if (strcmp(name, nai_dtype_name((enum nai_dtype)d)) == 0)
        flop[d] += part;
  }
  for (int d = 1; d < NAI_DTYPE_COUNT; d++)
    most = flop[d] > flop[most] ? d : most;
  return 2 * flop[most] > all ? most : -1;
}

/* Refused where the sizes leave out more than a fifth of what is computed. */
static void put_sizes(const struct nai_node_io *io) {
  enum { LEAST_PCT = 80 };
  const struct nai_table *coverage = io->in[1];
  const struct nai_flops *flops = io->model->flops;
  struct basis b = {
      .io = io, .source = "nvtx-sizes", .dtype = flops && flops->dtype >= 0 ? flops->dtype : main_dtype(io->in[2])};
  double matrix = 0, covered = 0;
  bool attention = false;
  for (int64_t i = 0; i < coverage->rows; i++) {
    if (nai_get_i64(coverage, i, GEMM_COVERAGE_steady_steps) <= 0)
      continue;
    b.flop += nai_get_f64(coverage, i, GEMM_COVERAGE_steady_flop_per_step);
    matrix += nai_get_f64(coverage, i, GEMM_COVERAGE_steady_matrix_time_ns);
    covered += nai_get_f64(coverage, i, GEMM_COVERAGE_steady_covered_time_ns);
    attention |= nai_get_f64(coverage, i, GEMM_COVERAGE_attention_flop_pct) > 0;
  }
  if (100 * covered < LEAST_PCT * matrix || matrix <= 0) {
    b.flop = NAN;
    b.why = nai_arena_printf(io->arena,
                             "sizes tell %.0f %% of the time of matrix products, convolutions and attention in steady "
                             "steps: too little to stand for a step",
                             nai_percent(covered, matrix));
  }
  struct MFU_row row = row_of(&b);
  if (attention && !row.note)
    row.note = "attention counts without a mask: half of it is too much with a causal one";
  MFU_add(io->out[0], &row);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_flops *flops = io->model->flops;
  (void)err;
  if (flops && flops->per_step > 0) {
    struct basis said = {.io = io,
                         .source = flops->from_model ? "model" : "flops-per-step",
                         .flop = flops->per_step,
                         .dtype = flops->dtype};
    struct MFU_row row = row_of(&said);
    MFU_add(io->out[0], &row);
  }
  if (io->in[2]->rows) /* some range tells sizes */
    put_sizes(io);
  return NAI_OK;
}

NAI_ANALYSIS(mfu, .outputs = NAI_SCHEMAS(&nai_mfu_schema),
             .inputs = NAI_SCHEMAS(&nai_step_summary_schema, &nai_gemm_coverage_schema, &nai_gemm_shapes_schema,
                                   &nai_sm_partitions_schema),
             .tables = NAI_IN(GPUS), .config = NAI_CONFIG(GPU_FACTS) | NAI_CONFIG(FLOPS), .run = run)
