/* What the files behind run.h share. Internal to them. */
#pragma once

#include "rundir/run.h"

/* Of a run in one file that file, else nothing. */
const struct nai_buf *nai_run_content(const struct nai_run *run);
/* Tables that may be large, and have files of their own then. */
bool nai_run_is_of_events(const char *name);
