/* Messages of JSON-RPC: reading one, and writing replies, a line each. */
#include "features/mcp/internal.h"

#include "base/text.h"
#include "table/json.h"

int nai_rpc_fail(struct nai_rpc_error *error, int code, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  vsnprintf(error->message, sizeof error->message, fmt, args);
  va_end(args);
  return error->code = code;
}

/* --- reading ---------------------------------------------------------------------------------------- */

/* How deep arrays and objects nest; the parser itself recurses. */
static int depth_of(const char *text, size_t len) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (size_t i = 0; i < len; i++) {
    if (quoted) {
      if (text[i] == '\\')
        i++;
      else if (text[i] == '"')
        quoted = false;
    } else if (text[i] == '"') {
      quoted = true;
    } else if (text[i] == '[' || text[i] == '{') {
      deepest = ++depth > deepest ? depth : deepest;
    } else if (text[i] == ']' || text[i] == '}') {
      depth--;
    }
  }
  return deepest;
}

static bool is_id(const json_t *id) {
  return json_is_integer(id) || (json_is_string(id) && json_string_length(id) <= NAI_AGENT_MAX_ID);
}

static int parse(struct nai_rpc_request *r, struct nai_rpc_error *error, const char *line, size_t len) {
  json_error_t why;
  if (len > NAI_AGENT_MAX_LINE)
    return nai_rpc_fail(error, NAI_RPC_INVALID, "Message longer than %d bytes", NAI_AGENT_MAX_LINE);
  if (depth_of(line, len) > NAI_AGENT_MAX_DEPTH)
    return nai_rpc_fail(error, NAI_RPC_INVALID, "Message nested deeper than %d levels", NAI_AGENT_MAX_DEPTH);
  r->document = nai_json_read(line, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
  if (!r->document && json_error_code(&why) == json_error_duplicate_key)
    return nai_rpc_fail(error, NAI_RPC_INVALID, "Duplicate key in an object");
  if (!r->document && json_error_code(&why) == json_error_out_of_memory)
    return nai_rpc_fail(error, NAI_RPC_INTERNAL, "Out of memory");
  if (!r->document)
    return nai_rpc_fail(error, NAI_RPC_PARSE, "Not JSON: %s", why.text);
  if (!json_is_object(r->document))
    return nai_rpc_fail(error, NAI_RPC_INVALID, "Not an object; batches are not supported");
  return 0;
}

/* The version that the request says it speaks. */
static int check_version(struct nai_rpc_request *r, struct nai_rpc_error *error) {
  const json_t *version = json_object_get(r->meta, "io.modelcontextprotocol/protocolVersion");
  if (!version) /* of the older revisions, which agree on one with initialize */
    return 0;
  r->modern = true;
  if (!json_is_string(version))
    return nai_rpc_fail(error, NAI_RPC_PARAMS, "_meta: io.modelcontextprotocol/protocolVersion is no string");
  if (!json_is_object(json_object_get(r->meta, "io.modelcontextprotocol/clientCapabilities")) &&
      strcmp(json_string_value(version), "2026-07-28") == 0 && r->id)
    return nai_rpc_fail(error, NAI_RPC_PARAMS, "_meta: io.modelcontextprotocol/clientCapabilities is missing");
  return 0;
}

int nai_rpc_read(struct nai_rpc_request *r, bool *answer, struct nai_rpc_error *error, const char *line, size_t len) {
  *r = (struct nai_rpc_request){0};
  *answer = true;
  NAI_TRY(parse(r, error, line, len));
  const json_t *version = json_object_get(r->document, "jsonrpc"), *method = json_object_get(r->document, "method");
  json_t *id = json_object_get(r->document, "id");
  if (id && !is_id(id))
    return nai_rpc_fail(error, NAI_RPC_INVALID, "\"id\" must be an integer, or a string of at most %d bytes",
                        NAI_AGENT_MAX_ID);
  r->id = id;
  if (!json_is_string(version) || strcmp(json_string_value(version), "2.0") != 0)
    return nai_rpc_fail(error, NAI_RPC_INVALID, "\"jsonrpc\" must be \"2.0\"");
  if (!method && (json_object_get(r->document, "result") || json_object_get(r->document, "error"))) {
    *answer = false;
    return 0;
  }
  if (!json_is_string(method))
    return nai_rpc_fail(error, NAI_RPC_INVALID, "\"method\" must be a string");
  *answer = id != NULL;
  r->params = json_object_get(r->document, "params");
  if (r->params && !json_is_object(r->params))
    return nai_rpc_fail(error, NAI_RPC_PARAMS, "\"params\" must be an object");
  r->meta = json_object_get(r->params, "_meta");
  if (r->meta && !json_is_object(r->meta))
    return nai_rpc_fail(error, NAI_RPC_PARAMS, "\"_meta\" must be an object");
  NAI_TRY(check_version(r, error));
  r->method = json_string_value(method);
  return 0;
}

void nai_rpc_free(struct nai_rpc_request *r) { json_decref(r->document); }

/* --- writing ---------------------------------------------------------------------------------------- */

static void put_real(struct nai_json *json, double real) {
  char digits[40];
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, real);
    if (strtod(digits, NULL) == real)
      break;
  }
  nai_json_decimal(json, isfinite(real) ? digits : "");
}

