/* The programs of a suite and what each is compared with (check --suite). Internal to src/features/nights. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* What may be a run, a trace, a directory of runs, or (baselines with a store) another selector. */
struct nai_suite_program {
  const char *name; /* also of a directory */
  const char **runs, **baselines;
  size_t run_count, baseline_count;
  const char *budgets; /* NULL: those of the command line */
  const char *lacks;   /* why it cannot be compared, NULL: it can */
};

/* NAI_SUITE_PROGRAMS to begin with. */
struct nai_suite_programs {
  struct nai_arena arena;
  struct nai_suite_program *list; /* in the order of their names; of a file, in its order */
  uint32_t count, capacity;
};
#define NAI_SUITE_PROGRAMS \
  { .arena = NAI_ARENA(NULL) }

/* From a directory with one per program, or from a YAML file. `baselines` are those of the command line: of one that is
 * a directory, what lies in it under the program's name is meant. NAI_EUSAGE, also where there is no program. */
NAI_MUST_CHECK int nai_suite_find(struct nai_suite_programs *out, const char *path, const char *const *baselines,
                                  size_t baseline_count, struct nai_err *err);
/* From a store: of each name of series the newest run that no annotation ignores, against `baselines`. NAI_EUSAGE where
 * the store has none, and where no series can have such a baseline. */
NAI_MUST_CHECK int nai_suite_of_store(struct nai_suite_programs *out, const char *store, const char *const *baselines,
                                      size_t baseline_count, struct nai_err *err);
void nai_suite_programs_free(struct nai_suite_programs *programs);
