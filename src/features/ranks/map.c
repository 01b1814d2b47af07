/* The maps of ranks and steps, and of ranks and time, as drawings. */
#include "features/ranks/write.h"

#include "base/fmt.h"
#include "base/escape.h"

enum { LEFT = 130, RIGHT = 20, WIDTH = 1000, HEAD = 16, ROW_FEW = 20, ROW_MANY = 11, MANY = 24, MAX_CHARS = 20 };

struct scale {
  const struct nai_ranks *r;
  uint32_t columns;
  int row, height;
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

static struct scale scale_of(const struct nai_ranks *r, uint32_t columns) {
  struct scale s = {.r = r, .columns = columns, .row = r->rank_count > MANY ? ROW_MANY : ROW_FEW};
  s.cell = (double)(WIDTH - LEFT - RIGHT) / columns;
  s.height = HEAD + (int)r->rank_count * s.row;
  return s;
}

static void begin_map(struct nai_buf *out, const char *class, const char *label, const struct scale *s) {
  nai_buf_printf(out,
                 "<svg class=\"%s\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">",
                 class, WIDTH, s->height, WIDTH, s->height, label);
}

/* The rows, and what cells are put in. */
static void put_rows(struct nai_buf *out, const struct scale *s) {
  for (uint32_t i = 0; i < s->r->rank_count; i++)
    put_label(out, s, i);
  nai_buf_printf(
      out, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/><g shape-rendering=\"crispEdges\">",
      LEFT, HEAD, WIDTH - LEFT - RIGHT, s->height - HEAD);
}

int64_t nai_ranks_put_map(struct nai_buf *out, const struct nai_ranks *r, const int64_t *values, const char *class,
                          const char *label) {
  struct scale s = scale_of(r, r->buckets);
  for (size_t i = 0; i < (size_t)r->rank_count * r->buckets; i++)
    s.largest = values[i] > s.largest ? values[i] : s.largest;
  begin_map(out, class, label, &s);
  put_head(out, &s);
  put_rows(out, &s);
  for (uint32_t i = 0; i < r->rank_count; i++)
    for (uint32_t b = 0; b < r->buckets; b++)
      if (values[(size_t)i * r->buckets + b] > 0)
        put_cell(out, &s, i, b, values[(size_t)i * r->buckets + b]);
  nai_buf_puts(out, "</g></svg>");
  return s.largest;
}

/* --- ranks and time --------------------------------------------------------------------------- */

/* What a GPU did most in a bin, and how much of it, in quarters; 0 of it where that is nothing, or to be idle. */
struct look {
  int state, quarters;
};

static struct look look_at(const struct nai_ranks_axis *axis, uint32_t rank, uint32_t bin) {
  const int64_t *ns = nai_ranks_bin(axis, rank, bin);
  struct look look = {0, 0};
  for (int state = 1; state < NAI_RANKS_STATES; state++)
    look.state = ns[state] > ns[look.state] ? state : look.state;
  if (look.state != NAI_RANKS_IDLE)
    look.quarters = (int)((4 * ns[look.state] + axis->width_ns - 1) / axis->width_ns);
  return look;
}

static void put_stretch(struct nai_buf *out, const struct scale *s, const struct nai_ranks_axis *axis, uint32_t rank,
                        uint32_t from, uint32_t to, struct look look) {
  enum { TOLD = 128 }; /* of more ranks cells have no words: the page would be too large */
  nai_buf_puts(out, "<rect x=\"");
  put_x(out, s, from);
  nai_buf_puts(out, "\" width=\"");
  nai_fmt_real(out, s->cell * (to - from), 1);
  nai_buf_printf(out, "\" y=\"%d\" height=\"%d\" class=\"%s\" fill-opacity=\"", HEAD + (int)rank * s->row, s->row - 1,
                 nai_ranks_states[look.state]);
  nai_fmt_real(out, 0.25 * look.quarters, 2);
  nai_buf_puts(out, s->r->rank_count > TOLD ? "\"/>" : "\"><title>");
  if (s->r->rank_count > TOLD)
    return;
  nai_escape_html(out, s->r->ranks[rank].label, strlen(s->r->ranks[rank].label));
  nai_buf_puts(out, ", ");
  nai_fmt_duration(out, (double)(from * axis->width_ns));
  nai_buf_puts(out, " to ");
  nai_fmt_duration(out, (double)(to * axis->width_ns));
  nai_buf_printf(out, ": mostly %s</title></rect>", nai_ranks_states[look.state]);
}

void nai_ranks_put_time_map(struct nai_buf *out, const struct nai_ranks *r, const struct nai_ranks_axis *axis) {
  struct scale s = scale_of(r, NAI_RANKS_BUCKETS);
  begin_map(out, "map time", "What each GPU did, over time", &s);
  for (uint32_t bin = 0; bin < s.columns; bin += s.columns / 8) {
    nai_buf_puts(out, "<text x=\"");
    put_x(out, &s, bin);
    nai_buf_printf(out, "\" y=\"%d\">", HEAD - 4);
    nai_fmt_duration(out, (double)(bin * axis->width_ns));
    nai_buf_puts(out, "</text>");
  }
  put_rows(out, &s);
  for (uint32_t i = 0; i < r->rank_count; i++)
    for (uint32_t bin = 0, next; bin < s.columns; bin = next) {
      struct look look = look_at(axis, i, bin), other;
      for (next = bin + 1; next < s.columns; next++) {
        other = look_at(axis, i, next);
        if (other.state != look.state || other.quarters != look.quarters)
          break;
      }
      if (look.quarters)
        put_stretch(out, &s, axis, i, bin, next, look);
    }
  nai_buf_puts(out, "</g></svg>");
}
