/* A comparison as templates see it (report/view.h), whatever the format. Internal to src/features/compare. */
#pragma once

#include "base/fmt.h"
#include "features/compare/gate.h"
#include "report/builtin.h"

/* Made by nai_document_new, which cannot fail: what is missing is told when it is rendered. */
struct nai_document {
  const struct nai_comparison *c;
  struct nai_view *root;
  size_t chars;  /* of a name that comes from a trace; other texts may have three times as many; 0: all */
  uint32_t rows; /* of a list */
  const struct nai_time_column *times; /* of a table of metrics, so that it has one unit of time; NULL: each its own */
};
/* With what every format shows: verdict, checks, captures, the parts of the time. */
struct nai_document nai_document_new(const struct nai_comparison *c, size_t chars, uint32_t rows);
void nai_document_free(struct nai_document *d);

void nai_document_text(const struct nai_document *d, struct nai_view *map, const char *key, const char *text);
void nai_document_code(const struct nai_document *d, struct nai_view *map, const char *key, const char *text);
/* A value for people, by the name of its unit; with its sign for differences. */
void nai_document_amount(struct nai_view *map, const char *key, const char *unit, double value, bool sign);
/* A time below others, in the unit of all of them. */
void nai_document_time(struct nai_view *map, const char *key, const struct nai_time_column *column, double ns,
                       bool sign);
/* Appends a metric to a list, and returns it. */
struct nai_view *nai_document_metric(const struct nai_document *d, struct nai_view *list,
                                     const struct nai_metric_result *r);
/* Adds what a metric has in a table to its column of times. */
void nai_document_times(struct nai_time_column *times, const struct nai_metric_result *r);
/* What the gate asks about and cannot be compared, by reason; where an obstacle is why, the verdict says it. */
void nai_document_undecided(const struct nai_document *d);
/* beside.c: of captures without steps, idle time and what got slower by the call. */
void nai_document_beside(const struct nai_document *d);
/* beside.c: the part with the largest share of the difference, its cause, and which numbers per step changed. */
void nai_document_where(const struct nai_document *d);
