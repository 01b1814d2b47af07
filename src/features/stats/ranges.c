/* NVTX ranges with their names. */
#include "features/stats/ranges.h"

#include "base/array.h"
#include "base/threads.h"

enum { START, END, TYPE, TEXT, TEXT_ID, THREAD, END_THREAD, DOMAIN, ROW };
static const char *const columns[] = {"start",     "end",          "eventType", "$text", "textId",
                                      "globalTid", "endGlobalTid", "domainId",  "#",     NULL};

const char *nai_stats_style_name(enum nai_stats_style style) {
  return style == NAI_STATS_PUSH_POP ? "PushPop" : "StartEnd";
}

void nai_stats_group_style(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t at) {
  int64_t style = nai_stats_group_of(rows, row)->key[at];
  nai_stats_put_text(out, style < 0 ? NULL : nai_stats_style_name((enum nai_stats_style)style));
}

static bool is_push_pop(int64_t type) { return type == 59 || type == 70; }
static bool is_start_end(int64_t type) { return type == 60 || type == 71; }
static bool is_range(int64_t type) { return is_push_pop(type) || is_start_end(type); }
static bool is_wanted(int64_t type, enum nai_stats_styles styles) {
  return styles == NAI_STATS_ONLY_PUSH_POP ? is_push_pop(type) : is_range(type);
}
enum { DOMAIN_CREATE = 75 };

/* What ranges are called by: a key of numbers, the text one of the part. */
enum { WORDS_PROCESS, WORDS_DOMAIN, WORDS_TEXT, WORDS_ID, WORDS };
enum { MAX_WORDS = 1 << NAI_STATS_WORDS_BITS };

/* What a part of the rows has. Parts are read and filled in side by side, words named in between. */
struct range_part {
  uint32_t first, count; /* of the ranges, with room behind them */
  int64_t last;          /* until when a range without end lasts */
  struct nai_stats_keys words;
  uint32_t *names; /* of the words: of nai_stats_ranges.words */
  struct domain_row {
    int64_t thread, text, text_id;
    uint32_t domain;
  } * domains;
  uint32_t domain_count, domain_capacity;
};

/* What the rows of NVTX_EVENTS become ranges with. */
struct naming {
  struct nai_stats_source *source;
  struct nai_stats_ranges *out;
  enum nai_stats_styles styles;
  struct nai_keyset processes, domains, pairs; /* domains: process and domain; pairs: domain's name and text */
  int64_t *domain_names;
  uint32_t domain_capacity, capacity;
  int64_t last;
  struct range_part *parts; /* as many as may be read side by side */
  int64_t **texts;          /* of each part */
  bool old;
  struct nai_stats_range_sums *sums; /* these instead of ranges; or NULL */
};

