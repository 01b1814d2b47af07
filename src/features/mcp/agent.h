/* A server of the Model Context Protocol on standard input and output (docs/agents.md): programs that talk to a
 * language model ask it about traces and runs. Every answer is that of a command of this program, run in a process of
 * its own. */
#pragma once

#include "base/err.h"

enum { NAI_AGENT_MAX_ROOTS = 16 };

struct nai_agent_options {
  const char *roots[NAI_AGENT_MAX_ROOTS]; /* directories that traces and runs may lie in; none: the working directory */
  size_t root_count;
  const char *cache; /* directory for runs of the server's own; NULL: $XDG_CACHE_HOME/nsys-ai/runs */
  double timeout_s;  /* of one call; that of an analysis is ten times as long */
  int max_chars;     /* of one answer */
};
enum { NAI_AGENT_TIMEOUT_S = 60, NAI_AGENT_CHARS = 24000, NAI_AGENT_LEAST_CHARS = 2000, NAI_AGENT_MOST_CHARS = 80000 };

/* Serves until standard input ends. */
NAI_MUST_CHECK int nai_agent_serve(const struct nai_agent_options *options, struct nai_err *err);
