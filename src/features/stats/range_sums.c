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

int nai_stats_make_ranges(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  struct nai_stats_ranges ranges;
  struct nai_stats_groups *groups = NULL;
  uint32_t *known; /* groups + 1, by words and style */
  const int what = options->report->what;
  rows->source->canonical = options->flag[0];
  NAI_TRY(nai_stats_load_ranges(&ranges, rows->source, options->old, NAI_STATS_BOTH_STYLES, err));
  NAI_TRY(NAI_NEW(groups, &rows->source->arena, 1, err));
  NAI_TRY(NAI_NEW(known, &rows->source->arena, (size_t)ranges.word_count * 2, err));
  NAI_TRY(nai_stats_groups_begin(groups, rows->source, 2, ranges.count, err));
  for (uint32_t i = 0; i < ranges.count; i++) {
    const struct nai_stats_range *range = &ranges.at[i];
    uint32_t *group = &known[range->words * 2 + range->push_pop];
    if (what == (range->push_pop ? NAI_STATS_START_END_RANGES : NAI_STATS_PUSH_POP_RANGES))
      continue;
    if (!*group) {
      int64_t key[2] = {range->name, nai_stats_style_of(range)};
      if (options->flag[0])
        NAI_TRY(cut_name(&key[0], rows->source, err));
      *group = nai_stats_key_find(&groups->of, key, 2) + 1;
    }
    NAI_TRY(nai_stats_groups_put(groups, *group - 1, range->end - range->start, err));
  }
  return nai_stats_show_groups(rows, groups, 0, NAI_STATS_BY_NAME, err);
}

const struct nai_stats_column nai_stats_range_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Style", 0, nai_stats_group_style, 1}, {"Range", 0, nai_stats_group_name, 1}, {0}};
const struct nai_stats_column nai_stats_one_style_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Range", 0, nai_stats_group_name, 1}, {0}};
