/* NVTX nesting and attribution against definitions applied range by range, instant by instant. */
#include "model_fixture.h"

#include "model/nvtx/nvtx_open.h"

#include <stdio.h>
#include <time.h>

enum { MAX_RANGES = 40, MAX_CALLS = 40, SPAN = 60 };

struct range {
  int64_t start, end;
  int thread, kind, parent; /* parent: index or -1 */
  const char *name;
  char path[MAX_RANGES * 4];
};

struct call {
  int64_t start, kernel_ns;
  int thread, inner; /* innermost range or -1 */
};

struct truth {
  struct range r[MAX_RANGES];
  struct call c[MAX_CALLS];
  int ranges, calls;
};

static int before(const struct range *a, int i, int j) {
  const struct range *x = &a[i], *y = &a[j];
  if (x->start != y->start)
    return x->start < y->start;
  if (x->end != y->end)
    return x->end > y->end;
  int c = strcmp(x->name, y->name);
  return c ? c < 0 : i < j;
}

/* The range begun last among those of a kind that contain t. */
static int innermost(const struct truth *t, int thread, int kind, int64_t at) {
  int best = -1;
  for (int i = 0; i < t->ranges; i++)
    if (t->r[i].thread == thread && t->r[i].kind == kind && t->r[i].start <= at && at < t->r[i].end &&
        (best < 0 || before(t->r, best, i)))
      best = i;
  return best;
}

static void find_parents(struct truth *t) {
  for (int i = 0; i < t->ranges; i++) {
    struct range *r = &t->r[i];
    r->parent = -1;
    for (int j = 0; j < t->ranges && r->kind == NAI_NVTX_PUSH_POP; j++) {
      const struct range *q = &t->r[j];
      if (j != i && q->thread == r->thread && q->kind == r->kind && before(t->r, j, i) && q->end > r->start &&
          q->end >= r->end && q->end > q->start && (r->parent < 0 || before(t->r, r->parent, j)))
        r->parent = j;
    }
  }
  for (int i = 0; i < t->ranges; i++) {
    char path[sizeof t->r[0].path] = "", next[sizeof path];
    for (int j = i; j >= 0; j = t->r[j].parent) {
      snprintf(next, sizeof next, "/%s%.150s", t->r[j].name, path);
      memcpy(path, next, sizeof path);
    }
    snprintf(t->r[i].path, sizeof t->r[i].path, "%d%s%.150s", t->r[i].thread,
             t->r[i].kind == NAI_NVTX_PUSH_POP ? "" : "~", path);
  }
}

static void node_path(char *out, size_t size, const struct fixture *f, uint32_t node) {
  char path[256] = "", next[256];
  const struct nai_nvtx_node *first = &f->m.nodes[node];
  for (uint32_t i = node; i != NAI_NO_ROW; i = f->m.nodes[i].parent) {
    snprintf(next, sizeof next, "/%s%.150s", nai_strings_get(&f->m.tables[NAI_IN_NVTX]->strings, f->m.nodes[i].name),
             path);
    memcpy(path, next, sizeof path);
  }
  snprintf(out, size, "%d%s%.150s", first->thread, first->start_end ? "~" : "", path);
}

static int has_prefix(const char *path, const char *prefix) {
  size_t n = strlen(prefix);
  return strncmp(path, prefix, n) == 0 && (path[n] == '/' || !path[n]);
}

static int in_name(const struct truth *t, int thread, int kind, const char *name, int64_t at) {
  for (int i = 0; i < t->ranges; i++)
    if (t->r[i].thread == thread && t->r[i].kind == kind && strcmp(t->r[i].name, name) == 0 && t->r[i].start <= at &&
        at < t->r[i].end)
      return 1;
  return 0;
}

