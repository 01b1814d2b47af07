/* What the checks of capture_health are about, and how their rows are written. Internal to src/analyses/health. */
#pragma once

#include "analyses/analysis.h"
#include "model/health/first_use.h"

/* --- facts: times in ns; NAI_NULL_I64 where there is none --- */

struct nai_health {
  int64_t capture_ns, begin; /* length of the capture; where the program begins in it */
  int64_t first_event;       /* of CUDA, NVTX or a GPU */
  int64_t last_event;        /* end of the last one, or of the profiler's; 0 for none */
  bool whole;                /* no event is left out, and no work was launched before the first event */

  int64_t operations, kernels, own_kernels, copies; /* of all GPUs; kernels not of a runtime */
  int64_t launches;                                 /* CUDA API calls that launch kernels or graphs */
  int64_t without_launch; /* operations whose launching call is missing, but for page migrations */
  bool kernels_lost;      /* kernels were launched, none of them is in the trace */
  bool host_watched;      /* OS calls or samples were recorded */
  int64_t ranges;         /* NVTX */

  int64_t first_call, last_call_end, last_operation_end;
  int64_t profiler_start_ns; /* the profiler's initialisation before the first call, of all processes at once */
  int64_t profiler_ns, profiler_count; /* its rows within the GPUs' window, without what it only looks at */

  /* what speaks against a program having done its work */
  bool no_copy_back, no_release, copy_not_awaited, ended_at_once, wrote_errors;
  bool output_held;           /* some text of the program's is in the export */
  int64_t failure_kinds;      /* kinds of failure that the output tells of */
  const char *failures;       /* their names; the arena's */
  const char *failure_line;   /* the first line that tells, where it is asked for; NULL */
  int64_t failed_calls;       /* CUDA calls that returned an error, but for "not ready" */
  int64_t hung_ns, hung_asks; /* from the last call on, where the driver is asked again and again and nothing ends; 0 */
  const char *fatal_error;    /* an error behind which the context can do no more, and the call; NULL; the arena's */

  int64_t graphs_ns; /* nai_graphs_time */
};
NAI_MUST_CHECK int nai_health_collect(struct nai_health *out, const struct nai_node_io *io, struct nai_err *err);

/* What a thread times: from an event it records over launches to a second one, until it waits. */
struct nai_timed_sections {
  int64_t count;
  int64_t bent_count; /* those that are foreign time by a tenth or more: paid once, or the profiler's */
  int64_t foreign_ns; /* the most of that in one section; 0 for none */
  int64_t start, end; /* that section */
};
NAI_MUST_CHECK int nai_timed_sections_collect(struct nai_timed_sections *out, const struct nai_node_io *io,
                                              const struct nai_intervals *once, struct nai_err *err);

/* --- rows --- */

enum nai_health_state { HEALTH_OK, HEALTH_NOTE, HEALTH_PROBLEM, HEALTH_UNKNOWN };
static inline enum nai_health_state nai_health_noted(bool note, bool known) {
  return note ? HEALTH_NOTE : known ? HEALTH_OK : HEALTH_UNKNOWN;
}

/* What the checks look at, and where they write. */
struct nai_health_checks {
  const struct nai_node_io *io;
  const struct nai_model *m;
  const struct nai_table *spans, *active; /* active_spans, gpu_active */
  struct nai_health h;
  struct nai_first_use first_use;
  struct nai_timed_sections timed;
};

/* Adds a row, whose detail is a format: a count or time of NAI_NULL_I64 is left out. `_at`: it is one place, and the
 * detail a text. */
#define nai_health_put(c, check, state, count, ns, ...) \
  nai_health_put_at((c), (check), (state), (count), (ns), NAI_NOWHERE, nai_health_say((c), __VA_ARGS__))
#define NAI_NOWHERE ((struct nai_interval){NAI_NULL_I64, NAI_NULL_I64})
void nai_health_put_at(const struct nai_health_checks *c, const char *check, enum nai_health_state state, int64_t count,
                       int64_t ns, struct nai_interval at, const char *detail);
/* Texts, the arena's: of a format; "3 launches"; "1.2 ms". */
#define nai_health_say(c, ...) nai_arena_printf((c)->io->arena, __VA_ARGS__)
const char *nai_health_count(const struct nai_health_checks *c, int64_t n, const char *what);
const char *nai_health_time(const struct nai_health_checks *c, int64_t ns);
/* The greatest or the least cell of a column, NAI_NULL_I64 for none. */
int64_t nai_health_extreme(const struct nai_table *t, int column, bool greatest);

/* health_stages.c: the rows on the course of the run. */
void nai_health_check_stages(const struct nai_health_checks *c);

/* capture_time.c: the rows of capture_time, the second output. */
NAI_MUST_CHECK int nai_capture_time_put(const struct nai_health_checks *c, struct nai_err *err);
