/* Which kernels of one side are which of the other? By name, then by what stays of a name level by level, then by
 * place. What matched is consumed, so no kernel is in two rows, and the rows' times add up to each side's kernel time.
 */
#pragma once

#include "base/arena.h"
#include "features/compare/kernel_key.h"
#include "features/compare/side.h"

/* A kernel at one place of one side: name and path together are unique in it. Texts are borrowed. */
struct nai_kernel_use {
  const char *name, *category, *path; /* path: "" for none */
  int64_t launches, ns;
  const char *site; /* the function that launches all of that name; "" or NULL for none or several */
};
struct nai_kernel_uses {
  struct nai_kernel_use *list;
  uint32_t count;
  double steps; /* what launches are divided by before they are compared */
};

enum nai_match_state {
  NAI_MATCH_KERNEL,    /* the same name */
  NAI_MATCH_RENAMED,   /* another spelling of it (L1) */
  NAI_MATCH_RETUNED,   /* another variant of it (L2), or the only other kernel at its place (L3, L4) */
  NAI_MATCH_SPLIT,     /* several do what one did */
  NAI_MATCH_MERGED,    /* one does what several did */
  NAI_MATCH_REGROUPED, /* several do what several others did */
  NAI_MATCH_ONLY_BASE,
  NAI_MATCH_ONLY_CANDIDATE,
  NAI_MATCH_STATE_COUNT
};
const char *nai_match_state_name(enum nai_match_state state);

struct nai_match_row {
  enum nai_match_level level;
  enum nai_match_state state;
  bool is_elsewhere; /* a name of it runs on both sides */
  struct nai_match_part {
    uint32_t first, count; /* of nai_match.members */
    int64_t launches, ns;
  } of[NAI_SIDES];
};

struct nai_match {
  struct nai_match_row *rows;
  uint32_t count, capacity;
  uint32_t *members[NAI_SIDES];      /* indices of uses, each once */
  int64_t ns[NAI_SIDES];             /* of all */
  int64_t level_ns[NAI_LEVEL_COUNT]; /* of both sides, in rows that have both, per level */
  int64_t only_ns;                   /* of both sides, in rows of one */
};

/* A user's rename, applied before the levels: `name` becomes another text, or NULL to keep it. */
typedef const char *nai_alias_fn(const void *ctx, const char *name);

/* Rows come in a fixed order, whatever the order of the uses. Memory is the arena's. */
NAI_MUST_CHECK int nai_match_kernels(struct nai_match *out, const struct nai_kernel_uses uses[NAI_SIDES],
                                     nai_alias_fn *alias, const void *alias_ctx, struct nai_arena *arena,
                                     struct nai_err *err);
