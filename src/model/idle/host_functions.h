/* Functions of the program that streams run on the host: cudaLaunchHostFunc, host nodes of graphs. Until one returns,
 * nothing behind it in its stream starts. Found with part EVIDENCE; times are ns. */
#pragma once

#include "model/model.h"
#include "tables/host_function_events.h"

/* A function in one stream. */
struct nai_host_function {
  int32_t process, device_id, context, stream;
  uint32_t name; /* string of host_function_events, NAI_NO_STRING unknown */
  bool in_graph;
};

/* One execution. */
struct nai_host_run {
  int64_t start, end;       /* as the stream holds it */
  int64_t until;            /* latest end of it and of those before it of its process */
  int64_t called, returned; /* its callback; NAI_NULL_I64 for none */
  uint32_t row;             /* of host_function_events */
  uint32_t function;
};

struct nai_host_functions {
  struct HOST_FUNCTION_EVENTS_columns c;
  struct nai_host_function *functions;
  struct nai_host_run *runs; /* by process, start, end, row */
  uint32_t *first;           /* per process: its first run; process_count + 1 entries */
  uint32_t function_count, run_count;
  struct nai_keyset waits; /* correlation ids and processes of sync_events */
  uint32_t *wait_row;      /* per wait: the first such row */
};

/* What of an export's host functions holds somebody up. */
struct nai_host_scope {
  int32_t process, context, stream;
  bool any_stream;
  int64_t ended_by; /* no later */
};

/* *out is NULL where no stream ran any. Reads sync_events only otherwise. */
NAI_MUST_CHECK int nai_host_functions_find(struct nai_host_functions **out, struct nai_model *model,
                                           struct nai_err *err);
/* The first stretch of [start, end) in which one runs, and its function; false where none does. */
bool nai_host_function_within(struct nai_interval *out, uint32_t *function, const struct nai_host_functions *host,
                              const struct nai_host_scope *scope, int64_t start, int64_t end);
/* The streams that a call waits for; false where that is not known. */
bool nai_host_scope_of_wait(struct nai_host_scope *scope, const struct nai_model *model, uint32_t call);
const char *nai_host_function_name(const struct nai_model *model, uint32_t function);
int64_t nai_host_functions_bytes(const struct nai_model *model);
