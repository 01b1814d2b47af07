#include "features/compare/match.h"

#include "base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *nai_match_state_name(enum nai_match_state state) {
  static const char *const names[NAI_MATCH_STATE_COUNT] = {"matched", "renamed",   "retuned",   "split",
                                                           "merged",  "regrouped", "only_base", "only_new"};
  return names[state];
}

void nai_match_free(struct nai_match *match) {
  free(match->rows);
  free(match->base_members);
  free(match->new_members);
  *match = (struct nai_match){0};
}

/* A use on its way: keys are offsets into the text, made once. */
struct item {
  const struct nai_kernel_use *use;
  uint32_t index;
  bool fresh, done;
  size_t keys[NAI_LEVEL_TUNING + 1];
  const char *type;
};

/* What items are grouped by in one pass. */
struct pass {
  enum nai_match_level level;
  bool with_path;
};
static const struct pass passes[] = {
    {NAI_LEVEL_NAME, true},   {NAI_LEVEL_NAME, false},   {NAI_LEVEL_TOOLCHAIN, true}, {NAI_LEVEL_TOOLCHAIN, false},
    {NAI_LEVEL_TUNING, true}, {NAI_LEVEL_TUNING, false}, {NAI_LEVEL_PLACE, true},     {NAI_LEVEL_CATEGORY, false},
};

struct work {
  struct nai_match *match;
  struct item *items;
  struct item **order;
  uint32_t count;
  struct nai_buf text;
  double steps[2];
  uint32_t members[2]; /* put so far, base and new */
  struct nai_err *err;
};

struct order {
  const struct work *work;
  struct pass pass;
};

static const char *key_of(const struct work *w, const struct item *item, enum nai_match_level level) {
  return nai_buf_str(&w->text) + item->keys[level];
}

/* By the keys of a pass: 0 for items of one group. */
static int compare_keys(const struct item *a, const struct item *b, const struct order *o) {
  int order;
  if (o->pass.level <= NAI_LEVEL_TUNING) {
    order = strcmp(key_of(o->work, a, o->pass.level), key_of(o->work, b, o->pass.level));
  } else {
    order = strcmp(a->use->category, b->use->category);
    if (!order && o->pass.level == NAI_LEVEL_PLACE)
      order = strcmp(a->type, b->type);
  }
  return order || !o->pass.with_path ? order : strcmp(a->use->path, b->use->path);
}

/* Inside a group: base first, then by name and path, so that the order of input does not matter. */
static int compare_items(const void *pa, const void *pb, void *ctx) {
  const struct item *a = *(struct item *const *)pa, *b = *(struct item *const *)pb;
  int order = compare_keys(a, b, ctx);
  if (order)
    return order;
  if (a->fresh != b->fresh)
    return a->fresh ? 1 : -1;
  order = strcmp(a->use->name, b->use->name);
  if (!order)
    order = strcmp(a->use->path, b->use->path);
  return order ? order : (a->index > b->index) - (a->index < b->index);
}

static void add_members(struct work *w, struct nai_match_row *row, struct item *const *items, uint32_t n) {
  row->base_first = w->members[0];
  row->new_first = w->members[1];
  for (uint32_t i = 0; i < n; i++) {
    const struct nai_kernel_use *use = items[i]->use;
    items[i]->done = true;
    if (items[i]->fresh) {
      w->match->new_members[w->members[1]++] = items[i]->index;
      row->new_launches += use->launches;
      row->new_ns += use->ns;
    } else {
      w->match->base_members[w->members[0]++] = items[i]->index;
      row->base_launches += use->launches;
      row->base_ns += use->ns;
    }
  }
  row->base_count = w->members[0] - row->base_first;
  row->new_count = w->members[1] - row->new_first;
}

static enum nai_match_state state_of(enum nai_match_level level, uint32_t base, uint32_t fresh) {
  if (!base)
    return NAI_MATCH_ONLY_NEW;
  if (!fresh)
    return NAI_MATCH_ONLY_BASE;
  if (level == NAI_LEVEL_NAME)
    return NAI_MATCH_KERNEL;
  if (level == NAI_LEVEL_TOOLCHAIN)
    return NAI_MATCH_RENAMED;
  if (base == fresh && (level == NAI_LEVEL_TUNING || base == 1))
    return NAI_MATCH_RETUNED;
  return base == 1 ? NAI_MATCH_SPLIT : fresh == 1 ? NAI_MATCH_MERGED : NAI_MATCH_REGROUPED;
}

