/* Collectives: exposed time by instant against its definition, waits by hand, what must be refused, rates row by row.
 */
#include "model_fixture.h"

#include "model/comm/comm_build.h"
#include "tables/nvtx_events.h"
#include "tables/nvtx_payloads.h"

#include <math.h>
#include <stdio.h>

static const char all_reduce[] = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs4K)",
                  send_recv[] = "ncclDevKernel_SendRecv(ncclDevKernelArgs4K)", gemm[] = "gemm_kernel";

/* --- exposed time ----------------------------------------------------------------------------- */

/* Nanosecond by nanosecond: the kernels that run share it, the earliest takes what cannot be divided. Shares of single
 * nanoseconds would all go to the earliest, so stretches between changes are what is divided. */
static void share_by_hand(int64_t *shares, const struct nai_comm_item *items, int n, const char *exposed, int span) {
  memset(shares, 0, (size_t)n * sizeof *shares);
  for (int from = 0, to; from < span; from = to) {
    int running = 0, earliest = -1, ns = 0;
    for (to = from; to < span; to++) { /* up to the next start or end */
      int change = 0;
      for (int i = 0; i < n; i++)
        change |= to > from && items[i].start < items[i].end && (items[i].start == to || items[i].end == to);
      if (change)
        break;
      ns += exposed[to];
    }
    for (int i = 0; i < n; i++)
      if (items[i].start <= from && from < items[i].end) {
        earliest = earliest < 0 ? i : earliest;
        running++;
      }
    for (int i = 0; running && i < n; i++)
      if (items[i].start <= from && from < items[i].end)
        shares[i] += ns / running + (i == earliest ? ns % running : 0);
  }
}

TEST(test_exposed_time_is_shared_by_instant) {
  enum { SPAN = 90, MOST = 9 };
  struct fixture f = {.seed = 7};
  for (int round = 0; round < 400; round++) {
    struct nai_comm_item items[MOST];
    NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
    struct nai_intervals exposed = {.arena = &arena};
    char covered[SPAN] = {0};
    int64_t shares[MOST], expected[MOST], start = 0;
    int n = (int)fixture_random(&f, MOST);
    for (int i = 0; i < n; i++) { /* by start; some empty */
      start += fixture_random(&f, 12);
      items[i] = (struct nai_comm_item){.start = start, .end = start + fixture_random(&f, 30)};
    }
    for (int64_t t = 0; t < SPAN;) {
      int64_t until = t + fixture_random(&f, 20);
      until = until < SPAN ? until : SPAN;
      nai_intervals_add(&exposed, t, until);
      for (; t < until; t++)
        covered[t] = 1;
      t += 1 + fixture_random(&f, 9);
    }
    ok(nai_comm_charge(shares, items, (uint32_t)n, &exposed, &arena, err));
    share_by_hand(expected, items, n, covered, SPAN);
    for (int i = 0; i < n; i++)
      assert_int_equal(shares[i], expected[i]);
  }
}

/* --- waits ------------------------------------------------------------------------------------ */

struct world {
  struct fixture f;
  int32_t thread[3];
  int64_t correlation;
};

static void begin(struct world *w, int gpus) {
  fixture_init(&w->f);
  w->correlation = 0;
  for (int g = 0; g < gpus; g++) {
    int32_t process = fixture_process(&w->f, 100 + g);
    w->thread[g] = fixture_thread(&w->f, process, 100 + g);
    fixture_gpu(&w->f, g);
  }
}

static void run_kernel(struct world *w, int gpu, const char *name, int64_t stream, int64_t start, int64_t end) {
  int64_t id = ++w->correlation;
  fixture_api(&w->f, start - 10, start - 5, w->thread[gpu], "cudaLaunchKernel", id);
  fixture_kernel(&w->f, start, end, name, gpu, gpu, stream, id);
}

static struct nai_table *ranks_of(struct world *w) {
  fixture_build(&w->f);
  return fixture_analyze(&w->f, "comm_ranks", 0);
}

