/* Shapes of launches, from table kernel_shape of all captures. */
#include "features/compare/shapes.h"
#include "base/fmt.h"
#include "base/sort.h"
#include "features/compare/internal.h"
#include "tables/kernel_shape.h"

NAI_ORDER_BY(by_shape, struct nai_launch_shape, strcmp(a->kernel, b->kernel), strcmp(a->grid, b->grid),
             strcmp(a->block, b->block), NAI_SIGN(a->registers, b->registers),
             NAI_SIGN(a->shared_bytes, b->shared_bytes))
NAI_ORDER_BY(by_time, struct nai_launch_shape, strcmp(a->kernel, b->kernel), NAI_SIGN(b->ns, a->ns), by_shape(a, b))

static bool is_same(const struct nai_launch_shape *a, const struct nai_launch_shape *b) {
  return strcmp(a->grid, b->grid) == 0 && strcmp(a->block, b->block) == 0 && a->registers == b->registers &&
         a->shared_bytes == b->shared_bytes;
}

static struct nai_launch_shape shape_of(const struct KERNEL_SHAPE_row *row) {
  return (struct nai_launch_shape){
      .kernel = row->kernel_name,
      .grid = row->grid,
      .block = row->block,
      .registers = row->registers_per_thread,
      .shared_bytes = row->static_shared_bytes == NAI_NULL_I64 && row->dynamic_shared_bytes == NAI_NULL_I64
                        ? NAI_NULL_I64
                        : nai_or_zero(row->static_shared_bytes) + nai_or_zero(row->dynamic_shared_bytes),
      .calls = row->call_count,
      .ns = row->total_time_ns,
      .blocks = row->blocks == NAI_NULL_I64 ? NAN : (double)row->blocks * (double)row->call_count};
}

/* Adds up the same shape on several GPUs and of several captures. */
static uint32_t merge(struct nai_launch_shape *list, uint32_t n) {
  uint32_t kept = 0;
  if (n)
    qsort(list, n, sizeof *list, by_shape);
  for (uint32_t i = 0; i < n; i++) {
    if (kept && by_shape(&list[kept - 1], &list[i]) == 0) {
      list[kept - 1].calls += list[i].calls;
      list[kept - 1].ns += list[i].ns;
      list[kept - 1].blocks += list[i].blocks;
    } else {
      list[kept++] = list[i];
    }
  }
  if (kept)
    qsort(list, kept, sizeof *list, by_time);
  return kept;
}

int nai_shapes_read(struct nai_comparison *c, struct nai_err *err) {
  for (int s = 0; s < NAI_SIDES; s++) {
    struct nai_launch_shape *list;
    uint32_t n = 0;
    NAI_TRY(NAI_NEW(list, &c->arena, (size_t)nai_side_count(c->sides, s, &nai_kernel_shape_schema), err));
    for (struct nai_side_rows r = nai_rows_of_side(c->sides, s, &nai_kernel_shape_schema); nai_next_row(&r);) {
      struct KERNEL_SHAPE_row row = KERNEL_SHAPE_at(r.table, r.row);
      list[n++] = shape_of(&row);
    }
    c->shapes[s] = (struct nai_kernel_shapes){list, merge(list, n)};
  }
  return NAI_OK;
}

/* --- of a kernel ------------------------------------------------------------------------------ */

struct place {
  const struct nai_launch_shape *list;
  const char *kernel;
  int least; /* what strcmp says of the first */
};

static bool is_before(const void *ctx, size_t i) {
  const struct place *p = ctx;
  return strcmp(p->list[i].kernel, p->kernel) < p->least;
}

struct nai_kernel_shapes nai_shapes_of(const struct nai_comparison *c, int side, const char *kernel) {
  struct nai_kernel_shapes all = c->shapes[side];
  if (!all.count)
    return all;
  size_t first = nai_search(0, all.count, is_before, &(struct place){all.list, kernel, 0});
  size_t end = nai_search(first, all.count, is_before, &(struct place){all.list, kernel, 1});
  return (struct nai_kernel_shapes){all.list + first, (uint32_t)(end - first)};
}

double nai_shapes_blocks(struct nai_kernel_shapes shapes) {
  double blocks = shapes.count ? 0 : (double)NAN;
  for (uint32_t i = 0; i < shapes.count; i++)
    blocks += shapes.list[i].blocks;
  return blocks;
}

static bool has(struct nai_kernel_shapes shapes, const struct nai_launch_shape *shape) {
  for (uint32_t i = 0; i < shapes.count; i++)
    if (is_same(&shapes.list[i], shape))
      return true;
  return false;
}

