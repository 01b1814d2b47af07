#pragma once
#include "tables/declare.h"

#define RANK_STEPS_COLUMNS(C, T)                                                                              \
  C(T, rank, NAME, "rank", .key = true)                                                                       \
  C(T, first_step, ID, "first step that the row is of, from 0; without steps, first collective", .key = true) \
  C(T, last_step, ID, "the last one")                                                                         \
  C(T, late_by_ns, NS, "by how much the rank arrived last")                                                   \
  C(T, wait_ns, NS, "what the rank waited for others")
NAI_TABLE(RANK_STEPS, rank_steps, "Ranks by step", "One rank in one step, or in several side by side")
