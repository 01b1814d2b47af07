/* What an export looks like without what is in it: something to put into a bug report. */
#pragma once

#include "base/buf.h"
#include "trace/trace/trace.h"

/* Tables, columns, how many rows and cells of which kind; numbers and labels of enumerations; keys of JSON objects. No
 * other value. */
NAI_MUST_CHECK int nai_schema_only_put(struct nai_buf *out, struct nai_trace *trace, struct nai_err *err);