static void check_rank(const struct nai_table *t, int64_t row, int64_t wait, int64_t transfer, int64_t tail,
                       int64_t late) {
  assert_int_equal(cell_int(t, row, "wait_ns"), wait);
  assert_int_equal(cell_int(t, row, "transfer_ns"), transfer);
  assert_int_equal(cell_int(t, row, "tail_ns"), tail);
  assert_int_equal(cell_int(t, row, "late_count"), late);
  assert_int_equal(cell_int(t, row, "matched_ns"), wait + transfer + tail);
}

TEST(test_wait_transfer_and_tail) {
  struct world w;
  begin(&w, 2);
  for (int k = 0; k < 5; k++) { /* GPU 1 comes 1,000 us late; it ends 2 us after GPU 0, in one set 12 us */
    int64_t t = 1000000 + k * (int64_t)5000000;
    run_kernel(&w, 0, all_reduce, 20, t, t + 1300000);
    run_kernel(&w, 1, gemm, 7, t + 100000, t + 900000);
    run_kernel(&w, 1, all_reduce, 28, t + 1000000, t + 1302000 + (k == 3 ? 10000 : 0));
  }
  struct nai_table *t = ranks_of(&w);
  assert_int_equal(t->rows, 2);
  assert_int_equal(cell_int(t, 1, "clock_correction_ns"), 2000);
  assert_int_equal(cell_int(t, 1, "clock_mad_ns"), 0);
  check_rank(t, 0, INT64_C(5) * 998000, INT64_C(5) * 302000, 0, 0);
  check_rank(t, 1, 0, INT64_C(5) * 302000, 10000, 5);
  assert_int_equal(cell_int(t, 1, "caused_wait_ns"), INT64_C(5) * 998000);
  assert_int_equal(cell_int(t, 0, "waits_for_device_id"), 1);
  assert_string_equal(cell_text(t, 1, "behind_with"), gemm);
  assert_int_equal(cell_int(t, 1, "behind_with_ns"), INT64_C(5) * 800000);
  assert_int_equal(cell_int(t, 1, "behind_idle_ns"), INT64_C(5) * 198000);
  nai_table_free(t);
  fixture_free(&w.f);
}

/* GPU 1 comes 1 ms late to five sets: once since the profiler flushes for 0.6 ms, once since it did for 2 ms, which
 * explain no more than the wait. */
TEST(test_profiler_makes_others_wait) {
  struct world w;
  begin(&w, 2);
  for (int k = 0; k < 5; k++) {
    int64_t t = 1000000 + k * (int64_t)5000000;
    run_kernel(&w, 0, all_reduce, 20, t, t + 1300000);
    run_kernel(&w, 1, all_reduce, 28, t + 1000000, t + 1300000);
    if (k == 2)
      fixture_overhead(&w.f, t + 300000, t + 900000, w.thread[1], "CUPTI Buffer flush", NAI_OVERHEAD_PROFILER);
    if (k == 3)
      fixture_overhead(&w.f, t - 1500000, t + 500000, w.thread[1], "CUPTI Buffer flush", NAI_OVERHEAD_PROFILER);
  }
  struct nai_table *t = ranks_of(&w);
  assert_int_equal(cell_int(t, 0, "wait_exposed_ns"), 5000000);
  assert_int_equal(cell_int(t, 0, "wait_profiler_ns"), 1600000);
  assert_int_equal(cell_int(t, 1, "wait_profiler_ns"), 0);
  nai_table_free(t);
  fixture_free(&w.f);
}

/* Two pairs of GPUs would need four; here the third GPU runs the same but at other times. */
TEST(test_kernels_that_do_not_end_together_are_no_set) {
  struct world w;
  begin(&w, 3);
  for (int k = 0; k < 8; k++) {
    int64_t t = 1000000 + k * (int64_t)5000000;
    run_kernel(&w, 0, all_reduce, 20, t, t + 400000);
    run_kernel(&w, 1, all_reduce, 20, t + 50000, t + 400500);
    run_kernel(&w, 2, all_reduce, 20, t + 10000, t + 400000 + 100000 * (k * k % 5));
  }
  struct nai_table *t = ranks_of(&w);
  assert_int_equal(cell_int(t, 0, "matched_count"), 8);
  assert_int_equal(cell_int(t, 1, "matched_count"), 8);
  assert_int_equal(cell_int(t, 2, "matched_count"), 0);
  assert_int_equal(cell_int(t, 2, "wait_ns"), NAI_NULL_I64);
  assert_string_equal(cell_text(t, 2, "refused"), "kernels of the GPUs do not end together");
  nai_table_free(t);
  fixture_free(&w.f);
}

