#include "trace/trace/trace.h"

#include "base/fs.h"
#include "trace/lookup_internal.h"
#include "trace/pages/pages.h"

#include <fcntl.h>
#include <unistd.h>

/* A rollback journal that still has its header belongs to a change that was never finished, or that is going on. SQLite
 * could only undo it by writing to the file. */
static int refuse_hot_journal(const char *journal_path, struct nai_err *err) {
  static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
  unsigned char head[8];
  struct nai_file_stamp stamp;
  NAI_TRY(nai_file_stamp(&stamp, journal_path, err));
  if (!stamp.size_bytes)
    return NAI_OK;
  NAI_CLOSED int fd = open(journal_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot open \"%s\"", journal_path);
  ssize_t n = read(fd, head, sizeof head);
  if (n != sizeof head || memcmp(head, magic, sizeof magic) != 0)
    return NAI_OK;
  return nai_err_set(err, NAI_EINPUT,
                     "a change to the database was not finished (\"%s\" is its journal); "
                     "export the report again, or let the sqlite3 program open the file once to undo the change",
                     nai_fs_basename(journal_path));
}

/* Looks at the files SQLite would look at beside the database, and decides what to open how. */
static int prepare_source(struct nai_trace *trace, const struct nai_sqlite_header *header, struct nai_err *err) {
  const char *wal = nai_arena_printf(&trace->arena, "%s-wal", trace->real_path), *opened = trace->real_path;
  const char *journal = nai_arena_printf(&trace->arena, "%s-journal", trace->real_path);
  nai_temporary_sweep(nai_temporary_place()); /* what killed runs left may be as large as traces */
  NAI_TRY(nai_arena_check(&trace->arena, err));
  NAI_TRY(refuse_hot_journal(journal, err));
  NAI_TRY(nai_file_stamp(&trace->wal_stamp, wal, err));
  bool live_wal = trace->wal_stamp.size_bytes > 0;
  uint64_t announced = (uint64_t)header->page_count * header->page_size;
  if (!live_wal && trace->size_bytes < announced) /* SQLite would take part of a page for a page of zeros */
    return nai_err_set(err, NAI_EINPUT, "the file is truncated: it has %llu of %llu bytes",
                       (unsigned long long)trace->size_bytes, (unsigned long long)announced);
  /* SQLite reads a WAL only together with a shared-memory file, which it creates beside the database. To leave the
   * input's directory alone, a live WAL is read in a copy, and a file in WAL mode without one as immutable, which is
   * then safe. */
  if (live_wal) {
    NAI_TRY(nai_scratch_copy(&opened, trace, wal, err));
    trace->pages_refused = "the database has a live write-ahead log";
  }
  return nai_trace_set_uri(trace, opened, header->wal && !live_wal, err);
}

static int quick_check(sqlite3 *db, struct nai_err *err) {
  NAI_OWNED(sqlite3_stmt) *stmt = NULL;
  NAI_TRY(nai_sqlite_prepare(&stmt, db, "PRAGMA quick_check(1)", "cannot check the database", err));
  int step = sqlite3_step(stmt);
  const char *verdict = step == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
  if (!verdict)
    return nai_sqlite_fail(err, db, sqlite3_errcode(db), "cannot check the database");
  if (strcmp(verdict, "ok") == 0)
    return NAI_OK;
  return nai_sqlite_unread(db) ? nai_err_sys(err, NAI_EINPUT, nai_sqlite_unread(db), "cannot check the database")
                               : nai_err_set(err, NAI_EINPUT, "the database is damaged: %s", verdict);
}

/* Reading a schema is a few operations of SQLite's virtual machine per object; 20 million are a million objects. */
enum { OPS_PER_CALL = 1000, MAX_CALLS = 20000 };
static int count_down(void *left) { return --*(int *)left < 0; }

