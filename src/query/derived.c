/* Tables computed from the model: which call launched an operation, what it is, and in which NVTX range. */
#include "query/internal.h"

#include "model/nvtx/nvtx_open.h"
#include "table/kernel_name.h"
#include "tables/call_ranges.h"
#include "tables/graph_event_launches.h"
#include "tables/kernel_launches.h"
#include "tables/memop_launches.h"
#include "tables/nvtx_nodes.h"

/* As many rows as the event table that its rows are the rows of. */
static int open_beside(struct nai_sql_table *t, int events, struct nai_err *err) {
  const struct nai_table *table;
  NAI_TRY(
      nai_run_table(&table, nai_database_of(t)->run, nai_event_tables[events]->name, nai_event_tables[events], err));
  return nai_derived_new(t, table->rows, err);
}

/* Columns `from` to `to` of the table, allocated. */
static int allocate(struct nai_sql_table *t, int from, int to, struct nai_err *err) {
  for (int c = from; c <= to; c++)
    NAI_TRY(nai_derived_column(t, c, err));
  return NAI_OK;
}

/* --- calls ---------------------------------------------------------------------------------------- */

enum { PART_NAMES = 1, PART_LAUNCH = 2, PART_NVTX = 4, PART_SWEEP = 8 };
static const uint8_t call_parts[] = {[CALL_RANGES_class] = PART_LAUNCH,
                                     [CALL_RANGES_node] = PART_NVTX,
                                     [CALL_RANGES_range_name] = PART_NVTX,
                                     [CALL_RANGES_path] = PART_NVTX,
                                     [CALL_RANGES_range_row] = PART_SWEEP};

static int open_calls(struct nai_sql_table *t, struct nai_err *err) { return open_beside(t, NAI_IN_APIS, err); }

static const char *class_of(const struct nai_model *m, uint32_t api) {
  static const char *const classes[] = {[NAI_API_ORDERING] = "ordering",
                                        [NAI_API_POLL] = "poll",
                                        [NAI_API_ALLOCATION] = "allocation",
                                        [NAI_API_MODULE] = "module"};
  if (nai_model_api_blocks(m, api))
    return "blocking";
  uint8_t class = m->api_class[nai_at_text(&m->apis.name, api)];
  return class < sizeof classes / sizeof *classes ? classes[class] : NULL;
}

/* Calls and ranges of a thread, both by start: at each call, the innermost range that is open. */
static int sweep_thread(int32_t *range_row, const struct nai_model *m, uint32_t thread, struct nai_err *err) {
  const struct nai_groups *calls = &m->api_by_thread, *ranges = &m->nvtx_by_thread;
  NAI_SCOPED(nai_open_cursor) cursor = {0};
  uint32_t place = ranges->first[thread], end = ranges->first[thread + 1], parent;
  if (place < end)
    NAI_TRY(nai_open_find(&cursor, m, thread, place, err));
  for (uint32_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
    uint32_t api = calls->order[i];
    int64_t at = nai_at(&m->apis.start_ns, api);
    for (; place < end && nai_at(&m->nvtx.start_ns, ranges->order[place]) <= at; place++)
      if (nai_at(&m->nvtx.kind, ranges->order[place]) == NAI_NVTX_PUSH_POP)
        NAI_TRY(nai_open_begin(&parent, &cursor, ranges->order[place], err));
    uint32_t open = ranges->first[thread] == end ? NAI_NO_ROW : nai_open_at(&cursor, at);
    range_row[api] = open == NAI_NO_ROW ? NAI_NULL_I32 : (int32_t)open;
  }
  return NAI_OK;
}

static int32_t node_of(const struct nai_model *m, uint32_t api) {
  const struct nai_nvtx_node *node = api == NAI_NO_ROW ? NULL : nai_model_call_node(m, api);
  return node ? (int32_t)(node - m->nodes) : NAI_NULL_I32;
}

/* Node, name and path of the range around each row's call (NULL: rows are calls); the three columns lie side by side.
 */
static int fill_nodes(struct nai_sql_table *t, const struct nai_model *m, int column, const uint32_t *call,
                      struct nai_err *err) {
  struct nai_sql_table *nodes = nai_sql_find(t->sql, nai_derived_nodes.schema->name);
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  uint32_t(*ids)[2];
  NAI_TRY(NAI_NEW(ids, &arena, m->node_count, err));
  NAI_TRY(nai_sql_read(nodes, err));
  NAI_TRY(allocate(t, column, column + 2, err));
  for (uint32_t i = 0; i < m->node_count; i++)
    for (int k = 0; k < 2; k++) {
      const char *text = nai_get_str(nodes->table, i, k ? NVTX_NODES_path : NVTX_NODES_range_name);
      NAI_TRY(nai_strings_put(&ids[i][k], &t->own->strings, text, err));
    }
  for (int64_t i = 0; i < t->own->rows; i++) {
    int32_t node = node_of(m, call ? call[i] : (uint32_t)i);
    nai_column_i32(t->own, column)[i] = node;
    for (int k = 0; k < 2; k++)
      nai_column_str(t->own, column + 1 + k)[i] = node < 0 ? NAI_NO_STRING : ids[node][k];
  }
  return NAI_OK;
}

