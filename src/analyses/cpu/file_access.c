/* Which files, and which system calls, does the program wait for? Tables file_access, syscalls. */
#include "analyses/analysis.h"
#include "base/keyset.h"
#include "base/sort.h"
#include "model/idle/process_gpu.h"
#include "tables/file_access.h"
#include "tables/file_events.h"
#include "tables/file_names.h"
#include "tables/syscall_events.h"
#include "tables/syscalls.h"
#include "tables/threads.h"

enum { MAX_FILES = 1000 };

/* Files of one process and path. */
struct file {
  int64_t pid, openings, ns;
  const char *path, *group;                             /* path NULL: those behind the first MAX_FILES */
  bool recorded;                                        /* it has a name, or was read or written */
  int64_t first_bytes, first_ns, later_bytes, later_ns; /* reads of paths that are opened again */
};

/* What is read through one opening. */
struct opening {
  int64_t path, start, end, bytes, ns;
  uint32_t file;
};

struct access {
  int64_t file, kind, start, end, bytes;
  bool launches; /* its thread launches GPU work */
};

struct work {
  const struct nai_node_io *io;
  const struct nai_model *m;
  struct nai_keyset openings, known; /* file_names.file; process and path */
  struct opening *opened;            /* by number in openings */
  struct file *files;
  struct access *v;
  uint32_t count;
  struct nai_process_gpu all; /* all GPUs */
};

NAI_ORDER(by_path, struct opening, {a->file, b->file}, {a->path, b->path}, {a->start, b->start}, {a->end, b->end},
          {a->bytes, b->bytes}, {a->ns, b->ns})
NAI_ORDER(by_file, struct access, {a->file, b->file}, {a->start, b->start}, {a->end, b->end}, {a->kind, b->kind},
          {a->bytes, b->bytes}, {a->launches, b->launches})

/* --- reading ---------------------------------------------------------------------------------- */

static int read_names(struct work *w, struct nai_err *err) {
  const struct nai_table *t = w->m->tables[NAI_IN_FILE_NAMES];
  const struct nai_column paths = nai_table_column(t, FILE_NAMES_path);
  bool added;
  NAI_TRY(NAI_NEW(w->opened, w->io->arena, (size_t)t->rows, err));
  NAI_TRY(NAI_NEW(w->files, w->io->arena, (size_t)t->rows + 1, err));
  for (int64_t i = 0; i < t->rows; i++) {
    struct FILE_NAMES_row row = FILE_NAMES_at(t, i);
    uint32_t opening = nai_keyset_add(&w->openings, row.file, &added);
    if (!added)
      continue;
    uint32_t at = nai_keyset_add(&w->known, nai_key_pair(row.pid, nai_at_text(&paths, (uint64_t)i)), &added);
    NAI_TRY(nai_memory_check(!w->openings.oom && !w->known.oom, err));
    if (added)
      w->files[at] =
          (struct file){.pid = row.pid, .path = *row.path ? row.path : NULL, .group = row.group, .recorded = *row.path};
    w->files[at].openings++;
    w->opened[opening] = (struct opening){.path = row.path_key, .start = INT64_MAX, .file = at};
  }
  return NAI_OK;
}

/* By thread: whether it launches what a GPU does. */
static int find_launchers(bool **out, const struct nai_model *m, struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, arena, m->thread_count, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (const struct nai_op *op = m->gpus[g].ops; op < m->gpus[g].ops + m->gpus[g].op_count; op++) {
      uint32_t call = nai_model_op_api(m, op);
      int64_t thread = call == NAI_NO_ROW ? -1 : nai_at(&m->apis.thread, call);
      if (thread >= 0 && thread < m->thread_count)
        (*out)[thread] = true;
    }
  return NAI_OK;
}

static int64_t thread_key(int64_t pid, int64_t tid) { return nai_key_pair(pid, (uint32_t)tid); }

