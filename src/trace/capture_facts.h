/* Driver and options of the profiler, into the table `capture`. Internal to src/trace. */
#pragma once

#include "trace/trace/trace.h"
#include "table/table.h"

/* Fills CA_DRIVER, CA_CUDA, CA_OPTIONS and CA_PLATFORM of its row where the export says them. */
NAI_MUST_CHECK int nai_capture_facts(struct nai_table *capture, struct nai_trace *trace, struct nai_err *err);
