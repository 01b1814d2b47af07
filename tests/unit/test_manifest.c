/* stages/manifest.json: what is printed is read back; anything else is an empty manifest. */
#include "model_fixture.h"

#include "base/fs.h"
#include "rundir/manifest.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static void read_manifest(struct nai_manifest *m, const char *text, size_t len) {
  char path[128];
  strcpy(root, "/tmp/nai-manifest-XXXXXX");
  assert_non_null(mkdtemp(root));
  snprintf(path, sizeof path, "%s/stages", root);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/" NAI_MANIFEST_PATH, root);
  ok(nai_fs_write(path, text, len, err));
  int fd = open(root, O_RDONLY | O_DIRECTORY);
  assert_true(fd >= 0);
  ok(nai_manifest_read(m, fd, err));
  close(fd);
  ok(nai_fs_remove_tree(root, err));
}

static void make(struct nai_manifest *m) {
  *m = (struct nai_manifest){.version = "1.2.3", .trace = "trace \\ \"x\".sqlite", .identity = UINT64_MAX};
  nai_strings_add(&m->options, "--trim 1 2", 10);
  nai_manifest_add_node(m, "probe", "probe");
  nai_manifest_add_input(m, "program", 1);
  nai_manifest_add_input(m, "trace", UINT64_MAX);
  nai_manifest_add_table(m, "capture", 7);
  nai_manifest_add_node(m, "empty", NULL);
  nai_manifest_add_node(m, "findings", "recommend");
  nai_manifest_add_input(m, "capture", 7);
  nai_manifest_add_table(m, "findings", 0x0123456789abcdef);
  nai_manifest_add_table(m, "evidence", 9);
  nai_manifest_add_file(m, "report.md");
  nai_manifest_add_file(m, "tables/odd \"name\".csv");
  nai_manifest_add_file(m, NAI_MANIFEST_PATH);
  ok(nai_manifest_check(m, err));
}

static void print(struct nai_buf *out) {
  struct nai_manifest m;
  make(&m);
  nai_manifest_print(out, &m, NULL);
  nai_manifest_free(&m);
}

TEST(test_round_trip) {
  struct nai_buf text = {0};
  struct nai_manifest made, m;
  make(&made);
  print(&text);
  json_t *json = json_loads(nai_buf_str(&text), 0, NULL);
  assert_string_equal(json_string_value(json_object_get(json, "trace")), "trace \\ \"x\".sqlite");
  json_decref(json);
  read_manifest(&m, nai_buf_str(&text), text.len);
  assert_string_equal(m.version, "1.2.3");
  assert_string_equal(m.trace, "trace \\ \"x\".sqlite");
  assert_true(m.identity == UINT64_MAX);
  assert_string_equal(nai_strings_get(&m.options, 0), "--trim 1 2");
  assert_int_equal(m.node_count, 3);
  static const char *const nodes[] = {"probe", "empty", "findings"};
  for (size_t i = 0; i < 3; i++)
    assert_true(nai_manifest_node(&m, nodes[i])->key == nai_manifest_node(&made, nodes[i])->key);
  assert_true(nai_manifest_node(&m, "probe")->key != nai_manifest_node(&m, "findings")->key);
  assert_null(nai_manifest_node(&m, "capture"));
  uint64_t hash;
  assert_true(nai_manifest_table(&hash, &m, "findings") && hash == 0x0123456789abcdef);
  assert_ptr_equal(nai_manifest_maker(&m, "evidence"), nai_manifest_node(&m, "findings"));
  assert_false(nai_manifest_table(&hash, &m, "probe"));
  assert_int_equal(m.files.count, 3);
  assert_string_equal(nai_strings_get(&m.files, 1), "tables/odd \"name\".csv");
  nai_manifest_free(&m);
  nai_manifest_free(&made);
  nai_buf_free(&text);
}

/* Every input counts, by its name, its hash and its place. */
TEST(test_keys) {
  static const struct {
    const char *name;
    uint64_t hash;
  } inputs[][2] = {
      {{"a", 1}, {"b", 2}}, {{"a", 2}, {"b", 1}}, {{"b", 2}, {"a", 1}}, {{"a", 1}, {"c", 2}}, {{"a", 1}, {"b", 0}}};
  enum { WAYS = sizeof inputs / sizeof *inputs };
  struct nai_manifest m = {0};
  for (int i = 0; i < WAYS; i++) {
    nai_manifest_add_node(&m, "n", NULL);
    for (int k = 0; k < 2; k++)
      nai_manifest_add_input(&m, inputs[i][k].name, inputs[i][k].hash);
    for (int before = 0; before < i; before++)
      assert_true(m.nodes[before].key != m.nodes[i].key);
  }
  nai_manifest_free(&m);
}

/* Cut anywhere, a manifest names no node to reuse. */
TEST(test_cut) {
  struct nai_buf text = {0};
  print(&text);
  for (size_t len = 0; len + 2 < text.len; len += 3) {
    struct nai_manifest m;
    read_manifest(&m, nai_buf_str(&text), len);
    assert_int_equal(m.node_count, 0);
    nai_manifest_free(&m);
  }
  nai_buf_free(&text);
}

TEST(test_foreign) {
  static const char *const texts[] = {
      "[]",
      "{}",
      "\"x\"",
      "{\"format_major\": 2, \"nodes\": 5, \"files\": []}",
      "{\"format_major\": 2, \"nodes\": {\"probe\": [1]}, \"files\": [[]]}",
      "{\"format_major\": 99, \"nodes\": {\"probe\": {\"from\": {}, \"tables\": {\"t\": \"1\"}}}}",
      "\xff\xfe"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct nai_manifest m;
    uint64_t hash;
    read_manifest(&m, texts[i], strlen(texts[i]));
    assert_false(nai_manifest_table(&hash, &m, "t"));
    nai_manifest_free(&m);
  }
  struct nai_manifest none;
  struct nai_err failed;
  assert_int_equal(nai_manifest_read(&none, -1, &failed), NAI_EIO); /* not read is not the same as not there */
  assert_int_equal(none.node_count, 0);
}

/* Members and minor versions that come later do not keep today's reader from reading; what another major version wrote
 * is still known as its files. */
TEST(test_versions) {
  static const char later[] =
      "{\"format_major\": 2, \"format_minor\": 7, \"version\": \"1\", \"identity\": \"1\", \"new\": {\"x\": [1]}, \"nodes\": {\"n\": {\"more\": 1, "
      "\"from\": {\"a\": \"1\"}, \"tables\": {\"t\": \"5\"}}}, \"files\": [\"stages/manifest.json\"]}";
  static const char other[] = "{\"format_major\": 7, \"version\": \"9\", \"identity\": \"1\", \"nodes\": [1], "
                              "\"files\": [\"report.md\", \"stages/manifest.json\"]}";
  static const char foreign[] = "{\"format_major\": 2, \"version\": 3, \"files\": [\"report.md\"]}";
  struct nai_manifest m;
  uint64_t hash;
  read_manifest(&m, later, sizeof later - 1);
  assert_true(nai_manifest_table(&hash, &m, "t") && hash == 5);
  nai_manifest_free(&m);
  read_manifest(&m, other, sizeof other - 1);
  assert_int_equal(m.node_count, 0);
  assert_true(m.ours);
  assert_string_equal(nai_strings_get(&m.files, 0), "report.md");
  nai_manifest_free(&m);
  read_manifest(&m, foreign, sizeof foreign - 1); /* a web application's, say: it lists what is not ours */
  assert_false(m.ours);
  assert_int_equal(m.files.count, 0);
  nai_manifest_free(&m);
}
