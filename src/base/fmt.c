#include "base/fmt.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Digit by digit from the last one on: printf would take several times as long, and outputs are mostly numbers. */
void nai_fmt_scaled(struct nai_buf *out, int64_t value, int decimals) {
  char text[64], *end = text + sizeof text, *at = end;
  uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  for (int i = 0; left || i <= decimals; i++, left /= 10) {
    if (i && i == decimals)
      *--at = '.';
    *--at = (char)('0' + left % 10);
  }
  if (value < 0)
    *--at = '-';
  nai_buf_put(out, at, (size_t)(end - at));
}

void nai_fmt_real(struct nai_buf *out, double value, int decimals) {
  if (!isfinite(value))
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

/* Three significant digits at least, never an exponent. */
static void put_significant(struct nai_buf *out, double value) {
  char text[64];
  snprintf(text, sizeof text, "%.*f", value >= 9.995 ? 1 : 2, value);
  put_grouped(out, text);
}

void nai_fmt_duration(struct nai_buf *out, double ns) {
  if (!isfinite(ns)) {
    nai_buf_puts(out, "-");
    return;
  }
  if (ns <= -0.5)
    nai_buf_putc(out, '-');
  ns = fabs(ns);
  if (ns < 999.5)
    nai_buf_printf(out, "%.0f ns", ns);
  else if (ns < 999.95e3)
    put_significant(out, ns / 1e3), nai_buf_puts(out, " us");
  else if (ns < 999.95e6)
    put_significant(out, ns / 1e6), nai_buf_puts(out, " ms");
  else if (ns < 119.5e9)
    put_significant(out, ns / 1e9), nai_buf_puts(out, " s");
  else
    nai_buf_printf(out, "%.0f min %.0f s", floor(round(ns / 1e9) / 60), fmod(round(ns / 1e9), 60));
}

void nai_fmt_bytes(struct nai_buf *out, double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  if (!isfinite(bytes)) {
    nai_buf_puts(out, "-");
    return;
  }
  while (fabs(bytes) >= 1023.95 && unit + 1 < sizeof units / sizeof *units) {
    bytes /= 1024;
    unit++;
  }
  nai_buf_printf(out, "%.*f %s", unit == 0 ? 0 : 1, bytes, units[unit]);
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
  else
    nai_buf_printf(out, "%.*f %%", fabs(percent) < 0.995 && percent != 0 ? 2 : 1, percent);
}
