/* What range names say about steps. */
#include "base/text.h"
#include "model/steps/steps_build.h"

int nai_step_keep(const char **out, struct nai_model *m, const struct nai_buf *text, struct nai_err *err) {
  NAI_TRY(nai_buf_check(text, err));
  *out = nai_arena_printf(&m->arena, "%s", nai_buf_str(text));
  return nai_arena_check(&m->arena, err);
}

int nai_step_names_find(struct nai_step_names *out, const struct nai_model *m, struct nai_arena *arena,
                        struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  const struct nai_strings *names = &m->tables[NAI_IN_NVTX]->strings;
  out->texts.arena = arena;
  NAI_TRY(NAI_NEW(out->canonical, arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++) {
    nai_buf_clear(&text);
    nai_text_fold_digits(&text, nai_strings_get(names, i));
    out->canonical[i] = nai_strings_add(&out->texts, nai_buf_str(&text), text.len);
    if (text.oom || out->canonical[i] == NAI_NO_STRING)
      return nai_err_nomem(err);
  }
  return NAI_OK;
}

enum nai_step_word nai_step_word_of(const char *name) {
  static const char *const parts[] = {"layer",       "block",       "stage",     "level",  "microbatch",
                                      "micro_batch", "micro-batch", "bucket",    "expert", "chunk",
                                      "tile",        "head",        "optimizer", ".#",     NULL};
  static const char *const steps[] = {
      "step", "iter", "batch", "train", "forward_backward", "execute_model", "execute_context", "sample_#", NULL};
  if (strncmp(name, "aten::", 6) == 0 || nai_name_matches(name, NAI_HOLDS_ANY_CASE, parts))
    return NAI_WORD_PART;
  if (nai_name_matches(name, NAI_HOLDS_ANY_CASE, steps))
    return NAI_WORD_STEP;
  return strcasestr(name, "epoch") ? NAI_WORD_EPOCH : NAI_WORD_NONE;
}

/* The number `which` in a name, -1 when there are not so many or when it is too large. */
static int64_t number_in(const char *name, int which) {
  enum { DIGITS = 15 };
  for (;; which--) {
    name += strcspn(name, "0123456789");
    size_t digits = strspn(name, "0123456789");
    if (!digits)
      return -1;
    if (!which)
      return digits > DIGITS ? -1 : strtoll(name, NULL, 10);
    name += digits;
  }
}

bool nai_step_numbered(const struct nai_model *m, const uint32_t *rows, uint32_t count) {
  enum { NUMBERS = 4 };
  for (int which = 0; which < NUMBERS; which++) {
    uint32_t up = 0;
    int64_t before = number_in(nai_model_range_name(m, rows[0]), which);
    for (uint32_t i = 1; i < count && before >= 0; i++) {
      int64_t number = number_in(nai_model_range_name(m, rows[i]), which);
      up += number == before + 1;
      before = number;
    }
    if (before < 0)
      return false;
    if ((uint64_t)up * 10 >= (uint64_t)(count - 1) * 9)
      return true;
  }
  return false;
}
