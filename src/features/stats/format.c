/* Formats as they are typed: csv:nohdr:time=us. */
#include "features/stats/request.h"

#include "base/text.h"

static const struct {
  const char *name, *extension;
} kinds[NAI_STATS_KINDS] = {
    [NAI_STATS_COLUMN] = {"column", "txt"}, [NAI_STATS_TABLE] = {"table", "txt"}, [NAI_STATS_CSV] = {"csv", "csv"},
    [NAI_STATS_TSV] = {"tsv", "tsv"},       [NAI_STATS_JSON] = {"json", "json"},  [NAI_STATS_HDOC] = {"hdoc", "html"},
    [NAI_STATS_HTABLE] = {"htable", "html"}};

const char *nai_stats_kind_extension(enum nai_stats_kind kind) { return kinds[kind].extension; }

static int read_kind(struct nai_stats_format *format, const char *word, enum nai_stats_kind otherwise,
                     struct nai_err *err) {
  const char *names[NAI_STATS_KINDS];
  format->kind = otherwise;
  if (!*word || strcmp(word, ".") == 0)
    return NAI_OK;
  for (int k = 0; k < NAI_STATS_KINDS; k++) {
    names[k] = kinds[k].name;
    format->kind = (enum nai_stats_kind)k;
    if (strcmp(word, names[k]) == 0)
      return NAI_OK;
  }
  const char *near = nai_text_suggest(word, names, NAI_STATS_KINDS);
  return nai_err_set(err, NAI_EUSAGE,
                     "there is no format \"%.60s\"%s%s%s; formats: column table csv tsv json hdoc htable", word,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static int set_scale(struct nai_stats_format *format, const char *key, const char *name, struct nai_err *err) {
  static const struct {
    const char *key;
    enum nai_stats_unit units[2];
  } keys[] = {{"time", {NAI_STATS_TIME, NAI_STATS_STAMP}},     {"dur", {NAI_STATS_TIME, NAI_STATS_TIME}},
              {"ts", {NAI_STATS_STAMP, NAI_STATS_STAMP}},      {"mem", {NAI_STATS_MEMORY, NAI_STATS_MEMORY}},
              {"bytes", {NAI_STATS_MEMORY, NAI_STATS_RATE}},   {"thru", {NAI_STATS_RATE, NAI_STATS_RATE}},
              {"addr", {NAI_STATS_ADDRESS, NAI_STATS_ADDRESS}}};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    if (strcmp(key, keys[k].key) != 0)
      continue;
    for (int u = 0; u < 2; u++)
      format->scale[keys[k].units[u]] = nai_stats_scale_find(keys[k].units[u], name);
    return format->scale[keys[k].units[0]]
             ? NAI_OK
             : nai_err_set(err, NAI_EUSAGE, "\"%.60s\" is no unit of %s; docs/stats.md lists them", name, key);
  }
  return nai_err_set(err, NAI_EUSAGE, "\"%.60s=\" is no argument of a format", key);
}

static int read_valued(struct nai_stats_format *format, const char *key, const char *value, struct nai_err *err) {
  bool lines = strcmp(key, "autolines") == 0;
  if (strcmp(key, "title") == 0)
    format->title = value;
  else if (strcmp(key, "css") == 0)
    format->css = value;
  else if (!lines && strcmp(key, "colmax") != 0)
    return set_scale(format, key, value, err);
  else if (!*value || strlen(value) > 6 || strspn(value, "0123456789") != strlen(value))
    return nai_err_set(err, NAI_EUSAGE, "%s takes a number; 0 is no limit", key);
  else
    *(lines ? &format->auto_lines : &format->max_width) = atoi(value);
  return NAI_OK;
}

/* Whether it is the width of the next column: a number, or a dot. */
static bool read_width(struct nai_stats_format *format, const char *word) {
  bool automatic = strcmp(word, ".") == 0;
  if ((!automatic && (strlen(word) > 4 || strspn(word, "0123456789") != strlen(word))) ||
      format->width_count == NAI_STATS_MAX_SHOWN ||
      (format->kind != NAI_STATS_COLUMN && format->kind != NAI_STATS_TABLE))
    return false;
  format->width[format->width_count++] = automatic ? -1 : atoi(word);
  return true;
}

static int read_argument(struct nai_stats_format *format, char *word, struct nai_err *err) {
  bool nothing; /* digits are never grouped, and no text holds a tab */
  const struct {
    const char *name;
    bool *flag;
  } flags[] = {{"nohdr", &format->no_header},
               {"nofmt", &nothing},
               {"nohdrunit", &format->no_header_unit},
               {"noconv", &format->no_conversion},
               {"esc", &nothing}};
  char *value = strchr(word, '=');
  if (read_width(format, word))
    return NAI_OK;
  if (value) {
    *value = '\0';
    return read_valued(format, word, value + 1, err);
  }
  for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
    if (strcmp(word, flags[f].name) == 0) {
      *flags[f].flag = true;
      return NAI_OK;
    }
  return nai_err_set(err, NAI_EUSAGE, "\"%.60s\" is no argument of a format", word);
}

int nai_stats_format_read(struct nai_stats_format *format, const char *text, enum nai_stats_kind otherwise,
                          const char *time_unit, struct nai_arena *arena, struct nai_err *err) {
  size_t len = strlen(text);
  char *words = NULL, *rest = NULL;
  *format = (struct nai_stats_format){.auto_lines = 100, .max_width = 100};
  NAI_TRY(NAI_NEW(words, arena, len + 1, err));
  memcpy(words, text, len + 1);
  if (time_unit)
    NAI_TRY(set_scale(format, "time", time_unit, err));
  char *word = strtok_r(words, ":", &rest);
  NAI_TRY(read_kind(format, word ? word : "", otherwise, err));
  while ((word = strtok_r(NULL, ":", &rest)))
    NAI_TRY(read_argument(format, word, err));
  return NAI_OK;
}
