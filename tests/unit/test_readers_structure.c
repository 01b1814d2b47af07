/* Every byte that says where rows are, changed to other values: in each page of each table, in overflow chains, free
 * blocks and heads of rows. A table is then refused, or its rows are those it had. Which bytes those are is found here
 * from the file format, by code that the readers do not share. */
#include "unit.h"

#include "base/fs.h"
#include "scan_dump.h"
#include "scratch_file.h"

#include <fcntl.h>
#include <unistd.h>

enum { VALUES = 3 };

struct file {
  unsigned char *data;
  size_t bytes;
  uint32_t page_size;
  int fd;
};

static struct file load(void) {
  struct nai_buf content = {0};
  struct nai_err err;
  struct file file;
  if (nai_fs_read(&content, path, 4 << 20, NAI_EINPUT, &err))
    fail_msg("%s", err.msg);
  file = (struct file){(unsigned char *)content.data, content.len, 0, open(path, O_WRONLY)};
  file.page_size = (uint32_t)(file.data[16] << 8 | file.data[17]);
  assert_true(file.fd >= 0);
  return file;
}

static void unload(struct file *file) {
  close(file->fd);
  free(file->data);
}

/* --- which bytes ------------------------------------------------------------------------------ */

/* What a byte says. A rowid that stays between its neighbours moves no other row: it leaves a hole instead. The type of
 * a value that takes no room may become another such type, and a blob a text of its length: that is its value, not
 * where it is. */
enum role { NOTHING, PLACE, ROWID, TYPE, LONG_TYPE };

struct roles {
  unsigned char *of; /* each byte of the file */
  const struct file *file;
};

static uint32_t get(const struct file *file, size_t at, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; i++)
    value = value << 8 | file->data[at + (size_t)i];
  return value;
}

static void mark(struct roles *roles, size_t at, size_t bytes, enum role role) { memset(roles->of + at, role, bytes); }

static size_t mark_varint(struct roles *roles, size_t at, uint64_t *value, enum role role) {
  size_t n = 0;
  *value = 0;
  do
    *value = n == 8 ? *value << 8 | roles->file->data[at + n] : *value << 7 | (roles->file->data[at + n] & 0x7f);
  while (roles->file->data[at + n++] & 0x80 && n < 9);
  mark(roles, at, n, role);
  return at + n;
}

/* Of a chain of overflow pages the number of the first, which stands at byte `at`, and all that follow. */
static void mark_chain(struct roles *roles, size_t at) {
  for (;;) {
    mark(roles, at, 4, PLACE);
    uint32_t page = get(roles->file, at, 4);
    if (!page)
      return;
    at = (size_t)(page - 1) * roles->file->page_size;
  }
}

static void mark_row(struct roles *roles, size_t at, size_t page_end) {
  uint64_t payload, rowid, head, type, usable = roles->file->page_size;
  at = mark_varint(roles, at, &payload, PLACE);
  at = mark_varint(roles, at, &rowid, ROWID);
  size_t types = mark_varint(roles, at, &head, PLACE);
  while (types < at + head && types < page_end)
    types = mark_varint(roles, types, &type, roles->file->data[types] & 0x80 ? LONG_TYPE : TYPE);
  uint64_t most = usable - 35, least = (usable - 12) * 32 / 255 - 23;
  if (payload <= most)
    return;
  uint64_t local = least + (payload - least) % (usable - 4);
  mark_chain(roles, at + (local > most ? least : local));
}

static void mark_page(struct roles *roles, uint32_t page) {
  const struct file *file = roles->file;
  size_t start = (size_t)(page - 1) * file->page_size, head = start + (page == 1 ? 100 : 0);
  bool leaf = file->data[head] == 13;
  uint32_t cells = get(file, head + 3, 2);
  assert_true(leaf || file->data[head] == 5);
  mark(roles, head, leaf ? 8 : 12, PLACE);
  for (uint32_t i = 0; i < cells; i++) {
    size_t pointer = head + (leaf ? 8 : 12) + 2 * i, cell = start + get(file, pointer, 2);
    uint64_t key;
    mark(roles, pointer, 2, PLACE);
    if (leaf) {
      mark_row(roles, cell, start + file->page_size);
      continue;
    }
    mark(roles, cell, 4, PLACE);
    mark_varint(roles, cell + 4, &key, ROWID);
  }
  for (uint32_t block = get(file, head + 1, 2); block; block = get(file, start + block, 2))
    mark(roles, start + block, 4, PLACE);
}

