/* Numbers with units in prose. */
#include "features/ask/numbers.h"

#include "base/std.h"

#include <strings.h>

static const struct {
  const char *names;
  enum nai_number_kind kind;
  double factor;
} units[] = {/* one that begins another stands behind it */
             {"TB/s tb/s", NAI_NUMBER_RATE, 1e12},
             {"GB/s gb/s", NAI_NUMBER_RATE, 1e9},
             {"MB/s mb/s", NAI_NUMBER_RATE, 1e6},
             {"ns nanosecond nanoseconds", NAI_NUMBER_TIME, 1},
             {"us \xc2\xb5s \xce\xbcs usec microsecond microseconds", NAI_NUMBER_TIME, 1e3},
             {"ms msec millisecond milliseconds", NAI_NUMBER_TIME, 1e6},
             {"s sec secs second seconds", NAI_NUMBER_TIME, 1e9},
             {"min minute minutes", NAI_NUMBER_TIME, 60e9},
             {"h hour hours", NAI_NUMBER_TIME, 3600e9},
             {"B byte bytes", NAI_NUMBER_BYTES, 1},
             {"KB kB kb", NAI_NUMBER_BYTES, 1e3},
             {"MB mb", NAI_NUMBER_BYTES, 1e6},
             {"GB gb", NAI_NUMBER_BYTES, 1e9},
             {"TB", NAI_NUMBER_BYTES, 1e12},
             {"KiB", NAI_NUMBER_BYTES, 1024},
             {"MiB", NAI_NUMBER_BYTES, 1024.0 * 1024},
             {"GiB", NAI_NUMBER_BYTES, 1024.0 * 1024 * 1024},
             {"TiB", NAI_NUMBER_BYTES, 1024.0 * 1024 * 1024 * 1024},
             {"% percent", NAI_NUMBER_PERCENT, 1}};
enum { UNITS = sizeof units / sizeof *units };

size_t nai_word_place(const char *list, const char *word, size_t len) {
  for (size_t place = 1, n; *list; place++, list += n + (list[n] == ' '))
    if ((n = strcspn(list, " ")) == len && strncasecmp(list, word, n) == 0)
      return place;
  return 0;
}

bool nai_number_is_unit(const char *word) {
  size_t i = 0;
  while (i < UNITS && !nai_word_is_of(units[i].names, word))
    i++;
  return i < UNITS;
}

static bool is_wordy(char c) { return isalnum((unsigned char)c) || c == '_' || (c & 0x80); }

/* How long the name of a unit is that stands there, as it is written; 0: none does. */
static size_t name_at(const char *names, const char *at, const char *end) {
  for (size_t n; *names; names += n + (names[n] == ' ')) {
    n = strcspn(names, " ");
    bool open = is_wordy(*names) && at + n < end && is_wordy(at[n]);
    if ((size_t)(end - at) >= n && strncmp(names, at, n) == 0 && !open)
      return n;
  }
  return 0;
}

/* The unit behind a number, after spaces (also those that do not break); its length with them. */
static size_t unit_at(struct nai_number *out, const char *at, const char *end) {
  size_t space = 0;
  while (at + space < end &&
         (at[space] == ' ' || strncmp(at + space, "\xc2\xa0", 2) == 0 || strncmp(at + space, "\xe2\x80\xaf", 3) == 0))
    space += at[space] == ' ' ? 1 : at[space] == '\xc2' ? 2 : 3;
  for (size_t i = 0, len; i < UNITS; i++) {
    if (!(len = name_at(units[i].names, at + space, end)))
      continue;
    out->kind = units[i].kind;
    out->value *= units[i].factor;
    out->slack *= units[i].factor;
    return space + len;
  }
  return 0;
}

/* Digits with commas between groups of three, and a fraction. */
static size_t read_digits(struct nai_number *out, const char *at, const char *end) {
  char digits[64];
  size_t n = 0, len = 0;
  double last = 1;
  bool fraction = false;
  for (; at + len < end && n < sizeof digits - 1; len++) {
    bool more = at + len + 1 < end && isdigit((unsigned char)at[len + 1]);
    if (isdigit((unsigned char)at[len])) {
      last /= fraction ? 10 : 1;
      digits[n++] = at[len];
    } else if (at[len] == '.' && !fraction && more) {
      fraction = true;
      digits[n++] = '.';
    } else if (at[len] != ',' || fraction || !more || at + len + 3 >= end || !isdigit((unsigned char)at[len + 2]) ||
               !isdigit((unsigned char)at[len + 3])) {
      break;
    }
  }
  digits[n] = '\0';
  *out = (struct nai_number){.value = strtod(digits, NULL), .slack = last / 2, .text = at};
  return len;
}

bool nai_number_next(struct nai_number *out, const char *text, const char **at, const char *end) {
  for (const char *c = *at; c < end; c++) {
    if (!isdigit((unsigned char)*c))
      continue;
    bool named = c > text && (is_wordy(c[-1]) || (c[-1] == '.' && c - 1 > text && is_wordy(c[-2])));
    if (named) { /* the rest of a name */
      while (c < end && (is_wordy(*c) || *c == '.'))
        c++;
      c--;
      continue;
    }
    size_t len = read_digits(out, c, end);
    len += unit_at(out, c + len, end);
    if (c > text && c[-1] == '-' && (c - 1 == text || strchr(" (\n", c[-2])))
      out->value = -out->value;
    out->len = len;
    *at = c + len;
    return true;
  }
  *at = end;
  return false;
}

bool nai_number_same(const struct nai_number *a, const struct nai_number *b) {
  return a->kind == b->kind && fabs(a->value - b->value) <= a->slack * (1 + 1e-9) + 1e-9 * fabs(a->value);
}
