/* Which function a callchain stands for: the innermost that somebody can act on. Frames of the operating system, the C
 * library, CUDA and the profiler, addresses without a name and the unwinder's remarks are passed over. */
#include "base/sort.h"
#include "model/build.h"
#include "model/cpu/cpu.h"
#include "tables/callchain_frames.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The better a frame, the higher. */
enum frame { NO_NAME, LIBRARY_NAME, STANDARD_CPP, OWN };
enum { UNSEEN, MODULE_OWN, MODULE_LIBRARY, MODULE_COMPILER };

struct chains {
  const struct nai_table *t;
  struct nai_column kind, id, depth, symbol, module, kernel, unresolved;
  uint8_t *symbols, *modules; /* per string: 1 + enum frame, and what library it is; 0 not looked at yet */
};

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');
  const char *last = slash > back ? slash : back;
  return last && last[1] ? last + 1 : path;
}

static uint8_t module_of(const char *path) {
  static const char *const compilers[] = {"ptxjitcompiler", "nvrtc", "nvJitLink", "libnvvm"};
  static const char *const libraries[] = {"libc.so",     "libc-2.",      "libpthread", "ld-linux",  "ld-2.",
                                          "libm.so",     "libm-2.",      "libdl",      "librt",     "libgcc_s",
                                          "libstdc++",   "libc++",       "libcuda.so", "libcudart", "libcupti",
                                          "libToolsInj", "libnvidia-ml", "linux-vdso", "ntdll",     "kernel32",
                                          "KERNELBASE",  "ucrtbase",     "vcruntime",  "msvcp",     "nvcuda",
                                          "cudart"};
  const char *name = file_name(path);
  for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
    if (strstr(name, compilers[i]))
      return MODULE_COMPILER;
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    if (strncasecmp(name, libraries[i], strlen(libraries[i])) == 0)
      return MODULE_LIBRARY;
  return path[0] == '[' ? MODULE_LIBRARY : MODULE_OWN; /* [kernel.kallsyms], [vdso], [Max depth] */
}

/* The name in a C++ signature: `float std::f<int>(int)` is std::f. */
static bool is_standard_cpp(const char *symbol) {
  size_t length = strcspn(symbol, "<(");
  const char *word = symbol;
  for (size_t i = 0; i < length; i++)
    if (symbol[i] == ' ')
      word = symbol + i + 1;
  return begins(word, "std::") || begins(word, "__gnu_cxx::");
}

static enum frame symbol_of(const char *symbol) {
  if (!symbol[0] || begins(symbol, "0x") || symbol[0] == '[' || strcmp(symbol, "_start") == 0)
    return NO_NAME;
  if (begins(symbol, "__cud") || begins(symbol, "libcudart_static") || begins(symbol, "cuda") ||
      begins(symbol, "NSYS_OSRT") || (begins(symbol, "cu") && isupper((unsigned char)symbol[2])))
    return LIBRARY_NAME;
  return is_standard_cpp(symbol) ? STANDARD_CPP : OWN;
}

static uint8_t look_up(uint8_t *known, uint32_t string, uint8_t value) { return known[string] = value; }

static uint8_t module_class(const struct chains *c, uint32_t row) {
  uint32_t module = nai_at_text(&c->module, row);
  if (module == NAI_NO_STRING)
    return MODULE_OWN;
  return c->modules[module] ? c->modules[module]
                            : look_up(c->modules, module, module_of(nai_strings_get(&c->t->strings, module)));
}

static enum frame frame_of(const struct chains *c, uint32_t row) {
  uint32_t symbol = nai_at_text(&c->symbol, row);
  if (symbol == NAI_NO_STRING || nai_at(&c->unresolved, row) == 1)
    return NO_NAME;
  if (!c->symbols[symbol])
    look_up(c->symbols, symbol, (uint8_t)(1 + symbol_of(nai_strings_get(&c->t->strings, symbol))));
  enum frame frame = (enum frame)(c->symbols[symbol] - 1);
  bool library = nai_at(&c->kernel, row) == 1 || module_class(c, row) == MODULE_LIBRARY;
  return frame != NO_NAME && library ? LIBRARY_NAME : frame;
}

static uint8_t flags_of(const char *symbol) {
  static const char *const lock[] = {"take_gil", "PyEval_AcquireThread", "PyEval_AcquireLock"},
                           *const garbage[] = {"gc_collect_main", "gc_collect_region", "collect_with_callback"};
  for (size_t i = 0; i < sizeof lock / sizeof *lock; i++)
    if (strcmp(symbol, lock[i]) == 0)
      return NAI_CHAIN_GIL;
  for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++)
    if (strcmp(symbol, garbage[i]) == 0)
      return NAI_CHAIN_GC;
  return 0;
}

