#pragma once
#include "tables/declare.h"

#define COMM_PEERS_COLUMNS(C, T)                                                    \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 2)                           \
  C(T, pid, PID, "process", .key = true, .order = 3)                                \
  C(T, communicator, LABEL, "its id, hexadecimal", .key = true, .order = 1)         \
  C(T, rank, COUNT, "own rank in it; NULL: its initialization is not in the trace") \
  C(T, peer, COUNT, "rank at the other end", .key = true, .order = 4)               \
  C(T, sent_count, COUNT, "messages to the peer", .sum = true)                      \
  C(T, sent_bytes, BYTES, "their size", .sum = true)                                \
  C(T, received_count, COUNT, "messages from the peer", .sum = true)                \
  C(T, received_bytes, BYTES, "their size", .sum = true)
NAI_TABLE(
    COMM_PEERS, comm_peers, "Sends and receives",
    "Messages between one process on one GPU and one rank of a communicator",
    "what other collectives than ncclAlltoAll send to whom; messages where payloads were not exported; whose they "
    "are of a group that ran on several GPUs of one process (each has its share)")