static int read_accesses(struct work *w, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const struct nai_table *t = w->m->tables[NAI_IN_FILES], *threads = w->m->tables[NAI_IN_THREADS];
  struct nai_keyset known = {.arena = &arena};
  bool *launchers, *launches, added;
  NAI_TRY(find_launchers(&launchers, w->m, &arena, err));
  NAI_TRY(NAI_NEW(launches, &arena, (size_t)threads->rows, err));
  for (int64_t i = 0; i < threads->rows; i++)
    launches[nai_keyset_add(
        &known, thread_key(nai_get_i64(threads, i, THREADS_pid), nai_get_i64(threads, i, THREADS_tid)), &added)] |=
        launchers[i];
  NAI_TRY(nai_memory_check(!known.oom, err));
  NAI_TRY(NAI_NEW(w->v, w->io->arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    struct FILE_EVENTS_row row = FILE_EVENTS_at(t, i);
    uint32_t opening = nai_keyset_find(&w->openings, row.file);
    if (opening == UINT32_MAX)
      continue;
    struct opening *opened = &w->opened[opening];
    struct file *file = &w->files[opened->file];
    uint32_t thread = nai_keyset_find(&known, thread_key(file->pid, row.tid));
    file->ns += row.end_ns - row.start_ns;
    file->recorded |= row.kind == NAI_FILE_READ || row.kind == NAI_FILE_WRITE;
    if (row.kind == NAI_FILE_READ && row.bytes != NAI_NULL_I64 && row.bytes > 0) {
      opened->start = row.start_ns < opened->start ? row.start_ns : opened->start;
      opened->end = row.end_ns > opened->end ? row.end_ns : opened->end;
      opened->bytes += row.bytes;
      opened->ns += row.end_ns - row.start_ns;
    }
    w->v[w->count++] = (struct access){opened->file, row.kind,  row.start_ns,
                                       row.end_ns,   row.bytes, thread != UINT32_MAX && launches[thread]};
  }
  return NAI_OK;
}

/* A path that is opened again, and read once the first reading has ended: how fast was that, and how fast the others?
 */
static void find_passes(struct work *w) {
  const struct opening *v = w->opened, *first = v;
  uint32_t n = w->openings.count;
  if (n)
    qsort(w->opened, n, sizeof *v, by_path);
  for (const struct opening *o = v; o < v + n; o++) {
    bool same = o->file == first->file && o->path == first->path && o->path != NAI_NULL_I64;
    struct file *file = &w->files[o->file];
    if (!same)
      first = o;
    if (!same || o == first || !o->bytes || o->start < first->end)
      continue;
    bool second = o == first + 1 || (o - 1)->start < first->end;
    file->first_bytes += second ? first->bytes : 0;
    file->first_ns += second ? first->ns : 0;
    file->later_bytes += o->bytes;
    file->later_ns += o->ns;
  }
}

/* The longest first; equal ones by their names. */
static int by_time(const void *left, const void *right) {
  const struct file *a = *(const struct file *const *)left, *b = *(const struct file *const *)right;
  int order = NAI_COMPARE({b->ns, a->ns}, {a->pid, b->pid});
  return order ? order : strcmp(a->path ? a->path : "", b->path ? b->path : "");
}

/* Those behind the first MAX_FILES become one, behind all others. */
static int fold_files(struct work *w, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  uint32_t count = w->known.count;
  struct file **order;
  bool *others;
  if (count <= MAX_FILES)
    return NAI_OK;
  NAI_TRY(NAI_NEW(order, &arena, count, err));
  NAI_TRY(NAI_NEW(others, &arena, count, err));
  for (uint32_t i = 0; i < count; i++)
    order[i] = &w->files[i];
  qsort(order, count, sizeof *order, by_time);
  w->files[count] = (struct file){.pid = NAI_NULL_I64};
  for (uint32_t i = MAX_FILES; i < count; i++) {
    others[order[i] - w->files] = true;
    w->files[count].openings += order[i]->openings;
    w->files[count].recorded |= order[i]->recorded;
  }
  for (uint32_t i = 0; i < w->count; i++)
    w->v[i].file = others[w->v[i].file] ? count : w->v[i].file;
  return NAI_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Calls of a kind (0: all; below: of threads that launch) as a set. */
enum { ANY = 0, LAUNCHING = -1 };
static bool is_of(const struct access *a, int64_t kind) {
  return kind == ANY || (kind == LAUNCHING ? a->launches : a->kind == kind);
}
static int find_busy(struct nai_intervals *out, const struct access *v, uint32_t n, int64_t kind, struct nai_err *err) {
  out->arena = NULL;
  for (uint32_t i = 0; i < n; i++)
    if (is_of(&v[i], kind))
      nai_intervals_add(out, v[i].start, v[i].end);
  return nai_memory_check(!out->oom, err);
}
static int busy_ns(int64_t *ns, const struct access *v, uint32_t n, int64_t kind, const struct nai_intervals *within,
                   struct nai_err *err) {
  NAI_SCOPED(nai_intervals) busy = {0};
  NAI_SCOPED(nai_intervals) both = {0};
  NAI_TRY(find_busy(&busy, v, n, kind, err));
  if (within)
    nai_intervals_intersect(&both, &busy, within);
  *ns = nai_intervals_total_ns(within ? &both : &busy);
  return nai_memory_check(!both.oom, err);
}

/* GPUs of a process: by nai_process_gpu_free. */
static int find_gpus(struct nai_process_gpu *own, const struct nai_model *m, int64_t pid, struct nai_err *err) {
  int32_t process = nai_model_process(m, pid);
  return process < 0 ? NAI_OK : nai_process_gpu_find(own, m, process, err);
}

/* What a GPU loses meanwhile. */
static int put_idle(struct FILE_ACCESS_row *row, const struct work *w, const struct access *v, uint32_t n,
                    struct nai_err *err) {
  NAI_SCOPED(nai_process_gpu) own = {0};
  NAI_TRY(find_gpus(&own, w->m, row->pid, err));
  const struct nai_process_gpu *gpu = own.any ? &own : &w->all;
  int64_t active = nai_intervals_total_ns(&gpu->active);
  NAI_TRY(busy_ns(&row->concurrent_idle_ns, v, n, ANY, &gpu->idle, err));
  NAI_TRY(busy_ns(&row->launcher_idle_ns, v, n, LAUNCHING, &gpu->idle, err));
  row->device_id = own.any ? own.device_id : NAI_NULL_I64;
  if (active)
    row->launcher_idle_pct = nai_percent((double)row->launcher_idle_ns, (double)active);
  return NAI_OK;
}

/* Numbers of one kind of call: durations, or bytes. */
static uint32_t list(int64_t *out, const struct access *v, uint32_t n, int64_t kind, bool bytes) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++)
    if (v[i].kind == kind && (!bytes || (v[i].bytes != NAI_NULL_I64 && v[i].bytes > 0)))
      out[count++] = bytes ? v[i].bytes : v[i].end - v[i].start;
  return count;
}
static int64_t total(const int64_t *v, uint32_t n) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < n; i++)
    sum += v[i];
  return sum;
}

