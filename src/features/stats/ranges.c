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

static bool is_push_pop(int64_t type) { return type == 59 || type == 70; }
static bool is_start_end(int64_t type) { return type == 60 || type == 71; }
static bool is_range(int64_t type) { return is_push_pop(type) || is_start_end(type); }
static bool is_wanted(int64_t type, enum nai_stats_styles styles) {
  return styles == NAI_STATS_ONLY_PUSH_POP ? is_push_pop(type) : is_range(type);
}
enum { DOMAIN_CREATE = 75 };

/* What a part of the rows has. Parts are read side by side, texts and names put in afterwards. */
struct range_part {
  uint32_t first, count; /* of the ranges, with room behind them */
  int64_t last;          /* until when a range without end lasts */
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
  int64_t *domain_names, *names;
  uint32_t domain_capacity, capacity;
  int64_t *text_ids;        /* of each range */
  struct range_part *parts; /* as many as may be read side by side */
  int64_t **texts;          /* of each part */
  bool old;
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
static uint32_t find_domain(struct naming *n, int64_t thread, uint32_t domain, bool add) {
  int64_t process = thread >> NAI_STATS_PROCESS_SHIFT;
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

/* A range whose end may be open, with the number of its domain and that of its text in the part. */
static void read_range(struct naming *n, struct range_part *part, const struct nai_stats_events *rows, uint32_t row) {
  uint32_t at = part->first + part->count++;
  n->text_ids[at] = rows->at[TEXT_ID][row];
  n->out->at[at] =
      (struct nai_stats_range){.start = rows->at[START][row],
                               .end = rows->at[END][row],
                               .thread = rows->at[THREAD][row],
                               .rowid = rows->at[ROW][row],
                               .domain = domain_of(rows, row),
                               .text = rows->at[TEXT][row] == NAI_STATS_NULL ? NAI_NO_STRING
                                                                             : (uint32_t)rows->at[TEXT][row],
                               .push_pop = is_push_pop(rows->at[TYPE][row]),
                               .crosses = rows->at[END_THREAD][row] != NAI_STATS_NULL};
}

static int read_rows(void *ctx, const struct nai_stats_events *rows, int number, uint32_t first, struct nai_err *err) {
  struct naming *n = ctx;
  struct range_part *part = &n->parts[number];
  if (!rows) {
    NAI_TRY(NAI_NEW(n->text_ids, &n->source->arena, first, err));
    return NAI_NEW(n->out->at, &n->source->arena, first, err);
  }
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
      read_range(n, part, rows, row);
  }
  return NAI_OK;
}

/* Of 2019 a missing id is 0: the text counts first. */
static int name_domain(struct naming *n, const struct domain_row *row, const int64_t *texts, struct nai_err *err) {
  uint32_t slot = find_domain(n, row->thread, row->domain, true);
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

static int name_range(struct nai_stats_range *range, struct naming *n, struct nai_err *err) {
  uint32_t slot = n->domains.count ? find_domain(n, range->thread, range->domain, false) : UINT32_MAX;
  bool added;
  range->domain = slot != UINT32_MAX ? (uint32_t)n->domain_names[slot] : NAI_NO_STRING;
  uint32_t known = nai_keyset_add(&n->pairs, nai_key_pair(range->domain, range->text), &added);
  NAI_TRY(nai_memory_check(!n->pairs.oom, err));
  if (added) {
    NAI_TRY(NAI_ROOM(n->names, n->capacity, known, &n->source->arena, err));
    NAI_TRY(join(&n->names[known], n, range->domain, range->text, err));
  }
  range->name = (uint32_t)n->names[known];
  return NAI_OK;
}

static bool is_kept(const struct nai_stats_filter *filter, const struct nai_stats_range *range) {
  int64_t process = range->thread >> NAI_STATS_PROCESS_SHIFT;
  return !filter->on || (nai_stats_passes(filter, range->start, range->end) &&
                         (filter->thread == NAI_STATS_NULL || filter->thread == range->thread) &&
                         (filter->process == NAI_STATS_NULL || filter->process == process));
}

/* Names ranges, ends those that are open, and moves those that are kept together. */
static int finish_ranges(struct naming *n, int parts, struct nai_err *err) {
  struct nai_stats_ranges *out = n->out;
  int64_t last = INT64_MIN, text;
  for (int p = 0; p < parts; p++) {
    last = n->parts[p].last > last ? n->parts[p].last : last;
    for (uint32_t d = 0; d < n->parts[p].domain_count; d++)
      NAI_TRY(name_domain(n, &n->parts[p].domains[d], n->texts[p], err));
  }
  for (int p = 0; p < parts; p++)
    for (uint32_t i = n->parts[p].first; i < n->parts[p].first + n->parts[p].count; i++) {
      struct nai_stats_range *range = &out->at[i];
      range->end = range->end == NAI_STATS_NULL ? last : range->end;
      if (!nai_stats_has_times(range->start, range->end) || !is_kept(&n->source->filter, range))
        continue;
      NAI_TRY(own_text(&text, n, n->text_ids[i],
                       range->text == NAI_NO_STRING ? NAI_STATS_NULL : n->texts[p][range->text], err));
      range->text = (uint32_t)text;
      NAI_TRY(name_range(range, n, err));
      out->at[out->count++] = *range;
    }
  return NAI_OK;
}

int nai_stats_load_ranges(struct nai_stats_ranges *out, struct nai_stats_source *source, bool old,
                          enum nai_stats_styles styles, struct nai_err *err) {
  const int parts = nai_cpu_count();
  struct naming n = {.source = source,
                     .out = out,
                     .styles = styles,
                     .processes = {.arena = &source->arena},
                     .domains = {.arena = &source->arena},
                     .pairs = {.arena = &source->arena},
                     .old = old};
  *out = (struct nai_stats_ranges){0};
  NAI_TRY(NAI_NEW(n.parts, &source->arena, (size_t)parts, err));
  NAI_TRY(NAI_NEW(n.texts, &source->arena, (size_t)parts, err));
  for (int p = 0; p < parts; p++)
    n.parts[p].last = INT64_MIN;
  int rc = nai_stats_load_blocks(source, "NVTX_EVENTS", columns, read_rows, &n, n.texts, parts, err);
  rc = rc ? rc : finish_ranges(&n, parts, err);
  for (int p = 0; p < parts; p++)
    free(n.parts[p].domains);
  return rc;
}
