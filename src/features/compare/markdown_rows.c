/* compare.md's tables of kernels, ranges, phases and copies: those that differ most first. */
#include "features/compare/internal.h"
#include "features/compare/markdown.h"
#include "features/compare/write.h"

#include "base/fmt.h"
#include "base/escape.h"
#include "base/text.h"
#include "table/kernel_name.h"
#include "tables/compared_kernels.h"
#include "tables/compared_ranges.h"
#include "tables/compared_time.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KERNELS = 20, MAX_RANGES = 10, MAX_CHARS = 80, LAST_ROW_AT = 56000 };

bool nai_markdown_full(const struct nai_buf *out) { return out->len > LAST_ROW_AT; }

/* A text of a trace as code, cut. */
void nai_markdown_put_code(struct nai_buf *out, const char *text) {
  struct nai_buf cut = {0};
  nai_text_cut(&cut, text, strlen(text), MAX_CHARS);
  nai_escape_markdown_code(out, nai_buf_str(&cut), cut.len);
  out->oom |= cut.oom;
  nai_buf_free(&cut);
}

void nai_markdown_put_text(struct nai_buf *out, const char *text) {
  struct nai_buf cut = {0};
  nai_text_cut(&cut, text, strlen(text), 3 * MAX_CHARS);
  nai_escape_markdown(out, nai_buf_str(&cut), cut.len);
  out->oom |= cut.oom;
  nai_buf_free(&cut);
}

void nai_markdown_put_ns(struct nai_buf *out, double ns, bool sign) { nai_put_amount(out, "ns", ns, sign); }

/* The rows of a table in an order; NULL when memory is out. */
static int64_t *sorted_rows(struct nai_buf *out, struct nai_table *t, int (*by)(const void *, const void *, void *)) {
  int64_t *order = malloc(((size_t)t->rows + 1) * sizeof *order);
  out->oom |= !order;
  for (int64_t i = 0; order && i < t->rows; i++)
    order[i] = i;
  if (order)
    qsort_r(order, (size_t)t->rows, sizeof *order, by, t);
  return order;
}

/* By how much a row moves a side's time. */
static double weight(const struct nai_table *t, int64_t row) {
  double base = nai_get_f64(t, row, COMPARED_KERNELS_base_time_ns),
         fresh = nai_get_f64(t, row, COMPARED_KERNELS_new_time_ns);
  return fabs((isnan(fresh) ? 0 : fresh) - (isnan(base) ? 0 : base));
}

static int by_weight(const void *a, const void *b, void *table) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  double dx = weight(table, x), dy = weight(table, y);
  return dx > dy ? -1 : dx < dy ? 1 : (x > y) - (x < y);
}

/* Differences below are not worth a reader's time: the captures differ by as much anyway. */
static double least_worth(const struct nai_comparison *c) {
  const double share = 0.001;
  const struct nai_table *t = c->tables[NAI_COMPARED_TIME];
  return t->rows
           ? share * fmax(nai_get_f64(t, 0, COMPARED_TIME_base_time_ns), nai_get_f64(t, 0, COMPARED_TIME_new_time_ns))
           : 0;
}

static void put_kernel(struct nai_buf *out, const struct nai_table *t, int64_t row) {
  struct nai_buf name = {0};
  nai_kernel_name_short(&name, nai_get_str(t, row, COMPARED_KERNELS_kernel), MAX_CHARS);
  nai_buf_puts(out, "| ");
  nai_markdown_put_code(out, nai_buf_str(&name));
  if (*nai_get_str(t, row, COMPARED_KERNELS_nvtx_path)) {
    nai_buf_puts(out, " in ");
    nai_markdown_put_code(out, nai_get_str(t, row, COMPARED_KERNELS_nvtx_path));
  }
  nai_buf_printf(out, " | %s%s%s%s | ", nai_get_str(t, row, COMPARED_KERNELS_state),
                 *nai_get_str(t, row, COMPARED_KERNELS_confidence) ? " (" : "",
                 nai_get_str(t, row, COMPARED_KERNELS_confidence),
                 *nai_get_str(t, row, COMPARED_KERNELS_confidence) ? ")" : "");
  nai_put_amount(out, "count", nai_get_f64(t, row, COMPARED_KERNELS_base_calls), false);
  nai_buf_puts(out, " -> ");
  nai_put_amount(out, "count", nai_get_f64(t, row, COMPARED_KERNELS_new_calls), false);
  nai_buf_puts(out, " | ");
  nai_markdown_put_ns(out, nai_get_f64(t, row, COMPARED_KERNELS_base_time_ns), false);
  nai_buf_puts(out, " -> ");
  nai_markdown_put_ns(out, nai_get_f64(t, row, COMPARED_KERNELS_new_time_ns), false);
  nai_buf_puts(out, " | ");
  nai_markdown_put_ns(out, nai_get_f64(t, row, COMPARED_KERNELS_delta_ns), true);
  nai_buf_printf(out, " | %s |\n", nai_get_str(t, row, COMPARED_KERNELS_change));
  out->oom |= name.oom;
  nai_buf_free(&name);
}