static int own_text(int64_t *text, const struct naming *n, int64_t id, int64_t otherwise, struct nai_err *err) {
  *text = NAI_NO_STRING;
  if (id != NAI_STATS_NULL)
    NAI_TRY(nai_stats_name(text, n->source, id, err));
  if (*text == NAI_NO_STRING && otherwise != NAI_STATS_NULL)
    *text = otherwise;
  return NAI_OK;
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

static int words_of(uint32_t *words, struct range_part *part, const struct nai_stats_events *rows, uint32_t row,
                    struct nai_err *err) {
  const int64_t key[WORDS] = {rows->at[THREAD][row] >> NAI_STATS_PROCESS_SHIFT, domain_of(rows, row),
                              rows->at[TEXT][row], rows->at[TEXT_ID][row]};
  *words = nai_stats_key_find(&part->words, key, WORDS);
  NAI_TRY(nai_memory_check(*words != NAI_NO_STRING, err));
  return *words < MAX_WORDS
           ? NAI_OK
           : nai_err_set(err, NAI_ELIMIT, "table \"NVTX_EVENTS\" has more names than a report can hold");
}

static bool is_of_thread(const struct nai_stats_filter *filter, int64_t thread) {
  return !filter->on || ((filter->thread == NAI_STATS_NULL || filter->thread == thread) &&
                         (filter->process == NAI_STATS_NULL || filter->process == thread >> NAI_STATS_PROCESS_SHIFT));
}

/* A range whose end may be open, with words of the part. */
static int read_range(struct naming *n, struct range_part *part, const struct nai_stats_events *rows, uint32_t row,
                      struct nai_err *err) {
  uint32_t words;
  NAI_TRY(words_of(&words, part, rows, row, err));
  n->out->at[part->first + part->count++] =
      (struct nai_stats_range){.start = rows->at[START][row],
                               .end = rows->at[END][row],
                               .thread = rows->at[THREAD][row],
                               .rowid = rows->at[ROW][row],
                               .words = words & (MAX_WORDS - 1),
                               .push_pop = is_push_pop(rows->at[TYPE][row]),
                               .crosses = rows->at[END_THREAD][row] != NAI_STATS_NULL};
  return NAI_OK;
}

/* Of a range that is summed up: its time, or where its end is open its start; group: its words, style, whether open. */
static int read_time(struct naming *n, struct range_part *part, const struct nai_stats_events *rows, uint32_t row,
                     struct nai_err *err) {
  const int64_t start = rows->at[START][row], end = rows->at[END][row];
  const bool push_pop = is_push_pop(rows->at[TYPE][row]), open = end == NAI_STATS_NULL;
  const uint32_t at = part->first + part->count;
  uint32_t words;
  if (n->sums->what == (push_pop ? NAI_STATS_START_END_RANGES : NAI_STATS_PUSH_POP_RANGES) ||
      !is_of_thread(&n->source->filter, rows->at[THREAD][row]) ||
      (!open && (!nai_stats_has_times(start, end) || !nai_stats_passes(&n->source->filter, start, end))))
    return NAI_OK;
  NAI_TRY(words_of(&words, part, rows, row, err));
  n->sums->groups->group[at] = words << 2 | (uint32_t)push_pop << 1 | open;
  n->sums->groups->value[at] = open ? start : end - start;
  part->count++;
  return NAI_OK;
}

static int read_rows(void *ctx, const struct nai_stats_events *rows, int number, uint32_t first, struct nai_err *err) {
  struct naming *n = ctx;
  struct range_part *part = &n->parts[number];
  if (!rows)
    return n->sums ? nai_stats_groups_begin(n->sums->groups, n->source, 2, first, err)
                   : NAI_NEW(n->out->at, &n->source->arena, first, err);
  part->first = first;
  for (uint32_t row = 0; row < rows->count; row++) {
    bool wanted = is_wanted(rows->at[TYPE][row], n->styles);
    if (wanted || n->old) {
      part->last = rows->at[START][row] > part->last ? rows->at[START][row] : part->last;
      part->last = rows->at[END][row] > part->last ? rows->at[END][row] : part->last;
    }
    if (rows->at[TYPE][row] == DOMAIN_CREATE)
      NAI_TRY(read_domain(part, rows, row, err));
    else if (wanted)
      NAI_TRY((n->sums ? read_time : read_range)(n, part, rows, row, err));
  }
  return NAI_OK;
}

/* Of 2019 a missing id is 0: the text counts first. */
static int name_domain(struct naming *n, const struct domain_row *row, const int64_t *texts, struct nai_err *err) {
  uint32_t slot = find_domain(n, row->thread >> NAI_STATS_PROCESS_SHIFT, row->domain, true);
  NAI_TRY(nai_memory_check(!n->processes.oom && !n->domains.oom, err));
  if (slot == UINT32_MAX)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(n->domain_names, n->domain_capacity, slot, &n->source->arena, err));
  if (row->text == NAI_STATS_NULL)
    return own_text(&n->domain_names[slot], n, row->text_id, NAI_STATS_NULL, err);
  n->domain_names[slot] = texts[row->text];
  return NAI_OK;
}

/* DOMAIN:TEXT; in 2022 the text alone in the default domain, and nothing where there is no text. */
static int join(int64_t *name, struct naming *n, int64_t domain, int64_t text, struct nai_err *err) {
  const char *domain_name = nai_stats_text_of(n->source, domain), *own = nai_stats_text_of(n->source, text);
  *name = text;
  if (n->old && (!domain_name || !own))
    return NAI_OK;
  const char *whole = nai_arena_printf(&n->source->arena, "%s:%s", domain_name ? domain_name : "", own ? own : "");
  NAI_TRY(nai_arena_check(&n->source->arena, err));
  return nai_stats_text(name, n->source, whole, err);
}

static int name_words(uint32_t *name, struct naming *n, const int64_t *key, const int64_t *texts, struct nai_err *err) {
  uint32_t slot =
      n->domains.count ? find_domain(n, key[WORDS_PROCESS], (uint32_t)key[WORDS_DOMAIN], false) : UINT32_MAX;
  int64_t text, domain = slot != UINT32_MAX ? n->domain_names[slot] : NAI_NO_STRING, whole;
  bool added;
  NAI_TRY(own_text(&text, n, key[WORDS_ID], key[WORDS_TEXT] == NAI_STATS_NULL ? NAI_STATS_NULL : texts[key[WORDS_TEXT]],
                   err));
  *name = nai_keyset_add(&n->pairs, nai_key_pair(domain, (uint32_t)text), &added);
  NAI_TRY(nai_memory_check(!n->pairs.oom, err));
  if (!added)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(n->out->words, n->capacity, *name, &n->source->arena, err));
  NAI_TRY(join(&whole, n, domain, text, err));
  n->out->words[*name] = (struct nai_stats_words){(uint32_t)domain, (uint32_t)text, (uint32_t)whole};
  return NAI_OK;
}

