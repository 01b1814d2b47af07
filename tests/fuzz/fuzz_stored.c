/* Any bytes as a file that commands keep and read again: manifests, runs and notes of a store, plans and statuses of a
 * batch, an index. The first byte says which (a: a run's manifest, b: ...); beside it lie whole ones. What is accepted
 * is used. */
#include "base/hash.h"
#include "features/batch/batch.h"
#include "index/index.h"
#include "rundir/run.h"
#include "features/nights/store.h"

#include "bases.h"

#include <fcntl.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
  const char *path, *whole; /* NULL: there is none */
} files[] = {
    {"run/stages/manifest.json", NULL},
    {"store/store.json", "{\"format_major\": 1, \"format_minor\": 0}"},
    {"store/runs/n/e/a/run.json",
     "{\"format_major\": 1, \"format_minor\": 0, \"id\": \"a\", \"series\": \"n/e\", \"environment\": \"1 x GPU\", \"utc_ns\": 5, \"status\": \"ok\", \"error\": \"\", \"verdict\": \"\", \"labels\": \"\", \"captures\": 1, \"bytes\": 7}"},
    {"store/annotations.csv", NULL},
    {"store/baselines/release.json", NULL},
    {"store/runs/n/e/a/summary.bin", NULL},
    {"batch/batch.json", "{\"format_major\": 1, \"format_minor\": 0, \"options\": [], \"shards\": 2}"},
    {"batch/manifest.csv", "id,path,group\na,/dev/null/t.sqlite,\nb,/dev/null/u.sqlite,\n"},
    {"batch/shards.csv", "shard,id\n0,a\n1,b\n"},
    {"batch/status/a.json", NULL},
    {"manifest.csv", NULL},
};
enum { FILES = sizeof files / sizeof *files };

static int checked(int rc, const struct nai_err *err) {
  if (rc && (rc != err->code || !*err->msg))
    abort();
  return rc;
}

static void path_of(char path[PATH_MAX], const char *name) {
  snprintf(path, PATH_MAX, "%s/%s", bases_directory(), name);
}

static void put(size_t file, const void *data, size_t size) {
  char path[PATH_MAX];
  struct nai_err err;
  path_of(path, files[file].path);
  bases_must(nai_fs_write(path, data, size, &err), &err);
}

/* What is behind the hash is what is tried. */
static void put_summary(size_t file, const void *data, size_t size) {
  struct nai_buf text = {0};
  uint64_t hash = nai_hash_bytes(0, data, size);
  nai_buf_puts(&text, "NSYSRUN1");
  nai_buf_put(&text, &hash, sizeof hash);
  nai_buf_put(&text, data, size);
  put(file, text.data, text.len);
  nai_buf_free(&text);
}

/* Everything but `except`, as it should be. */
static void put_whole(size_t except) {
  static const char *const directories[] = {"run/stages", "store/runs/n/e/a", "store/baselines", "batch/status",
                                            "batch/items"};
  static bool made;
  char path[PATH_MAX];
  struct nai_err err;
  for (size_t i = 0; i < sizeof directories / sizeof *directories && !made; i++) {
    path_of(path, directories[i]);
    bases_must(nai_fs_mkdir_all(path, &err), &err);
  }
  made = true;
  for (size_t i = 0; i < FILES; i++) {
    path_of(path, files[i].path);
    if (i != except && files[i].whole)
      put(i, files[i].whole, strlen(files[i].whole));
    else if (i != except)
      unlink(path);
  }
}

static void use_run(void) {
  char path[PATH_MAX];
  struct nai_run *run = NULL;
  struct nai_manifest manifest = {0};
  struct nai_buf text = {0};
  struct nai_err err = {0};
  path_of(path, "run");
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0 || checked(nai_manifest_read(&manifest, directory, &err), &err))
    abort();
  nai_manifest_print(&text, &manifest, NULL);
  nai_manifest_free(&manifest);
  nai_buf_free(&text);
  close(directory);
  if (!checked(nai_run_open(&run, path, &err), &err)) {
    const struct nai_table *table;
    checked(nai_run_table(&table, run, "kernels", NULL, &err), &err);
    nai_run_close(run);
  }
}

static void use_store(void) {
  static const char *const selectors[] = {"release", "last-good", "median:3", "run:a"};
  char path[PATH_MAX];
  struct nai_store store = {0};
  struct nai_store_baseline baseline = {0};
  struct nai_strings names = {0};
  struct nai_index index = {0};
  struct nai_err err = {0};
  path_of(path, "store");
  if (!checked(nai_store_open(&store, path, false, &err), &err) && !checked(nai_store_read(&store, NULL, &err), &err)) {
    nai_store_find(&store, "a");
    checked(nai_store_baselines(&names, &store, &err), &err);
    checked(nai_store_baseline(&baseline, &store, "release", &err), &err);
    nai_store_baseline_free(&baseline);
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
      struct nai_store_selection selected = {0};
      const struct nai_store_judged judged = {0};
      checked(nai_store_select(&selected, &store, selectors[i], &judged, &err), &err);
      nai_store_selection_free(&selected);
    }
    if (!checked(nai_store_index(&index, &store, NAI_STORE_READ, &err), &err)) {
      struct nai_buf page = {0};
      if (!checked(nai_index_write(&index, bases_directory(), &err), &err))
        checked(nai_index_markdown(&page, &index, &err), &err);
      nai_buf_free(&page);
    }
    nai_index_free(&index);
    const struct nai_store_pruning all = {.keep_days = 0, .weekly_days = 30, .monthly_days = 300, .dry_run = true};
    checked(nai_store_prune(&store, &all, &err), &err);
  }
  nai_strings_free(&names);
  nai_store_free(&store);
}

static void use_batch(void) {
  char path[PATH_MAX];
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_batch batch = {.arena = &arena};
  uint32_t *items = NULL, count = 0;
  struct nai_batch_counts counts;
  struct nai_err err = {0};
  path_of(path, "batch");
  if (!checked(nai_batch_open(&batch, path, &err), &err)) {
    checked(nai_batch_todo(&items, &count, NULL, batch.manifest.count, &batch, &err), &err);
    checked(nai_batch_shard(&items, &count, &batch, 1, batch.shards, &err), &err);
    checked(nai_batch_rollup(&counts, &batch, &err), &err);
  }
}

/* One that a user wrote. */
static void use_manifest(void) {
  char path[PATH_MAX];
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_batch_manifest manifest = {.arena = &arena};
  struct nai_err err = {0};
  path_of(path, "manifest.csv");
  const char *const inputs[] = {path};
  uint32_t *by_id = NULL;
  if (!checked(nai_batch_manifest_make(&manifest, inputs, 1, &err), &err) &&
      !checked(nai_batch_by_id(&by_id, &manifest, &err), &err))
    for (uint32_t i = 0; i < manifest.count; i++)
      if (nai_batch_find(&manifest, by_id, manifest.items[i].id) != i)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size)
    return 0;
  size_t file = (uint8_t)(data[0] - 'a') % FILES;
  put_whole(file);
  if (strstr(files[file].path, "summary"))
    put_summary(file, data + 1, size - 1);
  else
    put(file, data + 1, size - 1);
  if (strncmp(files[file].path, "run/", 4) == 0)
    use_run();
  else if (strncmp(files[file].path, "store/", 6) == 0)
    use_store();
  else if (strncmp(files[file].path, "batch/", 6) == 0)
    use_batch();
  else
    use_manifest();
  return 0;
}
