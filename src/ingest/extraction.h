/* The stage extract while it runs. Internal to src/ingest. */
#ifndef NAI_INGEST_EXTRACTION_H
#define NAI_INGEST_EXTRACTION_H

#include "ingest/identity.h"
#include "ingest/source.h"

enum { NAI_MAX_SCANS = 16 }; /* feeds of all sources */

struct extraction {
  struct nai_ingest *out;
  struct nai_trace *trace;
  const struct nai_ingest_options *options;
  struct nai_scan scans[NAI_MAX_SCANS];
  const struct nai_source *scan_source[NAI_MAX_SCANS];
  const struct nai_feed *scan_feed[NAI_MAX_SCANS];
  int8_t slots[NAI_MAX_SCANS][NAI_MAX_FIELDS];
  int columns[NAI_MAX_SCANS][NAI_MAX_FIELDS];
  int scan_count;
  struct nai_part *parts;
  int part_count;
  struct nai_identity identity;
  struct nai_strings configs;
  int64_t last_ns; /* latest time of any event, within --trim; known once merged */
};

/* Merges the parts' dictionaries in part order, which makes ids the same for any number of threads and parts, and rewrites
 * the dictionary columns. Sets last_ns. */
NAI_MUST_CHECK int nai_merge(struct extraction *x, struct nai_err *err);

#endif
