#include "base/fmt.h"

/* The last digits of a number before `at`, at least so many, two by two; where they begin. What is left of the number
 * stays. */
static char *put_digits(char *at, uint64_t *left, int count) {
  static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                              "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                              "8081828384858687888990919293949596979899";
  for (; count > 1; count -= 2, *left /= 100) {
    const char *pair = pairs + 2 * (*left % 100);
    *--at = pair[1];
    *--at = pair[0];
  }
  if (count == 1) {
    *--at = (char)('0' + *left % 10);
    *left /= 10;
  }
  return at;
}

/* From the last digit on: printf would take several times as long, and outputs are mostly numbers. */
void nai_fmt_scaled(struct nai_buf *out, int64_t value, int decimals) {
  enum { ROOM = 32 }; /* copied whole, which takes fewer steps than what there is of it */
  char text[2 * ROOM], *end = text + ROOM, *at = end;
  uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  if (decimals > 0) {
    at = put_digits(at, &left, decimals);
    *--at = '.';
  }
  while (left >= 10)
    at = put_digits(at, &left, 2);
  if (left || at == end || *at == '.')
    *--at = (char)('0' + left);
  if (value < 0)
    *--at = '-';
  char *to = nai_buf_reserve(out, ROOM);
  if (!to)
    return;
  memcpy(to, at, ROOM);
  to[end - at] = '\0';
  out->len += (size_t)(end - at);
}

/* Most numbers are neither large nor near the middle between two that can be printed: their digits are those of an
 * integer. */
static bool put_small_real(struct nai_buf *out, double value, int decimals) {
  static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
  const double limit = 0x1p40, doubt = 0x1p-12; /* a product below the limit is off by less than half of that */
  if (decimals > 6)
    return false;
  double product = fabs(value) * powers[decimals];
  if (!(product < limit))
    return false;
  int64_t whole = (int64_t)product;
  double rest = product - (double)whole - 0.5;
  if (fabs(rest) < doubt)
    return false;
  whole += rest > 0;
  nai_fmt_scaled(out, value < 0 ? -whole : whole, decimals);
  return true;
}

void nai_fmt_real(struct nai_buf *out, double value, int decimals) {
  if (!isfinite(value) || put_small_real(out, value, decimals))
    return;
  char text[352];
  int n = snprintf(text, sizeof text, "%.*f", decimals, value);
  size_t skip = text[0] == '-' && strspn(text + 1, "0.") == (size_t)n - 1;
  nai_buf_put(out, text + skip, (size_t)n - skip);
}

/* Inserts thousands separators into the integer part of a plain decimal number. */
static void put_grouped(struct nai_buf *out, const char *number) {
  if (*number == '-')
    nai_buf_putc(out, *number++);
  size_t whole = strspn(number, "0123456789");
  for (size_t i = 0; i < whole; i++) {
    if (i && (whole - i) % 3 == 0)
      nai_buf_putc(out, ',');
    nai_buf_putc(out, number[i]);
  }
  nai_buf_puts(out, number + whole);
}

void nai_fmt_noun(struct nai_buf *out, bool one, const char *plural, size_t len) {
  const char *end = plural + len;
  if (!one)
    nai_buf_put(out, plural, len);
  else if (len > 3 && memcmp(end - 3, "ies", 3) == 0)
    nai_buf_printf(out, "%.*sy", (int)(len - 3), plural);
  else if (len > 4 && (memcmp(end - 4, "ches", 4) == 0 || memcmp(end - 4, "sses", 4) == 0))
    nai_buf_put(out, plural, len - 2);
  else
    nai_buf_put(out, plural, len - (len > 0));
}

void nai_fmt_count(struct nai_buf *out, int64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%" PRId64, value);
  put_grouped(out, text);
}

void nai_fmt_ranges(struct nai_buf *out, const int64_t *ids, size_t count) {
  for (size_t i = 0; i < count;) {
    size_t last = i;
    while (last + 1 < count && ids[last + 1] == ids[last] + 1)
      last++;
    if (last < i + 2)
      last = i;
    nai_buf_printf(out, "%s%" PRId64, i ? ", " : "", ids[i]);
    if (last > i)
      nai_buf_printf(out, "-%" PRId64, ids[last]);
    i = last + 1;
  }
}

/* Three significant digits at least, of what stays below 1000. */
static void put_significant(struct nai_buf *out, double value) { nai_fmt_real(out, value, value >= 9.995 ? 1 : 2); }

