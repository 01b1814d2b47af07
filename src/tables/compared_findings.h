#pragma once
#include "tables/declare.h"

#define COMPARED_FINDINGS_COLUMNS(C, T)                                                                \
  C(T, state, LABEL, "new, gone, changed (another severity) or same")                                  \
  C(T, id, NAME, "rule that found it", .key = true, .order = 3)                                        \
  C(T, base_severity, LABEL, "highest in the base's captures")                                         \
  C(T, new_severity, LABEL, "highest in the new side's captures")                                      \
  C(T, base_saving_ns, TIME, "largest saving in the base", .better = NAI_BETTER_LOWER, .order = -2,    \
    .was = "base_at_stake_ns")                                                                         \
  C(T, new_saving_ns, TIME, "largest saving in the new side", .better = NAI_BETTER_LOWER, .order = -1, \
    .was = "new_at_stake_ns")                                                                          \
  C(T, title, LABEL, "of that finding, of the new side where it has it")                               \
  C(T, base_captures, COUNT, "captures of the base that have it")                                      \
  C(T, new_captures, COUNT, "captures of the new side that have it")
NAI_TABLE(COMPARED_FINDINGS, compared_findings, "Findings", "The findings of one rule in both sides' captures")
