#pragma once
#include "tables/declare.h"

#define NVTX_DYNAMIC_PAYLOADS_COLUMNS(C, T)                                 \
  C(T, export_row, ID, "rowid in the export's NVTX_EVENTS", .filled = true) \
  C(T, domain_id, ID, "NVTX domain number", .filled = true)                 \
  C(T, schema_id, ID, "its layout", .filled = true)                         \
  C(T, json, LABEL, "its whole numbers as an object of JSON, by the program's names of the fields")
NAI_TABLE(NVTX_DYNAMIC_PAYLOADS, nvtx_dynamic_payloads, "NVTX payloads in tables of their own",
          "One payload that the exporter read (--dynamic-tables=all)")
