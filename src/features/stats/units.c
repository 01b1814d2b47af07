/* Units of columns, and numbers in them. */
#include "features/stats/stats.h"

#include <strings.h>

struct nai_stats_scale {
  const char *name;  /* in headers */
  const char *names; /* as it is typed, each between blanks */
  double factor;     /* from ns, or bytes */
  int decimals;      /* -1: as it is */
};

static const struct nai_stats_scale times[] = {{"ns", " ns nsec nano nanoseconds ", 1, -1},
                                               {"us", " us usec micro microseconds ", 1e-3, 3},
                                               {"ms", " ms msec milli milliseconds ", 1e-6, 4},
                                               {"sec", " s sec seconds ", 1e-9, 4},
                                               {0}};
static const struct nai_stats_scale bytes[] = {{"B", " B bytes ", 1, -1},
                                               {"KB", " KB kilobytes ", 1e-3, 2},
                                               {"KBi", " KBi KiB kibibytes ", 1.0 / 1024, 2},
                                               {"MB", " MB megabytes ", 1e-6, 3},
                                               {"MBi", " MBi MiB mebibytes ", 1.0 / 1048576, 3},
                                               {"GB", " GB gigabytes ", 1e-9, 3},
                                               {"GBi", " GBi GiB gibibytes ", 1.0 / 1073741824, 3},
                                               {0}};
static const struct nai_stats_scale addresses[] = {{"", " hex ", 16, -1}, {"", " uint ", 10, -1}, {0}};

static const struct nai_stats_scale *scales_of(enum nai_stats_unit unit) {
  static const struct nai_stats_scale *const scales[NAI_STATS_UNITS] = {[NAI_STATS_TIME] = times,
                                                                        [NAI_STATS_STAMP] = times,
                                                                        [NAI_STATS_MEMORY] = bytes,
                                                                        [NAI_STATS_RATE] = bytes,
                                                                        [NAI_STATS_ADDRESS] = addresses};
  return scales[unit];
}

const struct nai_stats_scale *nai_stats_scale_default(enum nai_stats_unit unit) {
  if (unit == NAI_STATS_MEMORY || unit == NAI_STATS_RATE)
    return nai_stats_scale_find(unit, "MB");
  return unit == NAI_STATS_ADDRESS ? addresses : NULL;
}

/* Beginnings of a name do as well, of at least two letters. */
static bool is_named(const struct nai_stats_scale *scale, const char *name) {
  size_t len = strlen(name);
  for (const char *word = scale->names; *(word += strspn(word, " ")); word += strcspn(word, " ")) {
    size_t whole = strcspn(word, " ");
    if (len <= whole && strncasecmp(word, name, len) == 0 && (len == whole || len > 2))
      return true;
  }
  return false;
}

const struct nai_stats_scale *nai_stats_scale_find(enum nai_stats_unit unit, const char *name) {
  for (const struct nai_stats_scale *scale = scales_of(unit); scale && scale->name; scale++)
    if (is_named(scale, name))
      return scale;
  return NULL;
}

void nai_stats_put_unit(struct nai_buf *out, enum nai_stats_unit unit, const struct nai_stats_scale *scale, bool old) {
  if (unit == NAI_STATS_PERCENT)
    nai_buf_putc(out, '%');
  else if (unit == NAI_STATS_TIME || unit == NAI_STATS_STAMP)
    nai_buf_puts(out, scale ? scale->name : "ns");
  else if (unit == NAI_STATS_MEMORY || unit == NAI_STATS_RATE)
    nai_buf_printf(out, "%s%s", scale ? scale->name : "B", unit == NAI_STATS_MEMORY ? "" : old ? "ps" : "/s");
}

/* The shortest decimal number that is `value`, as Python's repr() prints it. */
static void put_shortest(char text[40], double value) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 40, "%.*g", digits, value);
    if (strtod(text, NULL) == value)
      break;
  }
  if (!strpbrk(text, ".en"))
    strcat(text, ".0");
}

double nai_stats_round(double value) {
  char text[40];
  if (!isfinite(value))
    return value;
  double scaled = fabs(value) * 10, part = scaled - floor(scaled);
  if (scaled < 1e12 && fabs(part - 0.5) > 1e-3) /* no tie, however it is written */
    return copysign(floor(scaled + 0.5) / 10, value);
  put_shortest(text, value);
  const char *point = strchr(text, '.');
  if (value > -1e-4 && value < 1e-4) /* of these it has an exponent */
    return 0;
  if (!point || strpbrk(text, "en") || strlen(point) <= 2)
    return value;
  bool negative = text[0] == '-', up = point[2] >= '5';
  double tenths = (double)(strtoll(text + negative, NULL, 10) * 10 + (point[1] - '0') + up);
  return (negative ? -tenths : tenths) / 10;
}

