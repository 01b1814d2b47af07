/* What ran on GPUs, by table. */
#include "features/stats/operations.h"

/* --- names -------------------------------------------------------------------------------------------- */

enum { LAST_OF_COPIES = 10, COPY_KINDS = 32 }; /* behind that one: unified memory */

/* Copies of a kind that 2022 did not know are left out there. */
static const char *old_copy_label(int64_t kind) {
  static const char *const labels[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                       "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
  return kind >= 0 && kind < (int64_t)(sizeof labels / sizeof *labels) ? labels[kind] : NULL;
}

/* Since 2023 the export says how a kind is called; these are for one that does not. */
static const char *new_copy_label(int64_t kind) {
  static const char *const labels[] = {
      "Unknown",        "Host-to-Device",         "Device-to-Host",         "Host-to-Array",           "Array-to-Host",
      "Array-to-Array", "Array-to-Device",        "Device-to-Array",        "Device-to-Device",        "Host-to-Host",
      "Peer-to-Peer",   "Unified Host-to-Device", "Unified Device-to-Host", "Unified Device-to-Device"};
  return kind >= 0 && kind < (int64_t)(sizeof labels / sizeof *labels) ? labels[kind] : NULL;
}

/* NAI_NO_STRING: the copy is in no report. */
static int name_copy(int64_t *text, struct nai_stats_source *source, int64_t kind, const char *label, bool old,
                     struct nai_err *err) {
  const char *known = old ? old_copy_label(kind) : label ? label : new_copy_label(kind);
  const char *unified = old && kind > LAST_OF_COPIES ? "Unified Memory " : "";
  *text = NAI_NO_STRING;
  if (!known)
    return NAI_OK;
  NAI_TRY(nai_stats_text(text, source, nai_arena_printf(&source->arena, "[CUDA %smemcpy %s]", unified, known), err));
  return nai_arena_check(&source->arena, err);
}

struct kinds {
  int64_t names[COPY_KINDS]; /* of source->texts */
};

static int name_kinds(struct kinds *out, struct nai_stats_source *source, bool old, struct nai_err *err) {
  static const char *const columns[] = {"id", "$label", NULL};
  struct nai_stats_events labels;
  int64_t label[COPY_KINDS];
  NAI_TRY(nai_stats_load(&labels, source, "ENUM_CUDA_MEMCPY_OPER", columns, err));
  for (int kind = 0; kind < COPY_KINDS; kind++)
    label[kind] = NAI_NO_STRING;
  for (uint32_t i = 0; i < labels.count; i++)
    if (labels.at[0][i] >= 0 && labels.at[0][i] < COPY_KINDS)
      label[labels.at[0][i]] = labels.at[1][i];
  for (int kind = 0; kind < COPY_KINDS; kind++)
    NAI_TRY(name_copy(&out->names[kind], source, kind, nai_stats_text_of(source, label[kind]), old, err));
  return NAI_OK;
}

static int name_kernels(const struct nai_stats_events *kernels, struct nai_stats_source *source, struct nai_err *err) {
  int64_t *name = kernels->at[NAI_STATS_OP_NAME];
  for (uint32_t i = 0; i < kernels->count; i++)
    NAI_TRY(nai_stats_name(&name[i], source,
                           name[i] == NAI_STATS_NULL ? kernels->at[NAI_STATS_OP_DEMANGLED][i] : name[i], err));
  return NAI_OK;
}

/* --- operations ---------------------------------------------------------------------------------------- */

static const struct {
  const char *table;
  const char *columns[NAI_STATS_OP_COLUMNS]; /* NULL: the kind has none */
} tables[] = {
    [NAI_STATS_KERNELS] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                           {[NAI_STATS_OP_GRID] = "gridX",
                            "gridY",
                            "gridZ",
                            "blockX",
                            "blockY",
                            "blockZ",
                            [NAI_STATS_OP_REGISTERS] = "registersPerThread",
                            "staticSharedMemory",
                            "dynamicSharedMemory",
                            [NAI_STATS_OP_DEMANGLED] = "demangledName"}},
    [NAI_STATS_COPIES] = {"CUPTI_ACTIVITY_KIND_MEMCPY",
                          {[NAI_STATS_OP_BYTES] = "bytes", "srcKind", "dstKind", [NAI_STATS_OP_NAME] = "copyKind"}},
    [NAI_STATS_SETS] = {"CUPTI_ACTIVITY_KIND_MEMSET", {[NAI_STATS_OP_BYTES] = "bytes", "memKind"}},
};
static const char *const common[NAI_STATS_OP_COLUMNS] = {[NAI_STATS_OP_START] = "start",
                                                         [NAI_STATS_OP_END] = "end",
                                                         [NAI_STATS_OP_CORRELATION] = "correlationId",
                                                         [NAI_STATS_OP_DEVICE] = "deviceId",
                                                         [NAI_STATS_OP_CONTEXT] = "contextId",
                                                         [NAI_STATS_OP_GREEN] = "greenContextId",
                                                         [NAI_STATS_OP_STREAM] = "streamId",
                                                         [NAI_STATS_OP_PROCESS] = "globalPid"};

/* What a kind of operations is read and named with. */
struct reading {
  const char *columns[NAI_STATS_OP_COLUMNS + 1];
  enum nai_stats_what what;
  struct nai_stats_source *source;
  struct kinds kinds; /* of copies */
  int64_t set;        /* what memsets are called */
  nai_stats_take_fn *take;
  void *ctx;
};