TEST(test_gpus_that_ran_something_else) {
  struct world w;
  begin(&w, 2);
  for (int k = 0; k < 8; k++) {
    int64_t t = 1000000 + k * (int64_t)5000000;
    run_kernel(&w, 0, all_reduce, 20, t, t + 400000);
    run_kernel(&w, 1, k % 2 ? send_recv : all_reduce, 20, t, t + 400000);
  }
  struct nai_table *t = ranks_of(&w);
  assert_int_equal(cell_int(t, 0, "matched_count"), 0);
  assert_string_equal(cell_text(t, 0, "refused"), "the GPUs did not run the same collectives");
  nai_table_free(t);
  fixture_free(&w.f);
}

/* A capture that cut off one of a hundred: the others still belong together, by time. */
TEST(test_one_kernel_missing) {
  struct world w;
  begin(&w, 2);
  for (int k = 0; k < 101; k++) {
    int64_t t = 1000000 + k * (int64_t)1000000;
    run_kernel(&w, 0, all_reduce, 20, t, t + 400000);
    if (k != 40)
      run_kernel(&w, 1, all_reduce, 20, t + 100000, t + 400000);
  }
  struct nai_table *t = ranks_of(&w);
  assert_int_equal(cell_int(t, 0, "matched_count"), 100);
  check_rank(t, 0, INT64_C(100) * 100000, INT64_C(100) * 300000, 0, 0);
  check_rank(t, 1, 0, INT64_C(100) * 300000, 0, 100);
  nai_table_free(t);
  fixture_free(&w.f);
}

/* By the kernel's name, or by the call around its launch. */
TEST(test_point_to_point_among_three) {
  static const char *const calls[] = {NULL, "ncclPutSignal", "ncclSignal", "ncclWaitSignal"};
  for (size_t call = 0; call < sizeof calls / sizeof *calls; call++) {
    struct world w;
    begin(&w, 3);
    for (int k = 0; k < 8; k++)
      for (int g = 0; g < 3; g++) {
        int64_t t = 1000000 + k * (int64_t)5000000;
        if (calls[call])
          fixture_nvtx(&w.f, t - 30, t, w.thread[g], calls[call], NAI_NVTX_PUSH_POP);
        run_kernel(&w, g, calls[call] ? "ncclDevKernel_Generic(ncclDevKernelArgs4K)" : send_recv, 20, t, t + 400000);
      }
    struct nai_table *t = ranks_of(&w);
    for (int g = 0; g < 3; g++) {
      assert_int_equal(cell_int(t, g, "matched_count"), 0);
      assert_non_null(strstr(cell_text(t, g, "refused"), "point-to-point"));
    }
    nai_table_free(t);
    fixture_free(&w.f);
  }
}

TEST(test_one_gpu_alone) {
  struct world w;
  begin(&w, 1);
  for (int k = 0; k < 30; k++) /* 29 of 100 us, one of 600 */
    run_kernel(&w, 0, all_reduce, 20, 1000000 + k * (int64_t)1000000,
               1100000 + k * (int64_t)1000000 + (k == 9) * 500000);
  fixture_build(&w.f);
  struct nai_table *t = fixture_analyze(&w.f, "comm_ops", 0);
  assert_int_equal(t->rows, 1);
  assert_int_equal(cell_int(t, 0, "matched_count"), 0);
  assert_int_equal(cell_int(t, 0, "wait_ns"), NAI_NULL_I64);
  assert_int_equal(cell_int(t, 0, "excess_ns"), 500000);
  assert_int_equal(cell_int(t, 0, "exposed_ns"), 30 * 100000 + 500000);
  nai_table_free(t);
  t = fixture_analyze(&w.f, "comm_ranks", 0);
  assert_string_equal(cell_text(t, 0, "refused"), "no other GPU in the trace has a counterpart");
  nai_table_free(t);
  fixture_free(&w.f);
}

