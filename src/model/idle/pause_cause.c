/* A pause is one idle gap: its cause is that of the gap, with two of them told more finely (docs/analyses.md,
 * active_spans). */
#include "model/idle/pause_cause.h"

#include "base/sort.h"
#include "base/text.h"
#include "model/build.h"
#include "model/cpu/activity.h"
#include "model/idle/evidence.h"
#include "model/idle/idle.h"

static void set_what(struct nai_pause_cause *out, const char *name, const char *more) {
  enum { MOST = 400 };
  snprintf(out->what, sizeof out->what, "%.*s%s", (int)nai_text_prefix(name, strlen(name), MOST), name, more);
}

/* --- host_code: by what the thread asks the operating system for ------------------------------- */

/* HOST_REST: no call was recorded. */
enum host_cause { INPUT_WAIT, SLEEP, WAIT, FILE_READ, OS_CALL, HOST_REST, HOST_CAUSES };
static const char *const host_words[HOST_CAUSES] = {"input_wait", "sleep", "wait", "file_read", "os_call", "host_code"};

static const struct {
  enum host_cause cause;
  const char *const *calls;
} host_calls[] = {
    {SLEEP, NAI_WORDS("nanosleep", "clock_nanosleep", "usleep", "sleep")},
    {WAIT,
     NAI_WORDS("poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait", "pthread_cond_wait",
               "pthread_cond_timedwait", "pthread_join", "sem_wait", "sem_timedwait", "futex", "waitpid", "wait4")},
    {FILE_READ, NAI_WORDS("read", "pread", "pread64", "readv", "fread")},
};

static enum host_cause host_cause_of(const char *name) {
  if (nai_osrt_reads_input(name))
    return INPUT_WAIT;
  for (size_t i = 0; i < sizeof host_calls / sizeof *host_calls; i++)
    if (nai_name_matches(name, NAI_EQUALS, host_calls[i].calls))
      return host_calls[i].cause;
  return OS_CALL;
}

/* What calls of one name add up to. */
struct tally {
  const char *name;
  int64_t ns;
};

struct host {
  int64_t ns[HOST_CAUSES];
  struct tally *tallies;
  uint32_t count, capacity;
  struct nai_arena *arena;
};

static int add_call(struct host *h, const char *name, int64_t ns, struct nai_err *err) {
  uint32_t i = 0;
  h->ns[host_cause_of(name)] += ns;
  h->ns[HOST_REST] -= ns;
  while (i < h->count && strcmp(h->tallies[i].name, name) != 0)
    i++;
  if (i == h->count) {
    NAI_TRY(NAI_ROOM(h->tallies, h->capacity, h->count, h->arena, err));
    h->tallies[h->count++].name = name;
  }
  h->tallies[i].ns += ns;
  return NAI_OK;
}

/* Divides `own`, when the thread was in no CUDA call, among its outermost OS calls; of those that overlap the earlier
 * one is charged. */
static int divide_host(struct host *h, const struct nai_model *m, int32_t thread, const struct nai_intervals *own,
                       struct nai_err *err) {
  const struct OSRT_EVENTS_columns *c = &m->evidence->osrt;
  const struct nai_groups *calls = nai_model_osrt_calls(m);
  h->ns[HOST_REST] = nai_intervals_total_ns(own);
  if (!calls || !own->count)
    return NAI_OK;
  int64_t at = own->v[0].start, until = own->v[own->count - 1].end;
  for (uint32_t k = calls->first[thread]; k < calls->first[thread + 1]; k++) {
    uint32_t row = calls->order[k];
    int64_t start = nai_val(&c->start_ns, row), from = start > at ? start : at, to = nai_val(&c->end_ns, row);
    if (from >= until)
      break;
    if (to <= from)
      continue;
    int64_t ns = nai_intervals_overlap_ns(own, from, to);
    if (ns)
      NAI_TRY(add_call(h, nai_strings_get(&m->tables[NAI_IN_OSRT]->strings, nai_at_text(&c->name, row)), ns, err));
    at = to;
  }
  return NAI_OK;
}

