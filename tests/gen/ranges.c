/* NVTX ranges and the attribution of kernels to them, booked as ranges open and close. */
#include "gen/plan_internal.h"

#include <string.h>

enum { NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60, NVTX_CATEGORY = 33, NVTX_DOMAIN_CREATE = 75 };

static struct nai_gen_range *range_at(struct nai_gen_plan *plan, size_t range) {
  return (struct nai_gen_range *)plan->ranges.items + range;
}

static struct nai_gen_name_stat *stat_of(struct nai_gen_plan *plan, int name, int thread) {
  return &nai_gen_name_at(plan, name)->by_process[plan->threads[thread].process];
}

static struct nai_gen_range *add_range(struct nai_gen_plan *plan, int thread, int name, int type) {
  struct nai_gen_range *range = nai_gen_plan_push(plan, &plan->ranges);
  if (!range) {
    return NULL;
  }
  struct nai_gen_thread *host = &plan->threads[thread];
  *range = (struct nai_gen_range){.start = host->now,
                                  .type = type,
                                  .thread = thread,
                                  .end_thread = -1,
                                  .name = name,
                                  .text_id = -1,
                                  .range_id = -1};
  nai_gen_plan_saw(plan, range->start); /* a range that stays open may be the last to be seen */
  host->now += nai_gen_rng_between(&plan->rng, 120, 400);
  plan->range_rows += type == NVTX_PUSH_POP || type == NVTX_START_END;
  return range;
}

static void append_text(struct nai_gen_plan *plan, struct nai_gen_range *range, const char *bytes, size_t size) {
  if (range->text_size == 0) {
    range->text_offset = plan->text.count;
  }
  if (size && !nai_gen_vec_append(&plan->text, bytes, size)) {
    nai_gen_fail(NAI_GEN_ENOMEM, plan->err, "out of memory");
  }
  range->text_size += size;
}

static void set_text(struct nai_gen_plan *plan, struct nai_gen_range *range, const char *suffix) {
  const struct nai_gen_name *name = nai_gen_name_at(plan, range->name);
  append_text(plan, range, nai_gen_bytes_at(plan, name->offset), name->size);
  append_text(plan, range, suffix, suffix ? strlen(suffix) : 0);
}

static void set_text_id(struct nai_gen_plan *plan, struct nai_gen_range *range) {
  struct nai_gen_name *name = nai_gen_name_at(plan, range->name);
  if (name->string_id < 0) {
    name->string_id = nai_gen_string(plan, nai_gen_bytes_at(plan, name->offset), name->size);
  }
  range->text_id = name->string_id;
}

static void open_range(struct nai_gen_plan *plan, int thread, int name) {
  struct nai_gen_thread *host = &plan->threads[thread];
  if (host->depth == MAX_DEPTH) {
    nai_gen_fail(NAI_GEN_ENOMEM, plan->err, "the scenario nests ranges deeper than %d", MAX_DEPTH);
    return;
  }
  host->stack[host->depth++] = (struct nai_gen_open){.name = name, .range = plan->ranges.count - 1};
}

void nai_gen_push(struct nai_gen_plan *plan, int thread, int name, const char *suffix) {
  struct nai_gen_range *range = add_range(plan, thread, name, NVTX_PUSH_POP);
  if (range) {
    set_text(plan, range, suffix);
    open_range(plan, thread, name);
  }
}

void nai_gen_push_id(struct nai_gen_plan *plan, int thread, int name, int domain) {
  struct nai_gen_range *range = add_range(plan, thread, name, NVTX_PUSH_POP);
  if (range) {
    set_text_id(plan, range);
    range->domain = domain;
    open_range(plan, thread, name);
  }
}

static bool on_stack(const struct nai_gen_thread *host, int name) {
  for (int i = 0; i < host->depth; i++) {
    if (host->stack[i].name == name) {
      return true;
    }
  }
  return false;
}

