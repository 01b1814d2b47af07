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

/* Names that were put together: of each pair of a domain and a text. */
struct naming {
  struct nai_stats_source *source;
  const struct nai_stats_events *rows;
  struct nai_keyset processes, domains, pairs; /* domains: process and domain; pairs: domain's name and text */
  int64_t *domain_names, *names;
  uint32_t domain_capacity, capacity;
  bool old;
};

static int own_text(int64_t *text, const struct naming *n, uint32_t row, struct nai_err *err) {
  int64_t id = n->rows->at[TEXT_ID][row];
  *text = NAI_NO_STRING;
  if (id != NAI_STATS_NULL)
    NAI_TRY(nai_stats_name(text, n->source, id, err));
  if (*text == NAI_NO_STRING && n->rows->at[TEXT][row] != NAI_STATS_NULL)
    *text = n->rows->at[TEXT][row];
  return NAI_OK;
}

/* Slot of the row's domain, UINT32_MAX for none. */
static uint32_t find_domain(struct naming *n, uint32_t row, bool add) {
  int64_t process = n->rows->at[THREAD][row] >> NAI_STATS_PROCESS_SHIFT, domain = n->rows->at[DOMAIN][row];
  bool added;
  uint32_t of = add ? nai_keyset_add(&n->processes, process, &added) : nai_keyset_find(&n->processes, process);
  if (of == UINT32_MAX || domain < 0 || domain > UINT32_MAX)
    return UINT32_MAX;
  int64_t key = nai_key_pair(of, (uint32_t)domain);
  return add ? nai_keyset_add(&n->domains, key, &added) : nai_keyset_find(&n->domains, key);
}

static int read_domains(struct naming *n, struct nai_err *err) {
  for (uint32_t row = 0; row < n->rows->count; row++) {
    if (n->rows->at[TYPE][row] != DOMAIN_CREATE)
      continue;
    uint32_t slot = find_domain(n, row, true);
    if (n->processes.oom || n->domains.oom)
      return nai_err_nomem(err);
    if (slot == UINT32_MAX)
      continue;
    NAI_TRY(NAI_ROOM(n->domain_names, n->domain_capacity, slot, &n->source->arena, err));
    n->domain_names[slot] = n->rows->at[TEXT][row]; /* which counts first here: of 2019 a missing id is 0 */
    if (n->domain_names[slot] == NAI_STATS_NULL)
      NAI_TRY(own_text(&n->domain_names[slot], n, row, err));
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

static int name_range(struct nai_stats_range *range, struct naming *n, uint32_t row, struct nai_err *err) {
  int64_t pair[2] = {NAI_NO_STRING, 0};
  uint32_t slot = n->domains.count ? find_domain(n, row, false) : UINT32_MAX;
  bool added;
  if (slot != UINT32_MAX)
    pair[0] = n->domain_names[slot];
  NAI_TRY(own_text(&pair[1], n, row, err));
  uint32_t known = nai_keyset_add(&n->pairs, nai_key_pair(pair[0], (uint32_t)pair[1]), &added);
  if (n->pairs.oom)
    return nai_err_nomem(err);
  if (added) {
    NAI_TRY(NAI_ROOM(n->names, n->capacity, known, &n->source->arena, err));
    NAI_TRY(join(&n->names[known], n, pair[0], pair[1], err));
  }
  range->domain = pair[0];
  range->text = pair[1];
  range->name = n->names[known];
  return NAI_OK;
}

/* Until when a range without end lasts. */
static int64_t latest(const struct nai_stats_events *rows, bool old, enum nai_stats_styles styles) {
  int64_t last = INT64_MIN;
  for (uint32_t row = 0; row < rows->count; row++) {
    if (!old && !is_wanted(rows->at[TYPE][row], styles))
      continue;
    last = rows->at[START][row] > last ? rows->at[START][row] : last;
    last = rows->at[END][row] > last ? rows->at[END][row] : last;
  }
  return last;
}

static bool is_kept(const struct nai_stats_filter *filter, const struct nai_stats_range *range) {
  int64_t process = range->thread >> NAI_STATS_PROCESS_SHIFT;
  return !filter->on || (nai_stats_passes(filter, range->start, range->end) &&
                         (filter->thread == NAI_STATS_NULL || filter->thread == range->thread) &&
                         (filter->process == NAI_STATS_NULL || filter->process == process));
}

int nai_stats_load_ranges(struct nai_stats_ranges *out, struct nai_stats_source *source, bool old,
                          enum nai_stats_styles styles, struct nai_err *err) {
  struct nai_stats_events rows;
  struct naming n = {.source = source,
                     .rows = &rows,
                     .processes = {.arena = &source->arena},
                     .domains = {.arena = &source->arena},
                     .pairs = {.arena = &source->arena},
                     .old = old};
  NAI_SCOPED(nai_arena) scratch = NAI_ARENA(NULL); /* what the ranges are made from is not kept */
  *out = (struct nai_stats_ranges){0};
  source->columns = &scratch;
  int rc = nai_stats_load(&rows, source, "NVTX_EVENTS", columns, err);
  source->columns = NULL;
  NAI_TRY(rc);
  NAI_TRY(NAI_NEW(out->at, &source->arena, rows.count, err));
  NAI_TRY(read_domains(&n, err));
  int64_t last = latest(&rows, old, styles);
  for (uint32_t row = 0; row < rows.count; row++) {
    int64_t type = rows.at[TYPE][row], end = rows.at[END][row];
    end = end == NAI_STATS_NULL ? last : end;
    if (!is_wanted(type, styles) || !nai_stats_has_times(rows.at[START][row], end))
      continue;
    struct nai_stats_range *range = &out->at[out->count];
    *range = (struct nai_stats_range){.start = rows.at[START][row],
                                      .end = end,
                                      .thread = rows.at[THREAD][row],
                                      .end_thread = rows.at[END_THREAD][row],
                                      .rowid = rows.at[ROW][row],
                                      .style = is_push_pop(type) ? NAI_STATS_PUSH_POP : NAI_STATS_START_END};
    if (!is_kept(&source->filter, range))
      continue;
    NAI_TRY(name_range(range, &n, row, err));
    out->count++;
  }
  return NAI_OK;
}
