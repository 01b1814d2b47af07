#include "table/severity.h"

#include "base/std.h"

static const char *const names[NAI_SEVERITIES] = {"info", "low", "medium", "high"};

int nai_severity_from_name(const char *name) {
  for (int i = 0; i < NAI_SEVERITIES; i++)
    if (strcmp(names[i], name) == 0)
      return i;
  return -1;
}

const char *nai_severity_name(int severity) {
  return severity >= 0 && severity < NAI_SEVERITIES ? names[severity] : NULL;
}
