/* The block of events of the page: columns, mixes, sums, launch queues and passes one behind the other, deflated, as
 * base64. Long ones are deflated in pieces, side by side. The block's bytes do not depend on how many threads do that.
 * Internal to src/viewer.
 */
#pragma once

#include "viewer/encoder.h"

enum { NAI_PARTS_BEHIND = 4 }; /* mixes, sums, launch queues and passes */

struct nai_deflated {
  struct nai_map parts[COLUMNS + NAI_PARTS_BEHIND]; /* what is deflated; borrowed */
  size_t bytes;                                     /* of all parts */
  int count;                                        /* pieces, at least one */
  struct nai_piece {
    size_t begin, len;   /* of what is deflated: within one part, or everything */
    unsigned char *data; /* owned */
    size_t size;
  } * pieces;
};

/* About how long the block becomes, bytes, from samples. */
NAI_MUST_CHECK int nai_deflated_estimate(int64_t *bytes, const struct nai_encoder *encoder, struct nai_err *err);

/* The encoder's columns are complete. To be freed whatever comes of it. */
NAI_MUST_CHECK int nai_deflated_begin(struct nai_deflated *out, const struct nai_encoder *encoder, struct nai_err *err);
/* Deflates piece i; may be called for several pieces at a time. */
NAI_MUST_CHECK int nai_deflated_piece(struct nai_deflated *deflated, int i, struct nai_err *err);
/* Appends the block, once all pieces are there. */
void nai_deflated_print(struct nai_buf *out, const struct nai_deflated *deflated);
void nai_deflated_free(struct nai_deflated *deflated);
