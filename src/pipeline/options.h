/* What one run is asked to do. */
#pragma once

#include "base/strings.h"
#include "config/flops.h"
#include "trace/reader.h"

enum { NAI_MAX_GPUS = 256, NAI_MAX_RULE_FILES = 16, NAI_MAX_SKILLS = 16, NAI_MAX_SKILL_PARAMETERS = 64 };

/* By default report.html holds every event of a trace with no more than this many. */
enum { NAI_PAGE_EVENTS = 4000000 };

struct nai_options {
  const char *trace;  /* an SQLite export */
  const char *out;    /* artifacts directory */
  const char *stages; /* directory for the intermediate tables, or NULL: in `out` */
  const char *rules[NAI_MAX_RULE_FILES];
  size_t rule_count;
  const char *metrics[NAI_MAX_RULE_FILES]; /* files that define metrics */
  size_t metric_count;
  const char *known;                  /* file that lists known findings, or NULL */
  bool update_known;                  /* it need not be there: what it becomes is nai_result.known_text */
  const char *skills[NAI_MAX_SKILLS]; /* ids of built-in ones, or files: tables of the report */
  size_t skill_count;
  const char *skill_parameters[NAI_MAX_SKILL_PARAMETERS]; /* SKILL.NAME=VALUE */
  size_t skill_parameter_count;
  const char *templates;          /* directory searched before the built-in templates, or NULL */
  const char *phase_map;          /* name or file, or NULL */
  const char *kernel_classes;     /* file, or NULL */
  const char *workload;           /* file, or NULL */
  const char *gpu_facts;          /* file, or NULL */
  const char *comm_names;         /* file, or NULL */
  struct nai_flops_options flops; /* what a step computes */
  const char *step;               /* PCRE2 expression: the NVTX ranges that are steps, or NULL */
  int64_t gpus[NAI_MAX_GPUS];
  size_t gpu_count; /* 0 = all */
  bool trim;
  int64_t trim_start_ns, trim_end_ns;
  bool show_output;                    /* name lines of the program's output that bear witness to a failure */
  int top;                             /* rows per table in report.md */
  int page_events;                     /* events that report.html holds in full */
  bool map_nvtx;                       /* attribute GPU work to NVTX ranges */
  double nvtx_coverage_warn_threshold; /* percent; negative = the rules' own */
  bool keep_stages;
  bool all_csv;              /* write a tables/NAME.csv of every table */
  const char *stop_after;    /* a stage, or NULL */
  const char *const *tables; /* of the analyses only these, and what they are made from; ends with NULL. NULL: all */
  int threads;               /* 0: one per processor */
  enum nai_reader_choice reader;
  bool check;                     /* check the whole file's integrity first */
  int64_t memory_limit_bytes;     /* 0 = none */
  void (*note)(const char *line); /* tells the user at once; may be NULL */
  void (*hint)(const char *line); /* the same of options that match nothing */
};

/* Appends what was asked as command lines say it ("--trim 1 2"), as far as it differs from the default and decides what
 * the tables hold. Files by their names, without directories. */
NAI_MUST_CHECK int nai_options_describe(struct nai_strings *out, const struct nai_options *options,
                                        struct nai_err *err);

/* What a run does when nothing is said: the defaults, in zeroed or used memory. */
void nai_options_init(struct nai_options *options);
