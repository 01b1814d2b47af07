/* The maps of ranks and steps, and of ranks and time, as drawings. */
#include "features/ranks/write.h"

#include "base/fmt.h"
#include "base/escape.h"
#include "base/fs.h"
#include "rundir/run.h"

enum { LEFT = 130, RIGHT = 20, WIDTH = 1000, HEAD = 16, ROW_FEW = 20, ROW_MANY = 11, MANY = 24, MAX_CHARS = 20 };

struct scale {
  const struct nai_ranks *r;
  uint32_t columns;
  int row, height;
  double cell;
  int64_t largest;
};

enum { TOLD = 128 }; /* of more ranks cells have no words and rows no numbers: the page would be too large */

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

/* unit_ns: time that a column stands for; 0 where it stands for steps or collectives, and names are no links. */
static void begin_map(struct nai_buf *out, const char *class, const char *label, const struct scale *s,
                      int64_t unit_ns) {
  nai_buf_printf(out,
                 "<svg class=\"%s\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"%s\" aria-label=\"%s\" "
                 "data-columns=\"%" PRIu32 "\" data-per-column=\"%" PRIi64 "\" data-unit=\"%s\">",
                 class, WIDTH, s->height, WIDTH, s->height, unit_ns ? "group" : "img", label, s->columns,
                 unit_ns ? unit_ns : (int64_t)s->r->per_bucket,
                 unit_ns         ? "ns"
                 : s->r->by_step ? "Step"
                                 : "Collective");
}

/* A value of each column of a rank, for whoever sums them up: an attribute of its row. */
static void put_numbers(struct nai_buf *out, const struct scale *s, const char *name, const int64_t *values,
                        size_t stride, int64_t whole) {
  if (s->r->rank_count > TOLD)
    return;
  nai_buf_printf(out, " data-%s=\"", name);
  for (uint32_t i = 0; i < s->columns; i++) {
    int64_t value = values[i * stride];
    nai_buf_printf(out, "%s%" PRIi64, i ? "," : "", whole ? (1000 * value + whole / 2) / whole : value);
  }
  nai_buf_puts(out, "\"");
}

/* What cells are put in. */
static void put_frame(struct nai_buf *out, const struct scale *s) {
  nai_buf_printf(
      out, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/><g shape-rendering=\"crispEdges\">",
      LEFT, HEAD, WIDTH - LEFT - RIGHT, s->height - HEAD);
}

int64_t nai_ranks_put_map(struct nai_buf *out, const struct nai_ranks *r, const int64_t *values, const char *class,
                          const char *label) {
  struct scale s = scale_of(r, r->buckets);
  for (size_t i = 0; i < (size_t)r->rank_count * r->buckets; i++)
    s.largest = values[i] > s.largest ? values[i] : s.largest;
  begin_map(out, class, label, &s, 0);
  put_head(out, &s);
  for (uint32_t i = 0; i < r->rank_count; i++) {
    nai_buf_puts(out, "<g class=\"rank\"");
    put_numbers(out, &s, "ns", values + (size_t)i * r->buckets, 1, 0);
    nai_buf_puts(out, ">");
    put_label(out, &s, i);
    nai_buf_puts(out, "</g>");
  }
  put_frame(out, &s);
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

int nai_ranks_put_report(struct nai_buf *out, const struct nai_ranks_report *report, int64_t rank,
                         struct nai_err *err) {
  const struct nai_ranks *r = report->ranks;
  const struct nai_run *run = r->sources[r->ranks[rank].source].run;
  char file[PATH_MAX], path[PATH_MAX];
  struct nai_err unread = {0};
  if (!report->directory || !nai_run_find_report(file, "", nai_run_path(run), &unread))
    return unread.code ? nai_err_set(err, unread.code, "%s", unread.msg) : NAI_OK;
  NAI_TRY(nai_fs_relative(path, sizeof path, report->directory, file, err));
  nai_escape_url(out, path, strlen(path));
  return nai_buf_check(out, err);
}

/* The row of a rank: its name, which leads to its report, its time at the edges of the map, what it did in each column
 * in thousandths. */
static int put_time_row(struct nai_buf *out, const struct scale *s, const struct nai_ranks_report *report,
                        uint32_t rank, struct nai_err *err) {
  const struct nai_ranks_axis *axis = &report->axis;
  NAI_SCOPED(nai_buf) link = {0};
  int64_t from, to;
  NAI_TRY(nai_ranks_put_report(&link, report, rank, err));
  nai_buf_puts(out, "<a class=\"rank\"");
  if (link.len) {
    nai_buf_puts(out, " href=\"");
    nai_escape_html(out, link.data, link.len);
    nai_buf_puts(out, "\"");
  }
  if (nai_ranks_own_times(&from, &to, axis, s->r, rank)) {
    nai_buf_printf(out, " data-from=\"%" PRIi64 "\" data-to=\"%" PRIi64 "\"", from, to);
    for (int state = 0; state < NAI_RANKS_IDLE; state++)
      put_numbers(out, s, nai_ranks_states[state], nai_ranks_bin(axis, rank, 0) + state, NAI_RANKS_STATES,
                  axis->width_ns);
  }
  nai_buf_puts(out, ">");
  put_label(out, s, rank);
  nai_buf_puts(out, "</a>");
  return NAI_OK;
}

int nai_ranks_put_time_map(struct nai_buf *out, const struct nai_ranks_report *report, struct nai_err *err) {
  const struct nai_ranks *r = report->ranks;
  const struct nai_ranks_axis *axis = &report->axis;
  struct scale s = scale_of(r, NAI_RANKS_BUCKETS);
  begin_map(out, "map time", "What each GPU did, over time", &s, axis->width_ns);
  for (uint32_t bin = 0; bin < s.columns; bin += s.columns / 8) {
    nai_buf_puts(out, "<text x=\"");
    put_x(out, &s, bin);
    nai_buf_printf(out, "\" y=\"%d\">", HEAD - 4);
    nai_fmt_duration(out, (double)(bin * axis->width_ns));
    nai_buf_puts(out, "</text>");
  }
  for (uint32_t i = 0; i < r->rank_count; i++)
    NAI_TRY(put_time_row(out, &s, report, i, err));
  put_frame(out, &s);
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
  return NAI_OK;
}
