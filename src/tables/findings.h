#pragma once
#include "tables/declare.h"

#define FINDINGS_COLUMNS(C, T)                                                                                       \
  C(T, finding, ID, "number of the finding, from 1 in order of importance", .key = true)                             \
  C(T, id, NAME, "rule that found it")                                                                               \
  C(T, title, LABEL, "the finding in one line")                                                                      \
  C(T, severity, LABEL, "high, medium, low or info")                                                                 \
  C(T, scope, LABEL, "what it is about: \"GPU 0\", \"GPUs 0-3\", \"process 144\" or \"run\"")                        \
  C(T, device_id, CELL(I64, ID), "GPU it is about; the worst of several", .role = NAI_ROLE_DEVICE,                   \
    .refers = "gpus.device_id")                                                                                      \
  C(T, pid, PID, "process it is about; the worst of several")                                                        \
  C(T, gpus, LABEL, "device ids of all GPUs it is about, the worst first, separated by spaces")                      \
  C(T, gpu_count, COUNT, "GPUs it is about")                                                                         \
  C(T, saving_ns, LESS(NS_MS),                                                                                       \
    "potential saving on the worst GPU: at most the time of this cause, or as saving_is says", .was = "at_stake_ns") \
  C(T, saving_low_ns, NS, "likely saving at least, where the rule can tell", .was = "at_stake_low_ns")               \
  C(T, pct_of_active, LESS(PCT), "saving_ns, of that GPU's active time (or of what the rule names)")                 \
  C(T, place, LABEL, "where in the program, in a few words")                                                         \
  C(T, reason, LABEL, "why it is less severe than its saving")                                                       \
  C(T, part_of, LABEL, "rule whose finding holds the same time: do not add")                                         \
  C(T, leads, ID32, "1: says how to read the others, and comes before those of its severity")                        \
  C(T, why, LABEL, "why it costs time (Markdown)")                                                                   \
  C(T, recommendation, LABEL, "what to do (Markdown)")                                                               \
  C(T, verify, LABEL, "commands that confirm the finding or show that it is gone, one a line")                       \
  C(T, links, LABEL, "further reading, separated by spaces")                                                         \
  C(T, share_of, LABEL, "what pct_of_active is of: active time, or what the rule names; NULL: it does not say")      \
  C(T, change, LABEL, "what of the program is changed in the simulation of its saving (what_if); NULL: nothing is")  \
  C(T, pct_of_capture, LESS(PCT), "saving_ns, of the capture without what is not recorded and waits for input")      \
  C(T, simulated_ns, NS_MS, "likely saving of the change, simulated, of one simulated_of; NULL: none is")            \
  C(T, simulated_low_ns, NS, "the same, cautious")                                                                   \
  C(T, simulated_high_ns, NS, "the same, favorable")                                                                 \
  C(T, simulated_pct, PCT, "simulated_ns, of simulated_now_ns; decides the order before saving_ns")                  \
  C(T, simulated_of, LABEL, "step, unit (a repetition of the largest one) or window")                                \
  C(T, simulated_state, LABEL, "ok, within_error or bound_only, as in what_if")                                      \
  C(T, simulated_now_ns, NS, "what one takes now")                                                                   \
  C(T, saving_is, LABEL, "bound: saving_ns is the most; estimate: a change may save more or less; NULL: no saving")
NAI_TABLE(FINDINGS, findings, "Findings", "One row per finding, the most important first",
          "whether the change pays: a saving is the time of one cause, and savings of findings overlap", .csv = true)
