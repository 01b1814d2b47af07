#pragma once
#include "tables/declare.h"

#define WORKLOAD_COLUMNS(C, T)                                                                                        \
  C(T, pid, PID, "process at work: with CUDA calls, NVTX ranges or GPU work; NULL: the run", .key = true, .order = 1) \
  C(T, program, LABEL, "all of it in words; empty where nothing but CUDA is known")                                   \
  C(T, language, LABEL, "of the host's program, or unknown")                                                          \
  C(T, framework, LABEL, "what it computes with, with how training is spread: FSDP with PyTorch; CUDA; or unknown")   \
  C(T, engine, LABEL, "serving engine or application; empty: none is known")                                          \
  C(T, libraries, LABEL, "libraries that ran, with commas between")                                                   \
  C(T, harness, LABEL, "what runs tests or benchmarks; empty: none is known")                                         \
  C(T, launcher, LABEL, "what started it; empty: none is known")                                                      \
  C(T, role, LABEL,                                                                                                   \
    "training, forward (of a training, no backward pass of which is captured), inference, serving, test, benchmark, " \
    "... or unknown")                                                                                                 \
  C(T, confidence, PCT, "of the engine, else of the framework")                                                       \
  C(T, evidence, LABEL, "up to three signs, with semicolons between")
NAI_TABLE(WORKLOAD, workload, "Workload", "What a process is, or the run as a whole",
          "whether a library matters because it ran", .csv = true)