TEST(test_nothing_without_communication) {
  struct world w;
  begin(&w, 1);
  run_kernel(&w, 0, gemm, 7, 1000, 2000);
  fixture_build(&w.f);
  static const char *const analyses[] = {"comm_ops", "comm_streams", "comm_instances", "comm_ranks", "comm_capture"};
  for (size_t i = 0; i < sizeof analyses / sizeof *analyses; i++) {
    struct nai_table *t = fixture_analyze(&w.f, analyses[i], 0);
    assert_int_equal(t->rows, 0);
    nai_table_free(t);
  }
  fixture_free(&w.f);
}

/* --- groups ----------------------------------------------------------------------------------- */

TEST(test_calls_of_a_group) {
  struct world w;
  begin(&w, 1);
  int64_t t = 1000000;
  fixture_nvtx(&w.f, t, t + 10, w.thread[0], "ncclGroupStart", NAI_NVTX_PUSH_POP);
  for (int i = 0; i < 4; i++)
    fixture_nvtx(&w.f, t + 20 + 20 * i, t + 30 + 20 * i, w.thread[0], i % 2 ? "ncclRecv" : "ncclSend",
                 NAI_NVTX_PUSH_POP);
  fixture_nvtx(&w.f, t + 110, t + 200, w.thread[0], "ncclGroupEnd", NAI_NVTX_PUSH_POP);
  fixture_nvtx(&w.f, t + 210, t + 300, w.thread[0], "ncclGroupEnd", NAI_NVTX_PUSH_POP); /* began before the capture */
  run_kernel(&w, 0, send_recv, 20, t + 130, t + 5000);                                  /* launched at t + 120 */
  run_kernel(&w, 0, "ncclDevKernel_Generic(ncclDevKernelArgs4K)", 20, t + 230 + 5000, t + 11000);
  fixture_api(&w.f, t + 215, t + 220, w.thread[0], "cudaLaunchKernel", 99);
  fixture_build(&w.f);
  struct nai_table *in = fixture_analyze(&w.f, "comm_instances", 0);
  assert_string_equal(cell_text(in, 0, "calls"), "Send x2, Recv x2");
  assert_string_equal(cell_text(in, 1, "calls"), "");
  assert_string_equal(cell_text(in, 1, "op"), "unknown");
  nai_table_free(in);
  in = fixture_analyze(&w.f, "comm_capture", 0);
  assert_int_equal(cell_int(in, 0, "attributed_count"), 1);
  assert_int_equal(cell_int(in, 0, "group_count"), 1);
  assert_int_equal(cell_int(in, 0, "sized_count"), 0);
  assert_non_null(strstr(cell_text(in, 0, "command"), "--include-blobs=true"));
  nai_table_free(in);
  fixture_free(&w.f);
}

/* --- payloads --------------------------------------------------------------------------------- */

/* A range of NCCL's on GPU `gpu`'s thread, with a payload in JSON. */
static void range(struct world *w, int gpu, int64_t start, int64_t end, const char *name, const char *json) {
  struct nai_table *ranges = w->f.in.tables[NAI_IN_NVTX], *payloads = w->f.in.tables[NAI_IN_NVTX_PAYLOADS];
  fixture_nvtx(&w->f, start, end, w->thread[gpu], name, NAI_NVTX_PUSH_POP);
  if (!json)
    return;
  int64_t row = nai_table_add_row(payloads);
  nai_set_i64(payloads, row, NVTX_PAYLOADS_export_row,
              ranges->rows - 1 + nai_get_i64(ranges, ranges->rows - 1, NVTX_EVENTS_export_row_offset));
  nai_set_i64(payloads, row, NVTX_PAYLOADS_kind, NAI_PAYLOAD_JSON);
  nai_set_str(payloads, row, NVTX_PAYLOADS_json, json);
}

