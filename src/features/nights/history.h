/* The history of a store as tables, for SQL. */
#pragma once

#include "rundir/run.h"

/* A run that holds what the runs of a store say, all in memory, of one series or with NULL of all: tables runs,
 * metrics, findings, kernels and changes. `note` hears of runs that cannot be read; or NULL. NAI_EUSAGE when no run is
 * meant. */
NAI_MUST_CHECK int nai_history_open(struct nai_run **out, const char *store, const char *series,
                                    void (*note)(const char *line), struct nai_err *err);
