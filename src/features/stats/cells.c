/* Cells of reports: numbers, texts, members of structs, and what reports of groups have in common. */
#include "features/stats/stats.h"

double nai_stats_rate(int64_t bytes, int64_t ns) {
  int64_t times = 1000000000 / ns;
  return (double)bytes * (double)times;
}

void nai_stats_put_int(struct nai_stats_cell *out, int64_t value) {
  *out = (struct nai_stats_cell){.type = value == NAI_STATS_NULL ? NAI_STATS_MISSING : NAI_STATS_INT, .i = value};
}

void nai_stats_put_real(struct nai_stats_cell *out, double value) {
  *out = (struct nai_stats_cell){.type = isfinite(value) ? NAI_STATS_REAL : NAI_STATS_MISSING, .f = value};
}

void nai_stats_put_rounded(struct nai_stats_cell *out, double value) {
  nai_stats_put_real(out, isfinite(value) ? nai_stats_round(value) : value);
}

void nai_stats_put_text(struct nai_stats_cell *out, const char *text) {
  *out = (struct nai_stats_cell){.type = text ? NAI_STATS_TEXT : NAI_STATS_MISSING, .text = text};
}

/* As NAI_STATS_CELL, for all files. */
#define CELL(function, ...)                                                                         \
  void function(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t at) { \
    (void)rows, (void)row, (void)at;                                                                \
    __VA_ARGS__;                                                                                    \
  }

/* --- structs ------------------------------------------------------------------------------------------------- */

void nai_stats_show_records(struct nai_stats_rows *rows, const void *records, size_t bytes, uint32_t count,
                            int64_t most) {
  rows->records = records;
  rows->record_bytes = bytes;
  rows->count = most >= 0 && most < count ? (uint32_t)most : count;
}

#define MEMBER(type) (*(const type *)((const char *)rows->records + row * rows->record_bytes + at))
CELL(nai_stats_int, nai_stats_put_int(out, MEMBER(int64_t)))
CELL(nai_stats_text_number, nai_stats_put_text(out, nai_stats_text_of(rows->source, MEMBER(int64_t))))
CELL(nai_stats_real, nai_stats_put_real(out, MEMBER(double)))
CELL(nai_stats_rounded, nai_stats_put_rounded(out, MEMBER(double)))
CELL(nai_stats_number_of_row, nai_stats_put_int(out, (int64_t)(row + at)))

/* --- groups -------------------------------------------------------------------------------------------------- */

int nai_stats_show_groups(struct nai_stats_rows *rows, struct nai_stats_groups *groups, int name_key,
                          enum nai_stats_ties ties, struct nai_err *err) {
  NAI_TRY(nai_stats_groups_finish(groups, rows->source, name_key, ties, err));
  rows->state = groups;
  rows->count = groups->count;
  return NAI_OK;
}

#define STATISTIC(type) (*(const type *)((const char *)&nai_stats_group_of(rows, row)->stats + at))
CELL(nai_stats_group_int, nai_stats_put_int(out, STATISTIC(int64_t)))
CELL(nai_stats_group_rounded, nai_stats_put_rounded(out, STATISTIC(double)))
CELL(nai_stats_group_real, nai_stats_put_real(out, STATISTIC(double)))
CELL(nai_stats_group_key, nai_stats_put_int(out, nai_stats_group_of(rows, row)->key[at]))
CELL(nai_stats_group_text,
     nai_stats_put_text(out, nai_stats_text_of(rows->source, nai_stats_group_of(rows, row)->key[at])))

void nai_stats_group_name(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t missing) {
  const char *text = nai_stats_group_of(rows, row)->name;
  nai_stats_put_text(out, text || missing ? text : "");
}

/* The share of a report's total. */
void nai_stats_group_percent(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t at) {
  double total = ((const struct nai_stats_groups *)rows->state)->total;
  (void)at;
  nai_stats_put_rounded(out, total > 0 ? (double)nai_stats_group_of(rows, row)->stats.total * 100 / total : NAN);
}

/* Of an odd number one of them, else the mean of two. */
void nai_stats_group_median(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t at) {
  const struct nai_stats *stats = &nai_stats_group_of(rows, row)->stats;
  (void)at;
  if (stats->count % 2)
    nai_stats_put_int(out, (int64_t)stats->p50);
  else
    nai_stats_put_real(out, stats->p50);
}
