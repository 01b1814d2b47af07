/* Stage extract: the normalised event tables. Every part of every source is read on whatever thread is free, into its own
 * rows of a pre-sized table with its own dictionaries; afterwards dictionaries are merged in part order (which makes ids
 * the same for any number of threads and parts) and the dictionary columns rewritten in place. */
#include "ingest/ingest.h"

#include "base/threads.h"
#include "ingest/identity.h"
#include "ingest/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SCANS = 16 }; /* feeds of all sources */

struct extraction {
  struct nai_ingest *out;
  struct nai_trace *trace;
  const struct nai_ingest_options *options;
  struct nai_scan scans[MAX_SCANS];
  const struct nai_source *scan_source[MAX_SCANS];
  const struct nai_feed *scan_feed[MAX_SCANS];
  int8_t slots[MAX_SCANS][NAI_MAX_FIELDS];
  int columns[MAX_SCANS][NAI_MAX_FIELDS];
  int scan_count;
  struct nai_part *parts;
  int part_count;
  struct nai_identity identity;
  struct nai_strings configs;
  struct remap *remaps; /* one per part */
  int64_t last_ns;
};

/* --- reading ---------------------------------------------------------------------------------------------------- */

static int on_row(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  struct nai_part *p = ctx;
  if (p->rows == p->limit)
    return nai_err_set(err, NAI_EINPUT, "row %" PRId64 ": more rows than the pages announced; the file is damaged", rowid);
  int rc = NAI_OK;
  int verdict = p->feed->row(p, p->first + p->rows, rowid, cells, &rc, err);
  if (rc)
    return rc;
  if (verdict == NAI_KEEP)
    p->rows++;
  else if (verdict >= 0)
    p->dropped[verdict]++;
  if (p->oom || p->threads.oom || p->devices.oom)
    return nai_err_nomem(err);
  return NAI_OK;
}

static int read_part(void *ctx, int task, struct nai_err *err) {
  struct extraction *x = ctx;
  struct nai_part *p = &x->parts[task];
  int rc = nai_scan_run(p->scan, p->scan_part, on_row, p, err);
  nai_lookup_close(p->lookup);
  p->lookup = NULL;
  return rc ? nai_err_wrap(err, "cannot read table: trace=\"%s\", table=\"%s\"", x->trace->path, p->scan->table) : NAI_OK;
}

static int open_scans(struct extraction *x, struct nai_err *err) {
  for (int s = 0; s < nai_source_count; s++) {
    for (int f = 0; f < nai_sources[s].feed_count; f++) {
      int i = x->scan_count;
      struct nai_scan *scan = &x->scans[i];
      char why[160];
      const struct nai_db_table *table =
          nai_feed_resolve(x->slots[i], x->columns[i], &scan->column_count, why, x->trace, &nai_sources[s].feeds[f]);
      if (!table)
        continue;
      scan->table = table->name;
      scan->columns = x->columns[i];
      x->scan_source[i] = &nai_sources[s];
      x->scan_feed[i] = &nai_sources[s].feeds[f];
      x->scan_count++;
      int rc = nai_scan_open(scan, x->trace, x->options->threads * 4, err);
      if (rc)
        return nai_err_wrap(err, "cannot read table: trace=\"%s\", table=\"%s\"", x->trace->path, table->name);
      x->part_count += scan->parts;
    }
  }
  return NAI_OK;
}

