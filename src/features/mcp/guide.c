/* nsys-ai guide: what a language model, or who sets one up, has to know. */
#include "command/command.h"

#include "base/assets.h"
#include "table/json.h"

struct guide_args {
  int config; /* index of clients; -1: the guide itself */
  bool json;
};

static void init(void *memory) { ((struct guide_args *)memory)->config = -1; }

/* How each client is told of the server; docs/agents.md has the same. */
static const struct {
  const char *name, *text;
} clients[] = {
    {"claude", "{\n"
               "  \"mcpServers\": {\n"
               "    \"nsys-ai\": {\"command\": \"nsys-ai\", \"args\": [\"mcp\", \"--root\", \".\"]}\n"
               "  }\n"
               "}\n"},
    {"codex", "[mcp_servers.nsys-ai]\n"
              "command = \"nsys-ai\"\n"
              "args = [\"mcp\", \"--root\", \"/path/to/traces\"]\n"
              "tool_timeout_sec = 120\n"},
    {"vscode", "{\n"
               "  \"servers\": {\n"
               "    \"nsys-ai\": {\"type\": \"stdio\", \"command\": \"nsys-ai\", \"args\": [\"mcp\", \"--root\", "
               "\"${workspaceFolder}\"]}\n"
               "  }\n"
               "}\n"},
};
enum { CLIENTS = sizeof clients / sizeof *clients };

NAI_CLI_NAMES_OF(client_name, clients)

#define NAI_CLI_ARGS struct guide_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(choice, config, "config", "CLIENT",
                   "print the configuration that registers the server with a client instead", .choices = client_name,
                   .otherwise = "the guide"),
    NAI_CLI_SWITCH(on, json, "json", "print it as a member of an object, one line of JSON"),
    {0},
};

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct guide_args *args = memory;
  const struct nai_asset *page = nai_asset_find("docs/llm-guide.md");
  NAI_SCOPED(nai_buf) out = {0}, text = {0};
  struct nai_json json;
  (void)operands, (void)count;
  if (args->config >= 0)
    nai_buf_puts(&text, clients[args->config].text);
  else if (page && !args->json && nai_cmd_terminal_width())
    nai_cmd_page(&text, page->data, (size_t)(page->end - page->data), nai_cmd_prose_width(), nai_cmd_color());
  else if (page)
    nai_buf_put(&text, page->data, (size_t)(page->end - page->data));
  if (!args->json)
    return nai_cmd_print(&text, err);
  nai_json_open(&json, &out, NAI_JSON_INLINE);
  nai_json_put_text(&json, "schema_version", "1.0");
  nai_json_put_text(&json, "client", args->config >= 0 ? clients[args->config].name : NULL);
  nai_json_put_text(&json, "text", nai_buf_str(&text));
  nai_json_close(&json);
  return nai_cmd_print(&out, err);
}

NAI_CLI_COMMAND(
    nai_cmd_guide, .name = "guide", .synopsis = "",
    .summary = "print what a language model has to know, or how to register the server with a client",
    .description =
        "Prints, as Markdown, how to work with traces by the commands of this program: the order of work, what numbers "
        "mean, what not to conclude. Give it to a language model that runs commands itself. With --config it prints "
        "the configuration that makes a client start nsys-ai mcp: for claude the file .mcp.json of a repository, for "
        "codex a part of ~/.codex/config.toml, for vscode the file .vscode/mcp.json.",
    .examples = "nsys-ai guide\nnsys-ai guide --config claude > .mcp.json", .options = options, .init = init,
    .run = run)
