/* Opening: what is refused and how it is said, and that nothing is changed or created beside the input. */
#include "unit.h"

#include "base/fs.h"
#include "scan_dump.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64];

static const char *in_directory(const char *name) {
  static char paths[4][512];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

static int set_up(void **state) {
  (void)state;
  snprintf(directory, sizeof directory, "/tmp/nai-open-XXXXXX");
  return mkdtemp(directory) ? chmod(directory, 0777) : -1;
}

static int tear_down(void **state) {
  (void)state;
  struct nai_err err;
  chmod(directory, 0777);
  return nai_fs_remove_tree(directory, &err);
}

static void put_file(const char *name, const void *data, size_t len) {
  struct nai_err err;
  if (nai_fs_write(in_directory(name), data, len, &err))
    fail_msg("%s", err.msg);
}

static void get_file(struct nai_buf *out, const char *name) {
  struct nai_err err;
  nai_buf_clear(out);
  if (nai_fs_read(out, in_directory(name), 1 << 24, NAI_EINPUT, &err))
    fail_msg("%s", err.msg);
}

static void copy_to(const char *to, const char *from) {
  struct nai_buf content = {0};
  get_file(&content, from);
  put_file(to, nai_buf_str(&content), content.len);
  nai_buf_free(&content);
}

/* Names and contents of all files in the directory, as one hash (independent of their order). */
static uint64_t directory_state(void) {
  uint64_t sum = 0;
  struct dirent *entry;
  DIR *dir = opendir(directory);
  assert_non_null(dir);
  while ((entry = readdir(dir))) {
    struct stat st;
    struct nai_buf content = {0};
    if (entry->d_name[0] == '.' || lstat(in_directory(entry->d_name), &st) != 0)
      continue;
    nai_buf_puts(&content, "?");
    if (S_ISREG(st.st_mode))
      get_file(&content, entry->d_name);
    nai_buf_puts(&content, entry->d_name);
    sum += XXH3_64bits(content.data, content.len);
    nai_buf_free(&content);
  }
  closedir(dir);
  return sum;
}

static void sql(sqlite3 *db, const char *text) {
  char *message = NULL;
  if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
    fail_msg("%s: %.300s", message, text);
}

static sqlite3 *open_db(const char *name) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open_v2(in_directory(name), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL),
                   SQLITE_OK);
  return db;
}

static void make_db(const char *name, const char *text) {
  sqlite3 *db = open_db(name);
  sql(db, "PRAGMA synchronous=off");
  sql(db, text);
  sqlite3_close(db);
}

static const char events_sql[] =
    "CREATE TABLE events(a INTEGER, t TEXT); INSERT INTO events VALUES(1, 'one'), (2, 'two')";

static int try_open(struct nai_trace **trace, const char *path, struct nai_err *err) {
  static const struct nai_trace_options options = {.reader = NAI_READER_AUTO};
  *trace = NULL;
  return nai_trace_open(trace, path, &options, err);
}

static struct nai_trace *must_open(const char *path) {
  struct nai_trace *trace;
  struct nai_err err = {0};
  if (try_open(&trace, path, &err))
    fail_msg("%s", err.msg);
  return trace;
}

static void must_refuse(const char *borrowed_path, const char *message_part) {
  char path[512];
  struct nai_trace *trace;
  struct nai_err err = {0};
  snprintf(path, sizeof path, "%s", borrowed_path);
  uint64_t before = directory_state();
  int rc = try_open(&trace, path, &err);
  if (rc != NAI_EINPUT || !strstr(err.msg, message_part))
    fail_msg("%s: %d %s, expected \"%s\"", path, rc, err.msg, message_part);
  assert_null(trace);
  assert_int_equal(directory_state(), before);
}

