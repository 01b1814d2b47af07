/* NVTX ranges with their names, and their times by name. */
#include "features/stats/ranges.h"

#include "base/array.h"
#include "base/threads.h"
#include "trace/names.h"

enum { START, END, TYPE, TEXT, TEXT_ID, THREAD, END_THREAD, DOMAIN, ROW };
static const char *const columns[] = {"start",     "end",          "eventType", "$text", "textId",
                                      "globalTid", "endGlobalTid", "domainId",  "#",     NULL};
static const char *const summed_columns[] = {"start",     "end", "eventType", "$text", "textId",
                                             "globalTid", "",    "domainId",  NULL};

static bool is_push_pop(int64_t type) { return type == 59 || type == 70; }
static bool is_start_end(int64_t type) { return type == 60 || type == 71; }
static bool is_range(int64_t type) { return is_push_pop(type) || is_start_end(type); }
static bool is_wanted(int64_t type, enum nai_stats_styles styles) {
  return styles == NAI_STATS_ONLY_PUSH_POP ? is_push_pop(type) : is_range(type);
}
enum { DOMAIN_CREATE = 75 };

/* What ranges are called by: a head, and a text of the part, NO_TEXT for none. */
enum { HEAD_PROCESS, HEAD_DOMAIN, HEAD_ID, HEADS };
enum { MAX_WORDS = 1 << NAI_STATS_WORDS_BITS };
#define NO_TEXT UINT32_MAX

/* What a part of the rows has. Parts are read and filled in side by side, words named in between. */
struct range_part {
  uint32_t first, count; /* of the ranges, with room behind them */
  int64_t last;          /* until when a range without end lasts */
  struct nai_stats_keys heads;
  struct nai_keyset words;
  struct known_words { /* by text + 1, 0: none: the words, and 1, that it was with this head last */
    uint32_t head, words;
  } * known;
  uint32_t known_capacity;
  uint32_t *near;  /* of nai_stats_begins_in */
  uint32_t *names; /* of the words: of nai_stats_ranges.words; where times are summed up, of source->texts */
  struct domain_row {
    int64_t thread, text, text_id;
    uint32_t domain;
  } * domains;
  uint32_t domain_count, domain_capacity;
  struct nai_stats_range *open; /* of those that are summed up: without an end */
  uint32_t open_count, open_capacity;
  uint32_t *group; /* of what is summed up, told by its words and style: 0: there is none; its number + 1 */
  uint32_t group_capacity;
};

/* What the rows of NVTX_EVENTS become ranges with. */
struct naming {
  struct nai_stats_source *source;
  struct nai_stats_ranges *out;
  enum nai_stats_styles styles;
  const struct nai_stats_begins *only;         /* NULL: all */
  struct nai_keyset processes, domains, pairs; /* domains: process and domain; pairs: domain's name and text */
  int64_t *domain_names;
  uint32_t domain_capacity, capacity;
  int64_t last;
  struct range_part *parts; /* as many as may be read side by side */
  uint32_t **texts;         /* of each part */
  bool old;
  bool colons;                   /* texts of rows are `:TEXT` already: most ranges are of the default domain */
  struct nai_buf whole;          /* a name that is put together */
  struct nai_stats_groups *sums; /* of times, instead of ranges; or NULL */
  uint32_t *group_of;            /* of what is summed up: number + 1, by the text of its name and style; 0: not yet */
  int what;                      /* the styles that are summed up */
};

static int own_text(int64_t *text, const struct naming *n, int64_t id, struct nai_err *err) {
  *text = NAI_NO_STRING;
  return id == NAI_STATS_NULL ? NAI_OK : nai_stats_name(text, n->source, id, err);
}

/* Slot of a domain, UINT32_MAX for none. */
static uint32_t find_domain(struct naming *n, int64_t process, uint32_t domain, bool add) {
  bool added;
  uint32_t of = add ? nai_keyset_add(&n->processes, process, &added) : nai_keyset_find(&n->processes, process);
  if (of == UINT32_MAX || domain == UINT32_MAX)
    return UINT32_MAX;
  int64_t key = nai_key_pair(of, domain);
  return add ? nai_keyset_add(&n->domains, key, &added) : nai_keyset_find(&n->domains, key);
}

