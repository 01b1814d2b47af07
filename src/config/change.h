/* A change of a program as one types it, for a simulation: "kernel flash.*=0.55". */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "config/patterns.h"

enum nai_change_kind {
  NAI_CHANGE_REMOVE_WAIT,    /* calls no longer wait for the GPU */
  NAI_CHANGE_REMOVE_WAIT_AT, /* those of a place, "FUNCTION" or "FUNCTION in RANGE > ... > RANGE", the innermost last; #
                                is any number */
  NAI_CHANGE_KERNEL,         /* kernels take `factor` of their time */
  NAI_CHANGE_COPY,           /* copies do; 0: the data stays where it is */
  NAI_CHANGE_COPY_AT,        /* those of calls of a place do */
  NAI_CHANGE_PINNED,         /* pageable copies are asynchronous, at the rate of the trace's pinned ones */
  NAI_CHANGE_OWN_STREAM,     /* copies to the GPU are on a stream of their own */
  NAI_CHANGE_OWN_STREAM_COMM, /* communication is */
  NAI_CHANGE_MORE_IN_FLIGHT,  /* threads do not wait for others that they take turns with */
  NAI_CHANGE_FUSE,            /* kernels that only move data and follow each other on a stream are one */
  NAI_CHANGE_GRAPHS,          /* launches that follow each other closely on a thread are one */
  NAI_CHANGE_CALL,            /* CUDA calls do, without what they wait for */
  NAI_CHANGE_HOST,            /* the threads' own code and the calls do */
  NAI_CHANGE_NO_PROFILER,     /* without what the profiler's flushes took */
  NAI_CHANGE_BALANCE,         /* ranks that come late to a collective are as fast as the others */
  NAI_CHANGE_KINDS
};

/* Cautious, as asked for, and as favorable as the change allows. */
enum nai_case { NAI_CASE_LOW, NAI_CASE_LIKELY, NAI_CASE_HIGH, NAI_CASES };

struct nai_change {
  enum nai_change_kind kind;
  const char *text;             /* the kind, then what is typed behind it */
  struct nai_patterns *where;   /* kernels, directions, functions or ranges; NULL: all */
  const char *function, *range; /* of a place; range NULL: any */
  double factor[NAI_CASES];     /* of the duration */
};

/* Whether it takes waits away: then it must be known what calls wait for. */
static inline bool nai_change_is_of_waits(const struct nai_change *change) {
  return change->kind == NAI_CHANGE_REMOVE_WAIT || change->kind == NAI_CHANGE_REMOVE_WAIT_AT;
}
/* Whether it moves work to another stream: then it must be known what streams wait for. */
static inline bool nai_change_is_of_streams(const struct nai_change *change) {
  return change->kind == NAI_CHANGE_OWN_STREAM || change->kind == NAI_CHANGE_OWN_STREAM_COMM;
}
/* In words: "attention.* at 0.55 to 0.67 of its time". */
void nai_change_put_words(struct nai_buf *out, const struct nai_change *change);
/* Reads what is typed behind the kind: "RE=F" (0.55; 1.8x, so much faster; 0.5..0.7), of waits "RE" or a place, of
 * threads and fused kernels "RE", of host "F", else nothing. NAI_EUSAGE. Texts are the arena's; nai_change_free frees
 * the rest. */
NAI_MUST_CHECK int nai_change_read(struct nai_change *out, enum nai_change_kind kind, const char *words,
                                   struct nai_arena *arena, struct nai_err *err);
/* The same with the kind in front: "kernel flash.*=0.55", "no-profiler". */
NAI_MUST_CHECK int nai_change_parse(struct nai_change *out, const char *text, struct nai_arena *arena,
                                    struct nai_err *err);
void nai_change_free(struct nai_change *change);
