#include "table/kernel_name.h"

#include "base/arena.h"
#include "base/text.h"
#include "table/kernel_name_parse.h"

#define ELLIPSIS "\xe2\x80\xa6"

enum { MIN_CHARS = 16, MAX_NAME_BYTES = 1 << 30 };

struct node {
  struct nai_argument is;
  uint32_t parent, next; /* node numbers; next == 0: the last child. Children of one node follow each other. */
  uint32_t first;        /* child, 0 while not expanded */
  bool shown;
};

struct tree {
  struct nai_arena arena;
  struct nai_parsed_name name;
  struct nai_buf words;
  struct node *nodes;
  uint32_t count, capacity;
  size_t used, max; /* code points */
  bool oom;
};

static uint32_t add_node(struct tree *t) {
  t->oom |= NAI_ROOM(t->nodes, t->capacity, t->count, &t->arena, NULL) != NAI_OK;
  if (t->oom)
    return 0;
  t->nodes[t->count] = (struct node){0};
  return t->count++;
}

static bool has_args(const struct node *n) { return n->is.args.e > n->is.args.b; }

static const char *head(const struct tree *t, const struct node *n) { return nai_buf_str(&t->words) + n->is.head.b; }

static size_t head_bytes(const struct node *n) { return n->is.tail.e - n->is.head.b; }

/* Code points of a node with its arguments left out: head<...>tail. */
static size_t width(const struct tree *t, const struct node *n) {
  return nai_text_chars(head(t, n), head_bytes(n)) + (has_args(n) ? 3 : 0);
}

/* Makes nodes of the arguments of a node, all hidden. */
static void expand(struct tree *t, uint32_t parent) {
  struct nai_slice args = t->nodes[parent].is.args;
  uint32_t first = t->count;
  for (uint32_t b = args.b, e; b < args.e; b = e + 1) {
    uint32_t child = add_node(t);
    if (t->oom)
      return;
    e = nai_parsed_name_argument_end(&t->name, b, args.e);
    nai_parsed_name_argument(&t->nodes[child].is, &t->words, &t->name, (struct nai_slice){b, e}, false);
    t->nodes[child].parent = parent;
    if (t->nodes[child].is.plumbing)
      t->count--;
    else if (child > first)
      t->nodes[child - 1].next = child;
  }
  t->nodes[parent].first = t->count > first ? first : 0;
}

/* Shows those arguments of a node that have the given rank and fit. */
static void show(struct tree *t, uint32_t parent, enum nai_argument_rank rank) {
  uint32_t first = t->nodes[parent].first;
  for (uint32_t i = first; i; i = t->nodes[i].next) {
    struct node *n = &t->nodes[i];
    if (n->shown || n->is.rank != rank)
      continue;
    /* A run of hidden arguments shows as one ellipsis; this argument may split it in two. */
    size_t rest = (size_t)(i > first && !n[-1].shown) + (size_t)(n->next && !n[1].shown);
    size_t used = t->used - 1 + width(t, n) + 3 * rest;
    if (used > t->max)
      continue;
    n->shown = true;
    t->used = used;
  }
}

/* The only argument of a kernel, too long to be shown: a part of it tells more than nothing. */
static void show_part(struct tree *t) {
  struct node *n = &t->nodes[t->nodes[0].first];
  size_t room = t->max - t->used + 1;
  if (n == t->nodes || n->next || n->shown || room < MIN_CHARS)
    return;
  uint32_t start = (uint32_t)t->words.len;
  nai_buf_reserve(&t->words, head_bytes(n) + sizeof ELLIPSIS); /* so that the source does not move */
  if (t->words.oom)
    return;
  nai_text_cut(&t->words, head(t, n), head_bytes(n), room);
  n->is.head = (struct nai_slice){start, (uint32_t)t->words.len};
  n->is.tail = n->is.args = (struct nai_slice){n->is.head.e, n->is.head.e};
  n->shown = true;
}

static void fill(struct tree *t) {
  t->used = width(t, &t->nodes[0]);
  /* First what the kernel computes, however deep it stands, then the rest from the outside inwards. */
  for (uint32_t i = 0; i < t->count && !t->oom; i++)
    if (has_args(&t->nodes[i]) && (i == 0 || t->nodes[i].shown) && t->used < t->max) {
      expand(t, i);
      show(t, i, NAI_RANK_OPERATION);
    }
  for (uint32_t i = 0; i < t->count && !t->oom; i++)
    if (has_args(&t->nodes[i]) && (i == 0 || t->nodes[i].shown) && t->used < t->max) {
      if (!t->nodes[i].first)
        expand(t, i);
      show(t, i, NAI_RANK_OPERATION);
      show(t, i, NAI_RANK_TYPE);
      show(t, i, NAI_RANK_VALUE);
    }
  if (!t->oom)
    show_part(t);
}