static int begin_reading(struct reading *r, struct nai_stats_source *source, enum nai_stats_what what, uint32_t wanted,
                         const struct nai_stats_options *options, struct nai_err *err) {
  static const char *const namings[] = {
      [NAI_STATS_DEMANGLED] = "demangledName", [NAI_STATS_BASE] = "shortName", [NAI_STATS_MANGLED] = "mangledName"};
  const bool named = !(wanted & 1u << NAI_STATS_OP_UNNAMED);
  *r = (struct reading){.what = what, .source = source};
  wanted |= 1u << NAI_STATS_OP_START | 1u << NAI_STATS_OP_END;
  if (named)
    wanted |= 1u << NAI_STATS_OP_NAME | 1u << NAI_STATS_OP_DEMANGLED;
  if (options->nvtx_name && what == NAI_STATS_KERNELS)
    wanted |= 1u << NAI_STATS_OP_CORRELATION | 1u << NAI_STATS_OP_PROCESS;
  for (int c = 0; c < NAI_STATS_OP_COLUMNS; c++) {
    const char *column = tables[what].columns[c] ? tables[what].columns[c] : common[c];
    r->columns[c] = wanted & 1u << c ? column ? column : "-" : "";
  }
  if (what == NAI_STATS_KERNELS && named)
    r->columns[NAI_STATS_OP_NAME] = namings[options->naming];
  if (what == NAI_STATS_COPIES && named)
    NAI_TRY(name_kinds(&r->kinds, source, options->old, err));
  return what == NAI_STATS_SETS && named ? nai_stats_text(&r->set, source, "[CUDA memset]", err) : NAI_OK;
}

/* Copies of a kind that there is no name for have none. */
static int name_operations(const struct nai_stats_events *events, const struct reading *r, struct nai_err *err) {
  int64_t *name = events->at[NAI_STATS_OP_NAME];
  if (r->what == NAI_STATS_KERNELS)
    return name ? name_kernels(events, r->source, err) : NAI_OK;
  for (uint32_t i = 0; i < events->count && name; i++)
    name[i] = r->what == NAI_STATS_SETS            ? r->set
            : name[i] >= 0 && name[i] < COPY_KINDS ? r->kinds.names[name[i]]
                                                   : NAI_NO_STRING;
  return NAI_OK;
}

int nai_stats_load_operations(struct nai_stats_events *out, struct nai_stats_source *source, enum nai_stats_what what,
                              uint32_t wanted, const struct nai_stats_options *options, struct nai_err *err) {
  struct reading r;
  NAI_TRY(begin_reading(&r, source, what, wanted, options, err));
  NAI_TRY(nai_stats_load(out, source, tables[what].table, r.columns, err));
  NAI_TRY(name_operations(out, &r, err));
  const bool by_range = options->nvtx_name && what == NAI_STATS_KERNELS && out->at[NAI_STATS_OP_NAME];
  return by_range ? nai_stats_name_by_range(out, source, err) : NAI_OK;
}

static int take_operations(void *ctx, const struct nai_stats_events *events, struct nai_err *err) {
  const struct reading *r = ctx;
  NAI_TRY(name_operations(events, r, err));
  return r->take(r->ctx, events, err);
}

int nai_stats_each_operation(struct nai_stats_source *source, enum nai_stats_what what, uint32_t wanted,
                             const struct nai_stats_options *options, nai_stats_take_fn *take, void *ctx,
                             struct nai_err *err) {
  struct reading r;
  struct nai_stats_events all;
  NAI_TRY(begin_reading(&r, source, what, wanted, options, err));
  r.take = take;
  r.ctx = ctx;
  if (!options->nvtx_name || what != NAI_STATS_KERNELS)
    return nai_stats_each(source, tables[what].table, r.columns, take_operations, &r, err);
  NAI_TRY(nai_stats_load_operations(&all, source, what, wanted, options, err)); /* named when all are there */
  NAI_TRY(take(ctx, &(struct nai_stats_events){.count = all.count}, err));
  return take(ctx, &all, err);
}

int nai_stats_name_memory(int64_t kinds[NAI_STATS_MEMORY_KINDS], struct nai_stats_source *source, bool old,
                          struct nai_err *err) {
  static const char *const names[NAI_STATS_MEMORY_KINDS] = {"Pageable", "Pinned",        "Device",         "Array",
                                                            "Managed",  "Device Static", "Managed Static", "Unknown"};
  static const char *const columns[] = {"id", "$label", NULL};
  struct nai_stats_events labels;
  for (int kind = 0; kind < NAI_STATS_MEMORY_KINDS; kind++)
    NAI_TRY(nai_stats_text(&kinds[kind], source, names[kind], err));
  NAI_TRY(nai_stats_load(&labels, source, "ENUM_CUDA_MEM_KIND", columns, err));
  for (uint32_t i = 0; i < labels.count && !old; i++)
    if (labels.at[0][i] >= 0 && labels.at[0][i] < NAI_STATS_MEMORY_KINDS && labels.at[1][i] != NAI_STATS_NULL)
      kinds[labels.at[0][i]] = labels.at[1][i];
  return NAI_OK;
}

static void put_size(struct nai_buf *out, int64_t size) {
  const double magnitude = size < 0 ? -10 * (double)size : (double)size;
  for (int least = 1000; least > 1 && magnitude < least; least /= 10)
    nai_buf_putc(out, ' ');
  nai_stats_put_digits(out, size);
}

void nai_stats_put_sizes(struct nai_stats_cell *out, struct nai_stats_rows *rows, int64_t x, int64_t y, int64_t z) {
  const int64_t sizes[] = {x, y, z};
  nai_buf_clear(&rows->scratch);
  for (int i = 0; i < 3; i++) {
    nai_buf_puts(&rows->scratch, i ? " " : "");
    put_size(&rows->scratch, sizes[i]);
  }
  nai_stats_put_text(out, x == NAI_STATS_NULL ? NULL : nai_buf_str(&rows->scratch));
}
