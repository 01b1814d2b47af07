/* How much a finding matters. Tables hold the names, code compares the numbers. */
#pragma once

enum nai_severity { NAI_SEVERITY_INFO, NAI_SEVERITY_LOW, NAI_SEVERITY_MEDIUM, NAI_SEVERITY_HIGH, NAI_SEVERITIES };

/* "info", "low", "medium", "high" <-> 0..3; -1 and NULL for anything else. */
int nai_severity_from_name(const char *name);
const char *nai_severity_name(int severity);