static int name_part(struct naming *n, int p, struct nai_err *err) {
  struct range_part *part = &n->parts[p];
  NAI_TRY(NAI_NEW(part->names, &n->source->arena, part->words.known.count, err));
  for (uint32_t w = 0; w < part->words.known.count; w++) {
    int64_t key[WORDS];
    memcpy(key, nai_strings_get(&part->words.known, w), sizeof key);
    NAI_TRY(name_words(&part->names[w], n, key, n->texts[p], err));
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
    range.end = range.end == NAI_STATS_NULL ? n->last : range.end;
    if (!nai_stats_has_times(range.start, range.end) || !is_of_thread(&n->source->filter, range.thread) ||
        !nai_stats_passes(&n->source->filter, range.start, range.end))
      continue;
    range.words = part->names[range.words] & (MAX_WORDS - 1);
    range.name = n->out->words[range.words].name;
    at[kept++] = range;
  }
  part->count = kept;
  return NAI_OK;
}

/* Groups by name and style instead of words. */
static int sum_part(struct naming *n, const struct range_part *part, struct nai_err *err) {
  struct nai_stats_groups *groups = n->sums->groups;
  uint32_t *known; /* groups + 1, by words and style */
  NAI_TRY(NAI_NEW(known, &n->source->arena, (size_t)part->words.known.count * 2, err));
  for (uint32_t i = part->first; i < part->first + part->count; i++) {
    const uint32_t told = groups->group[i], style = told >> 1 & 1;
    const int64_t start = groups->value[i];
    uint32_t *group = &known[told >> 1];
    if (told & 1 && (!nai_stats_has_times(start, n->last) || !nai_stats_passes(&n->source->filter, start, n->last)))
      continue;
    if (!*group) {
      int64_t key[2] = {n->out->words[part->names[told >> 2]].name, style ? NAI_STATS_PUSH_POP : NAI_STATS_START_END};
      NAI_TRY(n->sums->name(&key[0], n->source, err));
      *group = nai_stats_key_find(&groups->of, key, 2) + 1;
      NAI_TRY(nai_memory_check(*group, err));
    }
    groups->value[groups->rows] = told & 1 ? n->last - start : start;
    groups->group[groups->rows++] = *group - 1;
  }
  return NAI_OK;
}

static int finish_ranges(struct naming *n, int parts, struct nai_err *err) {
  struct nai_stats_ranges *out = n->out;
  n->last = INT64_MIN;
  for (int p = 0; p < parts; p++) {
    n->last = n->parts[p].last > n->last ? n->parts[p].last : n->last;
    for (uint32_t d = 0; d < n->parts[p].domain_count; d++)
      NAI_TRY(name_domain(n, &n->parts[p].domains[d], n->texts[p], err));
  }
  for (int p = 0; p < parts; p++)
    NAI_TRY(name_part(n, p, err));
  for (int p = 0; p < parts && n->sums; p++)
    NAI_TRY(sum_part(n, &n->parts[p], err));
  if (n->sums)
    return NAI_OK;
  NAI_TRY(nai_parallel(parts, parts, fill_part, n, err));
  for (int p = 0; p < parts; p++) {
    if (out->count != n->parts[p].first)
      memmove(out->at + out->count, out->at + n->parts[p].first, n->parts[p].count * sizeof *out->at);
    out->count += n->parts[p].count;
  }
  return NAI_OK;
}

static int load_ranges(struct nai_stats_ranges *out, struct nai_stats_range_sums *sums, struct nai_stats_source *source,
                       bool old, enum nai_stats_styles styles, struct nai_err *err) {
  const int parts = nai_cpu_count();
  struct naming n = {.source = source,
                     .out = out,
                     .styles = styles,
                     .processes = {.arena = &source->arena},
                     .domains = {.arena = &source->arena},
                     .pairs = {.arena = &source->arena},
                     .old = old,
                     .sums = sums};
  *out = (struct nai_stats_ranges){0};
  NAI_TRY(NAI_NEW(n.parts, &source->arena, (size_t)parts, err));
  NAI_TRY(NAI_NEW(n.texts, &source->arena, (size_t)parts, err));
  for (int p = 0; p < parts; p++) {
    n.parts[p].last = INT64_MIN;
    NAI_TRY(nai_stats_keys_begin(&n.parts[p].words, &source->arena, err));
  }
  int rc = nai_stats_load_blocks(source, "NVTX_EVENTS", columns, read_rows, &n, n.texts, parts, err);
  rc = rc ? rc : finish_ranges(&n, parts, err);
  for (int p = 0; p < parts; p++)
    free(n.parts[p].domains);
  return rc;
}

int nai_stats_load_ranges(struct nai_stats_ranges *out, struct nai_stats_source *source, bool old,
                          enum nai_stats_styles styles, struct nai_err *err) {
  return load_ranges(out, NULL, source, old, styles, err);
}

int nai_stats_sum_ranges(struct nai_stats_range_sums *sums, struct nai_stats_source *source, bool old,
                         struct nai_err *err) {
  struct nai_stats_ranges words;
  return load_ranges(&words, sums, source, old, NAI_STATS_BOTH_STYLES, err);
}
