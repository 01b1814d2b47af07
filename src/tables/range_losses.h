#pragma once
#include "tables/declare.h"

#define RANGE_LOSSES_COLUMNS(C, T)                                                                                   \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                            \
  C(T, loss, NAME, "idle, a cause of idle_causes, exposed_communication or exposed_copy; a cause is a part of idle", \
    .key = true, .order = 2)                                                                                         \
  C(T, range_name, RANGE_NAME, "NVTX range around the launch, whatever lies between; digits as #", .key = true,      \
    .order = 4)                                                                                                      \
  C(T, time_ns, LESS(TIME), "idle time before operations launched there, or their exposed part; active spans",       \
    .order = -3)                                                                                                     \
  C(T, pct, LESS(PCT), "of this loss of the GPU")                                                                    \
  C(T, count, LESS(COUNT), "gaps, or operations")                                                                    \
  C(T, depth, COUNT, "ranges around it, at least")
NAI_TABLE(RANGE_LOSSES, range_losses, "Losses by NVTX range",
          "One loss of one GPU inside one range name, if it is 5 % of that loss or more; ranges in ranges overlap: do "
          "not add",
          "losses of operations whose launch is not recorded, or lies in no range")
