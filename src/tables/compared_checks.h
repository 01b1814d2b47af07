#pragma once
#include "tables/declare.h"

#define COMPARED_CHECKS_COLUMNS(C, T)                                                     \
  C(T, check, NAME, "what was checked")                                                   \
  C(T, level, LABEL, "hard: what it affects cannot be decided; soft: a caveat")           \
  C(T, affects, LABEL, "everything, numbers per step, or metrics that need a capability") \
  C(T, base, LABEL, "of the base")                                                        \
  C(T, new, LABEL, "of the new side")                                                     \
  C(T, reason, LABEL, "why it matters")
NAI_TABLE(COMPARED_CHECKS, compared_checks, "Comparability", "One reason for doubt")
