/* Collectives of several ranks matched and split, on sequences made by hand: what belongs together, what is refused,
 * who waits. The truth is what the sequences were made from. */
#include "unit.h"

#include "features/ranks/write.h"
#include "model/comm/comm.h"

#include <stdlib.h>
#include <string.h>

enum { US = 1000, MAX_LINES = 160, DOUBT = 10000000 };
enum { REDUCE, GATHER, EXCHANGE, BROADCAST, KINDS }; /* whats */

/* --- jobs ------------------------------------------------------------------------------------- */

static struct nai_ranks job;
static int64_t clocks[MAX_LINES]; /* per rank, ahead */

static void begin_job(uint32_t ranks, bool one_trace) {
  struct nai_err err;
  job = (struct nai_ranks){.arena = NAI_ARENA(NULL)};
  memset(clocks, 0, sizeof clocks);
  job.source_count = one_trace ? 1 : ranks;
  assert_int_equal(NAI_NEW(job.sources, &job.arena, job.source_count, &err), NAI_OK);
  assert_int_equal(NAI_NEW(job.ranks, &job.arena, ranks, &err), NAI_OK);
  assert_int_equal(NAI_NEW(job.lines, &job.arena, MAX_LINES, &err), NAI_OK);
  assert_int_equal(NAI_NEW(job.whats, &job.arena, KINDS, &err), NAI_OK);
  for (uint32_t i = 0; i < job.source_count; i++)
    job.sources[i].utc = NAI_NULL_I64;
  for (job.rank_count = 0; job.rank_count < ranks; job.rank_count++)
    job.ranks[job.rank_count] = (struct nai_job_rank){
        .source = one_trace ? 0 : job.rank_count, .clock = {.residual = NAI_NULL_I64}, .reference = NAI_NO_RANK};
  for (uint32_t i = 0; i < KINDS; i++) {
    bool added;
    nai_keyset_add(&job.what_keys, 1000 + i, &added);
    job.whats[i] =
        (struct nai_rank_what){.op = i, .bytes = 1 << 20, .together = i != BROADCAST, .point_to_point = i == EXCHANGE};
  }
}

/* Lines are added rank by rank. */
static struct nai_rank_line *add_line(uint32_t rank, int64_t comm) {
  struct nai_rank_line *line = &job.lines[job.line_count++];
  *line = (struct nai_rank_line){.rank = rank,
                                 .first = job.ranks[rank].call_count,
                                 .known_comm = comm != 0,
                                 .comm = comm,
                                 .size = -1,
                                 .group = NAI_NO_RANK};
  return line;
}

static void add_call(struct nai_rank_line *line, uint32_t what, int64_t start, int64_t end) {
  struct nai_job_rank *rank = &job.ranks[line->rank];
  uint32_t count = rank->call_count, capacity = count & (count - 1) ? UINT32_MAX : count; /* full at powers of two */
  struct nai_err err;
  assert_int_equal(NAI_ROOM(rank->calls, capacity, count, &job.arena, &err), NAI_OK);
  rank->calls[rank->call_count++] =
      (struct nai_rank_call){start + clocks[line->rank], end + clocks[line->rank], NAI_COMM_UNKNOWN, what};
  line->count++;
}

static void end_job(void) {
  for (uint32_t i = 0; i < job.source_count; i++)
    job.sources[i].run = NULL;
  nai_ranks_free(&job);
}

static void match(void) {
  const struct nai_ranks_options options = {.clock_doubt_ns = DOUBT};
  struct nai_err err;
  assert_int_equal(nai_ranks_match(&job, &options, &err), NAI_OK);
  assert_int_equal(nai_ranks_sum(&job, &err), NAI_OK);
  int64_t wait = 0, transfer = 0, duration = 0;
  for (uint32_t i = 0; i < job.rank_count; i++) {
    wait += job.ranks[i].wait_ns;
    transfer += job.ranks[i].transfer_ns;
    duration += job.ranks[i].matched_ns;
    assert_int_equal(job.ranks[i].wait_ns + job.ranks[i].transfer_ns, job.ranks[i].matched_ns);
  }
  assert_int_equal(wait, job.wait_ns);
  assert_int_equal(wait + transfer, duration);
}

/* A number below `limit` that looks random (splitmix64). */
static int64_t noise(uint64_t k, int64_t limit) {
  uint64_t z = (k + 1) * UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return (int64_t)((z ^ (z >> 31)) % (uint64_t)limit);
}

