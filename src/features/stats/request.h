/* What is asked for with -r: "NAME:argument:argument". Internal to src/features/stats. */
#pragma once

#include "features/stats/stats.h"

struct nai_stats_request {
  const char *name, *arguments;    /* as typed: "base:mangled" or "" */
  const char *start, *end, *range; /* of its own filter; NULL: not said */
  const struct nai_stats_report *report;
  struct nai_stats_options options;
};

/* The texts are the arena's, which outlives the request. NAI_EUSAGE for a report or an argument that there is none of.
 */
NAI_MUST_CHECK int nai_stats_read_request(struct nai_stats_request *out, const char *text, struct nai_arena *arena,
                                          struct nai_err *err);
/* The report that a request names, NULL for none. */
const struct nai_stats_report *nai_stats_requested(const char *text);
/* NAI_EUSAGE, with the name that is nearest. */
int nai_stats_unknown_report(const char *name, struct nai_err *err);

/* listing.c: all reports, or with a name one of them with its columns ("ALL": all with theirs); the formats. On
 * standard output. */
NAI_MUST_CHECK int nai_stats_list_reports(const char *name, struct nai_err *err);
NAI_MUST_CHECK int nai_stats_list_formats(struct nai_err *err);
/* The file that `output` names: BASE_REPORT[_ARGUMENT...][_nvtx=RANGE].EXTENSION; of the arena. */
const char *nai_stats_request_path(const struct nai_stats_request *request, const char *source, const char *output,
                                   const char *range, enum nai_stats_kind kind, struct nai_arena *arena);
/* The report's own filter, as the source's; times that are said go before those of the range. */
NAI_MUST_CHECK int nai_stats_read_own_filter(struct nai_stats_source *source, const struct nai_stats_request *request,
                                             struct nai_err *err);
