#include "report/prose.h"

#include "base/arena.h"
#include "base/text.h"

#include <cmark.h>
#include <setjmp.h>

/* Memory of one conversion. cmark cannot report a failed allocation, and its own allocator aborts: here the failure
 * jumps out of cmark instead, and everything is freed together. */
struct pool {
  struct nai_arena arena;
  jmp_buf failed;
};

/* cmark's allocator functions get no context. */
static _Thread_local struct pool *current;

enum { ALIGNMENT = sizeof(max_align_t) };

/* Zeroed memory; the size stands in front of it, for realloc. */
static void *take(size_t bytes) {
  char *at = NULL;
  if (bytes > SIZE_MAX / 2 || nai_arena_get(&at, &current->arena, ALIGNMENT + bytes, 1, NULL))
    longjmp(current->failed, 1);
  memcpy(at, &bytes, sizeof bytes);
  return at + ALIGNMENT;
}

static void *pool_calloc(size_t count, size_t size) {
  if (size && count > SIZE_MAX / size)
    longjmp(current->failed, 1);
  return take(count * size);
}

static void *pool_realloc(void *old, size_t size) {
  size_t had = 0;
  if (old)
    memcpy(&had, (char *)old - ALIGNMENT, sizeof had);
  void *fresh = take(size);
  if (old)
    memcpy(fresh, old, had < size ? had : size);
  return fresh;
}

static void pool_free(void *ignored) { (void)ignored; }

static cmark_mem pool_mem = {pool_calloc, pool_realloc, pool_free};

/* An image becomes a link to it, or its description where a link already is around. */
static void replace_image(cmark_node *image, bool in_link) {
  cmark_node *link = in_link ? NULL : cmark_node_new_with_mem(CMARK_NODE_LINK, &pool_mem), *child;
  if (link)
    cmark_node_set_url(link, cmark_node_get_url(image));
  while ((child = cmark_node_first_child(image))) {
    cmark_node_unlink(child);
    if (link)
      cmark_node_append_child(link, child);
    else
      cmark_node_insert_before(image, child);
  }
  if (link)
    cmark_node_insert_before(image, link);
  cmark_node_unlink(image);
}

static void replace_images(cmark_node *document) {
  cmark_iter *iter = cmark_iter_new(document);
  cmark_event_type event;
  int links = 0;
  while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
    cmark_node *node = cmark_iter_get_node(iter);
    cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_LINK)
      links += event == CMARK_EVENT_ENTER ? 1 : -1;
    else if (type == CMARK_NODE_IMAGE && event == CMARK_EVENT_EXIT)
      replace_image(node, links > 0);
  }
}

static void convert(struct nai_buf *out, const char *markdown, size_t len) {
  cmark_parser *parser = cmark_parser_new_with_mem(CMARK_OPT_DEFAULT, &pool_mem);
  cmark_parser_feed(parser, markdown, len);
  cmark_node *document = cmark_parser_finish(parser);
  replace_images(document);
  nai_buf_puts(out, cmark_render_html(document, CMARK_OPT_DEFAULT));
}

int nai_prose_html(struct nai_buf *out, const char *markdown, struct nai_err *err) {
  struct pool pool = {.arena = NAI_ARENA(NULL)}, *outer = current;
  size_t start = out->len, len = nai_text_prefix(markdown, strlen(markdown), NAI_PROSE_MAX_BYTES);
  current = &pool;
  int failed = setjmp(pool.failed);
  if (!failed)
    convert(out, markdown, len);
  current = outer;
  nai_arena_free(&pool.arena);
  if (!failed)
    return nai_buf_check(out, err);
  if (out->data) {
    out->len = start;
    out->data[start] = '\0';
  }
  return nai_err_nomem(err);
}
