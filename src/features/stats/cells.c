/* What reports hold in their columns. */
#include "features/stats/stats.h"

double nai_stats_rate(int64_t bytes, int64_t ns) {
  int64_t times = 1000000000 / ns;
  return (double)bytes * (double)times;
}

void nai_stats_put_int(struct nai_stats_cell *out, int64_t value) {
  *out = (struct nai_stats_cell){.type = NAI_STATS_INT, .i = value};
}

void nai_stats_put_real(struct nai_stats_cell *out, double value) {
  *out = (struct nai_stats_cell){.type = isfinite(value) ? NAI_STATS_REAL : NAI_STATS_MISSING, .f = value};
}

void nai_stats_put_text(struct nai_stats_cell *out, const char *text) {
  *out = (struct nai_stats_cell){.type = text ? NAI_STATS_TEXT : NAI_STATS_MISSING, .text = text};
}

void nai_stats_show_records(struct nai_stats_rows *rows, const void *records, size_t bytes, uint32_t count,
                            int64_t most) {
  rows->records = records;
  rows->record_bytes = bytes;
  rows->fill = NULL;
  rows->count = most >= 0 && most < count ? (uint32_t)most : count;
}

static void fill_group(void *record, const struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_fill_group(record, (const struct nai_stats_group *)rows->records + row);
}
_Static_assert(sizeof(struct nai_stats_group_row) <= NAI_STATS_RECORD_BYTES, "rows->record has room");

int nai_stats_show_groups(struct nai_stats_rows *rows, struct nai_stats_groups *groups, int name_key,
                          enum nai_stats_ties ties, struct nai_err *err) {
  NAI_TRY(nai_stats_groups_finish(groups, rows->source, name_key, ties, err));
  nai_stats_show_records(rows, groups->sorted, sizeof *groups->sorted, groups->count, -1);
  rows->fill = fill_group;
  return NAI_OK;
}

int nai_stats_name_keys(const struct nai_stats_groups *groups, struct nai_stats_source *source, int key,
                        const char *const *words, struct nai_err *err) {
  for (uint32_t g = 0; g < groups->count; g++)
    NAI_TRY(nai_stats_text(&groups->sorted[g].key[key], source, words[groups->sorted[g].key[key]], err));
  return NAI_OK;
}

/* Of an odd number one of them, else the mean of two. */
void nai_stats_group_median(struct nai_stats_cell *out, struct nai_stats_rows *rows, const void *record, size_t at) {
  const struct nai_stats *stats = &((const struct nai_stats_group_row *)record)->stats;
  (void)rows, (void)at;
  nai_stats_put_real(out, stats->p50);
  if (stats->count % 2)
    nai_stats_put_int(out, (int64_t)stats->p50);
}
