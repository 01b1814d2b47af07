/* workload and capture_health: what names give away, and what a capture lacks. */
#include "model_fixture.h"

#include "config/workload.h"
#include "tables/overhead_events.h"
#include "tables/callchain_frames.h"
#include "tables/processes.h"
#include "tables/program_marks.h"
#include "tables/readers.h"
#include "tables/threads.h"

#include <stdio.h>
#include <unistd.h>

static void thread_named(struct fixture *f, int32_t process, const char *name) {
  int32_t row = fixture_thread(f, process, 100 + f->in.tables[NAI_IN_THREADS]->rows);
  nai_set_str(f->in.tables[NAI_IN_THREADS], row, THREADS_thread_name, name);
}

static bool says(const struct nai_table *t, const char *aspect, const char *value) {
  for (int64_t i = 0; i < t->rows; i++)
    if (strcmp(cell_text(t, i, "aspect"), aspect) == 0 && strcmp(cell_text(t, i, "value"), value) == 0)
      return true;
  return false;
}

static void begin(struct fixture *f, const char *process) {
  fixture_init(f);
  fixture_process(f, 1);
  nai_set_str(f->in.tables[NAI_IN_PROCESSES], 0, PROCESSES_process_name, process);
  fixture_gpu(f, 0);
}

static struct nai_table *end(struct fixture *f) {
  fixture_build(f);
  return fixture_analyze(f, "workload", 1);
}

TEST(test_python_alone_says_python_only) {
  struct fixture f;
  begin(&f, "python3.11");
  fixture_kernel(&f, 0, 10, "my_kernel(float *)", 0, 0, 7, 0);
  struct nai_table *t = end(&f);
  assert_true(says(t, "language", "python"));
  assert_true(says(t, "framework", "unknown"));
  assert_false(says(t, "framework", "pytorch"));
  assert_false(says(t, "language", "c++"));
  nai_table_free(t);
  fixture_free(&f);
}

TEST(test_a_program_that_links_cublas_is_cuda) {
  struct fixture f;
  begin(&f, "./a.out");
  fixture_kernel(&f, 0, 10, "my_kernel(float *)", 0, 0, 7, 0);
  fixture_kernel(&f, 20, 30, "void cutlass::Kernel<cutlass_80_tensorop_d884gemm_32x32_16x5_tn_align1>(T1::Params)", 0,
                 0, 7, 0);
  struct nai_table *t = end(&f);
  assert_true(says(t, "framework", "cuda"));
  assert_true(says(t, "runtime", "cublas"));
  assert_false(says(t, "runtime", "cutlass"));
  assert_true(says(t, "language", "c++"));
  nai_table_free(t);
  fixture_free(&f);
}

/* Several at once, and surer with every kind of sign. */
TEST(test_signs_add_up) {
  struct fixture f;
  begin(&f, "python");
  fixture_kernel(&f, 0, 10, "void at::native::elementwise_kernel<1>(int)", 0, 0, 7, 0);
  fixture_kernel(&f, 20, 30, "ncclDevKernel_AllReduce(x)", 0, 0, 7, 0);
  fixture_kernel(&f, 40, 50, "void flash::flash_fwd_kernel<x>(y)", 0, 0, 7, 0);
  struct nai_table *few = end(&f);
  assert_true(says(few, "framework", "pytorch") && says(few, "collective", "nccl") &&
              says(few, "runtime", "flash-attention"));
  double alone = cell_real(few, row_where(few, "value", "pytorch"), "confidence");
  assert_float_equal(alone, 90, 0.5);
  nai_table_free(few);
  fixture_free(&f);
  begin(&f, "python");
  fixture_kernel(&f, 0, 10, "void at::native::elementwise_kernel<1>(int)", 0, 0, 7, 0);
  thread_named(&f, 0, "pt_autograd_0");
  fixture_nvtx(&f, 0, 10, 0, "aten::add", NAI_NVTX_PUSH_POP);
  struct nai_table *more = end(&f);
  int64_t row = row_where(more, "value", "pytorch");
  assert_true(cell_real(more, row, "confidence") > alone);
  assert_int_equal(cell_int(more, row, "sign_count"), 3);
  nai_table_free(more);
  fixture_free(&f);
}

