#pragma once
#include "tables/declare.h"

#define WHAT_IF_PLAN_COLUMNS(C, T)                                                                      \
  C(T, rank, ID, "place in the plan, from 1", .key = true, .order = 1)                                  \
  C(T, what_if, ID, "the change", .refers = "what_if.what_if")                                          \
  C(T, finding, ID, "finding that names it", .refers = "findings.finding")                              \
  C(T, title, LABEL, "title of the finding")                                                            \
  C(T, change, LABEL, "what is changed: an option of nsys-ai whatif without its dashes, and its value") \
  C(T, action, LABEL, "the same in words")                                                              \
  C(T, scope, LABEL, "what the times are of: step, unit (a repetition of the largest one) or window")   \
  C(T, before_ns, LESS(NS_MS), "time of one with all changes before this one")                          \
  C(T, after_ns, LESS(NS_MS), "and with this one, likely")                                              \
  C(T, after_low_ns, LESS(NS_MS), "the same, cautious")                                                 \
  C(T, after_high_ns, LESS(NS_MS), "the same, favorable")                                               \
  C(T, saving_ns, NS_MS, "likely saving behind those before; these add up")                             \
  C(T, alone_ns, NS_MS, "likely saving of this change alone; these do not add up")                      \
  C(T, bound, LABEL, "why saving_ns is a bound at most; NULL: a prediction")                            \
  C(T, cumulative_pct, PCT, "saved by all up to this one, of the time as recorded")                     \
  C(T, limited_by, NAME, "largest cause of the critical path then, a word of critical_path_causes",     \
    .labels = nai_path_labels)                                                                          \
  C(T, limited_by_pct, PCT, "its share of that path")                                                   \
  C(T, note, LABEL, "for changes outside of the plan: why; NULL for those in it")
NAI_TABLE(WHAT_IF_PLAN, what_if_plan, "Simulated plan",
          "One change, in the order of what each adds; those that add less than 1 % come last, with a note. "
          "No rows where all do",
          "whether the program can do without a wait or a copy; what a change costs to make")