/* Creates the event tables, sized by what the scans announce, and hands each part its rows. */
static int lay_out_parts(struct extraction *x, struct nai_err *err) {
  x->parts = calloc((size_t)x->part_count + 1, sizeof *x->parts);
  if (!x->parts)
    return nai_err_nomem(err);
  int64_t offset = nai_get_i64(x->out->tables[NAI_IN_CAPTURE], 0, CA_TIME_OFFSET_NS);
  int next = 0;
  for (int s = 0; s < nai_source_count; s++) {
    const struct nai_source *source = &nai_sources[s];
    int64_t capacity = 0;
    int first_part = next;
    for (int i = 0; i < x->scan_count; i++) {
      for (int k = 0; x->scan_source[i] == source && k < x->scans[i].parts; k++) {
        struct nai_part *p = &x->parts[next++];
        p->feed = x->scan_feed[i];
        p->scan = &x->scans[i];
        p->scan_part = k;
        p->trace = x->trace;
        p->options = x->options;
        p->time_offset_ns = offset;
        memcpy(p->slot, x->slots[i], sizeof p->slot);
        p->first = capacity;
        p->limit = x->scans[i].part_rows[k];
        p->last_ns = INT64_MIN;
        capacity += p->limit;
      }
    }
    if (capacity >= UINT32_MAX)
      return nai_err_set(err, NAI_ELIMIT, "\"%s\": %" PRId64 " %s are more than the supported 4,294,967,294; use --trim on a part "
                         "of the capture or export fewer tables", x->trace->path, capacity, source->capability);
    const struct nai_schema *schema = nai_ingest_schemas[source->table];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.ntab", x->options->directory, schema->name);
    int rc = nai_table_create(&x->out->tables[source->table], schema, capacity, path, err);
    if (rc)
      return rc;
    for (int i = first_part; i < next; i++)
      x->parts[i].table = x->out->tables[source->table];
  }
  return NAI_OK;
}

/* --- merging ---------------------------------------------------------------------------------------------------- */

/* Local -> global ids of one part. */
struct remap {
  const struct nai_source *source;
  struct nai_part *part;
  uint32_t *names;
  int32_t *threads, *device_ids, *device_processes, *configs;
};

static int32_t *map_keys(const struct nai_keyset *local, const struct nai_keyset *global, const int32_t *result) {
  int32_t *map = malloc(((size_t)local->count + 1) * sizeof *map);
  for (uint32_t i = 0; map && i < local->count; i++)
    map[i] = result[nai_keyset_find(global, local->keys[i])];
  return map;
}

static int merge_part(struct extraction *x, struct remap *m, struct nai_err *err) {
  struct nai_part *p = m->part;
  m->names = malloc(((size_t)p->names.count + 1) * sizeof *m->names);
  if (!m->names)
    return nai_err_nomem(err);
  int rc = nai_strings_merge(m->names, &p->table->strings, &p->names, err);
  if (rc)
    return rc;
  m->configs = malloc(((size_t)p->configs.count + 1) * sizeof *m->configs);
  m->threads = map_keys(&p->threads, &x->identity.threads, x->identity.thread_row);
  m->device_ids = map_keys(&p->devices, &x->identity.devices, x->identity.device_id);
  m->device_processes = map_keys(&p->devices, &x->identity.devices, x->identity.device_process);
  if (!m->configs || !m->threads || !m->device_ids || !m->device_processes)
    return nai_err_nomem(err);
  return nai_strings_merge((uint32_t *)m->configs, &x->configs, &p->configs, err);
}

static void remap_i32(struct nai_part *p, int column, const int32_t *map) {
  int32_t *v = nai_column_i32(p->table, column) + p->first;
  for (int64_t i = 0; i < p->rows; i++)
    v[i] = map[v[i]];
}

