/* What findings are about, in words. */
#include "rules/evaluation.h"
#include "tables/events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int64_t subject_id(const struct hit *hit) {
  return hit->device_id != NAI_NULL_I64 ? hit->device_id : hit->rule->scope == SCOPE_PROCESS ? hit->pid : NAI_NULL_I64;
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* A GPU whose name is not "GPU N", such as one that is told apart by process only; NULL for an ordinary one. */
static const char *special_label(const struct nai_rules_input *input, int64_t device_id) {
  for (size_t t = 0; t < input->table_count; t++) {
    const struct nai_table *gpus = input->tables[t];
    if (!gpus || !nai_schema_equal(gpus->schema, &nai_gpus_schema))
      continue;
    for (int64_t row = 0; row < gpus->rows; row++) {
      const char *label = nai_get_str(gpus, row, GPUS_label);
      if (nai_get_i64(gpus, row, GPUS_device_id) == device_id)
        return strspn(label, "GPU 0123456789") == strlen(label) ? NULL : label;
    }
  }
  return NULL;
}

int nai_subject_describe(struct nai_buf *out, const struct nai_rules_input *input, const struct hit *const *hits,
                         uint32_t count, struct nai_err *err) {
  static const char *const nouns[2][2] = {{"GPU", "GPUs"}, {"process", "processes"}};
  int64_t *ids = malloc((count + 1) * sizeof *ids);
  uint32_t used = 0, distinct = 0, plain = 0;
  bool processes = hits[0]->rule->scope == SCOPE_PROCESS;
  if (!ids)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < count; i++)
    if (subject_id(hits[i]) != NAI_NULL_I64)
      ids[used++] = subject_id(hits[i]);
  qsort(ids, used, sizeof *ids, by_value);
  for (uint32_t i = 0; i < used; i++)
    if (!i || ids[i] != ids[i - 1])
      ids[distinct++] = ids[i];
  for (uint32_t i = 0; i < distinct; i++) {
    const char *label = processes ? NULL : special_label(input, ids[i]);
    if (label)
      nai_buf_printf(out, "%s%s", out->len ? ", " : "", label);
    else
      ids[plain++] = ids[i];
  }
  if (plain)
    nai_buf_printf(out, "%s%s", out->len ? ", " : "", nouns[processes][plain > 1]);
  for (uint32_t i = 0; i < plain;) {
    uint32_t last = i;
    while (last + 1 < plain && ids[last + 1] == ids[last] + 1)
      last++;
    if (last < i + 2)
      last = i;
    nai_buf_printf(out, "%s%" PRId64, i ? ", " : " ", ids[i]);
    if (last > i)
      nai_buf_printf(out, "-%" PRId64, ids[last]);
    i = last + 1;
  }
  free(ids);
  return 0;
}
