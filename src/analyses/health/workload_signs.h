/* What gives a program away: signs of each value, of the run and of each process. Internal to the node workload. */
#pragma once

#include "analyses/analysis.h"

/* One bit per slot: 0 is the run, behind it the processes in their order. More processes have no row of their own. */
enum { NAI_WHO_SLOTS = 64 };
enum { NAI_SURE_PERCENT = 50 }; /* below that a value is not told */

/* What one kind of sign says for one value: its own [0], and what others have, too [1]. */
struct nai_sign {
  int64_t names[2];       /* different ones */
  const char *example[2]; /* the first, bytewise */
};

/* Signs of every value of one aspect. */
struct nai_signs {
  int values;
  struct nai_sign (*of)[NAI_SIGN_COUNT];
};

struct nai_who {
  struct nai_signs aspects[NAI_ASPECT_COUNT];
  bool named;      /* a process or a main thread tells what was started */
  bool launches;   /* kernels, or calls that launch some */
  bool signatures; /* kernels with C++ signatures, or launched through the runtime as compiled code does */
};

/* In percent; of shared signs alone at most 60. */
double nai_sign_confidence(const struct nai_sign signs[NAI_SIGN_COUNT]);
/* The value with most confidence, the first of equals, where that is sure enough; -1: none. */
int nai_who_best(double *percent, const struct nai_who *who, enum nai_workload_aspect aspect);
/* What is to be said without a sign: a framework that is CUDA, a language that is C++; NULL: nothing. */
const char *nai_who_rest(double *percent, const char **why, const struct nai_who *who, enum nai_workload_aspect aspect);
/* The row of table workload. pid: NAI_NULL_I64 for the run. */
NAI_MUST_CHECK int nai_who_put(const struct nai_node_io *io, const struct nai_who *who, int64_t pid,
                               struct nai_err *err);