/* The k-th collective of a job whose steps vary by up to `vary` ns. */
static int64_t when(uint32_t k, int64_t vary) { return (int64_t)k * 500 * US + (vary ? noise(k, vary) : 0); }

/* --- splitting -------------------------------------------------------------------------------- */

/* Rank 1 starts 1,000 us late, both end 300 us after that; its clock is 37 us ahead. */
TEST(test_known_answer) {
  for (int shifted = 0; shifted < 2; shifted++) {
    begin_job(2, true);
    clocks[1] = shifted ? 37 * US : 0;
    for (uint32_t r = 0; r < 2; r++) {
      struct nai_rank_line *line = add_line(r, 5);
      for (uint32_t k = 0; k < 20; k++)
        add_call(line, k % 2, 5000 * US * (int64_t)k + (r ? 1000 * US : 0), 5000 * US * (int64_t)k + 1300 * US);
    }
    match();
    assert_int_equal(job.ranks[0].wait_ns, 20 * 1000 * US);
    assert_int_equal(job.ranks[1].wait_ns, 0);
    assert_int_equal(job.ranks[1].transfer_ns, 20 * 300 * US);
    assert_int_equal(job.ranks[1].late_count, 20);
    assert_int_equal(job.ranks[1].caused_wait_ns, 20 * 1000 * US);
    assert_int_equal(job.ranks[1].clock.offset, clocks[1]);
    assert_int_equal(job.ranks[1].clock.residual, 32); /* ends agree to the ns, but that is chance */
    end_job();
  }
}

/* A root that leaves a broadcast early is not late, and its early end says nothing of its clock. */
TEST(test_broadcast) {
  begin_job(3, false);
  for (uint32_t r = 0; r < 3; r++) {
    struct nai_rank_line *line = add_line(r, 5);
    for (uint32_t k = 0; k < 40; k++)
      add_call(line, k % 4 ? BROADCAST : REDUCE, when(k, 50 * US),
               when(k, 50 * US) + (k % 4 && r == 0 ? 20 : 200) * US);
  }
  match();
  assert_int_equal(job.collectives, 40);
  assert_int_equal(job.split, 10);
  for (uint32_t r = 0; r < 3; r++) {
    assert_int_equal(job.ranks[r].late_count, 0);
    assert_int_equal(job.ranks[r].clock.offset, 0);
  }
  end_job();
}

