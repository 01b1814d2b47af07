/* Rates of collectives as nccl-tests defines them. */
#include "model/comm/comm.h"

/* What NCCL's payloads call the message size is the whole buffer, or what one rank contributes, or what one rank sends
 * to another; `whole` says whether the other ranks' parts come on top. On the bus, `factor` of the whole moves. */
enum factor { FACTOR_ALL_REDUCE, FACTOR_ALL_BUT_OWN, FACTOR_ONE };
static const struct {
  const char *op;
  bool per_rank;
  enum factor factor;
} kinds[] = {
    {"AllReduce", false, FACTOR_ALL_REDUCE},
    {"AllGather", true, FACTOR_ALL_BUT_OWN},
    {"ReduceScatter", true, FACTOR_ALL_BUT_OWN},
    {"AllToAll", true, FACTOR_ALL_BUT_OWN},
    {"Gather", true, FACTOR_ALL_BUT_OWN},
    {"Scatter", true, FACTOR_ALL_BUT_OWN},
    {"Broadcast", false, FACTOR_ONE},
    {"Reduce", false, FACTOR_ONE},
    {"Send", false, FACTOR_ONE},
    {"Recv", false, FACTOR_ONE},
    {"SendRecv", false, FACTOR_ONE},
    {"Put", false, FACTOR_ONE},
};

struct nai_comm_rates nai_comm_rates(const char *op, int64_t bytes, int64_t ranks, int64_t ns) {
  struct nai_comm_rates rates = {NAN, NAN};
  if (!op || bytes <= 0 || ns <= 0)
    return rates;
  double n = ranks >= 2 ? (double)ranks : NAN, rate = (double)bytes / (double)ns; /* bytes per ns = 10^9 per s */
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(kinds[i].op, op) != 0)
      continue;
    rates.algorithm = kinds[i].per_rank ? n * rate : rate;
    rates.bus = rates.algorithm * (kinds[i].factor == FACTOR_ALL_REDUCE    ? 2 * (n - 1) / n
                                   : kinds[i].factor == FACTOR_ALL_BUT_OWN ? (n - 1) / n
                                                                           : 1);
  }
  return rates;
}

struct nai_comm_rates nai_comm_rates_of(const struct nai_comm_item *item) {
  int64_t ns = item->set == NAI_NO_ROW ? item->end - item->start : item->transfer;
  return nai_comm_rates(item->op, nai_comm_bytes(item), item->ranks, ns);
}
