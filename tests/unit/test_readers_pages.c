/* Whole pages written over by others of the same file, each of which fits in its new place by itself: every page by
 * every other, as a copy and in exchange. A table is refused or its rows are those it had, whichever is the reader and
 * however few of the rows are asked for. */
#include "unit.h"

#include "base/fs.h"
#include "readers_db.h"

#include <fcntl.h>

enum { PAGE = 1024 };

static const char *const tables[] = {"StringIds", "kernels", "copies", "ENUM", "facts"};
enum { TABLES = sizeof tables / sizeof *tables, KEY = 1000000 };

struct content {
  struct nai_buf rows[TABLES], text; /* of each table; of the key */
};

struct tally {
  int refused, tables_refused, same;
};

/* One text of very few rows, as a trace refers to. */
static int look_up(struct nai_buf *text, struct nai_trace *trace, struct nai_err *err) {
  struct nai_lookup *lookup;
  struct nai_cell cell;
  bool found = false;
  int rc = nai_lookup_open(&lookup, trace, "StringIds", 1, err);
  if (rc)
    return rc;
  rc = nai_lookup_get(&found, &cell, lookup, KEY, err);
  if (!rc && found)
    dump_cell(text, &cell);
  nai_lookup_close(lookup);
  return rc;
}

static void free_content(struct content *content) {
  for (int i = 0; i < TABLES; i++)
    nai_buf_free(&content->rows[i]);
  nai_buf_free(&content->text);
}

static void must_be_same(const struct nai_buf *got, const struct nai_buf *want, const char *table, const char *what) {
  if (strcmp(nai_buf_str(got), nai_buf_str(want)) != 0)
    fail_msg("%s: %s has other rows, and nothing is said: \"%.100s\"", what, table, nai_buf_str(got));
}

static void must_be_noticed(struct tally *tally, const struct content *want, enum nai_reader_choice reader,
                            const char *what) {
  struct nai_trace *trace = NULL;
  struct nai_err err = {0};
  struct content got = {0};
  char used[16];
  int rc = nai_trace_open(&trace, path, &(struct nai_trace_options){.reader = reader}, &err);
  tally->refused += rc != 0;
  for (int i = 0; !rc && i < TABLES; i++) {
    const struct nai_db_table *table = nai_trace_table(trace, tables[i]);
    int failed = table ? dump_scan(&got.rows[i], used, trace, table, LAST_ONLY, 1, &err) : NAI_EINPUT;
    assert_true(!failed || failed == NAI_EINPUT);
    tally->tables_refused += failed != 0;
    tally->same += !failed;
    if (!failed)
      must_be_same(&got.rows[i], &want->rows[i], tables[i], what);
  }
  if (!rc && !look_up(&got.text, trace, &err))
    must_be_same(&got.text, &want->text, "the text looked up", what);
  free_content(&got);
  nai_trace_close(trace);
}

static void write_page(int fd, const struct nai_buf *file, uint32_t page, uint32_t with) {
  if (pwrite(fd, file->data + (size_t)with * PAGE, PAGE, (off_t)page * PAGE) != PAGE)
    fail();
}

TEST(test_pages_written_over) {
  static const char *const readers[] = {"auto", "sqlite", "direct"};
  sqlite3 *db = create(PAGE, 0, "PRAGMA auto_vacuum = 0");
  sql(db,
      "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
      "CREATE TABLE kernels(start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, device INTEGER, name INTEGER NOT NULL,"
      " graph INTEGER);"
      "CREATE TABLE copies(start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, bytes INTEGER NOT NULL);"
      "CREATE TABLE facts(name TEXT NOT NULL, value TEXT NOT NULL);"
      "CREATE TABLE ENUM(id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, label TEXT NOT NULL);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
      " INSERT INTO StringIds SELECT i, printf('name %d %.*c', i, CASE WHEN i = 50 THEN 1200 ELSE i % 40 END, 'x') FROM n;"
      "INSERT INTO StringIds VALUES (1000000, 'the text looked up');"
      "INSERT INTO kernels SELECT id * 1000, id * 1000 + 500, 0, id, NULL FROM StringIds;"
      "INSERT INTO copies SELECT id * 1000, id * 1000 + 400, 4096 FROM StringIds;"
      "INSERT INTO facts SELECT value, value FROM StringIds WHERE id < 30;"
      "INSERT INTO ENUM VALUES (0, 'A', 'a'), (1, 'B', 'b'), (2, 'C', 'c')");
  sqlite3_close(db);

  struct nai_buf file = {0};
  struct nai_err err;
  struct content want = {0};
  char used[16];
  assert_int_equal(nai_fs_read(&file, path, 1 << 20, NAI_EINPUT, &err), 0);
  struct nai_trace *trace = open_trace(path, NAI_READER_DIRECT);
  for (int i = 0; i < TABLES; i++) {
    assert_int_equal(dump_scan(&want.rows[i], used, trace, nai_trace_table(trace, tables[i]), LAST_ONLY, 1, &err), 0);
    assert_true(want.rows[i].len > 0);
  }
  assert_int_equal(look_up(&want.text, trace, &err), 0);
  assert_true(want.text.len > 0);
  nai_trace_close(trace);

  int fd = open(path, O_WRONLY);
  assert_true(fd >= 0);
  struct tally tally = {0};
  uint32_t pages = (uint32_t)(file.len / PAGE);
  assert_true(pages > 25);
  for (uint32_t a = 0; a < pages; a++)
    for (uint32_t b = 0; b < pages; b++)
      for (int exchange = 0; exchange <= (b > a); exchange++) {
        if (a == b)
          continue;
        write_page(fd, &file, a, b);
        write_page(fd, &file, b, exchange ? a : b);
        for (int reader = NAI_READER_SQLITE; reader <= NAI_READER_DIRECT; reader++) {
          char what[100];
          snprintf(what, sizeof what, "page %u %s %u, reader %s", a + 1,
                   exchange ? "exchanged with" : "written over by", b + 1, readers[reader]);
          must_be_noticed(&tally, &want, (enum nai_reader_choice)reader, what);
        }
        write_page(fd, &file, a, a);
        write_page(fd, &file, b, b);
      }
  print_message("%d files refused; of the others %d tables refused and %d unchanged\n", tally.refused,
                tally.tables_refused, tally.same);
  assert_true(tally.refused > 100 && tally.tables_refused > 1000 && tally.same > 1000);
  close(fd);
  free_content(&want);
  nai_buf_free(&file);
}

UNIT_FIXTURE(make_path, remove_path)
