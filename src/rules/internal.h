/* A compiled rule set. Internal to src/rules.
 *
 * Everything of variable length lives in the set's pools and is named by a span; texts point into the YAML documents,
 * which the set keeps. A rule sees numbered sources of rows: 0 is the row of its own table ("this"), 1..lookup_count
 * the rows found by `with`, lookup_count + 1 the row of an evidence item's `for`. */
#ifndef NAI_RULES_INTERNAL_H
#define NAI_RULES_INTERNAL_H

#include "config/yaml.h"
#include "rules/rules.h"

enum {
  MAX_RULES = 1000,
  MAX_LOOKUPS = 16,
  MAX_SOURCES = MAX_LOOKUPS + 2,
  MAX_EVIDENCE_ROWS = 20,
  MAX_ORDER_KEYS = 4,
  MAX_DOCS = 64
};

struct pool {
  void *data;
  uint32_t count, capacity;
};

struct span {
  uint32_t first, count;
};

/* {{name|short}}: a kernel's name for people; {{name|function}}: without template arguments, as profilers take it. */
enum filter { FILTER_NONE, FILTER_SHORT, FILTER_FUNCTION };

/* What a name in a condition or text stands for. */
enum ref_kind { REF_COLUMN, REF_PARAMETER, REF_SUBJECT, REF_NUMBER, REF_TEXT, REF_FACT, REF_STAKE };
enum stake { STAKE_NS, STAKE_LOW_NS, STAKE_PCT }; /* what a finding knows of its price */
struct ref {
  enum ref_kind kind;
  int source, column; /* REF_COLUMN */
  uint32_t parameter; /* REF_PARAMETER */
  uint32_t fact;      /* REF_FACT */
  enum stake stake;   /* REF_STAKE */
  double number;      /* REF_NUMBER */
  const char *text;   /* REF_TEXT and the literal pieces of texts */
  uint32_t text_len;
  enum nai_unit unit; /* of a column; NAI_UNIT_COUNT is a plain number that fits every unit */
  bool is_text;
  enum filter filter;
};

/* One operand of a sum of products: op is + - * /, the first operand's is +. */
struct factor {
  char op;
  struct ref ref;
};

enum compare { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_CONTAINS, CMP_NULL, CMP_NOT_NULL, CMP_HOLDS };
struct test {
  enum compare compare;
  bool is_text;
  struct span left, right; /* factors */
};

/* A condition is a bracketed list of tests; its nesting is at most that of YAML. */
enum code_kind { CODE_ALL, CODE_ANY, CODE_NOT, CODE_TEST, CODE_END };
struct code {
  enum code_kind kind;
  uint32_t test;
};

/* Codes; no codes = true. `sources` has bit s set when source s is looked at. */
struct condition {
  struct span codes;
  uint32_t sources;
};

/* A text: pieces are refs, REF_TEXT for literal text. */
struct variant {
  struct condition when;
  bool otherwise; /* used when no earlier variant's `when` held */
  struct span pieces;
};

struct order_key {
  int column;
  bool descending;
};

/* Which rows of a table, in which order. */
struct selection {
  const struct nai_schema *schema;
  int source;
  struct condition where;
  struct order_key order[MAX_ORDER_KEYS];
  int order_count;
  int limit;
};

struct lookup {
  const char *name;
  struct selection rows;
  bool sum; /* its columns are sums over all rows that meet `where` */
};

/* A statement about the run or one GPU that rules share: true when a row of its table meets `where`. */
struct fact {
  const char *name;
  const struct nai_yaml *doc;
  const struct nai_yaml_node *node;
  struct selection rows; /* source 0 */
  int device_column;     /* rows of another GPU than the finding's do not count; -1: none */
};

/* A reason to take a finding less seriously than its price alone would. */
struct lowering {
  struct condition when;
  int to;             /* this severity at most; -1: one step down */
  struct span reason; /* variants */
};

/* A part of a GPU's time, of which a finding may explain some. */
enum loss { LOSS_NONE, LOSS_IDLE, LOSS_COMM, LOSS_COPY, LOSS_COMPUTE, LOSSES };

