/* Runs many SQL statements over a run and prints what each returns: RUN, with a statement a line on standard input. A
 * line of JSON per statement: {"rows": [[...], ...]} with integers, reals of 17 digits, texts and null, or {"error":
 * ...}. For tests. */
#include "query/query.h"
#include "table/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct answer {
  struct nai_json json;
  uint32_t columns;
};

static int begin(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err) {
  (void)columns, (void)err;
  ((struct answer *)ctx)->columns = count;
  return NAI_OK;
}

static int put_row(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  struct answer *answer = ctx;
  (void)err;
  nai_json_begin_array(&answer->json, NAI_JSON_INLINE);
  for (uint32_t i = 0; i < answer->columns; i++) {
    char number[40];
    snprintf(number, sizeof number, "%.17g", cells[i].f);
    if (cells[i].null)
      nai_json_text(&answer->json, NULL);
    else if (cells[i].type == NAI_STR)
      nai_json_text(&answer->json, cells[i].s);
    else if (cells[i].type == NAI_F64)
      nai_json_decimal(&answer->json, number);
    else
      nai_json_int(&answer->json, cells[i].i);
  }
  nai_json_end(&answer->json);
  return NAI_OK;
}

static void run_one(struct nai_run *run, const char *sql) {
  struct nai_buf line = {0};
  struct answer answer = {0};
  struct nai_err err = {0};
  bool truncated;
  const struct nai_query_text text = {.sql = sql, .label = "sql"};
  const struct nai_query query = {.run = run, .text = &text, .limits = {20, 0, -1}};
  nai_json_init(&answer.json, &line, false);
  nai_json_begin_object(&answer.json, NAI_JSON_INLINE);
  nai_json_key(&answer.json, "rows");
  nai_json_begin_array(&answer.json, NAI_JSON_INLINE);
  int rc = nai_query_run(&truncated, &query, &(struct nai_query_sink){begin, put_row, &answer}, &err);
  nai_json_end(&answer.json);
  if (rc)
    nai_json_put_text(&answer.json, "error", err.msg);
  nai_json_end(&answer.json);
  nai_json_finish(&answer.json);
  puts(nai_buf_str(&line));
  nai_buf_free(&line);
}

int main(int argc, char **argv) {
  struct nai_run *run = NULL;
  struct nai_err err = {0};
  char *line = NULL;
  size_t size = 0;
  ssize_t len;
  if (argc != 2 || nai_run_open(&run, argv[1], &err)) {
    fprintf(stderr, "%s\n", err.msg);
    return EXIT_FAILURE;
  }
  while ((len = getline(&line, &size, stdin)) > 0) {
    line[len - (line[len - 1] == '\n')] = '\0';
    run_one(run, line);
    fflush(stdout);
  }
  free(line);
  nai_run_close(run);
  return EXIT_SUCCESS;
}
