/* Damaged databases: whatever byte is wrong, the readers end with rows or with NAI_EINPUT, and where both deliver rows
 * these are the same. */
#include "unit.h"

#include "base/fs.h"
#include "readers_agree.h"
#include "readers_seed.h"
#include "scratch_file.h"

#include <unistd.h>

static uint64_t random_state;

static uint32_t next_random(uint32_t below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 33) % below);
}

static void make_seed(struct nai_buf *content, int page_size) {
  struct nai_err err;
  seed_database(path, page_size, 60);
  if (nai_fs_read(content, path, 1 << 20, NAI_EINPUT, &err))
    fail_msg("%s", err.msg);
}

static void write_content(const char *data, size_t len) {
  struct nai_err err;
  if (nai_fs_write(path, data, len, &err))
    fail_msg("%s", err.msg);
}

TEST(test_flipped_bytes) {
  enum { SEEDS = 1000 };
  static const int page_sizes[] = {512, 1024};
  struct readers_outcome outcome = {0};
  for (size_t p = 0; p < sizeof page_sizes / sizeof *page_sizes; p++) {
    struct nai_buf content = {0};
    make_seed(&content, page_sizes[p]);
    for (int seed = 0; seed < SEEDS; seed++) {
      char *damaged = malloc(content.len);
      assert_non_null(damaged);
      memcpy(damaged, content.data, content.len);
      random_state = (uint64_t)seed * 2 + p;
      for (uint32_t flips = 1 + next_random(4); flips; flips--) {
        /* half of the damage goes to the first bytes of a page, where its structure is */
        uint32_t at = next_random((uint32_t)content.len);
        if (next_random(2))
          at = at / (uint32_t)page_sizes[p] * (uint32_t)page_sizes[p] + next_random(48);
        damaged[at] = (char)(next_random(2) ? damaged[at] ^ 1 << next_random(8) : (int)next_random(256));
      }
      write_content(damaged, content.len);
      free(damaged);
      readers_agree(&outcome, path);
    }
    nai_buf_free(&content);
  }
  print_message("opened %d, refused %d; tables: both read %d, direct failed %d, sqlite failed %d\n", outcome.opened,
                outcome.refused, outcome.both_read, outcome.direct_failed, outcome.sqlite_failed);
  assert_true(outcome.opened > SEEDS / 2 && outcome.refused > 10);
  assert_true(outcome.both_read > SEEDS && outcome.direct_failed > 200 && outcome.sqlite_failed > 50);
}

TEST(test_truncated) {
  struct readers_outcome outcome = {0};
  struct nai_buf content = {0};
  make_seed(&content, 512);
  for (size_t page = 0; page < content.len; page += 512)
    for (size_t len = page ? page - 1 : 0; len <= page + 1; len++) {
      write_content(content.data, len);
      readers_agree(&outcome, path);
    }
  assert_int_equal(outcome.both_read, 0);
  assert_true(outcome.refused > 100);
  nai_buf_free(&content);
}

/* Reads a table, which must report damage that contains `message`. `alone`: as in a file that SQLite only can read,
 * where nobody else looks at the pages. */
static void must_be_noticed(enum nai_reader_choice choice, bool alone, const char *table, const char *message) {
  struct nai_trace *trace = NULL;
  struct nai_err err = {0};
  struct nai_buf rows = {0};
  char reader[16];
  const struct nai_trace_options options = {.reader = choice};
  if (nai_trace_open(&trace, path, &options, &err))
    fail_msg("%s", err.msg);
  if (alone)
    trace->pages_refused = "it is not to";
  int rc = dump_scan(&rows, reader, trace, nai_trace_table(trace, table), IN_ORDER, 2, &err);
  if (rc != NAI_EINPUT || !strstr(err.msg, message) || !strstr(err.msg, table))
    fail_msg("%d \"%s\", expected \"%s\"", rc, err.msg, message);
  nai_buf_free(&rows);
  nai_trace_close(trace);
}

/* Each reader by itself. */
static void must_notice_with(enum nai_reader_choice choice, const char *table, const char *message) {
  must_be_noticed(choice, choice == NAI_READER_SQLITE, table, message);
}

static void must_notice(const char *table, const char *message) { must_notice_with(NAI_READER_DIRECT, table, message); }

enum { PAGE = 512, MAX_PAGES = 64 };

/* The interior pages and the leaves of table "events", in the order of their rows. */
struct pages {
  uint32_t interior[MAX_PAGES], leaves[MAX_PAGES], interior_count, leaf_count;
};

static void find_pages(struct pages *pages) {
  sqlite3 *db;
  sqlite3_stmt *stmt;
  *pages = (struct pages){.leaf_count = 0};
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(
                       db,
                       "SELECT pageno, pagetype = 'leaf' FROM dbstat WHERE name = 'events' AND pagetype <> 'overflow' "
                       "ORDER BY path",
                       -1, &stmt, NULL),
                   SQLITE_OK);
  while (sqlite3_step(stmt) == SQLITE_ROW && pages->interior_count < MAX_PAGES && pages->leaf_count < MAX_PAGES) {
    uint32_t page = (uint32_t)sqlite3_column_int(stmt, 0);
    if (sqlite3_column_int(stmt, 1))
      pages->leaves[pages->leaf_count++] = page;
    else
      pages->interior[pages->interior_count++] = page;
  }
  sqlite3_finalize(stmt);
  sqlite3_close(db);
  assert_true(pages->leaf_count > 3 && pages->interior_count > 0);
}