struct evidence_item {
  int source; /* the row it is about */
  bool each;  /* one line per row of `rows` */
  struct selection rows;
  struct condition when;
  struct span text; /* variants, which see the row of `rows` */
};

enum scope { SCOPE_RUN, SCOPE_GPU, SCOPE_PROCESS };

struct rule {
  const char *id;
  const struct nai_yaml *doc;
  const struct nai_yaml_node *node;
  bool disabled, ladder_needs_lookups;
  struct selection rows; /* source 0; limit = findings of this rule */
  enum scope scope;
  int device_column, pid_column; /* -1: none */
  struct lookup lookups[MAX_LOOKUPS];
  int lookup_count;
  struct condition when;
  struct condition severity[4];
  bool has_severity[4];
  struct span price, price_low, base;     /* factors, no factors: none */
  double price_ns, price_low_ns, base_ns; /* ns of one unit of each */
  bool has_ladder;                        /* no `severity`: the price decides */
  bool first;                             /* comes before all others */
  enum loss explains;
  struct span lowerings;
  struct span title, title_many, place; /* variants */
  struct span why, recommendation, verify;
  struct span evidence; /* evidence items */
  struct span unless;   /* rule numbers */
  struct span part_of;  /* rule numbers: their time holds this rule's */
  struct nai_buf links;
};

struct parameter {
  const char *name;
  double value;
};

struct nai_rule_set {
  struct nai_yaml *docs[MAX_DOCS];
  size_t doc_count;
  const struct nai_schema *const *schemas;
  size_t schema_count;
  struct rule **rules;
  uint32_t rule_count;
  uint32_t *order; /* of evaluation: a rule comes after those in its `unless` */
  struct pool parameters, factors, tests, codes, pieces, variants, evidence, unless, facts, lowerings;
  const struct nai_yaml *lower_doc; /* the last file's `lower`, for priced rules without one of their own */
  const struct nai_yaml_node *lower;
  const char **table_names; /* ends with NULL */
};

/* Appends one element of `size` bytes; NULL when out of memory. */
void *pool_add(struct pool *pool, size_t size);
#define POOL_AT(pool, type, index) (&((type *)(pool).data)[index])

/* The names visible at some place of a rule. */
struct names {
  struct nai_rule_set *set;
  const struct nai_yaml *doc;
  struct {
    const char *name; /* NULL: only reachable by bare column names */
    const struct nai_schema *schema;
    bool sum; /* all its rows together: numbers only */
  } sources[MAX_SOURCES];
  int count;
  int current; /* the source of bare column names */
  bool priced; /* at_stake_ns and the like have a meaning */
};

/* names.c: finds what `name` (len bytes at `offset` of the node's text) stands for. */
NAI_MUST_CHECK int names_resolve(struct ref *out, const struct names *names, const struct nai_yaml_node *node,
                                 size_t offset, const char *name, size_t len, struct nai_err *err);
/* A table of the catalogue by name. */
NAI_MUST_CHECK int names_table(const struct nai_schema **out, const struct nai_rule_set *set,
                               const struct nai_yaml *doc, const struct nai_yaml_node *node, struct nai_err *err);
/* A column of a table by a name that outputs show or its stored one. */
NAI_MUST_CHECK int names_column(struct nai_print *out, const struct nai_schema *schema, const struct nai_yaml *doc,
                                const struct nai_yaml_node *node, size_t offset, const char *name, size_t len,
                                struct nai_err *err);

/* condition.c */
NAI_MUST_CHECK int condition_compile(struct condition *out, const struct names *names, const struct nai_yaml_node *node,
                                     struct nai_err *err);
/* comparison.c: the comparisons of one string, joined by "and". */
NAI_MUST_CHECK int comparison_compile(struct condition *out, const struct names *names,
                                      const struct nai_yaml_node *node, struct nai_err *err);
/* A sum of products that is a number; *unit: NAI_UNIT_COUNT for a plain one. */
NAI_MUST_CHECK int expression_compile(struct span *factors, enum nai_unit *unit, const struct names *names,
                                      const struct nai_yaml_node *node, struct nai_err *err);
