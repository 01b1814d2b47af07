/* NVTX ranges by name. */
#include "features/stats/ranges.h"

#include "trace/names.h"

/* Without what PyTorch writes behind a name: `aten::add, op_id = 7` is `aten::add`. */
static int cut_name(int64_t *name, struct nai_stats_source *source, struct nai_err *err) {
  const char *text = nai_stats_text_of(source, *name);
  size_t len = text ? nai_nvtx_name_length(text, strlen(text)) : 0;
  if (!text || !text[len])
    return NAI_OK;
  NAI_SCOPED(nai_buf) cut = {0};
  nai_buf_put(&cut, text, len);
  NAI_TRY(nai_buf_check(&cut, err));
  return nai_stats_text(name, source, nai_buf_str(&cut), err);
}

static int keep_name(int64_t *name, struct nai_stats_source *source, struct nai_err *err) {
  (void)name, (void)source, (void)err;
  return NAI_OK;
}

int nai_stats_make_ranges(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  struct nai_stats_range_sums sums = {.what = options->report->what, .name = options->flag[0] ? cut_name : keep_name};
  rows->source->canonical = options->flag[0];
  NAI_TRY(NAI_NEW(sums.groups, &rows->source->arena, 1, err));
  NAI_TRY(nai_stats_sum_ranges(&sums, rows->source, options->old, err));
  return nai_stats_show_groups(rows, sums.groups, 0, NAI_STATS_BY_NAME, err);
}

const struct nai_stats_column nai_stats_range_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Style", 0, nai_stats_group_style, 1}, {"Range", 0, nai_stats_group_name, 1}, {0}};
const struct nai_stats_column nai_stats_one_style_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Range", 0, nai_stats_group_name, 1}, {0}};
