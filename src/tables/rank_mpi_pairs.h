#pragma once
#include "tables/declare.h"

#define RANK_MPI_PAIRS_COLUMNS(C, T)                                                                                   \
  C(T, rank, NAME, "rank that receives", .key = true, .order = 3)                                                      \
  C(T, peer, NAME, "rank that sends", .key = true, .order = 4)                                                         \
  C(T, message_count, COUNT, "messages matched")                                                                       \
  C(T, late_send_count, COUNT, "of them waited for, in MPI_Recv or a wait, before their send began")                   \
  C(T, late_send_ns, NS, "that waiting, of all of them", .order = -2)                                                  \
  C(T, late_send_idle_ns, NS,                                                                                          \
    "active time in it, counted once, in which no GPU of the receiver does anything; NULL without a GPU", .order = -1) \
  C(T, longest_ns, NS, "the longest such wait; NULL for none")                                                         \
  C(T, late_receive_count, COUNT, "blocking sends that began before their receive and returned after it")              \
  C(T, late_receive_ns, NS, "that time of the sender")                                                                 \
  C(T, clock_doubt_ns, NS, "how far the clocks of the two are in doubt: what is shorter does not count as late")
NAI_TABLE(
    RANK_MPI_PAIRS, rank_mpi_pairs, "Late MPI senders", "Messages of one rank to another",
    "messages with MPI_ANY_SOURCE or MPI_ANY_TAG, MPI_Sendrecv, persistent and matched-probe calls, ranks whose clocks "
    "nothing tells, and what MPI does between send and receive. Verified on generated exports only")