/* Reads events and returns its rows; nothing beside the input changes meanwhile. */
static int64_t count_events(const char *borrowed_path, const char *reader, const char *reason_part) {
  char path[512];
  snprintf(path, sizeof path, "%s", borrowed_path);
  uint64_t before = directory_state();
  struct nai_trace *trace = must_open(path);
  struct nai_err err = {0};
  const int columns[] = {0, 1};
  struct nai_scan scan = {.table = "events", .columns = columns, .column_count = 2};
  struct nai_buf rows = {0};
  struct scan_dump dump = {.out = &rows, .column_count = 2};
  if (nai_scan_open(&scan, trace, 1, &err) || nai_scan_run(&scan, 0, dump_row, &dump, &err))
    fail_msg("%s", err.msg);
  assert_string_equal(scan.reader, reader);
  if (!strstr(scan.reason, reason_part))
    fail_msg("reason \"%s\", expected \"%s\"", scan.reason, reason_part);
  assert_int_equal(directory_state(), before);
  assert_int_equal(nai_trace_unchanged(trace, &err), 0);
  nai_scan_close(&scan);
  nai_trace_close(trace);
  nai_buf_free(&rows);
  assert_int_equal(directory_state(), before);
  return dump.rows;
}

TEST_WITH(test_not_databases, set_up, tear_down) {
  char random_bytes[5000], big[200];
  uint32_t seed = 1;
  for (size_t i = 0; i < sizeof random_bytes; i++)
    random_bytes[i] = (char)((seed = seed * 1664525 + 1013904223) >> 24);
  must_refuse(in_directory("absent.sqlite"), "No such file");
  must_refuse(directory, "is a directory");
  must_refuse("/dev/zero", "not a regular file");
  assert_int_equal(mkfifo(in_directory("fifo"), 0666), 0);
  must_refuse(in_directory("fifo"), "not a regular file");
  assert_int_equal(symlink("loop", in_directory("loop")), 0);
  must_refuse(in_directory("loop"), "symbolic links");
  put_file("empty", "", 0);
  must_refuse(in_directory("empty"), "is empty");
  put_file("fifteen", "SQLite format 3", 15);
  must_refuse(in_directory("fifteen"), "not an SQLite database");
  put_file("sixteen", "SQLite format 3", 16);
  must_refuse(in_directory("sixteen"), "only the first 16 bytes");
  put_file("random", random_bytes, sizeof random_bytes);
  must_refuse(in_directory("random"), "unknown binary data");
  put_file("archive.gz", "\x1f\x8b\x08\x00\x00\x00", 6);
  must_refuse(in_directory("archive.gz"), "gzip");
  put_file("notes.txt", "start,end\n1,2\n", 14);
  must_refuse(in_directory("notes.txt"), "looks like text");
  put_file("table.arrow", "ARROW1\0\0", 8);
  must_refuse(in_directory("table.arrow"), "an Arrow file: export with --type sqlite");
  memset(big, 0, sizeof big);
  put_file("zeros", big, sizeof big);
  must_refuse(in_directory("zeros"), "zero bytes");
  memcpy(big, "SQLite format 3", 16);
  put_file("header", big, sizeof big);
  must_refuse(in_directory("header"), "page size");
  put_file("run.nsys-rep", random_bytes, sizeof random_bytes);
  char command[1200];
  snprintf(command, sizeof command, "nsys export --type sqlite --output %s %s", in_directory("run.sqlite"),
           in_directory("run.nsys-rep"));
  must_refuse(in_directory("run.nsys-rep"), command);
  put_file("it's a $(run).nsys-rep", random_bytes, sizeof random_bytes);
  must_refuse(in_directory("it's a $(run).nsys-rep"), "/it'\\''s a $(run).sqlite' '/");
  put_file("a run.qdstrm", random_bytes, sizeof random_bytes);
  snprintf(command, sizeof command, "QdstrmImporter -i '%s'", in_directory("a run.qdstrm"));
  must_refuse(in_directory("a run.qdstrm"), command);
}

