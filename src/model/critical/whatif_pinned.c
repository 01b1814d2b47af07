/* Copies from and to pinned memory in place of pageable. */
#include "base/sort.h"
#include "model/critical/whatif_edit.h"

enum { PAGEABLE, PINNED, DIRECTIONS = 3, LEAST_BYTES = 64 * 1024 };

static bool is_of(const struct nai_model *m, const struct nai_op *op, int kind) {
  return op->type == NAI_OP_COPY &&
         (nai_at_i32(&m->memops.src_kind, op->row) == kind || nai_at_i32(&m->memops.dst_kind, op->row) == kind);
}

/* 1 to the device, 2 to the host, 0 else. */
static int direction_of(const struct nai_model *m, const struct nai_op *op) {
  int32_t kind = nai_at_i32(&m->memops.copy_kind, op->row);
  return kind == 1 || kind == 2 ? kind : 0;
}

static double rate_of(const struct nai_model *m, const struct nai_op *op) {
  int64_t ns = op->end - op->start;
  return ns > 0 ? (double)nai_at(&m->memops.bytes, op->row) / (double)ns : 0;
}

/* Per direction the median rate of the trace's pinned copies, bytes per ns; 0 where there is none. */
static int find_rates(double rates[DIRECTIONS], const struct edit *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  int64_t *list; /* thousandths of a byte per ns */
  NAI_TRY(NAI_NEW(list, e->arena, m->memops.n, err));
  for (int direction = 0; direction < DIRECTIONS; direction++) {
    size_t count = 0;
    for (uint32_t g = 0; g < m->gpu_count; g++)
      for (uint32_t i = 0; i < m->gpus[g].op_count; i++) {
        const struct nai_op *op = &m->gpus[g].ops[i];
        if (is_of(m, op, PINNED) && direction_of(m, op) == direction &&
            nai_at(&m->memops.bytes, op->row) >= LEAST_BYTES)
          list[count++] = llround(1000 * rate_of(m, op));
      }
    rates[direction] = 0;
    size_t middle = count / 2;
    if (count) {
      nai_select_i64(list, count, middle);
      rates[direction] = (double)list[middle] / 1000;
    }
  }
  return NAI_OK;
}

/* A blocking copy still waits for its end; others return at once. Where no pinned copy tells the rate nothing is known.
 */
static void pin(struct edit *e, uint32_t op, const struct nai_op *o, double rate, enum nai_case which) {
  const struct nai_model *m = e->m;
  uint32_t call = m->dependencies->op_call[op];
  double own = rate_of(m, o);
  if (rate <= 0)
    return;
  if (rate > own && own > 0 && which != NAI_CASE_LOW)
    e->of.op_factor[op] *= (float)(own / rate);
  if (call != NAI_NO_ROW && !nai_model_api_blocks(m, m->dependencies->call_api[call]))
    e->of.no_wait[call] = 1;
  e->edited++;
}

int nai_edit_pinned(struct edit *e, enum nai_case which, struct nai_err *err) {
  const struct nai_model *m = e->m;
  double rates[DIRECTIONS] = {0};
  NAI_TRY(find_rates(rates, e, err));
  NAI_TRY(nai_edit_op_factors(e, err));
  NAI_TRY(nai_edit_waits(e, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (uint32_t i = e->w->ops[g].first; i < e->w->ops[g].end; i++)
      if (is_of(m, &m->gpus[g].ops[i], PAGEABLE))
        pin(e, m->dependencies->first_op[g] + i, &m->gpus[g].ops[i], rates[direction_of(m, &m->gpus[g].ops[i])], which);
  return NAI_OK;
}
