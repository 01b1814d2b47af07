#pragma once
#include "tables/declare.h"

#define COMPARED_PHASES_COLUMNS(C, T)                                                                       \
  C(T, phase, NAME, "phase of the phase map", .key = true, .order = 3)                                      \
  C(T, base_count, MEAN, "kernels in the base, per capture, or what times are per")                         \
  C(T, new_count, MEAN, "kernels in the new side, per capture, or what times are per")                      \
  C(T, base_time_ns, MEAN_TIME, "GPU time in the base, per capture, or what times are per", .order = -2)    \
  C(T, new_time_ns, MEAN_TIME, "GPU time in the new side, per capture, or what times are per", .order = -1) \
  C(T, delta_ns, MEAN_TIME, "new minus base, per capture, or what times are per")                           \
  C(T, state, LABEL, "both, only_base or only_new")
NAI_TABLE(COMPARED_PHASES, compared_phases, "Phases", "One phase in both sides' captures")
