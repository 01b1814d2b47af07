/* file_access_sum: files that the program opened, read and wrote, by process and path. */
#include "features/stats/stats.h"

#include "base/keyset.h"
#include "base/sort.h"

/* Kinds of events in OSRT_FILE_ACCESS_EVENTS; others count as time only. */
enum { OPEN = 1, READ = 3, WRITE = 4 };
enum { SMALL_BYTES = 64 * 1024, MANY = 1000 };

struct traffic {
  int64_t count, bytes, ns;
  double mean, rate;
};
struct file {
  int64_t process, path, access, small; /* path, access, small: of source->texts */
  int64_t opens, ns, first, last;
  struct traffic read, written;
};
struct files {
  struct nai_stats_source *source;
  struct nai_keyset known;       /* process and path */
  struct nai_keyset descriptors; /* ids, and the file of each */
  uint32_t *file_of;
  uint32_t descriptor_capacity, capacity;
  struct file *at;
};

static int find_file(uint32_t *out, struct files *files, int64_t process, int64_t path, struct nai_err *err) {
  bool added;
  *out = nai_keyset_add(&files->known, nai_key_pair(process, (uint32_t)path), &added);
  NAI_TRY(nai_memory_check(!files->known.oom, err));
  NAI_TRY(NAI_ROOM(files->at, files->capacity, *out, &files->source->arena, err));
  if (added)
    files->at[*out] = (struct file){.process = process, .path = path, .first = INT64_MAX, .last = INT64_MIN};
  return NAI_OK;
}

static int read_descriptors(struct files *files, struct nai_err *err) {
  static const char *const columns[] = {"fileAccessId", "processId", "$filePath", NULL};
  struct nai_stats_events e;
  bool added;
  NAI_TRY(nai_stats_load(&e, files->source, "OSRT_FILE_ACCESS_DESCRIPTORS", columns, err));
  for (uint32_t i = 0; i < e.count; i++) {
    uint32_t slot = nai_keyset_add(&files->descriptors, e.at[0][i], &added);
    NAI_TRY(nai_memory_check(!files->descriptors.oom, err));
    NAI_TRY(NAI_ROOM(files->file_of, files->descriptor_capacity, slot, &files->source->arena, err));
    int64_t path = e.at[2][i] == NAI_STATS_NULL ? NAI_NO_STRING : e.at[2][i];
    if (added)
      NAI_TRY(find_file(&files->file_of[slot], files, e.at[1][i], path, err));
  }
  return NAI_OK;
}

static void add_traffic(struct traffic *traffic, int64_t bytes, int64_t ns) {
  traffic->count++;
  nai_stats_add(&traffic->bytes, bytes == NAI_STATS_NULL ? 0 : bytes);
  nai_stats_add(&traffic->ns, ns);
}

static void add_event(struct file *file, int64_t type, int64_t start, int64_t end, int64_t bytes) {
  nai_stats_add(&file->ns, end - start);
  file->first = start < file->first ? start : file->first;
  file->last = end > file->last ? end : file->last;
  file->opens += type == OPEN;
  if (type == READ)
    add_traffic(&file->read, bytes, end - start);
  if (type == WRITE)
    add_traffic(&file->written, bytes, end - start);
}

static void describe_traffic(struct traffic *traffic) {
  traffic->mean = (double)traffic->bytes / (double)traffic->count; /* of none not finite: missing */
  traffic->rate = traffic->ns > 0 ? (double)traffic->bytes * 1e9 / (double)traffic->ns : NAN;
}

static bool is_small(const struct traffic *traffic) {
  return traffic->count > MANY && traffic->bytes / traffic->count < SMALL_BYTES;
}

static const char *access_name(const struct file *file) {
  return file->read.count && file->written.count ? "both"
       : file->read.count                        ? "read-only"
       : file->written.count                     ? "write-only"
                                                 : "none";
}

static const char *small_name(const struct file *file) {
  bool reads = is_small(&file->read), writes = is_small(&file->written);
  return reads && writes ? "both" : reads ? "reads" : writes ? "writes" : "";
}

static int describe(struct file *file, struct nai_stats_source *source, struct nai_err *err) {
  describe_traffic(&file->read);
  describe_traffic(&file->written);
  NAI_TRY(nai_stats_text(&file->access, source, access_name(file), err));
  return nai_stats_text(&file->small, source, small_name(file), err);
}

NAI_ORDER(by_time, struct file, {b->ns, a->ns}, {a->first, b->first}, {a->process, b->process}, {a->path, b->path})

int nai_stats_make_files(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  enum { ID, START, END, TYPE, BYTES };
  static const char *const columns[] = {"fileAccessId", "startedAt", "endedAt", "eventType", "bytesProcessed", NULL};
  struct nai_stats_events e;
  struct files *files = NULL;
  (void)options;
  NAI_TRY(NAI_NEW(files, &rows->source->arena, 1, err));
  files->source = rows->source;
  files->known.arena = files->descriptors.arena = &rows->source->arena;
  NAI_TRY(read_descriptors(files, err));
  NAI_TRY(nai_stats_load(&e, rows->source, "OSRT_FILE_ACCESS_EVENTS", columns, err));
  for (uint32_t i = 0; i < e.count; i++) {
    uint32_t slot = nai_keyset_find(&files->descriptors, e.at[ID][i]);
    if (slot == UINT32_MAX || !nai_stats_has_times(e.at[START][i], e.at[END][i]) ||
        !nai_stats_passes(&rows->source->filter, e.at[START][i], e.at[END][i]))
      continue;
    add_event(&files->at[files->file_of[slot]], e.at[TYPE][i], e.at[START][i], e.at[END][i], e.at[BYTES][i]);
  }
  for (uint32_t f = 0; f < files->known.count; f++) /* those that something was done with */
    if (files->at[f].first != INT64_MAX)
      files->at[rows->count++] = files->at[f];
  for (uint32_t f = 0; f < rows->count; f++)
    NAI_TRY(describe(&files->at[f], rows->source, err));
  if (rows->count)
    qsort(files->at, rows->count, sizeof *files->at, by_time);
  nai_stats_show_records(rows, files->at, sizeof *files->at, rows->count, -1);
  return NAI_OK;
}

/* --- columns ------------------------------------------------------------------------------------------------ */

#define FILE_(member) NAI_STATS_NUMBER(file, member)

const struct nai_stats_column nai_stats_file_columns[] = {
    {"Total Time", NAI_STATS_TIME, FILE_(ns)},
    {"PID", 0, FILE_(process)},
    {"Opens", 0, FILE_(opens)},
    {"Reads", 0, FILE_(read.count)},
    {"Bytes Read", NAI_STATS_MEMORY, FILE_(read.bytes)},
    {"Avg Read", NAI_STATS_MEMORY, NAI_STATS_MEASURE(file, read.mean)},
    {"Read Rate", NAI_STATS_RATE, NAI_STATS_MEASURE(file, read.rate)},
    {"Writes", 0, FILE_(written.count)},
    {"Bytes Written", NAI_STATS_MEMORY, FILE_(written.bytes)},
    {"Avg Write", NAI_STATS_MEMORY, NAI_STATS_MEASURE(file, written.mean)},
    {"Write Rate", NAI_STATS_RATE, NAI_STATS_MEASURE(file, written.rate)},
    {"Access", 0, NAI_STATS_WORDS(file, access)},
    {"Many Small", 0, NAI_STATS_WORDS(file, small)},
    {"First", NAI_STATS_STAMP, FILE_(first)},
    {"Last", NAI_STATS_STAMP, FILE_(last)},
    {"File", 0, NAI_STATS_WORDS(file, path)},
    {0}};
