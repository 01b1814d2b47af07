/* A large trace in the proportions of a real PyTorch capture: per kernel about 1.9 API calls
 * and 4.75 NVTX ranges whose texts are unique, from three annotated threads in each of two
 * processes. */
#include <stdio.h>
#include <string.h>

#include "gen/scenario.h"

enum { RANKS = 2, KERNELS = 24, STEP_OPERATORS = 360, DEFAULT_MEBIBYTES = 8 };

struct operators {
  int module, linear, transpose, as_strided, addmm, add, empty, mul, copy, norm, view, backward, accumulate, loader,
      batch, step;
};

struct rank {
  struct nai_gen_plan *plan;
  const struct operators *ops;
  const int *kernels;
  int reduce;
  int main, autograd, loader;
  int compute, comm;
  int64_t op_id, sequence;
};

static void declare_kernels(struct nai_gen_plan *plan, int *kernels) {
  static const struct {
    const char *head, *tail, *base;
    enum nai_gen_api api;
  } shapes[] = {{"void at::native::vectorized_elementwise_kernel<(int)",
                 ", at::native::CUDAFunctor_add<float>, std::array<char *, (unsigned long)3>>(int, T2, T3)",
                 "vectorized_elementwise_kernel", API_LAUNCH},
                {"nvjet_tst_", "x192_64x4_2x1_v_bz_coopB_bias_TNN", NULL, API_LAUNCH_DRIVER},
                {"void at::native::reduce_kernel<(int)",
                 ", (int)1, at::native::ReduceOp<float, at::native::MeanOps<float, float>, unsigned int, "
                 "float, (int)4, (int)4>>(T3)",
                 "reduce_kernel", API_LAUNCH},
                {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)",
                 ", (int)128, (int)64, (int)4, cutlass::bfloat16_t>, (bool)0>(flash::Flash_fwd_params)",
                 "flash_fwd_kernel", API_LAUNCH}};
  char name[256];
  for (int i = 0; i < KERNELS; i++) {
    int shape = i % 4;
    snprintf(name, sizeof name, "%s%d%s", shapes[shape].head, 1 << (1 + i / 4), shapes[shape].tail);
    kernels[i] = nai_gen_kernel_from(plan, &(struct nai_gen_kernel_spec){name, shapes[shape].base, NAI_GEN_COMPUTE,
                                                                         shapes[shape].api});
  }
}

static void declare_operators(struct nai_gen_plan *plan, struct operators *o) {
  o->module = nai_gen_name(plan, "TransformerBlock");
  o->linear = nai_gen_name(plan, "aten::linear");
  o->transpose = nai_gen_name(plan, "aten::t");
  o->as_strided = nai_gen_name(plan, "aten::as_strided");
  o->addmm = nai_gen_name(plan, "aten::addmm");
  o->add = nai_gen_name(plan, "aten::add");
  o->empty = nai_gen_name(plan, "aten::empty_strided");
  o->mul = nai_gen_name(plan, "aten::mul");
  o->copy = nai_gen_name(plan, "aten::_to_copy");
  o->norm = nai_gen_name(plan, "aten::native_layer_norm");
  o->view = nai_gen_name(plan, "aten::view");
  o->backward = nai_gen_name(plan, "autograd::engine::evaluate_function: AddmmBackward0");
  o->accumulate = nai_gen_name(plan, "torch::autograd::AccumulateGrad");
  o->loader = nai_gen_name(plan, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
  o->batch = nai_gen_name(plan, "collate");
  o->step = nai_gen_name(plan, "train_step");
}

static char *put_number(char *at, int64_t number) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (count > 0) {
    *at++ = digits[--count];
  }
  return at;
}

/* ", seq = N, op_id = N" by hand: this runs millions of times. */
static void push(struct rank *r, int thread, int name, bool with_gradient) {
  char suffix[64];
  char *at = suffix;
  if (with_gradient) {
    memcpy(at, ", seq = ", 8);
    at = put_number(at + 8, r->sequence++);
  }
  memcpy(at, ", op_id = ", 10);
  at = put_number(at + 10, r->op_id++);
  *at = '\0';
  nai_gen_push(r->plan, thread, name, suffix);
}