bool nai_shapes_differ(struct nai_kernel_shapes base, struct nai_kernel_shapes candidate) {
  return base.count && candidate.count && *base.list->grid && *candidate.list->grid && !has(candidate, base.list) &&
         !has(base, candidate.list);
}

/* "160x90" of 160x90x1, "10" of 10x1x1; of a forged run nothing else. */
static void put_size(struct nai_buf *out, const char *size) {
  size_t len = strspn(size, "0123456789x");
  while (len > 2 && size[len - 2] == 'x' && size[len - 1] == '1')
    len -= 2;
  nai_buf_put(out, size, len);
}

static void put_sizes(struct nai_buf *out, const char *what, const char *base, const char *candidate,
                      const char *unit) {
  nai_buf_printf(out, "%s%s ", out->len ? ", " : "", what);
  put_size(out, base);
  if (candidate) {
    nai_buf_puts(out, " -> ");
    put_size(out, candidate);
  }
  nai_buf_puts(out, unit);
}

static void put_bytes(struct nai_buf *out, int64_t base, int64_t candidate) {
  nai_buf_printf(out, "%sshared memory ", out->len ? ", " : "");
  nai_fmt_bytes(out, (double)base);
  nai_buf_puts(out, " -> ");
  nai_fmt_bytes(out, (double)candidate);
}

static bool is_known(int64_t a, int64_t b) { return a != NAI_NULL_I64 && b != NAI_NULL_I64; }

void nai_shapes_put_change(struct nai_buf *out, struct nai_kernel_shapes base, struct nai_kernel_shapes candidate) {
  const struct nai_launch_shape *a = base.list, *b = candidate.list;
  NAI_SCOPED(nai_buf) changed = {0}, same = {0};
  bool grid = strcmp(a->grid, b->grid) != 0, block = strcmp(a->block, b->block) != 0;
  put_sizes(grid ? &changed : &same, "grid", a->grid, grid ? b->grid : NULL, "");
  put_sizes(block ? &changed : &same, "block", a->block, block ? b->block : NULL, " threads");
  if (is_known(a->registers, b->registers) && a->registers != b->registers)
    nai_buf_printf(&changed, "%sregisters %" PRId64 " -> %" PRId64, changed.len ? ", " : "", a->registers,
                   b->registers);
  if (is_known(a->shared_bytes, b->shared_bytes) && a->shared_bytes != b->shared_bytes)
    put_bytes(&changed, a->shared_bytes, b->shared_bytes);
  nai_buf_printf(out, "%s%s", base.count > 1 || candidate.count > 1 ? "mostly " : "", nai_buf_str(&changed));
  if (same.len)
    nai_buf_printf(out, " (%s)", nai_buf_str(&same));
  out->oom |= changed.oom || same.oom;
}

/* --- of a row --------------------------------------------------------------------------------- */

static const char *name_of(const struct nai_comparison *c, const struct nai_match_row *row, int side, uint32_t i) {
  return c->uses[side].list[c->match.members[side][row->of[side].first + i]].name;
}

struct nai_kernel_shapes nai_shapes_of_row(const struct nai_comparison *c, const struct nai_match_row *row, int side) {
  uint32_t count = row->of[side].count;
  for (uint32_t i = 1; i < count; i++)
    if (strcmp(name_of(c, row, side, i), name_of(c, row, side, 0)) != 0)
      return (struct nai_kernel_shapes){0};
  return count ? nai_shapes_of(c, side, name_of(c, row, side, 0)) : (struct nai_kernel_shapes){0};
}

bool nai_shapes_relaunched(const struct nai_comparison *c, const struct nai_match_row *row) {
  const double same = 0.01;
  double launches[NAI_SIDES], blocks[NAI_SIDES]; /* per step or run; thread blocks of a launch */
  for (int s = 0; s < NAI_SIDES; s++) {
    struct nai_kernel_shapes shapes = nai_shapes_of_row(c, row, s);
    double calls = 0;
    for (uint32_t i = 0; i < shapes.count; i++)
      calls += (double)shapes.list[i].calls;
    launches[s] = (double)row->of[s].launches / c->uses[s].steps;
    blocks[s] = nai_shapes_blocks(shapes) / calls; /* NaN without shapes: of these nothing is the same */
  }
  double more = launches[NAI_CANDIDATE] / launches[NAI_BASE], as_many = more * blocks[NAI_CANDIDATE] / blocks[NAI_BASE];
  return fabs(more - 1) > same && fabs(as_many - 1) <= same;
}
