/* NVTX ranges with their names. */
#include "features/stats/stats.h"

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

/* What the rows of NVTX_EVENTS become ranges with. */
struct naming {
  struct nai_stats_source *source;
  struct nai_stats_ranges *out;
  enum nai_stats_styles styles;
  struct nai_keyset processes, domains, pairs; /* domains: process and domain; pairs: domain's name and text */
  int64_t *domain_names, *names;
  uint32_t domain_capacity, capacity;
  int64_t last; /* until when a range without end lasts */
  bool old;
};

static int own_text(int64_t *text, const struct naming *n, const struct nai_stats_events *rows, uint32_t row,
                    struct nai_err *err) {
  int64_t id = rows->at[TEXT_ID][row];
  *text = NAI_NO_STRING;
  if (id != NAI_STATS_NULL)
    NAI_TRY(nai_stats_name(text, n->source, id, err));
  if (*text == NAI_NO_STRING && rows->at[TEXT][row] != NAI_STATS_NULL)
    *text = rows->at[TEXT][row];
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

static int read_domain(struct naming *n, const struct nai_stats_events *rows, uint32_t row, struct nai_err *err) {
  uint32_t slot = find_domain(n, rows->at[THREAD][row], domain_of(rows, row), true);
  NAI_TRY(nai_memory_check(!n->processes.oom && !n->domains.oom, err));
  if (slot == UINT32_MAX)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(n->domain_names, n->domain_capacity, slot, &n->source->arena, err));
  n->domain_names[slot] = rows->at[TEXT][row]; /* which counts first here: of 2019 a missing id is 0 */
  return n->domain_names[slot] == NAI_STATS_NULL ? own_text(&n->domain_names[slot], n, rows, row, err) : NAI_OK;
}

/* A range whose end may be open, with the number of its domain. */
static int read_range(struct naming *n, const struct nai_stats_events *rows, uint32_t row, struct nai_err *err) {
  int64_t text;
  NAI_TRY(own_text(&text, n, rows, row, err));
  n->out->at[n->out->count++] = (struct nai_stats_range){.start = rows->at[START][row],
                                                         .end = rows->at[END][row],
                                                         .thread = rows->at[THREAD][row],
                                                         .rowid = rows->at[ROW][row],
                                                         .domain = domain_of(rows, row),
                                                         .text = (uint32_t)text,
                                                         .push_pop = is_push_pop(rows->at[TYPE][row]),
                                                         .crosses = rows->at[END_THREAD][row] != NAI_STATS_NULL};
  return NAI_OK;
}

static int read_rows(void *ctx, const struct nai_stats_events *rows, uint32_t count, struct nai_err *err) {
  struct naming *n = ctx;
  if (!n->out->at)
    NAI_TRY(NAI_NEW(n->out->at, &n->source->arena, count, err));
  for (uint32_t row = 0; row < rows->count; row++) {
    bool wanted = is_wanted(rows->at[TYPE][row], n->styles);
    if (wanted || n->old) {
      n->last = rows->at[START][row] > n->last ? rows->at[START][row] : n->last;
      n->last = rows->at[END][row] > n->last ? rows->at[END][row] : n->last;
    }
    if (rows->at[TYPE][row] == DOMAIN_CREATE)
      NAI_TRY(read_domain(n, rows, row, err));
    else if (wanted)
      NAI_TRY(read_range(n, rows, row, err));
  }
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

int nai_stats_load_ranges(struct nai_stats_ranges *out, struct nai_stats_source *source, bool old,
                          enum nai_stats_styles styles, struct nai_err *err) {
  struct naming n = {.source = source,
                     .out = out,
                     .styles = styles,
                     .processes = {.arena = &source->arena},
                     .domains = {.arena = &source->arena},
                     .pairs = {.arena = &source->arena},
                     .last = INT64_MIN,
                     .old = old};
  uint32_t kept = 0;
  *out = (struct nai_stats_ranges){0};
  NAI_TRY(nai_stats_load_blocks(source, "NVTX_EVENTS", columns, read_rows, &n, err));
  for (uint32_t i = 0; i < out->count; i++) {
    struct nai_stats_range *range = &out->at[i];
    range->end = range->end == NAI_STATS_NULL ? n.last : range->end;
    if (!nai_stats_has_times(range->start, range->end) || !is_kept(&source->filter, range))
      continue;
    NAI_TRY(name_range(range, &n, err));
    out->at[kept++] = *range;
  }
  out->count = kept;
  return NAI_OK;
}
