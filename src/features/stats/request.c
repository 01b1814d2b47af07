#include "features/stats/request.h"

#include "base/fs.h"
#include "base/text.h"

enum { MAX_NAMES = 512 };

int nai_stats_unknown_report(const char *name, struct nai_err *err) {
  const char *names[MAX_NAMES];
  size_t count = 0;
  while ((names[count] = nai_stats_names(count, "")))
    count++;
  const char *near = nai_text_suggest(name, names, count);
  return nai_err_set(err, NAI_EUSAGE, "Report '%s' could not be found.%s%s%s", name, near ? " Did you mean '" : "",
                     near ? near : "", near ? "'?" : "");
}

static bool is_number(const char *word) {
  word += *word == '-';
  return *word && strlen(word) < 10 && strspn(word, "0123456789") == strlen(word);
}

/* Whether it is one of the report's own, NAME=N. */
static bool read_number(struct nai_stats_request *request, const char *word) {
  for (int i = 0; i < 2 && request->report->arguments[i].name; i++) {
    const struct nai_stats_argument *argument = &request->report->arguments[i];
    size_t len = strlen(argument->name);
    if (strncmp(word, argument->name, len) != 0 || word[len] != '=' || !is_number(word + len + 1))
      continue;
    request->options.number[i] = strtoll(word + len + 1, NULL, 10);
    return request->options.number[i] >= argument->least && request->options.number[i] <= argument->most;
  }
  return false;
}

/* Whether it is one of the words that only this program knows. */
static bool read_flag(struct nai_stats_request *request, const char *word) {
  for (int i = 0; i < NAI_STATS_FLAGS && request->report->flags[i]; i++)
    if (strcmp(word, request->report->flags[i]) == 0)
      return request->options.flag[i] = true;
  if (strcmp(word, "quartiles") == 0 && nai_stats_has_quartiles(request->report))
    return request->options.quartiles = true;
  return false;
}

/* Whether it is of the filter that rules have. */
static bool read_window(struct nai_stats_request *request, const char *word) {
  const struct {
    const char *key, **value;
  } keys[] = {{"start=", &request->start}, {"end=", &request->end}, {"nvtx=", &request->range}};
  for (size_t k = 0; k < sizeof keys / sizeof *keys && request->report->window; k++)
    if (strncmp(word, keys[k].key, strlen(keys[k].key)) == 0) {
      *keys[k].value = word + strlen(keys[k].key);
      return true;
    }
  return false;
}

static char *find_word(char *words, const char *word) {
  const char *first = word + 1; /* without the colon before it */
  return strncmp(words, first, strlen(first)) == 0 ? words : strstr(words, word);
}

/* A name may hold colons: it is the last argument. */
static int read_name(struct nai_stats_request *request, char *words, struct nai_err *err) {
  if (!request->report->about)
    return NAI_OK;
  char *name = find_word(words, ":name=");
  name = name ? name : find_word(words, ":match=");
  if (!name && request->report->about == NAI_STATS_MAY_HAVE_NAME)
    return NAI_OK;
  if (!name)
    return nai_err_set(err, NAI_EUSAGE, "Report '%s' needs an argument: %s:name=NAME", request->name, request->name);
  request->options.name = strchr(name, '=') + 1;
  *name = '\0';
  return NAI_OK;
}

static int read_arguments(struct nai_stats_request *request, char *words, struct nai_err *err) {
  char *rest = NULL;
  NAI_TRY(read_name(request, words, err));
  for (char *word = strtok_r(words, ":", &rest); word; word = strtok_r(NULL, ":", &rest))
    if (request->report->named && strcmp(word, "base") == 0)
      request->options.naming = NAI_STATS_BASE;
    else if (request->report->named && strcmp(word, "mangled") == 0)
      request->options.naming = NAI_STATS_MANGLED;
    else if (request->report->ranged && !request->options.old && strcmp(word, "nvtx-name") == 0)
      request->options.nvtx_name = true;
    else if (request->report->rows && strncmp(word, "rows=", 5) == 0 && is_number(word + 5))
      request->options.rows = strtoll(word + 5, NULL, 10);
    else if (!read_flag(request, word) && !read_window(request, word) && !read_number(request, word))
      return nai_err_set(err, NAI_EUSAGE, "Invalid argument passed to report '%s': unrecognized arguments: %s",
                         request->name, word);
  return NAI_OK;
}

int nai_stats_read_request(struct nai_stats_request *request, const char *text, struct nai_arena *arena,
                           struct nai_err *err) {
  size_t len = strcspn(text, ":");
  char *arguments = NULL;
  request->name = nai_arena_printf(arena, "%.*s", (int)len, text);
  request->arguments = text[len] ? text + len + 1 : "";
  NAI_TRY(NAI_NEW(arguments, arena, strlen(text) + 1, err));
  strcpy(arguments, request->arguments);
  request->report = nai_stats_find(request->name);
  if (!request->report)
    return nai_stats_unknown_report(request->name, err);
  request->options.report = request->report;
  request->options.rows = request->report->rows;
  for (int i = 0; i < 2; i++)
    request->options.number[i] = request->report->arguments[i].otherwise;
  request->options.old = nai_stats_is_old(request->report, request->name);
  NAI_TRY(read_arguments(request, arguments, err));
  request->options.table = request->report->is_table[request->options.flag[0] && request->report->is_table[1]];
  return NAI_OK;
}

const char *nai_stats_request_path(const struct nai_stats_request *request, const char *source, const char *output,
                                   const char *range, enum nai_stats_kind kind, struct nai_arena *arena) {
  NAI_SCOPED(nai_buf) path = {0};
  size_t len = strlen(source);
  while (len > 1 && source[len - 1] == '/')
    len--;
  const char *dot = strrchr(source, '.'), *slash = strrchr(source, '/');
  if (dot && (!slash || dot > slash) && !nai_fs_is_dir(source))
    len = (size_t)(dot - source);
  if (strcmp(output, ".") == 0)
    nai_buf_put(&path, source, len);
  else
    nai_buf_puts(&path, output);
  nai_buf_printf(&path, "_%s%s", request->name, *request->arguments ? "_" : "");
  for (const char *c = request->arguments; *c; c++)
    nai_buf_putc(&path, strchr(":=/", *c) ? '_' : *c);
  nai_buf_puts(&path, range ? "_nvtx=" : "");
  for (const char *c = range; c && *c; c++)
    nai_buf_putc(&path, *c == '/' ? '-' : *c);
  nai_buf_printf(&path, ".%s", nai_stats_kind_extension(kind));
  arena->oom |= path.oom;
  return nai_arena_printf(arena, "%s", nai_buf_str(&path));
}

int nai_stats_read_own_filter(struct nai_stats_source *source, const struct nai_stats_request *request,
                              struct nai_err *err) {
  NAI_SCOPED(nai_buf) note = {0}, times = {0};
  struct nai_stats_filter in_time;
  if (!request->start && !request->end && !request->range)
    return NAI_OK;
  nai_buf_printf(&times, "%s/%s", request->start ? request->start : "", request->end ? request->end : "");
  NAI_TRY(nai_buf_check(&times, err));
  NAI_TRY(nai_stats_filter_read(&in_time, nai_buf_str(&times), NULL, false, &note, source, err));
  NAI_TRY(nai_stats_filter_read(&source->filter, NULL, request->range, false, &note, source, err));
  source->filter.on = true;
  if (request->start)
    source->filter.start = in_time.start;
  if (request->end)
    source->filter.end = in_time.end;
  return NAI_OK;
}
