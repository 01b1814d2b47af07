/* What stays of a kernel's name when what a rebuild, a tuner or a library version changes is taken away. Each level is
 * a pure function of the name; docs/comparing.md lists what each removes. */
#pragma once

#include "base/buf.h"

/* Counted up whenever a level gives another key: what was matched by another version is not comparable. */
enum { NAI_KERNEL_KEY_VERSION = 1 };

enum nai_match_level {
  NAI_LEVEL_NAME,      /* L0: the demangled name */
  NAI_LEVEL_TOOLCHAIN, /* L1: without noise of compilers, Triton and Inductor */
  NAI_LEVEL_TUNING,    /* L2: without tile sizes, stages, call signature, algorithm */
  NAI_LEVEL_SITE,      /* L3: the function that made the launching call */
  NAI_LEVEL_PLACE,     /* L4: category, type of data and NVTX path */
  NAI_LEVEL_CATEGORY,  /* L5: category only */
  NAI_LEVEL_COUNT
};
const char *nai_match_level_name(enum nai_match_level level);       /* "name", "toolchain", "tuning", ... */
const char *nai_match_level_confidence(enum nai_match_level level); /* "certain", "high", "medium", "low" */

/* Append the name at a level. */
void nai_kernel_key_toolchain(struct nai_buf *out, const char *name, size_t len);
/* Of a name at level L1. */
void nai_kernel_key_tuning(struct nai_buf *out, const char *name, size_t len);
/* Type of data that a name gives away ("bf16", "f16", "f8", "f32", "f64", "i8"), "" for none. Borrowed. */
const char *nai_kernel_key_type(const char *name);
