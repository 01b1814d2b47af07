#include "rules/known.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "config/yaml.h"
#include "rules/internal.h"
#include "table/json.h"
#include "tables/known_findings.h"

/* --- reading ---------------------------------------------------------------------------------------- */

/* A text member of an entry, NULL when it has none. */
static int read_text(const char **out, struct nai_known *known, const struct nai_yaml *doc,
                     const struct nai_yaml_node *map, const char *key, struct nai_err *err) {
  const struct nai_yaml_node *node = nai_yaml_get(doc, map, key);
  const char *text;
  *out = NULL;
  if (!node)
    return NAI_OK;
  NAI_TRY(nai_yaml_text(&text, doc, node, err));
  *out = nai_arena_printf(&known->arena, "%s", text);
  return nai_arena_check(&known->arena, err);
}

/* "2027-03-31": such days are in order as texts are. */
static bool is_day(const char *text) {
  static const char form[] = "dddd-dd-dd";
  size_t i = 0;
  while (form[i] && (form[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == '-'))
    i++;
  int month = form[i] ? 0 : (text[5] - '0') * 10 + text[6] - '0',
      day = form[i] ? 0 : (text[8] - '0') * 10 + text[9] - '0';
  return !form[i] && !text[i] && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static int read_entry(struct nai_known *known, const struct nai_yaml *doc, const struct nai_yaml_node *map,
                      const char *today, const struct nai_rule_set *rules, struct nai_err *err) {
  const struct nai_yaml_node *rule;
  struct nai_known_entry entry;
  NAI_TRY(nai_yaml_expect_keys(doc, map, NAI_WORDS("rule", "where", "reason", "until"), err));
  NAI_TRY(nai_yaml_require(&rule, doc, map, "rule", err));
  NAI_TRY(read_text(&entry.rule, known, doc, map, "rule", err));
  if (!nai_names_rule(rules, entry.rule))
    return nai_names_unknown_rule(rules, doc, rule, err);
  NAI_TRY(read_text(&entry.where, known, doc, map, "where", err));
  NAI_TRY(read_text(&entry.reason, known, doc, map, "reason", err));
  NAI_TRY(read_text(&entry.until, known, doc, map, "until", err));
  if (entry.until && !is_day(entry.until))
    return nai_yaml_error(doc, nai_yaml_get(doc, map, "until"), err, "\"%s\" is no day such as 2027-03-31",
                          entry.until);
  entry.expired = entry.until && strcmp(entry.until, today) < 0;
  known->hash = nai_hash_int(known->hash, entry.expired);
  NAI_TRY(NAI_ROOM(known->list, known->capacity, known->count, &known->arena, err));
  known->list[known->count++] = entry;
  return NAI_OK;
}

static int read_list(struct nai_known *known, const struct nai_yaml *doc, const char *today,
                     const struct nai_rule_set *rules, struct nai_err *err) {
  const struct nai_yaml_node *first;
  NAI_TRY(nai_yaml_expect_keys(doc, nai_yaml_root(doc), NAI_WORDS("known"), err));
  NAI_TRY(nai_yaml_items(&first, doc, nai_yaml_root(doc), "known", NAI_YAML_LIST, err));
  known->hash = nai_hash_int(1, (int64_t)doc->hash);
  for (const struct nai_yaml_node *n = first; n; n = nai_yaml_next(doc, n))
    NAI_TRY(read_entry(known, doc, n, today, rules, err));
  return NAI_OK;
}

int nai_known_parse(struct nai_known *out, const char *file, const char *text, size_t len, const char *today,
                    const struct nai_rule_set *rules, struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = NULL;
  *out = (struct nai_known){.arena = NAI_ARENA(NULL), .hash = 1};
  NAI_TRY(nai_yaml_parse(&doc, file, text, len, err));
  return read_list(out, doc, today, rules, err);
}

int nai_known_load(struct nai_known *out, const char *path, bool may_lack, const char *today,
                   const struct nai_rule_set *rules, struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = NULL;
  *out = (struct nai_known){.arena = NAI_ARENA(NULL), .hash = 1};
  if (may_lack && !nai_fs_exists(path))
    return NAI_OK;
  NAI_TRY(nai_yaml_load(&doc, path, err));
  return read_list(out, doc, today, rules, err);
}

void nai_known_free(struct nai_known *known) {
  nai_arena_free(&known->arena);
  known->list = NULL;
  known->count = known->capacity = 0;
}

/* --- findings --------------------------------------------------------------------------------------- */

/* Whether a text is what a pattern says; each `*` of it stands for any characters. */
static bool fits(const char *pattern, const char *text) {
  const char *star = NULL, *behind = NULL; /* the latest star, and where the text goes on behind what it took */
  while (*text) {
    if (*pattern == '*') {
      star = pattern++;
      behind = text;
    } else if (*pattern == *text) {
      pattern++;
      text++;
    } else if (star) {
      pattern = star + 1;
      text = ++behind;
    } else {
      return false;
    }
  }
  return !pattern[strspn(pattern, "*")];
}

static bool lists(const struct nai_known_entry *entry, const struct FINDINGS_row *finding) {
  return strcmp(entry->rule, finding->id) == 0 &&
         (!entry->where || fits(entry->where, finding->place) || fits(entry->where, finding->scope));
}

/* The entry for a finding, one that holds before one that has expired; NULL for none. */
static const struct nai_known_entry *entry_of(const struct nai_known *known, const struct FINDINGS_row *finding) {
  const struct nai_known_entry *expired = NULL;
  for (uint32_t i = 0; i < known->count; i++) {
    if (!lists(&known->list[i], finding))
      continue;
    if (!known->list[i].expired)
      return &known->list[i];
    expired = expired ? expired : &known->list[i];
  }
  return expired;
}

static bool is_found(const struct nai_known_entry *entry, const struct nai_table *findings) {
  for (int64_t i = 0; i < findings->rows; i++) {
    const struct FINDINGS_row finding = FINDINGS_at(findings, i);
    if (lists(entry, &finding))
      return true;
  }
  return false;
}

static const char *state_of(const struct nai_known_entry *entry) {
  return !entry || entry->expired ? "new" : entry->reason ? "muted" : "known";
}

int nai_known_apply(struct nai_table *out, const struct nai_known *known, const struct nai_table *findings,
                    struct nai_err *err) {
  (void)err;
  for (int64_t i = 0; i < findings->rows; i++) {
    const struct FINDINGS_row finding = FINDINGS_at(findings, i);
    const struct nai_known_entry *entry = entry_of(known, &finding);
    NAI_ADD(KNOWN_FINDINGS, out, .state = state_of(entry), .id = finding.id, .place = finding.place,
            .finding = finding.finding, .severity = finding.severity, .reason = entry ? entry->reason : NULL,
            .until = entry ? entry->until : NULL);
  }
  for (uint32_t i = 0; i < known->count; i++) {
    const struct nai_known_entry *entry = &known->list[i];
    if (!is_found(entry, findings))
      NAI_ADD(KNOWN_FINDINGS, out, .state = "fixed", .id = entry->rule, .place = entry->where, .reason = entry->reason,
              .until = entry->until);
  }
  return NAI_OK;
}

/* --- writing ---------------------------------------------------------------------------------------- */

/* In quotes, whatever it holds: what JSON quotes, YAML reads. */
static void put_member(struct nai_buf *out, const char *key, const char *text) {
  if (!text || !*text)
    return;
  struct nai_json json;
  nai_json_init(&json, out, false);
  nai_buf_printf(out, "%s ", key);
  nai_json_text(&json, text);
  nai_json_finish(&json);
  nai_buf_putc(out, '\n');
}

static void put_entry(struct nai_buf *out, const struct nai_known_entry *entry) {
  nai_buf_printf(out, "  - rule: %s\n", entry->rule);
  put_member(out, "    where:", entry->where);
  put_member(out, "    reason:", entry->reason);
  if (entry->until)
    nai_buf_printf(out, "    until: %s\n", entry->until);
}

/* Whether a finding before this one is written by the same words. */
static bool is_written(const struct nai_table *findings, int64_t number) {
  const struct FINDINGS_row finding = FINDINGS_at(findings, number);
  for (int64_t i = 0; i < number; i++) {
    const struct FINDINGS_row before = FINDINGS_at(findings, i);
    if (strcmp(before.id, finding.id) == 0 && strcmp(before.place, finding.place) == 0)
      return true;
  }
  return false;
}

void nai_known_write(struct nai_buf *out, const struct nai_known *known, const struct nai_table *findings) {
  size_t start;
  nai_buf_puts(
      out, "# Written by nsys-ai analyze --update-known. A `reason` mutes a finding, `until: 2027-03-31` ends that.\n");
  nai_buf_puts(out, "known:");
  start = out->len;
  nai_buf_putc(out, '\n');
  for (uint32_t i = 0; i < known->count; i++)
    if (!known->list[i].expired && is_found(&known->list[i], findings))
      put_entry(out, &known->list[i]);
  for (int64_t i = 0; i < findings->rows; i++) {
    const struct FINDINGS_row finding = FINDINGS_at(findings, i);
    const struct nai_known_entry *entry = entry_of(known, &finding);
    if ((!entry || entry->expired) && !is_written(findings, i))
      put_entry(out, &(struct nai_known_entry){.rule = finding.id, .where = finding.place});
  }
  if (out->len == start + 1) {
    out->len = start;
    nai_buf_puts(out, " []\n");
  }
}
