/* Limits of control groups. */
#include "unit.h"

#include "base/fs.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char root[] = "/tmp/nai-cgroup-XXXXXX";

static void write_text(const char *name, const char *text) {
  char path[256], above[256];
  struct nai_err err;
  snprintf(path, sizeof path, "%s/%s", root, name);
  snprintf(above, sizeof above, "%.*s", (int)(strrchr(path, '/') - path), path);
  assert_int_equal(nai_fs_mkdir_all(above, &err), 0);
  assert_int_equal(nai_fs_write(path, text, strlen(text), &err), 0);
}

static int64_t limit_of(const char *membership) {
  char path[256];
  write_text("membership", membership);
  snprintf(path, sizeof path, "%s/membership", root);
  return nai_memory_of_cgroup(path, root);
}

/* A group is bound by its own limit and by those of the groups around it. */
TEST(test_cgroup) {
  write_text("a/memory.max", "1000000\n");
  write_text("a/b/memory.max", "max\n");
  write_text("a/c/memory.max", "4096\n");
  assert_int_equal(limit_of("0::/a\n"), 1000000);
  assert_int_equal(limit_of("0::/a/b\n"), 1000000);
  assert_int_equal(limit_of("4:memory:/x\n0::/a/c\n"), 4096);
  assert_int_equal(limit_of("0::/a/none\n"), 1000000);
  assert_int_equal(limit_of("0::/\n"), INT64_MAX);
  assert_int_equal(limit_of("1:name=0::/a\n"), INT64_MAX);
  assert_int_equal(limit_of(""), INT64_MAX);
  write_text("memory/job/memory.limit_in_bytes", "5000\n"); /* version 1, as older clusters have it */
  write_text("memory/job/step/memory.limit_in_bytes", "9223372036854771712\n");
  assert_int_equal(limit_of("3:cpuset:/x\n4:memory:/job/step\n0::/a\n"), 5000);
  assert_int_equal(limit_of("4:cpu,memory:/job\n"), 5000);
  assert_int_equal(limit_of("4:cpu,memory2:/job\n"), INT64_MAX);
  assert_int_equal(limit_of("4:memory:/\n"), INT64_MAX);
  write_text("memory.max", "77\n"); /* a container sees its own group as the root */
  assert_int_equal(limit_of("0::/\n"), 77);
}

static int make_root(void **state) {
  (void)state;
  return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
  (void)state;
  return nai_fs_remove_tree(root, NULL);
}

UNIT_FIXTURE(make_root, remove_root)
