/* From a trace to an artifacts directory, reusing what an earlier run left there. */
#pragma once

#include "analyses/node.h"
#include "base/buf.h"
#include "pipeline/options.h"

/* Nodes that belong together: what is shown as one step, and what --stage stops after. */
struct nai_stage {
  const char *name;
  const struct nai_node *const *nodes; /* ends with NULL; NULL: the stage writes the outputs */
  bool report;                         /* its tables are part of report.json, report.html and tables/ */
};
/* The stages in order, as many as NAI_STAGE_COUNT. A node needs tables of its own stage and of earlier ones. */
enum nai_stage_id {
  NAI_STAGE_PROBE,
  NAI_STAGE_EXTRACT,
  NAI_STAGE_ANALYZE,
  NAI_STAGE_SKILLS, /* nodes only where --skill asks for some */
  NAI_STAGE_RECOMMEND,
  NAI_STAGE_TIMELINE,
  NAI_STAGE_RENDER,
  NAI_STAGE_COUNT
};
extern const struct nai_stage nai_stages[NAI_STAGE_COUNT];

/* What became of one node. */
struct nai_node_result {
  const char *name;
  int stage;
  bool ran;        /* false: its tables were there already */
  char reason[96]; /* why it ran */
  double seconds;  /* that it took, by the clock, and rows of its tables */
  int64_t rows;
};

struct nai_result_finding {
  int severity;           /* 0..3: info to high */
  int64_t saving_ns;      /* on its worst GPU; NAI_NULL_I64: no saving */
  double pct;             /* of `share_of`; NaN: unknown */
  const char *share_of;   /* "active time" (of that GPU), "window" or "capture" */
  const char *id, *scope; /* rule; "GPUs 0-3", "process 144" or "run" */
  const char *title;      /* one line of text, as clean as the trace's names are */
  const char *place;      /* as clean; "" for none */
  uint32_t part_of;       /* number, from 1, of the finding that holds the same time; 0 for none */
  const char *state;      /* with --known: "new", "known", "muted"; else NULL */
};

struct nai_result {
  struct nai_arena arena;          /* of the lists */
  struct nai_result_finding *list; /* every finding, the most important first */
  size_t list_count;
  int findings[4];                 /* how many of each severity */
  int worst;                       /* highest severity found, -1 for none */
  int worst_new;                   /* of those that --known does not list */
  int fixed;                       /* entries of --known without a finding */
  struct nai_buf known_text;       /* with --known: the file as it lists these findings */
  struct nai_buf verdict;          /* plain text */
  struct nai_buf summary;          /* plain text */
  double seconds[NAI_STAGE_COUNT]; /* wall time per stage, for --verbose only: never in outputs */
  struct nai_node_result *nodes;   /* in the order they were decided on */
  uint32_t node_count, node_capacity;
  bool trimmed_all; /* the run failed because nothing lies in the time that --trim names */
};
void nai_result_free(struct nai_result *result);

/* Tells that a stage begins; may be NULL. */
typedef void nai_progress_fn(int stage);

/* Runs everything. On failure the artifacts directory is as it was before. */
NAI_MUST_CHECK int nai_analyze(struct nai_result *result, const struct nai_options *options, nai_progress_fn *progress,
                               struct nai_err *err);
/* nai_analyze with other stages (NAI_STAGE_COUNT of them): for tests of what runs again when. */
NAI_MUST_CHECK int nai_analyze_stages(struct nai_result *result, const struct nai_options *options,
                                      const struct nai_stage *stages, nai_progress_fn *progress, struct nai_err *err);

/* Analyzes a run with this program, from its event tables alone, as it was asked to be: into options->out, with files
 * that define metrics. *made: that made any table. NAI_EINPUT when its events are not there, or it was asked for what
 * lies in other files. The run loses its tables. */
struct nai_run;
NAI_MUST_CHECK int nai_analyze_again(bool *made, struct nai_run *run, const struct nai_options *options,
                                     struct nai_err *err);

/* Writes an artifacts directory, options->out, of a run whose reports are not there: they are rendered from its tables,
 * as `options` say. It has the files of stages that the run has. */
NAI_MUST_CHECK int nai_render_run(struct nai_run *run, const struct nai_options *options, struct nai_err *err);

/* Everything that can be wrong with configuration files, found before a trace is opened. */
NAI_MUST_CHECK int nai_analyze_check(const struct nai_options *options, struct nai_err *err);

/* The schemas of the report's tables: those that describe the capture, then those of the stages before `before_stage`.
 * Returns their number. */
enum { NAI_REPORT_MAX_TABLES = 192 };
size_t nai_report_schemas(const struct nai_schema *list[NAI_REPORT_MAX_TABLES], int before_stage);

/* The columns of every run, without rows: what statements are checked against. */
NAI_MUST_CHECK int nai_empty_run(struct nai_run **out, struct nai_err *err);
