/* A run in one file: a ZIP archive of stages/manifest.json and of the files of its stages, which any program can unpack
 * (docs/compatibility.md). The same run gives the same bytes. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* Appends a member, and notes it in `directory`, which nai_pack_end appends last. NAI_ELIMIT from 4 GiB on. */
NAI_MUST_CHECK int nai_pack_add(struct nai_buf *pack, struct nai_buf *directory, const char *name,
                                const struct nai_buf *content, struct nai_err *err);
NAI_MUST_CHECK int nai_pack_end(struct nai_buf *pack, const struct nai_buf *directory, struct nai_err *err);

/* Whether a file begins as an archive does. */
bool nai_pack_is(const char *path);
/* Appends the content of a member. NAI_ESTALE where there is none, with errnum ENOENT, or it is damaged. */
NAI_MUST_CHECK int nai_pack_read(struct nai_buf *out, const struct nai_buf *pack, const char *name,
                                 struct nai_err *err);