/* Nobody is late by less than 2 us, 2 % of the transfer, or three times what ends are in doubt. */
TEST(test_doubt) {
  static const struct {
    int64_t transfer, late, jitter;
    bool decided;
  } cases[] = {{10 * US, 1999, 0, false},     {10 * US, 2000, 0, true},         {1000 * US, 19 * US, 0, false},
               {1000 * US, 20 * US, 0, true}, {10 * US, 6 * US, 8 * US, false}, {10 * US, 60 * US, 8 * US, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    begin_job(2, false);
    for (uint32_t r = 0; r < 2; r++) {
      struct nai_rank_line *line = add_line(r, 5);
      for (uint32_t k = 0; k < 64; k++) {
        int64_t end = when(k, 400 * US) + 2000 * US * (int64_t)k + cases[i].transfer + cases[i].late;
        int64_t early = r && cases[i].jitter ? (k % 2 ? cases[i].jitter : 0) : 0;
        add_call(line, REDUCE, end - cases[i].transfer - (r ? 0 : cases[i].late) - early, end - early);
      }
    }
    match();
    assert_int_equal(job.ranks[1].late_count, cases[i].decided ? 64 : 0);
    assert_int_equal(job.ranks[0].late_count, 0);
    end_job();
  }
}

/* --- which is which --------------------------------------------------------------------------- */

struct capture {
  uint32_t from, to;
  bool from_start, numbered; /* each kind of operation by itself, but for the first ten calls */
};

/* Two captures of a job: `kinds` operations that repeat, steps that vary by `vary`, clocks `ahead` apart. */
static const char *lay(struct nai_rank_alignment *out, struct capture one, struct capture other, uint32_t kinds,
                       int64_t vary, int64_t ahead, bool utc) {
  const struct capture captures[2] = {one, other};
  struct nai_rank_side sides[2];
  struct nai_err err;
  begin_job(2, false);
  clocks[1] = ahead;
  for (uint32_t r = 0; r < 2; r++) {
    struct nai_rank_line *line = add_line(r, 5);
    for (uint32_t k = captures[r].from; k < captures[r].to; k++) {
      add_call(line, k % kinds, when(k, vary), when(k, vary) + 100 * US);
      if (captures[r].numbered && k >= captures[r].from + 10)
        job.ranks[r].calls[line->count - 1].seq = k / kinds;
    }
    sides[r] =
        (struct nai_rank_side){job.ranks[r].calls, line->count, utc ? 1000 : NAI_NULL_I64, r, captures[r].from_start};
  }
  assert_int_equal(nai_ranks_align(out, &sides[0], &sides[1], job.whats, 200 * US, &err), NAI_OK);
  end_job();
  return out->refused;
}

TEST(test_shifts) {
  struct nai_rank_alignment a;
  /* One begins three calls later: steps that vary tell, whatever the clocks. */
  assert_null(lay(&a, (struct capture){0, 100}, (struct capture){3, 100}, 2, 50 * US, 77000 * US, false));
  assert_int_equal(a.begin_a, 3);
  assert_int_equal(a.begin_b, 0);
  assert_int_equal(a.count, 97);
  assert_int_equal(a.clock.offset, 77000 * US);
  assert_int_equal(a.method, NAI_RANK_BY_ENDS);
  /* And far apart. */
  assert_null(lay(&a, (struct capture){900, 2000}, (struct capture){0, 1000}, 3, 50 * US, 0, false));
  assert_int_equal(a.begin_a, 0);
  assert_int_equal(a.begin_b, 900);
  assert_int_equal(a.count, 100);
  /* Nothing tells. */
  assert_non_null(lay(&a, (struct capture){0, 100}, (struct capture){0, 100}, 2, 0, 0, false));
  assert_int_equal(a.method, NAI_RANK_NOT_MATCHED);
  /* The beginning of the communicator does; */
  assert_null(lay(&a, (struct capture){0, 100, true}, (struct capture){0, 100, true}, 2, 0, 9000 * US, false));
  assert_int_equal(a.method, NAI_RANK_BY_INIT);
  assert_non_null(lay(&a, (struct capture){0, 100, true}, (struct capture){3, 100}, 2, 0, 0, false));
  /* the library's own numbers do; */
  assert_null(lay(&a, (struct capture){7, 100, false, true}, (struct capture){0, 90, false, true}, 2, 0, 0, false));
  assert_int_equal(a.method, NAI_RANK_BY_NUMBER);
  assert_int_equal(a.begin_b, 7);
  assert_int_equal(a.count, 83);
  assert_non_null(lay(&a, (struct capture){7, 100, false, true}, (struct capture){0, 90}, 2, 0, 0, false));
  /* clocks do when they are nearer than the steps; */
  assert_null(lay(&a, (struct capture){0, 100}, (struct capture){4, 100}, 1, 0, 150 * US, true));
  assert_int_equal(a.method, NAI_RANK_BY_CLOCK);
  assert_int_equal(a.begin_a, 4);
  assert_int_equal(a.clock.offset, 150 * US);
  assert_non_null(lay(&a, (struct capture){0, 100}, (struct capture){4, 100}, 1, 0, 250 * US, true));
  /* short captures are matched as a whole or not. */
  assert_null(lay(&a, (struct capture){0, 4}, (struct capture){0, 4}, 4, 0, 0, false));
  assert_int_equal(a.method, NAI_RANK_BY_SEQUENCE);
  assert_non_null(lay(&a, (struct capture){0, 4}, (struct capture){1, 4}, 4, 0, 0, false));
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Eight ranks, two communicators of four that run the same kinds at about the same times; ids are not known. Those
 * whose kernels end together belong together. */
TEST(test_split_communicators) {
  begin_job(8, false);
  for (uint32_t r = 0; r < 8; r++) {
    struct nai_rank_line *line = add_line(r, 0);
    clocks[r] = 3000 * US * (int64_t)r;
    for (uint32_t k = 0; k < 200; k++) {
      int64_t end = when(k, 90 * US) + (r % 2 ? when(k + 5000, 90 * US) % (500 * US) : 0);
      add_call(line, REDUCE, end - 30 * US, end);
    }
  }
  match();
  assert_int_equal(job.group_count, 2);
  for (uint32_t l = 0; l < 8; l++) {
    assert_int_equal(job.lines[l].group, job.lines[l % 2].group);
    assert_int_equal(job.groups[job.lines[l].group].collectives, 200);
    assert_int_equal(job.lines[l].how.clock.offset, clocks[l] - clocks[l % 2]);
  }
  end_job();
}

/* Two streams of a rank that fit equally well. */
TEST(test_ambiguous_streams) {
  begin_job(2, false);
  for (uint32_t r = 0; r < 2; r++)
    for (uint32_t s = 0; s <= r; s++) {
      struct nai_rank_line *line = add_line(r, 0);
      for (uint32_t k = 0; k < 50; k++)
        add_call(line, REDUCE, when(k, 50 * US), when(k, 50 * US) + 20 * US);
    }
  match();
  assert_int_equal(job.group_count, 0);
  for (uint32_t l = 0; l < 3; l++)
    assert_non_null(job.lines[l].refused);
  end_job();
}

/* Two ranks exchange; three may not all be partners of each other. What all do together is matched nevertheless. */
TEST(test_point_to_point) {
  for (uint32_t ranks = 2; ranks <= 3; ranks++) {
    begin_job(ranks, false);
    for (uint32_t r = 0; r < ranks; r++) {
      struct nai_rank_line *line = add_line(r, 5);
      for (uint32_t k = 0; k < 30; k++)
        add_call(line, REDUCE, when(k, 50 * US), when(k, 50 * US) + 30 * US);
      line = add_line(r, 5);
      line->point_to_point = true;
      for (uint32_t k = 0; k < 50; k++)
        add_call(line, EXCHANGE, when(k, 50 * US) + (r ? 10 * US : 0), when(k, 50 * US) + 30 * US);
    }
    match();
    assert_int_equal(job.group_count, ranks == 2 ? 2 : 1);
    assert_int_equal(job.collectives, ranks == 2 ? 80 : 30);
    assert_int_equal(job.ranks[1].late_count, ranks == 2 ? 50 : 0);
    end_job();
  }
}

/* Different communicators never mix, however alike. */
TEST(test_ids) {
  begin_job(4, false);
  for (uint32_t r = 0; r < 4; r++)
    for (int64_t comm = 1; comm <= 2; comm++) {
      struct nai_rank_line *line = add_line(r, comm == 1 ? 11 : 12 + r % 2);
      for (uint32_t k = 0; k < 60; k++)
        add_call(line, REDUCE, when(k, 50 * US), when(k, 50 * US) + 20 * US);
    }
  match();
  assert_int_equal(job.group_count, 3);
  assert_int_equal(job.collectives, 180);
  for (uint32_t l = 0; l < job.line_count; l++)
    for (uint32_t m = 0; m < job.line_count; m++)
      assert_true((job.lines[l].group == job.lines[m].group) == (job.lines[l].comm == job.lines[m].comm));
  end_job();
}

/* --- verdicts --------------------------------------------------------------------------------- */

/* Four ranks, 100 collectives; `late_by` of rank 3 in those that are multiples of `every`. */
static void judge(uint32_t every, int64_t late_by, enum nai_ranks_verdict verdict, const char *words) {
  struct nai_ranks_report report = {0};
  struct nai_err err;
  begin_job(4, false);
  for (uint32_t r = 0; r < 4; r++) {
    struct nai_rank_line *line = add_line(r, 5);
    job.ranks[r].label = r == 3 ? "rank 3" : "another";
    for (uint32_t k = 0; k < 100; k++) {
      int64_t start = when(k, 50 * US) + (k % every == 1 ? 0 : 1), late = k % every == 1 ? late_by : 0;
      add_call(line, REDUCE, start + (r == 3 ? late : 0), start + late + 30 * US);
    }
  }
  match();
  assert_int_equal(nai_ranks_judge(&job, &err), NAI_OK);
  assert_int_equal(job.verdict, verdict);
  assert_int_equal(nai_ranks_put_words(&report, &job, &err), NAI_OK);
  if (!strstr(report.verdict, words))
    fail_msg("%s", report.verdict);
  end_job();
}

TEST(test_verdicts) {
  judge(
      100, 5000 * US, NAI_RANKS_SINGLE,
      "One event: rank 3 comes 5.00 ms ± 32 ns late once, in collective 1; that is 10.1 % of the time. All other delays "
      "together are 0 ns.");
  judge(34, 5000 * US, NAI_RANKS_UNEVEN, "Most of the delay is one rank's");
  judge(100, 100 * US, NAI_RANKS_BALANCED, "No rank is late: coming last costs 100.0 µs, 0.20 % of the time");
  judge(2, 100 * US, NAI_RANKS_PERSISTENT,
        "rank 3 is late: it arrives last in 50 of 50 collectives with a straggler (95 % interval 92 to 100 %)");
  judge(2, 5 * US, NAI_RANKS_BALANCED, "No rank is late");
}

/* Every other transfer takes three times as long: the network, unless it may be a larger message. One slow transfer is
 * none, either. */
TEST(test_slow_transfers) {
  static const struct {
    int64_t bytes;
    uint32_t every;
    enum nai_ranks_verdict verdict;
  } cases[] = {{1 << 20, 2, NAI_RANKS_NETWORK}, {-1, 2, NAI_RANKS_BALANCED}, {1 << 20, 100, NAI_RANKS_BALANCED}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nai_err err;
    begin_job(4, false);
    job.whats[REDUCE].bytes = cases[i].bytes;
    for (uint32_t r = 0; r < 4; r++) {
      struct nai_rank_line *line = add_line(r, 5);
      for (uint32_t k = 0; k < 100; k++)
        add_call(line, REDUCE, when(k, 50 * US), when(k, 50 * US) + (k % cases[i].every == 1 ? 1500 : 60) * US);
    }
    match();
    assert_int_equal(nai_ranks_judge(&job, &err), NAI_OK);
    assert_int_equal(job.verdict, cases[i].verdict);
    end_job();
  }
}

/* Two ranks: one is last in 10 of 15, and by two thirds of the delay. That is not all in turn. */
TEST(test_uneven) {
  struct nai_ranks_report report = {0};
  struct nai_err err;
  begin_job(2, false);
  for (uint32_t r = 0; r < 2; r++) {
    struct nai_rank_line *line = add_line(r, 5);
    job.ranks[r].label = r ? "GPU 1" : "GPU 0";
    for (uint32_t k = 0; k < 15; k++) {
      bool is_late = (k % 3 == 2) == (r == 1);
      add_call(line, REDUCE, when(k, 50 * US) + (is_late ? 150 : 0) * US, when(k, 50 * US) + 200 * US);
    }
  }
  match();
  assert_int_equal(nai_ranks_judge(&job, &err), NAI_OK);
  assert_int_equal(job.ranks[0].late_count, 10);
  assert_int_equal(job.verdict, NAI_RANKS_UNEVEN);
  assert_int_equal(nai_ranks_put_words(&report, &job, &err), NAI_OK);
  if (!strstr(report.verdict, "Most of the delay is one rank's") || !strstr(report.verdict, "GPU 0 1.50 ms (in 10"))
    fail_msg("%s", report.verdict);
  end_job();
}

/* --- size ------------------------------------------------------------------------------------- */

/* 64 ranks: rank 40 is late in nine of ten. NAI_RANKS_COLLECTIVES in the environment makes it longer. */
TEST(test_many) {
  const char *wanted = getenv("NAI_RANKS_COLLECTIVES");
  uint32_t count = wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 4000;
  begin_job(64, false);
  for (uint32_t r = 0; r < 64; r++) {
    struct nai_rank_line *line = add_line(r, 5);
    clocks[r] = 1000 * US * (int64_t)(r * r % 97);
    for (uint32_t k = 0; k < count; k++) {
      bool late = k % 10 && r == 40;
      add_call(line, k % 3 == 2 ? GATHER : REDUCE, when(k, 90 * US) + (late ? 100 * US : 0),
               when(k, 90 * US) + 180 * US);
    }
  }
  match();
  struct nai_err err;
  assert_int_equal(nai_ranks_judge(&job, &err), NAI_OK);
  assert_int_equal(job.verdict, NAI_RANKS_PERSISTENT);
  assert_int_equal(job.collectives, count);
  for (uint32_t r = 0; r < 64; r++) {
    assert_int_equal(nai_ranks_is_persistent(&job, &job.ranks[r]), r == 40);
    assert_int_equal(job.ranks[r].clock.offset, clocks[r]);
  }
  assert_int_equal(job.ranks[40].late_count, count - (count + 9) / 10);
  assert_int_equal(job.ranks[40].late_by_ns, 100 * US * (int64_t)job.ranks[40].late_count);
  end_job();
}

/* Wilson's interval, against values worked out by hand: 22 of 32 and 80 of 80. */
TEST(test_interval) {
  struct nai_job_rank rank = {.decided = 32, .late_count = 22};
  struct nai_rank_interval i = nai_ranks_late_share(&rank);
  assert_true(i.low > 0.5107 && i.low < 0.5108 && i.high > 0.8225 && i.high < 0.8226);
  rank = (struct nai_job_rank){.decided = 80, .late_count = 80};
  i = nai_ranks_late_share(&rank);
  assert_true(i.low > 0.9523 && i.low < 0.9524 && i.high > 0.9999);
}
