/* Many programs, each compared with its own baseline: a row each, one document, one status. Rows are added one after
 * the other, so that no more than one comparison is open at a time. */
#pragma once

#include "features/compare/gate.h"
#include "report/view.h"
#include "table/json.h"

/* nai_suite_begin first. */
struct nai_suite {
  struct nai_view *root, *rows;
  struct nai_buf text; /* suite.json as far as it is written */
  struct nai_json json;
  uint32_t exits[NAI_EXIT_UNDECIDED + 1]; /* programs per exit status of their gates */
  double log_sum;                         /* of the ratios new to base */
  uint32_t ratios;
};
void nai_suite_begin(struct nai_suite *suite);
void nai_suite_free(struct nai_suite *suite);

/* Adds a comparison; its files are in the directory of the program's name beside that of the suite's. */
void nai_suite_add(struct nai_suite *suite, const char *program, const struct nai_comparison *c,
                   const struct nai_gate *gate);
/* Adds a program that could not be compared, and why. */
void nai_suite_add_undecided(struct nai_suite *suite, const char *program, const char *reason);

/* 1 when one program fails, else 7 when one cannot be decided, else 0. */
int nai_suite_exit(const struct nai_suite *suite);

/* Ends it: suite.md, suite.html and suite.json into `directory`. The text of suite.md is appended to `markdown`, what a
 * terminal shows to `terminal`. */
NAI_MUST_CHECK int nai_suite_publish(struct nai_suite *suite, struct nai_buf *markdown, struct nai_buf *terminal,
                                     const char *directory, void (*note)(const char *line), struct nai_err *err);
