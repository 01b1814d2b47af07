#pragma once
#include "tables/declare.h"

#define NVTX_DOMAINS_COLUMNS(C, T)                                                                              \
  C(T, process, CELL(I32, ID), "row of table processes, -1 when it is none of those", .role = NAI_ROLE_PROCESS, \
    .refers = "processes", .key = true, .filled = true)                                                         \
  C(T, domain_id, ID, "number in the export; 0 is the default domain", .key = true)                             \
  C(T, category, ID, "number of a category in it that has a name; NULL: the domain itself", .key = true)        \
  C(T, name, LABEL, "name it was created with, NULL when that was not captured")                                \
  C(T, category_name, LABEL, "the category's name")
NAI_TABLE(NVTX_DOMAINS, nvtx_domains, "NVTX domains", "One NVTX domain of one process, or a named category in it")