/* UINT32_MAX for none. */
static uint32_t domain_of(const struct nai_stats_events *rows, uint32_t row) {
  int64_t domain = rows->at[DOMAIN][row];
  return domain < 0 || domain > UINT32_MAX ? UINT32_MAX : (uint32_t)domain;
}

static int read_domain(struct range_part *part, const struct nai_stats_events *rows, uint32_t row,
                       struct nai_err *err) {
  if (!nai_array_room(&part->domains, &part->domain_capacity, part->domain_count, sizeof *part->domains))
    return nai_err_nomem(err);
  part->domains[part->domain_count++] = (struct domain_row){.thread = rows->at[THREAD][row],
                                                            .text = rows->at[TEXT][row],
                                                            .text_id = rows->at[TEXT_ID][row],
                                                            .domain = domain_of(rows, row)};
  return NAI_OK;
}

static inline bool is_head(const struct range_part *part, uint32_t number, const int64_t head[HEADS]) {
  const int64_t *other = part->heads.at + (size_t)number * HEADS;
  return !((other[HEAD_PROCESS] ^ head[HEAD_PROCESS]) | (other[HEAD_DOMAIN] ^ head[HEAD_DOMAIN]) |
           (other[HEAD_ID] ^ head[HEAD_ID]));
}

static inline int words_of(uint32_t *words, struct range_part *part, const struct nai_stats_events *rows, uint32_t row,
                           struct nai_arena *arena, struct nai_err *err) {
  const int64_t head[HEADS] = {rows->at[THREAD][row] >> NAI_STATS_PROCESS_SHIFT, domain_of(rows, row),
                               rows->at[TEXT_ID][row]};
  const int64_t text = rows->at[TEXT][row];
  const uint32_t place = text == NAI_STATS_NULL ? 0 : (uint32_t)text + 1;
  bool added;
  NAI_TRY(NAI_ROOM(part->known, part->known_capacity, place, arena, err));
  struct known_words *known = &part->known[place];
  if (!known->words || !is_head(part, known->head, head)) {
    known->head = nai_stats_key_find(&part->heads, head);
    known->words =
        1 + nai_keyset_add(&part->words, nai_key_pair(known->head, place ? (uint32_t)text : NO_TEXT), &added);
    NAI_TRY(nai_memory_check(known->head != NAI_NO_STRING && !part->words.oom, err));
  }
  *words = known->words - 1;
  return *words < MAX_WORDS
           ? NAI_OK
           : nai_err_set(err, NAI_ELIMIT, "table \"NVTX_EVENTS\" has more names than a report can hold");
}

static bool is_of_thread(const struct nai_stats_filter *filter, int64_t thread) {
  return !filter->on || ((filter->thread == NAI_STATS_NULL || filter->thread == thread) &&
                         (filter->process == NAI_STATS_NULL || filter->process == thread >> NAI_STATS_PROCESS_SHIFT));
}

/* Whether a range that has its end is one of the report's. */
static bool is_left_in(const struct naming *n, const struct nai_stats_range *range) {
  return nai_stats_has_times(range->start, range->end) && is_of_thread(&n->source->filter, range->thread) &&
         nai_stats_passes(&n->source->filter, range->start, range->end);
}

/* What times are told by until their names are known. */
static uint32_t told_by(uint32_t words, bool push_pop) { return words << 1 | push_pop; }

static int wait_for_end(struct range_part *part, const struct nai_stats_range *range, struct nai_arena *arena,
                        struct nai_err *err) {
  NAI_TRY(NAI_ROOM(part->open, part->open_capacity, part->open_count, arena, err));
  part->open[part->open_count++] = *range;
  return NAI_OK;
}

