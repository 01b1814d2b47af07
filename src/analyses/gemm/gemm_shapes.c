/* How near do matrix products come to what the GPU allows for their sizes, elementwise kernels to its memory's
 * bandwidth, and how much of a program's arithmetic do sizes tell? Tables gemm_shapes, gemm_coverage and
 * elementwise_shapes. */
#include "analyses/gemm/elementwise.h"
#include "base/sort.h"
#include "model/kernels/gpu_peak.h"
#include "model/kernels/waves.h"
#include "tables/elementwise_shapes.h"
#include "tables/gemm_coverage.h"
#include "tables/gemm_shapes.h"

/* A run with what tells rows apart. */
struct item {
  const struct nai_gemm_run *run;
  const struct nai_gemm_kind *kind;
  int dtype;
};

static int compare(const void *pa, const void *pb) {
  const struct item *a = pa, *b = pb;
  const struct nai_matrix_shape *s = &a->kind->shape, *t = &b->kind->shape;
  return NAI_COMPARE({a->run->gpu, b->run->gpu}, {a->kind->name, b->kind->name}, {s->batch, t->batch}, {s->m, t->m},
                     {s->n, t->n}, {s->k, t->k}, {a->dtype, b->dtype});
}

/* --- the roofline ----------------------------------------------------------------------------------- */

static const char *aligned(const struct item *item) {
  const struct nai_matrix_shape *s = &item->kind->shape;
  int64_t values = 16 / nai_gemm_value_bytes(item->dtype);
  return s->n % values == 0 && s->k % values == 0 ? "yes" : "no";
}

static const char *note_of(const struct nai_gpu_peak *peak, const struct nai_matrix_shape *shape, double tflops,
                           double bandwidth, int dtype, bool faster) {
  if (dtype < 0)
    return "the kernel's name does not tell what it multiplies";
  if (tflops <= 0)
    return "no peak of this GPU is known for the data type (--gpu-facts)";
  if (bandwidth <= 0)
    return "the export does not tell the memory's bandwidth";
  if (faster)
    return shape->attention ? "faster than the roofline: a mask, which sizes do not tell"
                            : "faster than the roofline: the data type or the peak is not as assumed";
  if (shape->attention)
    return "without a mask; half of it with a causal one, which sizes do not tell";
  if (peak->partition)
    return "the peak is scaled to this part of the GPU";
  return peak->product->verified ? NULL : "the peak is a data sheet's, not verified";
}

static void set_roofline(struct GEMM_SHAPES_row *row, const struct nai_model *m, const struct item *item) {
  const struct nai_matrix_shape *s = &item->kind->shape;
  struct nai_gpu_peak peak = nai_gpu_peak_of(m, nai_model_device(m, item->run->gpu));
  double bandwidth = nai_gemm_bandwidth(m, item->run->gpu), compute = 0, memory = 0;
  double tflops = item->dtype < 0 ? 0 : nai_gpu_peak_tflops(&peak, (enum nai_dtype)item->dtype);
  if (tflops > 0 && bandwidth > 0) {
    compute = s->flop / tflops / 1e3; /* 10^12 per second are 10^3 per ns */
    memory = row->bytes_per_op / bandwidth * 1e9;
  }
  double least = (compute > memory ? compute : memory) * (double)row->count;
  bool faster = least > (double)row->total_time_ns;
  row->note = note_of(&peak, s, tflops, bandwidth, item->dtype, faster);
  if (tflops > 0)
    row->peak_tflops = tflops;
  if (least <= 0 || faster)
    return;
  row->roofline_ns = (int64_t)least;
  row->bound = compute >= memory ? "compute" : "memory";
  row->pct_of_roofline = nai_percent(least, (double)row->total_time_ns);
  row->excess_ns = row->total_time_ns - (int64_t)least;
}

/* How the kernel's blocks fill the GPU. */
static double waves_of(const struct nai_model *m, uint32_t gpu, uint32_t kernel) {
  struct nai_sm sm = nai_sm_of(m->tables[NAI_IN_GPUS], gpu, m->gpu_facts);
  bool uneven = nai_kernel_classes_uneven(m->classes, nai_model_kernel_name(m, kernel));
  struct nai_fit fit = nai_fit_of(m->tables[NAI_IN_KERNEL_CONFIGS], nai_at(&m->kernels.config, kernel), &sm, uneven);
  return nai_wave_efficiency_pct(&fit);
}

/* --- sizes ------------------------------------------------------------------------------------------ */