/* Eight decimal digits as the bytes of a word, the first one lowest: split into halves, and these into halves, all at
 * once. */
static uint64_t split_digits(uint32_t value) {
  uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
  uint64_t hundreds = (fours * 10486 >> 20) & 0x7f0000007f;
  uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
  uint64_t tens = (twos * 103 >> 10) & 0xf000f000f000f;
  return tens | (twos - tens * 10) << 8;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the lowest byte of a word is printed first");
enum { WORD_DIGITS = 8, MOST_BYTES = 1 + 3 * WORD_DIGITS };
static const uint64_t word_limit = 100000000, zeros = 0x3030303030303030;

/* The first digits, without zeros in front. Returns where the next go. */
static char *put_first(char *at, uint32_t value) {
  uint64_t digits = split_digits(value), none = value ? (uint64_t)__builtin_ctzll(digits) / 8 : WORD_DIGITS - 1;
  uint64_t text = (digits | zeros) >> 8 * none;
  memcpy(at, &text, sizeof text);
  return at + (WORD_DIGITS - none);
}

/* Eight digits that follow others. */
static char *put_word(char *at, uint64_t value) {
  uint64_t text = split_digits((uint32_t)value) | zeros;
  memcpy(at, &text, sizeof text);
  return at + WORD_DIGITS;
}

void nai_stats_put_digits(struct nai_buf *out, int64_t value) {
  const bool room = out->capacity - out->len > MOST_BYTES && !nai_buf_failed(out);
  char *begin = room ? out->data + out->len : nai_buf_reserve(out, MOST_BYTES), *at = begin;
  uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value, high = left / word_limit;
  if (!at)
    return;
  if (value < 0)
    *at++ = '-';
  if (left < 10) {
    *at++ = (char)('0' + left);
  } else if (left < word_limit) {
    at = put_first(at, (uint32_t)left);
  } else {
    at = high < word_limit ? put_first(at, (uint32_t)high)
                           : put_word(put_first(at, (uint32_t)(high / word_limit)), high % word_limit);
    at = put_word(at, left % word_limit);
  }
  *at = '\0';
  out->len += (size_t)(at - begin);
}

/* What was rounded to one decimal is printed without looking for more of them. */
static void put_real(struct nai_buf *out, double value) {
  char text[40];
  double tenths = floor(fabs(value) * 10 + 0.5);
  if (tenths < 1e15 && tenths / 10 == value) {
    nai_stats_put_digits(out, (int64_t)tenths / 10);
    nai_buf_putc(out, '.');
    nai_buf_putc(out, (char)('0' + (int64_t)tenths % 10));
    return;
  }
  put_shortest(text, value);
  nai_buf_puts(out, text);
}

/* As printf rounds; without it where no digit hangs on how. */
static void put_fixed(struct nai_buf *out, double value, int decimals) {
  static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4};
  double scaled = value * powers[decimals], part = scaled - floor(scaled);
  if (value < 0 || scaled >= 1e12 || fabs(part - 0.5) < 1e-3) {
    nai_buf_printf(out, "%.*f", decimals, value);
    return;
  }
  int64_t whole = (int64_t)(scaled + 0.5), power = (int64_t)powers[decimals];
  nai_stats_put_digits(out, whole / power);
  nai_buf_putc(out, '.');
  for (whole %= power; power > 1; whole %= power) {
    power /= 10;
    nai_buf_putc(out, (char)('0' + whole / power));
  }
}

static void put_address(struct nai_buf *out, int64_t address, bool hex) {
  nai_buf_printf(out, hex ? "0x%llx" : "%llu", (unsigned long long)address);
}

void nai_stats_put_scaled(struct nai_buf *out, const struct nai_stats_cell *cell, const struct nai_stats_scale *scale) {
  double value = cell->type == NAI_STATS_INT ? (double)cell->i : cell->f;
  if (scale >= addresses && scale < addresses + 2)
    put_address(out, cell->i, scale == addresses);
  else if (scale && scale->decimals >= 0)
    put_fixed(out, value * scale->factor, scale->decimals);
  else if (cell->type == NAI_STATS_INT)
    nai_stats_put_digits(out, cell->i);
  else
    put_real(out, value);
}
