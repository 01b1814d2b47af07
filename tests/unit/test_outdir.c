/* The artifacts directory: refused targets, the swap, foreign files, leftovers of killed runs. */
#include "model_fixture.h"

#include "base/fs.h"
#include "rundir/outdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];
static char said[4096]; /* by the program */

static int setup(void **state) {
  (void)state;
  *said = '\0';
  strcpy(root, "/tmp/nai-outdir-XXXXXX");
  return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  struct nai_err err;
  return nai_fs_remove_tree(root, &err);
}

static const char *at(const char *name) {
  static char paths[4][512];
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

/* --- runs ------------------------------------------------------------------------------------- */

static void note(const char *line) { strncat(said, line, sizeof said - strlen(said) - 1); }

/* The manifest of these tests: one name per line. */
static int list(struct nai_strings *files, bool *known, int directory, struct nai_err *err) {
  struct nai_buf text = {0};
  struct nai_err missing;
  if (nai_fs_read_at(&text, directory, NAI_MANIFEST_PATH, 10000, NAI_EIO, &missing) == 0 && text.len)
    for (char *save, *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
      if (nai_strings_add(files, line, strlen(line)) == NAI_NO_STRING)
        return nai_err_nomem(err);
  nai_buf_free(&text);
  *known = nai_fs_exists_at(directory, NAI_MANIFEST_PATH);
  return NAI_OK;
}

static struct nai_outdir_calls calls = {.list = list, .note = note};

static void fill(const struct nai_outdir *out, const char *text) {
  static const struct {
    const char *path, *text;
  } files[] = {{"stages/manifest.json", "report.md\nstages/manifest.json\ntables/new.csv\ntables/old.csv\n"},
               {"tables/new.csv", "new"},
               {"report.md", NULL}};
  char path[512];
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    snprintf(path, sizeof path, "%s/%s", nai_outdir_work(out), files[i].path);
    put(path, files[i].text ? files[i].text : text);
  }
}

static int run_with(const char *name, const char *text, const struct nai_outdir_calls *how, struct nai_err *err) {
  struct nai_outdir *out;
  int rc = nai_outdir_begin(&out, at(name), how, err);
  if (!rc) {
    fill(out, text);
    rc = nai_outdir_commit(out, err);
  }
  nai_outdir_end(out);
  return rc;
}

static void run_once(const char *name, const char *text) { ok(run_with(name, text, &calls, err)); }

TEST_WITH(test_new_and_again, setup, teardown) {
  run_once("deep/er/out", "one");
  expect("deep/er/out/report.md", "one");
  put(at("deep/er/out/tables/old.csv"), "stale table of ours");
  put(at("deep/er/out/tables/mine.txt"), "a user's");
  put(at("deep/er/out/stages/mine.ntab"), "a user's too");
  put(at("deep/er/out/mine"), "and this");
  chmod(at("deep/er/out/mine"), 0444);
  assert_int_equal(symlink("/nowhere", at("deep/er/out/link")), 0);
  for (int i = 0; i < 3; i++) {
    run_once("deep/er/out", "two");
    expect("deep/er/out/report.md", "two");
    expect("deep/er/out/tables/mine.txt", "a user's");
    expect("deep/er/out/stages/mine.ntab", "a user's too");
    expect("deep/er/out/mine", "and this");
    char target[64] = "";
    assert_int_equal(readlink(at("deep/er/out/link"), target, sizeof target), strlen("/nowhere"));
    assert_int_not_equal(access(at("deep/er/out/tables/old.csv"), F_OK), 0);
    assert_int_equal(entries(at("deep/er")), 1); /* nothing left beside it */
    assert_int_equal(entries(at("deep/er/out")), 5);
  }
  assert_string_equal(said, "");
}

/* Names that the new run writes as well: nothing is overwritten, whatever has been kept before. */
TEST_WITH(test_same_names, setup, teardown) {
  run_once("out", "one");
  put(at("out/stages/manifest.json"), "stages/manifest.json\nreport.md\n"); /* tables/new.csv is the user's now */
  put(at("out/tables/new.csv"), "mine");
  put(at("out/tables/new.csv.kept"), "kept before");
  put(at("out/tables/new.csv.kept.2"), "kept before that");
  for (int i = 0; i < 2; i++) {
    run_once("out", "two");
    expect("out/tables/new.csv", "new");
    expect("out/tables/new.csv.kept", "kept before");
    expect("out/tables/new.csv.kept.2", "kept before that");
    expect("out/tables/new.csv.kept.3", "mine");
    assert_int_equal(entries(at("out/tables")), 4);
  }
}

/* A list that is lost: nothing is taken for ours, whatever its name. */
TEST_WITH(test_lost_list, setup, teardown) {
  run_once("out", "one");
  put(at("out/stages/manifest.json"), "");
  put(at("out/mine"), "mine");
  run_once("out", "two");
  expect("out/report.md", "two");
  expect("out/report.md.kept", "one");
  expect("out/tables/new.csv.kept", "new");
  expect("out/mine", "mine");
}

/* A list that is forged: it does not make ours what no run would call so. */
TEST_WITH(test_forged_list, setup, teardown) {
  run_once("out", "one");
  put(at("precious"), "precious");
  put(at("out/notes.txt"), "mine");
  put(at("out/stages/manifest.json"), "stages/manifest.json\nreport.md\nnotes.txt\n../precious\n");
  run_once("out", "two");
  expect("out/notes.txt", "mine");
  expect("precious", "precious");
}

/* Owner, group and mode are as they were. */
TEST_WITH(test_permissions, setup, teardown) {
  static const struct {
    const char *path;
    mode_t mode;
  } set[] = {{"out", 02750}, {"out/tables", 0700}, {"out/report.md", 0600}};
  struct stat st;
  run_once("out", "one");
  for (size_t i = 0; i < sizeof set / sizeof *set; i++)
    assert_int_equal(chmod(at(set[i].path), set[i].mode), 0);
  run_once("out", "two");
  for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
    assert_int_equal(stat(at(set[i].path), &st), 0);
    assert_int_equal(st.st_mode & 07777, set[i].mode);
  }
}

