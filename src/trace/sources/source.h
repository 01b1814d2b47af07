/* The catalog: where each event table comes from. One entry per normalised table; an entry names the export's tables it
 * can be fed from, the columns it wants with their older names, and the function that turns a row into cells.
 * Presence decides, never the version (docs/analyses.md, "Fallbacks"). Internal to src/trace. */
#pragma once

#include "trace/ingest.h"
#include "base/keyset.h"
#include "base/sink.h"
#include "tables/kernel_configs.h"

enum { NAI_MAX_FIELDS = 48, NAI_MAX_FEEDS = 18, NAI_MAX_EVENT_COLUMNS = 24 };

/* What the cells of a column are while a part is read: numbers of a dictionary of the part, or the values. Follows from
 * what the column is declared to refer to (nai_dictionary_of). */
enum nai_dictionary {
  NAI_VALUES,
  NAI_NAMES,     /* text */
  NAI_THREADS,   /* globalTid -> row of threads */
  NAI_DEVICES,   /* process key | CUDA ordinal -> device id */
  NAI_PROCESSES, /* the same keys -> row of processes; without cells where there is a column of devices, too */
  NAI_RECORDS,   /* rows of the source's table of records */
  NAI_SIZES,     /* rows of nvtx_sizes */
};

/* Why a row was left out. */
enum nai_drop {
  NAI_DROP_NO_TIME,  /* start or end is NULL */
  NAI_DROP_TYPE,     /* start or end is not an integer */
  NAI_DROP_REVERSED, /* end before start */
  NAI_DROP_ZERO,     /* start and end both 0: CUPTI's "not collected" */
  NAI_DROP_RANGE,    /* times no capture can have */
  NAI_DROP_VALUE,    /* what the row is about is missing or cannot be */
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
  int64_t *names, *threads, *device_ids, *device_processes, *records, *sizes;
};

/* Of a domain: process key and domain id. Of a metric: type id and metric id. */
struct nai_record_key {
  int64_t scope, id;
};

/* What PyTorch writes behind a range name: NAI_NULL_I64, NAI_NO_STRING where it does not. */
struct nai_suffix {
  int64_t seq, op_id;
  uint32_t sizes; /* in the part's sizes */
  bool lost;      /* the suffix cannot be put together from these: ", seq = 5, op_id = 7, sizes = [[2, 3]]" */
};

/* One feed of a source, and where its rows come from: a table of the export is read once for all that it feeds. */
struct nai_intake {
  const struct nai_source *source;
  const struct nai_feed *feed;
  int scan;                    /* index of the extraction's scans */
  int8_t slot[NAI_MAX_FIELDS]; /* field -> cell of the scan, NAI_NO_CELL when the export lacks the column */
  bool picks;                  /* there are fields that are NAI_ONE_OF; */
  uint64_t one_of;             /* their cells, as bits */
};

