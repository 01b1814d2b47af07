/* Answers of the reading commands that other features print, too. */
#pragma once

#include "command/asking.h"

/* pages.c: a built-in page; `what` is its parameter :what, or NULL. ask->format is an index of nai_cmd_page_formats. */
NAI_MUST_CHECK int nai_cmd_print_page(struct nai_buf *out, const char *id, struct nai_run *run, const char *what,
                                      const struct nai_cmd_ask *ask, struct nai_err *err);

/* explain.c: what is known of a thing of that name, as nsys-ai explain prints it. */
NAI_MUST_CHECK int nai_cmd_explain_name(struct nai_buf *out, struct nai_run *run, const char *what,
                                        const struct nai_cmd_ask *ask, struct nai_err *err);

/* explain_kernel.c: the category of a name, and why; `classes_path` is a file of the user's, or NULL. */
NAI_MUST_CHECK int nai_cmd_explain_kernel(struct nai_buf *out, const char *kernel_name, const char *classes_path,
                                          const struct nai_cmd_ask *ask, struct nai_err *err);

/* tree_markdown.c: the ranges of each thread with their kernels, in at most 60,000 bytes. */
NAI_MUST_CHECK int nai_cmd_put_markdown(struct nai_buf *out, struct nai_run *run, struct nai_err *err);
