/* Shared by the files behind skill.h. Internal to src/skills. */
#pragma once

#include "skills/skill.h"

/* skill_load.c: fills what the parsed document says. */
NAI_MUST_CHECK int nai_skill_read(struct nai_skill *skill, struct nai_err *err);
NAI_MUST_CHECK int nai_page_read(struct nai_skill *page, struct nai_err *err);
/* parameters.c: a text as a parameter's value. */
NAI_MUST_CHECK int nai_skill_value(struct nai_value *out, const struct nai_skill_parameter *parameter, const char *text,
                                   struct nai_err *err);
/* Parameters that every skill has. */
extern const char *const nai_skill_always[NAI_SKILL_ALWAYS];
