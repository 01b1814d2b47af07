#pragma once
#include "tables/declare.h"

#define NVTX_PAYLOAD_ENUMS_COLUMNS(C, T)              \
  C(T, domain_id, ID, "NVTX domain number")           \
  C(T, schema_id, ID, "number that entry types name") \
  C(T, idx, ID, "place in the enumeration")           \
  C(T, name, LABEL, "name")                           \
  C(T, value, ID, "value")
NAI_TABLE(NVTX_PAYLOAD_ENUMS, nvtx_payload_enums, "NVTX payload enumerations",
          "One value of an enumeration that payloads use")
