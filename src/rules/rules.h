/* Rules: YAML that turns the analysis tables into findings (docs/writing-rules.md). A set is compiled and checked
 * against the catalogue of table schemas before any work starts; evaluation then cannot meet an unknown name. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "table/severity.h"
#include "table/table.h"
#include "tables/evidence.h"
#include "tables/findings.h"

struct nai_rule_set;

/* Compiles the built-in rules (asset rules/default.yaml) and then each file of `paths`, which adds rules, replaces
 * those with the same id, switches rules off (`disabled: true`) and changes parameters. NAI_EUSAGE with
 * file:line:column. The schemas are borrowed and outlive the set. */
NAI_MUST_CHECK int nai_rules_load(struct nai_rule_set **out, const char *const *paths, size_t path_count,
                                  const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err);
/* The same with rules that stand in other files: under the key `rules` of a document, of whose rules `table` is the
 * table unless they say otherwise. */
struct nai_rules_extra {
  const char *file, *text, *table;
  size_t len;
};
NAI_MUST_CHECK int nai_rules_load_with(struct nai_rule_set **out, const char *const *paths, size_t path_count,
                                       const struct nai_rules_extra *extra, size_t extra_count,
                                       const struct nai_schema *const *schemas, size_t schema_count,
                                       struct nai_err *err);
/* One document of rules from memory, without the built-in ones. */
NAI_MUST_CHECK int nai_rules_parse(struct nai_rule_set **out, const char *file, const char *text, size_t len,
                                   const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err);
void nai_rules_free(struct nai_rule_set *set);
static inline void nai_rule_set_free_owned(struct nai_rule_set **set) { nai_rules_free(*set); }

/* Changes a parameter (a command-line option). NAI_EUSAGE for a name no rule file declares or a value that is not
 * finite. */
NAI_MUST_CHECK int nai_rules_set_parameter(struct nai_rule_set *set, const char *name, double value,
                                           struct nai_err *err);

struct nai_rules_input;
/* Appends why a rule speaks of the tables or does not: of each row that meets `where` what else it fails, its saving
 * and the threshold. NAI_EUSAGE for an unknown id. */
NAI_MUST_CHECK int nai_rules_why(struct nai_buf *out, const struct nai_rule_set *set, const char *id,
                                 const struct nai_rules_input *input, struct nai_err *err);

/* What a change saves of a step, a repetition or the window (`of`), which now takes now_ns; of NULL: not simulated. */
struct nai_rules_simulated {
  int64_t now_ns, low_ns, ns, high_ns;
  const char *of, *state;
  int64_t covered_ns; /* all repetitions together */
  int64_t most_ns;    /* the favorable case, without the model's error that high_ns has */
};

struct nai_rules_input {
  /* Tables by schema name. A table that is absent or has no rows makes its rules silent and its values NULL. */
  const struct nai_table *const *tables;
  size_t table_count;
  /* Appends text from a trace to Markdown prose (why, recommendation) so that it stays text: nai_escape_markdown, or
   * nai_escape_markdown_code to show names as code. NULL appends it as it is. */
  void (*escape)(struct nai_buf *out, const char *text, size_t len);
  /* Simulates the changes of findings, the most important first ("": none). Fills in `out` of those that it can, whose
   * texts outlive the evaluation; the others stay as they are. NULL: nothing is simulated. */
  int (*simulate)(void *ctx, struct nai_rules_simulated *out, const char *const *changes, uint32_t count,
                  struct nai_err *err);
  void *ctx;
};

/* Evaluates all active rules. Both tables are the caller's.
 * findings: one row per finding, ordered by severity, by the simulated saving or the bound where there is none, id,
 * scope, row; column "finding" is the row number. evidence: the facts behind them, ordered by finding. Titles and
 * evidence are plain text, why and recommendation are Markdown, verify is one shell command a line (text values are
 * shell-quoted), links are separated by spaces. */
NAI_MUST_CHECK int nai_rules_evaluate(struct nai_table **findings, struct nai_table **evidence,
                                      const struct nai_rule_set *set, const struct nai_rules_input *input,
                                      struct nai_err *err);

/* Texts for `rules list` and `rules explain ID`. NAI_EUSAGE with a suggestion for an unknown id. */
void nai_rules_list(struct nai_buf *out, const struct nai_rule_set *set);
/* The same as JSON: {"rules": [{"id", "severities", "table", "title"}, ...]}; of a disabled rule severities and table
 * are null. */
void nai_rules_list_json(struct nai_buf *out, const struct nai_rule_set *set);
NAI_MUST_CHECK int nai_rules_explain(struct nai_buf *out, const struct nai_rule_set *set, const char *id,
                                     struct nai_err *err);
/* Of the texts and parameters that findings depend on. */
uint64_t nai_rules_hash(const struct nai_rule_set *set);
size_t nai_rules_count(const struct nai_rule_set *set); /* active rules */