static void put_reads(struct FILE_ACCESS_row *row, const struct access *v, uint32_t n, int64_t *room) {
  row->read_count = list(room, v, n, NAI_FILE_READ, false);
  if (row->read_count)
    row->p99_read_ns = nai_quantile_i64(room, (uint32_t)row->read_count, 0.99);
  uint32_t sized = list(room, v, n, NAI_FILE_READ, true);
  row->read_bytes = total(room, sized);
  if (sized)
    row->median_read_bytes = nai_median_i64(room, sized);
  if (row->read_bytes && row->read_busy_ns)
    row->read_gb_per_s = (double)row->read_bytes / (double)row->read_busy_ns;
}

/* Calls on one file, by time. */
static int put(const struct work *w, const struct access *v, uint32_t n, int64_t *room, struct nai_err *err) {
  const struct file *file = &w->files[v->file];
  const struct access *longest = v;
  struct FILE_ACCESS_row row = NAI_ROW(FILE_ACCESS, .pid = file->pid, .file = file->path, .group = file->group,
                                       .file_count = file->openings, .metadata_count = 0);
  if (!file->recorded)
    return NAI_OK;
  NAI_TRY(busy_ns(&row.busy_ns, v, n, ANY, NULL, err));
  NAI_TRY(busy_ns(&row.open_ns, v, n, NAI_FILE_OPEN, NULL, err));
  NAI_TRY(busy_ns(&row.read_busy_ns, v, n, NAI_FILE_READ, NULL, err));
  NAI_TRY(busy_ns(&row.write_busy_ns, v, n, NAI_FILE_WRITE, NULL, err));
  NAI_TRY(put_idle(&row, w, v, n, err));
  put_reads(&row, v, n, room);
  row.open_count = list(room, v, n, NAI_FILE_OPEN, false);
  if (row.open_count)
    row.median_open_ns = (double)nai_median_i64(room, (uint32_t)row.open_count);
  row.write_count = list(room, v, n, NAI_FILE_WRITE, false);
  row.write_bytes = total(room, list(room, v, n, NAI_FILE_WRITE, true));
  for (uint32_t i = 0; i < n; i++) {
    row.metadata_count += v[i].kind == NAI_FILE_METADATA;
    longest = v[i].end - v[i].start > longest->end - longest->start ? &v[i] : longest;
  }
  if (file->first_ns && file->later_ns) {
    row.first_pass_bytes = file->first_bytes;
    row.first_pass_gb_per_s = (double)file->first_bytes / (double)file->first_ns;
    row.later_passes_gb_per_s = (double)file->later_bytes / (double)file->later_ns;
  }
  row.longest_start_ns = longest->start;
  row.longest_end_ns = longest->end;
  FILE_ACCESS_add(w->io->out[0], &row);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct work w = {.io = io, .m = io->model, .openings.arena = io->arena, .known.arena = io->arena};
  int64_t *room;
  if (!io->model->tables[NAI_IN_FILES]->rows || !io->model->tables[NAI_IN_FILE_NAMES]->rows)
    return NAI_OK;
  NAI_TRY(read_names(&w, err));
  NAI_TRY(read_accesses(&w, err));
  find_passes(&w);
  NAI_TRY(fold_files(&w, err));
  NAI_TRY(NAI_NEW(room, io->arena, w.count, err));
  if (w.count)
    qsort(w.v, w.count, sizeof *w.v, by_file);
  int rc = nai_process_gpu_find(&w.all, w.m, -1, err);
  for (uint32_t i = 0, j; !rc && i < w.count; i = j) {
    for (j = i + 1; j < w.count && w.v[j].file == w.v[i].file; j++)
      ;
    rc = put(&w, w.v + i, j - i, room, err);
  }
  nai_process_gpu_free(&w.all);
  return rc;
}

