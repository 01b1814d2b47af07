/* A finished run that somebody forged: cells of its tables are changed, and the files are whole. It is compared, put
 * into an index and a store, and asked. Whatever it says, there is an answer or one message. */
#include "features/compare/write.h"
#include "index/index.h"
#include "pipeline/analyze.h"
#include "features/ask/question.h"
#include "features/nights/store.h"

#include "bases.h"
#include "changes.h"
#include "write_table.h"

#include <jansson.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_TABLES = 192, MAX_CHANGES = 8 };
static const char *const scenarios[] = {"steps", "collectives", "host-bound", "graphs-node"};
enum { BASES = sizeof scenarios / sizeof *scenarios };
struct base {
  char as_it_was[PATH_MAX], forged[PATH_MAX]; /* two runs of one program */
  struct nai_run *run;                        /* the second, its tables as they were */
  char *names[MAX_TABLES];
  uint32_t count;
};
static struct base bases[BASES];
static struct nai_intents *intents;

/* --- runs to start from ----------------------------------------------------------------------- */

static void analyze(char out[PATH_MAX], const char *scenario, const char *seed) {
  char trace[PATH_MAX], how[64];
  struct nai_options options;
  struct nai_result result = {0};
  struct nai_err err = {0};
  snprintf(how, sizeof how, "--scale 0.02 --force --seed %s", seed);
  bases_generate(trace, scenario, how);
  snprintf(out, PATH_MAX, "%s/%s-%s", bases_directory(), scenario, seed);
  nai_options_init(&options);
  options.trace = trace;
  options.out = out;
  options.threads = 1;
  options.map_nvtx = true;
  bases_must(nai_analyze(&result, &options, NULL, &err), &err);
  nai_result_free(&result);
}

static void make_base(struct base *b, const char *scenario) {
  struct nai_err err = {0};
  const struct nai_table *table;
  analyze(b->as_it_was, scenario, "1");
  analyze(b->forged, scenario, "2");
  bases_must(nai_run_open(&b->run, b->forged, &err), &err);
  const struct nai_manifest *m = nai_run_manifest(b->run);
  for (uint32_t n = 0; n < m->node_count; n++)
    for (uint32_t t = m->nodes[n].table; t < m->nodes[n].table_end && b->count < MAX_TABLES; t++) {
      const char *name = nai_manifest_name(m, m->entries[t].name);
      bases_must(nai_run_table(&table, b->run, name, NULL, &err), &err);
      b->names[b->count++] = strdup(name);
    }
}

/* Writes the table with those of the changes that are about it, or as it was. */
static void put_table(const struct base *b, uint32_t number, const struct change *changes, size_t count) {
  char path[PATH_MAX];
  struct nai_err err = {0};
  const struct nai_table *from = nai_run_find_loaded(b->run, b->names[number]);
  struct nai_table *copy = changes_copy(from);
  for (size_t i = 0; i < count; i++)
    if (changes[i].table % b->count == number)
      changes_apply(copy, &changes[i]);
  if (!nai_run_table_path(path, sizeof path, b->run, b->names[number]))
    abort();
  unlink(path);
  bases_must(write_table(copy, path, from->key, &err), &err);
  nai_table_free(copy);
}

/* --- what is done with it --------------------------------------------------------------------- */

static int checked(int rc, const struct nai_err *err) {
  if (rc && (rc != err->code || !*err->msg))
    abort();
  return rc;
}

static void check_json(struct nai_buf *text) {
  json_t *root = json_loadb(nai_buf_str(text), text->len, JSON_REJECT_DUPLICATES, NULL);
  if (!root)
    abort();
  json_decref(root);
  nai_buf_clear(text);
}

static void write_all(const struct nai_comparison *c) {
  struct nai_buf text = {0};
  struct nai_err err = {0}, unread = {0};
  checked(nai_write_markdown(&text, c, &err), &err);
  nai_write_verdict(&text, c);
  nai_write_junit(&text, c, "series");
  nai_write_prometheus(&text, c, "series");
  nai_write_annotations(&text, c);
  checked(nai_write_html(&text, &unread, c, NULL, &err), &err);
  nai_buf_clear(&text);
  nai_write_compare_json(&text, c);
  check_json(&text);
  nai_write_bmf(&text, c, "series");
  check_json(&text);
  nai_write_benchmark(&text, c, "series", true);
  check_json(&text);
  nai_buf_free(&text);
}

static void compare(const struct base *b, bool forged_first) {
  const char *const paths[NAI_SIDES] = {forged_first ? b->forged : b->as_it_was,
                                        forged_first ? b->as_it_was : b->forged};
  struct nai_comparison c = NAI_COMPARISON;
  struct nai_budgets budgets;
  struct nai_err err = {0};
  int rc = NAI_OK;
  nai_budgets_default(&budgets);
  for (int side = 0; side < NAI_SIDES && !rc; side++) {
    struct nai_run *run = NULL;
    bases_must(nai_run_open(&run, paths[side], &err), &err);
    rc = checked(nai_comparison_add(&c, (enum nai_side_id)side, run, paths[side], &err), &err);
  }
  if (!rc && !checked(nai_compare(&c, &(struct nai_compare_options){.budgets = &budgets}, &err), &err)) {
    (void)nai_gate_of(&c);
    write_all(&c);
  }
  nai_comparison_free(&c);
  nai_budgets_free(&budgets);
}

static void add_to_index(const struct base *b) {
  struct nai_index index;
  struct nai_buf text = {0};
  struct nai_err err = {0};
  bases_must(nai_index_new(&index, &err), &err);
  const struct RUNS_row run = NAI_ROW(RUNS, .run_id = "a", .series = "n/e", .path = "a");
  int64_t row = nai_index_add(&index, &run);
  if (!checked(nai_index_add_capture(&index, row, 0, b->forged, "a", &err), &err) &&
      !checked(nai_index_write(&index, bases_directory(), &err), &err))
    checked(nai_index_markdown(&text, &index, &err), &err);
  nai_buf_free(&text);
  nai_index_free(&index);
}

static void ask(const struct base *b, uint8_t which) {
  static const char *const questions[] = {"why is it slow", "how much communication is hidden",
                                          "which kernels are slow", "what is the GPU waiting for"};
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_answer answer;
  struct nai_run *run = NULL;
  struct nai_err err = {0};
  struct nai_buf environment = {0};
  bases_must(nai_run_open(&run, b->forged, &err), &err);
  checked(nai_store_environment(&environment, run, "", &err), &err);
  nai_buf_free(&environment);
  checked(nai_question_ask(&answer, intents, run, questions[which % 4], "run", &arena, &err), &err);
  nai_run_close(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct change changes[MAX_CHANGES];
  struct nai_err err = {0};
  if (!intents)
    bases_must(nai_intents_load(&intents, NULL, 0, &err), &err);
  if (!size)
    return 0;
  struct base *b = &bases[data[0] % BASES];
  size_t count = (size - 1) / sizeof *changes < MAX_CHANGES ? (size - 1) / sizeof *changes : MAX_CHANGES;
  memcpy(changes, data + 1, count * sizeof *changes);
  if (!b->run)
    make_base(b, scenarios[data[0] % BASES]);
  for (size_t i = 0; i < count; i++)
    put_table(b, changes[i].table % b->count, changes, count);
  compare(b, data[0] & 0x80);
  add_to_index(b);
  if (data[0] & 0x40) /* starts a process */
    ask(b, data[0] >> 4);
  for (size_t i = 0; i < count; i++)
    put_table(b, changes[i].table % b->count, NULL, 0);
  return 0;
}
