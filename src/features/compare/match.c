#include "features/compare/match.h"

#include "base/sort.h"

const char *nai_match_state_name(enum nai_match_state state) {
  static const char *const names[NAI_MATCH_STATE_COUNT] = {"matched", "renamed",   "retuned",   "split",
                                                           "merged",  "regrouped", "only_base", "only_new"};
  return names[state];
}

/* A use on its way: keys are offsets into the text, made once. */
struct item {
  const struct nai_kernel_use *use;
  uint32_t index;
  enum nai_side_id side;
  const char *path; /* "" where places of its name are not known alike on both sides */
  bool done;
  uint32_t row; /* of the match, once it is done */
  size_t keys[NAI_LEVEL_TUNING + 1];
  const char *type;
};

/* What items are grouped by in one pass. */
struct pass {
  enum nai_match_level level;
  bool narrow; /* by its path, too; of a call site by the category */
};
static const struct pass passes[] = {
    {NAI_LEVEL_NAME, true},   {NAI_LEVEL_NAME, false},     {NAI_LEVEL_TOOLCHAIN, true}, {NAI_LEVEL_TOOLCHAIN, false},
    {NAI_LEVEL_TUNING, true}, {NAI_LEVEL_TUNING, false},   {NAI_LEVEL_SITE, true},      {NAI_LEVEL_SITE, false},
    {NAI_LEVEL_PLACE, true},  {NAI_LEVEL_CATEGORY, false},
};

struct work {
  struct nai_match *match;
  const struct nai_kernel_uses *uses; /* of each side */
  struct item *items;
  struct item **order;
  uint32_t count;
  const struct nai_buf *text;
  struct nai_arena *arena; /* of the match */
  struct nai_err *err;
};

struct order {
  const struct work *work;
  struct pass pass;
};

static const char *key_of(const struct work *w, const struct item *item, enum nai_match_level level) {
  return nai_buf_str(w->text) + item->keys[level];
}

/* By the keys of a pass: 0 for items of one group. */
static int compare_keys(const struct item *a, const struct item *b, const struct order *o) {
  int order;
  if (o->pass.level == NAI_LEVEL_SITE) {
    order = strcmp(a->use->site, b->use->site);
    return order || !o->pass.narrow ? order : strcmp(a->use->category, b->use->category);
  }
  if (o->pass.level <= NAI_LEVEL_TUNING) {
    order = strcmp(key_of(o->work, a, o->pass.level), key_of(o->work, b, o->pass.level));
  } else {
    order = strcmp(a->use->category, b->use->category);
    if (!order && o->pass.level == NAI_LEVEL_PLACE)
      order = strcmp(a->type, b->type);
  }
  return order || !o->pass.narrow ? order : strcmp(a->path, b->path);
}

/* Inside a group: base first, then by name and path, so that the order of input does not matter. */
static int compare_uses(const struct item *a, const struct item *b) {
  if (a->side != b->side)
    return a->side < b->side ? -1 : 1;
  int order = strcmp(a->use->name, b->use->name);
  if (!order)
    order = strcmp(a->use->path, b->use->path);
  return order ? order : (a->index > b->index) - (a->index < b->index);
}

static int compare_items(const void *pa, const void *pb, void *ctx) {
  const struct item *a = *(struct item *const *)pa, *b = *(struct item *const *)pb;
  int order = compare_keys(a, b, ctx);
  return order ? order : compare_uses(a, b);
}

NAI_ORDER_BY(compare_rows, struct item *const, NAI_SIGN((*a)->row, (*b)->row), compare_uses(*a, *b))

static void add_items(struct work *w, uint32_t row, struct item *const *items, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    struct nai_match_part *part = &w->match->rows[row].of[items[i]->side];
    part->count++;
    part->launches += items[i]->use->launches;
    part->ns += items[i]->use->ns;
    items[i]->row = row;
    items[i]->done = true;
  }
}

static enum nai_match_state state_of(enum nai_match_level level, uint32_t base, uint32_t candidate) {
  if (!base)
    return NAI_MATCH_ONLY_CANDIDATE;
  if (!candidate)
    return NAI_MATCH_ONLY_BASE;
  if (level == NAI_LEVEL_NAME)
    return NAI_MATCH_KERNEL;
  if (level == NAI_LEVEL_TOOLCHAIN)
    return NAI_MATCH_RENAMED;
  if (base == candidate && (level == NAI_LEVEL_TUNING || base == 1))
    return NAI_MATCH_RETUNED;
  return base == 1 ? NAI_MATCH_SPLIT : candidate == 1 ? NAI_MATCH_MERGED : NAI_MATCH_REGROUPED;
}