enum { NAI_LAST_RECORDS = 16, NAI_LATELY = 1024 };
/* One part of one intake while it is read; the only object a row function touches. */
struct nai_part {
  /* what to read */
  const struct nai_intake *intake;
  const struct nai_source *source;               /* of the intake */
  const struct nai_cell *fields[NAI_MAX_FIELDS]; /* of the scan, which has one array of cells for all rows */
  struct nai_scan *scan;
  int scan_part;
  struct nai_part *shares; /* while parts are read: the next one that is fed from the same rows */
  bool leads;              /* no other comes before it */
  struct nai_trace *trace;
  const struct nai_ingest_options *options;
  int64_t time_offset_ns; /* subtracted from every time */
  /* where to write: the newest rows lie open, those before them packed */
  bool damaged; /* nothing of it is to be used (`why`) */
  char why[160];
  int failed; /* to look a name up, which is no fault of its table's: the code of what `err` says */
  struct nai_err *err;
  int64_t read, first_rowid, last_rowid; /* rows of the export; rowids of the first and the last */
  int64_t limit, rows;                   /* rows kept; the scan reads at most limit of them */
  int64_t first;                         /* the first one's number in the table; known once all is read */
  int64_t *open_cells;                   /* NAI_OPEN_STRIDE per column; NAI_NULL_I64 for NULL */
  int64_t *row;                          /* of these: where the row that is being read goes */
  uint32_t open_rows;
  struct nai_arena rows_arena; /* until they are written */
  struct nai_chunk *chunks;
  uint32_t chunk_count, chunk_capacity;
  struct nai_file_sink spool;                      /* the chunks' cells */
  struct nai_extent extent[NAI_MAX_EVENT_COLUMNS]; /* of the packed rows' cells */
  /* dictionaries of this part; cells hold their local indexes until the parts are merged */
  struct nai_arena reading; /* for as long as it is read */
  struct nai_arena arena;
  struct nai_strings names; /* clean, canonical names */
  struct nai_strings raw;   /* raw texts seen, raw_names[i] = name of raw text i */
  uint32_t *raw_names, raw_capacity;
  uint32_t lately[NAI_LATELY]; /* raw names of ranges + 1, by what their texts begin with and how long they are */
  struct nai_keyset name_ids;  /* StringIds ids seen, id_names[i] = name of id i or NAI_NO_STRING when missing */
  uint32_t *id_names, id_capacity;
  struct nai_suffix *id_suffixes; /* of NVTX texts */
  uint32_t suffix_capacity;
  uint32_t *id_versions, version_capacity; /* what was cut off the names of CUDA calls; in names */
  uint32_t api_version;                    /* that of the call asked for last */
  struct nai_keyset threads;               /* globalTid */
  struct nai_keyset devices;               /* process key | device ordinal (NAI_DEVICE_UNKNOWN when missing) */
  struct nai_strings records;              /* what rows share, as bytes: nai_launch_config or nai_record_key */
  struct nai_last_record {
    struct nai_record_key key;
    uint32_t number;        /* of the record + 1 */
  } last[NAI_LAST_RECORDS]; /* asked for before, by scope and id: neighbours tend to repeat, threads take turns */
  struct nai_strings record_names;        /* names of records, as far as they have one: */
  uint32_t *record_name, record_capacity; /* of record i, NAI_NO_STRING for none */
  struct nai_strings sizes;
  bool too_many_sizes;       /* more than NAI_MAX_SIZES: none are kept */
  struct nai_lookup *lookup; /* StringIds, opened on first use; NULL also where the export has none */
  struct nai_remap remap;    /* known once merged */
  /* what was noticed */
  int64_t dropped[NAI_DROP_COUNT];
  int64_t open_ranges, clipped, bad_sizes, long_payloads, cut_names, doubtful_names;
  int64_t last_ns;                /* latest time seen */
  uint64_t total_ns, total_bytes; /* sums of durations and sizes, saturating */
  bool oom;
};

enum { NAI_DEVICE_UNKNOWN = 0xffffff };

/* Where a row function puts a cell. */
static inline int64_t *nai_part_cell(const struct nai_part *p, int column) {
  return &p->row[(size_t)column * NAI_OPEN_STRIDE];
}

/* The process of a serialized id of a process or thread. */
static inline int64_t nai_process_key(int64_t global_id) {
  return (int64_t)((uint64_t)global_id & 0xFFFFFFFFFF000000u);
}

/* No capture spans more than 2^50 ns (13 days) or lies beyond 2^61 ns (73 years). */
#define NAI_TIME_LIMIT ((int64_t)1 << 61)
#define NAI_DURATION_LIMIT ((int64_t)1 << 50)

/* Stays at the largest number once there. */
static inline void nai_sum_add(uint64_t *sum, uint64_t value) {
  if (__builtin_add_overflow(*sum, value, sum))
    *sum = UINT64_MAX;
}

struct nai_launch_config {
  int32_t values[KERNEL_CONFIGS_COLUMN_COUNT];
};

