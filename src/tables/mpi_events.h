#pragma once
#include "tables/declare.h"

#define MPI_EVENTS_COLUMNS(C, T)                                                                             \
  C(T, start_ns, EVENT_START, "start")                                                                       \
  C(T, end_ns, EVENT_END, "end, exclusive")                                                                  \
  C(T, thread, THREAD, "row of table threads, -1 when it is none of those")                                  \
  C(T, name, LABEL, "function")                                                                              \
  C(T, kind, ID32, "0 point to point, 1 collective, 2 start and wait, 3 other", .filled = true, .values = 4) \
  C(T, communicator, ID, "handle within its process")                                                        \
  C(T, communicator_uid, ID, "number that is the same in all processes, NULL where the export lacks it")     \
  C(T, bytes, CELL(I64, BYTES), "message size; of collectives what is sent", .sum = true)                    \
  C(T, received_bytes, CELL(I64, BYTES), "of collectives", .sum = true)                                      \
  C(T, tag, ID, "message tag")                                                                               \
  C(T, remote_rank, ID32, "the other rank, or the root of a collective; NULL for none")                      \
  C(T, request, ID, "request handle, NULL for none")                                                         \
  C(T, open, ID32, "1 when the export has no end")
NAI_TABLE(MPI_EVENTS, mpi_events, "MPI calls", "One MPI call")

/* mpi_events: an open call ends where it begins. */
enum { NAI_MPI_P2P, NAI_MPI_COLLECTIVE, NAI_MPI_START_WAIT, NAI_MPI_OTHER };