/* --- what is read ----------------------------------------------------------------------------- */

struct rows {
  struct nai_buf text; /* with rowids left out */
  int named;           /* leading columns that are the rowid */
  int64_t count, first, last;
};

static int add_row(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  struct rows *rows = ctx;
  (void)err;
  rows->first = rows->count++ ? rows->first : rowid;
  rows->last = rowid;
  for (int i = rows->named; i < 5; i++)
    dump_cell(&rows->text, &cells[i]);
  nai_buf_putc(&rows->text, '\n');
  return 0;
}

static int read_table(struct rows *rows, struct nai_trace *trace, const char *table, struct nai_err *err) {
  int columns[NAI_SCAN_MAX_COLUMNS] = {0, 1, 2, 3, 4};
  const struct nai_db_table *found = nai_trace_table(trace, table);
  if (!found)
    return nai_err_set(err, NAI_EINPUT, "there is no such table");
  struct nai_scan scan = {.table = found->name, .columns = columns, .column_count = 5};
  rows->named = found->columns[0].rowid_alias;
  int rc = nai_scan_open(&scan, trace, 1, err);
  for (int part = 0; part < scan.parts && !rc; part++)
    rc = nai_scan_run(&scan, part, add_row, rows, err);
  nai_scan_close(&scan);
  return rc;
}

/* Every key of a table that is looked up in. */
static int look_up_all(struct nai_buf *text, struct nai_trace *trace, struct nai_err *err) {
  struct nai_lookup *lookup;
  int rc = nai_lookup_open(&lookup, trace, "StringIds", 1, err);
  if (rc)
    return rc;
  for (int64_t key = 1; key <= 60 && !rc; key++) {
    bool found = false;
    struct nai_cell cell;
    rc = nai_lookup_get(&found, &cell, lookup, key, err);
    if (!rc && found)
      dump_cell(text, &cell);
    nai_buf_putc(text, '\n');
  }
  nai_lookup_close(lookup);
  return rc;
}

struct tally {
  int refused, same, holes, values;
};

/* Whether the rows are those they were, as far as a change of that role must leave them. */
static void compare(struct tally *tally, enum role role, const struct rows *rows, const struct rows *want,
                    const char *what) {
  bool hole = (uint64_t)rows->last - (uint64_t)rows->first + 1 != (uint64_t)rows->count;
  bool same = strcmp(nai_buf_str(&rows->text), nai_buf_str(&want->text)) == 0;
  if (same && rows->first == want->first && rows->last == want->last)
    tally->same++;
  else if (role == ROWID && same && (hole || rows->named))
    tally->holes++;
  else
    fail_msg("%s (role %d): %" PRId64 " rows %" PRId64 " to %" PRId64 " instead of %" PRId64 " rows %" PRId64
             " to %" PRId64 ", %s values, and nothing is said",
             what, (int)role, rows->count, rows->first, rows->last, want->count, want->first, want->last,
             same ? "the same" : "other");
}

