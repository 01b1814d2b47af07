#pragma once
#include "tables/declare.h"

#define CAPTURE_COLUMNS(C, T)                                                                                      \
  C(T, file, NAME, "file name of the export")                                                                      \
  C(T, size_bytes, CELL(I64, BYTES), "size of the export")                                                         \
  C(T, product_version, LABEL, "Nsight Systems version that exported")                                             \
  C(T, schema_version, LABEL, "export schema version")                                                             \
  C(T, utc_epoch_ns, ID, "UTC time of session start, ns since 1970")                                               \
  C(T, duration_ns, NS, "length of the session")                                                                   \
  C(T, time_offset_ns, CELL(I64, NS), "subtracted from every time of the export")                                  \
  C(T, capture_start_ns, CELL(I64, NS),                                                                            \
    "when capturing began, from session start; NULL where the export does not say")                                \
  C(T, capture_stop_ns, CELL(I64, NS), "when capturing ended, from session start")                                 \
  C(T, start_trigger, LABEL, "what began the capture (Immediate: the whole program)")                              \
  C(T, stop_trigger, LABEL, "what ended it")                                                                       \
  C(T, event_types, LABEL, "kinds of events asked for when capturing")                                             \
  C(T, partial_export, ID32, "1 when only selected tables or times were exported")                                 \
  C(T, driver_version, LABEL, "NVIDIA driver; 5452906 of older exporters is 545.29.06")                            \
  C(T, cuda_driver_version, LABEL, "newest CUDA that the driver supports, not the one the program was built with") \
  C(T, profiler_options, LABEL,                                                                                    \
    "options of the profiler that are on, or numbers other than 0, and decide what was recorded "                  \
    "(COLLECT_..., sampling, backtraces, how graphs are traced); sorted, with spaces between")                     \
  C(T, boot_utc_ns, ID, "UTC time at which the system's clock was 0: when the host booted")                        \
  C(T, host_id, ID,                                                                                                \
    "number that captures of one host since one boot share, made of its name and the minute of that "              \
    "time; its name is not kept")                                                                                  \
  C(T, platform, LABEL,                                                                                            \
    "system that it was captured on: Linux, WSL2 (Linux whose kernel says so), Windows, L4T (Jetson) "             \
    "...; empty where the export does not say")
NAI_TABLE(CAPTURE, capture, "Capture", "The capture and its export",
          "options whose values are texts, and the command line: they may hold secrets and are not read")
