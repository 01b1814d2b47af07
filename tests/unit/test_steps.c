/* Steps by hand: windows, partition, what counts as a step and what does not. Times are ns. */
#include "model_fixture.h"

#include "analyses/steps/step_cause.h"
#include "base/text.h"
#include "model/steps/step_stats.h"
#include "model/steps/steps.h"
#include "model/steps/steps_build.h"
#include "tables/nvtx_domains.h"
#include "tables/nvtx_events.h"
#include "tables/threads.h"

#include <math.h>
#include <stdio.h>

static int64_t correlation;

/* A call at t that starts a kernel. */
static void launch(struct fixture *f, int64_t thread, int64_t t, const char *name, int64_t start, int64_t end,
                   int64_t stream) {
  int32_t process = (int32_t)nai_get_i64(f->in.tables[NAI_IN_THREADS], thread, THREADS_process);
  fixture_api(f, t, t + 5, thread, "cudaLaunchKernel", ++correlation);
  fixture_kernel(f, start, end, name, 0, process, stream, correlation);
}

static void copy(struct fixture *f, int64_t thread, int64_t t, int64_t start, int64_t end, int64_t kind) {
  fixture_api(f, t, t + 5, thread, "cudaMemcpyAsync", ++correlation);
  fixture_memop(f, start, end, NAI_MEMOP_COPY, 0, 0, 7, correlation, 1000, kind, 1, 2);
}

/* One process with two threads on one GPU. */
static void begin(struct fixture *f) {
  fixture_init(f);
  fixture_gpu(f, 0);
  int32_t process = fixture_process(f, 10);
  fixture_thread(f, process, 10);
  fixture_thread(f, process, 11);
  correlation = 0;
}

static const struct nai_process_steps *steps_of(const struct fixture *f) { return &f->m.steps->processes[0]; }
static const struct nai_gpu_step *gpu_step(const struct fixture *f, uint32_t i) { return &f->m.steps->lists[0].v[i]; }

/* --- windows ---------------------------------------------------------------------------------- */

/* Four steps of 1,000 on the host; kernels run 1,500 later and are launched by either thread. */
static void add_late_steps(struct fixture *f, const char *prefix) {
  for (int i = 0; i < 4; i++) {
    char name[32];
    int64_t t = 1000 * i;
    snprintf(name, sizeof name, "%s%d", prefix, i);
    fixture_nvtx(f, t, t + 900, 0, name, NAI_NVTX_PUSH_POP);
    launch(f, 0, t + 100, "forward", t + 1500, t + 1900, 7);
    launch(f, 1, t + 500, "backward", t + 1900, t + 2300, 7);
    launch(f, 0, t + 850, "update", t + 2350, t + 2400, 7);
  }
}

TEST(test_work_of_every_thread_belongs_to_the_step) {
  struct fixture f;
  begin(&f);
  add_late_steps(&f, "step ");
  fixture_build(&f);
  const struct nai_process_steps *s = steps_of(&f);
  assert_int_equal(s->method, NAI_STEPS_NVTX);
  assert_int_equal(s->count, 4);
  assert_string_equal(s->name, "step #");
  assert_int_equal(s->v[1].start, 1000);
  assert_int_equal(s->v[1].end, 2000);
  assert_int_equal(s->v[3].end, 3900);
  assert_int_equal(f.m.steps->list_count, 1);
  for (uint32_t i = 0; i < 4; i++) {
    const struct nai_gpu_step *g = gpu_step(&f, i);
    assert_int_equal(g->start, 1500 + 1000 * i);
    assert_int_equal(g->end, i < 3 ? 2500 + 1000 * i : 5400);
    assert_int_equal(g->kernels, 3);
    assert_int_equal(g->launch_calls, 3);
    assert_int_equal(g->launch_api_ns, 15);
    assert_int_equal(g->compute_ns, 850);
    assert_int_equal(g->idle_ns, i < 3 ? 150 : 50);
    assert_int_equal(g->end_idle_ns, i < 3 ? 100 : 0);
    assert_int_equal(g->first_use, i ? 0 : 3);
  }
  fixture_free(&f);
}