/* Totals a finished range: `outermost` when it is not inside one of the same name. */
static void book_range(struct nai_gen_plan *plan, const struct nai_gen_range *range, bool outermost) {
  struct nai_gen_name_stat *stat = stat_of(plan, range->name, range->thread);
  int64_t duration = range->end - range->start;
  int64_t total = stat->ranges.total;
  nai_gen_stat_add(&stat->ranges, duration);
  stat->ranges.total = total + (outermost ? duration : 0);
  stat->duration_sum += duration;
  nai_gen_plan_saw(plan, range->end);
}

static void close_top(struct nai_gen_plan *plan, int thread, int64_t end) {
  struct nai_gen_thread *host = &plan->threads[thread];
  struct nai_gen_open top = host->stack[--host->depth];
  struct nai_gen_range *range = range_at(plan, top.range);
  range->end = end;
  int64_t duration = end - range->start;
  book_range(plan, range, !on_stack(host, top.name));
  struct nai_gen_name_stat *stat = stat_of(plan, top.name, thread);
  stat->nests = true;
  stat->self_ns += duration - top.children_ns;
  int phase = nai_gen_name_at(plan, top.name)->phase;
  if (phase >= 0) {
    struct nai_gen_phase *phases = plan->phases.items;
    phases[phase].wall_ns += duration - top.phased_ns;
  }
  if (host->depth > 0) {
    struct nai_gen_open *parent = &host->stack[host->depth - 1];
    parent->children_ns += duration;
    parent->phased_ns += phase >= 0 ? duration : top.phased_ns;
  }
}

void nai_gen_pop(struct nai_gen_plan *plan, int thread) {
  struct nai_gen_thread *host = &plan->threads[thread];
  if (nai_gen_failed(plan) || host->depth == 0) {
    return;
  }
  close_top(plan, thread, host->now);
  host->now += nai_gen_rng_between(&plan->rng, 120, 400);
}

int nai_gen_range_start(struct nai_gen_plan *plan, int thread, int name) {
  struct nai_gen_range *range = add_range(plan, thread, name, NVTX_START_END);
  struct nai_gen_thread *host = &plan->threads[thread];
  if (!range) {
    return 0;
  }
  if (host->started_count == MAX_OPEN_RANGES) {
    nai_gen_fail(NAI_GEN_ENOMEM, plan->err, "the scenario opens more than %d start/end ranges", MAX_OPEN_RANGES);
    return 0;
  }
  set_text(plan, range, NULL);
  range->range_id = ++plan->range_id;
  host->started[host->started_count++] = plan->ranges.count - 1;
  return (int)plan->ranges.count - 1;
}

static bool started_on(const struct nai_gen_plan *plan, int thread, int name) {
  const struct nai_gen_thread *host = &plan->threads[thread];
  const struct nai_gen_range *ranges = plan->ranges.items;
  for (int i = 0; i < host->started_count; i++) {
    if (ranges[host->started[i]].name == name) {
      return true;
    }
  }
  return false;
}

static void forget_started(struct nai_gen_thread *host, size_t range) {
  int kept = 0;
  for (int i = 0; i < host->started_count; i++) {
    if (host->started[i] != range) {
      host->started[kept++] = host->started[i];
    }
  }
  host->started_count = kept;
}

static void close_started(struct nai_gen_plan *plan, size_t index, int64_t end) {
  struct nai_gen_range *range = range_at(plan, index);
  range->end = end;
  forget_started(&plan->threads[range->thread], index);
  book_range(plan, range, !started_on(plan, range->thread, range->name));
}

void nai_gen_range_end(struct nai_gen_plan *plan, int range, int thread) {
  if (nai_gen_failed(plan)) {
    return;
  }
  struct nai_gen_thread *host = &plan->threads[thread];
  struct nai_gen_range *ended = range_at(plan, (size_t)range);
  if (ended->thread != thread) {
    ended->end_thread = thread;
  }
  close_started(plan, (size_t)range, host->now);
  host->now += nai_gen_rng_between(&plan->rng, 120, 400);
}

void nai_gen_mark(struct nai_gen_plan *plan, int thread, int name) {
  struct nai_gen_range *mark = add_range(plan, thread, name, NVTX_MARK);
  if (mark) {
    mark->open = true; /* marks have no end */
    set_text(plan, mark, NULL);
    nai_gen_name_at(plan, name)->marks++;
    plan->mark_rows++;
  }
}