NAI_ANALYSIS(file_access, .outputs = NAI_SCHEMAS(&nai_file_access_schema),
             .parts = NAI_PART(GPUS) | NAI_PART(ACTIVE) | NAI_PART(PROCESS_GPUS) | NAI_PART(LAUNCHES),
             .tables = NAI_IN(FILES) | NAI_IN(FILE_NAMES) | NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(APIS),
             .run = run)

/* --- system calls ----------------------------------------------------------------------------- */

/* Calls of one name and process, by time. */
static int put_syscall(const struct work *w, const struct nai_strings *names, const struct access *v, uint32_t n,
                       int64_t *room, struct nai_err *err) {
  NAI_SCOPED(nai_process_gpu) own = {0};
  struct SYSCALLS_row row = NAI_ROW(SYSCALLS, .pid = v->file >> 32, .name = nai_strings_get(names, (uint32_t)v->file),
                                    .call_count = list(room, v, n, ANY, false), .total_time_ns = total(room, n));
  NAI_TRY(find_gpus(&own, w->m, row.pid, err));
  if (own.any)
    NAI_TRY(busy_ns(&row.launcher_idle_ns, v, n, LAUNCHING, &own.idle, err));
  row.max_duration_ns = (int64_t)nai_quantile_i64(room, n, 1);
  row.p50_duration_ns = (double)nai_median_i64(room, n);
  SYSCALLS_add(w->io->out[0], &row);
  return NAI_OK;
}

static int run_syscalls(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_table *t = io->model->tables[NAI_IN_SYSCALLS], *threads = io->model->tables[NAI_IN_THREADS];
  const struct nai_column names = nai_table_column(t, SYSCALL_EVENTS_name);
  struct work w = {.io = io, .m = io->model};
  bool *launches;
  int64_t *room;
  if (!t->rows)
    return NAI_OK;
  NAI_TRY(find_launchers(&launches, w.m, io->arena, err));
  NAI_TRY(NAI_NEW(w.v, io->arena, (size_t)t->rows, err));
  NAI_TRY(NAI_NEW(room, io->arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    struct SYSCALL_EVENTS_row row = SYSCALL_EVENTS_at(t, i);
    if (row.thread < 0)
      continue;
    int64_t pid = nai_get_i64(threads, row.thread, THREADS_pid), name = nai_at_text(&names, (uint64_t)i);
    w.v[w.count++] = (struct access){.file = nai_key_pair(pid, (uint32_t)name),
                                     .start = row.start_ns,
                                     .end = row.end_ns,
                                     .launches = launches[row.thread]};
  }
  if (w.count)
    qsort(w.v, w.count, sizeof *w.v, by_file);
  for (uint32_t i = 0, j; i < w.count; i = j) {
    for (j = i + 1; j < w.count && w.v[j].file == w.v[i].file; j++)
      ;
    NAI_TRY(put_syscall(&w, &t->strings, w.v + i, j - i, room, err));
  }
  return NAI_OK;
}

NAI_ANALYSIS(syscalls, .outputs = NAI_SCHEMAS(&nai_syscalls_schema),
             .parts = NAI_PART(GPUS) | NAI_PART(ACTIVE) | NAI_PART(PROCESS_GPUS) | NAI_PART(LAUNCHES),
             .tables = NAI_IN(SYSCALLS) | NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(APIS), .run = run_syscalls)
