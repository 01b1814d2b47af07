/* Which function a callchain stands for: the innermost that somebody can act on. Frames of the operating system, the C
 * library, CUDA and the profiler, addresses without a name and the unwinder's remarks are passed over. */
#include "base/sort.h"
#include "model/build.h"
#include "model/cpu/cpu.h"
#include "tables/callchain_frames.h"

#include <ctype.h>
#include <string.h>

/* The better a frame, the higher. */
enum frame { NO_NAME, LIBRARY_NAME, STANDARD_CPP, OWN };
enum { UNSEEN, MODULE_OWN, MODULE_LIBRARY, MODULE_COMPILER };

struct chains {
  const struct nai_strings *strings;
  struct CALLCHAIN_FRAMES_columns c;
  uint8_t *symbols, *modules; /* per string: 1 + enum frame, and what library it is; 0 not looked at yet */
};

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');
  const char *last = slash > back ? slash : back;
  return last && last[1] ? last + 1 : path;
}

static uint8_t module_of(const char *path) {
  static const char *const compilers[] = {"ptxjitcompiler", "nvrtc", "nvJitLink", "libnvvm", NULL};
  static const char *const libraries[] = {
      "libc.so",  "libc-2.",     "libpthread",   "ld-linux",   "ld-2.",  "libm.so",    "libm-2.",
      "libdl",    "librt",       "libgcc_s",     "libstdc++",  "libc++", "libcuda.so", "libcudart",
      "libcupti", "libToolsInj", "libnvidia-ml", "linux-vdso", "ntdll",  "kernel32",   "KERNELBASE",
      "ucrtbase", "vcruntime",   "msvcp",        "nvcuda",     "cudart", NULL};
  const char *name = file_name(path);
  if (nai_name_matches(name, NAI_HOLDS, compilers))
    return MODULE_COMPILER;
  /* [kernel.kallsyms], [vdso], [Max depth] */
  return nai_name_matches(name, NAI_BEGINS_ANY_CASE, libraries) || path[0] == '[' ? MODULE_LIBRARY : MODULE_OWN;
}

/* The name in a C++ signature: `float std::f<int>(int)` is std::f. */
static bool is_standard_cpp(const char *symbol) {
  size_t length = strcspn(symbol, "<(");
  const char *word = symbol;
  for (size_t i = 0; i < length; i++)
    if (symbol[i] == ' ')
      word = symbol + i + 1;
  return nai_name_matches(word, NAI_BEGINS, NAI_WORDS("std::", "__gnu_cxx::"));
}

static enum frame symbol_of(const char *symbol) {
  if (!symbol[0] || symbol[0] == '[' || strncmp(symbol, "0x", 2) == 0 || strcmp(symbol, "_start") == 0)
    return NO_NAME;
  if (nai_name_matches(symbol, NAI_BEGINS, NAI_WORDS("__cud", "libcudart_static", "cuda", "NSYS_OSRT")) ||
      (strncmp(symbol, "cu", 2) == 0 && isupper((unsigned char)symbol[2])))
    return LIBRARY_NAME;
  return is_standard_cpp(symbol) ? STANDARD_CPP : OWN;
}

static uint8_t module_class(const struct chains *c, uint32_t row) {
  uint32_t module = nai_at_text(&c->c.module, row);
  if (module == NAI_NO_STRING)
    return MODULE_OWN;
  if (!c->modules[module])
    c->modules[module] = module_of(nai_strings_get(c->strings, module));
  return c->modules[module];
}

static enum frame frame_of(const struct chains *c, uint32_t row) {
  uint32_t symbol = nai_at_text(&c->c.symbol, row);
  if (symbol == NAI_NO_STRING || nai_at(&c->c.unresolved, row) == 1)
    return NO_NAME;
  if (!c->symbols[symbol])
    c->symbols[symbol] = (uint8_t)(1 + symbol_of(nai_strings_get(c->strings, symbol)));
  enum frame frame = (enum frame)(c->symbols[symbol] - 1);
  bool library = nai_at(&c->c.kernel_mode, row) == 1 || module_class(c, row) == MODULE_LIBRARY;
  return frame != NO_NAME && library ? LIBRARY_NAME : frame;
}