static void refused(const char *name, int code, const char *why) {
  struct nai_err err = {0};
  assert_int_equal(run_with(name, "not to be", &calls, &err), code);
  if (!strstr(err.msg, why))
    fail_msg("%s", err.msg);
}

TEST_WITH(test_what_cannot_be_linked, setup, teardown) {
  run_once("out", "one");
  put(at("out/photos/me.jpg"), "precious");
  refused("out", NAI_EUSAGE, "directory that is not nsys-ai's: \"photos\"");
  expect("out/photos/me.jpg", "precious");
  assert_int_equal(rename(at("out/photos"), at("out/tables/photos")), 0);
  refused("out", NAI_EUSAGE, "\"tables/photos\"");
  expect("out/tables/photos/me.jpg", "precious");
  assert_int_equal(rename(at("out/tables/photos"), at("photos")), 0);
  assert_int_equal(mkfifo(at("out/pipe"), 0600), 0);
  refused("out", NAI_EUSAGE, "special file: \"pipe\"");
  assert_int_equal(unlink(at("out/pipe")), 0);
  put(at("out/.nsys-ai-work"), "");
  refused("out", NAI_EUSAGE, ".nsys-ai-work");
  expect("out/report.md", "one");
  assert_int_equal(entries(root), 2);
}

/* What changes while a run is at work is looked at before the swap. */
TEST_WITH(test_changed_meanwhile, setup, teardown) {
  struct nai_outdir *out;
  struct nai_err failure;
  run_once("out", "one");
  ok(nai_outdir_begin(&out, at("out"), &calls, err));
  fill(out, "two");
  put(at("out/photos/me.jpg"), "precious");
  put(at("out/late"), "a late file");
  assert_int_equal(nai_outdir_commit(out, &failure), NAI_EUSAGE);
  nai_outdir_end(out);
  expect("out/report.md", "one");
  expect("out/photos/me.jpg", "precious");
  expect("out/late", "a late file");
  assert_int_equal(entries(root), 1);
}

/* --- between the last look and the swap ------------------------------------------------------- */

