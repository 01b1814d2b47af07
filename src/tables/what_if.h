#pragma once
#include "tables/declare.h"

#define WHAT_IF_COLUMNS(C, T)                                                                                       \
  C(T, what_if, ID, "number of the change, from 1", .key = true, .order = 1)                                        \
  C(T, finding, ID, "finding that names it", .refers = "findings.finding")                                          \
  C(T, rule, NAME, "its rule")                                                                                      \
  C(T, change, LABEL, "what is changed: an option of nsys-ai whatif without its dashes, and its value")             \
  C(T, action, LABEL, "the same in words")                                                                          \
  C(T, edited_count, COUNT, "operations or calls that it is about")                                                 \
  C(T, scope, LABEL, "what the times are of: step, unit (a repetition of the largest one) or window")               \
  C(T, repetition_count, COUNT,                                                                                     \
    "steps or units that were simulated, and whose mean the times are; of more than 300,000 calls and operations "  \
    "successive ones that stand for the others")                                                                    \
  C(T, now_ns, LESS(NS_MS), "time of one as recorded, on the slowest GPU")                                          \
  C(T, after_ns, LESS(NS_MS), "with the change alone, likely")                                                      \
  C(T, saving_low_ns, NS, "cautious saving; at least 4 % of the new time below the likely one")                     \
  C(T, saving_ns, NS_MS, "likely saving")                                                                           \
  C(T, saving_high_ns, NS, "favorable saving; at least 4 % of the new time above the likely one")                   \
  C(T, cautious, LABEL, "what saving_low_ns assumes; NULL: the likely case, less 4 % of the new time")              \
  C(T, favorable, LABEL, "what saving_high_ns assumes; NULL: the likely case, and 4 % of the new time")             \
  C(T, saving_pct, PCT, "likely saving, of now_ns")                                                                 \
  C(T, limited_by, NAME, "largest cause of the critical path after the change, a word of critical_path_causes",     \
    .labels = nai_path_labels)                                                                                      \
  C(T, limited_by_pct, PCT, "its share of that path")                                                               \
  C(T, state, LABEL,                                                                                                \
    "ok; within_error: the saving is below 4 % of now_ns, the model's error; bound_only: see reason; refused: not " \
    "simulated")                                                                                                    \
  C(T, reason, LABEL, "why not ok")
NAI_TABLE(WHAT_IF, what_if, "Simulated savings",
          "One change that a finding names, replayed alone; steps once per step, not summed over the trace",
          "whether the program can do without a wait or a copy; sharing of a GPU by what newly overlaps")
