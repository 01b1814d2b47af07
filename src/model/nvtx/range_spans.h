/* When ranges ran on GPUs, by name: the part RANGE_SPANS. Empty where ranges are not mapped to GPU work. */
#pragma once

#include "model/model.h"

/* From the first start to the last end of what a range launched: of outermost ranges, those that lie in no other of
 * their name, kind and thread. */
struct nai_range_span {
  int64_t start, end; /* ns */
  uint32_t range;     /* row of nvtx_events */
  uint32_t group : 31;
  uint32_t is_part : 1; /* the range used other GPUs, too */
  int32_t process;
};

struct nai_span_sums {
  int64_t with_work; /* instances: not only the outermost ones; all else is of those */
  int64_t own_ns, busy_ns, range_ns, ops, launches, streams; /* as in struct nai_projection; streams: the most */
  int64_t kernel_ns, comm_ns, graph_ns, copy_ns;
  uint32_t longest; /* 1 + number of the longest span, the earliest of equals; 0 for none */
};

/* A name's instances, or what they have on one GPU. Where they used one GPU alone, both are there and say the same. */
struct nai_span_group {
  uint32_t name, gpu;         /* string of nvtx_events; index of the GPU, NAI_NO_ROW: of all instances */
  bool start_end;             /* kind of the ranges: not push/pop */
  uint32_t all;               /* the name's group of all instances: of that one, itself */
  uint32_t next;              /* the name's groups of one GPU follow that of all; NAI_NO_ROW behind the last */
  uint32_t last;              /* of all: the last of them, */
  uint32_t gpu_count;         /* how many there are, */
  uint32_t met;               /* and 1 + the one of the latest span */
  uint32_t count;             /* its spans: of all, those that are of several GPUs */
  struct nai_span_sums sums;  /* of one GPU: of what instances have there */
  struct nai_span_sums parts; /* of one GPU, of those alone that used others, too: what `all` does not add up */
};

struct nai_range_spans {
  struct nai_range_span *v; /* by thread, then in the order of nvtx_by_thread */
  uint32_t count, capacity;
  struct nai_span_group *groups; /* in the order that they were met */
  uint32_t group_count, group_capacity;
  int64_t *node_ns; /* per node of the NVTX tree: the summed spans of its instances on each GPU */
};
