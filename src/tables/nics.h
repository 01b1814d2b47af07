#pragma once
#include "tables/declare.h"

#define NICS_COLUMNS(C, T)         \
  C(T, nic_id, ID, "network card") \
  C(T, nic_name, LABEL, "its name")
NAI_TABLE(NICS, nics, "NICs", "One network card")