/* How many rows are more than one name on both sides. */
static void put_states(struct nai_buf *out, const struct nai_comparison *c) {
  uint32_t counts[NAI_MATCH_STATE_COUNT] = {0}, shown = 0;
  for (uint32_t i = 0; i < c->match.count; i++)
    counts[c->match.rows[i].state]++;
  for (int state = NAI_MATCH_KERNEL + 1; state < NAI_MATCH_STATE_COUNT; state++) {
    if (!counts[state])
      continue;
    const char *name = nai_match_state_name((enum nai_match_state)state);
    nai_buf_printf(out, "%s%u %s", shown++ ? ", " : " Kernels: ", counts[state],
                   state == NAI_MATCH_ONLY_BASE  ? "gone"
                   : state == NAI_MATCH_ONLY_NEW ? "new"
                                                 : name);
  }
  if (shown)
    nai_buf_putc(out, '.');
}

static void put_levels(struct nai_buf *out, const struct nai_comparison *c) {
  double all = (double)c->match.base_ns + (double)c->match.new_ns;
  if (all <= 0)
    return;
  const char *before = "Kernel time matched by ";
  for (int level = 0; level < NAI_LEVEL_COUNT; level++) {
    if (!c->match.level_ns[level])
      continue;
    nai_buf_printf(out, "%s%s (%s) ", before, nai_match_level_name((enum nai_match_level)level),
                   nai_match_level_confidence((enum nai_match_level)level));
    nai_fmt_percent(out, 100 * (double)c->match.level_ns[level] / all);
    before = ", ";
  }
  if (c->match.only_ns) {
    nai_buf_printf(out, "%son one side only ", strcmp(before, ", ") == 0 ? "; " : "Kernel time ");
    nai_fmt_percent(out, 100 * (double)c->match.only_ns / all);
  }
  nai_buf_puts(out, ".");
  put_states(out, c);
  nai_buf_puts(out, "\n\n");
}

void nai_markdown_put_kernels(struct nai_buf *out, const struct nai_comparison *c) {
  struct nai_table *t = c->tables[NAI_COMPARED_KERNELS];
  int64_t *order = sorted_rows(out, t, by_weight), shown = 0, worth = 0, differ = 0;
  double least = least_worth(c);
  if (!order)
    return;
  for (int64_t i = 0; i < t->rows && weight(t, order[i]) > 0; i++) {
    differ++;
    worth += weight(t, order[i]) >= least;
  }
  nai_buf_puts(out, "## Kernels\n\n");
  put_levels(out, c);
  if (worth)
    nai_buf_puts(out, "| Kernel | Match | Calls | Time | Difference | |\n|---|---|---:|---:|---:|---|\n");
  for (; shown < worth && shown < MAX_KERNELS && !nai_markdown_full(out); shown++)
    put_kernel(out, t, order[shown]);
  if (shown)
    nai_buf_putc(out, '\n');
  if (worth > shown)
    nai_buf_printf(out, "%" PRId64 " more rows are in `tables/compared_kernels.csv`.\n\n", worth - shown);
  if (!worth)
    nai_buf_printf(out, "No kernel differs%s.\n\n", differ ? " by 0.1 % of the whole or more" : "");
  free(order);
}

static int by_delta(const void *a, const void *b, void *table) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  double dx = fabs(nai_get_f64(table, x, COMPARED_RANGES_delta_ns)),
         dy = fabs(nai_get_f64(table, y, COMPARED_RANGES_delta_ns));
  dx = isnan(dx) ? -1 : dx;
  dy = isnan(dy) ? -1 : dy;
  return dx > dy ? -1 : dx < dy ? 1 : (x > y) - (x < y);
}

/* Ranges, phases or copies that both sides have, those that differ most first. */
void nai_markdown_put_differences(struct nai_buf *out, struct nai_table *t, const char *title, const char *unit) {
  const double noise = 0.01; /* of a range's own time */
  int64_t *order = sorted_rows(out, t, by_delta), shown = 0, skipped = 0;
  if (!order)
    return;
  for (; shown + skipped < t->rows && shown < MAX_RANGES && !nai_markdown_full(out);) {
    int64_t row = order[shown + skipped];
    double delta = nai_get_f64(t, row, COMPARED_RANGES_delta_ns);
    if (!(fabs(delta) > 0))
      break;
    if (strcmp(unit, "ns") == 0 && fabs(delta) < noise * nai_get_f64(t, row, COMPARED_RANGES_base_time_ns)) {
      skipped++;
      continue;
    }
    if (!shown++)
      nai_buf_printf(
          out, "## %s\n\nPer capture%s.\n\n| Name | Count | Base | New | Difference |\n|---|---:|---:|---:|---:|\n",
          title,
          strcmp(title, "NVTX ranges") == 0 ? "; all threads together, and ranges inside of others count, too" : "");
    nai_buf_puts(out, "| ");
    nai_markdown_put_code(out, nai_get_str(t, row, COMPARED_RANGES_range_name));
    nai_buf_puts(out, " | ");
    nai_put_amount(out, "count", nai_get_f64(t, row, COMPARED_RANGES_base_count), false);
    nai_buf_puts(out, " -> ");
    nai_put_amount(out, "count", nai_get_f64(t, row, COMPARED_RANGES_new_count), false);
    nai_buf_puts(out, " | ");
    nai_put_amount(out, unit, nai_get_f64(t, row, COMPARED_RANGES_base_time_ns), false);
    nai_buf_puts(out, " | ");
    nai_put_amount(out, unit, nai_get_f64(t, row, COMPARED_RANGES_new_time_ns), false);
    nai_buf_puts(out, " | ");
    nai_put_amount(out, unit, delta, true);
    nai_buf_puts(out, " |\n");
  }
  if (shown)
    nai_buf_putc(out, '\n');
  free(order);
}