/* Damage that leaves every page readable, so that SQLite delivers rows, but wrong ones. */
TEST(test_wrong_pages) {
  struct nai_buf content = {0};
  struct pages all;
  char swap[PAGE];
  make_seed(&content, PAGE);
  find_pages(&all);
  const uint32_t *leaves = all.leaves, *pages = all.interior;
  char *first = content.data + (leaves[0] - 1) * PAGE, *third = content.data + (leaves[2] - 1) * PAGE;
  char *root = content.data + (pages[0] - 1) * PAGE;

  memcpy(swap, first, PAGE);
  memcpy(first, third, PAGE);
  memcpy(third, swap, PAGE);
  write_content(content.data, content.len);
  must_notice("events", "out of order");
  must_notice_with(NAI_READER_SQLITE, "events", "out of order");
  memcpy(third, first, PAGE);
  memcpy(first, swap, PAGE);

  memcpy(swap, root, PAGE);
  for (int i = 0; i < 4; i++) /* the right-most child becomes the root itself */
    root[8 + i] = (char)(pages[0] >> (24 - 8 * i));
  write_content(content.data, content.len);
  must_notice("events", "part of something else");
  for (int i = 0; i < 4; i++)
    root[8 + i] = '\x7f';
  write_content(content.data, content.len);
  must_notice("events", "not in the file");
  memcpy(root, swap, PAGE);

  first[0] = 0x0a; /* an index leaf */
  write_content(content.data, content.len);
  must_notice("events", "not a leaf page");
  nai_buf_free(&content);
}

/* A leaf that lost its rows is none that SQLite wrote, wherever it stands; nor is one that is met twice. */
TEST(test_lost_and_repeated_leaves) {
  struct nai_buf content = {0};
  struct pages all;
  make_seed(&content, PAGE);
  find_pages(&all);
  for (uint32_t i = 0; i < all.leaf_count; i++) {
    char *cells = content.data + (size_t)(all.leaves[i] - 1) * PAGE + 3, before[2] = {cells[0], cells[1]};
    cells[0] = cells[1] = 0;
    write_content(content.data, content.len);
    must_notice_with(NAI_READER_DIRECT, "events", "has none");
    must_notice_with(NAI_READER_SQLITE, "events", "Fragmentation");
    cells[0] = before[0], cells[1] = before[1];
  }
  char *second = content.data + (size_t)(all.leaves[1] - 1) * PAGE, kept[PAGE];
  memcpy(kept, second, PAGE);
  memcpy(second, content.data + (size_t)(all.leaves[0] - 1) * PAGE, PAGE);
  write_content(content.data, content.len);
  must_notice_with(NAI_READER_DIRECT, "events", "out of order");
  must_notice_with(NAI_READER_SQLITE, "events", "out of order");
  nai_buf_free(&content);
}

/* Page number of a table's leaf, counted in the order of its rows. */
static uint32_t leaf_of(const char *table, int number) {
  sqlite3 *db;
  sqlite3_stmt *stmt;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  char *sql = sqlite3_mprintf("SELECT pageno FROM dbstat WHERE name = %Q AND pagetype = 'leaf' ORDER BY path LIMIT 1 "
                              "OFFSET %d",
                              table, number);
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
  uint32_t page = (uint32_t)sqlite3_column_int(stmt, 0);
  sqlite3_finalize(stmt);
  sqlite3_free(sql);
  sqlite3_close(db);
  return page;
}

static void exchange_pages(char *data, uint32_t a, uint32_t b) {
  char kept[PAGE];
  memcpy(kept, data + (size_t)(a - 1) * PAGE, PAGE);
  memcpy(data + (size_t)(a - 1) * PAGE, data + (size_t)(b - 1) * PAGE, PAGE);
  memcpy(data + (size_t)(b - 1) * PAGE, kept, PAGE);
}