/* Half of a transfer between two stages of a pipeline of three. */
static void pass_on(struct world *w, int gpu, const char *name, int peer, int64_t start, int64_t end) {
  char json[160];
  snprintf(json, sizeof json, "{\"NCCL communicator ID\": 10, \"Message size [bytes]\": 4096, \"Peer rank\": %d}",
           peer);
  range(w, gpu, start - 20, start - 1, name, json);
  run_kernel(w, gpu, send_recv, 20, start, end);
}

/* The middle GPU runs twice as many as its neighbours: only peers tell whose is whose. */
TEST(test_point_to_point_with_known_peers) {
  struct world w;
  begin(&w, 3);
  for (int g = 0; g < 3; g++) {
    char json[120];
    snprintf(json, sizeof json, "{\"NCCL communicator ID\": 10, \"No. of ranks\": 3, \"Rank\": %d}", g);
    range(&w, g, 1000, 2000, "ncclCommInitRank", json);
  }
  for (int64_t k = 0, t = 1000000; k < 6; k++, t += 3000000) {
    pass_on(&w, 0, "ncclSend", 1, t, t + 500000);
    pass_on(&w, 1, "ncclRecv", 0, t + 100000, t + 500000);
    pass_on(&w, 2, "ncclRecv", 1, t + 700000, t + 1400000);
    pass_on(&w, 1, "ncclSend", 2, t + 1000000, t + 1400000);
  }
  struct nai_table *t = ranks_of(&w);
  for (int g = 0; g < 3; g++)
    assert_int_equal(cell_int(t, g, "matched_count"), g == 1 ? 12 : 6);
  check_rank(t, 0, 6 * 100000, 6 * 400000, 0, 0);
  check_rank(t, 1, 0, 6 * 800000, 0, 12);
  check_rank(t, 2, 6 * 300000, 6 * 400000, 0, 0);
  nai_table_free(t);
  fixture_free(&w.f);
}

/* Two exchanges among three, each of 4,096 bytes to each other rank. Whose initialization is missing has none. */
TEST(test_all_to_all_is_messages_to_each_other_rank) {
  struct world w;
  begin(&w, 3);
  for (int g = 0; g < 3; g++) {
    char json[120];
    snprintf(json, sizeof json, "{\"NCCL communicator ID\": 10, \"No. of ranks\": 3, \"Rank\": %d}", g);
    if (g < 2)
      range(&w, g, 1000, 2000, "ncclCommInitRank", json);
    for (int64_t k = 0, t = 1000000; k < 2; k++, t += 3000000) {
      range(&w, g, t - 20, t - 1, "ncclAlltoAll", "{\"NCCL communicator ID\": 10, \"Message size [bytes]\": 4096}");
      run_kernel(&w, g, send_recv, 20, t, t + 500000);
    }
  }
  fixture_build(&w.f);
  struct nai_table *t = fixture_analyze(&w.f, "comm_peers", 0);
  assert_int_equal(t->rows, 4);
  static const int peers[4] = {1, 2, 0, 2};
  for (int row = 0; row < 4; row++) {
    assert_int_equal(cell_int(t, row, "rank"), row / 2);
    assert_int_equal(cell_int(t, row, "peer"), peers[row]);
    assert_int_equal(cell_int(t, row, "sent_count"), 2);
    assert_int_equal(cell_int(t, row, "sent_bytes"), 2 * 4096);
    assert_int_equal(cell_int(t, row, "received_count"), 2);
    assert_int_equal(cell_int(t, row, "received_bytes"), 2 * 4096);
  }
  nai_table_free(t);
  fixture_free(&w.f);
}

