#include "scenario.h"

const struct nai_gen_scenario nai_gen_scenarios[] = {
    {.name = "inference",
     .summary = "LLM serving: prefill, decode with a launch storm, sampling, scheduler",
     .plan = nai_gen_plan_inference,
     .first_schema = NAI_GEN_2019},
    {.name = "training",
     .summary = "2 processes on 2 GPUs, data parallel, NCCL partly overlapped, PyTorch ranges",
     .plan = nai_gen_plan_training,
     .first_schema = NAI_GEN_2019},
    {.name = "copy-bound",
     .summary = "pageable and pinned copies dominate; kernels alone would look idle",
     .plan = nai_gen_plan_copy_bound,
     .first_schema = NAI_GEN_2019},
    {.name = NULL}};
