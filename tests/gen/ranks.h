/* Ranks: one distributed job captured on every rank, with planned clocks and stragglers, and the truth about them. */
#ifndef NAI_GEN_RANKS_H
#define NAI_GEN_RANKS_H

#include "cli/cli.h"

extern const struct nai_cli_command nai_gen_ranks_command;

#endif
