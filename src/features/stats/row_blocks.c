/* Blocks of rows that a reader has filled. */
#include "features/stats/source.h"

#include "trace/names.h"

const char *const nai_load_filters[] = {"start", "end", "globalTid", "globalPid"};

static bool is_other(const int64_t *cells, uint32_t row, int64_t wanted, int shift) {
  return cells && wanted != NAI_STATS_NULL && cells[row] != NAI_STATS_NULL && cells[row] >> shift != wanted;
}

static bool passes(const struct nai_load_part *part, uint32_t row) {
  const struct nai_stats_filter *filter = &part->load->source->filter;
  int64_t *const *to = part->to;
  const int64_t start = to[NAI_LOAD_START] ? to[NAI_LOAD_START][row] : NAI_STATS_NULL;
  const int64_t end = to[NAI_LOAD_END] ? to[NAI_LOAD_END][row] : NAI_STATS_NULL;
  if (to[NAI_LOAD_KIND] && to[NAI_LOAD_KIND][row] != part->load->kind)
    return false;
  return start == NAI_STATS_NULL || (nai_stats_passes(filter, start, end == NAI_STATS_NULL ? start : end) &&
                                     !is_other(to[NAI_LOAD_THREAD], row, filter->thread, 0) &&
                                     !is_other(to[NAI_LOAD_PROCESS], row, filter->process, NAI_STATS_PROCESS_SHIFT));
}

static uint32_t keep_passing(const struct nai_load_part *part) {
  int64_t *at[NAI_STATS_MAX_COLUMNS];
  uint32_t kept = 0;
  int columns = 0;
  for (int c = 0; c < NAI_STATS_MAX_COLUMNS; c++)
    if (part->to[c])
      at[columns++] = part->to[c];
  for (uint32_t row = 0; row < part->rows; row++) {
    if (!passes(part, row))
      continue;
    for (int c = 0; c < columns; c++)
      at[c][kept] = at[c][row];
    kept++;
  }
  return kept;
}

void nai_load_clear(int64_t *cells, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    cells[i] = NAI_STATS_NULL;
}

int nai_load_flush(struct nai_load_part *part, struct nai_err *err) {
  const struct nai_load *load = part->load;
  const uint32_t kept = load->filtered || part->to[NAI_LOAD_KIND] ? keep_passing(part) : part->rows;
  struct nai_stats_events block = {.count = kept};
  part->rows = 0;
  load->end[part->number] += kept;
  for (int c = 0; c < NAI_STATS_MAX_COLUMNS && !load->block; c++)
    part->to[c] += part->to[c] ? kept : 0;
  if (!load->block)
    return NAI_OK;
  memcpy(block.at, part->to, sizeof block.at);
  return load->block(load->ctx, &block, part->number, (uint32_t)load->first[part->number], err);
}

int nai_load_text(int64_t *value, const struct nai_load_part *part, const char *text, size_t len, struct nai_err *err) {
  if (part->load->source->canonical)
    len = nai_nvtx_name_length(text, len);
  if (part->load->source->before_texts) {
    nai_buf_clear(part->text);
    nai_buf_puts(part->text, part->load->source->before_texts);
    nai_buf_put(part->text, text, len);
    NAI_TRY(nai_buf_check(part->text, err));
    text = nai_buf_str(part->text);
    len = part->text->len;
  }
  *value = nai_strings_add(&part->load->texts[part->number], text, len);
  return nai_memory_check(*value != NAI_NO_STRING, err);
}