/* Rewrites one part's dictionary columns and settles ranges left open. */
static int remap_part(void *ctx, int task, struct nai_err *err) {
  (void)err;
  struct extraction *x = ctx;
  struct remap *m = &x->remaps[task];
  struct nai_part *p = m->part;
  const struct nai_source *source = m->source;
  if (source->name_column >= 0) {
    uint32_t *v = nai_column_str(p->table, source->name_column) + p->first;
    for (int64_t i = 0; i < p->rows; i++)
      v[i] = m->names[v[i]];
  }
  if (source->thread_column >= 0)
    remap_i32(p, source->thread_column, m->threads);
  if (source->process_column >= 0) { /* rows carry the device key in whichever column is there; process goes first */
    int from = source->device_column >= 0 ? source->device_column : source->process_column;
    const int32_t *keys = nai_column_i32(p->table, from) + p->first;
    int32_t *process = nai_column_i32(p->table, source->process_column) + p->first;
    for (int64_t i = 0; i < p->rows; i++)
      process[i] = m->device_processes[keys[i]];
  }
  if (source->device_column >= 0)
    remap_i32(p, source->device_column, m->device_ids);
  if (source->config_column >= 0)
    remap_i32(p, source->config_column, m->configs);
  if (p->open_ranges) {
    int64_t *start = nai_column_i64(p->table, NE_START) + p->first, *end = nai_column_i64(p->table, NE_END) + p->first;
    for (int64_t i = 0; i < p->rows; i++)
      if (end[i] == NAI_NULL_I64) {
        int64_t length = x->last_ns > start[i] ? x->last_ns - start[i] : 0;
        end[i] = start[i] + (length < NAI_DURATION_LIMIT ? length : NAI_DURATION_LIMIT);
        nai_sum_add(&p->total_ns, end[i] - start[i]);
      }
  }
  return NAI_OK;
}

static int merge(struct extraction *x, struct nai_err *err) {
  bool added;
  x->last_ns = INT64_MIN;
  for (int i = 0; i < x->part_count; i++) {
    struct nai_part *p = &x->parts[i];
    for (uint32_t k = 0; k < p->threads.count; k++)
      nai_keyset_add(&x->identity.threads, p->threads.keys[k], &added);
    for (uint32_t k = 0; k < p->devices.count; k++)
      nai_keyset_add(&x->identity.devices, p->devices.keys[k], &added);
    if (p->last_ns > x->last_ns)
      x->last_ns = p->last_ns;
  }
  if (x->options->trim && x->last_ns > x->options->trim_end_ns)
    x->last_ns = x->options->trim_end_ns;
  if (x->identity.threads.oom || x->identity.devices.oom)
    return nai_err_nomem(err);
  int rc = nai_identity_resolve(&x->identity, x->out, x->trace, err);
  x->remaps = calloc((size_t)x->part_count + 1, sizeof *x->remaps);
  if (!rc && !x->remaps)
    rc = nai_err_nomem(err);
  for (int i = 0; !rc && i < x->part_count; i++) {
    x->remaps[i].part = &x->parts[i];
    for (int s = 0; s < nai_source_count; s++)
      if (x->out->tables[nai_sources[s].table] == x->parts[i].table)
        x->remaps[i].source = &nai_sources[s];
    rc = merge_part(x, &x->remaps[i], err);
  }
  if (!rc)
    rc = nai_parallel(x->options->threads, x->part_count, remap_part, x, err);
  return rc;
}

/* --- closing up ------------------------------------------------------------------------------------------------- */

static void move_rows(struct nai_table *table, int64_t to, int64_t from, int64_t rows) {
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    size_t size = nai_type_size(table->schema->columns[c].type);
    char *data = table->columns[c];
    memmove(data + (size_t)to * size, data + (size_t)from * size, (size_t)rows * size);
  }
}

/* Brings the parts' rows together where rows were dropped. */
static void compact(struct extraction *x) {
  for (int i = 0; i < x->part_count; i++) {
    struct nai_part *p = &x->parts[i];
    if (p->rows && p->table->rows != p->first)
      move_rows(p->table, p->table->rows, p->first, p->rows);
    p->table->rows += p->rows;
  }
}

