/* Files that appear in a directory all at once, or not at all: what commands write that analyse no trace. The directory
 * is exchanged as a whole, like that of an analysis (outdir.h). */
#pragma once

#include "base/buf.h"
#include "rundir/outdir.h"

struct nai_publication {
  struct nai_outdir *out;
  struct nai_manifest manifest;
};

/* Makes the place where files are written until nai_publish_commit. Refuses a target that holds a run, or something
 * else without a file of the name `main_file`: it would be lost. `note` may be NULL. */
NAI_MUST_CHECK int nai_publish_begin(struct nai_publication *publication, const char *path, const char *main_file,
                                     void (*note)(const char *line), struct nai_err *err);
/* Writes a file; `name` is relative to the directory, with one directory in front at most ("tables/x.csv"). `text`
 * decides also on being out of memory. */
NAI_MUST_CHECK int nai_publish_file(struct nai_publication *publication, const char *name, const struct nai_buf *text,
                                    struct nai_err *err);
/* Writes a table as tables/NAME.csv. */
NAI_MUST_CHECK int nai_publish_table(struct nai_publication *publication, const struct nai_table *table,
                                     struct nai_err *err);
NAI_MUST_CHECK int nai_publish_commit(struct nai_publication *publication, struct nai_err *err);
/* Removes what was not committed, and frees. Accepts a zeroed struct. */
void nai_publish_end(struct nai_publication *publication);
static inline void nai_publication_free(struct nai_publication *p) {
  nai_publish_end(p);
} /* NAI_SCOPED(nai_publication) */

/* Files of a directory that its manifest lists; where that is lost, its table files: nai_outdir_calls.list. */
NAI_MUST_CHECK int nai_publish_list(struct nai_strings *files, bool *known, int directory, struct nai_err *err);

/* Begins a directory whose files nai_publish_list lists, with a place for its manifest. `loss` says what of an earlier
 * one would be lost ("a report"), which is refused then; NULL when nothing would. */
typedef const char *nai_publish_loss_fn(const struct nai_manifest *earlier, const void *ctx);
NAI_MUST_CHECK int nai_publish_open(struct nai_outdir **out, const char *path, const struct nai_outdir_calls *calls,
                                    nai_publish_loss_fn *loss, const void *ctx, struct nai_err *err);
/* Writes the manifest that the directory needs before it is committed; `readers` as nai_manifest_print has it. */
NAI_MUST_CHECK int nai_publish_manifest(const struct nai_outdir *out, const struct nai_manifest *manifest,
                                        const struct nai_table *readers, struct nai_err *err);
