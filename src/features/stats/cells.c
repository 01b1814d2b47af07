/* Cells of reports: numbers, texts, and what reports of groups have in common. */
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

int nai_stats_show_groups(struct nai_stats_rows *rows, struct nai_stats_groups *groups, int name_key,
                          enum nai_stats_ties ties, struct nai_err *err) {
  NAI_TRY(nai_stats_groups_finish(groups, rows->source, name_key, ties, err));
  if (rows->quartiles)
    NAI_TRY(nai_stats_groups_find_quartiles(groups, &rows->source->arena, err));
  rows->state = groups;
  rows->count = groups->count;
  return NAI_OK;
}

/* The share of a report's total. */
void nai_stats_cell_percent(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  double total = ((const struct nai_stats_groups *)rows->state)->total;
  nai_stats_put_rounded(out, total > 0 ? (double)nai_stats_group_of(rows, row)->stats.total * 100 / total : NAN);
}
void nai_stats_cell_total(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_put_int(out, nai_stats_group_of(rows, row)->stats.total);
}
void nai_stats_cell_count(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_put_int(out, nai_stats_group_of(rows, row)->stats.count);
}
void nai_stats_cell_average(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_put_rounded(out, nai_stats_group_of(rows, row)->stats.mean);
}
void nai_stats_cell_median(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_put_rounded(out, nai_stats_group_of(rows, row)->stats.p50);
}
void nai_stats_cell_least(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_put_int(out, nai_stats_group_of(rows, row)->stats.min);
}
void nai_stats_cell_most(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_put_int(out, nai_stats_group_of(rows, row)->stats.max);
}
void nai_stats_cell_deviation(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_put_rounded(out, nai_stats_group_of(rows, row)->stats.stddev);
}
void nai_stats_cell_name(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  const char *text = nai_stats_group_of(rows, row)->name;
  nai_stats_put_text(out, text ? text : "");
}

static double quartile(const struct nai_stats_rows *rows, uint32_t row, int which) {
  return ((const struct nai_stats_groups *)rows->state)->quartiles[nai_stats_group_of(rows, row)->id][which];
}
void nai_stats_cell_first_quartile(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_put_rounded(out, quartile(rows, row, 0));
}
void nai_stats_cell_third_quartile(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_put_rounded(out, quartile(rows, row, 1));
}
void nai_stats_cell_size_first_quartile(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_put_real(out, quartile(rows, row, 0));
}
void nai_stats_cell_size_third_quartile(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_put_real(out, quartile(rows, row, 1));
}