static int fill_classes(struct nai_sql_table *t, const struct nai_model *m, struct nai_err *err) {
  NAI_TRY(allocate(t, CALL_RANGES_class, CALL_RANGES_class, err));
  for (uint32_t i = 0; i < m->apis.n; i++)
    nai_set_str(t->own, i, CALL_RANGES_class, class_of(m, i));
  return nai_table_check(t->own, err);
}

static int sweep(struct nai_sql_table *t, const struct nai_model *m, struct nai_err *err) {
  NAI_TRY(allocate(t, CALL_RANGES_range_row, CALL_RANGES_range_row, err));
  for (uint32_t i = 0; i < m->apis.n; i++)
    nai_column_i32(t->own, CALL_RANGES_range_row)[i] = NAI_NULL_I32;
  for (uint32_t thread = 0; thread < m->thread_count; thread++)
    NAI_TRY(sweep_thread(nai_column_i32(t->own, CALL_RANGES_range_row), m, thread, err));
  return NAI_OK;
}

static int build_calls(struct nai_sql_table *t, uint32_t part, struct nai_err *err) {
  uint32_t parts = part == PART_LAUNCH ? NAI_PART(LAUNCHES) | NAI_PART(NAMES)
                 : part == PART_NVTX   ? NAI_PART(NVTX_TREE)
                                       : NAI_PART(NVTX_TREE) | NAI_PART(CALLS);
  struct nai_model *m;
  NAI_TRY(nai_derived_model(&m, nai_database_of(t), parts, err));
  return part == PART_LAUNCH ? fill_classes(t, m, err)
       : part == PART_NVTX   ? fill_nodes(t, m, CALL_RANGES_node, NULL, err)
                             : sweep(t, m, err);
}

static const struct nai_sql_source calls = {&nai_call_ranges_schema, call_parts, open_calls, build_calls};

/* --- operations on GPUs --------------------------------------------------------------------------- */

/* What the three tables have in common comes first, under the same numbers. */
#define LAUNCH_PARTS                                                                \
  [KERNEL_LAUNCHES_call] = PART_LAUNCH, [KERNEL_LAUNCHES_latency_ns] = PART_LAUNCH, \
  [KERNEL_LAUNCHES_queue_ns] = PART_LAUNCH, [KERNEL_LAUNCHES_node] = PART_NVTX,     \
  [KERNEL_LAUNCHES_range_name] = PART_NVTX, [KERNEL_LAUNCHES_path] = PART_NVTX
static const uint8_t kernel_parts[] = {
    LAUNCH_PARTS, [KERNEL_LAUNCHES_category] = PART_NAMES, [KERNEL_LAUNCHES_short_name] = PART_NAMES};
static const uint8_t memop_parts[] = {
    LAUNCH_PARTS, [MEMOP_LAUNCHES_direction] = PART_NAMES, [MEMOP_LAUNCHES_src_memory] = PART_NAMES,
    [MEMOP_LAUNCHES_dst_memory] = PART_NAMES};
static const uint8_t graph_parts[] = {LAUNCH_PARTS};

static int open_kernels(struct nai_sql_table *t, struct nai_err *err) { return open_beside(t, NAI_IN_KERNELS, err); }
static int open_memops(struct nai_sql_table *t, struct nai_err *err) { return open_beside(t, NAI_IN_MEMOPS, err); }
static int open_graphs(struct nai_sql_table *t, struct nai_err *err) { return open_beside(t, NAI_IN_GRAPHS, err); }

static int fill_launches(struct nai_sql_table *t, const struct nai_model *m, const uint32_t *call,
                         const struct nai_column *start, struct nai_err *err) {
  NAI_TRY(allocate(t, KERNEL_LAUNCHES_call, KERNEL_LAUNCHES_queue_ns, err));
  for (int64_t i = 0; i < t->own->rows; i++) {
    int64_t at = nai_at(start, (uint64_t)i);
    bool known = call[i] != NAI_NO_ROW;
    int64_t queue = known ? at - nai_at(&m->apis.end_ns, call[i]) : -1;
    nai_column_i32(t->own, KERNEL_LAUNCHES_call)[i] = known ? (int32_t)call[i] : NAI_NULL_I32;
    nai_column_i64(t->own, KERNEL_LAUNCHES_latency_ns)[i] =
        known ? at - nai_at(&m->apis.start_ns, call[i]) : NAI_NULL_I64;
    nai_column_i64(t->own, KERNEL_LAUNCHES_queue_ns)[i] = queue >= 0 ? queue : NAI_NULL_I64;
  }
  return NAI_OK;
}

