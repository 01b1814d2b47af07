/* A line as a client of nsys-ai mcp sends it, and the same bytes as what a command printed: whatever they are, each
 * reply is one line of JSON, no longer than it may be, and nothing breaks. No command is started. */
#include "features/mcp/internal.h"

#include "base/assets.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct nai_agent *agent(void) {
  static struct nai_agent made;
  const struct nai_asset *text = nai_asset_find("src/features/mcp/catalogue.json");
  if (made.catalogue)
    return &made;
  made.options = (struct nai_agent_options){.timeout_s = 1, .max_chars = NAI_AGENT_LEAST_CHARS};
  made.roots[made.root_count++] = strdup("/proc/self/fdinfo");
  made.catalogue = json_loadb(text->data, (size_t)(text->end - text->data), 0, NULL);
  if (!made.catalogue)
    abort();
  return &made;
}

/* One line, and JSON. */
static void check(struct nai_buf *reply) {
  const char *text = nai_buf_str(reply);
  json_t *read = json_loadb(text, reply->len, JSON_REJECT_DUPLICATES, NULL);
  if (!reply->len || !json_is_object(read) || memchr(text, '\n', reply->len) != text + reply->len - 1)
    abort();
  json_decref(read);
  nai_buf_free(reply);
}

static void check_result(json_t *result) {
  const char *text = json_string_value(json_object_get(json_array_get(json_object_get(result, "content"), 0), "text"));
  struct nai_buf reply = {0};
  json_t *id = json_integer(1);
  if (!text || strlen(text) > NAI_AGENT_LEAST_CHARS)
    abort();
  nai_rpc_put_result(&reply, id, true, result);
  json_decref(id);
  check(&reply);
}

/* As what each kind of tool got from its command. */
static void answer(const uint8_t *data, size_t size) {
  struct nai_buf printed[NAI_AGENT_MAX_STEPS] = {{0}};
  for (int i = 0; i < NAI_AGENT_MAX_STEPS; i++)
    nai_buf_put(&printed[i], data, size);
  for (int shape = NAI_AGENT_ROWS; shape <= NAI_AGENT_TEXT; shape++)
    for (int offset = 0; offset < 3; offset += 2) {
      struct nai_agent_call call = {.name = "findings",
                                    .arguments = json_object(),
                                    .shape = (enum nai_agent_shape)shape,
                                    .limit = 5,
                                    .offset = offset,
                                    .cell_chars = 400,
                                    .step_count = shape % 2 + 1};
      check_result(nai_agent_answer(agent(), &call, printed));
      nai_agent_call_free(&call);
    }
  for (int i = 0; i < NAI_AGENT_MAX_STEPS; i++)
    nai_buf_free(&printed[i]);
}

static void call(struct nai_rpc_error *error, const json_t *params) {
  struct nai_agent_call prepared;
  struct nai_buf said = {0};
  if (!nai_agent_prepare(&prepared, &said, error, agent(), params) && said.len)
    check_result(nai_agent_refusal(nai_buf_str(&said)));
  nai_agent_call_free(&prepared);
  nai_buf_free(&said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct nai_rpc_request request;
  struct nai_rpc_error error = {0};
  struct nai_buf reply = {0};
  json_t *result = NULL;
  bool wanted, is_call = false;
  if (!nai_rpc_read(&request, &wanted, &error, (const char *)data, size) && request.method) {
    result = nai_agent_method(&is_call, &error, agent(), &request);
    if (is_call)
      call(&error, request.params);
  }
  if (error.code)
    nai_rpc_put_error(&reply, request.id, &error);
  else if (result && request.id)
    nai_rpc_put_result(&reply, request.id, request.modern, json_incref(result));
  if (reply.len)
    check(&reply);
  json_decref(result);
  nai_rpc_free(&request);
  answer(data, size);
  return 0;
}
