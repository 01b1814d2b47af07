/* The rows of a statement on a run, held. */
#pragma once

#include "query/collect.h"

NAI_MUST_CHECK int nai_cmd_collect(struct nai_query_rows *out, struct nai_run *run, const char *sql,
                                   const struct nai_query_parameter *parameters, size_t count, struct nai_err *err);
NAI_MUST_CHECK int nai_cmd_collect_sums(struct nai_query_rows *out, struct nai_run *run, const char *sql,
                                        const struct nai_query_parameter *parameters, size_t count,
                                        struct nai_err *err);