static void try_byte(struct tally *tally, const struct file *file, size_t at, unsigned char value, enum role role,
                     const char *table, const struct rows *want, const struct nai_buf *want_texts) {
  static const char *const readers[] = {"auto", "sqlite", "direct"};
  if (pwrite(file->fd, &value, 1, (off_t)at) != 1)
    fail();
  for (int reader = NAI_READER_SQLITE; reader <= NAI_READER_DIRECT; reader++) {
    const struct nai_trace_options options = {.reader = (enum nai_reader_choice)reader};
    struct nai_trace *trace = NULL;
    struct nai_err err = {0};
    struct rows rows = {0};
    struct nai_buf texts = {0};
    char what[160];
    snprintf(what, sizeof what, "%s, page %zu, byte %zu, %u instead of %u, reader %s", table, at / file->page_size + 1,
             at % file->page_size, value, file->data[at], readers[reader]);
    int rc = nai_trace_open(&trace, path, &options, &err);
    if (!rc)
      rc = read_table(&rows, trace, table, &err);
    if (!rc)
      compare(tally, role, &rows, want, what);
    if (!rc && strcmp(table, "StringIds") == 0 && !look_up_all(&texts, trace, &err) && role == PLACE &&
        strcmp(nai_buf_str(&texts), nai_buf_str(want_texts)) != 0)
      fail_msg("%s: other texts are found", what);
    if (rc && rc != NAI_EINPUT)
      fail_msg("%s: %d %s", what, rc, err.msg);
    tally->refused += rc != 0;
    nai_buf_free(&rows.text);
    nai_buf_free(&texts);
    nai_trace_close(trace);
  }
  if (pwrite(file->fd, &file->data[at], 1, (off_t)at) != 1)
    fail();
}

/* A type of the same length makes the same bytes another value: that is no question of where things are. */
static bool is_another_value(enum role role, unsigned char a, unsigned char b) {
  static const unsigned char sizes[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 255, 255};
  if (role != TYPE) /* of two bytes: a text or a blob */
    return role == LONG_TYPE && (a ^ b) == 1;
  return (a < 12 ? sizes[a] : (a - 12) / 2) == (b < 12 ? sizes[b] : (b - 12) / 2);
}

static void try_table(struct tally *tally, const struct file *file, const char *table, const struct roles *roles) {
  struct nai_trace *trace;
  struct nai_err err;
  struct rows want = {0};
  struct nai_buf texts = {0};
  assert_int_equal(nai_trace_open(&trace, path, &(struct nai_trace_options){.reader = NAI_READER_DIRECT}, &err), 0);
  assert_int_equal(read_table(&want, trace, table, &err), 0);
  assert_int_equal(look_up_all(&texts, trace, &err), 0);
  nai_trace_close(trace);
  assert_true(want.count > 0);
  for (size_t at = 0; at < file->bytes; at++) {
    const unsigned char was = file->data[at];
    const unsigned char values[VALUES] = {(unsigned char)(was - 1),
                                          at % 3 == 0   ? 0
                                          : at % 3 == 1 ? (unsigned char)(was ^ 0x80)
                                                        : (unsigned char)(was + 1),
                                          (unsigned char)(was + (unsigned char)(at * 37) % 251 + 2)};
    for (int i = 0; i < VALUES && roles->of[at]; i++)
      if (values[i] != was && !is_another_value(roles->of[at], was, values[i]))
        try_byte(tally, file, at, values[i], roles->of[at], table, &want, &texts);
  }
  nai_buf_free(&want.text);
  nai_buf_free(&texts);
}

/* --- the databases ---------------------------------------------------------------------------- */

static void make(const char *sql) {
  sqlite3 *db;
  unlink(path);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
    fail_msg("%s", sqlite3_errmsg(db));
  sqlite3_close(db);
}

static void mark_table(struct roles *roles, const char *table) {
  sqlite3 *db;
  sqlite3_stmt *stmt;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT pageno FROM dbstat WHERE name = ?1 AND pagetype <> 'overflow'", -1,
                                      &stmt, NULL),
                   SQLITE_OK);
  sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
  while (sqlite3_step(stmt) == SQLITE_ROW)
    mark_page(roles, (uint32_t)sqlite3_column_int(stmt, 0));
  sqlite3_finalize(stmt);
  sqlite3_close(db);
}

static void try_all(const char *sql, const char *const *tables) {
  make(sql);
  struct file file = load();
  for (; *tables; tables++) {
    struct tally tally = {0};
    struct roles roles = {calloc(file.bytes, 1), &file};
    assert_non_null(roles.of);
    mark_table(&roles, *tables);
    try_table(&tally, &file, *tables, &roles);
    print_message("%s: %d changes refused, %d without effect, %d noticed by a hole\n", *tables, tally.refused,
                  tally.same, tally.holes);
    assert_true(tally.refused > 10 * tally.same);
    free(roles.of);
  }
  unload(&file);
}