static int keep_gpus(struct extraction *x, struct nai_err *err) {
  const struct nai_table *gpus = x->out->tables[NAI_IN_GPUS];
  for (int i = 0; i < x->options->gpu_count; i++) {
    bool known = false;
    for (int64_t g = 0; g < gpus->rows; g++)
      known |= nai_get_i64(gpus, g, GP_DEVICE) == x->options->gpus[i];
    if (known)
      continue;
    struct nai_buf list = {0};
    for (int64_t g = 0; g < gpus->rows; g++)
      nai_buf_printf(&list, "%s%" PRId64, g ? ", " : "", nai_get_i64(gpus, g, GP_DEVICE));
    nai_err_set(err, NAI_EUSAGE, "--gpu %" PRId64 ": the trace has no such GPU; it has: %s", x->options->gpus[i],
                list.len ? nai_buf_str(&list) : "none");
    nai_buf_free(&list);
    return NAI_EUSAGE;
  }
  for (int s = 0; s < nai_source_count; s++) {
    struct nai_table *table = x->out->tables[nai_sources[s].table];
    if (nai_sources[s].device_column < 0 || !x->options->gpu_count)
      continue;
    const int32_t *device = nai_column_i32(table, nai_sources[s].device_column);
    int64_t kept = 0;
    for (int64_t row = 0; row < table->rows; row++) {
      bool keep = false;
      for (int i = 0; i < x->options->gpu_count; i++)
        keep |= device[row] == x->options->gpus[i];
      if (keep && kept != row)
        move_rows(table, kept, row, 1);
      kept += keep;
    }
    table->rows = kept;
  }
  if (x->options->gpu_count) {
    struct nai_table *all = x->out->tables[NAI_IN_GPUS];
    int64_t kept = 0;
    for (int64_t row = 0; row < all->rows; row++)
      for (int i = 0; i < x->options->gpu_count; i++)
        if (nai_get_i64(all, row, GP_DEVICE) == x->options->gpus[i]) {
          move_rows(all, kept++, row, 1);
          break;
        }
    all->rows = kept;
  }
  return NAI_OK;
}

static const struct {
  const char *check, *detail;
} drops[NAI_DROP_COUNT] = {
    [NAI_DROP_NO_TIME] = {"rows-without-time", "start or end is NULL; dropped"},
    [NAI_DROP_TYPE] = {"rows-with-bad-type", "start or end is no integer; dropped"},
    [NAI_DROP_REVERSED] = {"rows-reversed", "end lies before start; dropped"},
    [NAI_DROP_ZERO] = {"rows-not-collected", "start and end are 0, which CUPTI writes when it could not measure; dropped"},
    [NAI_DROP_RANGE] = {"rows-out-of-range", "times no capture can have; dropped"},
};

/* Counts of one source table over its parts, reader and drops. */
static int note_scan(struct extraction *x, int s, struct nai_err *err) {
  const struct nai_scan *scan = &x->scans[s];
  int64_t dropped[NAI_DROP_COUNT] = {0}, open_ranges = 0, clipped = 0, bad_sizes = 0, rows = 0;
  uint64_t total_ns = 0, total_bytes = 0;
  for (int i = 0; i < x->part_count; i++) {
    const struct nai_part *p = &x->parts[i];
    if (p->scan != scan)
      continue;
    for (int d = 0; d < NAI_DROP_COUNT; d++)
      dropped[d] += p->dropped[d];
    open_ranges += p->open_ranges;
    clipped += p->clipped;
    rows += p->limit;
    bad_sizes += p->bad_sizes;
    if (__builtin_add_overflow(total_ns, p->total_ns, &total_ns))
      total_ns = UINT64_MAX;
    if (__builtin_add_overflow(total_bytes, p->total_bytes, &total_bytes))
      total_bytes = UINT64_MAX;
  }
  /* Everything later adds durations and sizes of one table in int64. */
  if (total_bytes > (uint64_t)INT64_MAX / 4)
    return nai_err_set(err, NAI_EINPUT, "table \"%s\": sizes add up to more than 2 EiB; they cannot be right", scan->table);
  if (total_ns > (uint64_t)INT64_MAX / 4)
    return nai_err_set(err, NAI_EINPUT, "table \"%s\": durations add up to more than 73 years; the times cannot be right",
                       scan->table);
  for (int d = 0; d < NAI_DROP_COUNT; d++)
    if (dropped[d])
      nai_ingest_note(x->out, drops[d].check, "warning", scan->table, dropped[d], drops[d].detail);
  if (open_ranges)
    nai_ingest_note(x->out, "open-ranges", "info", scan->table, open_ranges,
                    "ranges still open when the capture ended; counted until the last timestamp");
  if (bad_sizes)
    nai_ingest_note(x->out, "bad-sizes", "warning", scan->table, bad_sizes, "the size is no possible number of bytes; counted as 0");
  if (clipped)
    nai_ingest_note(x->out, "clipped-rows", "info", scan->table, clipped, "cut at the edges of the trimmed window");
  struct nai_table *readers = x->out->tables[NAI_IN_READERS];
  int64_t row = nai_table_add_row(readers);
  nai_set_str(readers, row, RD_TABLE, scan->table);
  nai_set_str(readers, row, RD_READER, scan->reader);
  nai_set_i64(readers, row, RD_ROWS, rows);
  nai_set_str(readers, row, RD_REASON, scan->reason);
  return NAI_OK;
}

