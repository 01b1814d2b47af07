/* Driver and options of the profiler, into the table `capture`. Internal to src/ingest. */
#ifndef NAI_INGEST_CAPTURE_FACTS_H
#define NAI_INGEST_CAPTURE_FACTS_H

#include "ingest/trace/trace.h"
#include "table/table.h"

/* Fills CA_DRIVER, CA_CUDA, CA_OPTIONS and CA_PLATFORM of its row where the export says them. */
NAI_MUST_CHECK int nai_capture_facts(struct nai_table *capture, struct nai_trace *trace, struct nai_err *err);

#endif
