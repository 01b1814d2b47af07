#include "trace/trace/trace.h"

#include "base/fs.h"
#include "trace/direct/direct.h"
#include "trace/lookup_internal.h"
#include "trace/scan_internal.h"
#include "trace/trace/trace_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A rollback journal that still has its header belongs to a change that was never finished, or that is going on. SQLite
 * could only undo it by writing to the file. */
static int refuse_hot_journal(const char *journal_path, struct nai_err *err) {
  static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
  unsigned char head[8];
  struct nai_file_stamp stamp;
  int rc = nai_file_stamp(&stamp, journal_path, err);
  if (rc || !stamp.size_bytes)
    return rc;
  int fd = open(journal_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot open \"%s\"", journal_path);
  ssize_t n = read(fd, head, sizeof head);
  close(fd);
  if (n != sizeof head || memcmp(head, magic, sizeof magic) != 0)
    return NAI_OK;
  return nai_err_set(err, NAI_EINPUT,
                     "a change to the database was not finished (\"%s\" is its journal); "
                     "export the report again, or let the sqlite3 program open the file once to undo the change",
                     nai_fs_basename(journal_path));
}

/* Looks at the files SQLite would look at beside the database, and decides what to open how. */
static int prepare_source(struct nai_trace *trace, const struct nai_sqlite_header *header, struct nai_err *err) {
  struct nai_buf wal = {0}, journal = {0};
  char *copy = NULL;
  nai_temporary_sweep(nai_temporary_place()); /* what killed runs left may be as large as traces */
  nai_buf_printf(&wal, "%s-wal", trace->real_path);
  nai_buf_printf(&journal, "%s-journal", trace->real_path);
  int rc = nai_buf_check(&wal, err);
  if (!rc)
    rc = nai_buf_check(&journal, err);
  if (!rc)
    rc = refuse_hot_journal(journal.data, err);
  if (!rc)
    rc = nai_file_stamp(&trace->wal_stamp, wal.data, err);
  if (rc)
    goto out;
  bool live_wal = trace->wal_stamp.size_bytes > 0;
  uint64_t announced = (uint64_t)header->page_count * header->page_size;
  if (!live_wal && trace->size_bytes < announced) { /* SQLite would take part of a page for a page of zeros */
    rc = nai_err_set(err, NAI_EINPUT, "the file is truncated: it has %llu of %llu bytes",
                     (unsigned long long)trace->size_bytes, (unsigned long long)announced);
    goto out;
  }
  /* SQLite reads a WAL only together with a shared-memory file, which it creates beside the database. To leave the
   * input's directory alone, a live WAL is read in a copy, and a file in WAL mode without one as immutable, which is
   * then safe. */
  if (live_wal) {
    rc = nai_scratch_copy(&copy, trace, wal.data, err);
    trace->direct_refused = strdup("the database has a live write-ahead log");
    if (!rc && !trace->direct_refused)
      rc = nai_err_nomem(err);
    if (rc)
      goto out;
  }
  rc = nai_trace_set_uri(trace, copy ? copy : trace->real_path, header->wal && !live_wal, err);
out:
  free(copy);
  nai_buf_free(&wal);
  nai_buf_free(&journal);
  return rc;
}

static int quick_check(sqlite3 *db, struct nai_err *err) {
  sqlite3_stmt *stmt = NULL;
  int rc = nai_sqlite_prepare(&stmt, db, "PRAGMA quick_check(1)", "cannot check the database", err);
  if (rc)
    return rc;
  int step = sqlite3_step(stmt);
  const char *verdict = step == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
  if (!verdict)
    rc = nai_sqlite_fail(err, db, sqlite3_errcode(db), "cannot check the database");
  else if (strcmp(verdict, "ok") != 0)
    rc = nai_sqlite_unread(db) ? nai_err_sys(err, NAI_EINPUT, nai_sqlite_unread(db), "cannot check the database")
                               : nai_err_set(err, NAI_EINPUT, "the database is damaged: %s", verdict);
  sqlite3_finalize(stmt);
  return rc;
}

