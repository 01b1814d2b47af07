/* What options hold: reading and printing values. */
#include "cli/internal.h"

#include "base/text.h"

static void *field(void *args, size_t at) { return (char *)args + at; }
static const void *field_of(const void *args, size_t at) { return (const char *)args + at; }

static int read_int(int64_t *out, const struct nai_cli_option *o, const char *text, struct nai_err *err) {
  char *end;
  errno = 0;
  long long v = strtoll(text, &end, 10);
  if (errno || end == text || *end || v < o->min || v > o->max) {
    if (o->max >= INT32_MAX && o->min < 0) /* -1 is what some exports call an unknown one */
      return nai_err_set(err, NAI_EUSAGE, "--%s %.60s: expected a whole number", o->name, text);
    if (o->max >= INT32_MAX)
      return nai_err_set(err, NAI_EUSAGE, "--%s %.60s: expected a whole number, at least %" PRId64, o->name, text,
                         o->min);
    return nai_err_set(err, NAI_EUSAGE, "--%s %.60s: expected a whole number from %" PRId64 " to %" PRId64, o->name,
                       text, o->min, o->max);
  }
  *out = v;
  return NAI_OK;
}

int nai_cli_read_number(double *out, const struct nai_cli_option *o, const char *text, struct nai_err *err) {
  char *end;
  double v = strtod(text, &end);
  if (end == text || *end || !isfinite(v) || v < (double)o->min || v > (double)o->max)
    return nai_err_set(err, NAI_EUSAGE, "--%s %.60s: expected a number from %" PRId64 " to %" PRId64, o->name, text,
                       o->min, o->max);
  *out = v;
  return NAI_OK;
}

/* --- switches, texts -------------------------------------------------------------------------- */

static int set_on(void *args, const struct nai_cli_option *o, const char *const *values, struct nai_err *err) {
  (void)values, (void)err;
  *(bool *)field(args, o->at) = true;
  return NAI_OK;
}

static int set_off(void *args, const struct nai_cli_option *o, const char *const *values, struct nai_err *err) {
  (void)values, (void)err;
  *(bool *)field(args, o->at) = false;
  return NAI_OK;
}

static int set_text(void *args, const struct nai_cli_option *o, const char *const *values, struct nai_err *err) {
  *(const char **)field(args, o->at) = values[0];
  return *values[0] ? NAI_OK : nai_err_set(err, NAI_EUSAGE, "--%s needs %s, not an empty word", o->name, o->value);
}

static void print_text(struct nai_buf *out, const void *args, const struct nai_cli_option *o) {
  const char *text = *(const char *const *)field_of(args, o->at);
  if (text)
    nai_buf_puts(out, text);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static int set_int(void *args, const struct nai_cli_option *o, const char *const *values, struct nai_err *err) {
  int64_t v = 0;
  NAI_TRY(read_int(&v, o, values[0], err));
  *(int *)field(args, o->at) = (int)v;
  return NAI_OK;
}

static void print_whole(struct nai_buf *out, int64_t v, const struct nai_cli_option *o) {
  if (v >= o->min && v <= o->max)
    nai_buf_printf(out, "%" PRId64, v);
}

static void print_int(struct nai_buf *out, const void *args, const struct nai_cli_option *o) {
  print_whole(out, *(const int *)field_of(args, o->at), o);
}

static int set_int64(void *args, const struct nai_cli_option *o, const char *const *values, struct nai_err *err) {
  return read_int(field(args, o->at), o, values[0], err);
}

static void print_int64(struct nai_buf *out, const void *args, const struct nai_cli_option *o) {
  print_whole(out, *(const int64_t *)field_of(args, o->at), o);
}

static int set_number(void *args, const struct nai_cli_option *o, const char *const *values, struct nai_err *err) {
  return nai_cli_read_number(field(args, o->at), o, values[0], err);
}

static void print_number(struct nai_buf *out, const void *args, const struct nai_cli_option *o) {
  double v = *(const double *)field_of(args, o->at);
  if (v >= (double)o->min && v <= (double)o->max)
    nai_buf_printf(out, "%g", v);
}

static const char size_suffixes[] = "KMGT";

static int set_bytes(void *args, const struct nai_cli_option *o, const char *const *values, struct nai_err *err) {
  char *end;
  double v = strtod(values[0], &end);
  const char *suffix = *end ? strchr(size_suffixes, *end & ~0x20) : NULL;
  for (const char *s = size_suffixes; suffix && s <= suffix; s++)
    v *= 1024;
  double most = o->max ? (double)o->max : 1e15;
  if (end == values[0] || (*end && (!suffix || end[1])) || !(v >= 1) || v > most)
    return nai_err_set(err, NAI_EUSAGE, "--%s %.60s: expected a size such as 512M or 4G", o->name, values[0]);
  *(int64_t *)field(args, o->at) = (int64_t)v;
  return NAI_OK;
}

static void print_bytes(struct nai_buf *out, const void *args, const struct nai_cli_option *o) {
  int64_t v = *(const int64_t *)field_of(args, o->at);
  const char *suffix = size_suffixes;
  while (v > 0 && v % 1024 == 0 && *suffix) {
    v /= 1024;
    suffix++;
  }
  if (v > 0)
    nai_buf_printf(out, "%" PRId64 "%.*s", v, suffix > size_suffixes, suffix - (suffix > size_suffixes));
}

/* A time in ns, of seconds or with a unit: "1.5", "20ms". */
static int read_time(int64_t *ns, const struct nai_cli_option *o, const char *text, struct nai_err *err) {
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"\u00b5s", 1e3}, {"\u03bcs", 1e3}, {"ns", 1}};
  char *end;
  double v = strtod(text, &end), unit = 0;
  for (size_t i = 0; end != text && i < sizeof units / sizeof *units; i++)
    if (strcmp(end, units[i].name) == 0)
      unit = units[i].ns;
  if (unit == 0 || !isfinite(v) || v * unit < (double)o->min * 1e9 || v * unit > (double)o->max * 1e9)
    return nai_err_set(err, NAI_EUSAGE, "--%s %.60s: expected seconds, or a time such as 20ms or 1.5us", o->name, text);
  *ns = llround(v * unit);
  return NAI_OK;
}