/* How many different names the items have; sorted by name. */
static uint32_t count_names(struct item *const *items, uint32_t n) {
  uint32_t names = 0;
  for (uint32_t i = 0; i < n; i++)
    names += i == 0 || strcmp(items[i]->use->name, items[i - 1]->use->name) != 0;
  return names;
}

static int add_row(struct work *w, enum nai_match_level level, struct item *const *items, uint32_t base,
                   uint32_t fresh) {
  struct nai_match *m = w->match;
  if (!nai_array_room(&m->rows, &m->capacity, m->count, sizeof *m->rows))
    return nai_err_nomem(w->err);
  struct nai_match_row *row = &m->rows[m->count++];
  *row = (struct nai_match_row){.level = level};
  add_members(w, row, items, base + fresh);
  row->state = state_of(level, count_names(items, base), count_names(items + base, fresh));
  int64_t ns = row->base_ns + row->new_ns;
  if (base && fresh)
    m->level_ns[level] += ns;
  else
    m->only_ns += ns;
  return NAI_OK;
}

/* Launches per step of items, and whether those of the two sides agree within 2 %. */
static double launches(const struct work *w, struct item *const *items, uint32_t n) {
  double sum = 0;
  for (uint32_t i = 0; i < n; i++)
    sum += (double)items[i]->use->launches / w->steps[items[i]->fresh];
  return sum;
}

static bool agree(double a, double b) { return fabs(a - b) <= 0.02 * fmax(a, b); }

/* Whether each name of a side is launched as often as the one name of the other side: what fusion leaves. Sorted by
 * name. */
static bool each_agrees(const struct work *w, struct item *const *many, uint32_t n, double one) {
  for (uint32_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && strcmp(many[i]->use->name, many[end]->use->name) == 0;)
      end++;
    if (!agree(launches(w, many + i, end - i), one))
      return false;
  }
  return true;
}

/* Names that fit make a block whatever they hold. At the same place (L3) one kernel for one or for several is a block,
 * several for several only with as many launches. Of a category alone (L4) only what is launched equally often is. */
static bool is_block(const struct work *w, enum nai_match_level level, struct item *const *items, uint32_t base,
                     uint32_t fresh) {
  if (level <= NAI_LEVEL_TUNING)
    return true;
  struct item *const *news = items + base;
  uint32_t a = count_names(items, base), b = count_names(news, fresh);
  double in_base = launches(w, items, base), in_new = launches(w, news, fresh);
  if (level == NAI_LEVEL_PLACE)
    return (a == 1) != (b == 1) || agree(in_base, in_new);
  return b == 1 ? each_agrees(w, items, base, in_new) : a == 1 && each_agrees(w, news, fresh, in_base);
}

static int run_pass(struct work *w, struct pass pass) {
  struct order order = {w, pass};
  uint32_t left = 0;
  for (uint32_t i = 0; i < w->count; i++)
    if (!w->items[i].done && !(pass.level == NAI_LEVEL_PLACE && !*w->items[i].use->path))
      w->order[left++] = &w->items[i];
  qsort_r(w->order, left, sizeof *w->order, compare_items, &order);
  for (uint32_t i = 0, end; i < left; i = end) {
    uint32_t base = 0;
    for (end = i; end < left && compare_keys(w->order[i], w->order[end], &order) == 0; end++)
      base += !w->order[end]->fresh;
    uint32_t fresh = end - i - base;
    if (!base || !fresh || !is_block(w, pass.level, w->order + i, base, fresh))
      continue;
    int rc = add_row(w, pass.level, w->order + i, base, fresh);
    if (rc)
      return rc;
  }
  return NAI_OK;
}