static void check_node(const struct fixture *f, const struct truth *t, uint32_t index) {
  const struct nai_nvtx_node *node = &f->m.nodes[index];
  char path[256];
  node_path(path, sizeof path, f, index);
  int64_t count = 0, total = 0, self = 0, kernel = 0, inclusive = 0, kernels = 0, inclusive_kernels = 0, longest = -1;
  const char *name = NULL;
  for (int i = 0; i < t->ranges; i++) {
    const struct range *r = &t->r[i];
    if (strcmp(r->path, path) != 0)
      continue;
    int inside = 0;
    for (int j = 0; j < t->ranges && node->start_end; j++)
      inside |= j != i && strcmp(t->r[j].path, path) == 0 && before(t->r, j, i) && t->r[j].end >= r->end;
    name = r->name;
    count++;
    total += inside ? 0 : r->end - r->start;
    self += inside ? 0 : r->end - r->start;
    longest = r->end - r->start > longest ? r->end - r->start : longest;
    for (int j = 0; j < t->ranges; j++)
      self -= t->r[j].parent == i ? t->r[j].end - t->r[j].start : 0;
  }
  for (int k = 0; k < t->calls; k++) {
    const struct call *c = &t->c[k];
    int innermost_here = c->inner >= 0 && strcmp(t->r[c->inner].path, path) == 0;
    int inside = node->start_end
                   ? name && c->thread == node->thread && in_name(t, c->thread, NAI_NVTX_START_END, name, c->start) &&
                         !in_name(t, c->thread, NAI_NVTX_PUSH_POP, name, c->start)
                   : c->inner >= 0 && has_prefix(t->r[c->inner].path, path);
    kernel += innermost_here ? c->kernel_ns : 0;
    kernels += innermost_here;
    inclusive += inside ? c->kernel_ns : 0;
    inclusive_kernels += inside;
  }
  assert_int_equal(node->count, count);
  assert_int_equal(node->total_ns, total);
  assert_int_equal(node->self_ns, self);
  assert_int_equal(nai_at(&f->m.nvtx.end_ns, node->longest) - nai_at(&f->m.nvtx.start_ns, node->longest), longest);
  assert_int_equal(node->kernel_ns, kernel);
  assert_int_equal(node->kernel_count, kernels);
  assert_int_equal(node->inclusive_kernel_ns, inclusive);
  assert_int_equal(node->inclusive_kernel_count, inclusive_kernels);
  int below_same = 0;
  for (uint32_t up = node->parent; up != NAI_NO_ROW; up = f->m.nodes[up].parent)
    below_same |= f->m.nodes[up].name == node->name;
  assert_int_equal(node->outermost, !below_same);
}

static int depth_of(const struct truth *t, int range) {
  int depth = 0;
  for (int up = t->r[range].parent; up >= 0; up = t->r[up].parent)
    depth++;
  return depth;
}

/* The range that contains the one at `place` of its thread's order, found as idle gaps find it. */
static uint32_t parent_at(const struct nai_model *m, uint32_t thread, uint32_t place) {
  struct nai_open_cursor cursor = {0};
  uint32_t parent;
  ok(nai_open_find(&cursor, m, thread, place, err));
  ok(nai_open_begin(&parent, &cursor, m->nvtx_by_thread.order[place], err));
  nai_open_cursor_free(&cursor);
  return parent;
}

static void check(const struct fixture *f, struct truth *t) {
  const struct nai_model *m = &f->m;
  find_parents(t);
  for (uint32_t thread = 0; thread < m->thread_count; thread++)
    for (uint32_t i = m->nvtx_by_thread.first[thread]; i < m->nvtx_by_thread.first[thread + 1]; i++) {
      const struct range *r = &t->r[m->nvtx_by_thread.order[i]];
      if (r->kind == NAI_NVTX_PUSH_POP)
        assert_int_equal(parent_at(m, thread, i), r->parent < 0 ? NAI_NO_ROW : (uint32_t)r->parent);
    }
  for (int i = 0; i < t->ranges; i++)
    assert_int_equal(m->nvtx_depth[i], depth_of(t, i));
  for (int k = 0; k < t->calls; k++) {
    char path[256] = "";
    int inner = innermost(t, t->c[k].thread, NAI_NVTX_PUSH_POP, t->c[k].start);
    t->c[k].inner = inner >= 0 ? inner : innermost(t, t->c[k].thread, NAI_NVTX_START_END, t->c[k].start);
    const struct nai_nvtx_node *node = nai_model_call_node(m, (uint32_t)k);
    assert_int_equal(node != NULL, t->c[k].inner >= 0);
    if (node)
      node_path(path, sizeof path, f, (uint32_t)(node - m->nodes));
    assert_string_equal(path, node ? t->r[t->c[k].inner].path : "");
  }
  for (uint32_t n = 0; n < m->node_count; n++) {
    assert_true(m->nodes[n].parent == NAI_NO_ROW || m->nodes[n].parent < n);
    check_node(f, t, n);
  }
}