static void (*before_swap)(void);
static int swaps_left;

static int watched(int from_dir, const char *from, int to_dir, const char *to, unsigned flags) {
  void (*act)(void) = before_swap;
  before_swap = NULL;
  if (act)
    act();
  return renameat2(from_dir, from, to_dir, to, flags);
}

/* A file system that knows rename only, and a kill after some of them. */
static int plain_rename(int from_dir, const char *from, int to_dir, const char *to, unsigned flags) {
  if (flags) {
    errno = EINVAL;
    return -1;
  }
  if (swaps_left-- == 0)
    _exit(0);
  return renameat(from_dir, from, to_dir, to);
}

static struct nai_outdir_calls calls_with(int (*renames)(int, const char *, int, const char *, unsigned)) {
  struct nai_outdir_calls how = calls;
  how.rename = renames;
  return how;
}

static void look_and_add(void) {
  struct stat st;
  assert_int_equal(stat(at("out/mine"), &st), 0);
  assert_int_equal(st.st_nlink, 2); /* in both directories before they change places */
  put(at("out/late"), "came late");
  put(at("out/sub/late"), "came late too");
  unlink(at("out/tables/mine"));
  put(at("out/tables/mine"), "saved again");
}

TEST_WITH(test_added_before_the_swap, setup, teardown) {
  struct nai_outdir_calls how = calls_with(watched);
  run_once("out", "one");
  put(at("out/mine"), "mine");
  put(at("out/tables/mine"), "mine");
  before_swap = look_and_add;
  ok(run_with("out", "two", &how, err));
  expect("out/report.md", "two");
  expect("out/mine", "mine");
  expect("out/late", "came late");
  expect("out/sub/late", "came late too");
  expect("out/tables/mine", "mine");
  expect("out/tables/mine.kept", "saved again");
  assert_int_equal(entries(root), 1);
}

static void replace_target(void) {
  assert_int_equal(rename(at("out"), at("moved")), 0);
  put(at("out/precious"), "somebody's");
}

TEST_WITH(test_replaced_before_the_swap, setup, teardown) {
  struct nai_outdir_calls how = calls_with(watched);
  struct nai_err err;
  run_once("out", "one");
  put(at("out/mine"), "mine");
  before_swap = replace_target;
  assert_int_equal(run_with("out", "two", &how, &err), NAI_EIO);
  expect("out/precious", "somebody's");
  expect("moved/mine", "mine");
  expect("moved/report.md", "one");
  assert_int_equal(entries(at("out")), 1);
}

static void make_target(void) { put(at("out/precious"), "somebody's"); }

TEST_WITH(test_made_before_the_swap, setup, teardown) {
  struct nai_outdir_calls how = calls_with(watched);
  struct nai_err err;
  before_swap = make_target;
  assert_int_equal(run_with("out", "two", &how, &err), NAI_EIO);
  expect("out/precious", "somebody's");
  assert_int_equal(entries(root), 1);
}

