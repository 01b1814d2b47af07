/* Unified memory: migrations and page faults by address, in all, and by instruction. */
#include "features/stats/stats.h"

#include "base/sort.h"

enum { TO_DEVICE = 11, TO_HOST = 12 }; /* copyKind of migrations */
enum { START, END, KIND, BYTES, ADDRESS };
enum { FAULT_ADDRESS, FAULT_NUMBER }; /* of faults; or the instruction */

struct memory {
  struct nai_stats_events copies, cpu_faults, gpu_faults;
};

static int load(struct memory *out, struct nai_stats_source *source, struct nai_err *err) {
  static const char *const copies[] = {"start", "end", "copyKind", "bytes", "virtualAddress", NULL};
  static const char *const cpu[] = {"address", "CpuInstruction", NULL};
  static const char *const gpu[] = {"address", "numberOfPageFaults", NULL};
  NAI_TRY(nai_stats_load(&out->copies, source, "CUPTI_ACTIVITY_KIND_MEMCPY", copies, err));
  NAI_TRY(nai_stats_load(&out->cpu_faults, source, "CUDA_UM_CPU_PAGE_FAULT_EVENTS", cpu, err));
  return nai_stats_load(&out->gpu_faults, source, "CUDA_UM_GPU_PAGE_FAULT_EVENTS", gpu, err);
}

/* What NAI_STATS_NULL was and now counts. */
static void add(int64_t *sum, int64_t value) {
  if (value != NAI_STATS_NULL) {
    *sum = *sum == NAI_STATS_NULL ? 0 : *sum;
    nai_stats_add(sum, value);
  }
}

/* --- by address ------------------------------------------------------------------------------------------ */

/* Sums of one address, NAI_STATS_NULL where there is nothing. */
struct place {
  int64_t address, to_device, to_host, cpu_faults, gpu_faults, ns;
  double rate; /* bytes per second, not finite: no migration */
};
struct places {
  struct nai_strings known;
  struct place *at;
  uint32_t capacity;
};

static int find(struct place **out, struct places *places, int64_t address, struct nai_stats_source *source,
                struct nai_err *err) {
  uint32_t before = places->known.count;
  uint32_t slot = nai_strings_add(&places->known, (const char *)&address, sizeof address);
  NAI_TRY(nai_memory_check(slot != NAI_NO_STRING, err));
  NAI_TRY(NAI_ROOM(places->at, places->capacity, slot, &source->arena, err));
  *out = &places->at[slot];
  if (slot == before)
    **out = (struct place){address, NAI_STATS_NULL, NAI_STATS_NULL, NAI_STATS_NULL, NAI_STATS_NULL, NAI_STATS_NULL, 0};
  return NAI_OK;
}

static int add_migrations(struct places *places, const struct nai_stats_events *copies, struct nai_stats_source *source,
                          struct nai_err *err) {
  for (uint32_t i = 0; i < copies->count; i++) {
    struct place *place = NULL;
    int64_t kind = copies->at[KIND][i], start = copies->at[START][i], end = copies->at[END][i];
    if ((kind != TO_DEVICE && kind != TO_HOST) || copies->at[ADDRESS][i] == NAI_STATS_NULL ||
        !nai_stats_has_times(start, end))
      continue;
    NAI_TRY(find(&place, places, copies->at[ADDRESS][i], source, err));
    add(kind == TO_DEVICE ? &place->to_device : &place->to_host, copies->at[BYTES][i]);
    add(&place->ns, end - start);
  }
  return NAI_OK;
}

static int add_faults(struct places *places, const struct nai_stats_events *faults, bool gpu,
                      struct nai_stats_source *source, struct nai_err *err) {
  for (uint32_t i = 0; i < faults->count; i++) {
    struct place *place = NULL;
    if (faults->at[FAULT_ADDRESS][i] == NAI_STATS_NULL)
      continue;
    NAI_TRY(find(&place, places, faults->at[FAULT_ADDRESS][i], source, err));
    add(gpu ? &place->gpu_faults : &place->cpu_faults, gpu ? faults->at[FAULT_NUMBER][i] : 1);
  }
  return NAI_OK;
}

static double rate_of(const struct place *place) {
  int64_t bytes = 0;
  if (place->ns == NAI_STATS_NULL || place->ns <= 0)
    return -(double)INFINITY;
  add(&bytes, place->to_device);
  add(&bytes, place->to_host);
  return nai_stats_rate(bytes, place->ns);
}

static int by_rate(const void *left, const void *right) {
  const struct place *a = left, *b = right;
  return a->rate != b->rate ? (a->rate < b->rate ? 1 : -1) : NAI_COMPARE({a->address, b->address});
}

/* Copies alone are no unified memory. */
static bool has_data(const struct memory *memory, const struct nai_stats_source *source) {
  bool any = nai_stats_table(source, "CUDA_UM_CPU_PAGE_FAULT_EVENTS", 0) ||
             nai_stats_table(source, "CUDA_UM_GPU_PAGE_FAULT_EVENTS", 0);
  for (uint32_t i = 0; i < memory->copies.count && !any; i++)
    any = memory->copies.at[KIND][i] == TO_DEVICE || memory->copies.at[KIND][i] == TO_HOST;
  return any;
}

int nai_stats_make_um(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  struct places *places = NULL;
  struct memory memory;
  NAI_TRY(NAI_NEW(places, &rows->source->arena, 1, err));
  places->known.arena = &rows->source->arena;
  NAI_TRY(load(&memory, rows->source, err));
  rows->absent = !has_data(&memory, rows->source);
  NAI_TRY(add_migrations(places, &memory.copies, rows->source, err));
  NAI_TRY(add_faults(places, &memory.cpu_faults, false, rows->source, err));
  NAI_TRY(add_faults(places, &memory.gpu_faults, true, rows->source, err));
  uint32_t count = places->known.count;
  for (uint32_t i = 0; i < count; i++)
    places->at[i].rate = rate_of(&places->at[i]);
  if (count)
    qsort(places->at, count, sizeof *places->at, by_rate);
  nai_stats_show_records(rows, places->at, sizeof *places->at, count, options->rows);
  return NAI_OK;
}