static void marked(struct fixture *f, const char *source, const char *mark) {
  struct nai_table *t = f->in.tables[NAI_IN_PROGRAM_MARKS];
  int64_t row = nai_table_add_row(t);
  nai_set_str(t, row, PROGRAM_MARKS_source, source);
  nai_set_str(t, row, PROGRAM_MARKS_mark, mark);
}

/* What table workload says of the run, or of a process. */
static void expect_row(struct fixture *f, int64_t pid, const char *program, const char *language, const char *framework,
                       const char *engine, const char *role) {
  struct nai_table *t = fixture_analyze(f, "workload", 0);
  int64_t row = 0;
  while (row < t->rows && cell_int(t, row, "pid") != pid)
    row++;
  assert_true(row < t->rows);
  assert_string_equal(cell_text(t, row, "program"), program);
  assert_string_equal(cell_text(t, row, "language"), language);
  assert_string_equal(cell_text(t, row, "framework"), framework);
  assert_string_equal(cell_text(t, row, "engine"), engine);
  assert_string_equal(cell_text(t, row, "role"), role);
  nai_table_free(t);
}

/* A trainer and a server side by side stay what they are; a launcher beside them tells only how they were started. */
TEST(test_processes_have_rows_of_their_own) {
  static const char *const processes[] = {"python3", "server", "mpirun", "python"};
  struct fixture f;
  fixture_init(&f);
  fixture_gpu(&f, 0);
  for (int32_t p = 0; p < 4; p++) {
    fixture_process(&f, 10 + p);
    nai_set_str(f.in.tables[NAI_IN_PROCESSES], p, PROCESSES_process_name, processes[p]);
    fixture_thread(&f, p, 10 + p);
  }
  fixture_nvtx(&f, 0, 10, 0, "Optimizer.step#AdamW.step", NAI_NVTX_PUSH_POP);
  fixture_kernel(&f, 0, 10, "void at::native::add(int)", 0, 0, 7, 0);
  fixture_kernel(&f, 20, 30, "void turbomind::decode(int)", 0, 1, 7, 0);
  fixture_build(&f);
  expect_row(&f, 10, "PyTorch training in Python", "Python", "PyTorch", "", "training");
  expect_row(&f, 11, "LMDeploy in C++", "C++", "CUDA", "LMDeploy", "unknown");
  struct nai_table *t = fixture_analyze(&f, "workload", 0);
  assert_int_equal(t->rows, 3); /* the run and two: nothing of the others is recorded */
  assert_string_equal(cell_text(t, row_where(t, "launcher", "mpirun"), "language"), "Python");
  nai_table_free(t);
  fixture_free(&f);
}

static void expect_kernels(const char *const *kernels, const char *program, const char *framework, const char *engine,
                           const char *role) {
  struct fixture f;
  begin(&f, "prog");
  for (int i = 0; kernels[i]; i++)
    fixture_kernel(&f, i * 20, i * 20 + 10, kernels[i], 0, 0, 7, 0);
  fixture_build(&f);
  expect_row(&f, NAI_NULL_I64, program, "C++", framework, engine, role);
  fixture_free(&f);
}

/* Names that several programs have: one says nothing, several say little, and one of its own decides. */
TEST(test_shared_names) {
  expect_kernels((const char *const[]){"void nll_loss_backward_kernel(int)", NULL}, "", "CUDA", "", "unknown");
  expect_kernels((const char *const[]){"void a_backward(int)", "void b_backward(int)", "void c_bwd(int)", NULL},
                 "CUDA training in C++", "CUDA", "", "training");
  expect_kernels((const char *const[]){"foo_2_gpu", "k(int)", NULL}, "", "CUDA", "", "unknown");
  expect_kernels((const char *const[]){"void vllm::rms_norm(int)", NULL}, "", "CUDA", "", "unknown");
  expect_kernels((const char *const[]){"foo_2_gpu", "__pgi_uacc_cuda_fill_42_gpu", "k(int)", NULL}, "OpenACC in C++",
                 "OpenACC", "", "unknown");
}

