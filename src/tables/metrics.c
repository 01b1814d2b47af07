#include "tables/metrics.h"

const char *nai_metric_id(struct nai_arena *arena, const char *id, const char *basis) {
  static const char step[] = ".per_step";
  size_t len = strlen(id), n = sizeof step - 1;
  if (strcmp(basis, "step") == 0 || len < n || strcmp(id + len - n, step) != 0)
    return id;
  return nai_arena_printf(arena, "%.*s%s", (int)(len - n), id, strcmp(basis, "second") == 0 ? ".per_second" : ".total");
}
