/* A compiled rule set. Internal to src/rules.
 *
 * Everything of variable length lives in the set's pools and is named by a span; texts point into the YAML documents,
 * which the set keeps. A rule sees numbered sources of rows: 0 is the row of its own table ("this"), 1..lookup_count
 * the rows found by `with`, lookup_count + 1 the row of an evidence item's `for`. */
#pragma once

#include "config/yaml.h"
#include "rules/rules.h"
#include "sql/sql.h"

enum { MAX_RULES = 1000, MAX_LOOKUPS = 16, MAX_SOURCES = MAX_LOOKUPS + 2, MAX_EVIDENCE_ROWS = 20, MAX_DOCS = 64 };

struct pool {
  void *data;
  uint32_t count, capacity;
};

struct span {
  uint32_t first, count;
};

/* {{name|short}}: a kernel's name for people; {{name|function}}: without template arguments, as profilers take it. */
enum filter { FILTER_NONE, FILTER_SHORT, FILTER_FUNCTION, FILTER_NOUN };

/* What a name in a condition or text stands for. */
enum ref_kind { REF_COLUMN, REF_PARAMETER, REF_SUBJECT, REF_TEXT, REF_FACT, REF_STAKE, REF_DEVICE };
enum stake { STAKE_NS, STAKE_LOW_NS, STAKE_PCT }; /* what a finding knows of its price */
struct ref {
  enum ref_kind kind;
  int source, column; /* REF_COLUMN */
  uint32_t parameter; /* REF_PARAMETER */
  uint32_t fact;      /* REF_FACT */
  enum stake stake;   /* REF_STAKE */
  const char *text;   /* REF_TEXT and the literal pieces of texts */
  uint32_t text_len;
  uint32_t offset;     /* of the name in its text */
  enum nai_unit unit;  /* of a column; NAI_UNIT_COUNT is a plain number that fits every unit */
  bool is_text, whole; /* a text; integers */
  enum filter filter;
  const char *noun; /* FILTER_NOUN: what is counted, in the plural */
  uint32_t noun_len;
};

/* SQL in which names of rows, parameters and facts are bound: ?1 stands for the first of `refs`. */
struct expression {
  struct nai_buf sql;
  struct span refs; /* pieces */
  const struct nai_yaml *doc;
  const struct nai_yaml_node *node;
  sqlite3_stmt *statement; /* NULL: not prepared yet */
};

/* The number of an expression + 1; 0: none, a condition that always holds. `sources` has bit s set when the expression
 * looks at source s. */
struct formula {
  uint32_t number, sources;
};

/* A text: pieces are refs, REF_TEXT for literal text. */
struct variant {
  struct formula when;
  bool otherwise; /* used when no earlier variant's `when` held */
  struct span pieces;
};

/* Which rows of a table, in which order. */
struct selection {
  const struct nai_schema *schema;
  int source;
  struct formula rows; /* their numbers */
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
  struct selection rows; /* source 0; rows of another GPU than the finding's do not count */
};

/* A reason to take a finding less seriously than its price alone would. */
struct lowering {
  struct formula when;
  int to;             /* this severity at most; -1: one step down */
  struct span reason; /* variants */
};

/* A part of a GPU's time, of which a finding may explain some. */
enum loss { LOSS_NONE, LOSS_IDLE, LOSS_COMM, LOSS_COPY, LOSS_COMPUTE, LOSSES };

struct evidence_item {
  int source; /* the row it is about */
  bool each;  /* one line per row of `rows` */
  struct selection rows;
  struct formula when;
  struct span text; /* variants, which see the row of `rows` */
};

enum scope { SCOPE_RUN, SCOPE_GPU, SCOPE_PROCESS };

struct rule {
  const char *id;
  const struct nai_yaml *doc;
  const struct nai_yaml_node *node;
  bool disabled, ladder_needs_lookups;
  struct selection rows; /* source 0; limit = findings of this rule */
  struct formula where;  /* of them */
  enum scope scope;
  int device_column, pid_column; /* -1: none */
  struct lookup lookups[MAX_LOOKUPS];
  int lookup_count;
  struct formula when;
  struct formula severity[4];
  bool has_severity[4];
  struct formula price, price_low, base;
  double price_ns, price_low_ns, base_ns; /* ns of one unit of each */
  const char *share_of;                   /* what `base` is called; NULL: no name */
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
  const char *tables[MAX_DOCS]; /* of rules of that document that name none; NULL: each must */
  size_t doc_count;
  const struct nai_schema *const *schemas;
  size_t schema_count;
  struct rule **rules;
  uint32_t rule_count, rule_capacity;
  uint32_t *order; /* of evaluation: a rule comes after those in its `unless` */
  struct pool parameters, expressions, pieces, variants, evidence, unless, facts, lowerings;
  struct nai_sql *sql;              /* its tables: those of the catalogue, empty but while rows are looked at */
  const struct nai_yaml *builtin;   /* its conditions are checked by tests, not in every run */
  const struct nai_yaml *lower_doc; /* the last file's `lower`, for priced rules without one of their own */
  const struct nai_yaml_node *lower;
};

/* Appends one element of `size` bytes; NULL when out of memory. */
void *nai_pool_add(struct pool *pool, size_t size);
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
  bool fact;   /* inside of a fact, which names no other */
};

/* names.c: finds what `name` (len bytes at `offset` of the node's text) stands for. */
NAI_MUST_CHECK int nai_names_resolve(struct ref *out, const struct names *names, const struct nai_yaml_node *node,
                                     size_t offset, const char *name, size_t len, struct nai_err *err);
