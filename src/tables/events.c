#include "tables/events.h"

#define SCHEMA(input, id) [NAI_IN_##input] = &nai_##id##_schema,
const struct nai_schema *const nai_event_tables[NAI_IN_COUNT + 1] = {NAI_INPUT_TABLES(SCHEMA)};

static const char *label_of(const char *const *labels, size_t count, int64_t kind) {
  return kind >= 0 && kind < (int64_t)count ? labels[kind] : NULL;
}

const char *nai_copy_kind_label(int64_t kind) {
  static const char *const labels[] = {
      "Unknown",        "Host-to-Device",         "Device-to-Host",         "Host-to-Array",           "Array-to-Host",
      "Array-to-Array", "Array-to-Device",        "Device-to-Array",        "Device-to-Device",        "Host-to-Host",
      "Peer-to-Peer",   "Unified Host-to-Device", "Unified Device-to-Host", "Unified Device-to-Device"};
  return kind == NAI_COPY_DECOMPRESSION ? "Decompression" : label_of(labels, sizeof labels / sizeof *labels, kind);
}

const char *nai_mem_kind_label(int64_t kind) {
  static const char *const labels[] = {"Pageable", "Pinned",        "Device",         "Array",
                                       "Managed",  "Device Static", "Managed Static", "Unknown"};
  return label_of(labels, sizeof labels / sizeof *labels, kind);
}
