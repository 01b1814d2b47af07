/* What a batch is about: traces, each with an id, in OUT/manifest.csv.
 *
 * A manifest is given as CSV (columns path and, optionally, id and group; every other column is a label), or made from
 * files, directories (every trace below, by NAI_CMD_TRACE_SUFFIXES) and patterns. Items are in the order of their
 * paths, numbers in names by value (rank2 before rank10). The order means nothing else: which rank a trace is of says a
 * label. */
#pragma once

#include "base/arena.h"
#include "base/stamp.h"

enum { NAI_BATCH_ID_MAX = 128, NAI_BATCH_MANIFEST_MAX = 256 << 20 };

struct nai_batch_item {
  const char *id;         /* [A-Za-z0-9_][A-Za-z0-9._-]*: names its files in OUT */
  const char *path;       /* absolute */
  const char *group;      /* of the manifest, "" for none */
  const char **labels;    /* one per label column, or NULL */
  struct nai_stamp stamp; /* of the file, all zero when there is none */
};

struct nai_batch_manifest {
  struct nai_arena *arena; /* of all that is below */
  struct nai_batch_item *items;
  uint32_t count, capacity;
  const char **labels; /* names of the label columns */
  uint32_t label_count;
  uint32_t unreadable;    /* directories below those that were named, which could not be looked into */
  const char *unread_why; /* of the first */
};

/* What is made or read goes into an empty manifest that has an arena. From the operands of a command line. NAI_EUSAGE
 * for a CSV that is no manifest, with file:line, and where there is no item at all, or none whose file is there. Others
 * that do not exist are items: they fail when they are analysed. */
NAI_MUST_CHECK int nai_batch_manifest_make(struct nai_batch_manifest *out, const char *const *inputs, size_t count,
                                           struct nai_err *err);
/* From a CSV file, as it is: ids are those of the file. Sizes and times are those of today. */
NAI_MUST_CHECK int nai_batch_manifest_read(struct nai_batch_manifest *out, const char *path, struct nai_err *err);
/* Writes id, path, group, bytes and labels; `hash` is the XXH3 of what was written. */
NAI_MUST_CHECK int nai_batch_manifest_write(uint64_t *hash, const struct nai_batch_manifest *manifest, const char *path,
                                            struct nai_err *err);

/* Number of the item, -1 when there is none. Items of a manifest that was made or read are found in O(log n). */
int64_t nai_batch_find(const struct nai_batch_manifest *manifest, const uint32_t *by_id, const char *id);
/* Items in order of their ids, for nai_batch_find. */
NAI_MUST_CHECK int nai_batch_by_id(uint32_t **out, const struct nai_batch_manifest *manifest, struct nai_err *err);
