/* The course of the capture, from table capture_time. Internal to src/report. */
#pragma once

#include "report/report.h"
#include "tables/capture_time.h"

struct nai_capture_course {
  int64_t ns[NAI_CAPTURE_PHASE_COUNT]; /* per phase */
  int64_t busy;                        /* any GPU: compute, communication, copies */
  int64_t total, recorded;             /* the capture; without what is not recorded */
  int64_t input;                       /* waits for somebody to type, of which no share is taken */
  int64_t idle;                        /* these, and pauses */
};
void nai_capture_course_of(struct nai_capture_course *out, const struct nai_report *report);
/* What was recorded, without pauses and waits for input: no work of the GPU could fill those. */
int64_t nai_capture_course_at_work(const struct nai_capture_course *course);
/* Whether GPUs did work in it, but less than 5 % of that. */
bool nai_capture_course_hardly_works(const struct nai_capture_course *course);

/* What fills half of a phase of the host or more. */
struct nai_capture_main {
  const char *what;     /* in our words, such as "profiler"; NULL for none */
  const char *function; /* the trace's: a CUDA call, an OS runtime call, a function, what a pause is recorded as */
  int64_t function_ns;  /* from a quarter to half of it; 0: more */
  int64_t own_ns;       /* half or more is the program's own code, outside of such a CUDA call; 0: not, or unknown */
};
struct nai_capture_main nai_capture_course_main(const struct nai_report *report,
                                                const struct nai_capture_course *course, enum nai_capture_phase phase);
/* " (646.9 ms profiler)": parts of a phase of `least` ns or more; "" for none. */
void nai_capture_course_parts(struct nai_buf *out, const struct nai_report *report, enum nai_capture_phase phase,
                              int64_t least);
/* "1.16 s: 832.0 ms before CUDA (646.9 ms profiler), 308.0 ms setup (303.9 ms first use), ...; plus 287.6 ms
 * after the program ended": what is recorded adds up, but for phases below a thousandth; parts of at least 1 % of it.
 */
void nai_capture_course_line(struct nai_buf *out, const struct nai_report *report);
/* What happens in each of `count` equal parts of what is recorded, in their order: GPU work on any GPU, setup, or a
 * phase without either. False: no GPU works in it, or always one does. */
bool nai_capture_course_cells(enum nai_capture_phase *cells, int count, const struct nai_report *report);
/* These as one line of block characters; "" where there are none. */
void nai_capture_course_bar(struct nai_buf *out, const struct nai_report *report);
