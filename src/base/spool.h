/* Bytes that are put aside for a while: written once from front to back, then read like memory. When they are many they
 * lie in a file without a name, whose memory goes back to the machine in large pieces when it is freed. */
#pragma once

#include "base/buf.h"

struct nai_spool {
  struct nai_buf pending;    /* not in the file yet */
  size_t bytes;              /* put so far */
  const unsigned char *data; /* all of them, once nai_spool_read was called */
  const char *directory;     /* where the file is; borrowed */
  int fd;                    /* descriptor + 1 of the file while it is written, 0 while there is no file */
};

/* Appends bytes; the file is made in `directory` when they become many. NAI_EIO when the disk is full. */
NAI_MUST_CHECK int nai_spool_put(struct nai_spool *spool, const void *data, size_t bytes, const char *directory,
                                 struct nai_err *err);
/* Makes `data` readable, and up to 8 bytes behind it; nothing can be put any more. */
NAI_MUST_CHECK int nai_spool_read(struct nai_spool *spool, struct nai_err *err);
void nai_spool_free(struct nai_spool *spool); /* of zeroed memory, too */
