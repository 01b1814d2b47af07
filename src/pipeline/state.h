/* What the stages of a run work on. Internal to src/pipeline. */
#ifndef NAI_PIPELINE_STATE_H
#define NAI_PIPELINE_STATE_H

#include "analyses/analysis.h"
#include "config/kernel_classes.h"
#include "config/phase_map.h"
#include "derive/model.h"
#include "ingest/ingest.h"
#include "pipeline/manifest.h"
#include "pipeline/outdir.h"
#include "pipeline/run.h"
#include "rules/rules.h"

enum { NAI_MAX_TABLES = 96 };

/* One table a stage writes. */
struct nai_slot {
  int stage;
  const struct nai_schema *schema;
  struct nai_table **table;
  bool events; /* may have millions of rows: written by extract itself, opened only when needed */
  bool report; /* part of report.json, report.html and tables/ */
};

struct nai_state {
  const struct nai_options *options;
  struct nai_trace *trace;
  struct nai_phase_map *phases;
  struct nai_kernel_classes *classes;
  struct nai_rule_set *rules;
  uint64_t config_keys[NAI_STAGE_COUNT]; /* hash of the configuration each stage depends on */

  struct nai_ingest ingest;
  struct nai_table *analysis[NAI_MAX_TABLES];
  struct nai_table *findings, *evidence, *viewer;
  struct nai_slot slots[NAI_MAX_TABLES];
  int slot_count;
  bool events_open;
  struct nai_model model;
  bool model_built;

  struct nai_outdir out;
  char *stages_dir; /* in the work directory */
  struct nai_manifest old, manifest;
  struct nai_result *result;
};

struct nai_stage {
  const char *name;
  /* Hash of everything the stage's tables depend on; earlier stages have run. */
  uint64_t (*key)(struct nai_state *state);
  int (*run)(struct nai_state *state, struct nai_err *err);
};
extern const struct nai_stage nai_stages[NAI_STAGE_COUNT];

/* Registers every table of every stage. */
void nai_state_slots(struct nai_state *state);
/* The model, built from the event tables on first use; damaged event files are extracted again. */
NAI_MUST_CHECK int nai_state_model(struct nai_state *state, struct nai_err *err);
/* Loads phase map, kernel classes and rules, and hashes them. */
NAI_MUST_CHECK int nai_state_config(struct nai_state *state, struct nai_err *err);
/* Stage render: every output file into the work directory. */
NAI_MUST_CHECK int nai_state_render(struct nai_state *state, struct nai_err *err);
/* Path of a table's file in the work directory. */
void nai_state_path(char *path, size_t size, const struct nai_state *state, const struct nai_schema *schema);
/* Writes the small tables of a stage. */
NAI_MUST_CHECK int nai_state_write(struct nai_state *state, int stage, struct nai_err *err);
/* Opens the event tables of an earlier run. NAI_ESTALE when they cannot be used. */
NAI_MUST_CHECK int nai_state_open_events(struct nai_state *state, struct nai_err *err);

/* 64-bit hash; chains: the hash of (seed, bytes). */
uint64_t nai_key_bytes(uint64_t seed, const void *bytes, size_t len);
uint64_t nai_key_text(uint64_t seed, const char *text);
uint64_t nai_key_int(uint64_t seed, int64_t value);

#endif