/* Reading a schema is a few operations of SQLite's virtual machine per object; 20 million are a million objects. */
enum { OPS_PER_CALL = 1000, MAX_CALLS = 20000 };
static int count_down(void *left) { return --*(int *)left < 0; }

static int open_database(struct nai_trace *trace, struct nai_err *err) {
  sqlite3 *db = NULL;
  int calls_left = MAX_CALLS;
  int rc = nai_trace_new_pool(trace, err);
  if (!rc)
    rc = nai_lookups_new(&trace->lookups, err);
  if (!rc)
    rc = nai_trace_connect(&db, trace, err);
  if (rc)
    return rc;
  trace->db = db;
  sqlite3_progress_handler(db, OPS_PER_CALL, count_down, &calls_left);
  rc = nai_trace_read_schema(trace, err);
  sqlite3_progress_handler(db, 0, NULL, NULL);
  if (!rc && trace->options.check)
    rc = quick_check(db, err);
  return rc;
}

int nai_trace_open(struct nai_trace **out, const char *path, const struct nai_trace_options *options,
                   struct nai_err *err) {
  struct nai_sqlite_header header;
  struct nai_file_stamp real_stamp;
  struct nai_trace *trace = calloc(1, sizeof *trace);
  if (!trace)
    return nai_err_nomem(err);
  trace->fd = -1;
  trace->options = *options;
  int rc = nai_file_open(&trace->fd, &trace->stamp, &header, path, err);
  if (rc)
    goto out;
  trace->size_bytes = trace->stamp.size_bytes;
  trace->path = strdup(path);
  trace->real_path = realpath(path, NULL);
  if (!trace->path || (!trace->real_path && errno == ENOMEM)) {
    rc = nai_err_nomem(err);
    goto out;
  }
  trace->file_name = nai_fs_basename(trace->path);
  if (!trace->real_path)
    rc = nai_err_sys(err, NAI_EINPUT, errno, "cannot resolve the path");
  else if (!(rc = nai_file_stamp(&real_stamp, trace->real_path, err)) &&
           !nai_file_stamp_equal(&real_stamp, &trace->stamp))
    rc = nai_err_set(err, NAI_EINPUT, "the file changed while it was being opened");
  if (!rc)
    rc = prepare_source(trace, &header, err);
  if (!rc)
    rc = open_database(trace, err);
  if (!rc && !trace->direct_refused)
    rc = nai_direct_open(trace, &header, err);
  if (!rc)
    rc = nai_schema_check(trace, err);
  if (!rc)
    rc = nai_trace_unchanged(trace, err);
  if (rc)
    nai_err_wrap(err, rc, "cannot read trace \"%s\"", path);
out:
  if (rc)
    nai_trace_close(trace);
  else
    *out = trace;
  return rc;
}

int nai_trace_unchanged(const struct nai_trace *trace, struct nai_err *err) {
  struct nai_buf wal = {0};
  struct nai_file_stamp now, wal_now;
  nai_buf_printf(&wal, "%s-wal", trace->real_path);
  int rc = nai_buf_check(&wal, err);
  if (!rc)
    rc = nai_file_stamp(&now, trace->real_path, err);
  if (!rc)
    rc = nai_file_stamp(&wal_now, wal.data, err);
  nai_buf_free(&wal);
  if (!rc && (!nai_file_stamp_equal(&now, &trace->stamp) || !nai_file_stamp_equal(&wal_now, &trace->wal_stamp)))
    rc = nai_err_set(err, NAI_EINPUT, "\"%s\" was changed by another program while it was being read", trace->path);
  return rc;
}

void nai_trace_close(struct nai_trace *trace) {
  if (!trace)
    return;
  nai_lookups_free(trace->lookups);
  nai_direct_close(trace);
  sqlite3_close(trace->db);
  nai_trace_free_pool(trace);
  if (trace->fd >= 0)
    close(trace->fd); /* after SQLite: closing any descriptor of a file drops all the process's locks on it */
  nai_temporary_remove(&trace->scratch);
  nai_trace_free_schema(trace);
  free(trace->direct_refused);
  free(trace->uri);
  free(trace->real_path);
  free(trace->path);
  free(trace);
}