/* How many different names the items have; sorted by name. */
static uint32_t count_names(struct item *const *items, uint32_t n) {
  uint32_t names = 0;
  for (uint32_t i = 0; i < n; i++)
    names += i == 0 || strcmp(items[i]->use->name, items[i - 1]->use->name) != 0;
  return names;
}

static int add_row(struct work *w, enum nai_match_level level, struct item *const *items, uint32_t count) {
  struct nai_match *m = w->match;
  NAI_TRY(NAI_ROOM(m->rows, m->capacity, m->count, w->arena, w->err));
  m->rows[m->count] = (struct nai_match_row){.level = level};
  add_items(w, m->count++, items, count);
  return NAI_OK;
}

/* Launches per step of items. */
static double launches(const struct work *w, struct item *const *items, uint32_t n) {
  double sum = 0;
  for (uint32_t i = 0; i < n; i++)
    sum += (double)items[i]->use->launches / w->uses[items[i]->side].steps;
  return sum;
}

/* Within 2 %. */
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

/* Names that fit make a block whatever they hold. At the same place (L3, L4) one kernel for one or for several is a
 * block, several for several only with as many launches. So are those of one category at a call site: the others there
 * may be what one has become. Of a category alone (L5) only what is launched equally often is. */
static bool is_block(const struct work *w, struct pass pass, struct item *const *items, uint32_t base,
                     uint32_t candidate) {
  if (pass.level <= NAI_LEVEL_TUNING)
    return true;
  struct item *const *others = items + base;
  uint32_t a = count_names(items, base), b = count_names(others, candidate);
  double in_base = launches(w, items, base), in_candidate = launches(w, others, candidate);
  if (pass.level < NAI_LEVEL_CATEGORY)
    return ((a == 1) != (b == 1) && !(pass.level == NAI_LEVEL_SITE && pass.narrow)) || agree(in_base, in_candidate);
  return b == 1 ? each_agrees(w, items, base, in_candidate) : a == 1 && each_agrees(w, others, candidate, in_base);
}

/* Puts what is left into w->order, sorted; returns how many. */
static uint32_t sort_rest(struct work *w, struct order *order) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < w->count; i++)
    if (!w->items[i].done && !(order->pass.level == NAI_LEVEL_PLACE && !*w->items[i].path) &&
        !(order->pass.level == NAI_LEVEL_SITE && !(w->items[i].use->site && *w->items[i].use->site)))
      w->order[left++] = &w->items[i];
  qsort_r(w->order, left, sizeof *w->order, compare_items, order);
  return left;
}

static int run_pass(struct work *w, struct pass pass) {
  struct order order = {w, pass};
  uint32_t left = sort_rest(w, &order);
  for (uint32_t i = 0, end; i < left; i = end) {
    uint32_t base = 0;
    for (end = i; end < left && compare_keys(w->order[i], w->order[end], &order) == 0; end++)
      base += w->order[end]->side == NAI_BASE;
    uint32_t candidate = end - i - base;
    if (base && candidate && is_block(w, pass, w->order + i, base, candidate))
      NAI_TRY(add_row(w, pass.level, w->order + i, end - i));
  }
  return NAI_OK;
}

/* What nothing on the other side fits: a row per name, with all its places. */
static int add_rest(struct work *w) {
  struct order order = {w, {NAI_LEVEL_NAME, false}};
  uint32_t left = sort_rest(w, &order);
  for (uint32_t i = 0, end; i < left; i = end) {
    enum nai_side_id side = w->order[i]->side;
    for (end = i + 1;
         end < left && w->order[end]->side == side && compare_keys(w->order[i], w->order[end], &order) == 0;)
      end++;
    NAI_TRY(add_row(w, NAI_LEVEL_NAME, w->order + i, end - i));
  }
  return NAI_OK;
}

/* --- places that are not known ---------------------------------------------------------------- */

/* Puts all items into w->order, sorted. */
static void sort_all(struct work *w, struct order *order) {
  for (uint32_t i = 0; i < w->count; i++)
    w->order[i] = &w->items[i];
  qsort_r(w->order, w->count, sizeof *w->order, compare_items, order);
}