static void put(struct nai_json *json, const json_t *value) {
  const char *key;
  json_t *member;
  size_t i;
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    nai_json_begin_object(json, NAI_JSON_INLINE);
    json_object_foreach((json_t *)value, key, member) {
      nai_json_key(json, key);
      put(json, member);
    }
    nai_json_end(json);
    break;
  case JSON_ARRAY:
    nai_json_begin_array(json, NAI_JSON_INLINE);
    json_array_foreach((json_t *)value, i, member) put(json, member);
    nai_json_end(json);
    break;
  case JSON_STRING:
    nai_json_text(json, json_string_value(value));
    break;
  case JSON_INTEGER:
    nai_json_int(json, json_integer_value(value));
    break;
  case JSON_REAL:
    put_real(json, json_real_value(value));
    break;
  case JSON_NULL:
    nai_json_text(json, NULL);
    break;
  default:
    nai_json_bool(json, json_is_true(value));
  }
}

void nai_agent_print(struct nai_buf *out, const json_t *value) {
  struct nai_json json;
  if (!value) {
    out->oom = true;
    return;
  }
  nai_json_init(&json, out, false);
  put(&json, value);
  nai_json_finish(&json);
}

/* `message` is taken over. */
static void put_line(struct nai_buf *out, json_t *message) {
  nai_agent_print(out, message);
  nai_buf_putc(out, '\n');
  json_decref(message);
}

void nai_rpc_put_result(struct nai_buf *out, const json_t *id, bool modern, json_t *result) {
  if (modern) {
    json_object_set_new(result, "resultType", json_string("complete"));
    json_object_set_new(result, "_meta",
                        json_pack("{s{ssss}}", "io.modelcontextprotocol/serverInfo", "name", "nsys-ai", "version",
                                  NAI_VERSION));
  }
  json_t *reply = json_pack("{sssOso}", "jsonrpc", "2.0", "id", id, "result", result);
  if (nai_json_lacks()) {
    struct nai_rpc_error error = {.code = NAI_RPC_INTERNAL, .message = "Out of memory"};
    json_decref(reply);
    nai_rpc_put_error(out, id, &error);
    return;
  }
  put_line(out, reply);
}

void nai_rpc_put_error(struct nai_buf *out, const json_t *id, struct nai_rpc_error *error) {
  NAI_SCOPED(nai_buf) clean = {0};
  nai_text_clean(&clean, error->message, strlen(error->message));
  put_line(out, json_pack("{sssO*s{sissso*}}", "jsonrpc", "2.0", "id", id, "error", "code", error->code, "message",
                          nai_buf_str(&clean), "data", error->data));
  *error = (struct nai_rpc_error){0};
}

void nai_rpc_put_note(struct nai_buf *out, const char *method, json_t *params) {
  put_line(out, json_pack("{sssssO}", "jsonrpc", "2.0", "method", method, "params", params));
  json_decref(params);
}
