/* Numbers with units in prose. */
#include "features/ask/numbers.h"

#include "base/std.h"

static const struct {
  const char *name;
  enum nai_number_kind kind;
  double factor;
} units[] = {/* longest first where one begins another */
             {"milliseconds", NAI_NUMBER_TIME, 1e6},
             {"microseconds", NAI_NUMBER_TIME, 1e3},
             {"nanoseconds", NAI_NUMBER_TIME, 1},
             {"millisecond", NAI_NUMBER_TIME, 1e6},
             {"microsecond", NAI_NUMBER_TIME, 1e3},
             {"nanosecond", NAI_NUMBER_TIME, 1},
             {"seconds", NAI_NUMBER_TIME, 1e9},
             {"minutes", NAI_NUMBER_TIME, 60e9},
             {"second", NAI_NUMBER_TIME, 1e9},
             {"minute", NAI_NUMBER_TIME, 60e9},
             {"percent", NAI_NUMBER_PERCENT, 1},
             {"bytes", NAI_NUMBER_BYTES, 1},
             {"hours", NAI_NUMBER_TIME, 3600e9},
             {"TB/s", NAI_NUMBER_RATE, 1e12},
             {"GB/s", NAI_NUMBER_RATE, 1e9},
             {"MB/s", NAI_NUMBER_RATE, 1e6},
             {"byte", NAI_NUMBER_BYTES, 1},
             {"hour", NAI_NUMBER_TIME, 3600e9},
             {"TiB", NAI_NUMBER_BYTES, 1024.0 * 1024 * 1024 * 1024},
             {"GiB", NAI_NUMBER_BYTES, 1024.0 * 1024 * 1024},
             {"MiB", NAI_NUMBER_BYTES, 1024.0 * 1024},
             {"KiB", NAI_NUMBER_BYTES, 1024},
             {"usec", NAI_NUMBER_TIME, 1e3},
             {"msec", NAI_NUMBER_TIME, 1e6},
             {"min", NAI_NUMBER_TIME, 60e9},
             {"sec", NAI_NUMBER_TIME, 1e9},
             {"\xc2\xb5s", NAI_NUMBER_TIME, 1e3},
             {"\xce\xbcs", NAI_NUMBER_TIME, 1e3},
             {"TB", NAI_NUMBER_BYTES, 1e12},
             {"GB", NAI_NUMBER_BYTES, 1e9},
             {"MB", NAI_NUMBER_BYTES, 1e6},
             {"KB", NAI_NUMBER_BYTES, 1e3},
             {"kB", NAI_NUMBER_BYTES, 1e3},
             {"ns", NAI_NUMBER_TIME, 1},
             {"us", NAI_NUMBER_TIME, 1e3},
             {"ms", NAI_NUMBER_TIME, 1e6},
             {"s", NAI_NUMBER_TIME, 1e9},
             {"h", NAI_NUMBER_TIME, 3600e9},
             {"B", NAI_NUMBER_BYTES, 1},
             {"%", NAI_NUMBER_PERCENT, 1}};

static bool is_wordy(char c) { return isalnum((unsigned char)c) || c == '_' || (c & 0x80); }

/* The unit behind a number, after spaces (also those that do not break); its length with them. */
static size_t unit_at(struct nai_number *out, const char *at, const char *end) {
  size_t space = 0;
  while (at + space < end &&
         (at[space] == ' ' || strncmp(at + space, "\xc2\xa0", 2) == 0 || strncmp(at + space, "\xe2\x80\xaf", 3) == 0))
    space += at[space] == ' ' ? 1 : at[space] == '\xc2' ? 2 : 3;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    size_t len = strlen(units[i].name);
    if ((size_t)(end - at) < space + len || strncmp(at + space, units[i].name, len) != 0 ||
        (units[i].kind != NAI_NUMBER_PERCENT && at + space + len < end && is_wordy(at[space + len])))
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
