/* Nights: a series of small traces of one program, with planned changes, and the truth about them. */
#ifndef NAI_GEN_SERIES_H
#define NAI_GEN_SERIES_H

#include "cli/cli.h"

extern const struct nai_cli_command nai_gen_series_command;

#endif