static void random_trace(struct fixture *f, struct truth *t, int style) {
  static const char *const names[] = {"a", "b", "c", "d"};
  static const char *const async_names[] = {"p", "a"};
  int32_t process = fixture_process(f, 7);
  fixture_gpu(f, 0);
  for (int i = 0; i < 2; i++)
    fixture_thread(f, process, 7 + i);
  t->ranges = (int)fixture_random(f, MAX_RANGES);
  t->calls = (int)fixture_random(f, MAX_CALLS);
  for (int i = 0; i < t->ranges; i++) {
    struct range *r = &t->r[i];
    int64_t longest = fixture_random(f, 2) ? SPAN : 8;
    r->thread = (int)fixture_random(f, 2);
    r->kind = style & 1 && fixture_random(f, 3) == 0 ? NAI_NVTX_START_END : NAI_NVTX_PUSH_POP;
    r->start = fixture_random(f, SPAN);
    r->end = r->start + fixture_random(f, longest);
    r->end = r->end > SPAN ? SPAN : r->end;
    if (style & 2 && r->kind == NAI_NVTX_PUSH_POP && i) { /* inside an earlier one or a copy of it, never crossing */
      const struct range *q = &t->r[fixture_random(f, i)];
      r->start = q->start + fixture_random(f, q->end - q->start + 1);
      r->end = r->start + fixture_random(f, q->end - r->start + 1);
    }
    r->name = r->kind == NAI_NVTX_PUSH_POP ? names[fixture_random(f, 4)] : async_names[fixture_random(f, 2)];
    fixture_nvtx(f, r->start, r->end, r->thread, r->name, r->kind);
  }
  for (int k = 0; k < t->calls; k++) {
    t->c[k] = (struct call){fixture_random(f, SPAN), fixture_random(f, 20), (int)fixture_random(f, 2), -1};
    fixture_api(f, t->c[k].start, t->c[k].start + 2, t->c[k].thread, "cudaLaunchKernel", k + 1);
    fixture_kernel(f, 100, 100 + t->c[k].kernel_ns, "k", 0, process, 7, k + 1);
  }
}

TEST(test_random) {
  for (int i = 0; i < 400; i++) {
    struct fixture f;
    struct truth t = {0};
    fixture_init(&f);
    f.seed = (uint64_t)i * 77 + 5;
    random_trace(&f, &t, i % 4);
    fixture_build(&f);
    check(&f, &t);
    fixture_free(&f);
  }
}

/* Ranges that cross by the hundred lie in the one around all of them, not in each other. */
TEST(test_many_crossing) {
  enum { N = 300 };
  struct fixture f;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 7), thread = fixture_thread(&f, process, 7);
  fixture_nvtx(&f, 0, 10 * N, thread, "all", NAI_NVTX_PUSH_POP);
  for (int i = 0; i < N; i++)
    fixture_nvtx(&f, i + 1, N + 2 * i + 1, thread, "x", NAI_NVTX_PUSH_POP);
  fixture_build(&f);
  for (uint32_t i = 1; i <= N; i++)
    assert_int_equal(parent_at(&f.m, (uint32_t)thread, i), 0);
  assert_int_equal(f.m.crossing[thread], N - 1);
  fixture_free(&f);
}

