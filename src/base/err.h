/* Errors: a code that decides the exit status, and a message that reads as a chain of causes,
 * outermost first: `cannot read table: trace="x", table="NVTX_EVENTS": row 7: "start" is text`. */
#pragma once

#include "base/scope.h"

enum {
  NAI_OK = 0,
  NAI_EUSAGE = -1, /* wrong command line, bad configuration file: exit 2 */
  NAI_EINPUT = -2, /* the trace is refused: exit 3 */
  NAI_EIO = -3,    /* output cannot be written: exit 5 */
  NAI_ELIMIT = -4, /* out of memory, descriptors, address space: exit 6 */
  NAI_ESTALE = -5  /* an intermediate file cannot be reused: made again where that is possible, else exit 3 */
};

struct nai_err {
  int code;     /* one of the codes above, 0 while nothing failed */
  bool damaged; /* with NAI_EINPUT: the input contradicts itself, reading it again would not help */
  int errnum;   /* of the system call that failed; 0: none did */
  char msg[2048];
};

#define NAI_PRINTF(format_index, first_arg) __attribute__((format(printf, format_index, first_arg)))
#define NAI_MUST_CHECK __attribute__((warn_unused_result))

/* Sets code and message; returns `code`. `err` may be NULL in all of these. */
int nai_err_set(struct nai_err *err, int code, const char *fmt, ...) NAI_PRINTF(3, 4);
/* As nai_err_set, with ": " and the text of `errnum` appended. ENOMEM, EMFILE and ENFILE become NAI_ELIMIT. */
int nai_err_sys(struct nai_err *err, int code, int errnum, const char *fmt, ...) NAI_PRINTF(4, 5);
/* As nai_err_set with NAI_EINPUT and `damaged`. */
int nai_err_damaged(struct nai_err *err, const char *fmt, ...) NAI_PRINTF(2, 3);
/* Puts "context: " in front of the message of the failure `code`; returns `code`. */
int nai_err_wrap(struct nai_err *err, int code, const char *fmt, ...) NAI_PRINTF(3, 4);
/* Out of memory. */
int nai_err_nomem(struct nai_err *err);
static inline int nai_memory_check(bool enough, struct nai_err *err) { return enough ? NAI_OK : nai_err_nomem(err); }
/* Exit status of a code (docs/architecture.md, "Robustness"): 0, 2, 3, 5, 6, 70 for a code unknown to this table.
 */
int nai_err_exit_status(int code);
