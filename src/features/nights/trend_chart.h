/* A metric's values as a drawing. Internal to src/features/nights. */
#pragma once

#include "features/nights/trend.h"

/* Appends an <svg>: values by run, levels between changes, changes, spikes, annotated runs. */
void nai_trend_chart(struct nai_buf *out, const struct nai_trend *trend, const struct nai_trend_metric *metric);
