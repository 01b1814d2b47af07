/* Shows a view on the terminal and gives it the keys. */
#pragma once

#include "features/view/view.h"

/* Why the terminal cannot show a view, NULL when it can: it is none, or has no way to place the cursor. */
const char *nai_display_trouble(void);
/* Runs until the user quits. *ended_by: the signal that ended it, 0 for none; the terminal is as it was before in any
 * case. Standard input and output are the terminal. */
NAI_MUST_CHECK int nai_display_run(int *ended_by, struct nai_term *view, bool color, struct nai_err *err);