TEST(test_communicators_on_one_stream) {
  struct world w;
  begin(&w, 1);
  for (int64_t k = 0, t = 1000000; k < 4; k++, t += 3000000) { /* A runs 1,000 us; B is launched meanwhile */
    range(&w, 0, t - 20, t - 1, "ncclAllReduce", "{\"NCCL communicator ID\": 10, \"Message size [bytes]\": 400}");
    run_kernel(&w, 0, all_reduce, 20, t, t + 1000000);
    range(&w, 0, t + 99980, t + 99999, "ncclAllReduce",
          "{\"NCCL communicator ID\": 11, \"Message size [bytes]\": 800}");
    fixture_api(&w.f, t + 99990, t + 99995, w.thread[0], "cudaLaunchKernel", ++w.correlation);
    fixture_kernel(&w.f, t + 1000000, t + 1500000, all_reduce, 0, 0, 20, w.correlation);
  }
  int64_t pid = nai_get_i64(w.f.in.tables[NAI_IN_PROCESSES], 0, PROCESSES_pid);
  CELLS(w.f.in.tables[NAI_IN_STREAMS], pid, 1, 20, -5, 2);
  CELLS(w.f.in.tables[NAI_IN_STREAMS], pid, 2, 20, 0, 2); /* of another context */
  CELLS(w.f.in.tables[NAI_IN_STREAM_NAMES], 0, pid + 1, 1, 20);
  nai_set_str(w.f.in.tables[NAI_IN_STREAM_NAMES], 0, 0, "another's");
  CELLS(w.f.in.tables[NAI_IN_STREAM_NAMES], 0, pid, 1, 20);
  nai_set_str(w.f.in.tables[NAI_IN_STREAM_NAMES], 1, 0, "gradients");
  fixture_build(&w.f);
  struct nai_table *t = fixture_analyze(&w.f, "comm_streams", 0);
  assert_string_equal(cell_text(t, 0, "stream_name"), "gradients");
  assert_int_equal(cell_int(t, 0, "priority"), -5);
  assert_int_equal(cell_int(t, 0, "communicator_count"), 2);
  assert_int_equal(cell_int(t, 0, "serial_wait_ns"), 4 * (1000000 - 99990));
  nai_table_free(t);
  t = fixture_analyze(&w.f, "comm_instances", 0);
  assert_int_equal(cell_int(t, 1, "message_bytes"), 800);
  assert_string_equal(cell_text(t, 1, "communicator"), "0x000000000000000b");
  assert_int_equal(cell_int(t, 1, "rank_count"), NAI_NULL_I64); /* one rank here; how many there are is not known */
  assert_true(isnan(cell_real(t, 1, "busbw")) && !isnan(cell_real(t, 1, "algbw")));
  nai_table_free(t);
  fixture_free(&w.f);
}

static void reduce(struct world *w, int comm, int64_t bytes, int64_t start, int64_t ns) {
  char json[120];
  snprintf(json, sizeof json, "{\"NCCL communicator ID\": %d, \"Message size [bytes]\": %lld}", comm, (long long)bytes);
  range(w, 0, start - 20, start - 1, "ncclAllReduce", json);
  run_kernel(w, 0, all_reduce, 20, start, start + ns);
}

static int64_t row_of_size(const struct nai_table *t, const char *communicator, int64_t from_bytes) {
  for (int64_t row = 0; row < t->rows; row++)
    if (strcmp(cell_text(t, row, "communicator"), communicator) == 0 && cell_int(t, row, "from_bytes") == from_bytes)
      return row;
  fail_msg("no messages of %lld bytes", (long long)from_bytes);
  return -1;
}