#define NAI_NO_SUFFIX ((struct nai_suffix){NAI_NULL_I64, NAI_NULL_I64, NAI_NO_STRING, false})

/* Different texts of sizes that are kept. More are no help to anybody, and would be many in every part. */
enum { NAI_MAX_SIZES = 4096 };

enum nai_need {
  NAI_OPTIONAL,
  NAI_EXTRA,  /* optional, and no loss worth a word */
  NAI_ONE_OF, /* the same, and a row in which all of these are NULL is skipped */
  NAI_REQUIRED,
  NAI_ABOUT,   /* required, and a row in which it is no integer is dropped: it does not say what it is about */
  NAI_FOREIGN, /* a table that has this column is another one */
};

struct nai_field {
  const char *names[3]; /* newest first */
  enum nai_need need;
};

struct nai_feed {
  const char *tables[3]; /* candidates, first present wins; also NAME_V<n>, highest n first */
  const struct nai_field *fields;
  int field_count;
  /* Fills the part's open row. NAI_KEEP, NAI_SKIP or a drop reason; failures are part->failed and part->oom. */
  int (*row)(struct nai_part *part);
  int kind;   /* for the row function, where feeds share one */
  bool quiet; /* most exports lack it, which is no loss: nothing is said of it then */
};

struct nai_source {
  enum nai_input_table table;
  const char *capability;       /* e.g. "kernels" */
  const char *disables;         /* what an analysis lacks without it */
  enum nai_input_table records; /* the table its records become; 0 for none */
  bool vital;                   /* without its rows numbers of other tables would be wrong */
  uint64_t brings;              /* set of small tables that it refers to or that tell how to read it */
  /* Tells about processes, threads and GPUs that other sources introduce; does not say how long the trace is. */
  bool witness;
  const char *only_with; /* read only from exports with this table, without which it has nothing to tell; or NULL */
  struct nai_feed feeds[NAI_MAX_FEEDS + 1]; /* end with one without a row function */
};

/* source_gpu.c, source_memory.c, source_host.c, source_cpu.c, source_nvtx.c */
extern const struct nai_source nai_source_kernels, nai_source_memops, nai_source_graphs, nai_source_syncs,
    nai_source_cuda_events, nai_source_gpu_metric_samples, nai_source_nic_samples, nai_source_gpu_switches,
    nai_source_host_functions, nai_source_memory_usage, nai_source_memory_pools, nai_source_um_faults, nai_source_apis,
    nai_source_overhead, nai_source_graph_nodes, nai_source_graph_creations, nai_source_jit, nai_source_libraries,
    nai_source_mpi, nai_source_ucx, nai_source_openacc, nai_source_openmp, nai_source_osrt, nai_source_files,
    nai_source_syscalls, nai_source_sched, nai_source_samples, nai_source_callchains, nai_source_diagnostics,
    nai_source_nvtx, nai_source_nvtx_payloads;

extern const struct nai_source *const nai_sources[];
extern const int nai_source_count;

/* Whose numbers the cells of a column are. */
enum nai_dictionary nai_dictionary_of(const struct nai_source *source, int column);
/* The column that holds a dictionary's numbers, -1 for none. */
int nai_source_column(const struct nai_source *source, enum nai_dictionary dictionary);
/* Whether an export has what the source is about at all. */
bool nai_source_applies(const struct nai_source *source, const struct nai_trace *trace);
/* The tables asked for and those they refer to. */
uint64_t nai_ingest_closure(uint64_t tables);

/* The export's table that serves a feed and its columns; NULL when there is none (missing required columns are named in
 * `why`, 160 bytes). A table that is not plain is returned without columns: it is to be refused. slot and columns
 * describe the scan. */
const struct nai_db_table *nai_feed_resolve(int8_t slot[NAI_MAX_FIELDS], int columns[NAI_MAX_FIELDS], int *column_count,
                                            char why[160], const struct nai_trace *trace, const struct nai_feed *feed);
