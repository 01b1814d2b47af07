#include "model/idle/gap_names.h"

#include "tables/threads.h"

const char *nai_next_op_name(char room[NAI_KIND_NAME_MAX], const struct nai_model *m, const struct nai_idle_gap *gap) {
  if (gap->op == NAI_NO_ROW)
    return NULL;
  const struct nai_op *op = &m->gpus[gap->gpu].ops[gap->op];
  return op->type == NAI_OP_KERNEL ? nai_model_kernel_name(m, op->row)
       : op->type == NAI_OP_GRAPH  ? "graph launch"
                                   : nai_model_direction(room, m, op->row);
}

const char *nai_launch_function(const struct nai_model *m, uint32_t launch) {
  return launch == NAI_NO_ROW ? NULL : nai_model_api_name(m, launch);
}

const char *nai_launch_range(const struct nai_model *m, uint32_t launch) {
  const struct nai_nvtx_node *node = launch == NAI_NO_ROW ? NULL : nai_model_call_node(m, launch);
  return node ? nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name) : NULL;
}

const char *nai_thread_label(const struct nai_model *m, int32_t thread, struct nai_arena *arena) {
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  struct nai_value name = nai_table_value(threads, thread, THREADS_thread_name);
  return nai_arena_printf(arena, "thread %" PRId64 "%s%s", nai_get_i64(threads, thread, THREADS_tid),
                          name.null ? "" : " ", name.null ? "" : name.s);
}
