/* A compiled rule set. Internal to src/rules.
 *
 * Everything lies in the set's arena; texts point into the YAML documents, which the set keeps. A rule sees numbered
 * sources of rows: 0 is the row of its own table ("this"), 1..lookup_count the rows found by `with`, lookup_count + 1
 * the row of an evidence item's `for`. */
#pragma once

#include "base/arena.h"
#include "config/yaml.h"
#include "rules/rules.h"
#include "sql/sql.h"

enum { MAX_RULES = 1000, MAX_LOOKUPS = 16, MAX_SOURCES = MAX_LOOKUPS + 2, MAX_EVIDENCE_ROWS = 20, MAX_DOCS = 64 };

/* An array of the set's arena that grows: after LIST_ROOM there is at[count]. */
#define LIST_OF(type)         \
  {                           \
    type *at;                 \
    uint32_t count, capacity; \
  }
#define LIST_ROOM(list, arena, err) NAI_ROOM((list).at, (list).capacity, (list).count, (arena), (err))

/* A copy of what was printed, for which the arena tells when memory ran out. */
static inline const char *nai_text_keep(struct nai_arena *arena, const struct nai_buf *text) {
  arena->oom |= text->oom;
  return nai_arena_printf(arena, "%s", nai_buf_str(text));
}

/* {{name|short}}: a kernel's name for people; {{name|function}}: without template arguments, as profilers take it. */
enum filter { FILTER_NONE, FILTER_SHORT, FILTER_FUNCTION, FILTER_NOUN };

/* What a name in a condition or text stands for. */
enum ref_kind { REF_COLUMN, REF_PARAMETER, REF_SUBJECT, REF_TEXT, REF_FACT, REF_SAVING, REF_DEVICE };
enum saving_part {
  SAVING_NS,
  SAVING_LOW_NS,
  SAVING_PCT,
  SAVING_PCT_OF_CAPTURE
}; /* what a finding knows of its saving */
struct ref {
  enum ref_kind kind;
  int source, column;      /* REF_COLUMN */
  uint32_t number;         /* REF_PARAMETER, REF_FACT */
  enum saving_part saving; /* REF_SAVING */
  const char *text;        /* REF_TEXT and the literal pieces of texts */
  uint32_t text_len;
  uint32_t offset;                         /* of the name in its text */
  enum nai_unit unit;                      /* of a column; NAI_UNIT_COUNT is a plain number that fits every unit */
  bool is_text, whole;                     /* a text; integers */
  const struct nai_column_def *column_def; /* REF_COLUMN; NULL for what has no labels */
  enum filter filter;
  const char *noun; /* FILTER_NOUN: what is counted, in the plural */
  uint32_t noun_len;
};
struct refs LIST_OF(struct ref);

/* SQL in which names of rows, parameters and facts are bound: its variables are `refs`, in order. Where one may be
 * missing, NULL is a condition that always holds. */
struct expression {
  const char *sql;
  struct refs refs;
  const struct nai_yaml *doc;
  const struct nai_yaml_node *node;
  uint32_t sources;        /* bit s: it looks at source s */
  enum nai_unit unit;      /* of a number; NAI_UNIT_COUNT: a plain one */
  bool aggregate;          /* it sums up rows */
  sqlite3_stmt *statement; /* NULL: not prepared yet */
  struct expression *next; /* of the set */
};

/* A text: pieces are refs, REF_TEXT for literal text. */
struct variant {
  struct expression *when;
  bool otherwise; /* used when no earlier variant's `when` held */
  struct refs pieces;
};
struct variants LIST_OF(struct variant);

