/* Files and directories. Paths are relative to the working directory or absolute; all functions name the path in
 * errors. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/scope.h"

#include <dirent.h>
#include <sys/types.h>

/* Whole content of a regular file of at most `max` bytes, appended to `out`. `code` is the error code to report. */
NAI_MUST_CHECK int nai_fs_read(struct nai_buf *out, const char *path, size_t max, int code, struct nai_err *err);
/* As nai_fs_read from an open file; `path` is for messages. */
NAI_MUST_CHECK int nai_fs_read_fd(struct nai_buf *out, int fd, const char *path, size_t max, int code,
                                  struct nai_err *err);
/* Creates or truncates `path` with `len` bytes. NAI_EIO on any failure, a full disk included. */
NAI_MUST_CHECK int nai_fs_write(const char *path, const void *data, size_t len, struct nai_err *err);
/* Gives `path` that content at once, by renaming: readers see the old file or the new one, on any file system. */
NAI_MUST_CHECK int nai_fs_replace(const char *path, const void *data, size_t len, struct nai_err *err);
/* Writes all bytes at the place an open file or pipe is at, however many calls that takes. 0 or errno. */
int nai_fs_write_all(int fd, const void *data, size_t len);
/* Gives a file that many bytes of disk, so that writing them cannot fail for want of room. 0 or errno. */
NAI_MUST_CHECK int nai_fs_reserve(int fd, uint64_t bytes);
/* Whether so many bytes more leave a part of the disk of an open file to others. */
bool nai_fs_has_room(int fd, uint64_t bytes);
/* Writes all bytes at an offset of an open file. 0 or errno. */
int nai_fs_write_at(int fd, const void *data, size_t len, uint64_t at);
/* As many of `len` bytes at an offset as an open file has; -1 with errno set on failure. */
ssize_t nai_fs_read_upto(int fd, void *data, size_t len, uint64_t at);
/* Writes the whole content of an open file to another one. 0 or errno. */
int nai_fs_copy(int from, int to);
/* Opens a new file of `directory` that has no name and is gone once closed and unmapped. -1 with errno set when it
 * cannot. */
int nai_fs_unnamed(const char *directory);
/* Creates one directory; an existing one is fine. */
NAI_MUST_CHECK int nai_fs_mkdir(const char *path, struct nai_err *err);
/* Creates the directory and its missing parents. */
NAI_MUST_CHECK int nai_fs_mkdir_all(const char *path, struct nai_err *err);
/* Removes a file or a directory tree without following links; a missing one is fine. */
NAI_MUST_CHECK int nai_fs_remove_tree(const char *path, struct nai_err *err);
/* Below a directory that is held open, so that another directory of that name cannot slip in between. No component of
 * the path may be a link, ".." or absolute: what is read lies in that directory. */
/* A regular file, read-only; -1 with errno set. */
int nai_fs_open_at(int directory, const char *path);
NAI_MUST_CHECK int nai_fs_read_at(struct nai_buf *out, int directory, const char *path, size_t max, int code,
                                  struct nai_err *err);
/* Gives `to` (an ordinary path) the content of a regular file below the directory: a hard link where possible. */
NAI_MUST_CHECK int nai_fs_link_or_copy_at(int directory, const char *from, const char *to, struct nai_err *err);
/* Whether there is a regular file of that name, or may be: it could not be looked for. */
bool nai_fs_exists_at(int directory, const char *path);
/* Whether errno of the function above, or of nai_fs_open_at, says that there is no such regular file; anything else
 * leaves it open. */
bool nai_fs_is_absent(int failed);
/* Whether an error is that something which is there could not be read: no fault of what it holds. */
bool nai_fs_is_unread(const struct nai_err *failure);

/* Declare a descriptor or a directory that is closed where its scope is left, errno staying as it is; -1 and NULL are
 * none: NAI_CLOSED int fd = open(...); NAI_CLOSED_DIR DIR *entries = nai_fs_entries(directory, name); */
#define NAI_CLOSED __attribute__((cleanup(nai_close_descriptor)))
#define NAI_CLOSED_DIR __attribute__((cleanup(nai_close_directory)))
void nai_close_descriptor(const int *fd);
void nai_close_directory(DIR *const *directory);
/* The entries of a directory that is no link; NULL with errno set. */
DIR *nai_fs_entries(int directory, const char *name);
/* Names of a directory's entries but hidden ones, in the order of bytes whatever the locale, which are the arena's.
 * `path` is below `directory` or AT_FDCWD. 0 or errno. */
int nai_fs_names(const char ***names, size_t *count, struct nai_arena *arena, int directory, const char *path);
/* Whether `path`, below `directory` or AT_FDCWD, is the file that is open as `fd`. `flags`: AT_SYMLINK_NOFOLLOW or 0.
 */
bool nai_fs_is_same(int fd, int directory, const char *path, int flags);
/* Whether something has that name, or it cannot be told that nothing has: then opening it says why. */
bool nai_fs_exists(const char *path);
bool nai_fs_is_dir(const char *path);
/* Whether it is a regular file, or a link to one; only such are opened without O_NONBLOCK. */
bool nai_fs_is_regular(const char *path);
/* "directory/name"; false when that is too long. */
bool nai_fs_join(char *out, size_t size, const char *directory, const char *name);
/* The way from a directory, which may not be there yet, to a path: "../store/runs". NAI_EIO when it is too long or
 * cannot be read. */
int nai_fs_relative(char *out, size_t size, const char *directory, const char *path, struct nai_err *err);
/* Last component of a path ("x.sqlite" of "/a/x.sqlite"). */
const char *nai_fs_basename(const char *path);

/* A file mapped read-only and privately (nai_sink_read); an empty one has data == NULL. */
struct nai_map {
  const unsigned char *data;
  size_t size;
};
void nai_map_close(struct nai_map *map);
