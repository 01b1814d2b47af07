#include "model/cpu/frames.h"

int nai_frames_open(struct nai_frames *f, const struct nai_model *m, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_CALLCHAINS];
  *f = (struct nai_frames){.strings = &t->strings, .c = CALLCHAIN_FRAMES_columns_of(t)};
  NAI_TRY(nai_call_frames_load(&f->names, err));
  NAI_TRY(NAI_NEW(f->symbols, arena, t->strings.count, err));
  return NAI_NEW(f->modules, arena, t->strings.count, err);
}

void nai_frames_free(struct nai_frames *f) { nai_call_frames_free(f->names); }

const char *nai_frame_file_name(const char *path) {
  const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');
  const char *last = slash > back ? slash : back;
  return last && last[1] ? last + 1 : path;
}

static enum nai_frame_class module_class(const struct nai_frames *f, uint32_t row) {
  uint32_t module = nai_at_text(&f->c.module, row);
  if (module == NAI_NO_STRING)
    return NAI_FRAME_USER;
  if (!f->modules[module]) {
    const char *name = nai_frame_file_name(nai_strings_get(f->strings, module));
    f->modules[module] = (uint8_t)(1 + nai_call_frames_class(f->names, NAI_FRAME_MODULE, name));
  }
  return (enum nai_frame_class)(f->modules[module] - 1);
}

/* What a function's name says; 0 for a frame without one. */
enum {
  CLASS_BITS = 4,
  CLASS_MASK = (1 << CLASS_BITS) - 1,
  LOCK = 1 << CLASS_BITS,
  GARBAGE = LOCK << 1,
  NOT_INLINED = LOCK << 2
};
static uint8_t symbol_of(const struct nai_frames *f, uint32_t row) {
  uint32_t symbol = nai_at_text(&f->c.symbol, row);
  if (symbol == NAI_NO_STRING)
    return 0;
  if (!f->symbols[symbol]) {
    const char *name = nai_strings_get(f->strings, symbol);
    f->symbols[symbol] = (uint8_t)((1 + nai_call_frames_class(f->names, NAI_FRAME_SYMBOL, name)) |
                                   (nai_call_frames_is_lock(f->names, name) ? LOCK : 0) |
                                   (nai_call_frames_is_garbage(f->names, name) ? GARBAGE : 0) |
                                   (nai_call_frames_is_not_inlined(f->names, name) ? NOT_INLINED : 0));
  }
  return f->symbols[symbol];
}

bool nai_frame_is_lock(const struct nai_frames *f, uint32_t row) { return symbol_of(f, row) & LOCK; }
bool nai_frame_is_garbage(const struct nai_frames *f, uint32_t row) { return symbol_of(f, row) & GARBAGE; }
bool nai_frame_is_not_inlined(const struct nai_frames *f, uint32_t row) { return symbol_of(f, row) & NOT_INLINED; }

static enum nai_frame_class symbol_class(const struct nai_frames *f, uint32_t row) {
  uint8_t symbol = symbol_of(f, row);
  return !symbol || nai_at(&f->c.unresolved, row) == 1 ? NAI_FRAME_MARKER
                                                       : (enum nai_frame_class)((symbol & CLASS_MASK) - 1);
}

enum nai_frame_class nai_frame_class(const struct nai_frames *f, uint32_t row) {
  enum nai_frame_class symbol = symbol_class(f, row), module = module_class(f, row);
  enum nai_frame_class class = symbol < module ? symbol : module;
  return nai_at(&f->c.kernel_mode, row) == 1 && class > NAI_FRAME_SYSTEM ? NAI_FRAME_SYSTEM : class;
}