/* In 2022 a blank stood before GPU. */
#define PLACE(gpu)                                                                                                \
  {"Virtual Address", NAI_STATS_ADDRESS, NAI_STATS_NUMBER(place, address)},                                       \
      {"HtoD Migration size", NAI_STATS_MEMORY, NAI_STATS_NUMBER(place, to_device)},                              \
      {"DtoH Migration size", NAI_STATS_MEMORY, NAI_STATS_NUMBER(place, to_host)},                                \
      {"CPU Page Faults", 0, NAI_STATS_NUMBER(place, cpu_faults)}, {gpu, 0, NAI_STATS_NUMBER(place, gpu_faults)}, \
      {"Migration Throughput", NAI_STATS_RATE, NAI_STATS_MEASURE(place, rate)}, {                                 \
    0                                                                                                             \
  }
const struct nai_stats_column nai_stats_um_columns[] = {PLACE("GPU Page Faults")};
const struct nai_stats_column nai_stats_old_um_columns[] = {PLACE(" GPU Page Faults")};

/* --- in all ---------------------------------------------------------------------------------------------- */

struct totals {
  int64_t to_device, to_host, cpu_faults, gpu_faults, least, most;
};

static void widen(struct totals *totals, int64_t address) {
  if (address == NAI_STATS_NULL)
    return;
  totals->least = totals->least == NAI_STATS_NULL || address < totals->least ? address : totals->least;
  totals->most = totals->most == NAI_STATS_NULL || address > totals->most ? address : totals->most;
}

int nai_stats_make_um_totals(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                             struct nai_err *err) {
  struct memory memory;
  struct totals *totals = NULL;
  (void)options;
  NAI_TRY(NAI_NEW(totals, &rows->source->arena, 1, err));
  NAI_TRY(load(&memory, rows->source, err));
  rows->absent = !has_data(&memory, rows->source);
  *totals = (struct totals){NAI_STATS_NULL, NAI_STATS_NULL, memory.cpu_faults.count,
                            NAI_STATS_NULL, NAI_STATS_NULL, NAI_STATS_NULL};
  for (uint32_t i = 0; i < memory.copies.count; i++) {
    int64_t kind = memory.copies.at[KIND][i];
    if (kind != TO_DEVICE && kind != TO_HOST)
      continue;
    add(kind == TO_DEVICE ? &totals->to_device : &totals->to_host, memory.copies.at[BYTES][i]);
    widen(totals, memory.copies.at[ADDRESS][i]);
  }
  for (uint32_t i = 0; i < memory.cpu_faults.count; i++)
    widen(totals, memory.cpu_faults.at[FAULT_ADDRESS][i]);
  for (uint32_t i = 0; i < memory.gpu_faults.count; i++) {
    add(&totals->gpu_faults, memory.gpu_faults.at[FAULT_NUMBER][i]);
    widen(totals, memory.gpu_faults.at[FAULT_ADDRESS][i]);
  }
  /* NVIDIA tells addresses only where each of the four has some. */
  if (totals->to_device == NAI_STATS_NULL || totals->to_host == NAI_STATS_NULL || !memory.cpu_faults.count ||
      !memory.gpu_faults.count)
    totals->least = totals->most = NAI_STATS_NULL;
  nai_stats_show_records(rows, totals, sizeof *totals, 1, -1);
  return NAI_OK;
}

const struct nai_stats_column nai_stats_um_total_columns[] = {
    {"Total HtoD Migration Size", NAI_STATS_MEMORY, NAI_STATS_NUMBER(totals, to_device)},
    {"Total DtoH Migration Size", NAI_STATS_MEMORY, NAI_STATS_NUMBER(totals, to_host)},
    {"Total CPU Page Faults", 0, NAI_STATS_NUMBER(totals, cpu_faults)},
    {"Total GPU PageFaults", 0, NAI_STATS_NUMBER(totals, gpu_faults)},
    {"Minimum Virtual Address", NAI_STATS_ADDRESS, NAI_STATS_NUMBER(totals, least)},
    {"Maximum Virtual Address", NAI_STATS_ADDRESS, NAI_STATS_NUMBER(totals, most)},
    {0}};

/* --- by instruction -------------------------------------------------------------------------------------- */

/* A group's total is its number of faults. */
int nai_stats_make_um_faults(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                             struct nai_err *err) {
  struct nai_stats_groups *groups = NULL;
  struct memory memory;
  (void)options;
  NAI_TRY(NAI_NEW(groups, &rows->source->arena, 1, err));
  NAI_TRY(load(&memory, rows->source, err));
  NAI_TRY(nai_stats_groups_begin(groups, rows->source, 1, memory.cpu_faults.count, err));
  for (uint32_t i = 0; i < memory.cpu_faults.count; i++) {
    int64_t text;
    NAI_TRY(nai_stats_name(&text, rows->source, memory.cpu_faults.at[FAULT_NUMBER][i], err));
    NAI_TRY(nai_stats_groups_add(groups, &text, 1, err));
  }
  return nai_stats_show_groups(rows, groups, 0, NAI_STATS_BY_NAME, err);
}

const struct nai_stats_column nai_stats_um_fault_columns[] = {
    {"CPU Page Faults", 0, NAI_STATS_COUNT}, {"CPU Instruction Address", 0, NAI_STATS_KEY_NAME(0)}, {0}};
