#include "trace/pages/pages.h"

#include "base/fs.h"

enum {
  WINDOW_BYTES = 256 << 10, /* fits the second-level cache; larger ones are no faster */
  MAX_SKIPPED_PAGES = 2     /* reading a few foreign pages in between costs less than another call */
};

static int fill(struct nai_window *window, uint32_t first_page, uint32_t page_count, struct nai_err *err) {
  size_t page_size = window->pages->page_size, bytes = page_count * page_size;
  window->page_count = 0;
  if (window->room < bytes + NAI_PAGE_SLACK) { /* most tables are small */
    NAI_TRY(nai_arena_resize(&window->buffer, window->arena, window->room, bytes + NAI_PAGE_SLACK, err));
    window->room = bytes + NAI_PAGE_SLACK;
  }
  ssize_t n = nai_fs_read_upto(window->pages->fd, window->buffer, bytes, (first_page - 1) * (uint64_t)page_size);
  if (n < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot read the file at page %u", first_page);
  if ((size_t)n < bytes)
    return nai_err_set(err, NAI_EINPUT, "the file was truncated while it was being read");
  window->first_page = first_page;
  window->page_count = page_count;
  return NAI_OK;
}

int nai_window_leaf(const unsigned char **data, struct nai_window *window, const struct nai_leaves *leaves, uint32_t i,
                    uint32_t end, struct nai_err *err) {
  uint32_t page = leaves->pages[i], page_size = window->pages->page_size;
  if (page < window->first_page || page - window->first_page >= window->page_count) {
    uint32_t last = page;
    for (uint32_t k = i + 1; k < end; k++) {
      uint32_t next = leaves->pages[k];
      if (next <= last || next - last > 1 + MAX_SKIPPED_PAGES || next - page >= WINDOW_BYTES / page_size)
        break;
      last = next;
    }
    NAI_TRY(fill(window, page, last - page + 1, err));
  }
  *data = window->buffer + (size_t)(page - window->first_page) * page_size;
  return NAI_OK;
}