/* The table of rules of that document that name none, NULL where each must. */
const struct nai_schema *nai_names_implied_table(const struct nai_rule_set *set, const struct nai_yaml *doc);
/* A table of the catalogue by name. */
NAI_MUST_CHECK int nai_names_table(const struct nai_schema **out, const struct nai_rule_set *set,
                                   const struct nai_yaml *doc, const struct nai_yaml_node *node, struct nai_err *err);
/* A column of a table by a name that outputs show or its stored one. */
NAI_MUST_CHECK int nai_names_column(struct nai_display_column *out, const struct nai_schema *schema,
                                    const struct nai_yaml *doc, const struct nai_yaml_node *node, size_t offset,
                                    const char *name, size_t len, struct nai_err *err);

/* expression.c: a condition; `true` and no node always hold. */
NAI_MUST_CHECK int nai_condition_compile(struct formula *out, const struct names *names,
                                         const struct nai_yaml_node *node, struct nai_err *err);
/* A number; *unit: NAI_UNIT_COUNT for a plain one. */
NAI_MUST_CHECK int nai_number_compile(struct formula *out, enum nai_unit *unit, const struct names *names,
                                      const struct nai_yaml_node *node, struct nai_err *err);
/* A duration; *ns: of one unit of it. */
NAI_MUST_CHECK int nai_duration_compile(struct formula *out, double *ns, const struct names *names,
                                        const struct nai_yaml_node *node, struct nai_err *err);
/* The numbers of the rows of a selection, whose schema, source and limit are set; `where` and `order` may be NULL. With
 * `device`, a column, rows of another GPU than the finding's are left out; NULL: there is none. */
NAI_MUST_CHECK int nai_rows_compile(struct selection *out, const struct names *names, const struct nai_yaml_node *where,
                                    const struct nai_yaml_node *order, const char *device, struct nai_err *err);
/* Prepares the statement unless it is; NULL and an error with its place when SQLite does not understand it. */
sqlite3_stmt *nai_expression_prepare(const struct nai_rule_set *set, struct expression *e, struct nai_err *err);
/* Tells what SQLite just failed with, at the expression's place; no memory and too many steps as what they are. */
int nai_expression_error(const struct nai_rule_set *set, const struct expression *e, struct nai_err *err);
/* units.c: checks that what is compared and added has one unit, and says that of the result. */
NAI_MUST_CHECK int nai_units_check(enum nai_unit *unit, const struct nai_rule_set *set, const struct expression *e,
                                   struct nai_err *err);
/* sources.c: the connection through which the set's expressions see tables. */
NAI_MUST_CHECK int nai_rule_set_open(struct nai_rule_set *set, const struct nai_schema *const *schemas, size_t count,
                                     struct nai_err *err);
void nai_rule_set_close(struct nai_rule_set *set);

/* text.c: a text with {{placeholders}}, or a list of texts that may depend on conditions. */
NAI_MUST_CHECK int nai_text_compile(struct span *pieces, const struct names *names, const struct nai_yaml_node *node,
                                    struct nai_err *err);
NAI_MUST_CHECK int nai_variants_compile(struct span *out, const struct names *names, const struct nai_yaml_node *node,
                                        struct nai_err *err);

/* fact.c: an entry of `facts:`. */
NAI_MUST_CHECK int nai_fact_compile(struct fact *fact, struct nai_rule_set *set, struct nai_err *err);

/* rule.c: what the parts of a rule share while they are compiled. */
struct builder {
  struct rule *rule;
  const struct nai_yaml *doc;
  struct names names;
  struct nai_err *err;
};
/* A value of a map by its key: NULL, or an error, when there is none. */
const struct nai_yaml_node *nai_builder_get(const struct builder *b, const struct nai_yaml_node *map, const char *key);
NAI_MUST_CHECK int nai_builder_require(const struct nai_yaml_node **out, const struct builder *b,
                                       const struct nai_yaml_node *map, const char *key);
/* selection.c: table, order, limit of a map, and `where` unless the rows are a rule's own; adds the table as a source
 * called `name`. `table_key` is the key that names the table. */
NAI_MUST_CHECK int nai_selection_compile(struct selection *out, struct builder *b, const struct nai_yaml_node *node,
                                         const char *table_key, const char *name, int64_t limit, int64_t max_limit);
/* `with`. */
NAI_MUST_CHECK int nai_lookups_compile(struct builder *b, const struct nai_yaml_node *with);
/* price_compile.c: price, price_low, impact, base, explains, lower. */
NAI_MUST_CHECK int nai_price_compile(struct builder *b, const struct nai_yaml_node *node);
NAI_MUST_CHECK int nai_lower_compile(struct builder *b, const struct nai_yaml_node *node);

/* rule.c: one entry of `rules:` without `unless` and `part_of`, which need all rules. */
NAI_MUST_CHECK int nai_rule_compile(struct rule *rule, struct nai_rule_set *set, const struct nai_yaml *doc,
                                    const struct nai_yaml_node *node, struct nai_err *err);

/* load.c: the id of an entry of a rule or metric file, made of `letters` ("a-z and -" for people), and whether the
 * entry is `disabled`. */
NAI_MUST_CHECK int nai_entry_read(const struct nai_yaml_node **id, bool *off, const struct nai_yaml *doc,
                                  const struct nai_yaml_node *entry, const char *letters, const char *said,
                                  struct nai_err *err);
/* order.c: the rule of that id and its number (may be NULL), NULL for none. */
struct rule *nai_rule_find(const struct nai_rule_set *set, const char *id, uint32_t *number);
/* The error for an id that no rule has. */
int nai_rule_unknown(const struct nai_rule_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                     const char *id, struct nai_err *err);
/* Finds what `unless` and `part_of` name, and an order in which these come first. */
NAI_MUST_CHECK int nai_rules_order(struct nai_rule_set *set, struct nai_err *err);
