/* The parts of the verdict. Internal to src/report. */
#pragma once

#include "report/capture_course.h"

/* The kernel that takes most of the compute time of a GPU; NULL: none does. */
struct dominant {
  const char *function;
  double pct;  /* of the active time */
  bool leads;  /* that is the first finding */
  bool behind; /* named behind "compute" */
};

/* What is said of losses, and what the sentence before has said. */
struct said {
  int64_t first, second;    /* rows of findings; -1: none */
  bool simulated;           /* the first one's saving */
  bool of_capture;          /* the first one's share */
  bool partition;           /* shares are of the active time so far */
  struct dominant dominant; /* named there */
  int64_t gpus, at_work;    /* GPUs; the capture without pauses and waits for input, ns */
  bool input;               /* there are such waits: a share of the capture is not that of its length */
};

/* How much is said of the course of the capture: phases from a twentieth or a fifth of it on with what the host did
 * there, these without, its length, or nothing. */
enum course_detail { COURSE_WHOLE, COURSE_MAIN, COURSE_PHASES, COURSE_LENGTH, COURSE_NONE };

/* How much is said of a loss. */
enum loss_detail { WITH_SECOND, SECOND_IN_SHORT, WITH_PLACE, WITH_SAVING, WITH_SHARE, TITLE_ONLY, NO_LOSS };

/* verdict_words.c */
/* Whether a check of the capture came to a state. */
bool nai_report_verdict_found(const struct nai_report *report, const char *check, const char *state);
/* The first words of a text, with dots where it goes on. */
void nai_report_verdict_words(struct nai_buf *out, const char *text, int most);
/* A name of the program's, cut: a range may be called a sentence. */
void nai_report_verdict_name(struct nai_buf *out, const char *name);
/* A title within a sentence: without its capital, unless that belongs to a name. */
void nai_report_verdict_within(struct nai_buf *out, const char *title);

/* verdict_course.c */
/* "2 GPUs, active for 299.8 ms of 330.0 ms (25.0 ms before CUDA): 85.0 % compute, 15.0 % idle." */
void nai_report_verdict_active(struct nai_buf *out, const struct nai_report *report,
                               const struct nai_capture_course *course, const struct dominant *kernel,
                               enum course_detail detail);
/* "1.87 s: 1.30 s before CUDA, 22.5 ms active (busy 5.8 us)." */
void nai_report_verdict_course(struct nai_buf *out, const struct nai_report *report,
                               const struct nai_capture_course *course, enum course_detail detail);

/* verdict_losses.c */
/* What there is to say of losses; none unless `losses`. */
void nai_report_verdict_find_said(struct said *out, const struct nai_report *report, bool gpus, bool losses);
/* The same for a detail: a kernel that the losses behind it are about is not named before. */
struct said nai_report_verdict_said_with(const struct said *said, const struct nai_report *report,
                                         enum loss_detail detail);
void nai_report_verdict_loss(struct nai_buf *out, const struct nai_report *report, const struct said *said,
                             enum loss_detail detail);
/* A larger loss that was rated lower, with the reason where there is room: else the reader wonders why the first
 * finding is not that one. */
void nai_report_verdict_larger(struct nai_buf *out, const struct nai_table *findings, const struct said *said,
                               bool second_named, bool with_reason);
/* Why there is nothing to act on: what fills the time, unless a less certain loss is named behind it. */
void nai_report_verdict_no_loss(struct nai_buf *out, const struct nai_report *report, bool less_certain);
