/* stages/manifest.json: what a run was made from and what it wrote; decides what a later run may reuse. */
#ifndef NAI_PIPELINE_MANIFEST_H
#define NAI_PIPELINE_MANIFEST_H

#include "base/buf.h"
#include "table/table.h"

#include <stdbool.h>
#include <stdint.h>

enum { NAI_MANIFEST_MAX_STAGES = 8 };

struct nai_manifest {
  struct nai_manifest_stage {
    char name[16];
    uint64_t key; /* of everything the stage's result depends on */
  } stages[NAI_MANIFEST_MAX_STAGES];
  int stage_count;
  struct nai_strings files; /* paths relative to the artifacts directory */
};

/* Reads the manifest of an artifacts directory; a missing, damaged or foreign one is an empty manifest. */
void nai_manifest_read(struct nai_manifest *manifest, const char *directory);
void nai_manifest_free(struct nai_manifest *manifest);
/* Whether `stage` was made with that key. */
bool nai_manifest_has(const struct nai_manifest *manifest, const char *stage, uint64_t key);
/* The text. `readers` is the table of that name (which reader served which table), or NULL when nothing was read. */
void nai_manifest_print(struct nai_buf *out, const struct nai_manifest *manifest, const char *version, const char *file,
                        uint64_t identity, const struct nai_table *readers);

#endif
