/* The artifacts directory: refused targets, the swap, foreign files, leftovers of killed runs. */
#include "model_fixture.h"

#include "base/fs.h"
#include "pipeline/outdir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static int setup(void **state) {
  (void)state;
  strcpy(root, "/tmp/nai-outdir-XXXXXX");
  return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  struct nai_err err;
  return nai_fs_remove_tree(root, &err);
}

static const char *at(const char *name) {
  static char paths[4][256];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", root, name);
  return path;
}

static void put(const char *path, const char *text) {
  char *copy = strdup(path), *slash = strrchr(copy, '/');
  *slash = '\0';
  ok(nai_fs_mkdir_all(copy, err));
  free(copy);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static void expect(const char *name, const char *text) {
  struct nai_buf got = {0};
  ok(nai_fs_read(&got, at(name), 1000, NAI_EIO, err));
  assert_string_equal(nai_buf_str(&got), text);
  nai_buf_free(&got);
}

static int entries(const char *path) {
  DIR *dir = opendir(path);
  int n = -2;
  assert_non_null(dir);
  while (readdir(dir))
    n++;
  closedir(dir);
  return n;
}

static bool ours(void *ctx, const char *directory, const char *path) {
  (void)directory;
  (void)ctx;
  return strcmp(path, "report.md") == 0 || strcmp(path, "stages/manifest.json") == 0 ||
         strcmp(path, "tables/old.csv") == 0;
}

static void run_once(const char *name, const char *text) {
  struct nai_outdir out;
  char path[512];
  ok(nai_outdir_begin(&out, at(name), err));
  snprintf(path, sizeof path, "%s/report.md", out.work);
  put(path, text);
  snprintf(path, sizeof path, "%s/stages/manifest.json", out.work);
  put(path, "{}");
  snprintf(path, sizeof path, "%s/tables/new.csv", out.work);
  put(path, "new");
  ok(nai_outdir_commit(&out, ours, NULL, err));
  nai_outdir_end(&out);
}

static void test_new_and_again(void **state) {
  (void)state;
  run_once("deep/er/out", "one");
  expect("deep/er/out/report.md", "one");
  put(at("deep/er/out/tables/old.csv"), "stale table of ours");
  put(at("deep/er/out/tables/mine.txt"), "a user's");
  put(at("deep/er/out/notes/mine.txt"), "a user's too");
  run_once("deep/er/out", "two");
  expect("deep/er/out/report.md", "two");
  expect("deep/er/out/tables/mine.txt", "a user's");
  expect("deep/er/out/notes/mine.txt", "a user's too");
  assert_int_not_equal(access(at("deep/er/out/tables/old.csv"), F_OK), 0);
  assert_int_equal(entries(at("deep/er")), 1); /* nothing left beside it */
}

static void test_empty_directory(void **state) {
  (void)state;
  mkdir(at("empty"), 0700);
  run_once("empty/", "x");
  expect("empty/report.md", "x");
}

static void test_refused(void **state) {
  (void)state;
  struct nai_outdir out;
  struct nai_err err = {0};
  put(at("file"), "precious");
  assert_int_equal(nai_outdir_begin(&out, at("file"), &err), NAI_EUSAGE);
  nai_outdir_end(&out);
  expect("file", "precious");
  put(at("dir/precious"), "keep");
  assert_int_equal(nai_outdir_begin(&out, at("dir"), &err), NAI_EUSAGE);
  nai_outdir_end(&out);
  expect("dir/precious", "keep");
  assert_int_equal(nai_outdir_begin(&out, at("file/below"), &err), NAI_EIO);
  nai_outdir_end(&out);
  assert_int_equal(entries(root), 2);
}

static void test_link(void **state) {
  (void)state;
  mkdir(at("real"), 0700);
  assert_int_equal(symlink("real", at("link")), 0);
  run_once("link", "through");
  expect("real/report.md", "through");
  struct stat st;
  assert_true(lstat(at("link"), &st) == 0 && S_ISLNK(st.st_mode));
}

static void test_uncommitted(void **state) {
  (void)state;
  struct nai_outdir out;
  run_once("out", "old");
  ok(nai_outdir_begin(&out, at("out"), err));
  nai_outdir_end(&out);
  expect("out/report.md", "old");
  assert_int_equal(entries(root), 1);
}

/* What a killed run left goes; what a living one writes stays. */
static void test_sweep(void **state) {
  (void)state;
  put(at(".out.nsys-ai-run.dead01/report.md"), "half");
  put(at(".out.nsys-ai-run.alive1/report.md"), "half");
  put(at(".other.nsys-ai-run.x/report.md"), "somebody else's");
  int fd = open(at(".out.nsys-ai-run.alive1"), O_RDONLY | O_DIRECTORY);
  assert_int_equal(flock(fd, LOCK_EX), 0);
  run_once("out", "x");
  assert_int_not_equal(access(at(".out.nsys-ai-run.dead01"), F_OK), 0);
  expect(".out.nsys-ai-run.alive1/report.md", "half");
  expect(".other.nsys-ai-run.x/report.md", "somebody else's");
  close(fd);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_new_and_again, setup, teardown),
                                     cmocka_unit_test_setup_teardown(test_empty_directory, setup, teardown),
                                     cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
                                     cmocka_unit_test_setup_teardown(test_link, setup, teardown),
                                     cmocka_unit_test_setup_teardown(test_uncommitted, setup, teardown),
                                     cmocka_unit_test_setup_teardown(test_sweep, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
