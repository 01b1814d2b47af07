/* What the methods of the protocol answer that need no process. */
#include "features/mcp/internal.h"

#include "base/assets.h"
#include "base/fs.h"

#include <fcntl.h>
#include <unistd.h>

static const char *const versions[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
enum { VERSIONS = sizeof versions / sizeof *versions, NEWEST_WITH_HANDSHAKE = 1, LIST_TTL_MS = 3600000 };

static json_t *version_list(void) {
  json_t *list = json_array();
  for (size_t i = 0; i < VERSIONS; i++)
    json_array_append_new(list, json_string(versions[i]));
  return list;
}

static json_t *capabilities(void) { return json_pack("{s{}s{}s{}}", "tools", "resources", "prompts"); }

static json_t *instructions(const struct nai_agent *agent) { return json_object_get(agent->catalogue, "instructions"); }

/* How long a client may keep a result, and for whom: of the newer revision. */
static json_t *keep(json_t *result, bool modern, int ttl_ms, const char *scope) {
  if (modern && result) {
    json_object_set_new(result, "ttlMs", json_integer(ttl_ms));
    json_object_set_new(result, "cacheScope", json_string(scope));
  }
  return result;
}

/* --- opening ---------------------------------------------------------------------------------------- */

static json_t *initialize(struct nai_rpc_error *error, const struct nai_agent *agent, const json_t *params) {
  const char *asked = json_string_value(json_object_get(params, "protocolVersion"));
  const char *version = versions[NEWEST_WITH_HANDSHAKE];
  if (!asked) {
    nai_rpc_fail(error, NAI_RPC_PARAMS, "params.protocolVersion is missing");
    return NULL;
  }
  for (size_t i = NEWEST_WITH_HANDSHAKE; i < VERSIONS; i++)
    if (strcmp(asked, versions[i]) == 0)
      version = versions[i];
  return json_pack("{sssos{ssss}sO}", "protocolVersion", version, "capabilities", capabilities(), "serverInfo", "name",
                   "nsys-ai", "version", NAI_VERSION, "instructions", instructions(agent));
}

static json_t *discover(const struct nai_agent *agent) {
  return json_pack("{sososO}", "supportedVersions", version_list(), "capabilities", capabilities(), "instructions",
                   instructions(agent));
}

/* --- resources -------------------------------------------------------------------------------------- */

static const char root_causes[] = "docs/root-causes/", docs[] = "nsys-ai://docs/", runs[] = "nsys-ai://run/";

static json_t *list_resources(const struct nai_agent *agent) {
  json_t *list = json_deep_copy(json_object_get(agent->catalogue, "resources"));
  for (const struct nai_asset *asset = nai_assets; asset->path; asset++) {
    if (strncmp(asset->path, root_causes, strlen(root_causes)) != 0)
      continue;
    const char *name = asset->path + strlen(root_causes), *dot = name + strcspn(name, ".");
    json_array_append_new(list, json_pack("{sososs}", "uri",
                                          json_sprintf("%sroot-causes/%.*s", docs, (int)(dot - name), name), "name",
                                          json_stringn(name, (size_t)(dot - name)), "mimeType", "text/markdown"));
  }
  return list;
}

/* A page of the documentation that is part of the program. */
static const struct nai_asset *find_page(const char *uri) {
  char path[160];
  if (strncmp(uri, docs, strlen(docs)) != 0 || strlen(uri) > 100)
    return NULL;
  snprintf(path, sizeof path, "docs/%s.md", uri + strlen(docs));
  return nai_asset_find(path);
}

/* report.md of a run of the server's own. */
static bool read_report(struct nai_buf *out, const struct nai_agent *agent, const char *uri) {
  enum { MAX_BYTES = 1 << 18 };
  bool of_run = strncmp(uri, runs, strlen(runs)) == 0;
  const char *name = of_run ? uri + strlen(runs) : "", *slash = strchr(name, '/');
  char handle[32], path[PATH_MAX];
  struct nai_err ignored;
  if (!slash || slash - name > 30 || strcmp(slash, "/report.md") != 0)
    return false;
  snprintf(handle, sizeof handle, "%.*s", (int)(slash - name), name);
  if (!nai_agent_is_handle(handle) || nai_agent_path(path, agent, handle, NAI_AGENT_RUN, &ignored))
    return false;
  int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  bool read = directory >= 0 && nai_fs_read_at(out, directory, "report.md", MAX_BYTES, NAI_EINPUT, &ignored) == 0;
  if (directory >= 0)
    close(directory);
  return read;
}

static json_t *read_resource(struct nai_rpc_error *error, const struct nai_agent *agent, const json_t *params) {
  const char *uri = json_string_value(json_object_get(params, "uri"));
  const struct nai_asset *page = uri ? find_page(uri) : NULL;
  NAI_SCOPED(nai_buf) text = {0};
  json_t *result = NULL;
  if (page)
    nai_buf_put(&text, page->data, (size_t)(page->end - page->data));
  if (page || (uri && read_report(&text, agent, uri)))
    result =
        json_pack("{s[{ssssss}]}", "contents", "uri", uri, "mimeType", "text/markdown", "text", nai_buf_str(&text));
  else
    nai_rpc_fail(error, NAI_RPC_PARAMS, uri ? "Unknown resource: %.200s" : "params.uri is missing", uri);
  if (!result && !error->code)
    nai_rpc_fail(error, NAI_RPC_INTERNAL, "The resource is no text");
  return result;
}

/* --- prompts ---------------------------------------------------------------------------------------- */

static json_t *list_prompts(const struct nai_agent *agent) {
  json_t *list = json_deep_copy(json_object_get(agent->catalogue, "prompts")), *prompt;
  size_t i;
  json_array_foreach(list, i, prompt) json_object_del(prompt, "text");
  return list;
}

/* Puts the arguments in the place of {NAME}. */
static bool fill(struct nai_buf *out, const json_t *prompt, const json_t *arguments, struct nai_rpc_error *error) {
  enum { MAX_BYTES = 4096 };
  char name[64];
  for (const char *at = json_string_value(json_object_get(prompt, "text")); *at; at++) {
    const char *end = *at == '{' ? strchr(at, '}') : NULL;
    if (!end) {
      nai_buf_putc(out, *at);
      continue;
    }
    snprintf(name, sizeof name, "%.*s", (int)(end - at - 1), at + 1);
    const json_t *value = json_object_get(arguments, name);
    if (!json_is_string(value) || json_string_length(value) > MAX_BYTES) {
      nai_rpc_fail(error, NAI_RPC_PARAMS, "arguments.%s: a text of at most %d bytes is expected", name, MAX_BYTES);
      return false;
    }
    nai_buf_puts(out, json_string_value(value));
    at = end;
  }
  return true;
}

static json_t *get_prompt(struct nai_rpc_error *error, const struct nai_agent *agent, const json_t *params) {
  const char *name = json_string_value(json_object_get(params, "name"));
  NAI_SCOPED(nai_buf) text = {0};
  json_t *prompts = json_object_get(agent->catalogue, "prompts"), *prompt = NULL, *result = NULL;
  for (size_t i = 0; name && i < json_array_size(prompts) && !prompt; i++)
    if (strcmp(json_string_value(json_object_get(json_array_get(prompts, i), "name")), name) == 0)
      prompt = json_array_get(prompts, i);
  if (!prompt)
    nai_rpc_fail(error, NAI_RPC_PARAMS, name ? "Unknown prompt: %.64s" : "params.name is missing", name);
  else if (fill(&text, prompt, json_object_get(params, "arguments"), error))
    result = json_pack("{sOs[{sss{ssss}}]}", "description", json_object_get(prompt, "description"), "messages", "role",
                       "user", "content", "type", "text", "text", nai_buf_str(&text));
  return result;
}

/* --- all -------------------------------------------------------------------------------------------- */

/* Lists are short: there is one page of each. */
static bool is_list(json_t **result, const struct nai_agent *agent, const char *method) {
  if (strcmp(method, "tools/list") == 0)
    *result = json_pack("{sO}", "tools", json_object_get(agent->catalogue, "tools"));
  else if (strcmp(method, "resources/list") == 0)
    *result = json_pack("{so}", "resources", list_resources(agent));
  else if (strcmp(method, "resources/templates/list") == 0)
    *result = json_pack("{sO}", "resourceTemplates", json_object_get(agent->catalogue, "resourceTemplates"));
  else if (strcmp(method, "prompts/list") == 0)
    *result = json_pack("{so}", "prompts", list_prompts(agent));
  else
    return false;
  return true;
}

static void refuse_version(struct nai_rpc_error *error, const char *asked) {
  nai_rpc_fail(error, NAI_RPC_VERSION, "Unsupported protocol version");
  error->data = json_pack("{soss}", "supported", version_list(), "requested", asked);
}

json_t *nai_agent_method(bool *is_call, struct nai_rpc_error *error, const struct nai_agent *agent,
                         const struct nai_rpc_request *r) {
  const char *version = json_string_value(json_object_get(r->meta, "io.modelcontextprotocol/protocolVersion"));
  json_t *result = NULL;
  *is_call = false;
  if (r->modern && strcmp(version, versions[0]) != 0) {
    refuse_version(error, version);
  } else if (is_list(&result, agent, r->method)) {
    const json_t *cursor = json_object_get(r->params, "cursor");
    keep(result, r->modern, LIST_TTL_MS, "public");
    if (cursor) {
      json_decref(result);
      result = NULL;
      nai_rpc_fail(error, NAI_RPC_PARAMS, "params.cursor: the list has one page");
    }
  } else if (strcmp(r->method, "tools/call") == 0) {
    *is_call = true;
  } else if (strcmp(r->method, "resources/read") == 0) {
    result = keep(read_resource(error, agent, r->params), r->modern, LIST_TTL_MS, "private");
  } else if (strcmp(r->method, "prompts/get") == 0) {
    result = get_prompt(error, agent, r->params);
  } else if (strcmp(r->method, "server/discover") == 0 && r->modern) {
    result = keep(discover(agent), true, LIST_TTL_MS, "public");
  } else if (strcmp(r->method, "server/discover") == 0) {
    nai_rpc_fail(error, NAI_RPC_PARAMS, "_meta: io.modelcontextprotocol/protocolVersion is missing");
  } else if (strcmp(r->method, "initialize") == 0 && !r->modern) {
    result = initialize(error, agent, r->params);
  } else if (strcmp(r->method, "ping") == 0 && !r->modern) {
    result = json_object();
  } else {
    nai_rpc_fail(error, NAI_RPC_NO_METHOD, "Method not found: %.64s", r->method);
  }
  if (!result && !error->code && !*is_call)
    nai_rpc_fail(error, NAI_RPC_INTERNAL, "Out of memory");
  return result;
}
