/* Ranks: one distributed job captured on every rank, with planned clocks and stragglers, and the truth about them. */
#pragma once

#include "cli/cli.h"

extern const struct nai_cli_command nai_gen_ranks_command;