/* Of a row that is summed up the time is kept. One whose end is open waits. */
static inline int read_time(struct naming *n, struct range_part *part, const struct nai_stats_events *rows,
                            uint32_t row, struct nai_err *err) {
  const bool push_pop = is_push_pop(rows->at[TYPE][row]);
  struct nai_stats_range range = {
      .start = rows->at[START][row], .end = rows->at[END][row], .thread = rows->at[THREAD][row], .push_pop = push_pop};
  uint32_t words;
  NAI_TRY(words_of(&words, part, rows, row, &n->source->arena, err));
  const uint32_t told = told_by(words, push_pop);
  if (n->what == (push_pop ? NAI_STATS_START_END_RANGES : NAI_STATS_PUSH_POP_RANGES))
    return NAI_OK;
  NAI_TRY(NAI_ROOM(part->group, part->group_capacity, told, &n->source->arena, err));
  if (range.end == NAI_STATS_NULL) {
    range.words = words & (MAX_WORDS - 1);
    return wait_for_end(part, &range, &n->source->arena, err);
  }
  if (!is_left_in(n, &range))
    return NAI_OK;
  part->group[told] = 1;
  n->sums->group[part->first + part->count] = told;
  n->sums->value[part->first + part->count++] = range.end - range.start;
  return NAI_OK;
}

/* Whether it is one of those that are asked for: that it may hold something. */
static inline bool may_hold(const struct naming *n, const struct range_part *part, int64_t thread, int64_t start,
                            int64_t end, bool crosses) {
  return !n->only || (!crosses && nai_stats_begins_in(n->only, part->near, thread, start, end));
}

/* A range whose end may be open, with words of the part. */
static inline int read_range(struct naming *n, struct range_part *part, const struct nai_stats_events *rows,
                             uint32_t row, struct nai_err *err) {
  const int64_t start = rows->at[START][row], end = rows->at[END][row], thread = rows->at[THREAD][row];
  const bool crosses = rows->at[END_THREAD][row] != NAI_STATS_NULL;
  uint32_t words;
  if (end != NAI_STATS_NULL && !may_hold(n, part, thread, start, end, crosses))
    return NAI_OK;
  NAI_TRY(words_of(&words, part, rows, row, &n->source->arena, err));
  n->out->at[part->first + part->count++] = (struct nai_stats_range){.start = start,
                                                                     .end = end,
                                                                     .thread = thread,
                                                                     .rowid = rows->at[ROW][row],
                                                                     .words = words & (MAX_WORDS - 1),
                                                                     .push_pop = is_push_pop(rows->at[TYPE][row]),
                                                                     .crosses = crosses};
  return NAI_OK;
}

static int read_rows(void *ctx, const struct nai_stats_events *rows, int number, uint32_t first, struct nai_err *err) {
  struct naming *n = ctx;
  struct range_part *part = &n->parts[number];
  if (!rows)
    return n->sums ? nai_stats_groups_begin(n->sums, n->source, 2, first, err)
                   : NAI_NEW(n->out->at, &n->source->arena, first, err);
  int64_t last = part->last;
  part->first = first;
  for (uint32_t row = 0; row < rows->count; row++) {
    bool wanted = is_wanted(rows->at[TYPE][row], n->styles);
    if (wanted || n->old) {
      last = rows->at[START][row] > last ? rows->at[START][row] : last;
      last = rows->at[END][row] > last ? rows->at[END][row] : last;
    }
    if (rows->at[TYPE][row] == DOMAIN_CREATE)
      NAI_TRY(read_domain(part, rows, row, err));
    else if (wanted)
      NAI_TRY(n->sums ? read_time(n, part, rows, row, err) : read_range(n, part, rows, row, err));
  }
  part->last = last;
  return NAI_OK;
}

/* Of 2019 a missing id is 0: the text counts first. */
static int name_domain(struct naming *n, const struct domain_row *row, const uint32_t *texts, struct nai_err *err) {
  uint32_t slot = find_domain(n, row->thread >> NAI_STATS_PROCESS_SHIFT, row->domain, true);
  NAI_TRY(nai_memory_check(!n->processes.oom && !n->domains.oom, err));
  if (slot == UINT32_MAX)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(n->domain_names, n->domain_capacity, slot, &n->source->arena, err));
  if (row->text == NAI_STATS_NULL)
    return own_text(&n->domain_names[slot], n, row->text_id, err);
  n->whole.len = 0; /* texts move while one is added */
  nai_buf_puts(&n->whole, nai_stats_text_of(n->source, texts[row->text]) + n->colons);
  NAI_TRY(nai_buf_check(&n->whole, err));
  return nai_stats_add_text(&n->domain_names[slot], n->source, nai_buf_str(&n->whole), n->whole.len, err);
}