/* What belongs to a kernel's name, once per name. */
static int fill_kernel_names(struct nai_sql_table *t, const struct nai_model *m, struct nai_err *err) {
  const struct nai_strings *names = &m->tables[NAI_IN_KERNELS]->strings;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_FREED char **shorts = NULL;
  uint32_t *categories, *short_ids;
  NAI_TRY(NAI_NEW(categories, &arena, names->count, err));
  NAI_TRY(NAI_NEW(short_ids, &arena, names->count, err));
  NAI_TRY(allocate(t, KERNEL_LAUNCHES_category, KERNEL_LAUNCHES_short_name, err));
  NAI_TRY(nai_kernel_names_of(&shorts, names, err));
  for (uint32_t i = 0; i < names->count; i++) {
    const char *category = nai_kernel_classes_name(m->classes, m->kernel_category[i]);
    categories[i] = nai_strings_add(&t->own->strings, category, strlen(category));
    short_ids[i] = nai_strings_add(&t->own->strings, shorts[i], strlen(shorts[i]));
  }
  for (uint32_t i = 0; i < m->kernels.n; i++) {
    uint32_t name = nai_at_text(&m->kernels.name, i);
    nai_column_str(t->own, KERNEL_LAUNCHES_category)[i] = name < names->count ? categories[name] : NAI_NO_STRING;
    nai_column_str(t->own, KERNEL_LAUNCHES_short_name)[i] = name < names->count ? short_ids[name] : NAI_NO_STRING;
  }
  return NAI_OK;
}

static int build_kernels(struct nai_sql_table *t, uint32_t part, struct nai_err *err) {
  struct nai_model *m;
  uint32_t parts = part == PART_NAMES  ? NAI_PART(NAMES)
                 : part == PART_LAUNCH ? NAI_PART(LAUNCHES)
                                       : NAI_PART(LAUNCHES) | NAI_PART(NVTX_TREE);
  NAI_TRY(nai_derived_model(&m, nai_database_of(t), parts, err));
  return part == PART_NAMES  ? fill_kernel_names(t, m, err)
       : part == PART_LAUNCH ? fill_launches(t, m, m->kernel_api, &m->kernels.start_ns, err)
                             : fill_nodes(t, m, KERNEL_LAUNCHES_node, m->kernel_api, err);
}

static int fill_memop_names(struct nai_sql_table *t, const struct nai_model *m, struct nai_err *err) {
  char room[NAI_KIND_NAME_MAX];
  NAI_TRY(allocate(t, MEMOP_LAUNCHES_direction, MEMOP_LAUNCHES_dst_memory, err));
  for (uint32_t i = 0; i < m->memops.n; i++) {
    nai_set_str(t->own, i, MEMOP_LAUNCHES_direction, nai_model_direction(room, m, i));
    nai_set_str(t->own, i, MEMOP_LAUNCHES_src_memory,
                nai_model_kind_name(room, m, NAI_LABEL_MEMORY, nai_at_i32(&m->memops.src_kind, i)));
    nai_set_str(t->own, i, MEMOP_LAUNCHES_dst_memory,
                nai_model_kind_name(room, m, NAI_LABEL_MEMORY, nai_at_i32(&m->memops.dst_kind, i)));
  }
  return nai_table_check(t->own, err);
}

static int build_memops(struct nai_sql_table *t, uint32_t part, struct nai_err *err) {
  struct nai_model *m;
  uint32_t parts = part == PART_NVTX ? NAI_PART(LAUNCHES) | NAI_PART(NVTX_TREE) : NAI_PART(LAUNCHES);
  NAI_TRY(nai_derived_model(&m, nai_database_of(t), part == PART_NAMES ? 0 : parts, err));
  return part == PART_NAMES  ? fill_memop_names(t, m, err)
       : part == PART_LAUNCH ? fill_launches(t, m, m->memop_api, &m->memops.start_ns, err)
                             : fill_nodes(t, m, KERNEL_LAUNCHES_node, m->memop_api, err);
}

static int build_graphs(struct nai_sql_table *t, uint32_t part, struct nai_err *err) {
  struct nai_model *m;
  NAI_TRY(nai_derived_model(&m, nai_database_of(t), NAI_PART(LAUNCHES) | (part == PART_NVTX ? NAI_PART(NVTX_TREE) : 0),
                            err));
  return part == PART_LAUNCH ? fill_launches(t, m, m->graph_api, &m->graphs.start_ns, err)
                             : fill_nodes(t, m, KERNEL_LAUNCHES_node, m->graph_api, err);
}

static const struct nai_sql_source kernels = {&nai_kernel_launches_schema, kernel_parts, open_kernels, build_kernels},
                                   memops = {&nai_memop_launches_schema, memop_parts, open_memops, build_memops},
                                   graphs = {&nai_graph_event_launches_schema, graph_parts, open_graphs, build_graphs};

const struct nai_sql_source *const nai_derived_tables[] = {&kernels,
                                                           &memops,
                                                           &graphs,
                                                           &calls,
                                                           &nai_derived_nodes,
                                                           &nai_derived_depths,
                                                           &nai_derived_projection,
                                                           &nai_derived_slack,
                                                           &nai_derived_path_steps,
                                                           &nai_derived_names,
                                                           &nai_derived_columns,
                                                           NULL};
