#include "trace/direct/direct_record.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
  WINDOW_BYTES = 256 << 10, /* fits the second-level cache; larger ones are no faster */
  MAX_SKIPPED_PAGES = 2     /* reading a few foreign pages in between costs less than another call */
};

int nai_window_open(struct nai_window *window, const struct nai_direct *direct, struct nai_err *err) {
  *window = (struct nai_window){.direct = direct, .buffer = calloc(1, WINDOW_BYTES + NAI_DIRECT_SLACK)};
  return window->buffer ? NAI_OK : nai_err_nomem(err);
}

void nai_window_close(struct nai_window *window) {
  free(window->buffer);
  window->buffer = NULL;
}

static int fill(struct nai_window *window, uint32_t first_page, uint32_t pages, struct nai_err *err) {
  size_t page_size = window->direct->page_size, bytes = pages * page_size, done = 0;
  window->pages = 0;
  while (done < bytes) {
    ssize_t n = pread(window->direct->fd, window->buffer + done, bytes - done,
                      (off_t)((first_page - 1) * (uint64_t)page_size + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return nai_err_sys(err, NAI_EINPUT, errno, "cannot read the file at page %u", first_page);
    if (n == 0)
      return nai_err_set(err, NAI_EINPUT, "the file was truncated while it was being read");
    done += (size_t)n;
  }
  window->first_page = first_page;
  window->pages = pages;
  return NAI_OK;
}

int nai_window_leaf(const unsigned char **data, struct nai_window *window, const struct nai_leaves *leaves, uint32_t i,
                    uint32_t end, struct nai_err *err) {
  uint32_t page = leaves->pages[i], page_size = window->direct->page_size;
  if (page < window->first_page || page - window->first_page >= window->pages) {
    uint32_t last = page;
    for (uint32_t k = i + 1; k < end; k++) {
      uint32_t next = leaves->pages[k];
      if (next <= last || next - last > 1 + MAX_SKIPPED_PAGES || next - page >= WINDOW_BYTES / page_size)
        break;
      last = next;
    }
    int rc = fill(window, page, last - page + 1, err);
    if (rc)
      return rc;
  }
  *data = window->buffer + (size_t)(page - window->first_page) * page_size;
  return NAI_OK;
}
