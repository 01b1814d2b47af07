/* Call stacks: which frame a stack stands for, which stacks are one, and what lies inside of what. */
#include "model_fixture.h"

#include "model/cpu/call_stacks.h"
#include "tables/call_sites.h"
#include "tables/callchain_frames.h"
#include "tables/memory_usage_events.h"

TEST(python_frames_are_read_in_all_their_forms) {
  static const struct {
    const char *symbol, *module, *path, *function;
    int64_t line;
  } cases[] = {{"step (/app/train.py:42)", "python3", "/app/train.py", "step", 42},
               {"/app/train.py:42 step", "", "/app/train.py", "step", 42},
               {"File \"/app/train.py\", line 42, in step", NULL, "/app/train.py", "step", 42},
               {"step", "/app/train.py", "/app/train.py", "step", -1},
               {"step:42", "/app/train.py", "/app/train.py", "step", 42},
               {"Model.forward.<locals>.run (m.pyx:7)", NULL, "m.pyx", "Model.forward.<locals>.run", 7},
               {"a.py:99999999999 f", NULL, "a.py", "f", -1},
               {"step()", "/usr/lib/libpython3.11.so", NULL, NULL, 0},
               {"f (numpy.python)", NULL, NULL, NULL, 0},
               {".py", NULL, NULL, NULL, 0},
               {"", "", NULL, NULL, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nai_python_frame f;
    bool found = nai_python_frame_parse(&f, cases[i].symbol, cases[i].module);
    assert_int_equal(found, cases[i].path != NULL);
    if (!found)
      continue;
    assert_int_equal(f.path_length, strlen(cases[i].path));
    assert_memory_equal(f.path, cases[i].path, strlen(cases[i].path));
    assert_int_equal(f.function_length, strlen(cases[i].function));
    assert_memory_equal(f.function, cases[i].function, strlen(cases[i].function));
    assert_int_equal(f.line, cases[i].line);
  }
}

struct calls {
  struct fixture f;
  struct nai_arena arena;
  struct nai_call_stacks s;
  int32_t process, thread;
};

static void begin(struct calls *c) {
  *c = (struct calls){.arena = NAI_ARENA(NULL)};
  fixture_init(&c->f);
  c->process = fixture_process(&c->f, 7);
  c->thread = fixture_thread(&c->f, c->process, 70);
  fixture_gpu(&c->f, 0);
}

static void finish(struct calls *c) {
  nai_call_stacks_free(&c->s);
  nai_arena_free(&c->arena);
  fixture_free(&c->f);
}

static void frame(struct calls *c, int kind, int64_t chain, int depth, const char *symbol, const char *module) {
  struct nai_table *t = c->f.in.tables[NAI_IN_CALLCHAINS];
  CELLS(t, kind, chain, depth, 0, 0, NAI_NULL_I64, symbol && symbol[0] == '0');
  nai_set_str(t, t->rows - 1, CALLCHAIN_FRAMES_symbol, symbol);
  nai_set_str(t, t->rows - 1, CALLCHAIN_FRAMES_module, module);
}

static void call(struct calls *c, int64_t start, int64_t end, const char *name, int64_t correlation, int64_t chain) {
  struct nai_table *t = c->f.in.tables[NAI_IN_APIS];
  fixture_api(&c->f, start, end, c->thread, name, correlation);
  nai_set_i64(t, t->rows - 1, API_EVENTS_callchain_id, chain);
}

static void open_stacks(struct calls *c) {
  fixture_build(&c->f);
  ok(nai_call_stacks_open(&c->s, &c->f.m, &c->arena, err));
}

static void expect_site(const struct calls *c, uint32_t api, const char *label, enum nai_site_kind kind) {
  const struct nai_call_site *site = &c->s.sites[c->s.stacks[c->s.stack_of[api]].site];
  assert_string_equal(site->label, label);
  assert_int_equal(site->kind, kind);
}

TEST(the_users_frame_is_the_site) {
  static const struct {
    const char *frames[3][2]; /* symbol, module; innermost first */
    const char *label;
    enum nai_site_kind kind;
  } cases[] = {
      {{{"run()", "/opt/app"}, {"f (/x/y/a.py:3)", "python3"}}, "y/a.py:3 f", NAI_SITE_PYTHON}, /* before native code */
      {{{"f (/v/site-packages/torch/nn/m.py:3)", ""}, {"run()", "/opt/app"}}, "run() (app)", NAI_SITE_NATIVE},
      {{{"f (/v/site-packages/torch/nn/m.py:3)", ""}, {"at::f()", "/v/libtorch_cpu.so"}},
       "torch/nn/m.py:3 f",
       NAI_SITE_PYTHON_FRAMEWORK},
      {{{"ncclLaunch", "/v/libnccl.so.2"}, {"at::f()", "/v/libtorch_cpu.so"}},
       "at::f() (libtorch_cpu.so)",
       NAI_SITE_FRAMEWORK},
      {{{"cudaLaunchKernel", "/v/libcudart.so.12"}, {"ncclLaunch", "/v/libnccl.so.2"}},
       "ncclLaunch (libnccl.so.2)",
       NAI_SITE_LIBRARY},
      {{{"0x7f", "/v/libx.so"}, {"_PyEval_Eval", "/usr/bin/python3.11"}, {"[Max depth]", "[Max depth]"}},
       "libx.so",
       NAI_SITE_MODULE},
      {{{"f", "/home/ada/a.py"}}, "~/a.py f", NAI_SITE_PYTHON},
      {{{"f", "/home/ada/b/c/a.py"}}, "c/a.py f", NAI_SITE_PYTHON},
      {{{NULL, NULL}}, "unknown", NAI_SITE_MODULE}};
  enum { CASES = sizeof cases / sizeof *cases };
  struct calls c;
  begin(&c);
  for (int64_t i = 0; i < CASES; i++) {
    for (int d = 0; d < 3 && (d == 0 || cases[i].frames[d][0]); d++)
      frame(&c, NAI_CALLCHAIN_CUDA, i + 1, d, cases[i].frames[d][0], cases[i].frames[d][1]);
    call(&c, 100 * i, 100 * i + 10, "cudaLaunchKernel", i + 1, i + 1);
  }
  open_stacks(&c);
  for (uint32_t i = 0; i < CASES; i++)
    expect_site(&c, i, cases[i].label, cases[i].kind);
  finish(&c);
}

TEST(equal_frames_are_one_stack) {
  struct calls c;
  begin(&c);
  for (int64_t id = 1; id <= 3; id++) {
    frame(&c, NAI_CALLCHAIN_CUDA, id, 0, "f()", id == 2 ? "/other/app" : "/opt/app"); /* the same file name */
    frame(&c, NAI_CALLCHAIN_CUDA, id, 1, id == 3 ? "other()" : "main", "/opt/app");
  }
  frame(&c, NAI_CALLCHAIN_OSRT, 9, 0, "g()", "/opt/app"); /* an id of another kind */
  for (int64_t i = 0; i < 5; i++)
    call(&c, 100 * i, 100 * i + 10, "cudaLaunchKernel", i, (const int64_t[]){1, 2, 3, 9, 0}[i]);
  open_stacks(&c);
  assert_int_equal(c.s.stack_count, 1 + 2);
  assert_int_equal(c.s.stack_of[0], c.s.stack_of[1]);
  assert_int_not_equal(c.s.stack_of[0], c.s.stack_of[2]);
  assert_int_equal(c.s.site_count, 1 + 1);
  expect_site(&c, 2, "f() (app)", NAI_SITE_NATIVE);
  expect_site(&c, 3, "(no call stack)", NAI_SITE_NONE);
  expect_site(&c, 4, "(no call stack)", NAI_SITE_NONE);
  finish(&c);
}

TEST(calls_in_calls_have_their_stack) {
  struct calls c;
  begin(&c);
  frame(&c, NAI_CALLCHAIN_CUDA, 1, 0, "f()", "/opt/app");
  frame(&c, NAI_CALLCHAIN_CUDA, 2, 0, "g()", "/opt/app");
  call(&c, 0, 100, "cudaLaunchKernel", 1, 1);
  call(&c, 10, 90, "cuLaunchKernel", 2, NAI_NULL_I64);
  call(&c, 20, 80, "cuEventRecord", 3, 2);
  call(&c, 100, 200, "cudaLaunchKernel", 4, NAI_NULL_I64); /* behind, not inside */
  open_stacks(&c);
  expect_site(&c, 1, "f() (app)", NAI_SITE_NATIVE);
  expect_site(&c, 2, "g() (app)", NAI_SITE_NATIVE);
  expect_site(&c, 3, "(no call stack)", NAI_SITE_NONE);
  assert_false(c.s.has_own[1]);
  finish(&c);
}

TEST(a_trace_without_stacks_has_none) {
  struct calls c;
  begin(&c);
  call(&c, 0, 100, "cudaLaunchKernel", 1, NAI_NULL_I64);
  frame(&c, NAI_CALLCHAIN_SAMPLE, 1, 0, "f()", "/opt/app");
  fixture_build(&c.f);
  assert_false(nai_call_stacks_any(&c.f.m));
  finish(&c);
}

TEST(allocations_have_the_bytes_of_their_calls) {
  struct calls c;
  begin(&c);
  struct nai_table *usage = c.f.in.tables[NAI_IN_MEMORY_USAGE];
  frame(&c, NAI_CALLCHAIN_CUDA, 1, 0, "grow()", "/opt/app");
  call(&c, 0, 100, "cudaMalloc", 5, 1);
  call(&c, 200, 300, "cudaFree", 6, 1);
  call(&c, 400, 500, "cudaLaunchKernel", 7, NAI_NULL_I64);
  fixture_kernel(&c.f, 600, 700, "k", 0, c.process, 7, 7);
  for (int64_t i = 0; i < 3; i++) /* one without a call in the trace, and a release */
    NAI_ADD(MEMORY_USAGE_EVENTS, usage, .time_ns = 50, .device_id = 0, .process = c.process,
            .correlation_id = i == 1 ? 99 : 5 + i / 2, .operation = i == 2, .bytes = 1000 << i);
  fixture_build(&c.f);
  struct nai_table *sites = fixture_analyze(&c.f, "call_sites", 0);
  int64_t grow = row_where(sites, "label", "grow() (app)"), none = row_where(sites, "label", "(no call stack)");
  assert_int_equal(cell_int(sites, grow, "allocation_bytes"), 1000);
  assert_int_equal(cell_int(sites, grow, "allocation_count"), 2);
  assert_int_equal(cell_int(sites, none, "allocation_bytes"), 2000);
  assert_int_equal(cell_int(sites, none, "kernel_count"), 1);
  assert_int_equal(cell_int(sites, none, "stack_count"), 0);
  nai_table_free(sites);
  finish(&c);
}
