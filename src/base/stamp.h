/* What tells a trace from itself once it was written to, without opening it, and on whichever machine: neither device
 * nor inode. */
#pragma once

#include "base/std.h"

struct nai_stamp {
  int64_t bytes, mtime_ns;
  uint64_t beside; /* hash of sizes and times of its WAL and its rollback journal; 0 where both are empty or absent:
                      what has been committed there, or has not, is in no other file */
};

/* 0, or errno with a stamp that is all zero. */
int nai_stamp_of(struct nai_stamp *out, const char *path);
bool nai_stamp_equal(const struct nai_stamp *a, const struct nai_stamp *b);