TEST_WITH(test_names_are_not_uris, set_up, tear_down) {
  static const char *const names[] = {
      "file:x?mode=rwc", "a b%41#?&=.sqlite", "file:y.sqlite?immutable=1#frag", "n\nl\x01\xff",
      "-dash",           "plain.sqlite"};
  char before[4096];
  assert_non_null(getcwd(before, sizeof before));
  make_db("model", events_sql);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    copy_to(names[i], "model");
    assert_int_equal(count_events(in_directory(names[i]), "direct", ""), 2);
    assert_int_equal(chdir(directory), 0);
    int64_t rows = count_events(names[i], "direct", "");
    assert_int_equal(chdir(before), 0);
    assert_int_equal(rows, 2);
  }
}

/* Files as a program leaves them that is killed while it writes: a database with its WAL, but without the shared
 * memory. */
static void make_live_wal(const char *name) {
  char wal[300];
  sqlite3 *db = open_db("writer");
  sql(db, "PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0");
  sql(db, events_sql);
  sql(db, "PRAGMA wal_checkpoint; INSERT INTO events VALUES(3, 'in the log')");
  copy_to(name, "writer");
  snprintf(wal, sizeof wal, "%s-wal", name);
  copy_to(wal, "writer-wal");
  sqlite3_close(db);
  unlink(in_directory("writer"));
}

TEST_WITH(test_wal, set_up, tear_down) {
  assert_int_equal(mkdir(in_directory("scratch"), 0777), 0);
  assert_int_equal(setenv("TMPDIR", in_directory("scratch"), 1), 0);
  make_live_wal("live");
  assert_int_equal(count_events(in_directory("live"), "sqlite", "write-ahead log"), 3);
  assert_int_equal(unsetenv("TMPDIR"), 0);
  assert_int_equal(rmdir(in_directory("scratch")), 0); /* the copy was there and is gone */
  make_db("finished", "PRAGMA journal_mode=wal");
  make_db("finished", events_sql);
  assert_int_equal(count_events(in_directory("finished"), "direct", ""), 2);
  put_file("finished-wal", "", 0);
  assert_int_equal(count_events(in_directory("finished"), "direct", ""), 2);
  sqlite3 *writer = open_db("written"); /* still open elsewhere, with -shm and -wal there */
  sql(writer, "PRAGMA journal_mode=wal");
  sql(writer, events_sql);
  assert_int_equal(count_events(in_directory("written"), "sqlite", "write-ahead log"), 2);
  sqlite3_close(writer);
  assert_int_equal(symlink("live", in_directory("link")), 0); /* the WAL is beside what the link leads to */
  assert_int_equal(count_events(in_directory("link"), "sqlite", "write-ahead log"), 3);
  assert_int_equal(mkfifo(in_directory("finished-journal"), 0666), 0);
  must_refuse(in_directory("finished"), "not a regular file");
}

TEST_WITH(test_read_only_directory, set_up, tear_down) {
  uid_t user = geteuid();
  make_live_wal("live");
  make_db("finished", "PRAGMA journal_mode=wal");
  make_db("finished", events_sql);
  assert_int_equal(chmod(directory, 0555), 0);
  if (user == 0)
    assert_int_equal(seteuid(65534), 0); /* root may write anywhere */
  int64_t live = count_events(in_directory("live"), "sqlite", "write-ahead log");
  int64_t finished = count_events(in_directory("finished"), "direct", "");
  if (user == 0)
    assert_int_equal(seteuid(0), 0);
  assert_int_equal(live, 3);
  assert_int_equal(finished, 2);
}

TEST_WITH(test_journals, set_up, tear_down) {
  sqlite3 *db = open_db("db");
  sql(db, "PRAGMA journal_mode=persist");
  sql(db, events_sql);
  assert_true(nai_fs_exists(in_directory("db-journal")));
  assert_int_equal(count_events(in_directory("db"), "direct", ""), 2);
  sql(db, "PRAGMA journal_mode=delete; PRAGMA cache_size=2; BEGIN;"
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
          "INSERT INTO events SELECT i, hex(randomblob(40)) FROM n; UPDATE events SET a = -a");
  copy_to("torn", "db");
  copy_to("torn-journal", "db-journal");
  sqlite3_close(db);
  must_refuse(in_directory("torn"), "was not finished");
}

