#pragma once
#include "tables/declare.h"

#define RUNS_COLUMNS(C, T)                                                             \
  C(T, run_id, NAME, "the run", .key = true)                                           \
  C(T, series, LABEL, "what it belongs to: series of a store, group of a batch")       \
  C(T, utc_ns, ID, "start of the capture in UTC, ns since 1970")                       \
  C(T, labels_json, LABEL, "labels given by the user, as a JSON object")               \
  C(T, status, LABEL, "ok, no-gpu, refused, failed, crashed, timeout or missing")      \
  C(T, verdict, LABEL, "of a gate: pass, regressed, suspect, error")                   \
  C(T, exit_code, ID, "exit status of the analysis")                                   \
  C(T, error, LABEL, "why it failed")                                                  \
  C(T, tool_version, LABEL, "version of nsys-ai that analyzed it, with its commit")    \
  C(T, input_bytes, BYTES, "size of the trace, or of all its captures")                \
  C(T, path, LABEL, "directory of the report, from the index")                         \
  C(T, gpu_count, COUNT, "GPUs that ran something")                                    \
  C(T, window_ns, TIME, "first to last GPU operation")                                 \
  C(T, severity, LABEL, "of the worst finding")                                        \
  C(T, high, COUNT, "findings of severity high")                                       \
  C(T, medium, COUNT, "of severity medium")                                            \
  C(T, low, COUNT, "of severity low")                                                  \
  C(T, info, COUNT, "of severity info")                                                \
  C(T, worst_rule, LABEL, "rule of the most important finding")                        \
  C(T, worst_title, LABEL, "that finding in one line")                                 \
  C(T, saving_ns, TIME, "its potential saving on the worst GPU", .was = "at_stake_ns") \
  C(T, pct_of_active, PCT, "that, of the GPU's active time; NULL: not a part of it")   \
  C(T, environment, LABEL, "what it ran on, as far as a store compares it")            \
  C(T, note, LABEL, "annotations of the run")                                          \
  C(T, record, LABEL, "hash of the store's own record of the run")                     \
  C(T, pct_of_capture, PCT, "saving_ns, of the capture, as in findings")
NAI_TABLE(RUNS, runs, "Runs", "One run")