static void add_name(struct nai_gen_plan *plan, int thread, int type, int domain, int category, const char *name) {
  struct nai_gen_range *row = add_range(plan, thread, -1, type);
  if (row) {
    row->open = true;
    row->domain = domain;
    row->category = category;
    append_text(plan, row, name, strlen(name));
  }
}

void nai_gen_domain(struct nai_gen_plan *plan, int thread, int domain, const char *name) {
  add_name(plan, thread, NVTX_DOMAIN_CREATE, domain, 0, name);
}

void nai_gen_category(struct nai_gen_plan *plan, int thread, int domain, int category, const char *name) {
  add_name(plan, thread, NVTX_CATEGORY, domain, category, name);
}

void nai_gen_crossing(struct nai_gen_plan *plan, int thread, int name_a, int name_b, int64_t quarter_ns) {
  int names[2] = {name_a, name_b};
  int64_t start = plan->threads[thread].now;
  for (int i = 0; i < 2; i++) {
    struct nai_gen_range *range = add_range(plan, thread, names[i], NVTX_PUSH_POP);
    if (!range) {
      return;
    }
    set_text(plan, range, NULL);
    range->start = start + i * quarter_ns;
    range->end = start + (i + 2) * quarter_ns;
    book_range(plan, range, true);
    struct nai_gen_name_stat *stat = stat_of(plan, names[i], thread);
    stat->nests = true;
    stat->self_ns += range->end - range->start;
  }
  plan->crossing_ranges++;
  plan->threads[thread].now = start + 4 * quarter_ns;
}

void nai_gen_close_open_ranges(struct nai_gen_plan *plan) {
  for (int i = 0; i < plan->thread_count && !nai_gen_failed(plan); i++) {
    struct nai_gen_thread *host = &plan->threads[i];
    while (host->depth > 0) {
      range_at(plan, host->stack[host->depth - 1].range)->open = true;
      close_top(plan, i, plan->last_ns);
      plan->open_ranges++;
    }
    while (host->started_count > 0) {
      size_t range = host->started[host->started_count - 1];
      range_at(plan, range)->open = true;
      close_started(plan, range, plan->last_ns);
      plan->open_ranges++;
    }
  }
}

static void book_innermost(struct nai_gen_plan *plan, int thread, int64_t duration_ns) {
  const struct nai_gen_thread *host = &plan->threads[thread];
  int name = host->depth > 0 ? host->stack[host->depth - 1].name
                             : range_at(plan, host->started[host->started_count - 1])->name;
  nai_gen_stat_add(&stat_of(plan, name, thread)->innermost, duration_ns);
  for (int i = host->depth - 1; i >= 0; i--) {
    int phase = nai_gen_name_at(plan, host->stack[i].name)->phase;
    if (phase >= 0) {
      struct nai_gen_phase *phases = plan->phases.items;
      phases[phase].kernel_ns += duration_ns;
      phases[phase].kernel_count++;
      return;
    }
  }
}

void nai_gen_attribute(struct nai_gen_plan *plan, int thread, int64_t duration_ns) {
  const struct nai_gen_thread *host = &plan->threads[thread];
  if (nai_gen_failed(plan) || host->depth + host->started_count == 0) {
    return;
  }
  int seen[MAX_DEPTH + MAX_OPEN_RANGES];
  int seen_count = 0;
  for (int i = 0; i < host->depth + host->started_count; i++) {
    int name = i < host->depth ? host->stack[i].name : range_at(plan, host->started[i - host->depth])->name;
    bool known = false;
    for (int j = 0; j < seen_count && !known; j++) {
      known = seen[j] == name;
    }
    if (!known) {
      seen[seen_count++] = name;
      nai_gen_stat_add(&stat_of(plan, name, thread)->attributed, duration_ns);
    }
  }
  book_innermost(plan, thread, duration_ns);
  plan->covered_ns += duration_ns;
  plan->processes[host->process].covered_ns += duration_ns;
}
