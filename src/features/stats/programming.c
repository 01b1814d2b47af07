/* Reports of programming models: OpenACC, OpenMP, MPI; and of video. Their events lie in several tables each. */
#include "features/stats/stats.h"

static const char openacc_tables[] = "CUPTI_ACTIVITY_KIND_OPENACC_*", openmp_tables[] = "OPENMP_EVENT_KIND_*";

/* Adds what lies between start and end of each row of a table, by the keys that `key_of` makes. */
enum { START, END, NAME, FILE_NAME, LINE };
struct adding {
  struct nai_stats_source *source;
  struct nai_stats_groups *groups;
  const struct nai_stats_events *events;
  int64_t table; /* number of the table, from 0 */
};

static int add_rows(const struct adding *adding,
                    int (*key_of)(int64_t key[2], const struct adding *, uint32_t, struct nai_err *),
                    struct nai_err *err) {
  for (uint32_t i = 0; i < adding->events->count; i++) {
    int64_t key[2], start = adding->events->at[START][i], end = adding->events->at[END][i];
    if (!nai_stats_has_times(start, end))
      continue;
    NAI_TRY(key_of(key, adding, i, err));
    NAI_TRY(nai_stats_groups_add(adding->groups, key, end - start, err));
  }
  return NAI_OK;
}

enum { MAX_TABLES = 64 };

static int sum_tables(struct nai_stats_rows *rows, const char *const *tables, const char *const *columns,
                      int (*key_of)(int64_t key[2], const struct adding *, uint32_t, struct nai_err *),
                      struct nai_err *err) {
  struct nai_stats_events events[MAX_TABLES];
  struct nai_stats_groups *groups = NULL;
  uint64_t count = 0;
  int n = 0;
  NAI_TRY(NAI_NEW(groups, &rows->source->arena, 1, err));
  for (; tables[n] && n < MAX_TABLES; n++) {
    NAI_TRY(nai_stats_load(&events[n], rows->source, tables[n], columns, err));
    count += events[n].count;
  }
  NAI_TRY(nai_stats_groups_begin(groups, rows->source, 2, count, err));
  for (int t = 0; t < n; t++)
    NAI_TRY(add_rows(&(struct adding){rows->source, groups, &events[t], t}, key_of, err));
  return nai_stats_show_groups(rows, groups, 0, NAI_STATS_BY_NAME, err);
}

/* Tables by the begin of their names. */
static int sum_family(struct nai_stats_rows *rows, const char *family, const char *const *columns,
                      int (*key_of)(int64_t key[2], const struct adding *, uint32_t, struct nai_err *),
                      struct nai_err *err) {
  const char *tables[MAX_TABLES + 1] = {0};
  for (int t = 0; t < MAX_TABLES && (tables[t] = nai_stats_table(rows->source, family, t)); t++)
    ;
  return sum_tables(rows, tables, columns, key_of, err);
}

/* --- OpenACC --------------------------------------------------------------------------------------------- */

/* EVENT@FILE:LINE, or EVENT. */
static int openacc_key(int64_t key[2], const struct adding *adding, uint32_t row, struct nai_err *err) {
  struct nai_stats_source *source = adding->source;
  int64_t file = adding->events->at[FILE_NAME][row], line = adding->events->at[LINE][row], text;
  key[1] = 0;
  NAI_TRY(nai_stats_name(&key[0], source, adding->events->at[NAME][row], err));
  if (file == NAI_STATS_NULL)
    return NAI_OK;
  NAI_TRY(nai_stats_name(&text, source, file, err));
  const char *event = nai_stats_text_of(source, key[0]), *path = nai_stats_text_of(source, text);
  if (!path)
    return NAI_OK;
  NAI_SCOPED(nai_buf) whole = {0};
  nai_buf_printf(&whole, "%s@%s:%lld", event ? event : "", path, line == NAI_STATS_NULL ? 0 : (long long)line);
  NAI_TRY(nai_buf_check(&whole, err));
  return nai_stats_text(&key[0], source, nai_buf_str(&whole), err);
}

int nai_stats_make_openacc(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  static const char *const columns[] = {"start", "end", "nameId", "srcFile", "lineNo", NULL};
  (void)options;
  return sum_family(rows, openacc_tables, columns, openacc_key, err);
}

/* In 2022 without a blank. */
const struct nai_stats_column nai_stats_old_openacc_columns[] = {
    {"Time(%)", 0, nai_stats_cell_percent}, {"Total Time", NAI_STATS_TIME, nai_stats_cell_total},
    {"Num Calls", 0, nai_stats_cell_count}, NAI_STATS_SPREAD,
    {"Name", 0, nai_stats_cell_name},       {0}};

/* --- OpenMP ---------------------------------------------------------------------------------------------- */

/* A name in two tables is two rows. */
static int openmp_key(int64_t key[2], const struct adding *adding, uint32_t row, struct nai_err *err) {
  key[1] = adding->table;
  return nai_stats_name(&key[0], adding->source, adding->events->at[NAME][row], err);
}

int nai_stats_make_openmp(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  static const char *const columns[] = {"start", "end", "nameId", NULL};
  (void)options;
  return sum_family(rows, openmp_tables, columns, openmp_key, err);
}

const struct nai_stats_column nai_stats_openmp_columns[] = {
    NAI_STATS_SUMS("Count"), {"Name", 0, nai_stats_cell_name}, {0}};

/* --- MPI ------------------------------------------------------------------------------------------------- */

const char *const nai_stats_mpi_tables[] = {NAI_STATS_MPI, NULL};
static const char *const mpi_sources[] = {"p2p", "start-wait", "other", "collectives"};

int nai_stats_make_mpi(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  static const char *const columns[] = {"start", "end", "textId", NULL};
  (void)options;
  return sum_tables(rows, nai_stats_mpi_tables, columns, openmp_key, err);
}

int nai_stats_make_mpi_quartiles(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                                 struct nai_err *err) {
  rows->quartiles = true;
  return nai_stats_make_mpi(rows, options, err);
}

NAI_STATS_CELL(mpi_source, nai_stats_put_text(out, mpi_sources[nai_stats_group_of(rows, row)->key[1]]))

const struct nai_stats_column nai_stats_mpi_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Source", 0, mpi_source}, {"Name", 0, nai_stats_cell_name}, {0}};

/* --- video ----------------------------------------------------------------------------------------------- */

static const char *const video_tables[] = {"NVVIDEO_ENCODER_API", "NVVIDEO_DECODER_API", "NVVIDEO_JPEG_API", NULL};

int nai_stats_make_video(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  static const char *const columns[] = {"start", "end", "nameId", NULL};
  (void)options;
  return sum_tables(rows, video_tables, columns, openmp_key, err);
}

static void video_type(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  static const char *const types[] = {"Encoder", "Decoder", "JPEG"};
  nai_stats_put_text(out, types[nai_stats_group_of(rows, row)->key[1]]);
}

const struct nai_stats_column nai_stats_video_columns[] = {
    NAI_STATS_SUMS("Num Calls"), {"Event Type", 0, video_type}, {"Name", 0, nai_stats_cell_name}, {0}};
