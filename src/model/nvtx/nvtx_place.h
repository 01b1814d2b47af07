/* Places in the program, as NVTX ranges tell them: names with digits as '#' (base/text.h), so that places which only a
 * number tells apart, such as the layers of a network, are one. */
#pragma once

#include "base/buf.h"
#include "model/model.h"

/* "forward > layer # > attention": the innermost 16 ranges, of long texts the last 400 bytes. Nothing for NULL. */
void nai_nvtx_put_path(struct nai_buf *out, const struct nai_model *model, const struct nai_nvtx_node *node);
