/* Skills: questions somebody asked before, as YAML files (docs/writing-skills.md). A skill is a statement with
 * parameters, and what its columns mean; its answer is a table like any other, or a reason why there is none. Pages put
 * several answers under one title. */
#pragma once

#include "config/yaml.h"
#include "query/query.h"

enum { NAI_SKILL_MAX_COLUMNS = 64, NAI_SKILL_MAX_PARAMETERS = 16, NAI_SKILL_MAX_ORDER = 8, NAI_SKILL_MAX_NEEDS = 8 };
enum { NAI_SKILL_MAX_ROWS = 10000, NAI_PAGE_MAX_BLOCKS = 32 };

enum nai_skill_type { NAI_SKILL_INTEGER, NAI_SKILL_NUMBER, NAI_SKILL_TEXT, NAI_SKILL_GPU, NAI_SKILL_TIME };

struct nai_skill_parameter {
  const char *name, *description;
  enum nai_skill_type type;
  bool required, has_min, has_max;
  double min, max;
  struct nai_value value; /* the default */
};

struct nai_skill_column {
  const char *name, *description, *from; /* from: the column of the statement */
  enum nai_unit unit;                    /* as shown: us, ms and s take ns of the statement */
  bool real;                             /* cells are real numbers */
};

struct nai_skill_order {
  int column;
  bool descending;
};

/* One answer on a page. */
struct nai_page_block {
  const char *title;          /* or NULL */
  const char *skill;          /* of a skill, else: */
  struct nai_query_text text; /* a statement; sql NULL: neither, the block is the verdict */
  const char *none;           /* said of a table without rows, or NULL */
  const char *line;           /* rows as lines of text, with {{placeholders}}; NULL: rows as a table */
  int64_t rows;               /* that people are shown at most, 0: all; programs get all */
};

/* A skill, or a page: that has blocks, and nothing of what a skill has from its category on. */
struct nai_skill {
  struct nai_yaml *doc;
  char *source;        /* the file, or "built-in" */
  struct nai_buf file; /* as it was written */
  const char *id, *title, *description;
  bool is_page;
  struct nai_page_block blocks[NAI_PAGE_MAX_BLOCKS];
  size_t block_count;
  const char *category;
  const char *needs[NAI_SKILL_MAX_NEEDS];
  size_t need_count;
  struct nai_skill_parameter parameters[NAI_SKILL_MAX_PARAMETERS];
  size_t parameter_count;
  struct nai_skill_column columns[NAI_SKILL_MAX_COLUMNS];
  size_t column_count;
  struct nai_skill_order order[NAI_SKILL_MAX_ORDER];
  size_t order_count;
  struct nai_query_text text;        /* the statement */
  const char *line;                  /* one line about the answer, with {{placeholders}}; or NULL */
  const struct nai_yaml_node *tests; /* or NULL */
  bool has_rules;                    /* the file has `rules` about its table (docs/writing-rules.md) */
};

/* All that were found, by id; later files replace ids of earlier ones. */
struct nai_skill_list {
  struct nai_skill **all;
  uint32_t count, capacity;
};
struct nai_skills {
  struct nai_skill_list skills, pages;
  struct nai_buf left_out; /* a sentence per line: files of the standard directories that are no skills */
};

/* The built-in ones, then those of the directories of the system, the user and the working directory, then `paths`
 * (files or directories). A file of those three directories that is wrong is left out, and of the working directory,
 * which may be anybody's, one that a link leads to. NAI_EUSAGE with file:line:column for a file below `paths`. */
NAI_MUST_CHECK int nai_skills_load(struct nai_skills *skills, const char *const *paths, size_t path_count,
                                   struct nai_err *err);
/* One file. */
NAI_MUST_CHECK int nai_skills_read(struct nai_skill **out, const char *path, struct nai_err *err);
/* The built-in one of that id. NAI_EUSAGE with a suggestion. */
NAI_MUST_CHECK int nai_skills_builtin(struct nai_skill **out, const char *id, struct nai_err *err);
void nai_skills_free(struct nai_skills *skills);
void nai_skill_free(struct nai_skill *skill);
NAI_OWNER(nai_skill)
/* By id, among skills or among pages; NAI_EUSAGE with a suggestion. */
NAI_MUST_CHECK int nai_skills_find(const struct nai_skill **out, const struct nai_skills *skills, const char *id,
                                   struct nai_err *err);
NAI_MUST_CHECK int nai_skills_page(const struct nai_skill **out, const struct nai_skills *skills, const char *id,
                                   struct nai_err *err);

/* What a skill is asked with. */
struct nai_skill_request {
  struct nai_run *run;
  const char *const *parameters; /* NAME=VALUE */
  size_t parameter_count;
  bool has_window, has_gpu;
  int64_t window_start_ns, window_end_ns, gpu;
  struct nai_query_limits limits; /* rows is not used */
};

struct nai_skill_answer {
  struct nai_table *table; /* NULL: it cannot say */
  struct nai_buf reason;   /* why not */
  int64_t left_out;        /* rows beyond NAI_SKILL_MAX_ROWS */
};
/* Asks. NAI_EUSAGE for a parameter that is missing or wrong, and for a column that is not what the file says. */
NAI_MUST_CHECK int nai_skill_ask(struct nai_skill_answer *answer, const struct nai_skill *skill,
                                 const struct nai_skill_request *request, struct nai_err *err);
/* The columns of its answer; the caller frees it (nai_schema_free). */
NAI_MUST_CHECK int nai_skill_schema(struct nai_schema **out, const struct nai_skill *skill, struct nai_err *err);
void nai_skill_answer_free(struct nai_skill_answer *answer);
/* Checks the statement of a skill, or those of a page, against the columns that it declares. `run` holds tables with
 * the columns of every run; rows do not matter. */
NAI_MUST_CHECK int nai_skill_check(const struct nai_skill *skill, struct nai_run *run, struct nai_err *err);
NAI_MUST_CHECK int nai_page_check(const struct nai_skill *page, const struct nai_skills *skills, struct nai_run *run,
                                  struct nai_err *err);

/* What a value of a request is bound to: those declared, and :start_ns, :end_ns, :gpu. Freed with free. */
enum { NAI_SKILL_ALWAYS = 3 };
NAI_MUST_CHECK int nai_skill_bind(struct nai_query_parameter out[NAI_SKILL_MAX_PARAMETERS + NAI_SKILL_ALWAYS],
                                  size_t *count, const struct nai_skill *skill, const struct nai_skill_request *request,
                                  struct nai_err *err);

/* A text with {{column}}, {{column|utc}}, {{column|markdown}} and {{column|calls}} (34 calls, 1 call) filled in for
 * people; texts escaped by `escape`, but Markdown that goes into Markdown. {{count}}: `rows`. A text that is alone on
 * its line keeps its own line breaks. */
struct nai_skill_cell {
  const char *name;
  enum nai_unit unit; /* NAI_UNIT_COUNT: unknown */
  struct nai_value value;
  bool into_markdown;
};
void nai_skill_line(struct nai_buf *out, const char *line, const struct nai_skill_cell *cells, size_t count,
                    int64_t rows, void (*escape)(struct nai_buf *, const char *, size_t));
/* A skill's own text about its answer, nothing where it has none. */
void nai_skill_put_line(struct nai_buf *out, const struct nai_skill *skill, const struct nai_table *table,
                        void (*escape)(struct nai_buf *, const char *, size_t));
