/* What the files behind run.h share. Internal to them. */
#pragma once

#include "rundir/run.h"

struct nai_run {
  struct nai_arena arena;
  const char *path;
  int directory;
  int lock;            /* keeps its files from being removed meanwhile; -1: none */
  struct nai_buf pack; /* a run in one file, which has no directory; else empty */
  struct nai_manifest manifest;
  struct nai_table **tables; /* those read or made so far */
  uint32_t table_count, table_capacity;
  struct stage_file {
    const char *name;
    struct nai_table *list; /* of what is in it */
    struct nai_buf content; /* of a run in one file */
  } * stages;
  uint32_t stage_count, stage_capacity;
  bool unchecked;          /* it holds event tables of another run that were not checked against each other */
  struct nai_model *model; /* NULL until asked for */
};

/* Of a run in one file that file, else nothing. */
const struct nai_buf *nai_run_content(const struct nai_run *run);
/* Tables that may be large, and have files of their own then. */
bool nai_run_is_of_events(const char *name);
