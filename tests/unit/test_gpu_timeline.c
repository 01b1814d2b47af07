/* Each GPU's timeline and idle gaps against a table of instants. */
#include "model_fixture.h"

#include <stdio.h>

enum { SPAN = 120, OPS = 40 };

struct op {
  int64_t start, end;
  int type, communication, stream, device;
  uint32_t row;
  char name[32]; /* of a kernel */
};

static int first_of(const struct op *a, const struct op *b) {
  if (a->start != b->start)
    return a->start < b->start;
  if (a->type != b->type)
    return a->type < b->type;
  if (a->stream != b->stream)
    return a->stream < b->stream;
  if (a->end != b->end)
    return a->end < b->end;
  int names = strcmp(a->name, b->name);
  return names ? names < 0 : a->row < b->row;
}

static int length(const int *covered) {
  int n = 0;
  for (int t = 0; t < SPAN; t++)
    n += covered[t];
  return n;
}

static void check_gpu(struct fixture *f, const struct op *ops, int n, int device, const struct nai_table *use,
                      const struct nai_table *gaps) {
  int compute[SPAN] = {0}, comm[SPAN] = {0}, copy[SPAN] = {0}, count = 0, gap_count = 0;
  int64_t first = SPAN, last = 0;
  for (int i = 0; i < n; i++) {
    if (ops[i].device != device)
      continue;
    count++;
    first = ops[i].start < first ? ops[i].start : first;
    last = ops[i].end > last ? ops[i].end : last;
    for (int64_t t = ops[i].start; t < ops[i].end; t++)
      *(ops[i].type == NAI_OP_COPY || ops[i].type == NAI_OP_SET ? &copy[t]
        : ops[i].communication                                  ? &comm[t]
                                                                : &compute[t]) = 1;
  }
  int64_t row = -1;
  for (int64_t i = 0; i < use->rows; i++)
    if (cell_int(use, i, "device_id") == device)
      row = i;
  assert_int_equal(row >= 0, count > 0);
  if (!count)
    return;
  int exposed_comm[SPAN], exposed_copy[SPAN], all[SPAN];
  for (int t = 0; t < SPAN; t++) {
    exposed_comm[t] = comm[t] && !compute[t];
    exposed_copy[t] = copy[t] && !comm[t] && !compute[t];
    all[t] = copy[t] || comm[t] || compute[t];
  }
  assert_int_equal(cell_int(use, row, "window_ns"), last - first);
  assert_int_equal(cell_int(use, row, "compute_ns"), length(compute));
  assert_int_equal(cell_int(use, row, "exposed_comm_ns"), length(exposed_comm));
  assert_int_equal(cell_int(use, row, "exposed_copy_ns"), length(exposed_copy));
  assert_int_equal(cell_int(use, row, "idle_ns"), last - first - length(all));
  assert_int_equal(cell_int(use, row, "compute_ns") + cell_int(use, row, "exposed_comm_ns") +
                       cell_int(use, row, "exposed_copy_ns") + cell_int(use, row, "idle_ns"),
                   cell_int(use, row, "window_ns"));
  for (int64_t t = first; t < last; t++) {
    if (all[t] || (t > first && !all[t - 1]))
      continue;
    int64_t end = t;
    while (end < last && !all[end])
      end++;
    const struct op *opener = NULL;
    for (int i = 0; i < n; i++)
      if (ops[i].device == device && ops[i].start == end && (!opener || first_of(&ops[i], opener)))
        opener = &ops[i];
    int64_t gap = -1;
    for (int64_t i = 0; i < gaps->rows; i++)
      if (cell_int(gaps, i, "device_id") == device && cell_int(gaps, i, "gap_start_ns") == t)
        gap = i;
    assert_true(gap >= 0);
    assert_int_equal(cell_int(gaps, gap, "gap_end_ns"), end);
    const char *expected = !opener || end == last        ? ""
                         : opener->type == NAI_OP_KERNEL ? nai_model_kernel_name(&f->m, opener->row)
                         : opener->type == NAI_OP_COPY   ? "Host-to-Device"
                         : opener->type == NAI_OP_SET    ? "memset"
                                                         : "graph launch";
    assert_string_equal(cell_text(gaps, gap, "next_op"), expected);
    gap_count++;
  }
  assert_int_equal(cell_int(use, row, "gap_count"), gap_count);
}

TEST(test_random) {
  for (int round = 0; round < 500; round++) {
    struct fixture f;
    struct op ops[OPS];
    uint32_t rows[3] = {0};
    fixture_init(&f);
    f.seed = (uint64_t)round * 3 + 1;
    int32_t process = fixture_process(&f, 10);
    fixture_gpu(&f, -1);
    fixture_gpu(&f, 0);
    fixture_gpu(&f, 5);
    int n = (int)fixture_random(&f, OPS);
    for (int i = 0; i < n; i++) {
      struct op *op = &ops[i];
      *op = (struct op){.type = (int)fixture_random(&f, 4),
                        .stream = (int)fixture_random(&f, 3),
                        .start = fixture_random(&f, SPAN),
                        .device = (int[]){-1, 0, 0, 5}[fixture_random(&f, 4)]};
      op->end = op->start + fixture_random(&f, 8);
      op->end = op->end > SPAN ? SPAN : op->end;
      op->communication = op->type == NAI_OP_KERNEL && fixture_random(&f, 2);
      if (op->type == NAI_OP_KERNEL) {
        snprintf(op->name, sizeof op->name, "%s_%d", op->communication ? "ncclKernel" : "gemm", i);
        op->row = rows[0]++;
        fixture_kernel(&f, op->start, op->end, op->name, op->device, process, op->stream, 0);
      } else if (op->type == NAI_OP_GRAPH) {
        op->row = rows[2]++;
        fixture_graph(&f, op->start, op->end, op->device, process, op->stream, 0);
      } else {
        op->row = rows[1]++;
        fixture_memop(&f, op->start, op->end, op->type == NAI_OP_SET ? NAI_MEMOP_SET : NAI_MEMOP_COPY, op->device,
                      process, op->stream, 0, 1, 1, 1, 2);
      }
    }
    fixture_build(&f);
    struct nai_table *use = fixture_analyze(&f, "utilization", 0), *gaps = fixture_analyze(&f, "idle_gaps", 0);
    for (int d = -1; d < 6; d++)
      check_gpu(&f, ops, n, d, use, gaps);
    nai_table_free(use);
    nai_table_free(gaps);
    fixture_free(&f);
  }
}
