/* Growable text. Appending never fails on the spot: once out of memory the buffer stays so (sticky),
 * drops further text, and the caller tests once at the end with nai_buf_check. */
#ifndef NAI_BASE_BUF_H
#define NAI_BASE_BUF_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct nai_buf {
  char *data; /* NUL-terminated whenever len > 0 */
  size_t len, capacity;
  bool oom;
};

void nai_buf_free(struct nai_buf *buf);
void nai_buf_clear(struct nai_buf *buf); /* keeps the memory */
void nai_buf_put(struct nai_buf *buf, const void *bytes, size_t len);
void nai_buf_puts(struct nai_buf *buf, const char *text);
void nai_buf_putc(struct nai_buf *buf, char c);
void nai_buf_printf(struct nai_buf *buf, const char *fmt, ...) NAI_PRINTF(2, 3);
/* Makes room for `extra` more bytes and returns where they go (NULL when out of memory); set len yourself. */
char *nai_buf_reserve(struct nai_buf *buf, size_t extra);
/* The text as a C string, "" when empty. */
const char *nai_buf_str(const struct nai_buf *buf);
/* 0, or NAI_ELIMIT when any append ran out of memory. */
NAI_MUST_CHECK int nai_buf_check(const struct nai_buf *buf, struct nai_err *err);

#endif
