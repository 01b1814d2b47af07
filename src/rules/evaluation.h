/* Compiled rules at work: rows, hits, savings, findings. Internal to src/rules. */
#pragma once

#include "rules/internal.h"

/* What a finding could save at most and at least (NAI_NULL_I64: it does not say), and what 100 % are (0: unknown). */
struct saving {
  int64_t ns, low_ns, base_ns;
};
#define NO_SAVING ((struct saving){NAI_NULL_I64, NAI_NULL_I64, 0})
/* In percent of what 100 % are, NaN: unknown. */
static inline double nai_saving_pct(const struct saving *saving) {
  bool known = saving->base_ns > 0 && saving->ns != NAI_NULL_I64;
  return known ? 100.0 * (double)saving->ns / (double)saving->base_ns : NAN;
}

/* Rows during evaluation; row -1: none, its values are NULL. */
struct env {
  const struct nai_rule_set *set;
  const struct nai_rules_input *input;
  const struct nai_table *tables[MAX_SOURCES];
  int64_t rows[MAX_SOURCES];
  const struct selection *sums[MAX_SOURCES]; /* a source that stands for all these rows */
  int64_t device_id;                         /* the finding's GPU, NAI_NULL_I64 for none */
  const char *subject;                       /* what {{subject}} says */
  struct saving saving;
};

/* eval.c: lets the set's expressions see the tables of a run, and no longer. NAI_ESTALE for a table that is not of the
 * catalogue's schema. What fails meanwhile is said by the latter. */
NAI_MUST_CHECK int nai_rules_enter(const struct nai_rule_set *set, const struct nai_rules_input *input,
                                   struct nai_err *err);
NAI_MUST_CHECK int nai_rules_leave(const struct nai_rule_set *set, int rc, struct nai_err *err);
static inline bool is_of(const struct nai_table *table, const struct nai_schema *schema) {
  return table->schema == schema || nai_schema_equal(table->schema, schema);
}
/* The run's table of that schema, NULL for none. */
const struct nai_table *nai_rules_table(const struct nai_rules_input *input, const struct nai_schema *schema);
/* An environment for a rule's rows; lookups are empty until nai_env_look_up. */
void nai_env_open(struct env *env, const struct nai_rule_set *set, const struct rule *rule,
                  const struct nai_rules_input *input);
/* Finds the rows of `with` for the current row; those that depend on no other row only if `all`. */
void nai_env_look_up(struct env *env, const struct rule *rule, bool all);
/* A NULL condition holds, a NULL number is NaN, as is one that is NULL. */
bool nai_expression_holds(const struct env *env, struct expression *condition);
double nai_expression_number(const struct env *env, struct expression *number);
/* The first rows of a selection, `limit` at most; returns how many. */
int nai_selection_rows(int64_t *rows, int limit, const struct env *env, const struct selection *selection);
struct nai_value nai_env_value(const struct env *env, const struct ref *ref);

/* text.c: Markdown with escaped values, plain text, or a command with values quoted for a shell. */
enum text_mode { TEXT_PLAIN, TEXT_PROSE, TEXT_CODE, TEXT_SHELL }; /* TEXT_CODE: within `...` of prose */
/* A parameter as people write it: no trailing zeros. */
void nai_number_print(struct nai_buf *out, double number);
/* The variants whose conditions hold, with `separator` between them. */
void nai_variants_render(struct nai_buf *out, const struct env *env, const struct variants *variants,
                         enum text_mode mode, const char *separator);
/* The same as a text of the arena's, which tells when memory ran out. */
const char *nai_variants_text(struct nai_arena *arena, const struct env *env, const struct variants *variants,
                              enum text_mode mode, const char *separator);

/* hits.c: which rows speak, before any text is made. */
struct hit {
  const struct rule *rule;
  int64_t row;
  int severity;           /* -1: silent after all */
  int64_t device_id, pid; /* NAI_NULL_I64: none */
  struct saving saving;
  const struct rule *parent; /* a rule that speaks and whose time holds this one's, or NULL */
  const char *reason;        /* why its severity was lowered, or NULL */
};
struct rule_hits {
  uint32_t first, count; /* of `all`, best first */
};
struct hits {
  struct hit_list LIST_OF(struct hit) all;
  struct rule_hits *by_rule; /* per rule number */
};
/* The hits lie in the arena. */
NAI_MUST_CHECK int nai_hits_find(struct hits *hits, const struct nai_rule_set *set, const struct nai_rules_input *input,
                                 struct nai_arena *arena, struct nai_err *err);
