#pragma once
#include "tables/declare.h"

#define KNOWN_FINDINGS_COLUMNS(C, T)                                                                           \
  C(T, state, LABEL, "new, known (listed), muted (listed with a reason), or fixed: listed, and found no more") \
  C(T, id, NAME, "rule that found it", .key = true)                                                            \
  C(T, place, LABEL, "where: of the finding, of a fixed one what the list says", .key = true)                  \
  C(T, finding, ID, "number of the finding; NULL: fixed", .refers = "findings.finding", .key = true)           \
  C(T, severity, LABEL, "of the finding; NULL: fixed")                                                         \
  C(T, reason, LABEL, "why it is muted, or was until that day")                                                \
  C(T, until, LABEL, "last day on which the list holds for it; past: its finding is new; NULL: for ever")
NAI_TABLE(KNOWN_FINDINGS, known_findings, "Known findings", "One finding, or one entry of the list without a finding",
          "whether a finding that is gone was fixed, or was not recorded this time")
