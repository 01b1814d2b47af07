/* Reports of programming models: OpenACC, OpenMP, MPI; and of video. Their events lie in several tables each. */
#include "features/stats/stats.h"

enum { START, END, NAME, FILE_NAME, LINE };

/* EVENT@FILE:LINE, or EVENT. */
static int add_place(int64_t *name, struct nai_stats_source *source, const struct nai_stats_events *e, uint32_t row,
                     struct nai_err *err) {
  int64_t file = e->at[FILE_NAME][row], line = e->at[LINE][row], text;
  if (file == NAI_STATS_NULL)
    return NAI_OK;
  NAI_TRY(nai_stats_name(&text, source, file, err));
  const char *event = nai_stats_text_of(source, *name), *path = nai_stats_text_of(source, text);
  if (!path)
    return NAI_OK;
  NAI_SCOPED(nai_buf) whole = {0};
  nai_buf_printf(&whole, "%s@%s:%lld", event ? event : "", path, line == NAI_STATS_NULL ? 0 : (long long)line);
  NAI_TRY(nai_buf_check(&whole, err));
  return nai_stats_text(name, source, nai_buf_str(&whole), err);
}

/* A name in two tables is two rows, but for OpenACC. */
static int add_table(struct nai_stats_groups *groups, struct nai_stats_source *source, const struct nai_stats_events *e,
                     int64_t table, int what, struct nai_err *err) {
  for (uint32_t i = 0; i < e->count; i++) {
    int64_t key[2] = {0, what == NAI_STATS_OPENACC_EVENTS ? 0 : table}, start = e->at[START][i], end = e->at[END][i];
    if (!nai_stats_has_times(start, end))
      continue;
    NAI_TRY(nai_stats_name(&key[0], source, e->at[NAME][i], err));
    if (what == NAI_STATS_OPENACC_EVENTS)
      NAI_TRY(add_place(&key[0], source, e, i, err));
    NAI_TRY(nai_stats_groups_add(groups, key, end - start, err));
  }
  return NAI_OK;
}

/* What lies between start and end of each row of the report's tables, by name and table. */
int nai_stats_make_events(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  const int what = options->report->what;
  const char *const columns[] = {"start",
                                 "end",
                                 what == NAI_STATS_MPI_EVENTS ? "textId" : "nameId",
                                 what == NAI_STATS_OPENACC_EVENTS ? "srcFile" : NULL,
                                 "lineNo",
                                 NULL};
  static const char *const mpi[] = {"p2p", "start-wait", "other", "collectives"}, *const video[] = {"Encoder",
                                                                                                    "Decoder", "JPEG"};
  static const char *const *const words[] = {
      [NAI_STATS_MPI_EVENTS] = mpi, [NAI_STATS_OPENACC_EVENTS] = NULL, [NAI_STATS_VIDEO_EVENTS] = video};
  struct nai_stats_groups groups;
  int64_t number = 0; /* of a table */
  NAI_TRY(nai_stats_groups_begin(&groups, rows->source, 2, 0, err));
  for (const char *const *family = options->report->tables; *family; family++) {
    const bool many = strchr(*family, '*');
    const char *table = many ? nai_stats_table(rows->source, *family, 0) : *family;
    for (int t = 0; table; table = many ? nai_stats_table(rows->source, *family, ++t) : NULL) {
      struct nai_stats_events events;
      NAI_TRY(nai_stats_load(&events, rows->source, table, columns, err));
      NAI_TRY(add_table(&groups, rows->source, &events, number++, what, err));
    }
  }
  NAI_TRY(nai_stats_show_groups(rows, &groups, 0, NAI_STATS_BY_NAME, err));
  return words[what] ? nai_stats_name_keys(&groups, rows->source, 1, words[what], err) : NAI_OK;
}

/* In 2022 without a blank. */
const struct nai_stats_column nai_stats_old_openacc_columns[] = {
    {"Time(%)", 0, NAI_STATS_PERCENT_OF_ALL}, {"Total Time", NAI_STATS_TIME, NAI_STATS_TOTAL},
    {"Num Calls", 0, NAI_STATS_COUNT},        NAI_STATS_SPREAD,
    {"Name", 0, NAI_STATS_KEY_NAME(0)},       {0}};
const struct nai_stats_column nai_stats_openmp_columns[] = {
    NAI_STATS_SUMS("Count"), {"Name", 0, NAI_STATS_KEY_NAME(0)}, {0}};

const struct nai_stats_column nai_stats_mpi_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Source", 0, NAI_STATS_KEY_WORDS(1)}, {"Name", 0, NAI_STATS_KEY_NAME(0)}, {0}};
const struct nai_stats_column nai_stats_video_columns[] = {
    NAI_STATS_SUMS("Num Calls"), {"Event Type", 0, NAI_STATS_KEY_WORDS(1)}, {"Name", 0, NAI_STATS_KEY_NAME(0)}, {0}};