/* What nothing on the other side fits: a row per name, with all its places. */
static int add_rest(struct work *w) {
  struct order order = {w, {NAI_LEVEL_NAME, false}};
  uint32_t left = 0;
  for (uint32_t i = 0; i < w->count; i++)
    if (!w->items[i].done)
      w->order[left++] = &w->items[i];
  qsort_r(w->order, left, sizeof *w->order, compare_items, &order);
  for (uint32_t i = 0, end; i < left; i = end) {
    for (end = i + 1; end < left && w->order[end]->fresh == w->order[i]->fresh &&
                      compare_keys(w->order[i], w->order[end], &order) == 0;)
      end++;
    bool fresh = w->order[i]->fresh;
    int rc = add_row(w, NAI_LEVEL_NAME, w->order + i, fresh ? 0 : end - i, fresh ? end - i : 0);
    if (rc)
      return rc;
  }
  return NAI_OK;
}

static void make_keys(struct work *w, struct item *item, nai_alias_fn *alias, const void *alias_ctx) {
  const char *other = alias ? alias(alias_ctx, item->use->name) : NULL, *name = other ? other : item->use->name;
  item->keys[NAI_LEVEL_NAME] = w->text.len;
  nai_buf_put(&w->text, name, strlen(name) + 1);
  item->keys[NAI_LEVEL_TOOLCHAIN] = w->text.len;
  nai_kernel_key_toolchain(&w->text, name, strlen(name));
  nai_buf_putc(&w->text, '\0');
  struct nai_buf tuned = {0};
  const char *toolchain = nai_buf_str(&w->text) + item->keys[NAI_LEVEL_TOOLCHAIN];
  if (!w->text.oom)
    nai_kernel_key_tuning(&tuned, toolchain, strlen(toolchain));
  item->keys[NAI_LEVEL_TUNING] = w->text.len;
  nai_buf_put(&w->text, nai_buf_str(&tuned), tuned.len);
  nai_buf_putc(&w->text, '\0');
  item->type = nai_kernel_key_type(name);
  w->text.oom |= tuned.oom;
  nai_buf_free(&tuned);
}

static int64_t weight(const struct nai_match_row *row) {
  return row->base_ns > row->new_ns ? row->base_ns : row->new_ns;
}

/* The longest first; equal ones keep the order in which they were matched, which is one of names. */
static int by_weight(const void *a, const void *b) {
  const struct nai_match_row *x = a, *y = b;
  if (weight(x) != weight(y))
    return weight(x) < weight(y) ? 1 : -1;
  if (x->level != y->level)
    return x->level < y->level ? -1 : 1;
  if (x->base_first != y->base_first)
    return x->base_first < y->base_first ? -1 : 1;
  return (x->new_first > y->new_first) - (x->new_first < y->new_first);
}

int nai_match_kernels(struct nai_match *out, const struct nai_kernel_use *base, uint32_t base_count, double base_steps,
                      const struct nai_kernel_use *fresh, uint32_t new_count, double new_steps, nai_alias_fn *alias,
                      const void *alias_ctx, struct nai_err *err) {
  struct work w = {.match = out, .count = base_count + new_count, .steps = {base_steps, new_steps}, .err = err};
  *out = (struct nai_match){0};
  w.items = calloc((size_t)w.count + 1, sizeof *w.items);
  w.order = calloc((size_t)w.count + 1, sizeof(struct item *));
  out->base_members = calloc((size_t)base_count + 1, sizeof *out->base_members);
  out->new_members = calloc((size_t)new_count + 1, sizeof *out->new_members);
  int rc = w.items && w.order && out->base_members && out->new_members ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < w.count; i++) {
    bool is_new = i >= base_count;
    w.items[i].use = is_new ? &fresh[i - base_count] : &base[i];
    w.items[i].index = is_new ? i - base_count : i;
    w.items[i].fresh = is_new;
    *(is_new ? &out->new_ns : &out->base_ns) += w.items[i].use->ns;
    make_keys(&w, &w.items[i], alias, alias_ctx);
  }
  if (!rc)
    rc = nai_buf_check(&w.text, err);
  for (size_t i = 0; !rc && i < sizeof passes / sizeof *passes; i++)
    rc = run_pass(&w, passes[i]);
  if (!rc)
    rc = add_rest(&w);
  if (!rc)
    qsort(out->rows, out->count, sizeof *out->rows, by_weight);
  nai_buf_free(&w.text);
  free(w.items);
  free(w.order);
  if (rc)
    nai_match_free(out);
  return rc;
}
