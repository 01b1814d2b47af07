/* --filter-time, --filter-nvtx and --filter-projected-nvtx. */
#include "features/stats/ranges.h"

#include "base/sort.h"

/* --- times ----------------------------------------------------------------------------------------------- */

/* A time with a unit, of nanoseconds if none is said; `otherwise` for nothing. */
static int read_time(int64_t *out, const char *text, size_t len, int64_t otherwise, struct nai_err *err) {
  static const struct {
    const char *unit;
    double ns;
  } units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  char word[64], *end;
  *out = otherwise;
  if (!len)
    return NAI_OK;
  if (len >= sizeof word)
    return nai_err_set(err, NAI_EUSAGE, "--filter-time: a time is too long");
  memcpy(word, text, len);
  word[len] = '\0';
  double value = strtod(word, &end);
  for (size_t u = 0; u < sizeof units / sizeof *units; u++)
    if (end != word && strcmp(end, units[u].unit) == 0 && value * units[u].ns > -9e18 && value * units[u].ns < 9e18) {
      bool whole = strspn(word, "-0123456789") == len;
      *out = whole ? strtoll(word, NULL, 10) : (int64_t)(value * units[u].ns);
      return NAI_OK;
    }
  return nai_err_set(err, NAI_EUSAGE, "--filter-time %.60s: expected BEGIN/END in ns, or with us, ms, s", word);
}

static int read_times(struct nai_stats_filter *out, const char *text, struct nai_err *err) {
  const char *slash = strchr(text, '/');
  if (!slash)
    return nai_err_set(err, NAI_EUSAGE, "--filter-time %.60s: expected BEGIN/END; either may be missing", text);
  NAI_TRY(read_time(&out->start, text, (size_t)(slash - text), INT64_MIN, err));
  return read_time(&out->end, slash + 1, strlen(slash + 1), INT64_MAX, err);
}

/* --- ranges ---------------------------------------------------------------------------------------------- */

struct wanted {
  char *text, *domain; /* domain: "" for the default one, "*" for any */
  int64_t index;       /* -1: none was said */
};

/* Up to one of `ends`; a character behind a backslash stands for itself. */
static void take_part(char *part, const char **rest, const char *ends) {
  const char *at = *rest;
  while (*at && !strchr(ends, *at)) {
    at += at[0] == '\\' && at[1];
    *part++ = *at++;
  }
  *part = '\0';
  *rest = at;
}

static int read_range(struct wanted *out, const char *text, struct nai_arena *arena, struct nai_err *err) {
  const char *rest = text;
  NAI_TRY(NAI_NEW(out->text, arena, strlen(text) + 1, err));
  NAI_TRY(NAI_NEW(out->domain, arena, strlen(text) + 1, err));
  out->index = -1;
  take_part(out->text, &rest, "@/");
  if (*rest == '@') {
    rest++;
    take_part(out->domain, &rest, "/");
  }
  if (!*rest)
    return NAI_OK;
  out->index = strtoll(rest + 1, NULL, 10);
  return rest[1] && strlen(rest) < 12 && strspn(rest + 1, "0123456789") == strlen(rest + 1)
           ? NAI_OK
           : nai_err_set(err, NAI_EUSAGE, "--filter-nvtx %.60s: expected RANGE[@DOMAIN][/INDEX]", text);
}

static bool is_wanted(const struct wanted *wanted, const struct nai_stats_range *range,
                      const struct nai_stats_ranges *ranges, const struct nai_stats_source *source) {
  const struct nai_stats_words *words = &ranges->words[range->words];
  const char *text = nai_stats_text_of(source, words->text), *domain = nai_stats_text_of(source, words->domain);
  return text && strcmp(text, wanted->text) == 0 &&
         (strcmp(wanted->domain, "*") == 0 || strcmp(wanted->domain, domain ? domain : "") == 0);
}

NAI_ORDER(by_start, struct nai_stats_range, {a->start, b->start}, {a->rowid, b->rowid})

/* From the first start to the last end of what calls in the range launched. */
static int project(struct nai_stats_filter *out, const struct nai_stats_range *range,
                   const struct nai_stats_source *source, struct nai_arena *arena, struct nai_err *err) {
  struct nai_stats_range only = *range;
  struct nai_stats_ranges ranges = {.count = 1, .at = &only};
  struct nai_stats_extent *extent = NULL;
  NAI_TRY(nai_stats_project(&extent, &ranges, source, false, arena, err));
  if (!extent->calls)
    return nai_err_set(err, NAI_EUSAGE, "--filter-projected-nvtx: the range launched nothing on a GPU");
  out->start = extent->start;
  out->end = extent->end;
  return NAI_OK;
}

/* The range's time; of push/pop its thread, of start/end its process. On the GPU: its process. */
static int find_range(struct nai_stats_filter *out, const char *text, bool projected, struct nai_buf *note,
                      struct nai_stats_source *source, struct nai_err *err) {
  struct nai_stats_ranges ranges;
  struct wanted wanted = {0};
  uint32_t count = 0;
  NAI_TRY(read_range(&wanted, text, &source->arena, err));
  NAI_TRY(nai_stats_load_ranges(&ranges, source, false, NAI_STATS_BOTH_STYLES, NULL, err));
  for (uint32_t i = 0; i < ranges.count; i++)
    if (is_wanted(&wanted, &ranges.at[i], &ranges, source))
      ranges.at[count++] = ranges.at[i];
  if (!count || wanted.index >= count)
    return nai_err_set(err, NAI_EUSAGE, "--filter-nvtx %.200s: the export has %u such ranges", text, count);
  qsort(ranges.at, count, sizeof *ranges.at, by_start);
  const struct nai_stats_range *range = &ranges.at[wanted.index < 0 ? 0 : wanted.index];
  if (wanted.index < 0 && count > 1)
    nai_buf_printf(note, "--filter-nvtx takes the first of %u ranges; RANGE/INDEX takes another", count);
  out->start = range->start;
  out->end = range->end;
  out->process = range->thread >> NAI_STATS_PROCESS_SHIFT;
  if (projected)
    NAI_TRY(project(out, range, source, &source->arena, err));
  else if (range->push_pop)
    out->thread = range->thread;
  return nai_buf_check(note, err);
}

int nai_stats_filter_read(struct nai_stats_filter *out, const char *times, const char *range, bool projected,
                          struct nai_buf *note, struct nai_stats_source *source, struct nai_err *err) {
  *out = (struct nai_stats_filter){false, INT64_MIN, INT64_MAX, NAI_STATS_NULL, NAI_STATS_NULL};
  if (times)
    NAI_TRY(read_times(out, times, err));
  if (range)
    NAI_TRY(find_range(out, range, projected, note, source, err));
  out->on = times || range;
  return NAI_OK;
}