/* rows: frames of one chain, innermost first. */
static struct nai_chain make_chain(const struct chains *c, const struct nai_key *rows, uint32_t count) {
  struct nai_chain chain = {.id = nai_at(&c->id, rows[0].value), .function = NAI_NO_STRING};
  enum frame best = NO_NAME;
  bool compiles = false;
  chain.kind = (uint8_t)nai_at(&c->kind, rows[0].value);
  for (uint32_t i = 0; i < count && !compiles; i++) {
    uint32_t row = rows[i].value, symbol = nai_at_text(&c->symbol, row);
    enum frame frame = frame_of(c, row);
    compiles = module_class(c, row) == MODULE_COMPILER;
    if (symbol != NAI_NO_STRING)
      chain.flags |= flags_of(nai_strings_get(&c->t->strings, symbol));
    if (frame > best || compiles) {
      best = frame;
      chain.function = compiles ? nai_at_text(&c->module, row) : symbol;
    }
  }
  chain.is_own = best >= STANDARD_CPP && !compiles;
  if (compiles || best == NO_NAME) {
    chain.function = compiles ? chain.function : nai_at_text(&c->module, rows[0].value);
    chain.is_module = true;
  }
  return chain;
}

static int sort_pass(struct nai_key *keys, uint32_t n, const struct nai_column *by, struct nai_err *err) {
  for (uint32_t i = 0; i < n; i++)
    keys[i].key = nai_key_from_i64(nai_at(by, keys[i].value));
  return nai_sort_keys(keys, n, err);
}

static bool same_chain(const struct chains *c, uint32_t a, uint32_t b) {
  return nai_at(&c->id, a) == nai_at(&c->id, b) && nai_at(&c->kind, a) == nai_at(&c->kind, b);
}

static int make_chains(struct nai_cpu *cpu, const struct chains *c, struct nai_key *keys, uint32_t n,
                       struct nai_err *err) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++)
    count += i == 0 || !same_chain(c, keys[i - 1].value, keys[i].value);
  cpu->chains = malloc(((size_t)count + 1) * sizeof *cpu->chains);
  if (!cpu->chains)
    return nai_err_nomem(err);
  for (uint32_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && same_chain(c, keys[i].value, keys[end].value); end++)
      ;
    cpu->chains[cpu->chain_count++] = make_chain(c, keys + i, end - i);
  }
  return NAI_OK;
}

int nai_cpu_chains_build(struct nai_cpu *cpu, const struct nai_model *m, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_CALLCHAINS];
  uint32_t n = t ? (uint32_t)t->rows : 0;
  if (!n)
    return NAI_OK;
  struct chains c = {.t = t,
                     .kind = nai_table_column(t, CALLCHAIN_FRAMES_kind),
                     .id = nai_table_column(t, CALLCHAIN_FRAMES_callchain_id),
                     .depth = nai_table_column(t, CALLCHAIN_FRAMES_depth),
                     .symbol = nai_table_column(t, CALLCHAIN_FRAMES_symbol),
                     .module = nai_table_column(t, CALLCHAIN_FRAMES_module),
                     .kernel = nai_table_column(t, CALLCHAIN_FRAMES_kernel_mode),
                     .unresolved = nai_table_column(t, CALLCHAIN_FRAMES_unresolved),
                     .symbols = calloc((size_t)t->strings.count + 1, 1),
                     .modules = calloc((size_t)t->strings.count + 1, 1)};
  struct nai_key *keys = malloc((size_t)n * sizeof *keys);
  int rc = keys && c.symbols && c.modules ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < n; i++)
    keys[i].value = i;
  const struct nai_column *const by[] = {&c.depth, &c.id, &c.kind};
  for (int pass = 0; !rc && pass < 3; pass++)
    rc = sort_pass(keys, n, by[pass], err);
  if (!rc)
    rc = make_chains(cpu, &c, keys, n, err);
  free(keys);
  free(c.symbols);
  free(c.modules);
  return rc;
}

struct looked_up {
  const struct nai_chain *chains;
  int kind;
  int64_t id;
};

static bool chain_before(const void *ctx, size_t i) {
  const struct looked_up *key = ctx;
  const struct nai_chain *c = &key->chains[i];
  return c->kind < key->kind || (c->kind == key->kind && c->id < key->id);
}

const struct nai_chain *nai_cpu_chain(const struct nai_model *m, int kind, int64_t id) {
  const struct nai_cpu *cpu = m->cpu;
  size_t i = nai_search(0, cpu->chain_count, chain_before, &(struct looked_up){cpu->chains, kind, id});
  return i < cpu->chain_count && cpu->chains[i].kind == kind && cpu->chains[i].id == id ? &cpu->chains[i] : NULL;
}

const char *nai_chain_name(const struct nai_model *m, const struct nai_chain *chain) {
  if (chain->function == NAI_NO_STRING)
    return "a library without symbols";
  const char *text = nai_strings_get(&m->tables[NAI_IN_CALLCHAINS]->strings, chain->function);
  return chain->is_module ? file_name(text) : text;
}
