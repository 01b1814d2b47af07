/* Statements over tables that no program would have written. */
#include "unit.h"

#include "query/query.h"
#include "tables/api_events.h"

#include <stdlib.h>
#include <string.h>

/* Every event table without rows, held. */
static struct nai_run *empty_run(void) {
  struct nai_run *run;
  assert_int_equal(nai_run_new(&run, NULL), 0);
  for (int i = 0; i < NAI_IN_COUNT; i++) {
    struct nai_table *table;
    assert_int_equal(nai_table_new(&table, nai_event_tables[i], NULL), 0);
    assert_int_equal(nai_run_add(run, table, NULL), 0);
  }
  return run;
}

struct seen {
  int64_t rows, last;
  uint32_t columns;
};

static int begin(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err) {
  (void)columns, (void)err;
  ((struct seen *)ctx)->columns = count;
  return 0;
}

static int put_row(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  struct seen *seen = ctx;
  (void)err;
  seen->rows++;
  seen->last = cells[0].null ? NAI_NULL_I64 : cells[0].i;
  return 0;
}

static int ask(struct seen *seen, struct nai_run *run, const char *sql, struct nai_query_limits limits,
               struct nai_err *err) {
  const struct nai_query_text text = {.sql = sql, .label = "sql"};
  const struct nai_query query = {.run = run, .text = &text, .limits = limits};
  bool truncated;
  *seen = (struct seen){0};
  *err = (struct nai_err){0};
  int rc = nai_query_run(&truncated, &query, &(struct nai_query_sink){begin, put_row, seen}, err);
  return rc ? rc : truncated;
}

static const struct nai_query_limits all = {.rows = -1};

/* A call on a thread that is not there must not be looked up, whether or not the statement opened its table before. */
TEST(forged_references) {
  static const char *const statements[] = {
      "select call from kernel_launches",
      "select call from kernel_launches, api_events, threads, processes, memop_events"};
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
    struct nai_run *run = empty_run();
    struct nai_table *calls = nai_run_find_loaded(run, "api_events"),
                     *kernels = nai_run_find_loaded(run, "kernel_events");
    struct seen seen;
    struct nai_err err;
    nai_table_add_row(kernels);
    nai_set_i64(calls, nai_table_add_row(calls), API_EVENTS_thread, 99);
    for (int t = 0; t < 4; t++) {
      static const char *const names[] = {"threads", "processes", "memop_events", "gpus"};
      nai_table_add_row(nai_run_find_loaded(run, names[t]));
    }
    assert_int_equal(ask(&seen, run, statements[i], all, &err), NAI_EINPUT);
    assert_non_null(strstr(err.msg, "thread is 99"));
    nai_run_close(run);
  }
}

/* Tables of a query are made of those before them; others of no use are not even prepared. */
TEST(tables_of_a_query) {
  static const struct nai_query_table tables[] = {{"three", "select 1 as n union all select 2 union all select 3"},
                                                  {"of_no_use", "select nonsense from nowhere"},
                                                  {"sums", "select a.n + b.n + :add as n from three a join three b"},
                                                  {"circle", "select n from circle"},
                                                  {"writes", "select 1; create table more (x)"},
                                                  {"early", "select n from late"},
                                                  {"late", "select 1 as n"},
                                                  {"wrong", "select m from three"}};
  static const struct {
    const char *sql, *error; /* NULL: 9 rows, the last of them 16 */
  } cases[] = {{"select n from sums where n <= (select max(n) + 13 from three) order by n", NULL},
               {"select n from circle", "table circle"},
               {"select 1 from writes", "one statement at a time"},
               {"select n from early", "no such table: late"},
               {"select m from wrong", "table wrong"},
               {"create temp table mine as select n from three", "only read"},
               {"insert into three values (4)", "only read"}};
  static const struct nai_query_parameter add = {"add", {.type = NAI_I64, .i = 10}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nai_run *run = empty_run();
    const struct nai_query_text text = {.sql = cases[i].sql, .label = "sql"};
    struct nai_query query = {.run = run,
                              .text = &text,
                              .tables = tables,
                              .table_count = sizeof tables / sizeof *tables,
                              .parameters = &add,
                              .parameter_count = 1,
                              .limits = {.rows = -1}};
    struct seen seen = {0};
    struct nai_err err = {0};
    bool truncated;
    int rc = nai_query_run(&truncated, &query, &(struct nai_query_sink){begin, put_row, &seen}, &err);
    assert_int_equal(rc, cases[i].error ? NAI_EUSAGE : 0);
    if (cases[i].error) {
      assert_non_null(strstr(err.msg, cases[i].error));
    } else {
      assert_int_equal(seen.rows, 9);
      assert_int_equal(seen.last, 16);
    }
    nai_run_close(run);
  }
}