void nai_fmt_duration(struct nai_buf *out, double ns) {
  if (!isfinite(ns)) {
    nai_buf_puts(out, "-");
    return;
  }
  if (ns <= -0.5)
    nai_buf_putc(out, '-');
  ns = fabs(ns);
  if (ns < 999.5)
    nai_fmt_real(out, ns, 0), nai_buf_puts(out, " ns");
  else if (ns < 999.95e3)
    put_significant(out, ns / 1e3), nai_buf_puts(out, " \u00b5s");
  else if (ns < 999.95e6)
    put_significant(out, ns / 1e6), nai_buf_puts(out, " ms");
  else if (ns < 119.5e9)
    put_significant(out, ns / 1e9), nai_buf_puts(out, " s");
  else
    nai_buf_printf(out, "%.0f min %.0f s", floor(round(ns / 1e9) / 60), fmod(round(ns / 1e9), 60));
}

void nai_time_column_add(struct nai_time_column *column, double ns) {
  ns = fabs(ns);
  if (!(ns > 0) || !isfinite(ns))
    return;
  column->low = column->high > 0 ? fmin(column->low, ns) : ns;
  column->high = fmax(column->high, ns);
}

/* The largest that needs no more than four digits before the point; smaller where little would be left of the shortest,
 * and the longest bears it. As the page's tables do it. */
void nai_fmt_time_in(struct nai_buf *out, const struct nai_time_column *column, double ns, bool sign) {
  static const char *const names[] = {"ns", "\u00b5s", "ms", "s"};
  const double step = 1e3, many = 1e4, too_many = 1e6, little = 0.01;
  double size = 1;
  size_t unit = 0;
  for (; unit + 1 < sizeof names / sizeof *names && column->high / size >= many; unit++)
    size *= step;
  for (; unit && column->low / size < little && column->high / (size / step) < too_many; unit--)
    size /= step;
  if (!isfinite(ns)) {
    nai_buf_puts(out, "-");
    return;
  }
  double value = fabs(ns) / size;
  int decimals = !unit || !(value > 0) || value >= 999.95 ? 0 : value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
  char text[64];
  snprintf(text, sizeof text, "%.*f", decimals, value);
  bool is_zero = strspn(text, "0.") == strlen(text);
  nai_buf_puts(out, is_zero ? "" : ns < 0 ? "-" : sign ? "+" : "");
  put_grouped(out, text);
  nai_buf_printf(out, " %s", names[unit]);
}

void nai_fmt_bar(struct nai_buf *out, const double parts[NAI_BAR_PARTS], double whole) {
  static const char *const glyphs[NAI_BAR_PARTS] = {"\xe2\x96\x88", "\xe2\x96\x93", "\xe2\x96\x92", "\xe2\x96\x91"};
  enum { CELLS = 32 };
  double sum = 0;
  int drawn = 0;
  for (int p = 0; p < NAI_BAR_PARTS; p++) {
    sum += parts[p];
    for (; drawn < (int)(CELLS * sum / whole + 0.5) && drawn < CELLS; drawn++)
      nai_buf_puts(out, glyphs[p]);
  }
}

static void put_bytes(struct nai_buf *out, double bytes, double of, int digits, bool sign) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  if (!isfinite(bytes)) {
    nai_buf_puts(out, "-");
    return;
  }
  for (of = fabs(of); of >= 1023.95 && unit + 1 < sizeof units / sizeof *units; unit++) {
    bytes /= 1024;
    of /= 1024;
  }
  nai_buf_printf(out, sign && bytes != 0 ? "%+.*f %s" : "%.*f %s", unit == 0 ? 0 : digits, bytes, units[unit]);
}

void nai_fmt_bytes(struct nai_buf *out, double bytes) { put_bytes(out, bytes, bytes, 1, false); }

void nai_fmt_bytes_in(struct nai_buf *out, double most, double bytes, bool sign) {
  put_bytes(out, bytes, most, 2, sign);
}

void nai_fmt_change(struct nai_buf *out, double percent, int digits) {
  char text[64];
  snprintf(text, sizeof text, "%+.*f", digits, percent);
  nai_buf_printf(out, "%s %%", strpbrk(text, "123456789") ? text : text + 1);
}

void nai_fmt_percent(struct nai_buf *out, double percent) {
  if (!isfinite(percent))
    nai_buf_puts(out, "-");
  else if (percent > 0 && percent < 0.005)
    nai_buf_puts(out, "<0.01 %");
  else if (percent >= 99.95 && percent < 100 - 1e-9)
    nai_buf_puts(out, ">99.9 %");
  else
    nai_fmt_real(out, percent, fabs(percent) < 0.995 && percent != 0 ? 2 : 1), nai_buf_puts(out, " %");
}
