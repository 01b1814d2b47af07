/* A call of a tool: its arguments checked against the catalogue, its cursor, its command lines. */
#include "features/mcp/internal.h"

#include "base/hash.h"

/* --- cursors ---------------------------------------------------------------------------------------- */

json_t *nai_agent_cursor(const struct nai_agent_call *call, int64_t offset) {
  return json_sprintf("%" PRId64 ".%016" PRIx64, offset, call->hash);
}

/* Of what is asked, whatever page of it. False when out of memory. */
static bool hash_arguments(struct nai_agent_call *call) {
  json_auto_t *asked = json_copy(call->arguments);
  json_object_del(asked, "limit");
  json_object_del(asked, "cursor");
  NAI_FREED char *text = json_dumps(asked, JSON_SORT_KEYS | JSON_COMPACT);
  call->hash = nai_hash_text(nai_hash_text(0, call->name), text);
  return text != NULL;
}

static bool read_cursor(struct nai_agent_call *call, struct nai_buf *said) {
  enum { MAX_ROWS = 1000000 };
  const char *cursor = json_string_value(json_object_get(call->arguments, "cursor"));
  int64_t offset = 0;
  uint64_t hash = 0;
  int end = 0;
  if (!cursor)
    return true;
  if (strspn(cursor, "0123456789") > 7 || sscanf(cursor, "%" SCNd64 ".%16" SCNx64 "%n", &offset, &hash, &end) != 2 ||
      cursor[end] || hash != call->hash || offset > MAX_ROWS || *cursor == '-' || *cursor == '+') {
    nai_buf_puts(said, "arguments.cursor: not a cursor of these arguments; take next_cursor of the answer before and "
                       "leave the other arguments as they were");
    return false;
  }
  call->offset = offset;
  return true;
}

/* --- a call ----------------------------------------------------------------------------------------- */

static json_t *find_tool(const struct nai_agent *agent, const char *name) {
  json_t *tool;
  size_t i;
  json_array_foreach(json_object_get(agent->catalogue, "tools"), i,
                     tool) if (strcmp(json_string_value(json_object_get(tool, "name")), name) == 0) return tool;
  return NULL;
}

static int64_t limit_of(const json_t *schema, const json_t *arguments) {
  const json_t *given = json_object_get(arguments, "limit");
  const json_t *known = json_object_get(json_object_get(schema, "properties"), "limit");
  return json_integer_value(given ? given : json_object_get(known, "default"));
}

int nai_agent_prepare(struct nai_agent_call *call, struct nai_buf *said, struct nai_rpc_error *error,
                      const struct nai_agent *agent, const json_t *params) {
  const char *name = json_string_value(json_object_get(params, "name"));
  json_t *arguments = json_object_get(params, "arguments");
  const json_t *tool = name ? find_tool(agent, name) : NULL;
  struct nai_err err = {0};
  struct nai_rpc_error wrong = {0};
  *call = (struct nai_agent_call){.arena = NAI_ARENA(NULL), .cell_chars = 400};
  if (!name)
    return nai_rpc_fail(error, NAI_RPC_PARAMS, "params.name: the name of a tool is missing");
  if (!tool)
    return nai_rpc_fail(error, NAI_RPC_PARAMS, "Unknown tool: %.64s", name);
  const json_t *schema = json_object_get(tool, "inputSchema");
  call->name = json_string_value(json_object_get(tool, "name"));
  call->arguments = arguments ? json_incref(arguments) : json_object();
  /* Wrong arguments are told as the tool's answer (SEP-1303): a model never sees errors of the protocol. */
  if (nai_agent_check(&wrong, schema, call->arguments, "arguments")) {
    nai_buf_puts(said, wrong.message);
    return 0;
  }
  call->limit = limit_of(schema, call->arguments);
  if (!hash_arguments(call))
    return nai_rpc_fail(error, NAI_RPC_INTERNAL, "Out of memory");
  if (read_cursor(call, said) && nai_agent_plan(call, agent, &err))
    nai_buf_puts(said, err.msg);
  return call->arena.oom ? nai_rpc_fail(error, NAI_RPC_INTERNAL, "Out of memory") : 0;
}

void nai_agent_call_free(struct nai_agent_call *call) {
  json_decref(call->arguments);
  nai_arena_free(&call->arena);
}