/* Where the group of equal keys at `from` of w->order ends. */
static uint32_t group_end(const struct work *w, const struct order *order, uint32_t from) {
  uint32_t end = from + 1;
  while (end < w->count && compare_keys(w->order[from], w->order[end], order) == 0)
    end++;
  return end;
}

/* A kernel whose launch is not in the capture has no place: where a side has more of them than the other, places would
 * be shorter or gone that are not. Such a name is matched without them. */
static void forget_places(struct work *w, struct item *const *items, uint32_t n) {
  double known[NAI_SIDES] = {0, 0}, unknown[NAI_SIDES] = {0, 0};
  for (uint32_t i = 0; i < n; i++)
    *(*items[i]->path ? &known[items[i]->side] : &unknown[items[i]->side]) += launches(w, items + i, 1);
  bool has_both = known[NAI_BASE] + unknown[NAI_BASE] > 0 && known[NAI_CANDIDATE] + unknown[NAI_CANDIDATE] > 0;
  if (!has_both || !(known[NAI_BASE] + known[NAI_CANDIDATE] > 0) || agree(unknown[NAI_BASE], unknown[NAI_CANDIDATE]))
    return;
  for (uint32_t i = 0; i < n; i++)
    items[i]->path = "";
}

static void forget_unknown_places(struct work *w) {
  struct order order = {w, {NAI_LEVEL_NAME, false}};
  sort_all(w, &order);
  for (uint32_t i = 0, end; i < w->count; i = end) {
    end = group_end(w, &order, i);
    forget_places(w, w->order + i, end - i);
  }
}

/* --- what is left of one side ----------------------------------------------------------------- */

static double launches_of(const struct work *w, const struct nai_match_row *row, int side) {
  return (double)row->of[side].launches / w->uses[side].steps;
}

/* Packs what is left of a group to the front. Returns how many that are; *row: the only one that others are in, or
 * UINT32_MAX. */
static uint32_t pack_rest(struct item **items, uint32_t n, uint32_t *row) {
  uint32_t left = 0, rows = 0;
  *row = UINT32_MAX;
  for (uint32_t i = 0; i < n; i++) {
    if (!items[i]->done) {
      items[left++] = items[i];
      continue;
    }
    rows += items[i]->row != *row;
    *row = items[i]->row;
  }
  *row = rows == 1 ? *row : UINT32_MAX;
  return left;
}

/* The level at which the first items of a row and of others are the same. */
static enum nai_match_level level_of(const struct work *w, const struct item *a, const struct item *b,
                                     enum nai_match_level least) {
  enum nai_match_level level = least;
  while (level < NAI_LEVEL_TUNING && strcmp(key_of(w, a, level), key_of(w, b, level)) != 0)
    level++;
  return level;
}

/* Variants of one kernel that one side runs and the other does not, beside one that both run: where calls of all
 * together are more alike than of that one alone, the other side does with it what here several do. */
