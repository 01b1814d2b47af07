/* What ran on GPUs, by table. */
#include "features/stats/operations.h"

/* --- names -------------------------------------------------------------------------------------------- */

enum { LAST_OF_COPIES = 10, COPY_KINDS = 32 }; /* behind that one: unified memory */

/* In 2022, which left out copies of other kinds; since 2023 the export says what a kind is called, or else this. */
static const char *const old_labels[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                         "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
static const char *const new_labels[] = {
    "Unknown",        "Host-to-Device",         "Device-to-Host",         "Host-to-Array",           "Array-to-Host",
    "Array-to-Array", "Array-to-Device",        "Device-to-Array",        "Device-to-Device",        "Host-to-Host",
    "Peer-to-Peer",   "Unified Host-to-Device", "Unified Device-to-Host", "Unified Device-to-Device"};
enum { LABELS = sizeof old_labels / sizeof *old_labels };

/* NAI_NO_STRING: the copy is in no report. */
static int name_copy(int64_t *text, struct nai_stats_source *source, int64_t kind, const char *label, bool old,
                     struct nai_err *err) {
  const char *known = !old && label ? label : kind >= LABELS ? NULL : old ? old_labels[kind] : new_labels[kind];
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
  int64_t *name = kernels->at[NAI_STATS_OP_NAME], *otherwise = kernels->at[NAI_STATS_OP_DEMANGLED];
  for (uint32_t i = 0; i < kernels->count; i++)
    NAI_TRY(nai_stats_name(&name[i], source, name[i] == NAI_STATS_NULL && otherwise ? otherwise[i] : name[i], err));
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
                          {[NAI_STATS_OP_BYTES] = "bytes",
                           [NAI_STATS_OP_FROM] = "srcKind",
                           "dstKind",
                           [NAI_STATS_OP_NAME] = "copyKind"}},
    [NAI_STATS_SETS] = {"CUPTI_ACTIVITY_KIND_MEMSET",
                        {[NAI_STATS_OP_BYTES] = "bytes", [NAI_STATS_OP_FROM] = "memKind", [NAI_STATS_OP_NAME] = "-"}},
};
static const char *const common[NAI_STATS_OP_COLUMNS] = {[NAI_STATS_OP_START] = "start",
                                                         [NAI_STATS_OP_END] = "end",
                                                         [NAI_STATS_OP_CORRELATION] = "correlationId",
                                                         [NAI_STATS_OP_DEVICE] = "deviceId",
                                                         [NAI_STATS_OP_CONTEXT] = "contextId",
                                                         [NAI_STATS_OP_GREEN] = "greenContextId",
                                                         [NAI_STATS_OP_STREAM] = "streamId",
                                                         [NAI_STATS_OP_PROCESS] = "globalPid"};

const char *nai_stats_choose_columns(const char *columns[NAI_STATS_OP_COLUMNS + 1], enum nai_stats_what what,
                                     uint32_t wanted, const struct nai_stats_options *options) {
  static const char *const namings[] = {
      [NAI_STATS_DEMANGLED] = "demangledName", [NAI_STATS_BASE] = "shortName", [NAI_STATS_MANGLED] = "mangledName"};
  wanted |= 1u << NAI_STATS_OP_START | 1u << NAI_STATS_OP_END;
  if (!(wanted & 1u << NAI_STATS_OP_UNNAMED))
    wanted |= 1u << NAI_STATS_OP_NAME | (uint32_t)(options->naming != NAI_STATS_DEMANGLED) << NAI_STATS_OP_DEMANGLED;
  if (options->nvtx_name && what == NAI_STATS_KERNELS)
    wanted |= 1u << NAI_STATS_OP_CORRELATION | 1u << NAI_STATS_OP_PROCESS;
  for (int c = 0; c < NAI_STATS_OP_COLUMNS; c++) {
    const char *column = c == NAI_STATS_OP_NAME && what == NAI_STATS_KERNELS ? namings[options->naming]
                       : tables[what].columns[c]                             ? tables[what].columns[c]
                                                                             : common[c];
    columns[c] = wanted & 1u << c && column ? column : "";
  }
  columns[NAI_STATS_OP_COLUMNS] = NULL;
  return tables[what].table;
}

/* Copies of a kind that there is no name for have none. */
int nai_stats_name_operations(struct nai_stats_events *events, struct nai_stats_source *source,
                              enum nai_stats_what what, const struct nai_stats_options *options, struct nai_err *err) {
  int64_t *name = events->at[NAI_STATS_OP_NAME], set;
  struct kinds kinds;
  if (what == NAI_STATS_KERNELS)
    return name_kernels(events, source, err);
  NAI_TRY(name_kinds(&kinds, source, options->old, err));
  NAI_TRY(nai_stats_text(&set, source, "[CUDA memset]", err));
  for (uint32_t i = 0; i < events->count; i++)
    name[i] = what == NAI_STATS_SETS               ? set
            : name[i] >= 0 && name[i] < COPY_KINDS ? kinds.names[name[i]]
                                                   : NAI_NO_STRING;
  return NAI_OK;
}

int nai_stats_load_operations(struct nai_stats_events *out, struct nai_stats_source *source, enum nai_stats_what what,
                              uint32_t wanted, const struct nai_stats_options *options, struct nai_err *err) {
  const char *columns[NAI_STATS_OP_COLUMNS + 1];
  const char *table = nai_stats_choose_columns(columns, what, wanted, options);
  NAI_TRY(nai_stats_load(out, source, table, columns, err));
  if (out->at[NAI_STATS_OP_NAME])
    NAI_TRY(nai_stats_name_operations(out, source, what, options, err));
  return out->at[NAI_STATS_OP_NAME] && options->nvtx_name && what == NAI_STATS_KERNELS
           ? nai_stats_name_by_range(out, source, err)
           : NAI_OK;
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

int nai_stats_size_text(int64_t *text, struct nai_stats_source *source, const int64_t size[3], struct nai_err *err) {
  char words[64];
  snprintf(words, sizeof words, "%4lld %4lld %4lld", (long long)size[0], (long long)size[1], (long long)size[2]);
  if (size[0] != NAI_STATS_NULL)
    return nai_stats_text(text, source, words, err);
  *text = NAI_STATS_NULL;
  return NAI_OK;
}