/* SQLite finds rows by searching: on pages out of place it finds fewer than there are, and says nothing. */
TEST(test_rows_that_a_search_misses) {
  struct nai_buf content = {0};
  struct nai_err err;
  struct nai_trace *trace = NULL;
  struct nai_lookup *lookup = NULL;
  seed_database(path, PAGE, 3000); /* so many that the SQLite reader reads them in parts, and with gaps */
  assert_int_equal(nai_fs_read(&content, path, 64 << 20, NAI_EINPUT, &err), NAI_OK);
  uint32_t a = leaf_of("events", 0), b = leaf_of("events", 1000);
  exchange_pages(content.data, a, b);
  write_content(content.data, content.len);
  must_notice_with(NAI_READER_DIRECT, "events", "out of order");
  must_notice_with(NAI_READER_SQLITE, "events", "out of order");
  exchange_pages(content.data, a, b);
  exchange_pages(content.data, leaf_of("StringIds", 3), leaf_of("StringIds", 200));
  write_content(content.data, content.len);
  for (int reader = NAI_READER_SQLITE; reader <= NAI_READER_DIRECT; reader++) {
    bool found;
    struct nai_cell cell;
    const struct nai_trace_options options = {.reader = (enum nai_reader_choice)reader};
    assert_int_equal(nai_trace_open(&trace, path, &options, &err), NAI_OK);
    int rc = nai_lookup_open(&lookup, trace, "StringIds", 1, &err);
    for (int64_t key = 2; key <= 6000 && !rc; key += 2)
      rc = nai_lookup_get(&found, &cell, lookup, key, &err);
    assert_int_equal(rc, NAI_EINPUT);
    assert_non_null(strstr(err.msg, "out of order"));
    nai_lookup_close(lookup);
    lookup = NULL;
    nai_trace_close(trace);
  }
  nai_buf_free(&content);
}

/* A table of three rows on one page, each with 3 bytes of header and two values of 2 bytes. Returns where the second
 * begins in `content`, which holds the file. */
static unsigned char *three_rows(struct nai_buf *content) {
  enum { CELLS = 8 };
  struct nai_err err;
  sqlite3 *db;
  unlink(path);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db,
                                "PRAGMA page_size=512; CREATE TABLE events(a, b);"
                                "INSERT INTO events VALUES (1000, 2000), (3000, 4000), (5000, 6000)",
                                NULL, NULL, NULL),
                   SQLITE_OK);
  sqlite3_close(db);
  assert_int_equal(nai_fs_read(content, path, 1 << 20, NAI_EINPUT, &err), NAI_OK);
  unsigned char *leaf = (unsigned char *)content->data + PAGE;
  return leaf + (leaf[CELLS + 2] << 8 | leaf[CELLS + 3]);
}

/* A record that claims more bytes than its values have. */
TEST(test_record_longer_than_its_values) {
  struct nai_buf content = {0};
  unsigned char *second = three_rows(&content);
  assert_int_equal(second[0], 7);
  second[0] = 12; /* into the first row, which lies behind it */
  write_content(content.data, content.len);
  must_notice_with(NAI_READER_DIRECT, "events", "does not end");
  must_notice_with(NAI_READER_SQLITE, "events", "Multiple uses");
  nai_buf_free(&content);
}

/* Types at a row's head that make its values end elsewhere: SQLite would deliver the bytes of other values. */
TEST(test_types_that_do_not_fit) {
  enum { TYPES = 3 }; /* behind the payload's length, the rowid and the header's length */
  static const struct {
    unsigned char type;
    const char *message;
  } cases[] = {{1, "does not end"}, {11, "does not end"}, {6, "longer than its row"}};
  struct nai_buf content = {0};
  unsigned char *type = three_rows(&content) + TYPES;
  assert_int_equal(*type, 2);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    *type = cases[i].type;
    write_content(content.data, content.len);
    must_be_noticed(NAI_READER_DIRECT, false, "events", cases[i].message);
    must_be_noticed(NAI_READER_SQLITE, false, "events", cases[i].message);
  }
  nai_buf_free(&content);
}

/* An empty table is a leaf without rows, and nothing is wrong with it. */
TEST(test_empty_table) {
  sqlite3 *db;
  struct readers_outcome outcome = {0};
  unlink(path);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT)", NULL, NULL, NULL),
                   SQLITE_OK);
  sqlite3_close(db);
  readers_agree(&outcome, path);
  assert_int_equal(outcome.direct_failed + outcome.sqlite_failed, 0);
  assert_true(outcome.both_read > 0);
  outcome = (struct readers_outcome){0};
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db,
                                "INSERT INTO StringIds VALUES (1, 'a'), (2, 'b'); DELETE FROM StringIds WHERE id > 0",
                                NULL, NULL, NULL),
                   SQLITE_OK);
  sqlite3_close(db);
  readers_agree(&outcome, path);
  assert_int_equal(outcome.direct_failed + outcome.sqlite_failed, 0);
}

/* A table of one page that says it has no rows, where rows still stand. */
TEST(test_only_page_lost_its_rows) {
  sqlite3 *db;
  struct nai_buf content = {0};
  struct nai_err err;
  unlink(path);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(
      sqlite3_exec(db, "PRAGMA page_size = 512; CREATE TABLE events(a, b); INSERT INTO events VALUES (1, 2), (3, 4)",
                   NULL, NULL, NULL),
      SQLITE_OK);
  sqlite3_close(db);
  assert_int_equal(nai_fs_read(&content, path, 1 << 20, NAI_EINPUT, &err), NAI_OK);
  assert_int_equal(content.data[PAGE], 0x0d);
  assert_int_equal(content.data[PAGE + 4], 2);
  content.data[PAGE + 4] = 0;
  write_content(content.data, content.len);
  must_notice_with(NAI_READER_DIRECT, "events", "belong to no row");
  must_notice_with(NAI_READER_SQLITE, "events", "Fragmentation");
  nai_buf_free(&content);
}

UNIT_FIXTURE(make_path, remove_path)