TEST(table_of_a_query_that_the_run_has) {
  static const struct nai_query_table table = {"api_events", "select 1 as n"};
  struct nai_run *run = empty_run();
  const struct nai_query_text text = {.sql = "select n from api_events", .label = "sql"};
  const struct nai_query query = {
      .run = run, .text = &text, .tables = &table, .table_count = 1, .limits = {.rows = -1}};
  struct seen seen = {0};
  struct nai_err err = {0};
  bool truncated;
  assert_int_equal(nai_query_run(&truncated, &query, &(struct nai_query_sink){begin, put_row, &seen}, &err),
                   NAI_EUSAGE);
  assert_non_null(strstr(err.msg, "the run has a table api_events"));
  nai_run_close(run);
}

/* Values at both ends of what a column holds, and NULLs: found by value whether the column is in order or not. */
TEST(extreme_values) {
  static const int64_t values[] = {INT64_MAX, NAI_NULL_I64, -1, INT64_MIN + 1, 0, NAI_NULL_I64, INT64_MAX, 7};
  struct nai_run *run = empty_run();
  struct nai_table *table = nai_run_find_loaded(run, "api_events");
  struct seen seen;
  struct nai_err err;
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    nai_set_i64(table, nai_table_add_row(table), API_EVENTS_correlation_id, values[i]);
  assert_int_equal(
      ask(&seen, run, "select rowid from api_events where correlation_id = 9223372036854775807", all, &err), 0);
  assert_int_equal(seen.rows, 2);
  assert_int_equal(seen.last, 6);
  assert_int_equal(
      ask(&seen, run, "select rowid from api_events where correlation_id = -9223372036854775807", all, &err), 0);
  assert_int_equal(seen.rows, 1);
  assert_int_equal(ask(&seen, run, "select count(*) from api_events group by correlation_id", all, &err), 0);
  assert_int_equal(seen.rows, 6);
  assert_int_equal(ask(&seen, run, "select count(*) from api_events where correlation_id > 1e300", all, &err), 0);
  assert_int_equal(seen.last, 0);
  nai_run_close(run);
}

TEST(rows_and_time) {
  static const char endless[] = "with recursive a(x) as (select 1 union all select x + 1 from a) select x from a";
  struct nai_run *run = empty_run();
  struct seen seen;
  struct nai_err err;
  assert_int_equal(ask(&seen, run, endless, (struct nai_query_limits){.rows = 3}, &err), true);
  assert_int_equal(seen.rows, 3);
  assert_int_equal(ask(&seen, run, endless, (struct nai_query_limits){.rows = 0}, &err), true);
  assert_int_equal(seen.columns, 1);
  assert_int_equal(ask(&seen, run, endless, (struct nai_query_limits){.timeout_s = 0.1, .rows = -1}, &err), NAI_ELIMIT);
  assert_int_equal(ask(&seen, run, "select * from gpus", all, &err), 0);
  assert_int_equal(seen.rows, 0);
  nai_run_close(run);
}
