/* Findings that a project knows already, as a linter's baseline (--known FILE, docs/gating.md): a YAML list of rule,
 * where, reason and until. */
#pragma once

#include "rules/rules.h"

struct nai_known_entry {
  const char *rule;
  const char *where;  /* the place or scope of a finding, with `*` for any characters; NULL: all of the rule */
  const char *reason; /* NULL: none; with one the finding is muted */
  const char *until;  /* "2027-03-31", NULL: for ever */
  bool expired;       /* that day is past */
};

struct nai_known {
  struct nai_arena arena;
  struct nai_known_entry *list;
  uint32_t count, capacity;
  uint64_t hash; /* of the text, and of which entries have expired */
};

/* Reads and checks the file. `today`: "2027-03-31". `may_lack`: no file is an empty list. NAI_EUSAGE with
 * file:line:column, also for a rule that is not in `rules`. */
NAI_MUST_CHECK int nai_known_load(struct nai_known *out, const char *path, bool may_lack, const char *today,
                                  const struct nai_rule_set *rules, struct nai_err *err);
NAI_MUST_CHECK int nai_known_parse(struct nai_known *out, const char *file, const char *text, size_t len,
                                   const char *today, const struct nai_rule_set *rules, struct nai_err *err);
void nai_known_free(struct nai_known *known);

/* Fills a table known_findings: a row per finding in their order, then one per entry that fits none. */
NAI_MUST_CHECK int nai_known_apply(struct nai_table *out, const struct nai_known *known,
                                   const struct nai_table *findings, struct nai_err *err);
/* Appends the file that lists these findings: entries that hold stay with what they say, fixed and expired ones go,
 * new findings come behind them. */
void nai_known_write(struct nai_buf *out, const struct nai_known *known, const struct nai_table *findings);
