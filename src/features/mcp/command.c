/* nsys-ai mcp: a server for programs that talk to language models. */
#include "command/command.h"

#include "features/mcp/agent.h"

static void init(void *memory) {
  struct nai_agent_options *args = memory;
  args->timeout_s = NAI_AGENT_TIMEOUT_S;
  args->max_chars = NAI_AGENT_CHARS;
}

#define AT(field) .at = offsetof(struct nai_agent_options, field)
static const struct nai_cli_option options[] = {
    {.name = "root",
     .value = "DIR",
     .help = "clients may name traces and runs below this directory; repeatable",
     .type = &nai_cli_texts,
     AT(roots),
     .count_at = offsetof(struct nai_agent_options, root_count),
     .most = NAI_AGENT_MAX_ROOTS,
     .otherwise = "the working directory",
     .hint = NAI_CLI_DIRECTORY},
    {.name = "cache",
     .value = "DIR",
     .help = "where analyses that clients ask for are kept",
     .type = &nai_cli_text,
     AT(cache),
     .otherwise = "$XDG_CACHE_HOME/nsys-ai/runs or ~/.cache/nsys-ai/runs",
     .hint = NAI_CLI_DIRECTORY},
    {.name = "timeout",
     .value = "SECONDS",
     .help = "end a call that takes longer; analyses, comparisons and exports may take ten times as long",
     .type = &nai_cli_number,
     AT(timeout_s),
     .min = 1,
     .max = 100000},
    {.name = "max-chars",
     .value = "N",
     .help = "most characters of one answer; longer ones are delivered by pages",
     .type = &nai_cli_int,
     AT(max_chars),
     .min = NAI_AGENT_LEAST_CHARS,
     .max = NAI_AGENT_MOST_CHARS},
    {0},
};

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  (void)operands, (void)count, (void)program;
  return nai_agent_serve(memory, err);
}

const struct nai_cli_command nai_cmd_mcp = {
    .name = "mcp",
    .synopsis = "",
    .summary = "serve the Model Context Protocol on standard input and output",
    .description = "A server that clients of language models start and ask: tools over traces and runs, with bounded "
                   "answers. It reads below --root only, changes nothing there, writes into its cache only, and uses "
                   "no network. docs/agents.md says how to register it.",
    .examples = "nsys-ai mcp --root traces --root artifacts\nclaude mcp add nsys-ai -- nsys-ai mcp --root \"$PWD\"",
    .options = options,
    .args_size = sizeof(struct nai_agent_options),
    .init = init,
    .run = run,
};