/* A sum of products that is a duration; *ns: of one unit of it. */
NAI_MUST_CHECK int duration_compile(struct span *factors, double *ns, const struct names *names,
                                    const struct nai_yaml_node *node, struct nai_err *err);
NAI_MUST_CHECK int condition_emit(struct condition *out, const struct names *names, struct code code,
                                  struct nai_err *err);

/* text.c: a text with {{placeholders}}, or a list of texts that may depend on conditions. */
NAI_MUST_CHECK int text_compile(struct span *pieces, const struct names *names, const struct nai_yaml_node *node,
                                struct nai_err *err);
NAI_MUST_CHECK int variants_compile(struct span *out, const struct names *names, const struct nai_yaml_node *node,
                                    struct nai_err *err);

/* fact.c: an entry of `facts:`. */
NAI_MUST_CHECK int fact_compile(struct fact *fact, struct nai_rule_set *set, struct nai_err *err);

/* rule.c: what the parts of a rule share while they are compiled. */
struct builder {
  struct rule *rule;
  const struct nai_yaml *doc;
  struct names names;
  struct nai_err *err;
};
/* A value of a map by its key: NULL, or an error, when there is none. */
const struct nai_yaml_node *builder_get(const struct builder *b, const struct nai_yaml_node *map, const char *key);
NAI_MUST_CHECK int builder_require(const struct nai_yaml_node **out, const struct builder *b,
                                   const struct nai_yaml_node *map, const char *key);
/* selection.c: table, where, order, limit of a map; adds the table as a source called `name`. `table_key` is the key
 * that names the table. */
NAI_MUST_CHECK int selection_compile(struct selection *out, struct builder *b, const struct nai_yaml_node *node,
                                     const char *table_key, const char *name, int64_t limit, int64_t max_limit);
/* `with`. */
NAI_MUST_CHECK int lookups_compile(struct builder *b, const struct nai_yaml_node *with);
/* price_compile.c: price, price_low, impact, base, explains, lower. */
NAI_MUST_CHECK int price_compile(struct builder *b, const struct nai_yaml_node *node);
NAI_MUST_CHECK int lower_compile(struct builder *b, const struct nai_yaml_node *node);

/* rule.c: one entry of `rules:` without `unless` and `part_of`, which need all rules. */
NAI_MUST_CHECK int rule_compile(struct rule *rule, struct nai_rule_set *set, const struct nai_yaml *doc,
                                const struct nai_yaml_node *node, struct nai_err *err);

/* Rows during evaluation; row -1: none, its values are NULL. */
struct env {
  const struct nai_rule_set *set;
  const struct nai_rules_input *input;
  const struct nai_table *tables[MAX_SOURCES];
  int64_t rows[MAX_SOURCES];
  uint32_t sums; /* bit s: source s stands for all its rows, which meet sum_where[s] */
  const struct condition *sum_where[MAX_SOURCES];
  int64_t device_id;              /* the finding's GPU, NAI_NULL_I64 for none */
  const char *subject;            /* what {{subject}} says */
  int64_t stake_ns, stake_low_ns; /* NAI_NULL_I64: none */
  double stake_pct;               /* NaN: none */
};

/* eval.c */
bool condition_holds(const struct env *env, const struct condition *condition);
/* The first rows of a selection in its order, `limit` at most; returns how many. env->tables[source] must be set;
 * env->rows[source] is left at -1. */
int selection_rows(int64_t *rows, int limit, struct env *env, const struct selection *selection);
struct nai_value env_value(const struct env *env, const struct ref *ref);
double env_number(const struct env *env, const struct ref *ref); /* in the printed unit; NaN for NULL */
double env_calculate(const struct env *env, struct span factors);

