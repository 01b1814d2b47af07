/* What a thread did, in words; names of layers and classes. */
#include "model/cpu/activity.h"

#include "model/build.h"
#include "table/stats.h"
#include "base/fmt.h"
#include "table/kernel_name.h"

enum { NAME_CHARS = 60, LEAST_PCT = 10, LEAST_SAMPLES = 5 };

const char *nai_activity_layer_name(enum nai_activity_layer layer) {
  static const char *const names[NAI_ACTIVITY_LAYERS] = {[NAI_ACTIVITY_API] = "cuda_api",
                                                         [NAI_ACTIVITY_OVERHEAD] = "overhead",
                                                         [NAI_ACTIVITY_OSRT] = "os_runtime",
                                                         [NAI_ACTIVITY_SAMPLES] = "samples",
                                                         [NAI_ACTIVITY_LAUNCH] = "launched_from"};
  return names[layer];
}

const char *nai_osrt_class_name(enum nai_osrt_class class) {
  static const char *const names[] = {
      [NAI_OSRT_OTHER] = "other", [NAI_OSRT_LOCK] = "lock",   [NAI_OSRT_IO] = "io",
      [NAI_OSRT_POLL] = "poll",   [NAI_OSRT_SLEEP] = "sleep", [NAI_OSRT_PROCESS] = "process"};
  return names[class];
}

static const struct {
  enum nai_osrt_class class;
  const char *const *begins;
} functions[] = {
    {NAI_OSRT_LOCK, NAI_WORDS("pthread_mutex", "pthread_cond", "pthread_rwlock", "pthread_spin", "pthread_barrier",
                              "sem_", "futex", "flock")},
    {NAI_OSRT_PROCESS, NAI_WORDS("pthread_join", "pthread_create", "fork", "vfork", "wait", "exec", "system", "popen",
                                 "pclose", "posix_spawn")},
    {NAI_OSRT_POLL, NAI_WORDS("poll", "ppoll", "select", "pselect", "epoll")},
    {NAI_OSRT_SLEEP, NAI_WORDS("nanosleep", "usleep", "sleep", "clock_nanosleep", "sched_yield")},
    {NAI_OSRT_IO, NAI_WORDS("read", "pread", "write", "pwrite", "recv", "send", "open", "close", "fopen", "fclose",
                            "fread", "fwrite", "fget", "fput", "getc", "putc", "fflush", "fsync", "fdatasync", "mmap",
                            "munmap", "msync", "lseek", "accept", "connect", "io_", "getline", "sync", "getdelim")},
};

enum nai_osrt_class nai_osrt_class(const char *function) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (nai_name_matches(function, NAI_BEGINS, functions[i].begins))
      return functions[i].class;
  return NAI_OSRT_OTHER;
}

bool nai_osrt_reads_input(const char *function) {
  return nai_name_matches(function, NAI_EQUALS,
                          NAI_WORDS("getc", "fgetc", "getchar", "fgets", "getline", "scanf", "readline"));
}

const char *nai_activity_name(const struct nai_model *m, const struct nai_activity_share *s) {
  static const int tables[] = {
      [NAI_ACTIVITY_API] = NAI_IN_APIS, [NAI_ACTIVITY_OVERHEAD] = NAI_IN_OVERHEAD, [NAI_ACTIVITY_OSRT] = NAI_IN_OSRT};
  if (s->layer >= NAI_ACTIVITY_SAMPLES)
    return nai_chain_name(m, &(struct nai_chain){.function = s->id, .is_module = s->is_module});
  return nai_strings_get(&m->tables[tables[s->layer]]->strings, s->id);
}

static double pct(const struct nai_activity *a, int64_t ns) { return nai_percent((double)ns, (double)a->ns); }

/* The number `rank` of a layer, NULL where it takes less than a tenth of the time. */
static const struct nai_activity_share *largest(const struct nai_activity *a, enum nai_activity_layer layer, int rank) {
  if (layer == NAI_ACTIVITY_SAMPLES && a->samples < LEAST_SAMPLES)
    return NULL;
  for (uint32_t i = 0; i < a->keys.count; i++)
    if (a->shares[i].layer == layer && rank-- == 0)
      return pct(a, a->shares[i].ns) >= LEAST_PCT ? &a->shares[i] : NULL;
  return NULL;
}

const struct nai_activity_share *nai_activity_main(const struct nai_activity *a) {
  static const enum nai_activity_layer order[] = {NAI_ACTIVITY_SAMPLES, NAI_ACTIVITY_OSRT, NAI_ACTIVITY_API,
                                                  NAI_ACTIVITY_OVERHEAD};
  const struct nai_activity_share *best = NULL;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    const struct nai_activity_share *s = largest(a, order[i], 0);
    best = s && (!best || s->ns > 2 * best->ns) ? s : best;
  }
  return best;
}

static void separate(struct nai_buf *out, size_t from) {
  if (out->len > from)
    nai_buf_puts(out, "; ");
}

static void print_share(struct nai_buf *out, const struct nai_model *m, const struct nai_activity *a,
                        const struct nai_activity_share *s) {
  if (s->layer == NAI_ACTIVITY_SAMPLES)
    nai_buf_puts(out, "about ");
  nai_fmt_percent(out, pct(a, s->ns));
  nai_buf_puts(out, " ");
  if (s->layer == NAI_ACTIVITY_SAMPLES)
    nai_function_name_short(out, nai_activity_name(m, s), NAME_CHARS);
  else
    nai_kernel_name_short(out, nai_activity_name(m, s), NAME_CHARS);
  if (s->caller) {
    nai_buf_puts(out, " called by ");
    nai_function_name_short(out, nai_chain_name(m, s->caller), NAME_CHARS);
  }
}

void nai_activity_print(struct nai_buf *out, const struct nai_model *m, const struct nai_activity *a) {
  static const struct {
    enum nai_activity_layer layer;
    int most;
  } order[] = {{NAI_ACTIVITY_API, 2}, {NAI_ACTIVITY_OVERHEAD, 1}, {NAI_ACTIVITY_OSRT, 2}, {NAI_ACTIVITY_SAMPLES, 3}};
  size_t from = out->len;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    for (int rank = 0; rank < order[i].most; rank++) {
      const struct nai_activity_share *s = largest(a, order[i].layer, rank);
      if (!s || strcmp(nai_activity_name(m, s), "Unknown") == 0) /* what older exporters call loading of code */
        break;
      separate(out, from);
      print_share(out, m, a, s);
    }
  if (a->ns && pct(a, a->cpu.off_ns) >= LEAST_PCT) {
    separate(out, from);
    nai_buf_puts(out, "off-CPU ");
    nai_fmt_percent(out, pct(a, a->cpu.off_ns));
  }
  if (out->len == from && a->ns && pct(a, a->cpu.on_ns) >= LEAST_PCT) {
    nai_buf_puts(out, "on a CPU ");
    nai_fmt_percent(out, pct(a, a->cpu.on_ns));
  }
}