static void put_shape(struct nai_table *out, const struct nai_model *m, const struct item *items, uint32_t n) {
  const struct nai_matrix_shape *s = &items->kind->shape;
  struct nai_gemm_run sum = *items->run;
  for (uint32_t i = 1; i < n; i++)
    nai_gemm_run_add(&sum, m, items[i].run);
  struct GEMM_SHAPES_row row =
      NAI_ROW(GEMM_SHAPES, .device_id = nai_model_device(m, items->run->gpu),
              .op = nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, items->kind->name), .batch = s->batch, .m = s->m,
              .n = s->n, .k = s->k, .count = n, .kernel_count = sum.kernels, .total_time_ns = sum.ns,
              .flop_per_op = s->flop, .longest_kernel = nai_model_kernel_name(m, sum.longest),
              .wave_efficiency_pct = waves_of(m, items->run->gpu, sum.longest),
              .longest_start_ns = nai_val(&m->kernels.start_ns, sum.longest),
              .longest_end_ns = nai_val(&m->kernels.end_ns, sum.longest));
  if (items->dtype >= 0) {
    row.dtype = nai_dtype_name((enum nai_dtype)items->dtype);
    row.aligned = aligned(items);
    row.bytes_per_op = s->values * nai_gemm_value_bytes(items->dtype);
  }
  if (sum.ns > 0)
    row.achieved_tflops = s->flop * n / (double)sum.ns / 1e3;
  set_roofline(&row, m, items);
  GEMM_SHAPES_add(out, &row);
}

static int put_shapes(const struct nai_node_io *io, const struct nai_gemms *g, struct nai_err *err) {
  struct item *items;
  struct nai_gemm_dtypes dtypes;
  NAI_TRY(NAI_NEW(items, io->arena, g->run_count, err));
  NAI_TRY(nai_gemm_dtypes_new(&dtypes, g->m, nai_kernel_classes_dtype, io->arena, err));
  uint32_t count = 0;
  for (uint32_t i = 0; i < g->run_count; i++)
    if (!g->kinds[g->runs[i].kind].shape.elementwise)
      items[count++] =
          (struct item){&g->runs[i], &g->kinds[g->runs[i].kind], nai_gemm_dtype(&dtypes, g->runs[i].longest)};
  qsort(items, count, sizeof *items, compare);
  for (uint32_t i = 0, j; i < count; i = j) {
    for (j = i + 1; j < count && compare(&items[i], &items[j]) == 0; j++)
      ;
    put_shape(io->out[0], g->m, items + i, j - i);
  }
  return NAI_OK;
}

/* --- coverage --------------------------------------------------------------------------------------- */

static void put_coverage(struct nai_table *out, const struct nai_model *m, const struct nai_gemm_place *p) {
  const struct nai_gemm_sums *s = &p->all;
  struct GEMM_COVERAGE_row row =
      NAI_ROW(GEMM_COVERAGE, .pid = nai_model_pid(m, (int32_t)p->process), .device_id = nai_model_device(m, p->gpu),
              .matrix_time_ns = s->matrix_ns, .covered_time_ns = s->covered_ns, .op_count = s->runs, .flop = s->flop,
              .steady_steps = p->steady_steps);
  if (s->matrix_ns)
    row.covered_pct = nai_percent((double)s->covered_ns, (double)s->matrix_ns);
  if (s->flop > 0)
    row.attention_flop_pct = nai_percent(s->attention_flop, s->flop);
  if (p->steady_steps) {
    row.steady_matrix_time_ns = p->steady.matrix_ns;
    row.steady_covered_time_ns = p->steady.covered_ns;
    row.steady_flop_per_step = p->steady.flop / p->steady_steps;
  }
  GEMM_COVERAGE_add(out, &row);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_gemms gemms;
  NAI_TRY(nai_gemms_find(&gemms, io->model, io->arena, err));
  NAI_TRY(put_shapes(io, &gemms, err));
  NAI_TRY(nai_elementwise_put(io, &gemms, io->out[2], err));
  for (uint32_t i = 0; i < gemms.place_count; i++)
    if (gemms.places[i].all.matrix_ns || gemms.places[i].all.runs)
      put_coverage(io->out[1], io->model, &gemms.places[i]);
  return NAI_OK;
}

NAI_ANALYSIS(gemm_shapes,
             .outputs = NAI_SCHEMAS(&nai_gemm_shapes_schema, &nai_gemm_coverage_schema, &nai_elementwise_shapes_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(RANGES) | NAI_PART(CALLS) |
                      NAI_PART(PROCESS_GPUS) | NAI_PART(STEPS),
             .tables = NAI_IN(KERNELS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(NVTX_SIZES) | NAI_IN(GPUS) |
                       NAI_IN(PROCESSES) | NAI_IN(THREADS) | NAI_IN(GRAPH_NODES) | NAI_IN(KERNEL_CONFIGS),
             .config = NAI_CONFIG(KERNEL_CLASSES) | NAI_CONFIG(GPU_FACTS) | NAI_CONFIG(MAP_NVTX), .run = run)
