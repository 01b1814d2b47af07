/* Nights: a series of small traces of one program, with planned changes, and the truth about them. */
#pragma once

#include "cli/cli.h"

extern const struct nai_cli_command nai_gen_series_command;