static int open_database(struct nai_trace *trace, struct nai_err *err) {
  sqlite3 *db = NULL;
  int calls_left = MAX_CALLS;
  NAI_TRY(nai_trace_new_pool(trace, err));
  NAI_TRY(nai_lookups_new(trace, err));
  NAI_TRY(nai_trace_connect(&db, trace, err));
  trace->db = db;
  sqlite3_progress_handler(db, OPS_PER_CALL, count_down, &calls_left);
  int rc = nai_trace_read_schema(trace, err);
  sqlite3_progress_handler(db, 0, NULL, NULL);
  return rc || !trace->options.check ? rc : quick_check(db, err);
}

/* The path with links resolved, which has to lead to the file that is open. */
static int resolve(struct nai_trace *trace, struct nai_err *err) {
  NAI_FREED char *real = realpath(trace->path, NULL);
  struct nai_file_stamp stamp;
  if (!real)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot resolve the path");
  trace->real_path = nai_arena_printf(&trace->arena, "%s", real);
  NAI_TRY(nai_arena_check(&trace->arena, err));
  NAI_TRY(nai_file_stamp(&stamp, trace->real_path, err));
  return nai_file_stamp_equal(&stamp, &trace->stamp)
           ? NAI_OK
           : nai_err_set(err, NAI_EINPUT, "the file changed while it was being opened");
}

static int open_trace(struct nai_trace *trace, const struct nai_sqlite_header *header, struct nai_err *err) {
  NAI_TRY(resolve(trace, err));
  NAI_TRY(prepare_source(trace, header, err));
  NAI_TRY(open_database(trace, err));
  if (!trace->pages_refused)
    NAI_TRY(nai_pages_open(trace, header, err));
  NAI_TRY(nai_pages_check_schema(trace, err));
  return nai_trace_unchanged(trace, err);
}

int nai_trace_open(struct nai_trace **out, const char *path, const struct nai_trace_options *options,
                   struct nai_err *err) {
  struct nai_sqlite_header header;
  NAI_OWNED(nai_trace) *trace = malloc(sizeof *trace);
  NAI_TRY(nai_memory_check(trace, err));
  *trace = (struct nai_trace){.arena = NAI_ARENA(NULL), .fd = -1, .options = *options};
  NAI_TRY(nai_file_open(&trace->fd, &trace->stamp, &header, path, err));
  trace->size_bytes = trace->stamp.size_bytes;
  trace->path = nai_arena_printf(&trace->arena, "%s", path);
  trace->file_name = nai_fs_basename(trace->path);
  NAI_TRY(nai_arena_check(&trace->arena, err));
  int rc = open_trace(trace, &header, err);
  if (rc)
    return nai_err_wrap(err, rc, "cannot read trace \"%s\"", path);
  return NAI_GIVE(out, trace);
}

int nai_trace_unchanged(const struct nai_trace *trace, struct nai_err *err) {
  NAI_SCOPED(nai_buf) wal = {0};
  struct nai_file_stamp now, wal_now;
  nai_buf_printf(&wal, "%s-wal", trace->real_path);
  NAI_TRY(nai_buf_check(&wal, err));
  NAI_TRY(nai_file_stamp(&now, trace->real_path, err));
  NAI_TRY(nai_file_stamp(&wal_now, wal.data, err));
  if (nai_file_stamp_equal(&now, &trace->stamp) && nai_file_stamp_equal(&wal_now, &trace->wal_stamp))
    return NAI_OK;
  return nai_err_set(err, NAI_EINPUT, "\"%s\" was changed by another program while it was being read", trace->path);
}

void nai_trace_close(struct nai_trace *trace) {
  if (!trace)
    return;
  nai_lookups_free(trace);
  nai_pages_close(trace);
  sqlite3_close(trace->db);
  nai_trace_free_pool(trace);
  if (trace->fd >= 0)
    close(trace->fd); /* after SQLite: closing any descriptor of a file drops all the process's locks on it */
  nai_temporary_remove(&trace->scratch);
  nai_arena_free(&trace->arena);
  free(trace);
}