TEST_WITH(test_without_exchange, setup, teardown) {
  struct nai_outdir_calls how = calls_with(plain_rename);
  run_once("out", "old");
  put(at("out/mine"), "mine");
  for (int kill_after = 0; kill_after < 6; kill_after++) {
    pid_t child = fork();
    if (child == 0) {
      struct nai_err failure;
      swaps_left = kill_after;
      _exit(run_with("out", "new", &how, &failure) ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    swaps_left = 1000;
    struct nai_outdir *out;
    ok(nai_outdir_begin(&out, at("out"), &how, err));
    nai_outdir_end(out);
    expect("out/report.md", kill_after < 2 ? "old" : "new");
    expect("out/mine", "mine");
    assert_int_equal(entries(root), 1);
    assert_int_equal(entries(at("out")), 4);
  }
}

/* --- several runs ----------------------------------------------------------------------------- */

/* What a run began with can be read until its end, although another run replaced it; then it goes. */
TEST_WITH(test_earlier_stays_readable, setup, teardown) {
  struct nai_outdir *out;
  struct nai_buf text = {0};
  ok(nai_outdir_begin(&out, at("out"), &calls, err));
  assert_int_equal(nai_outdir_earlier(out), -1);
  nai_outdir_end(out);
  run_once("out", "one");
  ok(nai_outdir_begin(&out, at("out"), &calls, err));
  run_once("out", "two");
  run_once("out", "three");
  ok(nai_fs_read_at(&text, nai_outdir_earlier(out), "report.md", 100, NAI_EIO, err));
  assert_string_equal(text.data, "one");
  nai_buf_free(&text);
  fill(out, "four");
  ok(nai_outdir_commit(out, err));
  nai_outdir_end(out);
  expect("out/report.md", "four");
  assert_int_equal(entries(root), 1);
}

TEST_WITH(test_locked_parent, setup, teardown) {
  struct nai_outdir_calls how = calls;
  struct nai_err err;
  how.patience_s = 2;
  run_once("out", "one");
  int fd = open(root, O_RDONLY | O_DIRECTORY);
  assert_int_equal(flock(fd, LOCK_EX), 0);
  assert_int_equal(run_with("out", "two", &how, &err), NAI_EIO);
  assert_non_null(strstr(err.msg, "locked for 2 seconds"));
  assert_non_null(strstr(said, "waiting"));
  close(fd);
  expect("out/report.md", "one");
}

TEST_WITH(test_empty_directory, setup, teardown) {
  mkdir(at("empty"), 0700);
  run_once("empty/", "x");
  expect("empty/report.md", "x");
}

TEST_WITH(test_refused, setup, teardown) {
  struct nai_outdir *out;
  struct nai_err err = {0};
  put(at("file"), "precious");
  assert_int_equal(nai_outdir_begin(&out, at("file"), &calls, &err), NAI_EUSAGE);
  nai_outdir_end(out);
  expect("file", "precious");
  put(at("dir/precious"), "keep");
  assert_int_equal(nai_outdir_begin(&out, at("dir"), &calls, &err), NAI_EUSAGE);
  nai_outdir_end(out);
  expect("dir/precious", "keep");
  assert_int_equal(nai_outdir_begin(&out, at("file/below"), &calls, &err), NAI_EIO);
  nai_outdir_end(out);
  assert_int_equal(entries(root), 2);
}

TEST_WITH(test_link, setup, teardown) {
  mkdir(at("real"), 0700);
  assert_int_equal(symlink("real", at("link")), 0);
  run_once("link", "through");
  expect("real/report.md", "through");
  struct stat st;
  assert_true(lstat(at("link"), &st) == 0 && S_ISLNK(st.st_mode));
}

TEST_WITH(test_uncommitted, setup, teardown) {
  struct nai_outdir *out;
  run_once("out", "old");
  ok(nai_outdir_begin(&out, at("out"), &calls, err));
  nai_outdir_end(out);
  expect("out/report.md", "old");
  assert_int_equal(entries(root), 1);
}

/* What a killed run left goes; what a living one writes stays, and what no run wrote. */
TEST_WITH(test_sweep, setup, teardown) {
  run_once("out", "one");
  put(at("out/mine"), "mine");
  put(at(".out.nsys-ai-run.dead01/.nsys-ai-work"), ""); /* killed while it wrote */
  put(at(".out.nsys-ai-run.dead01/report.md"), "half");
  put(at(".out.nsys-ai-run.dead01/stages/.scratch-abcdef"), "half");
  put(at(".out.nsys-ai-run.dead02/stages/manifest.json"),
      "stages/manifest.json\nreport.md\n"); /* before or after the swap */
  put(at(".out.nsys-ai-run.dead02/report.md"), "whole");
  assert_int_equal(link(at("out/mine"), at(".out.nsys-ai-run.dead02/mine")), 0);
  assert_int_equal(mkdir(at(".out.nsys-ai-run.dead03"), 0777), 0);
  put(at(".out.nsys-ai-run.alive1/.nsys-ai-work"), "");
  put(at(".out.nsys-ai-run.alive1/report.md"), "half");
  put(at(".out.nsys-ai-run.foreig/report.md"), "a user's");
  put(at(".out.nsys-ai-run.mixed1/stages/manifest.json"), "stages/manifest.json\nreport.md\n");
  put(at(".out.nsys-ai-run.mixed1/report.md"), "ours");
  put(at(".out.nsys-ai-run.mixed1/mine"), "another that is nowhere else");
  put(at(".out.nsys-ai-run.x/report.md"), "no name of ours");
  put(at(".other.nsys-ai-run.abcdef/.nsys-ai-work"), "");
  int fd = open(at(".out.nsys-ai-run.alive1"), O_RDONLY | O_DIRECTORY);
  assert_int_equal(flock(fd, LOCK_EX), 0);
  run_once("out", "x");
  for (int i = 1; i <= 3; i++) {
    char name[64];
    snprintf(name, sizeof name, ".out.nsys-ai-run.dead0%d", i);
    assert_int_not_equal(access(at(name), F_OK), 0);
  }
  expect("out/mine", "mine");
  expect(".out.nsys-ai-run.alive1/report.md", "half");
  expect(".out.nsys-ai-run.foreig/report.md", "a user's");
  expect(".out.nsys-ai-run.mixed1/mine", "another that is nowhere else");
  assert_int_not_equal(access(at(".out.nsys-ai-run.mixed1/report.md"), F_OK), 0);
  expect(".out.nsys-ai-run.x/report.md", "no name of ours");
  expect(".other.nsys-ai-run.abcdef/.nsys-ai-work", "");
  assert_non_null(strstr(said, "mixed1\", left by an earlier run"));
  close(fd);
}

/* Long names that begin alike are told apart. */
TEST_WITH(test_long_names, setup, teardown) {
  char a[240], b[240];
  memset(a, 'x', sizeof a);
  memset(b, 'x', sizeof b);
  memcpy(a + 230, "a", 2);
  memcpy(b + 230, "b", 2);
  struct nai_outdir_calls how = calls_with(plain_rename);
  run_once(a, "a's");
  pid_t child = fork();
  if (child == 0) {
    struct nai_err err;
    swaps_left = 1;
    _exit(run_with(a, "new", &how, &err) ? 1 : 0);
  }
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_int_not_equal(access(at(a), F_OK), 0);
  run_once(b, "b's");
  char path[300];
  run_once(a, "new");
  snprintf(path, sizeof path, "%s/report.md", b);
  expect(path, "b's");
  assert_int_equal(entries(root), 2);
}

/* Nothing outside the directory is reached through it. */
TEST_WITH(test_below_a_handle, setup, teardown) {
  struct nai_err failure;
  struct nai_buf text = {0};
  put(at("secret"), "secret");
  put(at("dir/stages/a"), "content");
  assert_int_equal(symlink("../secret", at("dir/link")), 0);
  assert_int_equal(symlink("..", at("dir/up")), 0);
  int dir = open(at("dir"), O_RDONLY | O_DIRECTORY);
  static const char *const bad[] = {"link", "up/secret", "../secret", "stages/../../secret", "missing", "stages", ""};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(nai_fs_exists_at(dir, bad[i]));
    assert_int_equal(nai_fs_read_at(&text, dir, bad[i], 100, NAI_EIO, &failure), NAI_EIO);
    assert_int_equal(nai_fs_link_or_copy_at(dir, bad[i], at("copy"), &failure), NAI_EIO);
    assert_int_not_equal(access(at("copy"), F_OK), 0);
  }
  ok(nai_fs_link_or_copy_at(dir, "stages/a", at("copy"), err));
  ok(nai_fs_link_or_copy_at(dir, "stages/a", at("copy"), err));
  expect("copy", "content");
  put(at("other"), "other");
  assert_int_equal(link(at("other"), at("twin")), 0);
  ok(nai_fs_link_or_copy_at(dir, "stages/a", at("twin"), err)); /* not written through */
  expect("other", "other");
  expect("twin", "content");
  ok(nai_fs_link_or_copy_at(dir, "stages/a", "/dev/shm/nai-test-outdir", err)); /* another file system, mostly */
  unlink("/dev/shm/nai-test-outdir");
  close(dir);
}
