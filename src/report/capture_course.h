/* The course of the capture, from table capture_time. Internal to src/report. */
#pragma once

#include "report/report.h"
#include "tables/capture_time.h"

struct nai_capture_course {
  int64_t ns[NAI_CAPTURE_PHASE_COUNT]; /* per phase */
  int64_t busy;                        /* any GPU: compute, communication, copies */
  int64_t total, recorded;             /* the capture; without what is not recorded */
};
void nai_capture_course_of(struct nai_capture_course *out, const struct nai_report *report);
/* Whether GPUs did work in it, but less than 5 % of what was recorded. */
bool nai_capture_course_hardly_works(const struct nai_capture_course *course);

/* What fills half of a phase of the host or more: "profiler", a CUDA call, an OS runtime call, a function, what a pause
 * is recorded as; a name of the trace's. A call or function from a quarter on, of less than half with its time, else
 * *part_ns is 0. NULL: nothing that is known. */
const char *nai_capture_course_main(int64_t *part_ns, const struct nai_report *report,
                                    const struct nai_capture_course *course, enum nai_capture_phase phase);
/* " (646.9 ms profiler)": parts of a phase that are at least 1 % of the capture; "" for none. */
void nai_capture_course_parts(struct nai_buf *out, const struct nai_report *report, enum nai_capture_phase phase);
/* "1.16 s: 832.0 ms before CUDA (646.9 ms profiler), 308.0 ms setup (303.9 ms first use), ...; besides 287.6 ms
 * after the program": what is recorded adds up; parts of at least 1 % of it. */
void nai_capture_course_line(struct nai_buf *out, const struct nai_report *report);
/* The same as one line of block characters, a kind per phase; "" without a capture, or where GPU work fills it. */
void nai_capture_course_bar(struct nai_buf *out, const struct nai_report *report);