/* A harness decides the role, and what it tests is named; a kernel name without a row names an application. */
TEST(test_marks) {
  struct fixture f;
  begin(&f, "nvfuser_tests");
  fixture_thread(&f, 0, 1);
  fixture_kernel(&f, 0, 10, "nvfuser_pointwise_f0_c1_r0_g0", 0, 0, 7, 0);
  fixture_kernel(&f, 20, 30, "void at::native::add(int)", 0, 0, 7, 0);
  fixture_nvtx(&f, 0, 10, 0, "Optimizer.step", NAI_NVTX_PUSH_POP);
  marked(&f, "flag", "gtest");
  fixture_build(&f);
  expect_row(&f, NAI_NULL_I64, "gtest of nvFuser, C++ with PyTorch", "C++", "PyTorch", "nvFuser", "test");
  fixture_free(&f);
  begin(&f, "python");
  fixture_thread(&f, 0, 1);
  fixture_api(&f, 0, 5, 0, "cudaLaunchKernel", 1);
  marked(&f, "name", "quda");
  marked(&f, "command", "mpirun");
  fixture_build(&f);
  expect_row(&f, NAI_NULL_I64, "QUDA simulation in Python (mpirun)", "Python", "unknown", "QUDA", "simulation");
  fixture_free(&f);
}

/* Nobody knows what was started: kernels say what compiled them, not who calls them. */
TEST(test_no_name_no_language) {
  struct fixture f;
  begin(&f, NULL);
  fixture_kernel(&f, 0, 10, "my_kernel(float *)", 0, 0, 7, 0);
  fixture_build(&f);
  expect_row(&f, NAI_NULL_I64, "", "unknown", "CUDA", "", "unknown");
  fixture_free(&f);
}

/* NVHPC names OpenMP kernels after the function and the line, and fills memory with the OpenACC runtime's kernel. */
TEST(test_openmp_of_nvhpc) {
  struct fixture f;
  begin(&f, "./stream");
  fixture_kernel(&f, 0, 10, "nvkernel_main_F1L42_2", 0, 0, 7, 0);
  fixture_kernel(&f, 20, 30, "nvkernel_triad_F1L57_4", 0, 0, 7, 0);
  fixture_kernel(&f, 40, 50, "__nv_uacc_cuda_fill_32_gpu", 0, 0, 7, 0);
  fixture_build(&f);
  expect_row(&f, NAI_NULL_I64, "OpenMP", "unknown", "OpenMP", "", "unknown");
  fixture_free(&f);
}

/* The path of a library tells who the user is, and a directory's name nothing of the program. */
TEST(test_modules_by_base_name) {
  struct fixture f;
  begin(&f, "prog");
  struct nai_table *frames = f.in.tables[NAI_IN_CALLCHAINS];
  nai_set_str(frames, nai_table_add_row(frames), CALLCHAIN_FRAMES_module, "/home/CANARY/libtorch/prog");
  nai_set_str(frames, nai_table_add_row(frames), CALLCHAIN_FRAMES_module, "/home/CANARY/libomptarget.so.15");
  struct nai_table *t = end(&f);
  assert_false(says(t, "framework", "pytorch"));
  int64_t row = row_where(t, "value", "openmp");
  assert_string_equal(cell_text(t, row, "evidence"), "modules: libomptarget.so.15");
  nai_table_free(t);
  fixture_free(&f);
}

/* --- the file --------------------------------------------------------------------------------- */

static const char *write_file(const char *text) {
  static char path[64];
  strcpy(path, "/tmp/nai-workload-XXXXXX");
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
  close(fd);
  return path;
}

