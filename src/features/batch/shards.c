/* Dividing items among tasks. */
#include "features/batch/internal.h"

#include "table/csv_read.h"
#include "base/fs.h"

/* A task and how much it has; the one with least, of equal ones the lowest, is on top of the heap. */
struct load {
  int64_t bytes;
  uint32_t shard;
};

static bool is_before(const struct load *a, const struct load *b) {
  return a->bytes != b->bytes ? a->bytes < b->bytes : a->shard < b->shard;
}

static void sink_down(struct load *heap, uint32_t count) {
  for (uint32_t i = 0, least;; i = least) {
    least = i;
    for (uint32_t child = 2 * i + 1; child <= 2 * i + 2; child++)
      if (child < count && is_before(&heap[child], &heap[least]))
        least = child;
    if (least == i)
      return;
    struct load swap = heap[i];
    heap[i] = heap[least];
    heap[least] = swap;
  }
}

struct placed {
  uint32_t item, at;
};

/* Divides items among `shards` tasks, the largest first, each to the task with the least bytes so far:
 * shard[i] is that of items[i]. */
static int divide(uint32_t *shard, uint32_t shards, const struct nai_batch *b, const uint32_t *items, uint32_t count,
                  struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct placed *order; /* its first member is what nai_batch_by_size compares */
  struct load *heap;
  NAI_TRY(NAI_NEW(order, &arena, count, err));
  NAI_TRY(NAI_NEW(heap, &arena, shards, err));
  for (uint32_t i = 0; i < shards; i++)
    heap[i] = (struct load){0, i};
  for (uint32_t i = 0; i < count; i++)
    order[i] = (struct placed){items[i], i};
  qsort_r(order, count, sizeof *order, nai_batch_by_size, (void *)b);
  for (uint32_t i = 0; i < count; i++) {
    shard[order[i].at] = heap[0].shard;
    heap[0].bytes += b->manifest.items[order[i].item].stamp.bytes + (1 << 20); /* starting a process costs, too */
    sink_down(heap, shards);
  }
  return NAI_OK;
}

/* The most items that one task got. */
static int most_of(uint32_t *most, const uint32_t *shard, uint32_t count, uint32_t shards, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  uint32_t *items;
  NAI_TRY(NAI_NEW(items, &arena, shards, err));
  *most = 0;
  for (uint32_t i = 0; i < count; i++)
    if (++items[shard[i]] > *most)
      *most = items[shard[i]];
  return NAI_OK;
}

static bool plan_path(char *path, size_t size, const struct nai_batch *b) {
  return (size_t)snprintf(path, size, "%s/shards.csv", b->out) < size;
}

int nai_batch_plan_shards(struct nai_batch *b, uint32_t shards, const uint32_t *items, uint32_t count,
                          struct nai_err *err) {
  uint32_t *shard;
  NAI_SCOPED(nai_buf) text = {0};
  char path[PATH_MAX];
  plan_path(path, sizeof path, b);
  NAI_TRY(NAI_NEW(shard, b->arena, count, err));
  NAI_TRY(divide(shard, shards, b, items, count, err));
  NAI_TRY(most_of(&b->shard_items, shard, count, shards, err));
  nai_buf_puts(&text, "shard,id\n");
  for (uint32_t i = 0; i < count; i++)
    nai_buf_printf(&text, "%" PRIu32 ",%s\n", shard[i], b->manifest.items[items[i]].id);
  NAI_TRY(nai_buf_check(&text, err));
  NAI_TRY(nai_fs_replace(path, nai_buf_str(&text), text.len, err));
  b->shards = shards;
  return nai_batch_write_plan(b, err);
}

/* The items of the file's rows that belong to the task; ids that the manifest no longer has are left out. */
static int take_items(uint32_t *items, uint32_t *count, const struct nai_csv *csv, const struct nai_batch *b,
                      uint32_t shard, struct nai_err *err) {
  uint32_t *by_id;
  NAI_TRY(nai_batch_by_id(&by_id, &b->manifest, err));
  for (uint32_t row = 1; row < csv->row_count; row++) {
    int64_t item = nai_batch_find(&b->manifest, by_id, nai_csv_cell(csv, row, nai_csv_column(csv, "id")));
    if (item >= 0 && strtoul(nai_csv_cell(csv, row, nai_csv_column(csv, "shard")), NULL, 10) == shard)
      items[(*count)++] = (uint32_t)item;
  }
  return NAI_OK;
}

int nai_batch_shard(uint32_t **items, uint32_t *count, const struct nai_batch *b, uint32_t shard, uint32_t shards,
                    struct nai_err *err) {
  NAI_OWNED(nai_csv) *csv = NULL;
  char path[PATH_MAX];
  *count = 0;
  if (shards != b->shards || shard >= shards)
    return nai_err_set(err, NAI_EUSAGE,
                       "--run-shard %" PRIu32 "/%" PRIu32 ": the plan of \"%s\" has the tasks 0 to %" PRIu32
                       " of %" PRIu32 "; plan again with --engine print --shards N",
                       shard, shards, b->out, b->shards ? b->shards - 1 : 0, b->shards);
  plan_path(path, sizeof path, b);
  NAI_TRY(nai_csv_read(&csv, path, NAI_BATCH_MANIFEST_MAX, err));
  NAI_TRY(NAI_NEW(*items, b->arena, csv->row_count, err));
  return take_items(*items, count, csv, b, shard, err);
}