/* DOMAIN:TEXT; in 2022 the text alone in the default domain, and nothing where there is no text. `canonical`: without
 * what PyTorch writes behind a name, `aten::add, op_id = 7` is `aten::add`. `colon`: the text begins with it. */
static int join(int64_t *name, struct naming *n, int64_t domain, int64_t text, bool colon, struct nai_err *err) {
  const char *domain_name = nai_stats_text_of(n->source, domain), *own = nai_stats_text_of(n->source, text);
  const bool joined = colon ? domain_name != NULL : !n->old || (domain_name && own);
  *name = text;
  if (!joined && (colon || !(n->source->canonical && own)))
    return NAI_OK;
  own += own && *own ? colon : 0;
  n->whole.len = 0;
  if (joined) {
    nai_buf_puts(&n->whole, domain_name ? domain_name : "");
    nai_buf_put(&n->whole, ":", 1);
  }
  nai_buf_puts(&n->whole, own ? own : "");
  NAI_TRY(nai_buf_check(&n->whole, err));
  if (n->source->canonical)
    n->whole.len = nai_nvtx_name_length(n->whole.data, n->whole.len);
  return nai_stats_add_text(name, n->source, n->whole.data, n->whole.len, err);
}

/* Texts of what words have in common, where those have none of their own. */
struct head_names {
  int64_t domain, text;
};

static int name_head(struct head_names *names, struct naming *n, const int64_t head[HEADS], struct nai_err *err) {
  const uint32_t slot =
      n->domains.count ? find_domain(n, head[HEAD_PROCESS], (uint32_t)head[HEAD_DOMAIN], false) : UINT32_MAX;
  names->domain = slot != UINT32_MAX ? n->domain_names[slot] : NAI_NO_STRING;
  return own_text(&names->text, n, head[HEAD_ID], err);
}

static int name_words(uint32_t *name, struct naming *n, int64_t domain, int64_t text, struct nai_err *err) {
  int64_t whole;
  bool added;
  *name = nai_keyset_add(&n->pairs, nai_key_pair(domain, (uint32_t)text), &added);
  NAI_TRY(nai_memory_check(!n->pairs.oom, err));
  if (!added)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(n->out->words, n->capacity, *name, &n->source->arena, err));
  NAI_TRY(join(&whole, n, domain, text, false, err));
  n->out->words[*name] = (struct nai_stats_words){(uint32_t)domain, (uint32_t)text, (uint32_t)whole};
  return NAI_OK;
}

static int name_part(struct naming *n, int p, struct nai_err *err) {
  struct range_part *part = &n->parts[p];
  struct head_names *heads;
  NAI_TRY(NAI_NEW(heads, &n->source->arena, part->heads.count, err));
  for (uint32_t h = 0; h < part->heads.count; h++)
    NAI_TRY(name_head(&heads[h], n, nai_stats_key_of(&part->heads, h), err));
  NAI_TRY(NAI_NEW_UNSET(part->names, &n->source->arena, part->words.count, err));
  for (uint32_t w = 0; w < part->words.count; w++) {
    const struct head_names *head = &heads[(uint64_t)part->words.keys[w] >> 32];
    const uint32_t text = (uint32_t)part->words.keys[w];
    const bool own = head->text == NAI_NO_STRING && text != NO_TEXT;
    int64_t name = own ? n->texts[p][text] : head->text;
    if (!n->sums) {
      NAI_TRY(name_words(&part->names[w], n, head->domain, name, err));
      continue;
    }
    NAI_TRY(join(&name, n, head->domain, name, own && n->colons, err));
    part->names[w] = (uint32_t)name;
  }
  return NAI_OK;
}