static int set_stretch(void *args, const struct nai_cli_option *o, const char *const *values, struct nai_err *err) {
  struct nai_cli_stretch *stretch = field(args, o->at);
  bool from_first = *values[0] == '+', is_length = *values[1] == '+';
  int64_t start = 0, end = 0;
  NAI_TRY(read_time(&start, o, values[0] + from_first, err));
  NAI_TRY(read_time(&end, o, values[1] + is_length, err));
  if (from_first && !is_length)
    return nai_err_set(err, NAI_EUSAGE, "--%s %s %s: behind +START stands +LENGTH", o->name, values[0], values[1]);
  *stretch = (struct nai_cli_stretch){true, from_first, start, is_length ? start + end : end};
  if (stretch->end_ns > stretch->start_ns)
    return NAI_OK;
  return nai_err_set(err, NAI_EUSAGE, "--%s %s %s: the end must lie after the start", o->name, values[0], values[1]);
}

/* --- choices ---------------------------------------------------------------------------------- */

enum { MAX_CHOICES = 256 };

void nai_cli_list_choices(struct nai_buf *out, nai_cli_choices_fn *choices, const char *before, const char *also) {
  for (size_t i = 0; choices(i, before); i++) {
    bool last = !choices(i + 1, before) && !also;
    nai_buf_printf(out, "%s%s", i == 0 ? "" : last ? " or " : ", ", choices(i, before));
  }
  if (also)
    nai_buf_printf(out, ", or %s", also);
}

int nai_cli_unknown_choice(struct nai_err *err, const char *what, const char *word, nai_cli_choices_fn *choices,
                           const char *also) {
  const char *names[MAX_CHOICES];
  size_t count = 0;
  NAI_SCOPED(nai_buf) list = {0};
  for (; count < MAX_CHOICES && choices(count, ""); count++)
    names[count] = choices(count, "");
  nai_cli_list_choices(&list, choices, "", also);
  const char *near = nai_text_suggest(word, names, count);
  nai_err_set(err, NAI_EUSAGE, "%s %.60s: expected %s%s%s%s", what, word, nai_buf_str(&list),
              near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  return NAI_EUSAGE;
}

size_t nai_cli_choice_index(nai_cli_choices_fn *choices, const char *word) {
  size_t i = 0;
  while (choices(i, "") && strcmp(choices(i, ""), word) != 0)
    i++;
  return i;
}

static int find_choice(size_t *out, const struct nai_cli_option *o, const char *word, struct nai_err *err) {
  char what[64];
  *out = nai_cli_choice_index(o->choices, word);
  if (o->choices(*out, ""))
    return NAI_OK;
  snprintf(what, sizeof what, "--%s", o->name);
  return nai_cli_unknown_choice(err, what, word, o->choices, o->also);
}

static int set_choice(void *args, const struct nai_cli_option *o, const char *const *values, struct nai_err *err) {
  size_t i = 0;
  NAI_TRY(find_choice(&i, o, values[0], err));
  *(int *)field(args, o->at) = (int)i;
  return NAI_OK;
}

static void print_choice(struct nai_buf *out, const void *args, const struct nai_cli_option *o) {
  int i = *(const int *)field_of(args, o->at);
  if (i >= 0)
    nai_buf_puts(out, o->choices((size_t)i, ""));
}

static int set_word(void *args, const struct nai_cli_option *o, const char *const *values, struct nai_err *err) {
  size_t i = 0;
  NAI_TRY(find_choice(&i, o, values[0], err));
  *(const char **)field(args, o->at) = o->choices(i, "");
  return NAI_OK;
}

/* --- lists ------------------------------------------------------------------------------------ */

/* The place for one more item of a list. */
static int next_item(size_t *out, void *args, const struct nai_cli_option *o, struct nai_err *err) {
  size_t *count = field(args, o->count_at);
  if (*count == o->most)
    return nai_err_set(err, NAI_EUSAGE, "--%s can be given %zu times at most", o->name, o->most);
  *out = (*count)++;
  return NAI_OK;
}

static int set_texts(void *args, const struct nai_cli_option *o, const char *const *values, struct nai_err *err) {
  size_t i = 0;
  NAI_TRY(next_item(&i, args, o, err));
  ((const char **)field(args, o->at))[i] = values[0];
  return NAI_OK;
}

static int set_ints(void *args, const struct nai_cli_option *o, const char *const *values, struct nai_err *err) {
  size_t i = 0;
  int64_t v = 0;
  NAI_TRY(read_int(&v, o, values[0], err));
  NAI_TRY(next_item(&i, args, o, err));
  ((int64_t *)field(args, o->at))[i] = v;
  return NAI_OK;
}

const struct nai_cli_type nai_cli_on = {set_on, NULL}, nai_cli_off = {set_off, NULL},
                          nai_cli_text = {set_text, print_text}, nai_cli_int = {set_int, print_int},
                          nai_cli_int64 = {set_int64, print_int64}, nai_cli_number = {set_number, print_number},
                          nai_cli_bytes = {set_bytes, print_bytes}, nai_cli_choice = {set_choice, print_choice},
                          nai_cli_word = {set_word, print_text}, nai_cli_texts = {set_texts, NULL},
                          nai_cli_ints = {set_ints, NULL}, nai_cli_stretch = {set_stretch, NULL};
