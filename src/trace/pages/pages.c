#include "trace/pages/pages.h"

#include <sys/mman.h>
#include <unistd.h>

int nai_pages_intact(const struct nai_pages *pages, int rc, struct nai_err *err) {
  if (!atomic_load_explicit(pages->lost, memory_order_relaxed))
    return rc;
  return nai_err_set(err, NAI_EINPUT, "the file was truncated while it was being read");
}

/* Maps the file into a reservation that is longer by the slack. */
static bool map_file(struct nai_pages *pages, int fd, uint64_t size_bytes) {
  size_t os_page = (size_t)sysconf(_SC_PAGESIZE);
  if (size_bytes > SIZE_MAX / 2)
    return false;
  size_t file_bytes = ((size_t)size_bytes + os_page - 1) / os_page * os_page;
  pages->map_bytes = file_bytes + os_page;
  void *base = mmap(NULL, pages->map_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return false;
  pages->map = base;
  return mmap(base, file_bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
}

static int refuse(struct nai_trace *trace, const char *why) {
  trace->pages_refused = why;
  return NAI_OK;
}

int nai_pages_open(struct nai_trace *trace, const struct nai_sqlite_header *header, struct nai_err *err) {
  if (header->encoding > 1)
    return refuse(trace, "the database's text is not UTF-8");
  if (trace->size_bytes / header->page_size < header->page_count)
    return refuse(trace, "the file is shorter than its header says");
  struct nai_pages *pages;
  NAI_TRY(NAI_NEW(pages, &trace->arena, 1, err));
  *pages = (struct nai_pages){.fd = trace->fd,
                              .page_size = header->page_size,
                              .page_count = header->page_count,
                              .lock_page = (1u << 30) / header->page_size + 1,
                              .usable_bytes = header->page_size - header->reserved_bytes,
                              .arena = &trace->arena,
                              .sharing = PTHREAD_MUTEX_INITIALIZER};
  pages->max_local = pages->usable_bytes - 35;
  pages->min_local = (pages->usable_bytes - 12) * 32 / 255 - 23;
  trace->pages = pages;
  if (!map_file(pages, trace->fd, trace->size_bytes)) /* an address space limit, perhaps: SQLite does without */
    return refuse(trace, "the file cannot be mapped into memory");
  pages->lost = nai_guard_add(pages->map, pages->map_bytes);
  if (!pages->lost)
    return refuse(trace, "too many databases are open");
  NAI_TRY(NAI_NEW(pages->claimed, pages->arena, (size_t)pages->page_count / 8 + 1, err));
  NAI_TRY(NAI_NEW(pages->contested, pages->arena, (size_t)pages->page_count / 8 + 1, err));
  NAI_TRY(NAI_NEW(pages->overflow_from, pages->arena, (size_t)pages->page_count + 1, err));
  return nai_pages_intact(pages, nai_pages_find_owners(pages, trace->roots, trace->root_count, err), err);
}

void nai_pages_close(struct nai_trace *trace) {
  struct nai_pages *pages = trace->pages;
  if (!pages)
    return;
  pthread_mutex_destroy(&pages->sharing);
  nai_guard_remove(pages->lost);
  if (pages->map)
    munmap((void *)pages->map, pages->map_bytes);
  trace->pages = NULL;
}

const char *nai_pages_refuse(const struct nai_trace *trace, const struct nai_db_table *table, const int *columns,
                             int column_count) {
  if (trace->pages_refused)
    return trace->pages_refused;
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
  uint32_t root = table->rootpage > UINT32_MAX ? 0 : (uint32_t)table->rootpage;
  if (!nai_pages_have(trace->pages, root))
    return "the table's root page is not in the file";
  unsigned char type = nai_page_at(trace->pages, root)[nai_page_header(root)];
  if (type != NAI_PAGE_INTERIOR && type != NAI_PAGE_LEAF)
    return "the table's root page has an unexpected type";
  return NULL;
}
