/* Which kernels of one side are which of the other? By name, then by what stays of a name level by level, then by
 * place. What matched is consumed, so no kernel is in two rows, and the rows' times add up to each side's kernel time.
 */
#pragma once

#include "features/compare/kernel_key.h"

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* A kernel at one place of one side: name and path together are unique in it. Texts are borrowed. */
struct nai_kernel_use {
  const char *name, *category, *path; /* path: "" for none */
  int64_t launches, ns;
};

enum nai_match_state {
  NAI_MATCH_KERNEL,    /* the same name */
  NAI_MATCH_RENAMED,   /* another spelling of it (L1) */
  NAI_MATCH_RETUNED,   /* another variant of it (L2), or the only other kernel at its place (L3) */
  NAI_MATCH_SPLIT,     /* several do what one did */
  NAI_MATCH_MERGED,    /* one does what several did */
  NAI_MATCH_REGROUPED, /* several do what several others did */
  NAI_MATCH_ONLY_BASE,
  NAI_MATCH_ONLY_NEW,
  NAI_MATCH_STATE_COUNT
};
const char *nai_match_state_name(enum nai_match_state state);

/* A row: members by index, base[first..] of nai_match.base_members and so on. */
struct nai_match_row {
  enum nai_match_level level;
  enum nai_match_state state;
  uint32_t base_first, base_count, new_first, new_count;
  int64_t base_launches, base_ns, new_launches, new_ns;
};

struct nai_match {
  struct nai_match_row *rows;
  uint32_t count, capacity;
  uint32_t *base_members, *new_members; /* indices of uses, each once */
  int64_t base_ns, new_ns;              /* of all */
  int64_t level_ns[NAI_LEVEL_COUNT];    /* of both sides, in rows that have both, per level */
  int64_t only_ns;                      /* of both sides, in rows of one */
};

/* A user's rename, applied before the levels: `name` becomes another text, or NULL to keep it. */
typedef const char *nai_alias_fn(const void *ctx, const char *name);

/* base_steps, new_steps: what launches are divided by before they are compared. Rows come in a fixed order, whatever
 * the order of the uses. */
NAI_MUST_CHECK int nai_match_kernels(struct nai_match *out, const struct nai_kernel_use *base, uint32_t base_count,
                                     double base_steps, const struct nai_kernel_use *fresh, uint32_t new_count,
                                     double new_steps, nai_alias_fn *alias, const void *alias_ctx, struct nai_err *err);
void nai_match_free(struct nai_match *match);
