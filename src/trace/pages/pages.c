#include "trace/direct/direct.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int nai_direct_damaged(struct nai_err *err, uint32_t page, const char *what) {
  return nai_err_damaged(err, "the file is damaged: page %u: %s", page, what);
}

int nai_direct_intact(const struct nai_direct *direct, int rc, struct nai_err *err) {
  if (!atomic_load_explicit(direct->lost, memory_order_relaxed))
    return rc;
  return nai_err_set(err, NAI_EINPUT, "the file was truncated while it was being read");
}

/* Maps the file into a reservation that is longer by the slack. */
static bool map_file(struct nai_direct *direct, int fd, uint64_t size_bytes) {
  size_t os_page = (size_t)sysconf(_SC_PAGESIZE);
  if (size_bytes > SIZE_MAX / 2)
    return false;
  size_t file_bytes = ((size_t)size_bytes + os_page - 1) / os_page * os_page;
  direct->map_bytes = file_bytes + os_page;
  void *base = mmap(NULL, direct->map_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return false;
  direct->map = base;
  return mmap(base, file_bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
}

static int refuse(struct nai_trace *trace, const char *why, struct nai_err *err) {
  trace->direct_refused = strdup(why);
  return trace->direct_refused ? NAI_OK : nai_err_nomem(err);
}

int nai_direct_open(struct nai_trace *trace, const struct nai_sqlite_header *header, struct nai_err *err) {
  if (header->encoding > 1)
    return refuse(trace, "the database's text is not UTF-8", err);
  if (trace->size_bytes / header->page_size < header->page_count)
    return refuse(trace, "the file is shorter than its header says", err);
  struct nai_direct *direct = calloc(1, sizeof *direct);
  if (!direct)
    return nai_err_nomem(err);
  trace->direct = direct;
  pthread_mutex_init(&direct->sharing, NULL);
  direct->fd = trace->fd;
  direct->page_size = header->page_size;
  direct->page_count = header->page_count;
  direct->lock_page = (1u << 30) / header->page_size + 1;
  direct->usable_bytes = header->page_size - header->reserved_bytes;
  direct->max_local = direct->usable_bytes - 35;
  direct->min_local = (direct->usable_bytes - 12) * 32 / 255 - 23;
  if (!map_file(direct, trace->fd, trace->size_bytes)) /* an address space limit, perhaps: SQLite does without */
    return refuse(trace, "the file cannot be mapped into memory", err);
  direct->lost = nai_guard_add(direct->map, direct->map_bytes);
  if (!direct->lost)
    return refuse(trace, "too many databases are open", err);
  direct->claimed = calloc((size_t)direct->page_count / 8 + 1, 1);
  direct->contested = calloc((size_t)direct->page_count / 8 + 1, 1);
  direct->overflow_from = calloc((size_t)direct->page_count + 1, sizeof *direct->overflow_from);
  if (!direct->claimed || !direct->contested || !direct->overflow_from)
    return nai_err_nomem(err);
  int rc = nai_direct_survey(direct, trace->roots, trace->root_count, err);
  return nai_direct_intact(direct, rc, err);
}

void nai_direct_close(struct nai_trace *trace) {
  struct nai_direct *direct = trace->direct;
  if (!direct)
    return;
  nai_direct_free_shared(direct);
  free(direct->claimed);
  free(direct->contested);
  free(direct->stray);
  free((void *)direct->overflow_from);
  pthread_mutex_destroy(&direct->sharing);
  nai_guard_remove(direct->lost);
  if (direct->map)
    munmap((void *)direct->map, direct->map_bytes);
  free(direct);
  trace->direct = NULL;
}

const char *nai_direct_refuses(const struct nai_trace *trace, const struct nai_db_table *table, const int *columns,
                               int column_count) {
  if (trace->direct_refused)
    return trace->direct_refused;
  if (table->without_rowid)
    return "the table is WITHOUT ROWID";
  if (!table->plain || !table->rowid_name)
    return "the table has no rowid";
  for (int i = 0; i < table->column_count; i++)
    if (table->columns[i].hidden)
      return "the table has generated columns";
  for (int i = 0; i < column_count; i++)
    if (table->columns[columns[i]].added_with_default)
      return "a column has a default value, which rows older than the column do not store";
  const struct nai_direct *direct = trace->direct;
  uint32_t root = table->rootpage > UINT32_MAX ? 0 : (uint32_t)table->rootpage;
  if (!nai_direct_has_page(direct, root))
    return "the table's root page is not in the file";
  unsigned char type = nai_direct_page(direct, root)[nai_page_header(root)];
  if (type != NAI_PAGE_INTERIOR && type != NAI_PAGE_LEAF)
    return "the table's root page has an unexpected type";
  return NULL;
}
