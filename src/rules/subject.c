/* What findings are about, in words. */
#include "rules/evaluation.h"
#include "base/fmt.h"
#include "base/sort.h"
#include "tables/gpus.h"

static int64_t subject_id(const struct hit *hit) {
  return hit->device_id != NAI_NULL_I64 ? hit->device_id : hit->rule->scope == SCOPE_PROCESS ? hit->pid : NAI_NULL_I64;
}

/* A GPU whose name is not "GPU N", such as one that is told apart by process only; NULL for an ordinary one. */
static const char *special_label(const struct nai_table *gpus, int64_t device_id) {
  for (int64_t row = 0; gpus && row < gpus->rows; row++) {
    const char *label = nai_get_str(gpus, row, GPUS_label);
    if (nai_get_i64(gpus, row, GPUS_device_id) == device_id)
      return strspn(label, "GPU 0123456789") == strlen(label) ? NULL : label;
  }
  return NULL;
}

/* The ids, ascending, each once; returns how many. */
static uint32_t gather(int64_t *ids, const struct hit *const *hits, uint32_t count) {
  uint32_t used = 0, distinct = 0;
  for (uint32_t i = 0; i < count; i++)
    if (subject_id(hits[i]) != NAI_NULL_I64)
      ids[used++] = subject_id(hits[i]);
  qsort(ids, used, sizeof *ids, nai_by_i64);
  for (uint32_t i = 0; i < used; i++)
    if (!i || ids[i] != ids[i - 1])
      ids[distinct++] = ids[i];
  return distinct;
}

int nai_subject_describe(const char **out, const struct nai_rules_input *input, const struct hit *const *hits,
                         uint32_t count, struct nai_arena *arena, struct nai_err *err) {
  static const char *const nouns[2][2] = {{"GPU", "GPUs"}, {"process", "processes"}};
  NAI_FREED int64_t *ids = malloc((count + 1) * sizeof *ids);
  NAI_SCOPED(nai_buf) text = {0};
  uint32_t plain = 0;
  bool processes = hits[0]->rule->scope == SCOPE_PROCESS;
  NAI_TRY(nai_memory_check(ids, err));
  const struct nai_table *gpus = processes ? NULL : nai_rules_table(input, &nai_gpus_schema);
  uint32_t distinct = gather(ids, hits, count);
  for (uint32_t i = 0; i < distinct; i++) {
    const char *label = special_label(gpus, ids[i]);
    if (label)
      nai_buf_printf(&text, "%s%s", text.len ? ", " : "", label);
    else
      ids[plain++] = ids[i];
  }
  if (plain)
    nai_buf_printf(&text, "%s%s ", text.len ? ", " : "", nouns[processes][plain > 1]);
  nai_fmt_ranges(&text, ids, plain);
  *out = nai_text_keep(arena, &text);
  return nai_arena_check(arena, err);
}
