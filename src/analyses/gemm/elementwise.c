#include "analyses/gemm/elementwise.h"
#include "base/sort.h"
#include "config/gpu_facts.h"
#include "tables/elementwise_shapes.h"
#include "tables/gpus.h"

/* What an operation that ran moves. */
struct moved {
  const struct nai_gemm_run *run;
  const struct nai_gemm_kind *kind;
  int dtype;
};

enum { NOT_ASKED = -2 };

int nai_gemm_dtypes_new(struct nai_gemm_dtypes *out, const struct nai_model *m,
                        int (*ask)(const struct nai_kernel_classes *, const char *), struct nai_arena *arena,
                        struct nai_err *err) {
  size_t names = m->tables[NAI_IN_KERNELS]->strings.count;
  *out = (struct nai_gemm_dtypes){.m = m, .ask = ask};
  NAI_TRY(NAI_NEW(out->known, arena, names, err));
  memset(out->known, NOT_ASKED, names);
  return NAI_OK;
}

int nai_gemm_dtype(const struct nai_gemm_dtypes *dtypes, uint32_t kernel) {
  int8_t *dtype = &dtypes->known[nai_val_text(&dtypes->m->kernels.name, kernel)];
  if (*dtype == NOT_ASKED)
    *dtype = (int8_t)dtypes->ask(dtypes->m->classes, nai_model_kernel_name(dtypes->m, kernel));
  return *dtype;
}

int nai_gemm_value_bytes(int dtype) {
  static const int bytes[NAI_DTYPE_COUNT] = {
      [NAI_DTYPE_FP16] = 2, [NAI_DTYPE_BF16] = 2, [NAI_DTYPE_TF32] = 4, [NAI_DTYPE_FP32] = 4, [NAI_DTYPE_FP8] = 1};
  return bytes[dtype];
}

double nai_gemm_bandwidth(const struct nai_model *m, uint32_t gpu) {
  int64_t bandwidth = nai_get_i64(m->tables[NAI_IN_GPUS], gpu, GPUS_memory_bytes_per_s);
  return bandwidth == NAI_NULL_I64 || bandwidth <= 0 ? 0 : (double)bandwidth;
}

NAI_ORDER(compare, struct moved, {a->run->gpu, b->run->gpu}, {a->kind->name, b->kind->name},
          {a->kind->shape.m, b->kind->shape.m}, {(int64_t)a->kind->shape.values, (int64_t)b->kind->shape.values},
          {a->dtype, b->dtype})

static const char *note_of(const struct nai_model *m, const struct ELEMENTWISE_SHAPES_row *row, uint32_t gpu,
                           int dtype) {
  int64_t cache = nai_get_i64(m->tables[NAI_IN_GPUS], gpu, GPUS_l2_bytes);
  if (dtype < 0)
    return "the kernel's name does not tell one type for all values";
  if (nai_gemm_bandwidth(m, gpu) <= 0)
    return "the export does not tell the memory's bandwidth";
  if (cache == NAI_NULL_I64 || row->bytes_per_op <= (double)cache)
    return "the L2 cache may hold what is read and written";
  if (row->achieved_gb_per_s > row->limit_gb_per_s)
    return "faster than the memory: part of it is in the cache, or the type is not as assumed";
  return NULL;
}

static void set_rates(struct ELEMENTWISE_SHAPES_row *row, const struct nai_model *m, const struct moved *first) {
  uint32_t gpu = first->run->gpu;
  double limit = nai_gemm_bandwidth(m, gpu);
  if (limit > 0)
    row->limit_gb_per_s = limit / 1e9;
  if (first->dtype >= 0) {
    row->dtype = nai_dtype_name((enum nai_dtype)first->dtype);
    row->bytes_per_op = first->kind->shape.values * nai_gemm_value_bytes(first->dtype);
    if (row->total_time_ns > 0)
      row->achieved_gb_per_s = row->bytes_per_op * (double)row->count / (double)row->total_time_ns;
  }
  row->note = note_of(m, row, gpu, first->dtype);
  if (!row->note && row->total_time_ns > 0)
    row->pct_of_limit = nai_percent(row->achieved_gb_per_s, row->limit_gb_per_s);
}

static void put(struct nai_table *out, const struct nai_model *m, const struct moved *group, uint32_t n) {
  struct nai_gemm_run sum = *group->run;
  for (uint32_t i = 1; i < n; i++)
    nai_gemm_run_add(&sum, m, group[i].run);
  struct ELEMENTWISE_SHAPES_row row =
      NAI_ROW(ELEMENTWISE_SHAPES, .device_id = nai_model_device(m, group->run->gpu),
              .op = nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, group->kind->name),
              .elements = group->kind->shape.m, .values = (int64_t)group->kind->shape.values, .count = n,
              .kernel_count = sum.kernels, .total_time_ns = sum.ns,
              .longest_kernel = nai_model_kernel_name(m, sum.longest),
              .longest_start_ns = nai_val(&m->kernels.start_ns, sum.longest),
              .longest_end_ns = nai_val(&m->kernels.end_ns, sum.longest));
  set_rates(&row, m, group);
  ELEMENTWISE_SHAPES_add(out, &row);
}

int nai_elementwise_put(const struct nai_node_io *io, const struct nai_gemms *g, struct nai_table *out,
                        struct nai_err *err) {
  struct moved *moved;
  struct nai_gemm_dtypes dtypes;
  uint32_t count = 0;
  NAI_TRY(NAI_NEW(moved, io->arena, g->run_count, err));
  NAI_TRY(nai_gemm_dtypes_new(&dtypes, g->m, nai_kernel_classes_value_dtype, io->arena, err));
  for (uint32_t i = 0; i < g->run_count; i++) {
    const struct nai_gemm_run *run = &g->runs[i];
    if (g->kinds[run->kind].shape.elementwise)
      moved[count++] = (struct moved){run, &g->kinds[run->kind], nai_gemm_dtype(&dtypes, run->longest)};
  }
  qsort(moved, count, sizeof *moved, compare);
  for (uint32_t i = 0, j; i < count; i = j) {
    for (j = i + 1; j < count && compare(&moved[i], &moved[j]) == 0; j++)
      ;
    put(out, g->m, moved + i, j - i);
  }
  return NAI_OK;
}
