/* Option setters that several commands share. */
#ifndef NAI_CMD_SETTERS_H
#define NAI_CMD_SETTERS_H

#include "cmd/cmd.h"

int nai_set_jobs(struct nai_args *args, const char *const *values, struct nai_err *err);
int nai_set_quiet(struct nai_args *args, const char *const *values, struct nai_err *err);
int nai_set_verbose(struct nai_args *args, const char *const *values, struct nai_err *err);
int nai_set_json(struct nai_args *args, const char *const *values, struct nai_err *err);
int nai_set_help(struct nai_args *args, const char *const *values, struct nai_err *err);
int nai_set_reader(struct nai_args *args, const char *const *values, struct nai_err *err);
int nai_set_check(struct nai_args *args, const char *const *values, struct nai_err *err);

/* How traces are opened: for every command that opens one. */
#define NAI_TRACE_OPTIONS                                                                                      \
  {"reader",       0,                                                                                          \
   "KIND",         "how tables are read: auto, direct (leaf pages from a memory map) or sqlite (the library)", \
   nai_set_reader, false},                                                                                     \
  {                                                                                                            \
    "check", 0, NULL, "check the whole file's integrity first (slow)", nai_set_check, false                    \
  }

/* A whole number, a real number, seconds to ns, a size such as 512M; NAI_EUSAGE names the option and what was expected.
 */
NAI_MUST_CHECK int nai_set_int(int64_t *out, const char *option, const char *text, int64_t min, int64_t max,
                               struct nai_err *err);
NAI_MUST_CHECK int nai_set_number(double *out, const char *option, const char *text, double min, double max,
                                  struct nai_err *err);
NAI_MUST_CHECK int nai_set_seconds(int64_t *out_ns, const char *option, const char *text, struct nai_err *err);
NAI_MUST_CHECK int nai_set_bytes(int64_t *out, const char *option, const char *text, struct nai_err *err);

#endif
