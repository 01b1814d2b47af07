/* Compiled rules at work: rows, hits, prices, findings. Internal to src/rules. */
#pragma once

#include "rules/internal.h"

/* Rows during evaluation; row -1: none, its values are NULL. */
struct env {
  const struct nai_rule_set *set;
  const struct nai_rules_input *input;
  const struct nai_table *tables[MAX_SOURCES];
  int64_t rows[MAX_SOURCES];
  const struct selection *sums[MAX_SOURCES]; /* a source that stands for all these rows */
  int64_t device_id;                         /* the finding's GPU, NAI_NULL_I64 for none */
  const char *subject;                       /* what {{subject}} says */
  int64_t stake_ns, stake_low_ns;            /* NAI_NULL_I64: none */
  double stake_pct;                          /* NaN: none */
};

/* eval.c */
bool nai_formula_holds(const struct env *env, struct formula condition);
double nai_formula_value(const struct env *env, struct formula number); /* NaN for NULL and none */
/* The first rows of a selection, `limit` at most; returns how many. */
int nai_selection_rows(int64_t *rows, int limit, const struct env *env, const struct selection *selection);
/* Lets the set's expressions see the tables of a run, and no longer. What fails meanwhile is said by the latter. */
NAI_MUST_CHECK int nai_rules_enter(const struct nai_rule_set *set, const struct nai_rules_input *input,
                                   struct nai_err *err);
NAI_MUST_CHECK int nai_rules_leave(const struct nai_rule_set *set, int rc, struct nai_err *err);
struct nai_value nai_env_value(const struct env *env, const struct ref *ref);

/* render.c: Markdown with escaped values, plain text, or a command with values quoted for a shell. */
enum text_mode { TEXT_PLAIN, TEXT_PROSE, TEXT_SHELL };
void nai_text_render(struct nai_buf *out, const struct env *env, struct span pieces, enum text_mode mode);
/* A parameter as people write it: no trailing zeros. */
void nai_number_print(struct nai_buf *out, double number);
/* The variants whose conditions hold, with `separator` between them. */
void nai_variants_render(struct nai_buf *out, const struct env *env, struct span variants, enum text_mode mode,
                         const char *separator);

/* hits.c: which rows speak, before any text is made. */
struct hit {
  const struct rule *rule;
  int64_t row;
  int severity;                   /* -1: silent after all */
  int64_t device_id, pid;         /* NAI_NULL_I64: none */
  int64_t stake_ns, stake_low_ns; /* NAI_NULL_I64: none */
  int64_t base_ns;                /* what 100 % are; 0: unknown */
  const struct rule *parent;      /* a rule that speaks and whose time holds this one's, or NULL */
  char *reason;                   /* why its severity was lowered, or NULL */
};
struct rule_hits {
  uint32_t first, count; /* of `hits`, best first */
};
struct hits {
  struct pool hits;
  struct rule_hits *by_rule; /* per rule number */
};
NAI_MUST_CHECK int nai_hits_find(struct hits *hits, const struct nai_rule_set *set, const struct nai_rules_input *input,
                                 struct nai_err *err);
void nai_hits_free(struct hits *hits);
/* A row of the rule's table, at which the environment then stands. */
struct hit nai_hit_at(struct env *env, const struct rule *rule, int64_t row);
/* Whether that row speaks by itself, with its price and severity, or else what it fails. */
enum outcome { OUTCOME_SPEAKS, OUTCOME_WHERE, OUTCOME_WHEN, OUTCOME_SEVERITY };
enum outcome nai_hit_examine(struct hit *hit, struct env *env);
/* A hit of a rule of `unless` that is about the same GPU and process, or one of the two is about the whole run; NULL:
 * none silences the hit. */
const struct hit *nai_hits_silencer(const struct hits *hits, const struct nai_rule_set *set, const struct hit *hit);
/* price.c: from what a rule says its time is to what a finding may claim: no more than the loss it explains, and no
 * time twice. */
int64_t nai_price_base_ns(const struct nai_rules_input *input, const struct hit *hit);
int64_t nai_price_capped(const struct nai_rules_input *input, const struct hit *hit, int64_t ns);
NAI_MUST_CHECK int nai_prices_share(struct hits *hits, const struct nai_rule_set *set,
                                    const struct nai_rules_input *input, struct nai_err *err);
/* The saving in percent of what 100 % are, NaN: unknown; whether it is below what counts at all. */
double nai_price_share(const struct hit *hit);
bool nai_price_is_small(const struct nai_rule_set *set, const struct hit *hit);
/* The severity that a price alone gives, -1 for none. */
int nai_price_severity(const struct nai_rule_set *set, const struct hit *hit);
/* Sets what conditions and texts may say about the price. */
void nai_env_set_stake(struct env *env, const struct hit *hit);
/* Takes the steps of `lower` and of being a part of another finding, and says why. */
NAI_MUST_CHECK int nai_price_lower(struct hit *hit, const struct env *env, const struct hits *hits,
                                   struct nai_err *err);

/* Hits of one rule that get the same advice become one finding; its texts are those of the first hit. Of a few more it
 * shows a fact, and the commands that differ. */
enum { SHOWN_HITS = 3 };
struct finding {
  const struct rule *rule;
  const struct hit **hits;
  uint32_t hit_count, hit_capacity;
  uint32_t left_out; /* further hits of the rule that its limit leaves out */
  struct nai_buf subject, title, place, why, recommendation, verify;
  struct nai_buf gpus; /* device ids, the worst first */
  uint32_t gpu_count;
  int64_t stake_ns, stake_low_ns; /* on the GPU where it is largest; NAI_NULL_I64: none */
  double pct;                     /* of its time; NaN: none */
};

struct evaluation {
  const struct nai_rule_set *set;
  const struct nai_rules_input *input;
  struct hits hits;
  struct finding *findings;
  uint32_t count, capacity;
  struct nai_table *findings_table, *evidence_table;
  struct nai_err *err;
};
/* An environment in which a hit's texts are rendered. */
NAI_MUST_CHECK int nai_enter_hit(struct env *env, const struct evaluation *e, const struct hit *hit,
                                 const char *subject);
/* finding.c: what the hits of a finding say together: its GPUs and its price. */
NAI_MUST_CHECK int nai_finding_sum_up(struct finding *finding, struct nai_err *err);
/* evidence.c: the facts behind a finding, of the worst of its hits. */
NAI_MUST_CHECK int nai_evidence_write(struct evaluation *e, uint32_t number);

/* subject.c: "GPU 0", "GPUs 0-3, 7", "process 144", "GPU 0 (pid 111)"; nothing when the hits name no GPU or process. */
NAI_MUST_CHECK int nai_subject_describe(struct nai_buf *out, const struct nai_rules_input *input,
                                        const struct hit *const *hits, uint32_t count, struct nai_err *err);
/* An environment for a rule's rows; lookups are empty until env_look_up. */
NAI_MUST_CHECK int nai_env_open(struct env *env, const struct nai_rule_set *set, const struct rule *rule,
                                const struct nai_rules_input *input, struct nai_err *err);
const struct nai_table *nai_env_table(const struct env *env, const struct nai_schema *schema);
/* Finds the rows of `with` for the current row; those that depend on no other row only if `all`. */
void nai_env_look_up(struct env *env, const struct rule *rule, bool all);