static void leaf(struct rank *r, int thread, int name) {
  push(r, thread, name, false);
  nai_gen_pop(r->plan, thread);
}

static void launch(struct rank *r, int thread) {
  struct nai_gen_rng *rng = nai_gen_rng(r->plan);
  int kernel = r->kernels[nai_gen_rng_between(rng, 0, KERNELS - 1)];
  int64_t dice = nai_gen_rng_between(rng, 0, 99);
  if (dice < 45) {
    nai_gen_call(r->plan, thread, API_KERNEL_ATTRIBUTE, 400);
  }
  if (dice < 30) {
    nai_gen_call(r->plan, thread, API_IS_CAPTURING, 300);
  }
  nai_gen_launch(r->plan, thread, r->compute, kernel, nai_gen_rng_between(rng, 4000, 42000));
  if (dice >= 90) {
    nai_gen_call(r->plan, thread, API_EVENT_RECORD, 900);
  }
}

/* aten::linear with its views and its matrix product: 6 ranges, 1 kernel. */
static void run_linear(struct rank *r, int thread) {
  push(r, thread, r->ops->linear, true);
  push(r, thread, r->ops->transpose, true);
  leaf(r, thread, r->ops->as_strided);
  nai_gen_pop(r->plan, thread);
  leaf(r, thread, r->ops->view);
  push(r, thread, r->ops->addmm, true);
  launch(r, thread);
  nai_gen_pop(r->plan, thread);
  leaf(r, thread, r->ops->view);
  nai_gen_pop(r->plan, thread);
}

/* An operator that allocates its result: 2 ranges, 1 kernel. */
static void run_elementwise(struct rank *r, int thread, int name) {
  push(r, thread, name, true);
  leaf(r, thread, r->ops->empty);
  launch(r, thread);
  nai_gen_pop(r->plan, thread);
}

/* 7 ranges, 2 kernels. */
static void run_backward(struct rank *r) {
  push(r, r->autograd, r->ops->backward, true);
  run_elementwise(r, r->autograd, r->ops->mul);
  leaf(r, r->autograd, r->ops->view);
  push(r, r->autograd, r->ops->accumulate, false);
  leaf(r, r->autograd, r->ops->view);
  push(r, r->autograd, r->ops->add, false);
  launch(r, r->autograd);
  nai_gen_pop(r->plan, r->autograd);
  nai_gen_pop(r->plan, r->autograd);
  nai_gen_pop(r->plan, r->autograd);
}

static void run_copies(struct rank *r) {
  const struct nai_gen_copy input = {NAI_GEN_HTOD, NAI_GEN_PINNED, NAI_GEN_DEVICE, 1 << 20, 52000, false};
  const struct nai_gen_copy move = {NAI_GEN_DTOD, NAI_GEN_DEVICE, NAI_GEN_DEVICE, 4 << 20, 6000, false};
  push(r, r->main, r->ops->copy, false);
  nai_gen_copy(r->plan, r->main, r->compute, &input);
  for (int i = 0; i < 24; i++) {
    nai_gen_copy(r->plan, r->main, r->compute, &move);
  }
  for (int i = 0; i < 12; i++) {
    nai_gen_set(r->plan, r->main, r->compute, 4096, 1100);
  }
  nai_gen_pop(r->plan, r->main);
}

