/* Payloads that continue on overflow pages: a linked list, 4 bytes for the next page's number, then content. */
#include "trace/direct/direct_record.h"

#include <string.h>

/* Notes that the reference at byte `place` of the file leads to overflow page `page`; false when another does. */
static bool is_only_reference(const struct nai_direct *direct, uint32_t page, uint64_t place) {
  uint64_t before = 0;
  return atomic_compare_exchange_strong(&direct->overflow_from[page], &before, place) || before == place;
}

/* A page that two rows refer to may be either's. Which of them is read first is chance where they are in two tables, so
 * that this is no damage that one table bears. */
int nai_overflow_check(const struct nai_direct *direct, const struct nai_payload *payload, struct nai_err *err) {
  uint64_t content = direct->usable_bytes - 4, pages = (payload->bytes - payload->local + content - 1) / content;
  uint64_t place = (uint64_t)(payload->page - 1) * direct->page_size + payload->link;
  uint32_t page = payload->overflow_page;
  for (; pages; pages--) {
    if (!nai_direct_has_page(direct, page) || page == 1)
      return nai_direct_damaged(err, payload->page, "a row continues on a page that is not in the file");
    if (nai_direct_is_claimed(direct, page))
      return nai_direct_damaged(err, payload->page, "a row continues on a page that is part of something else");
    if (!is_only_reference(direct, page, place))
      return nai_err_set(err, NAI_EINPUT, "the file is damaged: page %u: rows share overflow pages", page);
    place = (uint64_t)(page - 1) * direct->page_size;
    page = nai_be32(nai_direct_page(direct, page));
  }
  return page ? nai_direct_damaged(err, payload->page, "a row continues behind its end") : NAI_OK;
}

/* Reads a payload forward. */
struct chain {
  struct nai_record_reader *reader;
  const struct nai_payload *payload;
  const unsigned char *data; /* content of the current stretch */
  uint64_t begin, end;       /* which payload bytes it holds */
  uint32_t next;             /* the overflow page after it */
};

static struct chain chain_start(struct nai_record_reader *reader, const struct nai_payload *payload) {
  return (struct chain){.reader = reader,
                        .payload = payload,
                        .data = payload->data,
                        .end = payload->local,
                        .next = payload->overflow_page};
}

static int chain_advance(struct chain *chain, struct nai_err *err) {
  const struct nai_direct *direct = chain->reader->plan->direct;
  uint32_t page = chain->next;
  if (!nai_direct_has_page(direct, page) || page == 1)
    return nai_direct_damaged(err, chain->payload->page, "a row continues on a page that is not in the file");
  const unsigned char *data = nai_direct_page(direct, page);
  chain->next = nai_be32(data);
  chain->data = data + 4;
  chain->begin = chain->end;
  chain->end += direct->usable_bytes - 4;
  return NAI_OK;
}

/* Copies payload bytes from..from+bytes; `from` never decreases between calls. */
static int chain_copy(struct chain *chain, char *to, uint64_t from, uint64_t bytes, struct nai_err *err) {
  while (bytes) {
    if (from >= chain->end) {
      int rc = chain_advance(chain, err);
      if (rc)
        return rc;
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

int nai_overflow_gather_header(const unsigned char **data, struct nai_record_reader *reader,
                               const struct nai_payload *payload, uint64_t bytes, struct nai_err *err) {
  struct chain chain = chain_start(reader, payload);
  nai_buf_clear(&reader->header);
  char *to = nai_buf_reserve(&reader->header, (size_t)bytes + NAI_DIRECT_SLACK);
  if (!to)
    return nai_err_nomem(err);
  memset(to + bytes, 0, NAI_DIRECT_SLACK);
  *data = (const unsigned char *)to;
  return chain_copy(&chain, to, 0, bytes, err);
}

int nai_overflow_gather_values(const unsigned char **data, struct nai_record_reader *reader,
                               const struct nai_payload *payload, struct nai_err *err) {
  const struct nai_record_plan *plan = reader->plan;
  struct chain chain = chain_start(reader, payload);
  uint64_t needed = 0, bytes[NAI_SCAN_MAX_COLUMNS];
  for (int i = 0; i < plan->wanted_count; i++) {
    int column = plan->wanted[i].column;
    uint64_t n = nai_serial_bytes(reader->types[column]);
    n = n > NAI_CELL_MAX_BYTES ? NAI_CELL_MAX_BYTES : n;
    bool local = reader->offsets[column] + n <= payload->local;
    data[i] = local ? payload->data + reader->offsets[column] : NULL;
    bytes[i] = n;
    needed += local ? 0 : n + 8; /* decoding loads 8 bytes whatever the length */
  }
  nai_buf_clear(&reader->spill);
  char *to = nai_buf_reserve(&reader->spill, (size_t)needed + 8);
  if (!to)
    return nai_err_nomem(err);
  for (int i = 0; i < plan->wanted_count; i++) {
    if (data[i])
      continue;
    int rc = chain_copy(&chain, to, reader->offsets[plan->wanted[i].column], bytes[i], err);
    if (rc)
      return rc;
    memset(to + bytes[i], 0, 8);
    data[i] = (const unsigned char *)to;
    to += bytes[i] + 8;
  }
  return NAI_OK;
}
