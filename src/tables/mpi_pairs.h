#pragma once
#include "tables/declare.h"

#define MPI_PAIRS_COLUMNS(C, T)                                                                                        \
  C(T, pid, PID, "process that receives", .key = true, .order = 3)                                                     \
  C(T, rank, ID32, "its rank")                                                                                         \
  C(T, peer_pid, PID, "process that sends", .key = true, .order = 4)                                                   \
  C(T, peer_rank, ID32, "its rank")                                                                                    \
  C(T, message_count, COUNT, "messages matched", .sum = true)                                                          \
  C(T, late_send_count, COUNT, "of them waited for, in MPI_Recv or a wait, before their send began", .sum = true)      \
  C(T, late_send_ns, LESS(TIME), "that waiting, of all of them", .sum = true, .order = -2)                             \
  C(T, late_send_idle_ns, LESS(TIME),                                                                                  \
    "active time in it, counted once, in which no GPU of the receiver does anything; NULL without a GPU", .order = -1) \
  C(T, late_receive_count, COUNT, "blocking sends that began before their receive and returned after it", .sum = true) \
  C(T, late_receive_ns, LESS(TIME), "that time of the sender", .sum = true)                                            \
  C(T, longest_start_ns, START, "start of the longest wait for a send")                                                \
  C(T, longest_end_ns, END, "start of that send")
NAI_TABLE(
    MPI_PAIRS, mpi_pairs, "Late MPI senders", "Messages of one process to another, where a capture has both",
    "messages with MPI_ANY_SOURCE or MPI_ANY_TAG, MPI_Sendrecv, persistent and matched-probe calls, and what MPI does "
    "between send and receive. Built after NVIDIA's description: verified on generated exports only")