/* Parents found from checkpoints far apart, against every range that lies around. */
TEST(test_parents_of_many) {
  enum { N = 3000 };
  static int64_t start[N], end[N];
  for (int round = 0; round < 6; round++) {
    struct fixture f;
    fixture_init(&f);
    f.seed = (uint64_t)round + 1;
    int32_t process = fixture_process(&f, 7), thread = fixture_thread(&f, process, 7);
    for (int i = 0; i < N; i++) {
      int64_t longest = fixture_random(&f, round % 2 ? 40 : 5) ? 12 : 3000;
      start[i] = fixture_random(&f, 4 * N);
      end[i] = start[i] + fixture_random(&f, longest);
      fixture_nvtx(&f, start[i], end[i], thread, "x", NAI_NVTX_PUSH_POP);
    }
    fixture_build(&f);
    assert_true(f.m.checkpoints[thread].count > N / 512);
    const uint32_t *order = f.m.nvtx_by_thread.order;
    for (uint32_t place = 0; place < N; place++) {
      uint32_t range = order[place], parent = NAI_NO_ROW; /* the last one begun before that lasts as long */
      for (uint32_t i = 0; i < place; i++)
        if (end[order[i]] > start[range] && end[order[i]] >= end[range])
          parent = order[i];
      assert_int_equal(parent_at(&f.m, (uint32_t)thread, place), parent);
    }
    fixture_free(&f);
  }
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* 100,000 levels of distinct names, each with a sibling of its own: linear, or the test takes minutes. */
TEST(test_deep) {
  enum { DEPTH = 100000 };
  struct fixture f;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 7), thread = fixture_thread(&f, process, 7);
  for (int i = 0; i < DEPTH; i++) {
    char name[24];
    snprintf(name, sizeof name, "level %d", i);
    fixture_nvtx(&f, i, 3 * DEPTH - i, thread, name, NAI_NVTX_PUSH_POP);
  }
  double began = seconds();
  fixture_build(&f);
  assert_int_equal(f.m.node_count, DEPTH);
  assert_true(f.m.checkpoints[thread].entry_count <= DEPTH); /* not the square of the depth */
  for (uint32_t i = 1; i < DEPTH; i += 1 + i / 8) {
    assert_int_equal(parent_at(&f.m, (uint32_t)thread, i), i - 1);
    assert_int_equal(f.m.nvtx_depth[i], i < 255 ? i : 255);
  }
  /* What is open deep inside is found without looking at all of it. */
  for (uint32_t i = 0; i < DEPTH; i++)
    assert_int_equal(parent_at(&f.m, (uint32_t)thread, DEPTH - 1 - i % 100), DEPTH - 2 - i % 100);
  assert_true(seconds() - began < 20); /* a generous bound: a fraction of a second when linear */
  fixture_free(&f);
}

/* Without attribution the ranges still nest and keep their own times. */
TEST(test_without_attribution) {
  struct fixture f;
  fixture_init(&f);
  f.m.map_nvtx = false;
  int32_t process = fixture_process(&f, 7), thread = fixture_thread(&f, process, 7);
  fixture_gpu(&f, 0);
  fixture_nvtx(&f, 0, 100, thread, "outer", NAI_NVTX_PUSH_POP);
  fixture_nvtx(&f, 10, 30, thread, "inner", NAI_NVTX_PUSH_POP);
  fixture_api(&f, 15, 16, thread, "cudaLaunchKernel", 1);
  fixture_kernel(&f, 50, 60, "k", 0, process, 7, 1);
  fixture_build(&f);
  struct nai_table *ranges = fixture_analyze(&f, "nvtx", 0);
  assert_int_equal(ranges->rows, 2);
  assert_string_equal(cell_text(ranges, 0, "range_name"), "outer");
  assert_int_equal(cell_int(ranges, 0, "self_time_ns"), 80);
  assert_int_equal(cell_int(ranges, 0, "attributed_kernel_time_ns"), NAI_NULL_I64);
  nai_table_free(ranges);
  fixture_free(&f);
}