/* A message that takes hardly longer than a small one of its communicator tells no rate. */
TEST(test_sizes_of_messages) {
  enum { KIB = 1 << 10, MIB = 1 << 20, US = 1000 };
  struct world w;
  begin(&w, 1);
  range(&w, 0, 1000, 2000, "ncclCommInitRank", "{\"NCCL communicator ID\": 10, \"No. of ranks\": 2, \"Rank\": 0}");
  range(&w, 0, 3000, 4000, "ncclCommShrink", "{\"NCCL communicator ID\": 11, \"No. of ranks\": 2, \"Rank\": 0}");
  for (int64_t k = 0, t = 1000 * US; k < 3; k++, t += 9000 * US) {
    reduce(&w, 10, KIB, t, 10 * US);
    reduce(&w, 10, MIB, t + 1000 * US, 25 * US);
    reduce(&w, 10, 64 * MIB, t + 2000 * US, (1000 + k) * US);
    reduce(&w, 11, MIB, t + 5000 * US, 25 * US);
  }
  fixture_build(&w.f);
  struct nai_table *t = fixture_analyze(&w.f, "comm_sizes", 1);
  assert_int_equal(t->rows, 4);
  int64_t row = row_of_size(t, "0x000000000000000a", KIB);
  assert_int_equal(cell_int(t, row, "latency_bound"), 1);
  assert_int_equal(cell_int(t, row, "kernel_count"), 3);
  row = row_of_size(t, "0x000000000000000a", MIB);
  assert_int_equal(cell_int(t, row, "latency_bound"), 1);
  assert_true(isnan(cell_real(t, row, "p50_busbw")));
  row = row_of_size(t, "0x000000000000000a", 64 * MIB);
  assert_int_equal(cell_int(t, row, "total_bytes"), 3 * 64 * MIB);
  assert_true(fabs(cell_real(t, row, "p50_busbw") - 64 * MIB / 1001e3) < 1e-3);
  row = row_of_size(t, "0x000000000000000b", MIB);
  assert_int_equal(cell_int(t, row, "latency_bound"), 0);
  assert_true(fabs(cell_real(t, row, "p50_busbw") - MIB / 25e3) < 1e-3);
  assert_int_equal(cell_int(t, row, "matched_count"), 0);
  nai_table_free(t);
  t = fixture_analyze(&w.f, "comm_sizes", 0);
  assert_int_equal(t->rows, 2);
  assert_string_equal(cell_text(t, 0, "ops"), "AllReduce 9");
  nai_table_free(t);
  fixture_free(&w.f);
}

/* Kernels of one group: alike collectives are shared, others cannot be told apart. */
TEST(test_kernels_that_share_a_group) {
  static const char small[] = "{\"NCCL communicator ID\": 10, \"Message size [bytes]\": 400}",
                    large[] = "{\"NCCL communicator ID\": 10, \"Message size [bytes]\": 900}";
  for (int alike = 0; alike < 2; alike++) {
    struct world w;
    begin(&w, 2);
    range(&w, 0, 1000, 1010, "ncclGroupStart", NULL);
    range(&w, 0, 1020, 1030, "ncclAllReduce", small);
    range(&w, 0, 1040, 1050, "ncclAllReduce", alike ? small : large);
    range(&w, 0, 1060, 1200, "ncclGroupEnd", NULL);
    for (int g = 0; g < 2; g++) { /* one process, two GPUs */
      fixture_api(&w.f, 1100 + 20 * g, 1105 + 20 * g, w.thread[0], "cudaLaunchKernel", 7 + g);
      fixture_kernel(&w.f, 2000, 3000, all_reduce, g, 0, 20, 7 + g);
    }
    fixture_build(&w.f);
    struct nai_table *t = fixture_analyze(&w.f, "comm_instances", 0);
    for (int g = 0; g < 2; g++) {
      assert_int_equal(cell_int(t, g, "message_bytes"), alike ? 400 : NAI_NULL_I64);
      assert_string_equal(cell_text(t, g, "calls"), "AllReduce x2");
      assert_string_equal(cell_text(t, g, "communicator"), "0x000000000000000a");
    }
    nai_table_free(t);
    fixture_free(&w.f);
  }
}

TEST(test_set_up_after_the_first_collective) {
  struct world w;
  begin(&w, 1);
  range(&w, 0, 1000, 500000, "ncclCommInitRank", "{\"NCCL communicator ID\": 10, \"No. of ranks\": 4, \"Rank\": 3}");
  run_kernel(&w, 0, all_reduce, 20, 1000000, 2000000);
  range(&w, 0, 2100000, 2900000, "ncclCommSplit", NULL);
  run_kernel(&w, 0, gemm, 7, 2500000, 2600000);
  run_kernel(&w, 0, all_reduce, 20, 3000000, 4000000);
  fixture_build(&w.f);
  struct nai_table *t = fixture_analyze(&w.f, "comm_ranks", 0);
  assert_int_equal(cell_int(t, 0, "rank"), 3);
  assert_int_equal(cell_int(t, 0, "init_count"), 1);
  assert_int_equal(cell_int(t, 0, "init_ns"), 800000);
  assert_int_equal(cell_int(t, 0, "init_idle_ns"), 700000);
  nai_table_free(t);
  fixture_free(&w.f);
}

