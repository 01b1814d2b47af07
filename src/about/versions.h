/* What the program is made of. */
#pragma once

#include "base/buf.h"

/* Appends lines: the machine it is for and how it is linked, compiler and C library; the libraries that it uses, as
 * they call their versions themselves. */
void nai_put_versions(struct nai_buf *out);
