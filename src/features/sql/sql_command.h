/* What the commands sql, skill and table have of each other. Internal to src/features/sql. */
#pragma once

#include "command/asking.h"

/* reference.c: every table and view with its columns. */
NAI_MUST_CHECK int nai_cmd_put_reference(struct nai_buf *out, struct nai_run *run, struct nai_err *err);
/* skill_test.c: runs the tests of skills; prints a line each. *failed counts. */
NAI_MUST_CHECK int nai_cmd_test_skills(struct nai_buf *out, size_t *passed, size_t *wrong,
                                       const struct nai_skill *const *skills, size_t count, struct nai_err *err);