/* --- rates ------------------------------------------------------------------------------------ */

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

TEST(test_rates_row_by_row) {
  const int64_t m = 1 << 20, t = 100000, n = 8;
  const double per = (double)m / (double)t;
  static const struct {
    const char *op;
    double algorithm, bus; /* times message / time, n = 8; as nccl-tests has them */
  } rows[] = {
      {"AllReduce", 1, 14.0 / 8}, {"AllGather", 8, 7}, {"ReduceScatter", 8, 7}, {"AllToAll", 8, 7}, {"Gather", 8, 7},
      {"Scatter", 8, 7},          {"Broadcast", 1, 1}, {"Reduce", 1, 1},        {"Send", 1, 1},     {"Recv", 1, 1},
      {"SendRecv", 1, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct nai_comm_rates r = nai_comm_rates(rows[i].op, m, n, t);
    assert_true(near(r.algorithm, rows[i].algorithm * per));
    assert_true(near(r.bus, rows[i].bus * per));
  }
  struct nai_comm_rates gather = nai_comm_rates("AllGather", m, n, t);
  assert_true(fabs(gather.algorithm - 83.886) < 0.001 && fabs(gather.bus - 73.400) < 0.001);
  assert_true(near(nai_comm_rates("AllReduce", 300000000, 2, 300000).bus, 1000));
  /* Without the number of ranks: what does not depend on it. */
  assert_true(near(nai_comm_rates("AllReduce", m, NAI_COMM_UNKNOWN, t).algorithm, per));
  assert_true(isnan(nai_comm_rates("AllReduce", m, NAI_COMM_UNKNOWN, t).bus));
  assert_true(isnan(nai_comm_rates("AllGather", m, NAI_COMM_UNKNOWN, t).algorithm));
  assert_true(near(nai_comm_rates("Broadcast", m, NAI_COMM_UNKNOWN, t).bus, per));
  assert_true(isnan(nai_comm_rates("Dispatch", m, n, t).bus));
  assert_true(isnan(nai_comm_rates(NULL, m, n, t).bus) && isnan(nai_comm_rates("AllReduce", -1, n, t).bus) &&
              isnan(nai_comm_rates("AllReduce", m, n, 0).bus));
}

/* --- price of overlap ------------------------------------------------------------------------- */

TEST(test_price_of_overlap) {
  struct world w;
  begin(&w, 1);
  for (int k = 0; k < 6; k++) { /* alone 400 us, once 410; beside communication 550 */
    int64_t t = 1000000 + k * (int64_t)3000000;
    run_kernel(&w, 0, gemm, 7, t, t + 400000 + (k == 5) * 10000);
    run_kernel(&w, 0, all_reduce, 20, t + 900000, t + 1600000);
    run_kernel(&w, 0, gemm, 7, t + 1000000, t + 1550000);
    run_kernel(&w, 0, "half_kernel", 7, t + 1560000, t + 1660000); /* beside it for less than 90 % */
  }
  fixture_build(&w.f);
  struct nai_table *t = fixture_analyze(&w.f, "comm_overlap", 0);
  assert_int_equal(t->rows, 1);
  assert_string_equal(cell_text(t, 0, "kernel_name"), gemm);
  assert_int_equal(cell_int(t, 0, "free_count"), 6);
  assert_int_equal(cell_int(t, 0, "overlapped_count"), 6);
  assert_int_equal(cell_int(t, 0, "slowdown_ns"), 6 * 150000 - 10000); /* less what it varies by anyway */
  nai_table_free(t);
  fixture_free(&w.f);
}
