/* Payloads that continue on overflow pages: a linked list, 4 bytes for the next page's number, then content. */
#include "trace/pages/pages.h"

/* Notes that the reference at byte `place` of the file leads to overflow page `page`; false when another does. */
static bool is_only_reference(const struct nai_pages *pages, uint32_t page, uint64_t place) {
  uint64_t before = 0;
  return atomic_compare_exchange_strong(&pages->overflow_from[page], &before, place) || before == place;
}

/* A page that two rows refer to may be either's. Which of them is read first is chance where they are in two tables, so
 * that this is no damage that one table bears. */
int nai_overflow_check(const struct nai_pages *pages, const struct nai_payload *payload, struct nai_err *err) {
  uint64_t content = pages->usable_bytes - 4, left = (payload->bytes - payload->local + content - 1) / content;
  uint64_t place = (uint64_t)(payload->page - 1) * pages->page_size + payload->link;
  uint32_t page = payload->overflow_page;
  for (; left; left--) {
    if (!nai_pages_have(pages, page) || page == 1)
      return nai_page_damaged(err, payload->page, "a row continues on a page that is not in the file");
    if (nai_page_is_claimed(pages, page))
      return nai_page_damaged(err, payload->page, "a row continues on a page that is part of something else");
    if (!is_only_reference(pages, page, place))
      return nai_err_set(err, NAI_EINPUT, "the file is damaged: page %u: rows share overflow pages", page);
    place = (uint64_t)(page - 1) * pages->page_size;
    page = nai_be32(nai_page_at(pages, page));
  }
  return page ? nai_page_damaged(err, payload->page, "a row continues behind its end") : NAI_OK;
}

struct nai_chain nai_chain_start(const struct nai_pages *pages, const struct nai_payload *payload) {
  return (struct nai_chain){
      .pages = pages, .payload = payload, .data = payload->data, .end = payload->local, .next = payload->overflow_page};
}

static int advance(struct nai_chain *chain, struct nai_err *err) {
  uint32_t page = chain->next;
  if (!nai_pages_have(chain->pages, page) || page == 1)
    return nai_page_damaged(err, chain->payload->page, "a row continues on a page that is not in the file");
  const unsigned char *data = nai_page_at(chain->pages, page);
  chain->next = nai_be32(data);
  chain->data = data + 4;
  chain->begin = chain->end;
  chain->end += chain->pages->usable_bytes - 4;
  return NAI_OK;
}

int nai_chain_copy(struct nai_chain *chain, char *to, uint64_t from, uint64_t bytes, struct nai_err *err) {
  while (bytes) {
    if (from >= chain->end) {
      NAI_TRY(advance(chain, err));
      continue;
    }
    uint64_t n = chain->end - from < bytes ? chain->end - from : bytes;
    memcpy(to, chain->data + (from - chain->begin), (size_t)n);
    to += n;
    from += n;
    bytes -= n;
  }
  return NAI_OK;
}