TEST_WITH(test_hostile_schemas, set_up, tear_down) {
  make_db("db", events_sql);
  make_db(
      "db",
      "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start FROM n;"
      "CREATE VIRTUAL TABLE words USING fts5(body);"
      "CREATE TABLE computed(a INTEGER, b AS (a * 2), c INTEGER AS (a + 1) STORED, d); INSERT INTO computed(a, d) VALUES(1, 5);"
      "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END");
  struct nai_trace *trace = must_open(in_directory("db"));
  struct nai_err err = {0};
  static const struct {
    const char *table;
    int column;
    const char *message; /* NULL: can be read, by the SQLite reader */
  } cases[] = {{"endless", 0, "not a plain table but a view"},
               {"words", 0, "not a plain table but a virtual table"},
               {"computed", 1, "column \"b\" is generated"},
               {"computed", 2, "column \"c\" is generated"},
               {"computed", 3, NULL},
               {"nowhere", 0, "no such table"},
               {"events", 2, "no column number 2"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nai_scan scan = {.table = cases[i].table, .columns = &cases[i].column, .column_count = 1};
    int rc = nai_scan_open(&scan, trace, 2, &err);
    if (cases[i].message) {
      assert_int_equal(rc, NAI_EINPUT);
      if (!strstr(err.msg, cases[i].message))
        fail_msg("%s, expected \"%s\"", err.msg, cases[i].message);
      continue;
    }
    assert_int_equal(rc, 0);
    assert_string_equal(scan.reader, "sqlite");
    nai_scan_close(&scan);
  }
  assert_false(nai_trace_table(trace, "endless")->plain);
  assert_false(nai_trace_table(trace, "WORDS")->plain);
  assert_true(nai_trace_table(trace, "Events")->plain);
  assert_true(nai_trace_table(trace, "computed")->columns[1].hidden);
  nai_trace_close(trace);
  make_db("many",
          "CREATE TABLE t(a); PRAGMA writable_schema=1;"
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)"
          "INSERT INTO sqlite_schema SELECT 'table', 't' || i, 't' || i, 2, 'CREATE TABLE t' || i || '(a)' FROM n");
  must_refuse(in_directory("many"), "more than 10000 tables");
  make_db("broken", "CREATE TABLE t(a); PRAGMA writable_schema=1; UPDATE sqlite_schema SET sql = 'CREATE TABLE t('");
  must_refuse(in_directory("broken"), "malformed database schema");
}

TEST_WITH(test_replaced, set_up, tear_down) {
  struct nai_err err = {0};
  make_db("db", events_sql);
  make_db("other", events_sql);
  struct nai_trace *trace = must_open(in_directory("db"));
  assert_int_equal(nai_trace_unchanged(trace, &err), 0);
  assert_int_equal(rename(in_directory("other"), in_directory("db")), 0);
  assert_int_equal(nai_trace_unchanged(trace, &err), NAI_EINPUT);
  assert_non_null(strstr(err.msg, "changed by another program"));
  nai_trace_close(trace);
  trace = must_open(in_directory("db"));
  assert_int_equal(truncate(in_directory("db"), 100000), 0);
  assert_int_equal(nai_trace_unchanged(trace, &err), NAI_EINPUT);
  nai_trace_close(trace);
}

static int ignore_row(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  (void)ctx, (void)rowid, (void)cells, (void)err;
  return 0;
}

