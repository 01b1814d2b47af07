/* The catalog: where each event table comes from. One entry per normalised table; an entry names the export's tables it
 * can be fed from, the columns it wants with their older names, and the function that turns a row into cells.
 * Presence decides, never the version (docs/analyses.md, "Fallbacks"). Internal to src/ingest. */
#ifndef NAI_INGEST_SOURCE_H
#define NAI_INGEST_SOURCE_H

#include "ingest/ingest.h"
#include "base/keyset.h"
#include "base/spool.h"

enum { NAI_MAX_FIELDS = 32, NAI_MAX_FEEDS = 2, NAI_MAX_EVENT_COLUMNS = 16 };

/* Why a row was left out. */
enum nai_drop {
  NAI_DROP_NO_TIME,  /* start or end is NULL */
  NAI_DROP_TYPE,     /* start or end is not an integer */
  NAI_DROP_REVERSED, /* end before start */
  NAI_DROP_ZERO,     /* start and end both 0: CUPTI's "not collected" */
  NAI_DROP_RANGE,    /* times no capture can have */
  NAI_DROP_COUNT,
  NAI_KEEP = -1,
  NAI_SKIP = -2 /* not an event of this kind, or outside --trim */
};

/* Rows of a part once they are packed. Dictionary columns hold the part's own indexes. */
struct nai_chunk {
  struct nai_column columns[NAI_MAX_EVENT_COLUMNS]; /* none where another column tells its cells (write.c) */
  size_t at[NAI_MAX_EVENT_COLUMNS];                 /* of the cells in the part's spool */
  uint32_t rows;
};

/* Cells of a row lie apart by more than a power of two, or they would all fight for the same lines of the cache. */
enum { NAI_OPEN_ROWS = 8192, NAI_OPEN_STRIDE = NAI_OPEN_ROWS + 40 };

/* From a part's dictionaries to those of the whole trace: its index -> the cell in the event table. */
struct nai_remap {
  int64_t *names, *threads, *device_ids, *device_processes, *configs;
};

/* One part of one feed while it is read; the only object a row function touches. */
struct nai_part {
  /* what to read */
  const struct nai_source *source;
  const struct nai_feed *feed;
  struct nai_scan *scan;
  int scan_part;
  struct nai_trace *trace;
  const struct nai_ingest_options *options;
  int64_t time_offset_ns;      /* subtracted from every time */
  int8_t slot[NAI_MAX_FIELDS]; /* field -> cell of the scan, -1 when the export lacks the column */
  /* where to write: the newest rows lie open, those before them packed */
  int64_t limit, rows; /* rows read, at most limit of them */
  int64_t first;       /* the first one's number in the table; known once all is read */
  int64_t *open_cells; /* NAI_OPEN_STRIDE per column; NAI_NULL_I64 for NULL */
  uint32_t open_rows;
  struct nai_chunk *chunks;
  uint32_t chunk_count, chunk_capacity;
  struct nai_spool spool;                          /* the chunks' cells */
  struct nai_extent extent[NAI_MAX_EVENT_COLUMNS]; /* of the packed rows' cells */
  /* dictionaries of this part; cells hold their local indexes until the parts are merged */
  struct nai_strings names; /* clean, canonical names */
  struct nai_strings raw;   /* raw texts seen, raw_names[i] = name of raw text i */
  uint32_t *raw_names, raw_capacity;
  struct nai_keyset name_ids; /* StringIds ids seen, id_names[i] = name of id i or NAI_NO_STRING when missing */
  uint32_t *id_names, id_capacity;
  struct nai_keyset threads;  /* globalTid */
  struct nai_keyset devices;  /* process key | device ordinal (NAI_DEVICE_UNKNOWN when missing) */
  struct nai_strings configs; /* struct nai_launch_config as bytes */
  struct nai_lookup *lookup;  /* StringIds, opened on first use */
  struct nai_remap remap;     /* known once merged */
  /* what was noticed */
  int64_t dropped[NAI_DROP_COUNT];
  int64_t open_ranges, clipped, bad_sizes;
  int64_t last_ns;                /* latest time seen */
  uint64_t total_ns, total_bytes; /* sums of durations and sizes, saturating */
  bool oom;
};

enum { NAI_DEVICE_UNKNOWN = 0xffffff };

/* Where a row function puts a cell of open row `at`. */
static inline int64_t *nai_part_cell(const struct nai_part *p, int column, int64_t at) {
  return &p->open_cells[(size_t)column * NAI_OPEN_STRIDE + (size_t)at];
}

/* No capture spans more than 2^50 ns (13 days) or lies beyond 2^61 ns (73 years). */
#define NAI_TIME_LIMIT ((int64_t)1 << 61)
#define NAI_DURATION_LIMIT ((int64_t)1 << 50)

/* Adds what is not negative; stays at the largest number once there. */
static inline void nai_sum_add(uint64_t *sum, int64_t value) {
  if (__builtin_add_overflow(*sum, (uint64_t)value, sum))
    *sum = UINT64_MAX;
}

struct nai_launch_config {
  int32_t values[KC_COLUMNS];
};

struct nai_field {
  const char *names[3]; /* newest first */
  bool required;
};

struct nai_feed {
  const char *tables[3]; /* candidates, first present wins; also NAME_V<n>, highest n first */
  const struct nai_field *fields;
  int field_count;
  /* Fills row `at` of the part's open rows. NAI_KEEP, NAI_SKIP or a drop reason; a negative error below NAI_SKIP is
   * impossible: out of memory is part->oom. `err` receives lookup failures, reported through *rc. */
  int (*row)(struct nai_part *part, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
             struct nai_err *err);
};

struct nai_source {
  enum nai_ingest_table table;
  const char *capability;                                                       /* e.g. "kernels" */
  const char *disables;                                                         /* what an analysis lacks without it */
  int name_column, thread_column, device_column, process_column, config_column; /* dictionary columns, -1 = none */
  struct nai_feed feeds[NAI_MAX_FEEDS];
  int feed_count;
};

extern const struct nai_source nai_sources[];
extern const int nai_source_count;

/* The export's table that serves a feed and its columns; NULL when there is none (missing required columns are named in
 * `why`, 160 bytes). A table that is not plain is returned without columns: it is to be refused. slot and columns
 * describe the scan. */
const struct nai_db_table *nai_feed_resolve(int8_t slot[NAI_MAX_FIELDS], int columns[NAI_MAX_FIELDS], int *column_count,
                                            char why[160], const struct nai_trace *trace, const struct nai_feed *feed);

#endif