TEST(test_patterns_of_the_user_come_first) {
  struct nai_workload_patterns *p;
  const char *path = write_file("framework:\n  mine:\n    kernels: [at::native, 're:^my_']\n");
  ok(nai_workload_patterns_load(&p, path, err));
  int value = nai_workload_match(p, NAI_ASPECT_FRAMEWORK, NAI_SIGN_KERNELS, false, "void AT::native::x()");
  assert_string_equal(nai_workload_value(p, NAI_ASPECT_FRAMEWORK, value), "mine");
  value = nai_workload_match(p, NAI_ASPECT_FRAMEWORK, NAI_SIGN_RANGES, false, "aten::add");
  assert_string_equal(nai_workload_value(p, NAI_ASPECT_FRAMEWORK, value), "pytorch");
  assert_int_equal(nai_workload_match(p, NAI_ASPECT_ROLE, NAI_SIGN_KERNELS, false, "my_kernel"), -1);
  nai_workload_patterns_free(p);
  unlink(path);
}

/* TensorRT has kernels of its own that are made as those of cuDNN and cuBLAS are. */
TEST(test_kernels_of_tensorrt) {
  static const struct {
    const char *kernel, *runtime;
  } names[] = {{"sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckrsc_nhwc_tilesize128x128x32_execute_kernel_trt",
                NULL},
               {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64_execute_kernel_trt", NULL},
               {"sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32", "cudnn"},
               {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64", "cublas"}};
  struct nai_workload_patterns *p;
  ok(nai_workload_patterns_load(&p, NULL, err));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const int value = nai_workload_match(p, NAI_ASPECT_RUNTIME, NAI_SIGN_KERNELS, false, names[i].kernel);
    if (names[i].runtime)
      assert_string_equal(nai_workload_value(p, NAI_ASPECT_RUNTIME, value), names[i].runtime);
    else
      assert_int_equal(value, -1);
  }
  nai_workload_patterns_free(p);
}

/* What a product multiplies, whatever it adds up in; of other kernels what they compute with. */
TEST(test_precisions) {
#define CUTLASS(type)                                                                                                  \
  "void cutlass::Kernel<cutlass::gemm::kernel::Gemm<MmaPipelined<GemmShape<(int)128>, float, cutlass::arch::Mma<"      \
  "cutlass::gemm::GemmShape<(int)16, (int)8, (int)8>, (int)32, " type ", cutlass::layout::RowMajor, " type ", float>>" \
  ">(T1::Params)"
  static const struct {
    const char *name, *precision;
  } names[] = {
      {CUTLASS("cutlass::half_t"), "fp16"},
      {CUTLASS("cutlass::bfloat16_t"), "bf16"},
      {CUTLASS("cutlass::tfloat32_t"), "tf32"},
      {CUTLASS("cutlass::float_e4m3_t"), "fp8"},
      {CUTLASS("signed char"), "int8"},
      {CUTLASS("float"), "fp32"},
      {CUTLASS("double"), "fp64"},
      {"void cutlass::device_kernel<cute::MMA_Atom<cute::SM90_64x128x16_F32F16F16_SS>, float>(T1)", "fp16"},
      {"void cutlass::device_kernel<cute::MMA_Atom<cute::SM90_64x128x32_S32S8S8_SS_TN>, float>(T1)", "int8"},
      {"sm80_xmma_gemm_i8i8_i8i32_f32_tn_n_tilesize128x128x64_stage3", "int8"},
      {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64", "fp16"},
      {"turing_int8_i8816cudnn_int8_128x128_ldg16_relu_singleBuffer", "int8"},
      {"volta_h884gemm_64x64_ldg8_nn", "fp16"},
      {"ampere_sgemm_32x128_tn", "fp32"},
      {"void add<double>(double *, float)", "fp64"},
      {"void dequantize(signed char const *, float *)", "fp32"},
      {"sum_first_half(float *)", "fp32"},
      {"void vectorized<c10::Half, float>(int)", "fp16"},
      {"histogram(int *)", NULL},
  };
  struct nai_workload_patterns *p;
  ok(nai_workload_patterns_load(&p, NULL, err));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    int value = nai_workload_match(p, NAI_ASPECT_PRECISION, NAI_SIGN_KERNELS, false, names[i].name);
    const char *found = value < 0 ? NULL : nai_workload_value(p, NAI_ASPECT_PRECISION, value);
    if ((found == NULL) != (names[i].precision == NULL) || (found && strcmp(found, names[i].precision) != 0))
      fail_msg("%s: %s", names[i].name, found ? found : "nothing");
  }
  nai_workload_patterns_free(p);
}

TEST(test_mistakes_have_a_place) {
  static const struct {
    const char *text, *place, *about;
  } mistakes[] = {
      {"framwork:\n  a: {kernels: [x]}\n", ":1:1", "framework"},
      {"framework:\n  a:\n    kernel: [x]\n", ":3:5", "kernels"},
      {"framework:\n  a:\n    kernels: ['re:(']\n", ":3:", "regular expression"},
      {"framework:\n  a: x\n", ":2:6", ""},
      {"framework: [a]\n", ":1:12", ""},
      {"framework:\n  a: {}\n", ":2:6", "no patterns"},
  };
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    struct nai_workload_patterns *p;
    struct nai_err err = {0};
    const char *path = write_file(mistakes[i].text);
    assert_int_equal(nai_workload_patterns_load(&p, path, &err), NAI_EUSAGE);
    assert_non_null(strstr(err.msg, mistakes[i].place));
    assert_non_null(strstr(err.msg, mistakes[i].about));
    assert_null(p);
    unlink(path);
  }
}

/* --- capture_health --------------------------------------------------------------------------- */

static struct nai_table *health_of(struct fixture *f) {
  const struct nai_node *node = NULL;
  for (int i = 0; nai_analyses[i]; i++)
    node = strcmp(nai_analyses[i]->name, "capture_health") == 0 ? nai_analyses[i] : node;
  struct nai_table *spans = fixture_analyze(f, "active_spans", 0), *active = fixture_analyze(f, "active_spans", 1);
  struct nai_table *out[4] = {0};
  const struct nai_table *in[] = {spans, active, NULL};
  for (int i = 0; node->outputs[i]; i++)
    ok(nai_table_new(&out[i], node->outputs[i], err));
  ok(nai_node_run(node, (struct nai_node_io){.out = out, .in = in, .model = &f->m}, err));
  ok(nai_table_check(out[0], err));
  ok(nai_table_check(out[1], err));
  nai_table_free(out[1]);
  nai_table_free(spans);
  nai_table_free(active);
  return out[0];
}

static const char *state_of(const struct nai_table *t, const char *check) {
  int64_t row = row_where(t, "check", check);
  return row < 0 ? "absent" : cell_text(t, row, "state");
}

TEST(test_launches_without_a_gpu) {
  struct fixture f;
  fixture_init(&f);
  fixture_thread(&f, fixture_process(&f, 1), 1);
  for (int i = 0; i < 5; i++)
    fixture_api(&f, i * 100, i * 100 + 50, 0, "cudaLaunchKernel", i + 1);
  fixture_build(&f);
  struct nai_table *t = health_of(&f);
  assert_string_equal(state_of(t, "gpu_activity_recorded"), "problem");
  assert_string_equal(state_of(t, "cuda_traced"), "ok");
  assert_string_equal(state_of(t, "did_its_work"), "unknown"); /* what is not recorded is not judged */
  assert_string_equal(state_of(t, "steady_state"), "unknown");
  nai_table_free(t);
  fixture_free(&f);
}

TEST(test_ranges_only) {
  struct fixture f;
  fixture_init(&f);
  fixture_thread(&f, fixture_process(&f, 1), 1);
  fixture_nvtx(&f, 0, 100, 0, "step", NAI_NVTX_PUSH_POP);
  fixture_build(&f);
  struct nai_table *t = health_of(&f);
  assert_string_equal(state_of(t, "cuda_traced"), "problem");
  assert_string_equal(state_of(t, "gpu_activity_recorded"), "unknown");
  nai_table_free(t);
  fixture_free(&f);
}

/* Only the runtime's own kernels; a program's kernel beside them makes all the difference, and so does no decisive
 * sign: an error stream with text is none. */
TEST(test_did_its_work) {
  for (int own = 0; own < 2; own++) {
    struct fixture f;
    fixture_init(&f);
    fixture_thread(&f, fixture_process(&f, 1), 1);
    fixture_gpu(&f, 0);
    CELLS(f.in.tables[NAI_IN_PROGRAM_OUTPUTS], 0, 2, 100);
    for (int i = 0; i < 5; i++) {
      fixture_api(&f, i * 100, i * 100 + 50, 0, "cuLaunchKernel", i + 1);
      fixture_kernel(&f, i * 100 + 60, i * 100 + 80, own && i == 2 ? "solve_12_gpu" : "__pgi_uacc_cuda_fill_42_gpu", 0,
                     0, 7, i + 1);
    }
    fixture_build(&f);
    struct nai_table *t = health_of(&f);
    assert_string_equal(state_of(t, "did_its_work"), own ? "ok" : "problem");
    assert_string_equal(state_of(t, "kernels_of_the_program"), own ? "ok" : "problem");
    nai_table_free(t);
    fixture_free(&f);
  }
}

/* CUDA was called, and that is all: the program ended before its first kernel. */
TEST(test_nothing_launched) {
  struct fixture f;
  fixture_init(&f);
  fixture_thread(&f, fixture_process(&f, 1), 1);
  fixture_api(&f, 0, 100000000, 0, "cudaMalloc", 1);
  fixture_api(&f, 100000000, 100001000, 0, "cudaGetLastError", 2);
  struct nai_table *readers = f.in.tables[NAI_IN_READERS]; /* all calls of the export are there */
  int64_t row = nai_table_add_row(readers);
  nai_set_str(readers, row, READERS_source_table, "CUPTI_ACTIVITY_KIND_RUNTIME");
  nai_set_i64(readers, row, READERS_rows, 2);
  fixture_build(&f);
  struct nai_table *t = health_of(&f);
  assert_string_equal(state_of(t, "did_its_work"), "problem");
  assert_string_equal(state_of(t, "gpu_activity_recorded"), "unknown");
  nai_table_free(t);
  fixture_free(&f);
}

/* Two sections that the program times: its first launch, of 48 ms, lies in one of them, or in neither. */
TEST(test_timed_sections) {
  static const char *const calls[] = {"cudaEventRecord", "cudaLaunchKernel", "cudaEventRecord", "cudaEventSynchronize"};
  for (int warm = 0; warm < 2; warm++) {
    struct fixture f;
    fixture_init(&f);
    fixture_thread(&f, fixture_process(&f, 1), 1);
    fixture_gpu(&f, 0);
    int64_t t = 0, correlation = 0, begins = 0;
    for (int i = 0; i < 9; i++) {
      const char *name = warm && !i ? "cudaLaunchKernel" : calls[(i + 3 * warm) % 4];
      bool launch = strcmp(name, "cudaLaunchKernel") == 0;
      int64_t ns = launch && correlation == 0 ? 48000000 : 5000;
      if (!i)
        begins = t;
      correlation += launch;
      fixture_api(&f, t, t + ns, 0, name, launch ? correlation : 100 + i);
      if (launch)
        fixture_kernel(&f, t + ns, t + ns + 100000, "k", 0, 0, 7, correlation);
      t += ns + 1000;
    }
    fixture_build(&f);
    struct nai_table *h = health_of(&f);
    int64_t row = row_where(h, "check", "timed_sections");
    assert_true(row >= 0);
    assert_int_equal(cell_int(h, row, "count"), 2);
    assert_string_equal(state_of(h, "timed_sections"), warm ? "ok" : "note");
    assert_int_equal(cell_int(h, row, "time_ns"), warm ? NAI_NULL_I64 : 48000000);
    assert_int_equal(cell_int(h, row, "start_ns"), warm ? NAI_NULL_I64 : begins);
    nai_table_free(h);
    fixture_free(&f);
  }
}

/* Rows without a name are loading where they lie in a launch, and the profiler's elsewhere. */
TEST(test_first_use) {
  struct fixture f;
  fixture_init(&f);
  fixture_thread(&f, fixture_process(&f, 1), 1);
  fixture_gpu(&f, 0);
  fixture_api(&f, 0, 100000000, 0, "cudaMalloc", 1);
  fixture_api(&f, 100000000, 150000000, 0, "cudaLaunchKernel", 2);
  fixture_kernel(&f, 150000010, 150001000, "k", 0, 0, 7, 2);
  fixture_api(&f, 160000000, 160005000, 0, "cudaLaunchKernel", 3);
  fixture_kernel(&f, 160010000, 160011000, "k", 0, 0, 7, 3);
  struct nai_table *o = f.in.tables[NAI_IN_OVERHEAD];
  CELLS(o, 110000000, 140000000, 0, 0, NAI_OVERHEAD_PROFILER, NAI_NULL_I64);
  CELLS(o, 155000000, 155500000, 0, 0, NAI_OVERHEAD_PROFILER, NAI_NULL_I64);
  nai_set_str(o, 0, OVERHEAD_EVENTS_name, "Unknown");
  nai_set_str(o, 1, OVERHEAD_EVENTS_name, "Unknown");
  fixture_build(&f);
  struct nai_table *t = health_of(&f);
  int64_t row = row_where(t, "check", "first_use");
  assert_string_equal(cell_text(t, row, "state"), "note");
  assert_int_equal(cell_int(t, row, "time_ns"), 150000000); /* the context, then the first launch with all in it */
  assert_int_equal(cell_int(t, row, "count"), 3);           /* context, a record of loading, a slow launch */
  row = row_where(t, "check", "profiler");
  assert_int_equal(cell_int(t, row, "time_ns"), 500000);
  nai_table_free(t);
  fixture_free(&f);
}

enum { MS = 1000000 };

/* Once the context is there, the profiler attaches to it: what the call goes on with is something else. */
TEST(test_what_follows_the_context) {
  static const struct {
    int64_t attached; /* ms, 0: not recorded */
    const char *state, *detail;
  } cases[] = {
      {0, NULL, "cudaMalloc, the longest call before any work, 300.0 ms, mostly to create the context"},
      {310, "ok", "cudaMalloc, the longest call before any work, 300.0 ms, mostly to create the context"},
      {260, "ok", "cudaMalloc, the longest call before any work, 300.0 ms, mostly to create the context"},
      {180, "note",
       "cudaMalloc, the longest call before any work, 300.0 ms; its context was there after 80.0 ms, what followed is "
       "likely loading of code"},
      {90, "note",
       "cudaMalloc, the longest call before any work, 300.0 ms; the context was there before: likely loading of code"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct fixture f;
    fixture_init(&f);
    fixture_thread(&f, fixture_process(&f, 1), 1);
    fixture_thread(&f, fixture_process(&f, 2), 2);
    fixture_gpu(&f, 0);
    fixture_api(&f, 60 * MS, 95 * MS, 0, "cudaGetDeviceCount", 1);
    fixture_api(&f, 100 * MS, 400 * MS, 0, "cudaMalloc", 2);
    fixture_api(&f, 500 * MS, 501 * MS, 0, "cudaLaunchKernel", 3);
    fixture_kernel(&f, 501 * MS, 502 * MS, "k", 0, 0, 7, 3);
    if (cases[i].attached) {
      fixture_overhead(&f, (cases[i].attached - 5) * MS, cases[i].attached * MS, 0, "CUPTI: Resource Management",
                       NAI_OVERHEAD_PROFILER);
      fixture_overhead(&f, 450 * MS, 460 * MS, 1, "CUPTI: Resource Management", NAI_OVERHEAD_PROFILER); /* another's */
      fixture_overhead(&f, 600 * MS, 610 * MS, 0, "CUPTI: Resource Management",
                       NAI_OVERHEAD_PROFILER); /* behind its work */
    }
    fixture_build(&f);
    struct nai_table *t = health_of(&f);
    if (strcmp(cell_text(t, row_where(t, "check", "first_use"), "detail"), cases[i].detail) != 0 &&
        cases[i].attached != 310)
      fail_msg("%d: %s", (int)i, cell_text(t, row_where(t, "check", "first_use"), "detail"));
    int64_t row = row_where(t, "check", "code_loading");
    if (cases[i].state && row >= 0)
      assert_string_equal(state_of(t, "code_loading"), cases[i].state);
    else
      assert_true(row < 0 && !cases[i].state);
    nai_table_free(t);
    fixture_free(&f);
  }
}

/* Processes create their contexts side by side: nothing took the sum of it. */
TEST(test_first_use_of_two_processes) {
  struct fixture f;
  fixture_init(&f);
  fixture_gpu(&f, 0);
  for (int p = 0; p < 2; p++) {
    int64_t at = 50000000 + 1000000 * p;
    fixture_thread(&f, fixture_process(&f, p + 1), p + 1);
    fixture_api(&f, at, at + 100000000 + 20000000 * p, p, "cudaFree", 1);
    fixture_api(&f, 130000000 + at, 132000000 + at, p, "cuModuleLoadData", 2);
    fixture_api(&f, 140000000 + at, 140005000 + at, p, "cudaLaunchKernel", 3);
    fixture_kernel(&f, 140010000 + at, 140011000 + at, "k", 0, p, 7, 3);
    fixture_overhead(&f, at - 45000000, at - 15000000, p, "CUDA profiling initialization", NAI_OVERHEAD_PROFILER);
    fixture_overhead(&f, 180500000 + 500000 * p, 181500000 + 500000 * p, p, "Lazy Function Loading", NAI_OVERHEAD_CUDA);
  }
  struct nai_table *readers = f.in.tables[NAI_IN_READERS]; /* no call is missing: the capture begins at 0 */
  int64_t row = nai_table_add_row(readers);
  nai_set_str(readers, row, READERS_source_table, "CUPTI_ACTIVITY_KIND_RUNTIME");
  nai_set_i64(readers, row, READERS_rows, f.in.tables[NAI_IN_APIS]->rows);
  fixture_build(&f);
  struct nai_table *t = health_of(&f);
  row = row_where(t, "check", "first_use");
  assert_string_equal(cell_text(t, row, "detail"),
                      "cudaFree, the longest call before any work, 120.0 ms, mostly to create the context; 2 processes "
                      "each make such a call; 2 records of code being loaded, 1.50 ms; 2 loading calls, 3.00 ms");
  assert_int_equal(cell_int(t, row, "time_ns"), 121000000 + 3000000);
  row = row_where(t, "check", "before_first_cuda_call");
  assert_non_null(strstr(cell_text(t, row, "detail"),
                         "50.0 ms before the first CUDA call, 31.0 ms of that in the profiler's init"));
  nai_table_free(t);
  fixture_free(&f);
}

/* Nor do graphs of two GPUs take the sum of their times. */
TEST(test_graphs_of_two_gpus) {
  struct fixture f;
  fixture_init(&f);
  fixture_thread(&f, fixture_process(&f, 1), 1);
  for (int g = 0; g < 2; g++) {
    fixture_gpu(&f, g);
    fixture_api(&f, 10 + g, 20 + g, 0, "cudaGraphLaunch", g + 1);
    fixture_graph(&f, 100 + 10 * g, 200 + 10 * g, g, 0, 7, g + 1);
  }
  fixture_build(&f);
  struct nai_table *health = health_of(&f), *quality = fixture_analyze(&f, "quality", 0);
  assert_int_equal(cell_int(health, row_where(health, "check", "graph_envelopes"), "time_ns"), 110);
  assert_int_equal(cell_int(quality, row_where(quality, "check", "graph-envelopes"), "duration_ns"), 110);
  nai_table_free(health);
  nai_table_free(quality);
  fixture_free(&f);
}