static void join_rest(struct work *w) {
  struct order order = {w, {NAI_LEVEL_TUNING, false}};
  sort_all(w, &order);
  for (uint32_t i = 0, end, at; i < w->count; i = end) {
    end = group_end(w, &order, i);
    const struct item *first = w->order[i];
    uint32_t left = pack_rest(w->order + i, end - i, &at);
    if (!left || at == UINT32_MAX)
      continue;
    struct nai_match_row *row = &w->match->rows[at];
    int side = w->order[i]->side; /* of all: what both sides have was matched */
    double own = launches_of(w, row, side), other = launches_of(w, row, !side);
    if (2 * fabs(own + launches(w, w->order + i, left) - other) > fabs(own - other))
      continue;
    for (uint32_t k = 0; k < left; k++)
      row->level = level_of(w, first, w->order[i + k], row->level);
    add_items(w, at, w->order + i, left);
  }
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Members of each row, and what they make of it. */
static void close_rows(struct work *w) {
  struct nai_match *m = w->match;
  uint32_t put[NAI_SIDES] = {0, 0}, at = 0;
  for (uint32_t i = 0; i < w->count; i++)
    w->order[i] = &w->items[i];
  qsort(w->order, w->count, sizeof *w->order, compare_rows);
  for (uint32_t r = 0; r < m->count; r++) {
    struct nai_match_row *row = &m->rows[r];
    uint32_t names[NAI_SIDES];
    for (int s = 0; s < NAI_SIDES; s++) {
      names[s] = count_names(w->order + at, row->of[s].count);
      row->of[s].first = put[s];
      for (uint32_t i = 0; i < row->of[s].count; i++)
        m->members[s][put[s]++] = w->order[at++]->index;
    }
    row->state = state_of(row->level, names[NAI_BASE], names[NAI_CANDIDATE]);
    *(names[NAI_BASE] && names[NAI_CANDIDATE] ? &m->level_ns[row->level] : &m->only_ns) +=
        row->of[NAI_BASE].ns + row->of[NAI_CANDIDATE].ns;
  }
}

/* Of what is left of one side: whether its name runs on the other, at another place. */
static void find_moved(struct work *w) {
  struct order order = {w, {NAI_LEVEL_NAME, false}};
  sort_all(w, &order);
  for (uint32_t i = 0, end; i < w->count; i = end) {
    bool has[NAI_SIDES] = {false, false};
    end = group_end(w, &order, i);
    for (uint32_t k = i; k < end; k++)
      has[w->order[k]->side] = true;
    for (uint32_t k = i; k < end && has[NAI_BASE] && has[NAI_CANDIDATE]; k++)
      w->match->rows[w->order[k]->row].is_elsewhere = true;
  }
}

static void make_keys(struct nai_buf *text, struct item *item, nai_alias_fn *alias, const void *alias_ctx) {
  const char *other = alias ? alias(alias_ctx, item->use->name) : NULL, *name = other ? other : item->use->name;
  item->keys[NAI_LEVEL_NAME] = text->len;
  nai_buf_put(text, name, strlen(name) + 1);
  item->keys[NAI_LEVEL_TOOLCHAIN] = text->len;
  nai_kernel_key_toolchain(text, name, strlen(name));
  nai_buf_putc(text, '\0');
  NAI_SCOPED(nai_buf) tuned = {0};
  const char *toolchain = nai_buf_str(text) + item->keys[NAI_LEVEL_TOOLCHAIN];
  if (!text->oom)
    nai_kernel_key_tuning(&tuned, toolchain, strlen(toolchain));
  item->keys[NAI_LEVEL_TUNING] = text->len;
  nai_buf_put(text, nai_buf_str(&tuned), tuned.len);
  nai_buf_putc(text, '\0');
  item->type = nai_kernel_key_type(name);
  text->oom |= tuned.oom;
}

static int64_t weight(const struct nai_match_row *row) {
  int64_t base = row->of[NAI_BASE].ns, candidate = row->of[NAI_CANDIDATE].ns;
  return base > candidate ? base : candidate;
}

/* The longest first; equal ones keep the order in which they were matched, which is one of names. */
NAI_ORDER(by_weight, struct nai_match_row, {weight(b), weight(a)}, {a->level, b->level},
          {a->of[0].first, b->of[0].first}, {a->of[1].first, b->of[1].first})

int nai_match_kernels(struct nai_match *out, const struct nai_kernel_uses uses[NAI_SIDES], nai_alias_fn *alias,
                      const void *alias_ctx, struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_arena) own = NAI_ARENA(NULL);
  NAI_SCOPED(nai_buf) text = {0};
  struct work w = {.match = out, .uses = uses, .text = &text, .arena = arena, .err = err};
  size_t all = (size_t)uses[NAI_BASE].count + uses[NAI_CANDIDATE].count;
  *out = (struct nai_match){0};
  NAI_TRY(NAI_NEW(w.items, &own, all, err));
  NAI_TRY(NAI_NEW(w.order, &own, all, err));
  for (int s = 0; s < NAI_SIDES; s++) {
    NAI_TRY(NAI_NEW(out->members[s], arena, uses[s].count, err));
    for (uint32_t i = 0; i < uses[s].count; i++) {
      struct item *item = &w.items[w.count++];
      *item =
          (struct item){.use = &uses[s].list[i], .index = i, .side = (enum nai_side_id)s, .path = uses[s].list[i].path};
      out->ns[s] += item->use->ns;
      make_keys(&text, item, alias, alias_ctx);
    }
  }
  NAI_TRY(nai_buf_check(&text, err));
  forget_unknown_places(&w);
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
    if (passes[i].level == NAI_LEVEL_SITE && passes[i].narrow)
      join_rest(&w);
    NAI_TRY(run_pass(&w, passes[i]));
  }
  NAI_TRY(add_rest(&w));
  close_rows(&w);
  find_moved(&w);
  if (out->count)
    qsort(out->rows, out->count, sizeof *out->rows, by_weight);
  return NAI_OK;
}