/* Records of the driver lie in calls, or reach out of them: each moment counts once. */
TEST(test_loading_counts_once) {
  struct fixture f;
  begin(&f);
  add_late_steps(&f, "step ");
  fixture_api(&f, 1200, 1300, 0, "cuLibraryLoadData", 0);
  fixture_overhead(&f, 1250, 1280, 0, "Runtime Triggered Module Loading", NAI_OVERHEAD_CUDA);
  fixture_overhead(&f, 1290, 1340, 0, "Lazy Function Loading", NAI_OVERHEAD_CUDA);
  fixture_overhead(&f, 1250, 1280, 1, "Lazy Function Loading", NAI_OVERHEAD_CUDA); /* another thread loads as well */
  fixture_build(&f);
  for (uint32_t i = 0; i < 4; i++)
    assert_int_equal(steps_of(&f)->v[i].loading_ns, i == 1 ? 140 + 30 : 0);
  fixture_free(&f);
}

TEST(test_parts_add_up_beside_communication_and_copies) {
  struct fixture f;
  begin(&f);
  for (int i = 0; i < 3; i++) {
    char name[32];
    int64_t t = 1000 * i;
    snprintf(name, sizeof name, "iteration %d", i);
    fixture_nvtx(&f, t, t + 950, 0, name, NAI_NVTX_PUSH_POP);
    launch(&f, 0, t + 10, "compute", t + 100, t + 500, 7);
    launch(&f, 0, t + 20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)", t + 300, t + 700,
           9);
    copy(&f, 0, t + 30, t + 650, t + 800, 1);
  }
  fixture_build(&f);
  for (uint32_t i = 0; i < 3; i++) {
    const struct nai_gpu_step *g = gpu_step(&f, i);
    assert_int_equal(g->compute_ns, 400);
    assert_int_equal(g->exposed_comm_ns, 200);
    assert_int_equal(g->exposed_copy_ns, 100);
    assert_int_equal(g->idle_ns, i < 2 ? 300 : 0);
    assert_int_equal(g->compute_ns + g->exposed_comm_ns + g->exposed_copy_ns + g->idle_ns, g->end - g->start);
    assert_int_equal(g->htod_bytes, 1000);
  }
  fixture_free(&f);
}

/* Work of the third step overtakes that of the second on another stream: windows still follow each other. */
TEST(test_windows_never_overlap) {
  struct fixture f;
  begin(&f);
  add_late_steps(&f, "step ");
  launch(&f, 0, 2050, "prefetch", 2100, 2150, 9);
  fixture_build(&f);
  assert_int_equal(gpu_step(&f, 1)->start, 2100);
  assert_int_equal(gpu_step(&f, 1)->end, 2100);
  assert_int_equal(gpu_step(&f, 2)->start, 2100);
  assert_int_equal(gpu_step(&f, 0)->end, 2100);
  fixture_free(&f);
}

TEST(test_a_kernel_without_a_launch_is_in_no_step) {
  struct fixture f;
  begin(&f);
  add_late_steps(&f, "step ");
  fixture_kernel(&f, 100, 200, "stray", 0, 0, 7, NAI_NULL_I64);
  fixture_build(&f);
  assert_int_equal(gpu_step(&f, 0)->start, 1500);
  assert_int_equal(gpu_step(&f, 0)->kernels, 3);
  fixture_free(&f);
}

/* --- ranges ----------------------------------------------------------------------------------- */

