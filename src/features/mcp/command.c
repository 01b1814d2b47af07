/* nsys-ai mcp: a server for programs that talk to language models. */
#include "command/command.h"

#include "features/mcp/agent.h"

static void init(void *memory) {
  struct nai_agent_options *args = memory;
  args->timeout_s = NAI_AGENT_TIMEOUT_S;
  args->max_chars = NAI_AGENT_CHARS;
}

#define NAI_CLI_ARGS struct nai_agent_options
static const struct nai_cli_option options[] = {
    NAI_CLI_LIST(texts, roots, root_count, "root", "DIR",
                 "clients may name traces and runs below this directory; repeatable",
                 .otherwise = "the working directory", .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_OPTION(text, cache, "cache", "DIR", "where analyses that clients ask for are kept",
                   .otherwise = "$XDG_CACHE_HOME/nsys-ai/runs or ~/.cache/nsys-ai/runs", .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_OPTION(number, timeout_s, "timeout", "SECONDS",
                   "end a call that takes longer; analyses, comparisons and exports may take ten times as long",
                   NAI_CLI_RANGE(1, 100000)),
    NAI_CLI_OPTION(int, max_chars, "max-chars", "N",
                   "most characters of one answer; longer ones are delivered by pages",
                   NAI_CLI_RANGE(NAI_AGENT_LEAST_CHARS, NAI_AGENT_MOST_CHARS)),
    {0},
};

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  (void)operands, (void)count;
  return nai_agent_serve(memory, err);
}

NAI_CLI_COMMAND(
    nai_cmd_mcp, .name = "mcp", .synopsis = "",
    .summary = "serve the Model Context Protocol on standard input and output",
    .description =
        "A server that clients of language models start and ask: tools over traces and runs, with bounded answers. It "
        "reads below --root only, changes nothing there, writes into its cache only, and uses no network. "
        "docs/agents.md says how to register it.",
    .examples = "nsys-ai mcp --root traces --root artifacts\nclaude mcp add nsys-ai -- nsys-ai mcp --root \"$PWD\"",
    .options = options, .no_json = "the protocol is JSON", .init = init, .run = run)