static void write_configs(struct extraction *x) {
  struct nai_table *table = x->out->tables[NAI_IN_KERNEL_CONFIGS];
  for (uint32_t i = 0; i < x->configs.count; i++) {
    struct nai_launch_config config;
    memcpy(&config, nai_strings_get(&x->configs, i), sizeof config);
    int64_t row = nai_table_add_row(table);
    for (int c = 0; c < KC_COLUMNS; c++)
      nai_set_i64(table, row, c, config.values[c] == NAI_NULL_I32 ? INT64_MIN : config.values[c]);
  }
}

static int seal_table(void *ctx, int task, struct nai_err *err) {
  struct extraction *x = ctx;
  return nai_table_seal(x->out->tables[NAI_IN_FIRST_EVENTS + task], err);
}

static void free_extraction(struct extraction *x) {
  for (int i = 0; i < x->part_count && x->parts; i++) {
    struct nai_part *p = &x->parts[i];
    nai_lookup_close(p->lookup);
    nai_strings_free(&p->names);
    nai_strings_free(&p->raw);
    nai_strings_free(&p->configs);
    nai_keyset_free(&p->name_ids);
    nai_keyset_free(&p->threads);
    nai_keyset_free(&p->devices);
    free(p->raw_names);
    free(p->id_names);
    if (x->remaps) {
      free(x->remaps[i].names);
      free(x->remaps[i].threads);
      free(x->remaps[i].device_ids);
      free(x->remaps[i].device_processes);
      free(x->remaps[i].configs);
    }
  }
  free(x->parts);
  free(x->remaps);
  for (int i = 0; i < x->scan_count; i++)
    nai_scan_close(&x->scans[i]);
  nai_identity_free(&x->identity);
  nai_strings_free(&x->configs);
}

int nai_extract(struct nai_ingest *out, struct nai_trace *trace, const struct nai_ingest_options *options,
                struct nai_err *err) {
  struct extraction x = {.out = out, .trace = trace, .options = options};
  int rc = NAI_OK;
  for (int i = NAI_IN_READERS; !rc && i < NAI_IN_FIRST_EVENTS; i++)
    rc = nai_table_new(&out->tables[i], nai_ingest_schemas[i], err);
  if (!rc)
    rc = open_scans(&x, err);
  if (!rc)
    rc = lay_out_parts(&x, err);
  if (!rc)
    rc = nai_parallel(options->threads, x.part_count, read_part, &x, err);
  if (!rc)
    rc = merge(&x, err);
  if (!rc) {
    compact(&x);
    rc = keep_gpus(&x, err);
  }
  for (int s = 0; !rc && s < x.scan_count; s++)
    rc = note_scan(&x, s, err);
  if (!rc) {
    write_configs(&x);
    rc = nai_parallel(options->threads, NAI_IN_COUNT - NAI_IN_FIRST_EVENTS, seal_table, &x, err);
  }
  for (int i = NAI_IN_READERS; !rc && i < NAI_IN_FIRST_EVENTS; i++)
    rc = nai_table_check(out->tables[i], err);
  free_extraction(&x);
  return rc;
}