static void put_word(struct nai_buf *out, const struct tree *t, struct nai_slice at) {
  nai_buf_put(out, nai_buf_str(&t->words) + at.b, at.e - at.b);
}

/* Writes the tree, without recursion: down to the first child, else to the next one, else up. */
static void write_tree(struct nai_buf *out, const struct tree *t) {
  for (uint32_t i = 0;;) {
    const struct node *n = &t->nodes[i];
    if (i != 0 && !n->shown) {
      nai_buf_puts(out, ELLIPSIS);
      while (t->nodes[i].next && !t->nodes[t->nodes[i].next].shown)
        i = t->nodes[i].next;
    } else {
      put_word(out, t, n->is.head);
      if (has_args(n) && n->first) {
        nai_buf_putc(out, '<');
        i = n->first;
        continue;
      }
      if (has_args(n))
        nai_buf_puts(out, "<" ELLIPSIS ">");
      put_word(out, t, n->is.tail);
    }
    while (i != 0 && !t->nodes[i].next) {
      i = t->nodes[i].parent;
      nai_buf_putc(out, '>');
      put_word(out, t, t->nodes[i].is.tail);
    }
    if (i == 0)
      return;
    nai_buf_puts(out, ", ");
    i = t->nodes[i].next;
  }
}

/* The short form of a name that has C++ structure; false when it has none. */
static bool shorten(struct nai_buf *out, struct tree *t, const char *name, size_t len) {
  if (len >= MAX_NAME_BYTES || !strpbrk(name, "<("))
    return false;
  bool paired = nai_parsed_name_init(&t->name, name, (uint32_t)len);
  t->oom = !t->name.match;
  if (!paired)
    return false;
  add_node(t);
  struct nai_slice all = {0, (uint32_t)len};
  if (t->oom || !nai_parsed_name_argument(&t->nodes[0].is, &t->words, &t->name, all, true))
    return false;
  if (width(t, &t->nodes[0]) <= t->max) {
    fill(t);
    if (!t->oom)
      write_tree(out, t);
  } else {
    nai_text_cut(out, head(t, &t->nodes[0]), head_bytes(&t->nodes[0]), t->max);
  }
  return true;
}

static void tree_free(struct tree *t) {
  free(t->name.match);
  nai_arena_free(&t->arena);
  nai_buf_free(&t->words);
}

void nai_kernel_name_short(struct nai_buf *out, const char *name, size_t max_chars) {
  NAI_SCOPED(tree) tree = {.arena = NAI_ARENA(NULL), .max = max_chars < MIN_CHARS ? MIN_CHARS : max_chars};
  size_t len = strlen(name);
  if (!shorten(out, &tree, name, len))
    nai_text_cut(out, name, len, tree.max);
  out->oom |= tree.oom || tree.words.oom;
}

void nai_kernel_base_name(struct nai_buf *out, const char *name) {
  NAI_SCOPED(tree) tree = {.arena = NAI_ARENA(NULL)};
  size_t len = strlen(name);
  struct nai_slice base = {0};
  if (len < MAX_NAME_BYTES && strpbrk(name, "<(") && nai_parsed_name_init(&tree.name, name, (uint32_t)len))
    base = nai_parsed_name_function(&tree.name);
  if (base.e > base.b)
    nai_buf_put(out, name + base.b, base.e - base.b);
  else
    nai_buf_puts(out, name);
}

void nai_function_name_short(struct nai_buf *out, const char *signature, size_t max_chars) {
  size_t start = 0, end = strlen(signature), depth = 0;
  for (size_t i = 0; i < end && !strstr(signature, "operator"); i++) {
    char c = signature[i];
    if (c == '(' && !depth && i && signature[i - 1] != ' ' && signature[i - 1] != ':')
      end = i;
    depth += c == '<' || c == '(';
    depth -= (c == '>' || c == ')') && depth;
    start = c == ' ' && !depth && i < end ? i + 1 : start;
  }
  NAI_SCOPED(nai_buf) name = {0};
  nai_buf_put(&name, signature + start, end - start);
  nai_kernel_name_short(out, end > start ? nai_buf_str(&name) : signature, max_chars);
  out->oom |= name.oom;
}
