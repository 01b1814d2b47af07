/* The map of ranks and steps as a drawing. */
#include "features/ranks/write.h"

#include "base/fmt.h"
#include "base/escape.h"

#include <inttypes.h>
#include <string.h>

enum { LEFT = 130, RIGHT = 20, WIDTH = 1000, HEAD = 16, ROW_FEW = 20, ROW_MANY = 11, MANY = 24, MAX_CHARS = 20 };

struct scale {
  const struct nai_ranks *r;
  int row;
  double cell;
  int64_t largest;
};

static void put_label(struct nai_buf *out, const struct scale *s, uint32_t rank) {
  const char *label = s->r->ranks[rank].label;
  size_t len = strlen(label);
  const char *shown = len > MAX_CHARS ? label + len - MAX_CHARS : label; /* ends differ, beginnings rarely do */
  while ((*shown & 0xC0) == 0x80)                                        /* not from the middle of a character */
    shown++;
  nai_buf_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 6,
                 HEAD + (int)rank * s->row + s->row * 3 / 4);
  nai_escape_html(out, shown, strlen(shown));
  nai_buf_puts(out, "</text>");
}

static void put_x(struct nai_buf *out, const struct scale *s, uint32_t bucket) {
  nai_fmt_real(out, LEFT + s->cell * bucket, 1);
}

static void put_cell(struct nai_buf *out, const struct scale *s, uint32_t rank, uint32_t bucket, int64_t ns) {
  double shade = 0.08 + 0.92 * (double)ns / (double)s->largest;
  nai_buf_puts(out, "<rect x=\"");
  put_x(out, s, bucket);
  nai_buf_puts(out, "\" width=\"");
  nai_fmt_real(out, s->cell, 1);
  nai_buf_printf(out, "\" y=\"%d\" height=\"%d\" fill-opacity=\"", HEAD + (int)rank * s->row, s->row - 1);
  nai_fmt_real(out, shade, 2);
  nai_buf_printf(out, "\"><title>");
  nai_escape_html(out, s->r->ranks[rank].label, strlen(s->r->ranks[rank].label));
  nai_buf_printf(out, ", %s %" PRIu32, s->r->by_step ? "step" : "collective", bucket * s->r->per_bucket);
  if (s->r->per_bucket > 1)
    nai_buf_printf(out, " to %" PRIu32, (bucket + 1) * s->r->per_bucket - 1);
  nai_buf_puts(out, ": ");
  nai_fmt_duration(out, (double)ns);
  nai_buf_puts(out, "</title></rect>");
}

/* Numbers of steps above the columns, some ten of them. */
static void put_head(struct nai_buf *out, const struct scale *s) {
  uint32_t every = s->r->buckets / 10 + 1;
  for (uint32_t b = 0; b < s->r->buckets; b += every) {
    nai_buf_puts(out, "<text x=\"");
    put_x(out, s, b);
    nai_buf_printf(out, "\" y=\"%d\">%" PRIu32 "</text>", HEAD - 4, b * s->r->per_bucket);
  }
}

int64_t nai_ranks_put_map(struct nai_buf *out, const struct nai_ranks *r, const int64_t *values, const char *class,
                          const char *label) {
  struct scale s = {.r = r, .row = r->rank_count > MANY ? ROW_MANY : ROW_FEW};
  s.cell = (double)(WIDTH - LEFT - RIGHT) / r->buckets;
  for (size_t i = 0; i < (size_t)r->rank_count * r->buckets; i++)
    s.largest = values[i] > s.largest ? values[i] : s.largest;
  int height = HEAD + (int)r->rank_count * s.row;
  nai_buf_printf(out,
                 "<svg class=\"%s\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">",
                 class, WIDTH, height, WIDTH, height, label);
  put_head(out, &s);
  for (uint32_t i = 0; i < r->rank_count; i++)
    put_label(out, &s, i);
  nai_buf_printf(
      out, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/><g shape-rendering=\"crispEdges\">",
      LEFT, HEAD, WIDTH - LEFT - RIGHT, height - HEAD);
  for (uint32_t i = 0; i < r->rank_count; i++)
    for (uint32_t b = 0; b < r->buckets; b++)
      if (values[(size_t)i * r->buckets + b] > 0)
        put_cell(out, &s, i, b, values[(size_t)i * r->buckets + b]);
  nai_buf_puts(out, "</g></svg>");
  return s.largest;
}
