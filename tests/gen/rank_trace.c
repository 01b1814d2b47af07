#include "gen/rank_trace.h"

#include "gen/collective.h"
#include "gen/plan_internal.h"

enum { US = 1000, DOMAIN = 1, FLUSH_EVERY = 20000 };
static const uint64_t communicator = UINT64_C(0x5eed0123456789ab);

enum { K_GEMM, K_EXTRA, K_ALL_REDUCE, K_FOREIGN, KERNELS };
static const struct nai_gen_kernel_spec kernel_specs[KERNELS] = {
    [K_GEMM] = {"nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNN", NULL, NAI_GEN_COMPUTE, API_LAUNCH_EX},
    [K_EXTRA] = {"void softmax_warp_forward<float, float, float, (int)10>(T2 *, const T1 *, int)", NULL,
                 NAI_GEN_COMPUTE, API_LAUNCH},
    [K_ALL_REDUCE] = {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)", NULL,
                      NAI_GEN_COMM, API_LAUNCH_EX},
    [K_FOREIGN] = {"void lattice_update<double>(double *, int)", NULL, NAI_GEN_COMPUTE, API_LAUNCH},
};
enum { N_STEP, N_INIT, N_ALL_REDUCE, NAMES };
static const struct nai_gen_name_spec name_specs[NAMES] = {
    [N_STEP] = {"step", NULL}, [N_INIT] = {"ncclCommInitRankConfig", NULL}, [N_ALL_REDUCE] = {"ncclAllReduce", NULL}};

/* One rank while its trace is planned. */
struct rank {
  struct nai_gen_plan *plan;
  const struct nai_gen_rank_job *job;
  const struct nai_gen_rank_capture *capture;
  int number, kernels[KERNELS], names[NAMES], thread, compute, nccl;
};

static int64_t at(const struct rank *r, int64_t t) { return nai_gen_rank_time(r->job, r->number, t); }

static void open_range(struct rank *r, int name, const struct nai_gen_payload *payload, int i) {
  nai_gen_push_id(r->plan, r->thread, r->names[name], DOMAIN);
  if (r->capture->payloads) {
    struct nai_gen_payload full = *payload;
    full.communicator = communicator + (uint64_t)(r->capture->foreign ? 77 : i % r->capture->communicators);
    nai_gen_attach(r->plan, r->thread, DOMAIN, &full);
  }
}

static void open_rank(struct rank *r, int gpu) {
  struct nai_gen_plan *plan = r->plan;
  int process = nai_gen_process(plan, 7001 + r->number, r->capture->foreign ? "lattice" : "python3");
  r->thread = nai_gen_thread(plan, process, 7001 + r->number, "python3");
  int context = nai_gen_context(plan, process, gpu, 1 + gpu, nai_gen_gpu(plan, gpu));
  nai_gen_correlation_base(plan, process, 5000);
  r->compute = nai_gen_stream(plan, context, 7 + 8 * gpu);
  r->nccl = nai_gen_stream(plan, context, 20 + 8 * gpu);
  nai_gen_domain(plan, r->thread, DOMAIN, "NCCL");
  for (int c = 0; r->capture->initialisation && c < r->capture->communicators; c++) {
    open_range(r, N_INIT,
               &(struct nai_gen_payload){
                   .schema = NAI_GEN_NCCL_INIT, .ranks = r->job->how.ranks, .rank = r->number, .device = gpu},
               c);
    nai_gen_work(plan, r->thread, 50 * US);
    nai_gen_pop(plan, r->thread);
  }
}

/* Compute until the rank comes to the collective; what makes it late comes last. */
static void compute(struct rank *r, int i) {
  enum { LEAD = 10 * US, SPARE = 2 * US };
  int64_t begin = at(r, r->job->begin[i]) + LEAD, late = nai_gen_rank_late(r->job, i, r->number);
  int64_t end = at(r, nai_gen_rank_arrival(r->job, i, r->number)) - SPARE, usual = end - late;
  int gemm = r->kernels[r->capture->foreign ? K_FOREIGN : K_GEMM], with = late ? r->job->how.late_with : -1;
  nai_gen_launch_at(r->plan, r->thread, r->compute, gemm, begin, (with == NAI_GEN_LATE_SLOW ? end : usual) - begin);
  if (with == NAI_GEN_LATE_KERNEL) {
    nai_gen_launch_at(r->plan, r->thread, r->compute, r->kernels[K_EXTRA], usual, end - usual);
  } else if (with == NAI_GEN_LATE_HOST) {
    nai_gen_wait_until(r->plan, r->thread, end - 5 * US);
  } else if (with == NAI_GEN_LATE_COPY) {
    nai_gen_copy(r->plan, r->thread, r->compute,
                 &(struct nai_gen_copy){NAI_GEN_HTOD, NAI_GEN_PINNED, NAI_GEN_DEVICE, 64 << 20, end - usual, false});
  }
}

static void collective(struct rank *r, int i) {
  if (i == r->capture->missing) {
    return;
  }
  int64_t start = at(r, nai_gen_rank_arrival(r->job, i, r->number)), end = at(r, r->job->end[i]);
  int64_t bytes = nai_gen_rank_bytes(r->job, i) * (r->capture->foreign ? 3 : 1);
  open_range(r, N_ALL_REDUCE, &(struct nai_gen_payload){.schema = NAI_GEN_NCCL_ALL_REDUCE, .bytes = bytes}, i);
  nai_gen_launch_at(r->plan, r->thread, r->nccl, r->kernels[K_ALL_REDUCE], start, end - start);
  nai_gen_pop(r->plan, r->thread);
}

static void run_collectives(struct rank *r) {
  const struct nai_gen_rank_job *job = r->job;
  bool open = false;
  for (int i = r->capture->lead; i < job->count; i++) {
    nai_gen_wait_until(r->plan, r->thread, at(r, job->begin[i]));
    if (i % job->how.collectives == 0 || !open) {
      nai_gen_push(r->plan, r->thread, r->names[N_STEP], NULL);
      open = true;
    }
    compute(r, i);
    collective(r, i);
    if ((i + 1) % job->how.collectives == 0) {
      nai_gen_pop(r->plan, r->thread);
      open = false;
    }
    if (!open && job->count > FLUSH_EVERY && (i + 1) / job->how.collectives % (FLUSH_EVERY / 100) == 0) {
      nai_gen_wait_until(r->plan, r->thread, at(r, job->end[i]));
      nai_gen_flush(r->plan);
    }
  }
}

void nai_gen_rank_plan(struct nai_gen_plan *plan, const struct nai_gen_rank_job *job,
                       const struct nai_gen_rank_capture *capture, int rank, int gpu) {
  struct rank r = {.plan = plan, .job = job, .capture = capture, .number = rank};
  nai_gen_even_shapes(plan);
  nai_gen_kernels(plan, r.kernels, kernel_specs, KERNELS);
  nai_gen_names(plan, r.names, name_specs, NAMES);
  if (capture->payloads) {
    nai_gen_nccl_schemas(plan, DOMAIN, 1);
  }
  open_rank(&r, gpu);
  run_collectives(&r);
}