/* Ends ranges that are open, and moves those that are kept together. */
static int fill_part(void *ctx, int p, struct nai_err *err) {
  struct naming *n = ctx;
  struct range_part *part = &n->parts[p];
  struct nai_stats_range *at = n->out->at + part->first;
  uint32_t kept = 0;
  (void)err;
  for (uint32_t i = 0; i < part->count; i++) {
    struct nai_stats_range range = at[i];
    const bool open = range.end == NAI_STATS_NULL;
    range.end = open ? n->last : range.end;
    if (!is_left_in(n, &range) || (open && !may_hold(n, part, range.thread, range.start, range.end, range.crosses)))
      continue;
    range.words = part->names[range.words] & (MAX_WORDS - 1);
    range.name = n->out->words[range.words].name;
    at[kept++] = range;
  }
  part->count = kept;
  return NAI_OK;
}

/* Group by name and style. */
static uint32_t find_group(struct naming *n, const struct range_part *part, uint32_t told) {
  const bool push_pop = told & 1;
  const uint32_t name = part->names[told >> 1], place = name == NAI_NO_STRING ? n->source->texts.count : name;
  uint32_t *group = &n->group_of[(size_t)place * 2 + push_pop];
  const int64_t key[2] = {name, n->out->styles[push_pop ? NAI_STATS_PUSH_POP : NAI_STATS_START_END]};
  if (!*group)
    *group = nai_stats_key_add(&n->sums->of, key) + 1;
  return *group;
}

/* Ends ranges that are open: in their place are those that are left in. */
static void end_open(const struct naming *n, struct range_part *part) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < part->open_count; i++) {
    part->open[i].end = n->last;
    if (!is_left_in(n, &part->open[i]))
      continue;
    part->group[told_by(part->open[i].words, part->open[i].push_pop)] = 1;
    part->open[kept++] = part->open[i];
  }
  part->open_count = kept;
}

static int group_part(struct naming *n, struct range_part *part, struct nai_err *err) {
  end_open(n, part);
  for (uint32_t told = 0; told < part->group_capacity; told++) {
    if (!part->group[told])
      continue;
    part->group[told] = find_group(n, part, told);
    NAI_TRY(nai_memory_check(part->group[told], err));
  }
  return NAI_OK;
}

/* Groups by name and style in the place of those by words. */
static int sum_part(void *ctx, int p, struct nai_err *err) {
  const struct naming *n = ctx;
  struct range_part *part = &n->parts[p];
  uint32_t *group = n->sums->group + part->first;
  (void)err;
  for (uint32_t i = 0; i < part->count; i++)
    group[i] = part->group[group[i]] - 1;
  for (uint32_t i = 0; i < part->open_count; i++) {
    n->sums->value[part->first + part->count] = part->open[i].end - part->open[i].start;
    group[part->count++] = part->group[told_by(part->open[i].words, part->open[i].push_pop)] - 1;
  }
  return NAI_OK;
}

static int sum_parts(struct naming *n, int parts, struct nai_err *err) {
  struct nai_stats_groups *sums = n->sums;
  NAI_TRY(NAI_NEW(n->group_of, &n->source->arena, 2 * ((size_t)n->source->texts.count + 1), err));
  for (int p = 0; p < parts; p++)
    NAI_TRY(group_part(n, &n->parts[p], err));
  NAI_TRY(nai_parallel(parts, parts, sum_part, n, err));
  for (int p = 0; p < parts; p++) {
    const struct range_part *part = &n->parts[p];
    if (sums->rows != part->first) {
      memmove(sums->group + sums->rows, sums->group + part->first, part->count * sizeof *sums->group);
      memmove(sums->value + sums->rows, sums->value + part->first, part->count * sizeof *sums->value);
    }
    sums->rows += part->count;
  }
  return NAI_OK;
}

