/* Stage skills: the skills that a report is asked to hold, each a table of the run. Internal to src/pipeline. */
#pragma once

#include "pipeline/analyze.h"
#include "rules/rules.h"
#include "skills/skill.h"

struct nai_state_skills {
  struct nai_skill *list[NAI_MAX_SKILLS]; /* in the order they were asked for */
  size_t count;
  struct nai_schema *schemas[NAI_MAX_SKILLS];           /* of their tables */
  const struct nai_schema *outputs[NAI_MAX_SKILLS + 2]; /* what was answered, then each table; ends with NULL */
  struct nai_rules_extra rules[NAI_MAX_SKILLS];         /* those that have rules */
  size_t rule_count;
  struct nai_node node;
  const struct nai_node *nodes[2];
  uint64_t hash; /* of files and parameters */
};

/* Reads and checks the skills of the options. None: everything stays zero. */
NAI_MUST_CHECK int nai_state_skills_load(struct nai_state_skills *skills, const struct nai_options *options,
                                         struct nai_err *err);
void nai_state_skills_free(struct nai_state_skills *skills);