/* Which rows of a table, in which order. */
struct selection {
  const struct nai_schema *schema;
  int source;
  struct expression *rows; /* their numbers */
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

/* A reason to take a finding less seriously than its saving alone would. */
struct lowering {
  struct expression *when;
  int to; /* this severity at most; -1: one step down */
  struct variants reason;
};

/* A part of a GPU's time, of which a finding may explain some. */
enum loss { LOSS_NONE, LOSS_IDLE, LOSS_COMM, LOSS_COPY, LOSS_COMPUTE, LOSSES };

struct evidence_item {
  int source; /* the row it is about */
  bool each;  /* one line per row of `rows` */
  struct selection rows;
  struct expression *when;
  struct variants text; /* which see the row of `rows` */
};

enum scope { SCOPE_RUN, SCOPE_GPU, SCOPE_PROCESS };

struct rule {
  uint32_t number; /* in the set */
  const char *id;
  const struct nai_yaml *doc;
  const struct nai_yaml_node *node;
  bool disabled, ladder_needs_lookups;
  struct selection rows;    /* source 0; limit = findings of this rule */
  struct expression *where; /* of them */
  enum scope scope;
  int device_column, pid_column; /* -1: none */
  struct lookup lookups[MAX_LOOKUPS];
  int lookup_count;
  struct expression *when;
  struct expression *severity[4];
  bool has_severity[4];
  struct expression *saving, *saving_low, *base; /* durations, each in its unit; NULL: none */
  const char *share_of;                          /* what `base` is called; NULL: no name */
  bool estimated;                                /* the saving is an estimate, no bound */
  bool has_ladder;                               /* no `severity`: the saving decides */
  bool first, last;                              /* comes before, after all others of its severity */
  bool simulates_part;                           /* the change is not all that it asks for */
  enum loss explains;
  struct lowerings LIST_OF(struct lowering) lowerings;
  struct variants title, title_many, place, simulate, why, recommendation, verify;
  struct evidence_items LIST_OF(struct evidence_item) evidence;
  struct rules LIST_OF(struct rule *) unless, part_of; /* the time of the latter holds this rule's */
  const char *links;
};

struct parameter {
  const char *name;
  double value;
};

struct nai_rule_set {
  struct nai_arena arena;
  struct nai_yaml *docs[MAX_DOCS];
  const char *tables[MAX_DOCS]; /* of rules of that document that name none; NULL: each must */
  size_t doc_count;
  const struct nai_schema *const *schemas;
  size_t schema_count;
  struct rules rules;
  struct rule **order; /* of evaluation: a rule comes after those in its `unless` */
  struct parameters LIST_OF(struct parameter) parameters;
  struct facts LIST_OF(struct fact) facts;
  struct expression *expressions;
  struct nai_sql *sql;              /* its tables: those of the catalogue, empty but while rows are looked at */
  const struct nai_yaml *builtin;   /* its conditions are checked by tests, not in every run */
  const struct nai_yaml *lower_doc; /* the last file's `lower`, for rules with a saving and none of their own */
  const struct nai_yaml_node *lower;
};

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
  bool saving; /* saving_ns and the like have a meaning */
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
/* A column of a table, by a name that outputs show or its stored one, that is the node's text. */
NAI_MUST_CHECK int nai_names_column(struct nai_display_column *out, const struct nai_schema *schema,
                                    const struct nai_yaml *doc, const struct nai_yaml_node *node, struct nai_err *err);
/* NULL for none. */
struct parameter *nai_names_parameter(const struct nai_rule_set *set, const char *name);
struct rule *nai_names_rule(const struct nai_rule_set *set, const char *id);
/* The nearest of the ids, NULL when none is near; the error for a node whose text no rule has. */
const char *nai_names_suggest_rule(const struct nai_rule_set *set, const char *id);
int nai_names_unknown_rule(const struct nai_rule_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                           struct nai_err *err);

/* expression.c: a condition; `true` is NULL. */
NAI_MUST_CHECK int nai_condition_compile(struct expression **out, const struct names *names,
                                         const struct nai_yaml_node *node, struct nai_err *err);
NAI_MUST_CHECK int nai_number_compile(struct expression **out, const struct names *names,
                                      const struct nai_yaml_node *node, struct nai_err *err);
/* A number in ns, us, ms or s. */
NAI_MUST_CHECK int nai_duration_compile(struct expression **out, const struct names *names,
                                        const struct nai_yaml_node *node, struct nai_err *err);
/* What makes a number in that unit one in its base unit. */
double nai_unit_scale(enum nai_unit unit);
/* The numbers of the rows of a selection, whose schema, source and limit are set; `where` and `order` may be NULL. With
 * `device`, a column, rows of another GPU than the finding's are left out; NULL: there is none. */
NAI_MUST_CHECK int nai_rows_compile(struct selection *out, const struct names *names, const struct nai_yaml_node *where,
                                    const struct nai_yaml_node *order, const char *device, struct nai_err *err);
/* Appends a text over the rows of source 0 alone, whose columns SQLite reads. */
NAI_MUST_CHECK int nai_columns_put(struct nai_buf *sql, const struct names *names, const struct nai_yaml_node *node,
                                   struct nai_err *err);
/* A statement that was put together so in the set's arena; mistakes are at `node`. */
NAI_MUST_CHECK int nai_statement_keep(struct expression **out, const struct names *names,
                                      const struct nai_yaml_node *node, const char *sql, struct nai_err *err);
/* A letter, digit or _, of which words of expressions are made. */
static inline bool nai_is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* statement.c: prepares the statement unless it is: an error with its place when SQLite does not understand it. The
 * latter is for tables that are empty still: for those with rows another plan may be better. */
NAI_MUST_CHECK int nai_expression_prepare(struct expression *e, const struct nai_rule_set *set, struct nai_err *err);
NAI_MUST_CHECK int nai_expression_check(struct expression *e, const struct nai_rule_set *set, struct nai_err *err);
/* From here on former names in what is prepared are told with the expression's place. */
void nai_expression_listen(struct expression *e, const struct nai_rule_set *set);
/* Tells what SQLite just failed with, at the expression's place; no memory and too many steps as what they are. */
int nai_expression_error(const struct nai_rule_set *set, const struct expression *e, struct nai_err *err);
/* units.c: checks that what is compared and added has one unit, and says that of the result and whether it sums up
 * rows. */
NAI_MUST_CHECK int nai_units_check(struct expression *e, const struct nai_rule_set *set, struct nai_err *err);

/* text.c: a list of texts with {{placeholders}} that may depend on conditions, or one of them. */
NAI_MUST_CHECK int nai_variants_compile(struct variants *out, const struct names *names,
                                        const struct nai_yaml_node *node, struct nai_err *err);

/* rule.c: one entry of `rules:` without `unless` and `part_of`, which need all rules; one of `facts:`. */
NAI_MUST_CHECK int nai_rule_compile(struct rule *rule, struct nai_rule_set *set, struct nai_err *err);
NAI_MUST_CHECK int nai_fact_compile(struct fact *fact, struct nai_rule_set *set, struct nai_err *err);
/* order.c: finds what `unless` and `part_of` name, and an order in which these come first. */
NAI_MUST_CHECK int nai_rules_order(struct nai_rule_set *set, struct nai_err *err);

/* load.c: an empty set that sees the tables of a catalogue; free it, also after an error. */
NAI_MUST_CHECK int nai_rule_set_new(struct nai_rule_set **out, const struct nai_schema *const *schemas, size_t count,
                                    struct nai_err *err);
/* Reads documents into it: first of all the built-in one, then files, or a text. */
NAI_MUST_CHECK int nai_rule_set_read_builtin(struct nai_rule_set *set, const char *path, struct nai_err *err);
NAI_MUST_CHECK int nai_rule_set_read(struct nai_rule_set *set, const char *const *paths, size_t count,
                                     struct nai_err *err);
NAI_MUST_CHECK int nai_rule_set_parse(struct nai_rule_set *set, const char *file, const char *text, size_t len,
                                      struct nai_err *err);
uint64_t nai_rule_set_texts_hash(const struct nai_rule_set *set);
/* The id of an entry of a rule or metric file, made of `letters` ("a-z and -" for people), and whether the entry is
 * `disabled`. */
NAI_MUST_CHECK int nai_entry_read(const struct nai_yaml_node **id, bool *off, const struct nai_yaml *doc,
                                  const struct nai_yaml_node *entry, const char *letters, const char *said,
                                  struct nai_err *err);