/* A row of the rule's table, at which the environment then stands. */
struct hit nai_hit_at(struct env *env, const struct rule *rule, int64_t row);
/* An environment in which the texts of a hit are rendered. */
void nai_hit_enter(struct env *env, const struct nai_rule_set *set, const struct nai_rules_input *input,
                   const struct hit *hit, const char *subject);
/* Whether that row speaks by itself, with its saving and severity, or else what it fails. */
enum outcome { OUTCOME_SPEAKS, OUTCOME_WHERE, OUTCOME_WHEN, OUTCOME_SEVERITY };
enum outcome nai_hit_examine(struct hit *hit, struct env *env);
/* A hit of a rule of `unless` that is about the same GPU and process, or one of the two is about the whole run, and
 * that could save as much; NULL: none silences the hit. */
const struct hit *nai_hits_silencer(const struct hits *hits, const struct hit *hit);

/* saving.c: from what a rule says its time is to what a finding may say: no more than the loss it explains, and no
 * time twice. */
int64_t nai_saving_base_ns(const struct nai_rules_input *input, const struct hit *hit);
/* In percent of the capture without what is not recorded and waits for input, NaN: unknown. */
double nai_saving_pct_of_capture(const struct nai_rules_input *input, const struct saving *saving);
int64_t nai_saving_capped(const struct nai_rules_input *input, const struct hit *hit, int64_t ns);
NAI_MUST_CHECK int nai_savings_share(struct hits *hits, const struct nai_rule_set *set,
                                     const struct nai_rules_input *input, struct nai_err *err);
/* Whether it is below what counts at all. */
bool nai_saving_is_small(const struct nai_rule_set *set, const struct saving *saving);
/* The severity that a saving alone gives, -1 for none. */
int nai_saving_severity(const struct nai_rule_set *set, const struct saving *saving);
/* Takes the steps of `lower` and of being a part of another finding, and says why. */
NAI_MUST_CHECK int nai_severity_lower(struct hit *hit, const struct env *env, const struct hits *hits,
                                      struct nai_arena *arena, struct nai_err *err);

/* Hits of one rule that get the same advice become one finding; its texts are those of the first hit. Of a few more it
 * shows a fact, and the commands that differ. */
enum { SHOWN_HITS = 3 };
struct finding {
  const struct rule *rule;
  const struct hit **hits;
  uint32_t hit_count, hit_capacity;
  uint32_t left_out; /* further hits of the rule that its limit leaves out */
  const char *subject, *title, *place, *change, *why, *recommendation, *verify;
  bool other_places; /* than `place`, which is that of the worst hit */
  const char *gpus;  /* device ids, the worst first */
  uint32_t gpu_count;
  struct saving saving; /* on the GPU where it is largest */
  int severity;
  const char *reason; /* why that is not what the saving alone gives, or NULL */
  struct nai_rules_simulated simulated;
  int64_t gain_ns; /* of the GPU's active time: simulated, else the saving */
};

/* All of it lies in the arena, but for the tables. */
struct evaluation {
  const struct nai_rule_set *set;
  const struct nai_rules_input *input;
  struct nai_arena *arena;
  struct hits hits;
  struct finding_list LIST_OF(struct finding) findings;
  struct nai_table *evidence;
  struct nai_err *err;
};
/* saving.c: whether a simulation says nothing of the finding: of a part of the time only, more than its upper bound, or
 * a loss. */
bool nai_simulation_fails(const struct finding *finding, const struct evaluation *e);
/* saving.c: gain_ns and severity of a finding whose change was simulated: the severity falls to what twice the
 * favorable saving gives, and where nothing lowered it rises to what the cautious one gives. */
void nai_severity_simulate(struct finding *finding, const struct evaluation *e);
/* evidence.c: the facts behind a finding, of the worst of its hits. */
NAI_MUST_CHECK int nai_evidence_write(struct evaluation *e, uint32_t number);

/* subject.c: "GPU 0", "GPUs 0-3, 7", "process 144", "GPU 0 (pid 111)"; nothing when the hits name no GPU or process. */
NAI_MUST_CHECK int nai_subject_describe(const char **out, const struct nai_rules_input *input,
                                        const struct hit *const *hits, uint32_t count, struct nai_arena *arena,
                                        struct nai_err *err);