static int tell_host(struct nai_pause_cause *out, const struct nai_model *m, int32_t thread,
                     const struct nai_intervals *own, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct host h = {.arena = &arena};
  enum host_cause cause = INPUT_WAIT;
  const struct tally *largest = NULL;
  NAI_TRY(divide_host(&h, m, thread, own, err));
  for (int c = 1; c < HOST_CAUSES; c++)
    cause = h.ns[c] > h.ns[cause] ? (enum host_cause)c : cause;
  for (uint32_t i = 0; i < h.count; i++)
    if (host_cause_of(h.tallies[i].name) == cause && (!largest || h.tallies[i].ns > largest->ns))
      largest = &h.tallies[i];
  out->cause = host_words[cause];
  out->ns = h.ns[cause];
  set_what(out, largest ? largest->name : "", "");
  return NAI_OK;
}

/* --- in_launch_call: by whether it is the first of its kernel ---------------------------------- */

/* A first launch that takes long loads or compiles, which few exporters record. */
static bool loads(const struct nai_model *m, const struct nai_gpu *gpu, const struct nai_idle_gap *gap) {
  enum { LONG_NS = 1000 * 1000 };
  if (gap->op == NAI_NO_ROW || gap->launch == NAI_NO_ROW || gpu->ops[gap->op].type != NAI_OP_KERNEL ||
      nai_call_ns(m, gap->launch) <= LONG_NS)
    return false;
  uint32_t name = nai_val_text(&m->kernels.name, gpu->ops[gap->op].row);
  for (uint32_t i = 0; i < gap->op; i++)
    if (gpu->ops[i].type == NAI_OP_KERNEL && nai_val_text(&m->kernels.name, gpu->ops[i].row) == name)
      return false;
  return true;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* What is behind a cause of idle time: a function or a row of overhead; a remark is none. */
static int say_what(struct nai_pause_cause *out, const struct nai_model *m, const struct nai_idle_gap *gap,
                    enum nai_idle_cause cause, const struct nai_idle_shares *shares, struct nai_err *err) {
  const struct nai_idle_drain *drain = cause == NAI_IDLE_QUEUE_DRAINED ? nai_idle_drain_of(m, gap) : NULL;
  struct nai_idle_culprit what = nai_idle_largest(shares, cause);
  NAI_SCOPED(nai_buf) text = {0};
  if (drain)
    nai_buf_puts(&text, nai_model_api_name(m, drain->wait));
  else if (what.source != NAI_CULPRIT_REMARK)
    nai_idle_culprit_put(&text, m, &what);
  set_what(out, nai_buf_str(&text), "");
  return nai_buf_check(&text, err);
}

/* Within the cause of the gap, never across causes: the part that is told may be smaller than another cause. */
static int tell(struct nai_pause_cause *out, const struct nai_model *m, const struct nai_gpu *gpu,
                const struct nai_idle_gap *gap, const struct nai_idle_split *split, const struct nai_intervals *own,
                const struct nai_idle_shares *shares, struct nai_err *err) {
  enum nai_idle_cause cause = nai_idle_largest_part(split);
  *out = (struct nai_pause_cause){.cause = nai_idle_cause_name(cause), .ns = split->ns[cause]};
  if (cause == NAI_IDLE_HOST_CODE)
    return tell_host(out, m, nai_val_i32(&m->apis.thread, gap->launch), own, err);
  if (cause != NAI_IDLE_IN_LAUNCH_CALL || !loads(m, gpu, gap))
    return say_what(out, m, gap, cause, shares, err);
  out->cause = nai_idle_cause_name(NAI_IDLE_MODULE_LOAD);
  set_what(out, nai_model_api_name(m, gap->launch), " (first launch of the kernel: loading or compiling)");
  return NAI_OK;
}

int nai_pause_explain(struct nai_pause_cause *out, const struct nai_model *m, const struct nai_gpu *gpu,
                      const struct nai_span *pause, struct nai_err *err) {
  size_t number =
      nai_bisect(gpu->all.v, gpu->all.count, sizeof *gpu->all.v, offsetof(struct nai_interval, start), pause->end);
  struct nai_idle_gap gap = nai_idle_gap_at(m, (uint32_t)(gpu - m->gpus), (uint32_t)number);
  NAI_SCOPED(nai_idle_shares) shares = {0};
  NAI_SCOPED(nai_intervals) own = {0};
  struct nai_idle_split split;
  NAI_TRY(nai_idle_split_again(&split, &shares, &own, m, &gap, err));
  return tell(out, m, gpu, &gap, &split, &own, &shares, err);
}
