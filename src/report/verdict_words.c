/* How the verdict puts words. */
#include "report/verdict_parts.h"

#include "base/text.h"
#include "tables/capture_health.h"
#include "tables/findings.h"

enum nai_severity nai_report_severity(const struct nai_table *findings, int64_t row) {
  int severity = nai_severity_from_name(nai_get_str(findings, row, FINDINGS_severity));
  return severity < 0 ? NAI_SEVERITY_INFO : (enum nai_severity)severity;
}

/* Whether a check of the capture came to a state. */
bool nai_report_verdict_found(const struct nai_report *report, const char *check, const char *state) {
  const struct nai_table *health = nai_report_table(report, "capture_health");
  int64_t row = nai_find_str(health, CAPTURE_HEALTH_check, check);
  return row >= 0 && strcmp(nai_get_str(health, row, CAPTURE_HEALTH_state), state) == 0;
}

/* The first words of a text, with dots where it goes on. */
void nai_report_verdict_words(struct nai_buf *out, const char *text, int most) {
  const char *end = text;
  for (int words = 0; *end && words < most; words++) {
    end += strspn(end, " ");
    end += strcspn(end, " ");
  }
  nai_buf_put(out, text, (size_t)(end - text));
  if (*end)
    nai_buf_puts(out, "...");
}

/* A name of the program's: a range may be called a sentence. */
void nai_report_verdict_name(struct nai_buf *out, const char *name) {
  enum { MAX_NAME_WORDS = 5, MAX_NAME_CHARS = 72 };
  NAI_SCOPED(nai_buf) words = {0};
  nai_report_verdict_words(&words, name, MAX_NAME_WORDS);
  nai_text_cut(out, nai_buf_str(&words), words.len, MAX_NAME_CHARS);
  out->oom |= words.oom;
}

/* A title within a sentence: without its capital, unless that belongs to a name. */
void nai_report_verdict_within(struct nai_buf *out, const char *title) {
  size_t word = strcspn(title, " ");
  bool name = false;
  for (size_t i = 1; i < word; i++)
    name |= isupper((unsigned char)title[i]) != 0;
  if (*title)
    nai_buf_printf(out, "%c%s", name ? *title : tolower((unsigned char)*title), title + 1);
}