/* As exporters write: row after row, several tables whose rows are alike and take turns in the file. */
TEST(test_written_once) {
  static const char *const tables[] = {"kernels", "StringIds", "ENUM", NULL};
  try_all(
      "PRAGMA page_size = 512;"
      "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL, c, d, e);"
      "CREATE TABLE ENUM(id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT, d, e);"
      "CREATE TABLE kernels(start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, device INTEGER NOT NULL, name INTEGER NOT"
      " NULL, text TEXT, more INTEGER);"
      "CREATE TABLE copies(start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, device INTEGER NOT NULL, kind INTEGER NOT"
      " NULL, text TEXT, more INTEGER);"
      "INSERT INTO ENUM VALUES (0, 'A', 'a', 1, 2), (1, 'B', 'b', 1, 2), (2, 'C', 'c', 1, 2);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)"
      " INSERT INTO StringIds SELECT i, printf('name %d %.*c', i, CASE WHEN i % 20 = 0 THEN 700 ELSE i END, 'x'), 3, 4, 5 FROM n;"
      "CREATE TEMP TABLE n(i); WITH RECURSIVE m(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM m WHERE i < 150) INSERT INTO n"
      " SELECT i FROM m;"
      "CREATE TEMP TRIGGER both AFTER UPDATE ON n BEGIN"
      " INSERT INTO kernels VALUES(new.i * 1000, new.i * 1000 + 500, 2, new.i % 60 + 3, NULL, 7);"
      " INSERT INTO copies VALUES(new.i * 1000, new.i * 1000 + 400, 2, new.i % 8 + 3, NULL, 7); END;"
      "UPDATE n SET i = i;",
      tables);
}

/* As after changes: free blocks, fragments, freed pages, rows out of the order of their place, overflow chains. */
TEST(test_changed_later) {
  static const char *const tables[] = {"events", NULL};
  try_all(
      "PRAGMA page_size = 512; PRAGMA auto_vacuum = 2;"
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1, 'one');"
      "CREATE TABLE gone(a, b, c, d, e); CREATE TABLE events(a INTEGER NOT NULL, b INTEGER NOT NULL, c TEXT NOT NULL, d"
      " INTEGER NOT NULL, e TEXT);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)"
      " INSERT INTO events SELECT i * 1000, i * 1000 + 300, printf('%.*c', i % 30 + 1, 't'), i + 5, CASE WHEN i % 50 = 7"
      " THEN printf('%.*c', 1500, 'z') ELSE 'e' END FROM n;"
      "INSERT INTO gone SELECT * FROM events; DELETE FROM events WHERE rowid % 7 = 3;"
      "UPDATE events SET c = c || c WHERE rowid % 11 = 4; UPDATE events SET c = 'short' WHERE rowid % 13 = 6;"
      "DROP TABLE gone;",
      tables);
}

/* The file's header and the whole of its first page, where the schema is: what says which tables there are. */
TEST(test_first_page) {
  make("PRAGMA page_size = 512; CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
       "CREATE TABLE kernels(a NOT NULL, b, c, d, e); CREATE TABLE copies(a, b, c, d, e); CREATE INDEX i ON copies(a);"
       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
       " INSERT INTO kernels SELECT i, 2, 3, 4, 5 FROM n;"
       "INSERT INTO copies SELECT * FROM kernels; INSERT INTO StringIds VALUES (1, 'one');");
  struct file file = load();
  struct tally tally = {0};
  struct roles roles = {calloc(file.bytes, 1), &file};
  assert_non_null(roles.of);
  mark(&roles, 0, file.page_size, PLACE);
  try_table(&tally, &file, "kernels", &roles);
  assert_true(tally.refused > 300 && tally.same > 300);
  free(roles.of);
  unload(&file);
}

UNIT_FIXTURE(make_path, remove_path)