static void train_step(struct rank *r) {
  struct nai_gen_plan *plan = r->plan;
  nai_gen_push(plan, r->main, r->ops->step, NULL);
  run_copies(r);
  for (int i = 0; i < STEP_OPERATORS; i++) {
    if (i % 2 == 0) {
      push(r, r->main, r->ops->module, false);
      run_linear(r, r->main);
      leaf(r, r->main, r->ops->view);
      nai_gen_pop(plan, r->main);
    } else {
      run_elementwise(r, r->main, i % 4 == 1 ? r->ops->add : r->ops->norm);
    }
    if (i % 3 == 0) {
      push(r, r->loader, r->ops->loader, false);
      leaf(r, r->loader, r->ops->batch);
      nai_gen_pop(plan, r->loader);
    }
  }
  nai_gen_wait_until(plan, r->autograd, nai_gen_now(plan, r->main));
  for (int i = 0; i < STEP_OPERATORS / 4; i++) {
    run_backward(r);
    if (i % 30 == 29) {
      nai_gen_stream_wait(plan, r->autograd, r->comm, r->compute);
      nai_gen_launch(plan, r->autograd, r->comm, r->reduce, 600000);
    }
  }
  nai_gen_wait_until(plan, r->main, nai_gen_now(plan, r->autograd));
  nai_gen_pop(plan, r->main);
  nai_gen_synchronize(plan, r->main, r->compute, API_DEVICE_SYNC, 0);
}

static void open_rank(struct rank *r, struct nai_gen_plan *plan, int index) {
  int pid = 12001 + index;
  int process = nai_gen_process(plan, pid, "python3");
  int context = nai_gen_context(plan, process, index, 1 + index, nai_gen_gpu(plan, index));
  r->plan = plan;
  r->main = nai_gen_thread(plan, process, pid, "python3");
  r->autograd = nai_gen_thread(plan, process, pid + 200, "pt_autograd_0");
  r->loader = nai_gen_thread(plan, process, pid + 300, "pt_data_pin");
  r->compute = nai_gen_stream(plan, context, 7 + 8 * index);
  r->comm = nai_gen_stream(plan, context, 20 + 8 * index);
  r->op_id = 100000;
  r->sequence = 40000;
  nai_gen_correlation_base(plan, process, 2000000);
}

/* All clocks meet after each step, so that a step can be written and forgotten. */
static void meet(struct nai_gen_plan *plan, struct rank *ranks) {
  int64_t latest = 0;
  for (int i = 0; i < RANKS; i++) {
    const int64_t times[] = {nai_gen_now(plan, ranks[i].main), nai_gen_now(plan, ranks[i].autograd),
                             nai_gen_now(plan, ranks[i].loader), nai_gen_ready(plan, ranks[i].compute),
                             nai_gen_ready(plan, ranks[i].comm)};
    for (size_t t = 0; t < sizeof times / sizeof times[0]; t++) {
      latest = times[t] > latest ? times[t] : latest;
    }
  }
  for (int i = 0; i < RANKS; i++) {
    nai_gen_wait_until(plan, ranks[i].main, latest);
    nai_gen_wait_until(plan, ranks[i].autograd, latest);
    nai_gen_wait_until(plan, ranks[i].loader, latest);
  }
}

void nai_gen_plan_bench(struct nai_gen_plan *plan, int64_t target_bytes) {
  struct operators operators;
  struct rank ranks[RANKS];
  int kernels[KERNELS];
  int64_t target = target_bytes ? target_bytes : (int64_t)nai_gen_scaled(plan, DEFAULT_MEBIBYTES) << 20;
  declare_kernels(plan, kernels);
  declare_operators(plan, &operators);
  int reduce = nai_gen_kernel_from(plan, &(struct nai_gen_kernel_spec){"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", NULL,
                                                                       NAI_GEN_COMM, API_LAUNCH_EX});
  for (int i = 0; i < RANKS; i++) {
    open_rank(&ranks[i], plan, i);
    ranks[i].ops = &operators;
    ranks[i].kernels = kernels;
    ranks[i].reduce = reduce;
  }
  do {
    for (int i = 0; i < RANKS; i++) {
      train_step(&ranks[i]);
    }
    meet(plan, ranks);
    nai_gen_flush(plan);
  } while (nai_gen_written_bytes(plan) < target);
  nai_gen_expect_no_findings(plan, "no-nvtx low-nvtx-coverage exposed-copy");
}