TEST(test_names) {
  static const struct {
    const char *name;
    enum nai_step_word word;
  } cases[] = {{"ProfilerStep##", NAI_WORD_STEP},
               {"train_step", NAI_WORD_STEP},
               {"iteration #", NAI_WORD_STEP},
               {"execute_model", NAI_WORD_STEP},
               {"batch #", NAI_WORD_STEP},
               {"epoch #", NAI_WORD_EPOCH},
               {"encoder.block.#", NAI_WORD_PART},
               {"layers.#.mlp", NAI_WORD_PART},
               {"microbatch #", NAI_WORD_PART},
               {"aten::batch_norm", NAI_WORD_PART},
               {"Optimizer.step", NAI_WORD_PART},
               {"forward", NAI_WORD_NONE},
               {"ExecutionContext::execute", NAI_WORD_NONE}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(nai_step_word_of(cases[i].name), cases[i].word);
  struct nai_buf text = {0};
  nai_text_fold_digits(&text, "step 12/300 (gpu0) 12down conv2d c10d::f AllToAll4D 3D");
  assert_string_equal(nai_buf_str(&text), "step #/# (gpu#) #down conv2d c10d::f AllToAll4D 3D");
  nai_buf_free(&text);
}

static void expect_none(struct fixture *f, const char *why) {
  fixture_build(f);
  assert_int_equal(steps_of(f)->method, NAI_STEPS_NONE);
  assert_int_equal(steps_of(f)->count, 0);
  assert_int_equal(f->m.steps->list_count, 0);
  if (why)
    assert_non_null(strstr(steps_of(f)->why, why));
  fixture_free(f);
}

TEST(test_layers_are_no_steps) {
  struct fixture f;
  begin(&f);
  add_late_steps(&f, "layers.");
  expect_none(&f, NULL);
}

/* Numbered, and all of the launches in them; but the host never waits between them. */
TEST(test_numbers_alone_are_no_steps) {
  struct fixture f;
  begin(&f);
  add_late_steps(&f, "part ");
  expect_none(&f, NULL);
  begin(&f);
  add_late_steps(&f, "part ");
  for (int i = 0; i < 4; i++)
    fixture_api(&f, 1000 * i + 870, 1000 * i + 890, 0, "cudaStreamSynchronize", NAI_NULL_I64);
  fixture_build(&f);
  assert_int_equal(steps_of(&f)->method, NAI_STEPS_NVTX);
  assert_int_equal(steps_of(&f)->confidence, 70);
  fixture_free(&f);
}

TEST(test_ranges_must_hold_the_launches) {
  struct fixture f;
  begin(&f);
  for (int i = 0; i < 40; i++) {
    int64_t t = 1000 * i;
    fixture_nvtx(&f, t, t + 200, 0, "batch_reduce", NAI_NVTX_PUSH_POP);
    launch(&f, 0, t + 100, "reduce", t + 120, t + 150, 7);
    for (int k = 0; k < 3; k++)
      launch(&f, 0, t + 300 + 100 * k, k & 1 ? "a" : "b", t + 310 + 100 * k, t + 350 + 100 * k, 7);
  }
  expect_none(&f, "hold 25 % of the launches");
}

TEST(test_launches_must_not_vary) {
  struct fixture f;
  begin(&f);
  for (int i = 0; i < 8; i++) {
    int64_t t = 10000 * i;
    fixture_nvtx(&f, t, t + 9000, 0, "train", NAI_NVTX_PUSH_POP);
    for (int k = 0; k < 1 + (i * 7) % 5 * 3; k++)
      launch(&f, 0, t + 100 * k, "work", t + 10 + 100 * k, t + 50 + 100 * k, 7);
  }
  expect_none(&f, "varies by");
}

TEST(test_domains_of_libraries) {
  struct fixture f;
  begin(&f);
  struct nai_table *domains = f.in.tables[NAI_IN_NVTX_DOMAINS];
  nai_table_add_row(domains);
  nai_set_str(domains, 0, NVTX_DOMAINS_name, "NCCL");
  add_late_steps(&f, "step ");
  for (int64_t i = 0; i < f.in.tables[NAI_IN_NVTX]->rows; i++)
    nai_set_i64(f.in.tables[NAI_IN_NVTX], i, NVTX_EVENTS_domain, 0);
  expect_none(&f, NULL);
}

TEST(test_inner_ranges_of_the_name_are_not_counted) {
  struct fixture f;
  begin(&f);
  add_late_steps(&f, "step ");
  for (int i = 0; i < 4; i++)
    fixture_nvtx(&f, 1000 * i + 50, 1000 * i + 60, 0, "step 9", NAI_NVTX_PUSH_POP);
  fixture_build(&f);
  assert_int_equal(steps_of(&f)->count, 4);
  fixture_free(&f);
}

TEST(test_the_user_decides) {
  struct fixture f;
  struct nai_patterns *pattern;
  ok(nai_patterns_new(&pattern, err));
  ok(nai_patterns_add_regex(pattern, "step", "--step", "^layers\\.\\d+$", err));
  begin(&f);
  f.m.step = pattern;
  add_late_steps(&f, "layers.");
  for (int i = 0; i < 8; i++)
    fixture_nvtx(&f, 500 * i, 500 * i + 400, 0, "step", NAI_NVTX_PUSH_POP);
  fixture_build(&f);
  assert_int_equal(steps_of(&f)->method, NAI_STEPS_USER);
  assert_int_equal(steps_of(&f)->confidence, 100);
  assert_int_equal(steps_of(&f)->count, 4);
  fixture_free(&f);
  begin(&f);
  f.m.step = pattern;
  add_late_steps(&f, "step ");
  expect_none(&f, "no range of this process matches --step");
  nai_patterns_free(pattern);
}

TEST(test_bad_expressions) {
  struct nai_patterns *pattern;
  struct nai_err mistake = {0};
  ok(nai_patterns_new(&pattern, err));
  assert_int_equal(nai_patterns_add_regex(pattern, "step", "--step", "step (", &mistake), NAI_EUSAGE);
  assert_non_null(strstr(mistake.msg, "--step \"step (\": bad regular expression at character 7"));
  assert_int_equal(nai_patterns_add_regex(pattern, "step", "--step", "", &mistake), NAI_EUSAGE);
  nai_patterns_free(pattern);
}

/* The loop's steps have no range; the optimizer has. */
TEST(test_ends_of_the_optimizer) {
  struct fixture f;
  begin(&f);
  for (int i = 0; i < 5; i++) {
    int64_t t = 1000 * i;
    for (int k = 0; k < 8; k++)
      launch(&f, k & 1, t + 100 * k, "work", t + 100 * k + 10, t + 100 * k + 60, 7);
    fixture_nvtx(&f, t + 790, t + 900, 0, "Optimizer.step#AdamW.step", NAI_NVTX_PUSH_POP);
    launch(&f, 0, t + 800, "update", t + 810, t + 850, 7);
  }
  fixture_build(&f);
  assert_int_equal(steps_of(&f)->method, NAI_STEPS_NVTX);
  assert_int_equal(steps_of(&f)->count, 5);
  for (uint32_t i = 0; i < 5; i++) {
    assert_int_equal(gpu_step(&f, i)->start, 1000 * i + 10);
    assert_int_equal(gpu_step(&f, i)->kernels, 9);
  }
  fixture_free(&f);
}

/* --- kernels ---------------------------------------------------------------------------------- */

enum what { NOTHING, RESULT, INPUT_AND_RESULT, OPTIMIZER };

/* Twelve repetitions of ten kernels; what else each of them has. Without calls, nothing is launched. */
static void add_repetitions(struct fixture *f, enum what what, bool calls) {
  char name[32];
  for (int i = 0; i < 12; i++) {
    int64_t t = 10000 * i;
    if (what == INPUT_AND_RESULT)
      copy(f, 0, t, t + 10, t + 90, 1);
    for (int k = 0; k < 10; k++) {
      snprintf(name, sizeof name, what == OPTIMIZER && k == 9 ? "adam_%d" : "kernel_%d", k);
      if (calls)
        launch(f, 0, t + 100 + 300 * k, name, t + 200 + 300 * k, t + 400 + 300 * k, 7);
      else
        fixture_kernel(f, t + 200 + 300 * k, t + 400 + 300 * k, name, 0, 0, 7, NAI_NULL_I64);
    }
    if (what == RESULT || what == INPUT_AND_RESULT) {
      copy(f, 0, t + 4000, t + 4010, t + 4050, 2);
      fixture_api(f, t + 4100, t + 4200, 0, "cudaStreamSynchronize", NAI_NULL_I64);
    }
  }
}

static void expect_unit(struct fixture *f, uint32_t steps) {
  fixture_build(f);
  assert_int_equal(steps_of(f)->count, steps);
  if (!steps) {
    assert_int_equal(f->m.steps->unit_count, 1);
    assert_int_equal(f->m.steps->units[0].kernels, 10);
    assert_int_equal(f->m.steps->units[0].count, 12);
    assert_int_equal(f->m.steps->units[0].median_ns, 10000);
    assert_string_equal(steps_of(f)->why, "repeating unit of 10 kernels, 12 times: no step boundary found");
  }
  fixture_free(f);
}

TEST(test_a_period_alone_is_no_step) {
  struct fixture f;
  begin(&f);
  add_repetitions(&f, NOTHING, true);
  expect_unit(&f, 0);
  begin(&f);
  add_repetitions(&f, RESULT, true); /* so does a layer that asks for a number */
  expect_unit(&f, 0);
}

/* Two kernels in turn, 20 times, the first time slowly; then one of them alone, 30 times, cut in the middle of nothing.
 */
TEST(test_loops_are_units_of_their_own) {
  struct fixture f;
  int64_t t = 0;
  begin(&f);
  for (int i = 0; i < 40; i++, t += i == 1 ? 9000 : 1000)
    launch(&f, 0, t, i % 2 ? "row" : "pivot", t + 100, t + 700, 7);
  for (int i = 0; i < 30; i++, t += 500)
    launch(&f, 0, t, "check", t + 100, t + 300, 7);
  fixture_build(&f);
  const struct nai_repeating_unit *u = f.m.steps->units;
  assert_int_equal(f.m.steps->unit_count, 2);
  assert_int_equal(u[0].kernels, 2);
  assert_int_equal(u[0].count, 20);
  assert_int_equal(u[0].median_ns, 2000);
  assert_int_equal(u[0].last_start - u[0].warm_start, 18 * 2000); /* without the slow one */
  assert_int_equal(u[0].between, 18);
  assert_int_equal(u[1].kernels, 1);
  assert_int_equal(u[1].count, 30);
  assert_int_equal(u[1].median_ns, 500);
  assert_string_equal(steps_of(&f)->why, "repeating unit of 2 kernels, 20 times: no step boundary found");
  fixture_free(&f);
}

TEST(test_nothing_that_repeats_has_a_reason) {
  struct fixture f;
  begin(&f);
  for (int i = 0; i < 9; i++) /* once fewer than a loop */
    launch(&f, 0, i * 1000, "pivot", i * 1000 + 100, i * 1000 + 700, 7);
  fixture_build(&f);
  assert_int_equal(f.m.steps->unit_count, 0);
  assert_string_equal(steps_of(&f)->why, "9 kernels of 1 kind on the busiest stream, and no sequence of them repeats");
  fixture_free(&f);
}

TEST(test_input_and_result_make_a_step) {
  struct fixture f;
  begin(&f);
  add_repetitions(&f, INPUT_AND_RESULT, true);
  fixture_build(&f);
  assert_int_equal(steps_of(&f)->method, NAI_STEPS_KERNELS);
  assert_int_equal(steps_of(&f)->count, 12);
  assert_int_equal(f.m.steps->unit_count, 0);
  for (uint32_t i = 0; i < 12; i++)
    assert_int_equal(gpu_step(&f, i)->start, 10000 * i + 10); /* the copy, behind the pause */
  fixture_free(&f);
}

static void launch_ten(struct fixture *f, int64_t t) {
  char name[32];
  for (int k = 0; k < 10; k++) {
    snprintf(name, sizeof name, "kernel_%d", k);
    launch(f, 0, t + 100 + 300 * k, name, t + 200 + 300 * k, t + 400 + 300 * k, 7);
  }
}

/* Twelve frames of ten kernels and two uploads; now and then the second upload waits for longer than the next frame. */
TEST(test_an_upload_that_waits_stays_in_its_step) {
  struct fixture f;
  begin(&f);
  for (int i = 0; i < 12; i++) {
    int64_t t = 10000 * i, waits = i % 4 == 1 ? 5400 : 0;
    launch_ten(&f, t);
    copy(&f, 0, t + 3400, t + 3450, t + 3500, 1);
    copy(&f, 0, t + 3520, t + 3600 + waits, t + 3700 + waits, 1);
    fixture_api(&f, t + 9200, t + 9300, 0, "cudaStreamSynchronize", NAI_NULL_I64);
  }
  fixture_build(&f);
  assert_int_equal(steps_of(&f)->method, NAI_STEPS_KERNELS);
  assert_int_equal(steps_of(&f)->count, 12);
  for (uint32_t i = 0; i < 12; i++) {
    assert_int_equal(gpu_step(&f, i)->start, 10000 * i + 200);
    assert_int_equal(gpu_step(&f, i)->htod_bytes, 2000);
  }
  fixture_free(&f);
}

/* A result is copied, then comes the pause, then input of one copy or, twice, of three. */
TEST(test_the_cut_keeps_its_distance_from_the_end_of_a_step) {
  struct fixture f;
  begin(&f);
  for (int i = 0; i < 12; i++) {
    int64_t t = 10000 * i;
    for (int c = 0; c < (i % 6 == 3 ? 3 : 1); c++)
      copy(&f, 0, t + 20 * c, t + 10 + 20 * c, t + 20 + 20 * c, 1);
    launch_ten(&f, t);
    copy(&f, 0, t + 4000, t + 4010, t + 4050, 2);
  }
  fixture_build(&f);
  assert_int_equal(steps_of(&f)->method, NAI_STEPS_KERNELS);
  assert_int_equal(steps_of(&f)->count, 12);
  for (uint32_t i = 0; i < 12; i++) {
    assert_int_equal(gpu_step(&f, i)->start, 10000 * i + 10);
    assert_int_equal(gpu_step(&f, i)->htod_bytes, i % 6 == 3 ? 3000 : 1000);
    assert_int_equal(gpu_step(&f, i)->dtoh_bytes, 1000);
  }
  fixture_free(&f);
}

TEST(test_an_optimizer_makes_a_step) {
  struct fixture f;
  for (int calls = 0; calls < 2; calls++) {
    begin(&f);
    add_repetitions(&f, OPTIMIZER, calls);
    fixture_build(&f);
    assert_int_equal(steps_of(&f)->method, NAI_STEPS_KERNELS);
    assert_int_equal(steps_of(&f)->count, 12);
    for (uint32_t i = 0; i < 12; i++) {
      assert_int_equal(gpu_step(&f, i)->start, 10000 * i + 200);
      assert_int_equal(gpu_step(&f, i)->kernels, 10);
      assert_int_equal(gpu_step(&f, i)->launch_calls, calls ? 10 : 0);
    }
    fixture_free(&f);
  }
}

TEST(test_layers_by_their_path) {
  struct fixture f;
  begin(&f);
  for (int i = 0; i < 12; i++) {
    char name[32];
    snprintf(name, sizeof name, "blocks.%d", i);
    fixture_nvtx(&f, 10000 * i + 50, 10000 * i + 9000, 0, name, NAI_NVTX_PUSH_POP);
  }
  add_repetitions(&f, INPUT_AND_RESULT, true);
  fixture_build(&f);
  assert_int_equal(steps_of(&f)->count, 0);
  assert_string_equal(f.m.steps->units[0].level, "layer");
  assert_string_equal(f.m.steps->units[0].path, "blocks.#");
  assert_string_equal(steps_of(&f)->why,
                      "repeating unit of 10 kernels, 12 times: probably a layer; no step boundary found");
  fixture_free(&f);
}

/* --- what is typical -------------------------------------------------------------------------- */

/* Statistics of steps of these lengths; ops and first_use are those of a usual step. */
static struct nai_step_stats stats_of(const int64_t *lengths, uint32_t count, int64_t last_ops, bool first_use,
                                      double *drift_ns) {
  struct nai_gpu_step v[64] = {{0}};
  struct nai_step host[64] = {{0}};
  struct nai_process_steps steps = {.v = host, .count = count};
  struct nai_step_list list = {.v = v, .count = count};
  struct nai_step_stats stats;
  int64_t t = 0;
  for (uint32_t i = 0; i < count; i++) {
    v[i] = (struct nai_gpu_step){.step = i, .start = t, .end = t + lengths[i], .ops = 100};
    v[i].first_use = first_use && i < 2;
    t += lengths[i];
  }
  v[count - 1].ops = last_ops;
  ok(nai_step_stats_new(&stats, &steps, &list, err));
  ok(nai_step_drift(drift_ns, &stats, &list, err));
  return stats;
}

TEST(test_warm_up_and_truncated) {
  double drift_ns;
  static const int64_t lengths[] = {300, 120, 100, 100, 100, 100, 100, 40};
  struct nai_step_stats s = stats_of(lengths, 8, 89, true, &drift_ns);
  assert_int_equal(s.states[NAI_STEP_WARM_UP], 2); /* 120: a kernel of its own for the first time */
  assert_int_equal(s.states[NAI_STEP_TRUNCATED], 1);
  assert_int_equal(s.states[NAI_STEP_STEADY], 5);
  assert_int_equal(s.warm_up_ns, 420);
  assert_int_equal(s.total_ns, 500);
  nai_step_stats_free(&s);
  /* nine tenths of the work are a step; nothing new: 120 is no warm-up */
  s = stats_of(lengths, 8, 90, false, &drift_ns);
  assert_int_equal(s.states[NAI_STEP_WARM_UP], 1);
  assert_int_equal(s.states[NAI_STEP_TRUNCATED], 0);
  nai_step_stats_free(&s);
  static const int64_t even[] = {100, 100, 100, 100};
  s = stats_of(even, 4, 100, true, &drift_ns); /* the first step of a capture is not slow because it is the first */
  assert_int_equal(s.states[NAI_STEP_STEADY], 4);
  nai_step_stats_free(&s);
}

TEST(test_outliers) {
  double drift_ns;
  /* median 1000, median deviation 10: 1,044 is inside of three deviations and of 5 %, 1,051 is not */
  static const int64_t lengths[] = {990, 1010, 990, 1010, 1000, 1000, 1044, 1051, 990, 1010, 1000};
  struct nai_step_stats s = stats_of(lengths, 11, 100, false, &drift_ns);
  assert_int_equal(s.median_ns, 1000);
  assert_int_equal(s.mad_ns, 10);
  assert_int_equal(s.outliers, 1);
  assert_true(s.outlier[7]);
  assert_int_equal(s.excess_ns, 51);
  assert_int_equal(s.spread_ns, 10 + 10 + 44 + 51 + 10);
  nai_step_stats_free(&s);
}

/* What a step took more, not what it took. */
TEST(test_a_spread_excess_is_told_in_increments) {
  struct nai_gpu_step step = {.end = 57600000,
                              .compute_ns = 12900000,
                              .exposed_copy_ns = 849000,
                              .idle_ns = 43803000,
                              .exposed_comm_ns = 48000};
  struct nai_step_list list = {.v = &step, .count = 1};
  struct nai_step_stats stats = {.median_ns = 40100000};
  struct nai_step_usual usual = {.list = &list,
                                 .stats = &stats,
                                 .compute_ns = 5549000,
                                 .exposed_copy_ns = 531000,
                                 .idle_ns = 33800000,
                                 .exposed_comm_ns = 220000};
  struct nai_step_cause cause = {0};
  ok(nai_step_explain(&cause, &usual, 0, err));
  assert_string_equal(cause.part, "spread");
  assert_string_equal(nai_buf_str(&cause.detail), "compute +7.351 ms, exposed copies +0.318 ms, idle +10.003 ms");
  nai_buf_free(&cause.detail);
}

TEST(test_drift_is_the_median_slope) {
  double drift_ns;
  int64_t lengths[24];
  for (int i = 0; i < 24; i++)
    lengths[i] = 1000 + 20 * i + (i % 5 == 0 ? 300 : 0); /* some slow steps do not tilt it */
  struct nai_step_stats s = stats_of(lengths, 24, 100, false, &drift_ns);
  assert_true(fabs(drift_ns - 20) < 2);
  nai_step_stats_free(&s);
  for (int i = 0; i < 24; i++)
    lengths[i] = 2000 - 20 * i;
  s = stats_of(lengths, 24, 100, false, &drift_ns);
  assert_true(drift_ns == -20);
  nai_step_stats_free(&s);
  s = stats_of(lengths, 19, 100, false, &drift_ns);
  assert_true(isnan(drift_ns));
  nai_step_stats_free(&s);
}
