#pragma once
#include "tables/declare.h"

#define COMPARED_FINDINGS_COLUMNS(C, T)                                                                                                                                 \
  C(T, state, LABEL, "new, gone, changed (another severity) or same")                                                                                                   \
  C(T, id, NAME, "rule that found it", .key = true, .order = 3)                                                                                                         \
  C(T, base_severity, LABEL, "highest in the base's captures")                                                                                                          \
  C(T, new_severity, LABEL, "highest in the new side's captures")                                                                                                       \
  C(T, base_saving_ns, LESS(TIME), "largest saving in the base", .order = -2, .was = "base_at_stake_ns")                                                                \
  C(T, new_saving_ns, LESS(TIME), "largest saving in the new side", .order = -1, .was = "new_at_stake_ns")                                                              \
  C(T, title, LABEL, "of that finding, of the new side where it has it")                                                                                                \
  C(T, base_captures, COUNT, "captures of the base that have it")                                                                                                       \
  C(T, new_captures, COUNT, "captures of the new side that have it")                                                                                                    \
  C(T, predicted_of, LABEL, "step, unit or window: what the next two are of")                                                                                           \
  C(T, predicted_ns, NS_MS,                                                                                                                                             \
    "of a finding that is gone: time of one as the base's simulation has it, without this one and those of the plan before it that are gone, too; NULL: the plan says " \
    "nothing of these together")                                                                                                                                        \
  C(T, measured_ns, NS_MS, "time of one in the new side, on the slowest GPU, mean of its captures")
NAI_TABLE(COMPARED_FINDINGS, compared_findings, "Findings", "The findings of one rule in both sides' captures")
