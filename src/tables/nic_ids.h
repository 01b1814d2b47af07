#pragma once
#include "tables/declare.h"

#define NIC_IDS_COLUMNS(C, T)                        \
  C(T, nic_id, ID, "network card, as in table nics") \
  C(T, global_id, ID, "number of the card in nic_metric_samples")
NAI_TABLE(NIC_IDS, nic_ids, "Numbers of NICs", "One network card as samples name it")