static int finish_ranges(struct naming *n, int parts, struct nai_err *err) {
  struct nai_stats_ranges *out = n->out;
  n->last = INT64_MIN;
  NAI_TRY(nai_stats_text(&out->styles[NAI_STATS_PUSH_POP], n->source, "PushPop", err));
  NAI_TRY(nai_stats_text(&out->styles[NAI_STATS_START_END], n->source, "StartEnd", err));
  for (int p = 0; p < parts; p++) {
    n->last = n->parts[p].last > n->last ? n->parts[p].last : n->last;
    for (uint32_t d = 0; d < n->parts[p].domain_count; d++)
      NAI_TRY(name_domain(n, &n->parts[p].domains[d], n->texts[p], err));
  }
  for (int p = 0; p < parts; p++)
    NAI_TRY(name_part(n, p, err));
  if (n->sums)
    return sum_parts(n, parts, err);
  out->names = n->source->texts.count;
  NAI_TRY(nai_parallel(parts, parts, fill_part, n, err));
  for (int p = 0; p < parts; p++) {
    if (out->count != n->parts[p].first)
      memmove(out->at + out->count, out->at + n->parts[p].first, n->parts[p].count * sizeof *out->at);
    out->count += n->parts[p].count;
  }
  return NAI_OK;
}

static int read_ranges(struct nai_stats_ranges *out, struct nai_stats_groups *sums, struct nai_stats_source *source,
                       bool old, enum nai_stats_styles styles, const struct nai_stats_begins *only, int what,
                       struct nai_err *err) {
  const int parts = nai_cpu_count();
  struct naming n = {.source = source,
                     .out = out,
                     .styles = styles,
                     .only = only,
                     .processes = {.arena = &source->arena},
                     .domains = {.arena = &source->arena},
                     .pairs = {.arena = &source->arena},
                     .old = old,
                     .colons = sums && !old,
                     .sums = sums,
                     .what = what};
  *out = (struct nai_stats_ranges){0};
  NAI_TRY(NAI_NEW(n.parts, &source->arena, (size_t)parts, err));
  NAI_TRY(NAI_NEW(n.texts, &source->arena, (size_t)parts, err));
  for (int p = 0; p < parts; p++) {
    n.parts[p] = (struct range_part){
        .last = INT64_MIN, .heads = {.arena = &source->arena, .width = HEADS}, .words = {.arena = &source->arena}};
    if (!only)
      continue;
    NAI_TRY(NAI_NEW(n.parts[p].near, &source->arena, only->threads.count, err));
    memcpy(n.parts[p].near, only->of_thread, only->threads.count * sizeof *only->of_thread);
  }
  source->before_texts = n.colons ? ":" : NULL;
  int rc =
      nai_stats_load_blocks(source, "NVTX_EVENTS", sums ? summed_columns : columns, read_rows, &n, n.texts, parts, err);
  source->before_texts = NULL;
  rc = rc ? rc : finish_ranges(&n, parts, err);
  for (int p = 0; p < parts; p++)
    free(n.parts[p].domains);
  nai_buf_free(&n.whole);
  return rc;
}

int nai_stats_load_ranges(struct nai_stats_ranges *out, struct nai_stats_source *source, bool old,
                          enum nai_stats_styles styles, const struct nai_stats_begins *only, struct nai_err *err) {
  return read_ranges(out, NULL, source, old, styles, only, NAI_STATS_ALL_RANGES, err);
}

/* --- nvtx_sum and its parts -------------------------------------------------------------------------------------- */

int nai_stats_make_ranges(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  struct nai_stats_ranges words;
  struct nai_stats_groups groups = {0}; /* without rows they are not begun */
  rows->source->canonical = options->flag[0];
  NAI_TRY(read_ranges(&words, &groups, rows->source, options->old, NAI_STATS_BOTH_STYLES, NULL, options->report->what,
                      err));
  return nai_stats_show_groups(rows, &groups, 0, NAI_STATS_BY_NAME, err);
}

const struct nai_stats_column nai_stats_range_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Style", 0, NAI_STATS_KEY_WORDS(1)}, {"Range", 0, NAI_STATS_KEY_WORDS(0)}, {0}};
const struct nai_stats_column nai_stats_one_style_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Range", 0, NAI_STATS_KEY_WORDS(0)}, {0}};