static uint8_t flags_of(const char *symbol) {
  if (nai_name_matches(symbol, NAI_EQUALS, NAI_WORDS("take_gil", "PyEval_AcquireThread", "PyEval_AcquireLock")))
    return NAI_CHAIN_GIL;
  static const char *const garbage[] = {"gc_collect_main", "gc_collect_region", "collect_with_callback", NULL};
  return nai_name_matches(symbol, NAI_EQUALS, garbage) ? NAI_CHAIN_GC : 0;
}

/* rows: frames of one chain, innermost first. */
static struct nai_chain make_chain(const struct chains *c, const uint32_t *rows, uint32_t count) {
  struct nai_chain chain = {.id = nai_at(&c->c.callchain_id, rows[0]), .function = NAI_NO_STRING};
  enum frame best = NO_NAME;
  bool compiles = false;
  chain.kind = (uint8_t)nai_at(&c->c.kind, rows[0]);
  for (uint32_t i = 0; i < count && !compiles; i++) {
    uint32_t symbol = nai_at_text(&c->c.symbol, rows[i]);
    enum frame frame = frame_of(c, rows[i]);
    compiles = module_class(c, rows[i]) == MODULE_COMPILER;
    if (symbol != NAI_NO_STRING)
      chain.flags |= flags_of(nai_strings_get(c->strings, symbol));
    if (frame > best || compiles) {
      best = frame;
      chain.function = compiles ? nai_at_text(&c->c.module, rows[i]) : symbol;
    }
  }
  chain.is_own = best >= STANDARD_CPP && !compiles;
  if (compiles || best == NO_NAME) {
    chain.function = compiles ? chain.function : nai_at_text(&c->c.module, rows[0]);
    chain.is_module = true;
  }
  return chain;
}

/* The first of rows[first + 1 .. n) that is of another chain than rows[first]. */
static uint32_t chain_end(const struct chains *c, const uint32_t *rows, uint32_t first, uint32_t n) {
  uint32_t end = first + 1;
  while (end < n && nai_at(&c->c.callchain_id, rows[end]) == nai_at(&c->c.callchain_id, rows[first]) &&
         nai_at(&c->c.kind, rows[end]) == nai_at(&c->c.kind, rows[first]))
    end++;
  return end;
}

int nai_cpu_chains_build(struct nai_model *m, struct nai_err *err) {
  struct nai_arena *arena = &m->work->arenas[NAI_PART_CPU];
  const struct nai_table *t = m->tables[NAI_IN_CALLCHAINS];
  struct nai_cpu *cpu = m->cpu;
  if (!t || !t->rows)
    return NAI_OK;
  struct chains c = {.strings = &t->strings, .c = CALLCHAIN_FRAMES_columns_of(t)};
  const struct nai_column *const order[] = {&c.c.kind, &c.c.callchain_id, &c.c.depth};
  uint32_t *rows, n = c.c.n, count = 0;
  NAI_TRY(NAI_NEW(c.symbols, arena, t->strings.count, err));
  NAI_TRY(NAI_NEW(c.modules, arena, t->strings.count, err));
  NAI_TRY(NAI_NEW(rows, arena, n, err));
  for (uint32_t i = 0; i < n; i++)
    rows[i] = i;
  NAI_TRY(nai_rows_arrange(rows, n, order, 3, err));
  for (uint32_t i = 0; i < n; i = chain_end(&c, rows, i, n))
    count++;
  NAI_TRY(NAI_NEW(cpu->chains, &m->arena, count, err));
  for (uint32_t i = 0, end; i < n; i = end) {
    end = chain_end(&c, rows, i, n);
    cpu->chains[cpu->chain_count++] = make_chain(&c, rows + i, end - i);
  }
  return NAI_OK;
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
