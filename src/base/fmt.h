/* Numbers as text, independent of the locale. "exact" forms are for machines (CSV, JSON), "human" forms for reports. */
#pragma once

#include "base/buf.h"

/* value / 10^decimals with exactly `decimals` places (0..18): 136355595, 6 -> "136.355595". */
void nai_fmt_scaled(struct nai_buf *out, int64_t value, int decimals);
/* `value` with `decimals` places; prints 0 instead of -0; nothing for NaN and infinities. */
void nai_fmt_real(struct nai_buf *out, double value, int decimals);
/* 1234567 -> "1,234,567". */
void nai_fmt_count(struct nai_buf *out, int64_t value);
/* "0-3, 7" of ascending numbers, each once. */
void nai_fmt_ranges(struct nai_buf *out, const int64_t *ids, size_t count);
/* A noun that is given in the plural, as one or as many: "copies" -> "copy", "launches" -> "launch", "calls" -> "call".
 */
void nai_fmt_noun(struct nai_buf *out, bool one, const char *plural, size_t len);
/* ns with a fitting unit and three significant digits or more: "5 ns", "7.9 us", "136.4 ms", "2.35 s", "3 min 20 s". */
void nai_fmt_duration(struct nai_buf *out, double ns);

/* Times that stand below each other are in one unit: {0}, then all that the column shows. */
struct nai_time_column {
  double low, high; /* ns, of sizes over 0 */
};
void nai_time_column_add(struct nai_time_column *column, double ns);
/* "2,630 us" of a column whose times need us; "-" for NaN and infinities. `sign`: of a difference, "+2,630 us". */
void nai_fmt_time_in(struct nai_buf *out, const struct nai_time_column *column, double ns, bool sign);

/* Compute, exposed communication, exposed copies and idle time as a bar of up to 32 characters, which `whole` fills.
 * Each part is as long as its share, to the nearest character of the running sum. */
enum { NAI_BAR_PARTS = 4 };
void nai_fmt_bar(struct nai_buf *out, const double parts[NAI_BAR_PARTS], double whole);

/* Bytes with binary prefixes: "512 B", "91.4 MiB". */
void nai_fmt_bytes(struct nai_buf *out, double bytes);
/* "0.65 GiB": in the unit of another, beside which it stands. `sign`: of a difference, "+0.65 GiB". */
void nai_fmt_bytes_in(struct nai_buf *out, double most, double bytes, bool sign);
/* "+6.61 %" of a difference; what rounds to nothing has no sign: "0.00 %". */
void nai_fmt_change(struct nai_buf *out, double percent, int digits);
/* Percentage: "41.9 %", "0.04 %", "<0.01 %". */
void nai_fmt_percent(struct nai_buf *out, double percent);