/* render.c: Markdown with escaped values, plain text, or a command with values quoted for a shell. */
enum text_mode { TEXT_PLAIN, TEXT_PROSE, TEXT_SHELL };
void text_render(struct nai_buf *out, const struct env *env, struct span pieces, enum text_mode mode);
/* A parameter as people write it: no trailing zeros. */
void number_print(struct nai_buf *out, double number);
/* The variants whose conditions hold, with `separator` between them. */
void variants_render(struct nai_buf *out, const struct env *env, struct span variants, enum text_mode mode,
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
NAI_MUST_CHECK int hits_find(struct hits *hits, const struct nai_rule_set *set, const struct nai_rules_input *input,
                             struct nai_err *err);
void hits_free(struct hits *hits);
/* price.c: from what a rule says its time is to what a finding may claim: no more than the loss it explains, and no
 * time twice. */
int64_t price_base_ns(const struct nai_rules_input *input, const struct hit *hit);
int64_t price_capped(const struct nai_rules_input *input, const struct hit *hit, int64_t ns);
NAI_MUST_CHECK int prices_share(struct hits *hits, const struct nai_rule_set *set, const struct nai_rules_input *input,
                                struct nai_err *err);
/* The severity that a price alone gives, -1 for none. */
int price_severity(const struct nai_rule_set *set, const struct hit *hit);
/* Sets what conditions and texts may say about the price. */
void env_set_stake(struct env *env, const struct hit *hit);
/* Takes the steps of `lower` and of being a part of another finding, and says why. */
NAI_MUST_CHECK int price_lower(struct hit *hit, const struct env *env, const struct hits *hits, struct nai_err *err);

/* Hits of one rule that get the same advice become one finding; its texts are those of the first hit. */
struct finding {
  const struct rule *rule;
  const struct hit **hits;
  uint32_t hit_count;
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
  uint32_t count;
  struct nai_table *findings_table, *evidence_table;
  struct nai_err *err;
};
/* An environment in which a hit's texts are rendered. */
NAI_MUST_CHECK int enter_hit(struct env *env, const struct evaluation *e, const struct hit *hit, const char *subject);
/* finding.c: what the hits of a finding say together: its GPUs and its price. */
NAI_MUST_CHECK int finding_sum_up(struct finding *finding, struct nai_err *err);
/* evidence.c: the facts behind a finding, of the worst of its hits. */
NAI_MUST_CHECK int evidence_write(struct evaluation *e, uint32_t number);

/* subject.c: "GPU 0", "GPUs 0-3, 7", "process 144", "GPU 0 (pid 111)"; nothing when the hits name no GPU or process. */
NAI_MUST_CHECK int subject_describe(struct nai_buf *out, const struct nai_rules_input *input,
                                    const struct hit *const *hits, uint32_t count, struct nai_err *err);
/* An environment for a rule's rows; lookups are empty until env_look_up. */
NAI_MUST_CHECK int env_open(struct env *env, const struct nai_rule_set *set, const struct rule *rule,
                            const struct nai_rules_input *input, struct nai_err *err);
const struct nai_table *env_table(const struct env *env, const struct nai_schema *schema);
/* Finds the rows of `with` for the current row; those that depend on no other row only if `all`. */
void env_look_up(struct env *env, const struct rule *rule, bool all);

/* load.c: the id of an entry of a rule or metric file, made of `letters` ("a-z and -" for people), and whether the
 * entry is `disabled`. */
NAI_MUST_CHECK int entry_read(const struct nai_yaml_node **id, bool *off, const struct nai_yaml *doc,
                              const struct nai_yaml_node *entry, const char *letters, const char *said,
                              struct nai_err *err);
/* order.c: the rule of that id and its number (may be NULL), NULL for none. */
struct rule *rule_find(const struct nai_rule_set *set, const char *id, uint32_t *number);
/* The error for an id that no rule has. */
int rule_unknown(const struct nai_rule_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                 const char *id, struct nai_err *err);
/* Finds what `unless` and `part_of` name, and an order in which these come first. */
NAI_MUST_CHECK int rules_order(struct nai_rule_set *set, struct nai_err *err);
/* The names of all tables that rules read, each once. */
NAI_MUST_CHECK int rules_list_tables(struct nai_rule_set *set, struct nai_err *err);

#endif
