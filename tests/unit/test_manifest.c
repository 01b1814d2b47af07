/* stages/manifest.json: what is printed is read back; anything else is an empty manifest. */
#include "model_fixture.h"

#include "base/fs.h"
#include "pipeline/manifest.h"
#include "pipeline/outdir.h"

#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>

static char root[64];

static void write_manifest(const char *text, size_t len) {
  char path[128];
  strcpy(root, "/tmp/nai-manifest-XXXXXX");
  assert_non_null(mkdtemp(root));
  snprintf(path, sizeof path, "%s/stages", root);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/%s", root, NAI_OUTDIR_MARK);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fwrite(text, 1, len, f);
  fclose(f);
}

static void read_manifest(struct nai_manifest *m, const char *text, size_t len) {
  write_manifest(text, len);
  nai_manifest_read(m, root);
  ok(nai_fs_remove_tree(root, err));
}

static void print(struct nai_buf *out) {
  struct nai_manifest m = {.stages = {{"probe", 1}, {"extract", UINT64_MAX}, {"render", 0x0123456789abcdef}},
                           .stage_count = 3};
  nai_strings_add(&m.files, "report.md", 9);
  nai_strings_add(&m.files, "tables/odd \"name\".csv", 21);
  nai_manifest_print(out, &m, "1.2.3", "trace \\ \"x\".sqlite", 77, NULL);
  nai_manifest_free(&m);
}

static void test_round_trip(void **state) {
  (void)state;
  struct nai_buf text = {0};
  struct nai_manifest m;
  print(&text);
  json_t *json = json_loads(nai_buf_str(&text), 0, NULL);
  assert_string_equal(json_string_value(json_object_get(json, "trace")), "trace \\ \"x\".sqlite");
  json_decref(json);
  read_manifest(&m, nai_buf_str(&text), text.len);
  assert_int_equal(m.stage_count, 3);
  assert_true(nai_manifest_has(&m, "probe", 1));
  assert_true(nai_manifest_has(&m, "extract", UINT64_MAX));
  assert_true(nai_manifest_has(&m, "render", 0x0123456789abcdef));
  assert_false(nai_manifest_has(&m, "probe", 2));
  assert_false(nai_manifest_has(&m, "analyze", 1));
  assert_int_equal(m.files.count, 2);
  assert_string_equal(nai_strings_get(&m.files, 1), "tables/odd \"name\".csv");
  nai_manifest_free(&m);
  nai_buf_free(&text);
}

/* Cut anywhere, a manifest names no stage to reuse. */
static void test_cut(void **state) {
  (void)state;
  struct nai_buf text = {0};
  print(&text);
  for (size_t len = 0; len + 2 < text.len; len += 3) {
    struct nai_manifest m;
    read_manifest(&m, nai_buf_str(&text), len);
    assert_int_equal(m.stage_count, 0);
    nai_manifest_free(&m);
  }
  nai_buf_free(&text);
}

static void test_foreign(void **state) {
  (void)state;
  static const char *const texts[] = {"[]",
                                      "{}",
                                      "\"x\"",
                                      "{\"format\": 1, \"stages\": 5, \"files\": []}",
                                      "{\"format\": 99, \"stages\": {}, \"files\": []}",
                                      "{\"format\": 1, \"stages\": {\"probe\": [1]}, \"files\": [[]]}",
                                      "\xff\xfe"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct nai_manifest m;
    read_manifest(&m, texts[i], strlen(texts[i]));
    assert_false(nai_manifest_has(&m, "probe", 1));
    nai_manifest_free(&m);
  }
  struct nai_manifest none;
  nai_manifest_read(&none, "/nonexistent");
  assert_int_equal(none.stage_count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_cut),
                                     cmocka_unit_test(test_foreign)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
