/* Text that is written to a file while it is printed: printers append to `text`, whole blocks go on to the file. The
 * struct must not move while it is used. */
#pragma once

#include "base/buf.h"
#include "base/fs.h"

struct nai_file_sink {
  struct nai_sink sink;
  struct nai_buf text;  /* what printers append to */
  int fd;               /* of the file, else -1 */
  struct nai_map aside; /* of what was put aside, once it is read */
};

/* Creates or truncates the file `path`, which is borrowed. */
NAI_MUST_CHECK int nai_sink_create(struct nai_file_sink *sink, const char *path, struct nai_err *err);
/* Standard output, past what stdio may hold: print with one of the two only, or flush stdio first. */
void nai_sink_stdout(struct nai_file_sink *sink);
/* Puts text aside to be read later: in an unnamed file of `directory`, which is borrowed; with NULL it stays in memory.
 */
NAI_MUST_CHECK int nai_sink_aside(struct nai_file_sink *sink, const char *directory, struct nai_err *err);
/* The same of what may be little, and many times: in a file only from 128 KB on, which is open until it is read. */
void nai_sink_spool(struct nai_file_sink *sink, const char *directory);
/* Makes what was put aside readable in `map`, until the sink is finished. */
NAI_MUST_CHECK int nai_sink_read(struct nai_map *map, struct nai_file_sink *sink, struct nai_err *err);
/* Writes the rest, closes and frees. To be called once, whatever happened before: with the outcome of the printing in
 * `rc`, which is returned when it is an error. Else 0 or the first error of memory or file, NAI_EIO for a full disk. */
NAI_MUST_CHECK int nai_sink_finish(struct nai_file_sink *sink, int rc, struct nai_err *err);
/* Closes and frees without writing the rest: for what was put aside. Accepts a zeroed struct. */
void nai_file_sink_free(struct nai_file_sink *sink);
