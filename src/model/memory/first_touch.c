/* What do copies from the GPU lose to host memory that is used for the first time? A page of it costs the driver's
 * thread a fault each, which pinning would only move into the allocation. The export does not record faults: durations
 * tell. */
#include "model/memory/first_touch.h"
#include "base/sort.h"
#include "model/groups.h"

enum { TO_GPU = 1, MIN_EQUAL = 3, CLASSES = 64 };

static const double much_longer = 1.5; /* than the usual copy of the size */
static const double far_slower = 2;    /* than copies to the GPU */

struct first_touch {
  int64_t *ns, *values;
  const struct nai_model *m;
  double to_gpu[CLASSES]; /* of one process, per class of sizes: median rate of copies to the GPU, bytes per ms; 0
                             unknown */
};

/* Sizes of a class: from a power of two up to the next. */
static int class_of(int64_t bytes) { return bytes > 1 ? CLASSES - 1 - __builtin_clzll((uint64_t)bytes) : 0; }

static void learn_rate(struct first_touch *f, const uint32_t *rows, uint32_t n, int class) {
  for (uint32_t i = 0; i < n; i++) {
    int64_t ns = nai_memop_ns(f->m, rows[i]);
    f->values[i] = (int64_t)((double)nai_at(&f->m->memops.bytes, rows[i]) / (double)(ns > 0 ? ns : 1) * 1e6);
  }
  f->to_gpu[class] = nai_quantile_i64(f->values, n, 0.5);
}

/* Copies of one size from the GPU: the first ones against the quicker half of all; where these are as the others, each
 * against copies of about its size to the GPU. */
static void compare(struct first_touch *f, const uint32_t *rows, uint32_t n) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < n; i++)
    f->values[i] = nai_memop_ns(f->m, rows[i]);
  double usual = nai_quantile_i64(f->values, n, 0.25), rate;
  for (; n >= MIN_EQUAL && first < n && (double)nai_memop_ns(f->m, rows[first]) > much_longer * usual; first++)
    f->ns[rows[first]] = nai_memop_ns(f->m, rows[first]) - (int64_t)usual;
  int64_t bytes = nai_at(&f->m->memops.bytes, rows[0]);
  if (first || (rate = f->to_gpu[class_of(bytes)]) <= 0)
    return;
  double expected = (double)bytes / rate * 1e6;
  for (uint32_t i = 0; i < n; i++)
    if ((double)nai_memop_ns(f->m, rows[i]) > far_slower * expected)
      f->ns[rows[i]] = nai_memop_ns(f->m, rows[i]) - (int64_t)expected;
}

int nai_first_touch(int64_t *ns, const struct nai_model *m, uint32_t *rows, uint32_t n, int64_t *values,
                    struct nai_err *err) {
  const struct MEMOP_EVENTS_columns *c = &m->memops;
  const struct nai_column *const keys[] = {&c->process, &c->copy_kind, &c->bytes};
  struct first_touch f = {.ns = ns, .values = values, .m = m};
  NAI_TRY(nai_rows_arrange(rows, n, keys, 3, err));
  for (uint32_t i = 0, j; i < n; i = j) {
    bool to_gpu = nai_at(&c->copy_kind, rows[i]) == TO_GPU;
    int64_t bytes = nai_at(&c->bytes, rows[i]);
    int class = class_of(bytes);
    if (i == 0 || nai_at(&c->process, rows[i]) != nai_at(&c->process, rows[i - 1]))
      memset(f.to_gpu, 0, sizeof f.to_gpu);
    for (j = i + 1; j < n && nai_at(&c->process, rows[j]) == nai_at(&c->process, rows[i]) &&
                    nai_at(&c->copy_kind, rows[j]) == nai_at(&c->copy_kind, rows[i]) &&
                    (to_gpu ? class_of(nai_at(&c->bytes, rows[j])) == class : nai_at(&c->bytes, rows[j]) == bytes);
         j++)
      ;
    if (to_gpu)
      learn_rate(&f, rows + i, j - i, class);
    else
      compare(&f, rows + i, j - i);
  }
  return NAI_OK;
}
