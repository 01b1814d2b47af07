/* How rows of capture_health are written. Internal to src/analyses. */
#pragma once

#include "analyses/health/health_facts.h"
#include "base/buf.h"

enum nai_health_state { HEALTH_OK, HEALTH_NOTE, HEALTH_PROBLEM, HEALTH_UNKNOWN };

/* What the checks look at, and where they write. `said` is the detail of the row in hand. */
/* What the checks look at, and where they write. `said` is the detail of the row in hand. */
struct nai_health_checks {
  struct nai_table *out;
  const struct nai_model *m;
  const struct nai_table *spans, *active;
  struct nai_health h;
  struct nai_first_use first_use;
  struct nai_timed_sections timed;
  struct nai_buf said;
};

/* Ends a row: a count or time of NAI_NULL_I64 is left out. Returns the row. */
int64_t nai_health_put(struct nai_health_checks *c, const char *check, enum nai_health_state state, int64_t count,
                       int64_t ns);
/* Says of a row where it is. */
void nai_health_place(struct nai_health_checks *c, int64_t row, int64_t start, int64_t end);
/* "3 launches" */
void nai_health_say_count(struct nai_health_checks *c, int64_t n, const char *what);
void nai_health_say_time(struct nai_health_checks *c, const char *before, int64_t ns, const char *behind);
/* The largest cell of a column of gpu_active, NAI_NULL_I64 for none. */
int64_t nai_health_greatest(const struct nai_table *t, int column);

/* health_stages.c: the rows on the course of the run. */
void nai_health_check_stages(struct nai_health_checks *c);
