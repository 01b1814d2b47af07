/* All series of a store at a glance: a row each, the worst first. */
#pragma once

#include "features/nights/trend.h"

enum { NAI_FLEET_VALUES = 60 };

struct nai_fleet_row {
  struct nai_table *row; /* one of table fleet; NULL: the series has no run that is meant */
  int rank;              /* 0 is worst */
  const char *report;    /* of the newest run, from the store; "" where there is none */
  double *values;        /* of the metric, the newest last */
  uint32_t value_count;
  bool has_failed;          /* a gated metric is in state fail or creep */
  bool is_undecided;        /* the newest run measured nothing, or lacks a gated metric */
  bool gates;               /* a metric of it does */
  struct nai_strings notes; /* for people: runs that cannot be read */
};

struct nai_fleet {
  struct nai_arena arena;
  struct nai_fleet_row *rows; /* in their order */
  uint32_t count;
};
#define NAI_FLEET \
  { .arena = NAI_ARENA(NULL) }

/* One series after the other is read, several at once, so that memory is for these alone. `labels` as in
 * nai_store_keep_labelled. NAI_EUSAGE when there is no series. */
struct nai_fleet_options {
  struct nai_trend_options trend; /* series and anchor are taken */
  const char *const *labels;
  size_t label_count;
};
NAI_MUST_CHECK int nai_fleet_find(struct nai_fleet *out, const char *store, const struct nai_fleet_options *options,
                                  struct nai_err *err);
void nai_fleet_free(struct nai_fleet *fleet);
bool nai_fleet_has_failed(const struct nai_fleet *fleet);
bool nai_fleet_is_undecided(const struct nai_fleet *fleet);
/* Exchanges a directory for one with fleet.csv, fleet.prom, fleet.md and fleet.html; `links` is where the store lies
 * from there. */
NAI_MUST_CHECK int nai_fleet_write(const struct nai_fleet *fleet, const char *directory, const char *links,
                                   void (*note)(const char *line), struct nai_err *err);
/* Appends a line per series that asks for attention, and how many do not. */
NAI_MUST_CHECK int nai_fleet_print(struct nai_buf *out, const struct nai_fleet *fleet, const char *directory,
                                   struct nai_err *err);