TEST_WITH(test_truncated_while_open, set_up, tear_down) {
  static const int columns[] = {0, 1};
  for (int lookups = 0; lookups <= 1; lookups++) {
    make_db("db", "CREATE TABLE events(a INTEGER, t TEXT);"
                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
                  "INSERT INTO events SELECT i, 'row ' || i FROM n");
    struct nai_trace *trace = must_open(in_directory("db"));
    struct nai_err err = {0};
    struct nai_scan scan = {.table = "events", .columns = columns, .column_count = 2};
    struct nai_lookup *lookup = NULL;
    assert_int_equal(nai_scan_open(&scan, trace, 1, &err), 0);
    assert_string_equal(scan.reader, "direct");
    assert_int_equal(nai_lookup_open(&lookup, trace, "events", 1, &err), 0);
    assert_int_equal(truncate(in_directory("db"), 8192), 0);
    if (lookups) { /* through the map, where reading beyond the end raises SIGBUS */
      bool found;
      struct nai_cell cell;
      assert_int_equal(nai_lookup_get(&found, &cell, lookup, 15000, &err), NAI_EINPUT);
    } else {
      assert_int_equal(nai_scan_run(&scan, 0, ignore_row, NULL, &err), NAI_EINPUT);
    }
    assert_non_null(strstr(err.msg, "truncated"));
    nai_lookup_close(lookup);
    nai_scan_close(&scan);
    nai_trace_close(trace);
    unlink(in_directory("db"));
  }
}

static uint64_t identity_of(const char *name, int threads) {
  struct nai_trace *trace = must_open(in_directory(name));
  struct nai_err err;
  if (nai_trace_identify(trace, threads, &err))
    fail_msg("%s", err.msg);
  uint64_t identity = trace->identity;
  nai_trace_close(trace);
  return identity;
}

TEST_WITH(test_identity, set_up, tear_down) {
  struct nai_buf content = {0};
  make_db("db", events_sql);
  copy_to("copy", "db");
  uint64_t db = identity_of("db", 1);
  assert_true(db == identity_of("copy", 4));
  get_file(&content, "db");
  content.data[content.len - 1] ^= 1;
  put_file("copy", content.data, content.len);
  assert_true(db != identity_of("copy", 1));
  nai_buf_free(&content);
  make_live_wal("live");
  uint64_t live = identity_of("live", 1);
  get_file(&content, "live-wal");
  content.data[content.len - 1] ^= 1;
  put_file("live-wal", content.data, content.len);
  assert_true(live != identity_of("live", 2));
  assert_int_equal(unlink(in_directory("live-wal")), 0);
  assert_true(live != identity_of("live", 1));
  nai_buf_free(&content);
}

/* A change anywhere in a large file, with its header and its times as they were. */
TEST_WITH(test_identity_of_a_large_file, set_up, tear_down) {
  const off_t size = 150 << 20;
  make_db("db", events_sql);
  assert_int_equal(truncate(in_directory("db"), size), 0);
  uint64_t before = identity_of("db", 1);
  assert_true(before == identity_of("db", 3));
  for (off_t at = 70000; at < size; at += 37 << 20) {
    int fd = open(in_directory("db"), O_RDWR);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(pwrite(fd, "x", 1, at), 1);
    assert_int_equal(futimens(fd, (struct timespec[]){st.st_atim, st.st_mtim}), 0);
    assert_true(before != identity_of("db", 2));
    assert_int_equal(pwrite(fd, "", 1, at), 1);
    close(fd);
    assert_true(before == identity_of("db", 2));
  }
}

TEST_WITH(test_check, set_up, tear_down) {
  struct nai_buf content = {0};
  struct nai_trace *trace = NULL;
  struct nai_err err = {0};
  const struct nai_trace_options check = {.reader = NAI_READER_AUTO, .check = true};
  make_db("db", "CREATE TABLE events(a INTEGER, t TEXT CHECK(length(t) < 9));"
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
                "INSERT INTO events SELECT i, 'row ' || i FROM n");
  assert_int_equal(nai_trace_open(&trace, in_directory("db"), &check, &err), 0);
  nai_trace_close(trace);
  get_file(&content, "db");
  memset(content.data + 5 * 4096, 0, 4096);
  put_file("db", content.data, content.len);
  nai_trace_close(must_open(in_directory("db"))); /* not noticed until that page is read */
  assert_int_equal(nai_trace_open(&trace, in_directory("db"), &check, &err), NAI_EINPUT);
  assert_non_null(strstr(err.msg, "damaged"));
  nai_buf_free(&content);
}
