/* The scenarios the generator knows: each is a function that plans one trace. */
#ifndef NAI_GEN_SCENARIO_H
#define NAI_GEN_SCENARIO_H

#include "plan.h"

struct nai_gen_scenario {
    const char *name;
    const char *summary;
    void (*plan)(struct nai_gen_plan *plan, int64_t target_bytes);
    int first_schema;    /* oldest generation that can express it */
    bool sized;          /* takes --size */
    bool without_checks; /* needs rows that break NOT NULL */
    bool all_tables;     /* writes empty tables, too */
};

/* The list ends with a NULL name. */
extern const struct nai_gen_scenario nai_gen_scenarios[];

void nai_gen_plan_inference(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_training(struct nai_gen_plan *plan, int64_t target_bytes);
void nai_gen_plan_copy_bound(struct nai_gen_plan *plan, int64_t target_bytes);

#endif
