/* The truth on what ran: GPUs, kernels, calls, ranges, phases, processes, transfers. */
#include "gen/plan_internal.h"
#include "gen/truth/truth_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Indexed by enum nai_gen_class. */
static const char *const class_names[] = {"compute_ns", "exposed_comm_ns", "exposed_copy_ns"};

static void set_string_id(json_t *object, const char *key, const struct nai_gen_plan *plan, int64_t id) {
  if (id >= (int64_t)plan->strings.count) {
    char missing[24];
    snprintf(missing, sizeof missing, "#%lld", (long long)id);
    nai_gen_json_string(object, key, missing);
    return;
  }
  const struct nai_gen_string_entry *entry = (const struct nai_gen_string_entry *)plan->strings.items + id;
  nai_gen_json_name(object, key, nai_gen_bytes_at(plan, entry->offset), entry->size);
}

static int compare_int64(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left;
  int64_t b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

/* Linear interpolation between closest ranks; sorts in place. */
static double percentile_ns(const struct nai_gen_vec *durations, double quantile) {
  const int64_t *sorted = durations->items;
  double position = quantile * (double)(durations->count - 1);
  size_t below = (size_t)position;
  size_t above = below + 1 < durations->count ? below + 1 : below;
  double fraction = position - (double)below;
  return (double)sorted[below] + fraction * (double)(sorted[above] - sorted[below]);
}

static json_t *launch_json(const struct nai_gen_gpu *gpu) {
  int64_t window = gpu->kernel_end - gpu->kernel_start;
  json_t *launch = json_object();
  nai_gen_json_int(launch, "kernel_count", gpu->kernels.count);
  nai_gen_json_int(launch, "launch_calls", gpu->launch_calls);
  nai_gen_json_int(launch, "window_ns", window);
  if (window > 0) {
    json_object_set_new(launch, "kernels_per_s", json_real((double)gpu->kernels.count * 1e9 / (double)window));
  }
  if (gpu->durations.count > 0) {
    qsort(gpu->durations.items, gpu->durations.count, sizeof(int64_t), compare_int64);
    json_object_set_new(launch, "p50_kernel_ns", json_real(percentile_ns(&gpu->durations, 0.5)));
    json_object_set_new(launch, "p90_kernel_ns", json_real(percentile_ns(&gpu->durations, 0.9)));
    json_object_set_new(launch, "p99_kernel_ns", json_real(percentile_ns(&gpu->durations, 0.99)));
  }
  return launch;
}

static void set_gpu_owners(json_t *object, const struct nai_gen_plan *plan, int gpu) {
  json_t *owners = json_array();
  for (int i = 0; i < plan->context_count; i++) {
    if (plan->contexts[i].gpu == gpu) {
      json_t *owner = nai_gen_json_object_in(owners);
      nai_gen_json_int(owner, "pid", plan->processes[plan->contexts[i].process].pid);
      nai_gen_json_int(owner, "device_id", plan->contexts[i].device_id);
    }
  }
  json_object_set_new(object, "contexts", owners);
}

static json_t *gpus_json(const struct nai_gen_plan *plan) {
  json_t *gpus = json_array();
  for (int i = 0; i < plan->gpu_count; i++) {
    const struct nai_gen_gpu *gpu = &plan->gpus[i];
    if (!gpu->used) {
      continue;
    }
    json_t *object = nai_gen_json_object_in(gpus);
    nai_gen_json_int(object, "gpu", i);
    json_object_set_new(object, "gpu_id", gpu->physical_id < 0 ? json_null() : json_integer(gpu->physical_id));
    set_gpu_owners(object, plan, i);
    nai_gen_json_int(object, "start_ns", gpu->start);
    nai_gen_json_int(object, "end_ns", gpu->end);
    nai_gen_json_int(object, "window_ns", gpu->end - gpu->start);
    for (int class = 0; class < NAI_GEN_CLASS_COUNT; class ++) {
      nai_gen_json_int(object, class_names[class], gpu->class_ns[class]);
    }
    nai_gen_json_int(object, "idle_ns", gpu->gaps.total);
    nai_gen_json_int(object, "comm_ns", gpu->comm_ns);
    nai_gen_json_int(object, "comm_hidden_ns", gpu->comm_hidden_ns);
    nai_gen_json_int(object, "gap_count", gpu->gaps.count);
    nai_gen_json_int(object, "longest_gap_ns", gpu->gaps.max);
    if (gpu->kernels.count > 0) {
      nai_gen_json_int(object, "kernel_window_ns", gpu->kernel_end - gpu->kernel_start);
      nai_gen_json_int(object, "kernel_busy_ns", gpu->kernel_busy_ns);
      json_object_set_new(object, "launch", launch_json(gpu));
    }
    if (!plan->streaming) {
      json_object_set_new(object, "idle_sweep", nai_gen_sweep_json(gpu));
    }
    if (plan->parts_planned) {
      json_object_set_new(object, "idle_parts", nai_gen_parts_json(gpu));
    }
  }
  return gpus;
}

static json_t *kernels_json(const struct nai_gen_plan *plan) {
  json_t *kernels = json_array();
  for (int i = 0; i < (int)plan->kernels.count; i++) {
    const struct nai_gen_kernel *kernel = nai_gen_kernel_at(plan, i);
    for (int gpu = 0; gpu < plan->gpu_count; gpu++) {
      if (kernel->stats[gpu].count == 0) {
        continue;
      }
      json_t *object = nai_gen_json_stat(&kernel->stats[gpu]);
      json_array_append_new(kernels, object);
      set_string_id(object, "name", plan, kernel->demangled);
      set_string_id(object, "short_name", plan, kernel->short_name);
      nai_gen_json_string(object, "class", kernel->class == NAI_GEN_COMM ? "communication" : "compute");
      nai_gen_json_int(object, "gpu", gpu);
    }
  }
  return kernels;
}

static json_t *join_json(const struct nai_gen_plan *plan) {
  json_t *join = json_object();
  nai_gen_json_int(join, "kernels", plan->kernels_joined + plan->kernels_unjoined);
  nai_gen_json_int(join, "joined", plan->kernels_joined);
  nai_gen_json_int(join, "unjoined", plan->kernels_unjoined);
  nai_gen_json_int(join, "launch_calls", plan->launch_calls);
  if (plan->foreign_pairs >= 0) {
    nai_gen_json_int(join, "false_pairs_by_correlation_alone", plan->foreign_pairs);
  }
  return join;
}

static json_t *calls_json(const struct nai_gen_plan *plan) {
  static const char *const classes[] = {"other", "blocking", "blocking", "ordering", "poll"};
  json_t *calls = json_array();
  for (int i = 0; i < plan->process_count; i++) {
    for (int api = 0; api < API_COUNT; api++) {
      const struct nai_gen_stat *stat = &plan->processes[i].calls[api];
      if (stat->count > 0) {
        json_t *object = nai_gen_json_stat(stat);
        json_array_append_new(calls, object);
        nai_gen_json_int(object, "pid", plan->processes[i].pid);
        nai_gen_json_string(object, "api", nai_gen_api((enum nai_gen_api)api)->canonical);
        nai_gen_json_string(object, "class", classes[nai_gen_api((enum nai_gen_api)api)->class]);
      }
    }
  }
  return calls;
}

static json_t *blocked_json(const struct nai_gen_plan *plan) {
  json_t *threads = json_array();
  for (int i = 0; i < plan->thread_count; i++) {
    const struct nai_gen_thread *thread = &plan->threads[i];
    json_t *object = nai_gen_json_object_in(threads);
    nai_gen_json_int(object, "pid", plan->processes[thread->process].pid);
    nai_gen_json_int(object, "tid", thread->tid);
    nai_gen_json_int(object, "blocked_ns", thread->blocked_ns);
  }
  return threads;
}

static void set_range_stat(json_t *object, const struct nai_gen_name_stat *stat) {
  nai_gen_json_int(object, "count", stat->ranges.count);
  nai_gen_json_int(object, "outermost_ns", stat->ranges.total);
  nai_gen_json_int(object, "duration_sum_ns", stat->duration_sum);
  nai_gen_json_int(object, "max_ns", stat->ranges.max);
  json_object_set_new(object, "self_ns", stat->nests ? json_integer(stat->self_ns) : json_null());
  nai_gen_json_int(object, "kernel_ns", stat->attributed.total);
  nai_gen_json_int(object, "kernel_count", stat->attributed.count);
  nai_gen_json_int(object, "self_kernel_ns", stat->innermost.total);
  nai_gen_json_int(object, "self_kernel_count", stat->innermost.count);
}

static json_t *nvtx_json(const struct nai_gen_plan *plan) {
  json_t *nvtx = json_object();
  json_t *names = json_array();
  nai_gen_json_int(nvtx, "range_rows", plan->range_rows);
  nai_gen_json_int(nvtx, "mark_rows", plan->mark_rows);
  nai_gen_json_int(nvtx, "open_ranges", plan->open_ranges);
  nai_gen_json_int(nvtx, "crossing_ranges", plan->crossing_ranges);
  nai_gen_json_int(nvtx, "attributed_kernel_ns", plan->covered_ns);
  nai_gen_json_int(nvtx, "last_event_ns", plan->last_ns);
  for (int i = 0; i < (int)plan->names.count; i++) {
    const struct nai_gen_name *name = nai_gen_name_at(plan, i);
    for (int process = 0; process < plan->process_count; process++) {
      if (name->by_process[process].ranges.count > 0) {
        json_t *object = nai_gen_json_object_in(names);
        nai_gen_json_name(object, "name", nai_gen_bytes_at(plan, name->offset), name->size);
        nai_gen_json_int(object, "pid", plan->processes[process].pid);
        set_range_stat(object, &name->by_process[process]);
      }
    }
  }
  json_object_set_new(nvtx, "ranges", names);
  return nvtx;
}

static int64_t all_kernel_ns(const struct nai_gen_plan *plan) {
  int64_t total = 0;
  for (int i = 0; i < plan->gpu_count; i++) {
    total += plan->gpus[i].kernels.total;
  }
  return total;
}

static json_t *phases_json(const struct nai_gen_plan *plan) {
  const struct nai_gen_phase *phases = plan->phases.items;
  json_t *all = json_object();
  json_t *map = json_object();
  json_t *totals = json_array();
  int64_t unmapped = all_kernel_ns(plan);
  for (int i = 0; i < (int)plan->phases.count; i++) {
    json_t *patterns = json_array();
    for (int n = 0; n < (int)plan->names.count; n++) {
      const struct nai_gen_name *name = nai_gen_name_at(plan, n);
      if (name->phase == i) {
        json_array_append_new(patterns, json_stringn(nai_gen_bytes_at(plan, name->offset), name->size));
      }
    }
    json_object_set_new(map, phases[i].name, patterns);
    json_t *object = nai_gen_json_object_in(totals);
    nai_gen_json_string(object, "phase", phases[i].name);
    nai_gen_json_int(object, "wall_ns", phases[i].wall_ns);
    nai_gen_json_int(object, "kernel_ns", phases[i].kernel_ns);
    nai_gen_json_int(object, "kernel_count", phases[i].kernel_count);
    unmapped -= phases[i].kernel_ns;
  }
  json_object_set_new(all, "map", map);
  json_object_set_new(all, "phases", totals);
  nai_gen_json_int(all, "unmapped_kernel_ns", unmapped);
  return all;
}

static json_t *pids_json(const struct nai_gen_plan *plan) {
  json_t *pids = json_array();
  for (int i = 0; i < plan->process_count; i++) {
    const struct nai_gen_process *process = &plan->processes[i];
    json_t *object = nai_gen_json_object_in(pids);
    int64_t calls = 0;
    for (int api = 0; api < API_COUNT; api++) {
      calls += process->calls[api].count;
    }
    nai_gen_json_int(object, "pid", process->pid);
    nai_gen_json_name(object, "name", process->name, strlen(process->name));
    nai_gen_json_int(object, "kernel_count", process->kernels.count);
    nai_gen_json_int(object, "kernel_ns", process->kernels.total);
    nai_gen_json_int(object, "memcpy_bytes", process->memcpy_bytes);
    nai_gen_json_int(object, "api_calls", calls);
    nai_gen_json_int(object, "attributed_kernel_ns", process->covered_ns);
  }
  return pids;
}

static json_t *transfers_json(const struct nai_gen_plan *plan, bool sets) {
  const struct nai_gen_transfer *transfers = plan->transfers.items;
  json_t *all = json_array();
  for (size_t i = 0; i < plan->transfers.count; i++) {
    if ((transfers[i].direction == 0) != sets) {
      continue;
    }
    json_t *object = nai_gen_json_stat(&transfers[i].stat);
    json_array_append_new(all, object);
    nai_gen_json_int(object, "gpu", transfers[i].gpu);
    nai_gen_json_int(object, "bytes", transfers[i].bytes);
    if (sets) {
      nai_gen_json_int(object, "mem_kind", transfers[i].source);
    } else {
      nai_gen_json_int(object, "copy_kind", transfers[i].direction);
      nai_gen_json_int(object, "src_kind", transfers[i].source);
      nai_gen_json_int(object, "dst_kind", transfers[i].target);
    }
  }
  return all;
}

void nai_gen_set_work(json_t *truth, const struct nai_gen_plan *plan) {
  nai_gen_json_int(truth, "total_kernel_ns", all_kernel_ns(plan));
  json_object_set_new(truth, "gpus", gpus_json(plan));
  json_object_set_new(truth, "kernels", kernels_json(plan));
  json_object_set_new(truth, "join", join_json(plan));
  json_object_set_new(truth, "calls", calls_json(plan));
  json_object_set_new(truth, "threads", blocked_json(plan));
  json_object_set_new(truth, "nvtx", nvtx_json(plan));
  json_object_set_new(truth, "phases", phases_json(plan));
  json_object_set_new(truth, "pids", pids_json(plan));
  json_object_set_new(truth, "memory", transfers_json(plan, false));
  json_object_set_new(truth, "memsets", transfers_json(plan, true));
  nai_gen_json_int(truth, "profiler_overhead_ns", plan->profiler_ns);
}
