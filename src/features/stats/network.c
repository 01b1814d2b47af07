/* network_congestion: when ports of network devices had data to send and could not. */
#include "features/stats/stats.h"

#include "base/sort.h"

/* One sample over the threshold. */
struct wait {
  int64_t start, end, ns, rate, guid;
  int64_t name; /* of source->texts */
};
struct waits {
  struct wait *at;
  uint32_t capacity;
};

/* Which metrics tell it: lists and indices. */
struct metrics {
  struct nai_stats_events names; /* list, index, name */
  struct nai_stats_source *source;
};

static bool tells_waits(const struct metrics *metrics, int64_t list, int64_t index) {
  const struct nai_stats_events *e = &metrics->names;
  for (uint32_t i = 0; i < e->count; i++)
    if (e->at[0][i] == list && e->at[1][i] == index) {
      const char *name = nai_stats_text_of(metrics->source, e->at[2][i]);
      return name && strcmp(name, "IB: Send waits") == 0;
    }
  return false;
}

/* Network cards by the number that samples have for them. */
struct cards {
  struct nai_stats_events map, info; /* card, number; card, GUID, name */
};

static int read_cards(struct cards *cards, struct nai_stats_source *source, struct nai_err *err) {
  static const char *const map[] = {"nicId", "globalId", NULL}, *const info[] = {"nicId", "GUID", "$name", NULL};
  NAI_TRY(nai_stats_load(&cards->map, source, "NIC_ID_MAP", map, err));
  return nai_stats_load(&cards->info, source, "TARGET_INFO_NIC_INFO", info, err);
}

/* A switch is in no table of cards: its number is its GUID. */
static void name_device(struct wait *wait, const struct cards *cards, bool is_switch) {
  const int64_t number = wait->guid;
  wait->name = NAI_STATS_NULL;
  if (is_switch)
    return;
  wait->guid = NAI_STATS_NULL;
  for (uint32_t m = 0; m < cards->map.count; m++)
    for (uint32_t i = 0; i < cards->info.count && cards->map.at[1][m] == number; i++)
      if (cards->info.at[0][i] == cards->map.at[0][m]) {
        wait->guid = cards->info.at[1][i];
        wait->name = cards->info.at[2][i];
        return;
      }
}

static int add_samples(struct waits *waits, struct nai_stats_rows *rows, const struct metrics *metrics,
                       const struct cards *cards, bool is_switch, int64_t threshold, struct nai_err *err) {
  enum { START, END, DEVICE, LIST, INDEX, VALUE };
  static const char *const columns[] = {"start", "end", "globalId", "metricsListId", "metricsIdx", "value", NULL};
  struct nai_stats_events e;
  NAI_TRY(nai_stats_load(&e, rows->source, is_switch ? "NET_IB_SWITCH_METRIC" : "NET_NIC_METRIC", columns, err));
  for (uint32_t i = 0; i < e.count; i++) {
    struct wait wait = {e.at[START][i], e.at[END][i], 0, e.at[VALUE][i], e.at[DEVICE][i], NAI_STATS_NULL};
    if (wait.rate <= threshold || !nai_stats_has_times(wait.start, wait.end) ||
        !tells_waits(metrics, e.at[LIST][i], e.at[INDEX][i]))
      continue;
    name_device(&wait, cards, is_switch);
    wait.ns = wait.end - wait.start;
    NAI_TRY(NAI_ROOM(waits->at, waits->capacity, rows->count, &rows->source->arena, err));
    waits->at[rows->count++] = wait;
  }
  return NAI_OK;
}

NAI_ORDER(by_start, struct wait, {a->start, b->start}, {a->end, b->end}, {a->guid, b->guid}, {b->rate, a->rate})

int nai_stats_make_congestion(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                              struct nai_err *err) {
  static const char *const columns[] = {"metricsListId", "metricsIdx", "$name", NULL};
  struct metrics metrics = {.source = rows->source};
  struct waits *waits = NULL;
  struct cards cards;
  NAI_TRY(NAI_NEW(waits, &rows->source->arena, 1, err));
  NAI_TRY(nai_stats_load(&metrics.names, rows->source, "TARGET_INFO_NETWORK_METRICS", columns, err));
  NAI_TRY(read_cards(&cards, rows->source, err));
  for (int is_switch = 0; is_switch < 2; is_switch++)
    NAI_TRY(add_samples(waits, rows, &metrics, &cards, is_switch, options->number[0], err));
  if (rows->count)
    qsort(waits->at, rows->count, sizeof *waits->at, by_start);
  nai_stats_show_records(rows, waits->at, sizeof *waits->at, rows->count, -1);
  return NAI_OK;
}

const struct nai_stats_column nai_stats_congestion_columns[] = {
    {"Start", NAI_STATS_STAMP, NAI_STATS_NUMBER(wait, start)},
    {"End", NAI_STATS_STAMP, NAI_STATS_NUMBER(wait, end)},
    {"Duration", NAI_STATS_TIME, NAI_STATS_NUMBER(wait, ns)},
    {"Send wait rate", 0, NAI_STATS_NUMBER(wait, rate)},
    {"GUID", NAI_STATS_ADDRESS, NAI_STATS_NUMBER(wait, guid)},
    {"Name", 0, NAI_STATS_WORDS(wait, name)},
    {0}};
