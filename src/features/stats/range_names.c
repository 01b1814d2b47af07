/* Argument nvtx-name: kernels are called RANGE/KERNEL, by the innermost range around the launching call. */
#include "features/stats/operations.h"

static int join_names(int64_t *out, struct nai_stats_source *source, const struct nai_stats_words *range,
                      int64_t kernel, struct nai_err *err) {
  const char *domain = nai_stats_text_of(source, range->domain), *text = nai_stats_text_of(source, range->text),
             *name = nai_stats_text_of(source, kernel);
  NAI_SCOPED(nai_buf) joined = {0};
  nai_buf_printf(&joined, "%s%s%s/%s", domain ? domain : "", domain && *domain ? ":" : "", text ? text : "",
                 name ? name : "");
  NAI_TRY(nai_buf_check(&joined, err));
  return nai_stats_text(out, source, nai_buf_str(&joined), err);
}

/* Items are the kernels' calls: `kernel` says of which each is, `inner` the range around it, UINT32_MAX for none. */
static int rename_kernels(struct nai_stats_events *kernels, struct nai_stats_source *source,
                          const struct nai_stats_ranges *ranges, const uint32_t *inner, const uint32_t *kernel,
                          uint32_t count, struct nai_err *err) {
  struct nai_keyset known = {.arena = &source->arena}; /* names of a range and of a kernel */
  int64_t *names = NULL;
  uint32_t capacity = 0;
  for (uint32_t i = 0; i < count; i++) {
    int64_t *name = &kernels->at[NAI_STATS_OP_NAME][kernel[i]];
    bool added;
    if (inner[i] == UINT32_MAX)
      continue;
    const struct nai_stats_range *range = &ranges->at[inner[i]];
    uint32_t slot = nai_keyset_add(&known, nai_key_pair(range->name, (uint32_t)*name), &added);
    NAI_TRY(nai_memory_check(!known.oom, err));
    NAI_TRY(NAI_ROOM(names, capacity, slot, &source->arena, err));
    if (added)
      NAI_TRY(join_names(&names[slot], source, &ranges->words[range->words], *name, err));
    *name = names[slot];
  }
  return NAI_OK;
}

int nai_stats_name_by_range(struct nai_stats_events *kernels, struct nai_stats_source *source, struct nai_err *err) {
  struct nai_arena *arena = &source->arena;
  struct nai_stats_ranges ranges;
  struct nai_stats_begins begins;
  struct nai_stats_calls calls;
  struct nai_stats_item *items;
  uint32_t *call, *kernel, *inner, count = 0;
  NAI_TRY(nai_stats_index_calls(&calls, source, 0, err));
  NAI_TRY(NAI_NEW(items, arena, kernels->count, err));
  NAI_TRY(NAI_NEW(kernel, arena, kernels->count, err));
  NAI_TRY(nai_stats_find_calls(&call, &calls, kernels, NAI_STATS_OP_PROCESS, NAI_STATS_OP_CORRELATION, arena, err));
  for (uint32_t i = 0; i < kernels->count; i++) {
    if (call[i] == UINT32_MAX)
      continue;
    kernel[count] = i;
    items[count++] = nai_stats_item_of(&calls, call[i]);
  }
  NAI_TRY(nai_stats_read_begins(&begins, items, count, arena, err));
  NAI_TRY(nai_stats_load_ranges(&ranges, source, false, NAI_STATS_BOTH_STYLES, &begins, err));
  NAI_TRY(nai_stats_find_innermost(&inner, &ranges, items, count, arena, err));
  return rename_kernels(kernels, source, &ranges, inner, kernel, count, err);
}
