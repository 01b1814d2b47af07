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

static int name_kernels(struct nai_stats_events *kernels, struct nai_stats_source *source, struct nai_err *err) {
  int64_t *name = kernels->at[NAI_STATS_OP_NAME];
  for (uint32_t i = 0; i < kernels->count; i++)
    NAI_TRY(nai_stats_name(&name[i], source,
                           name[i] == NAI_STATS_NULL ? kernels->at[NAI_STATS_OP_DEMANGLED][i] : name[i], err));
  return NAI_OK;
}

static int name_copies(struct nai_stats_events *copies, struct nai_stats_source *source, bool old,
                       struct nai_err *err) {
  struct kinds kinds;
  int64_t *name = copies->at[NAI_STATS_OP_NAME];
  NAI_TRY(name_kinds(&kinds, source, old, err));
  for (uint32_t i = 0; i < copies->count; i++)
    name[i] = name[i] >= 0 && name[i] < COPY_KINDS ? kinds.names[name[i]] : NAI_NO_STRING;
  return NAI_OK;
}

static int name_sets(struct nai_stats_events *sets, struct nai_stats_source *source, struct nai_err *err) {
  int64_t text;
  NAI_TRY(nai_stats_text(&text, source, "[CUDA memset]", err));
  for (uint32_t i = 0; i < sets->count; i++)
    sets->at[NAI_STATS_OP_NAME][i] = text;
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

int nai_stats_load_operations(struct nai_stats_events *out, struct nai_stats_source *source, enum nai_stats_what what,
                              uint32_t wanted, const struct nai_stats_options *options, struct nai_err *err) {
  static const char *const namings[] = {
      [NAI_STATS_DEMANGLED] = "demangledName", [NAI_STATS_BASE] = "shortName", [NAI_STATS_MANGLED] = "mangledName"};
  const char *columns[NAI_STATS_OP_COLUMNS + 1] = {0};
  bool by_range = options->nvtx_name && what == NAI_STATS_KERNELS;
  wanted |= 1u << NAI_STATS_OP_START | 1u << NAI_STATS_OP_END;
  if (!(wanted & 1u << NAI_STATS_OP_UNNAMED))
    wanted |= 1u << NAI_STATS_OP_NAME | 1u << NAI_STATS_OP_DEMANGLED;
  wanted |= by_range ? 1u << NAI_STATS_OP_CORRELATION | 1u << NAI_STATS_OP_PROCESS : 0;
  for (int c = 0; c < NAI_STATS_OP_COLUMNS; c++) {
    const char *column = tables[what].columns[c] ? tables[what].columns[c] : common[c];
    columns[c] = wanted & 1u << c ? column ? column : "-" : "";
  }
  if (what == NAI_STATS_KERNELS && *columns[NAI_STATS_OP_NAME])
    columns[NAI_STATS_OP_NAME] = namings[options->naming];
  NAI_TRY(nai_stats_load(out, source, tables[what].table, columns, err));
  if (wanted & 1u << NAI_STATS_OP_UNNAMED)
    return NAI_OK;
  if (what == NAI_STATS_COPIES)
    return name_copies(out, source, options->old, err);
  if (what == NAI_STATS_SETS)
    return name_sets(out, source, err);
  NAI_TRY(name_kernels(out, source, err));
  return by_range ? nai_stats_name_by_range(out, source, err) : NAI_OK;
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
