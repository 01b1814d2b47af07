/* What range names say about steps. */
#include "model/steps/steps_names.h"

#include "base/spill_array.h"
#include "base/buf.h"
#include "model/steps/steps_build.h"

#include <stdlib.h>
#include <string.h>

int nai_step_names_new(struct nai_step_names *out, const struct nai_model *m, struct nai_err *err) {
  const struct nai_strings *names = &m->tables[NAI_IN_NVTX]->strings;
  struct nai_buf text = {0};
  bool oom = false;
  void *canonical;
  int rc = nai_spill_array_new(&canonical, m->scratch_dir, ((size_t)names->count + 1) * sizeof *out->canonical, err);
  out->canonical = canonical;
  out->texts.directory = m->scratch_dir;
  for (uint32_t i = 0; !rc && !oom && i < names->count; i++) {
    nai_buf_clear(&text);
    nai_step_canonical(&text, nai_strings_get(names, i));
    out->canonical[i] = nai_strings_add(&out->texts, nai_buf_str(&text), text.len);
    oom = text.oom || out->canonical[i] == NAI_NO_STRING;
  }
  nai_buf_free(&text);
  return oom ? nai_err_nomem(err) : rc;
}

void nai_step_names_free(struct nai_step_names *names) {
  nai_strings_free(&names->texts);
  nai_spill_array_free(names->canonical);
}

static bool has_word(const char *name, const char *const *words) {
  for (; *words; words++)
    if (strcasestr(name, *words))
      return true;
  return false;
}

enum nai_step_word nai_step_word_of(const char *name) {
  static const char *const parts[] = {"layer",       "block",       "stage",     "level",  "microbatch",
                                      "micro_batch", "micro-batch", "bucket",    "expert", "chunk",
                                      "tile",        "head",        "optimizer", ".#",     NULL};
  static const char *const steps[] = {
      "step", "iter", "batch", "train", "forward_backward", "execute_model", "execute_context", "sample_#", NULL};
  static const char *const epochs[] = {"epoch", NULL};
  if (strncmp(name, "aten::", 6) == 0 || has_word(name, parts))
    return NAI_WORD_PART;
  if (has_word(name, steps))
    return NAI_WORD_STEP;
  return has_word(name, epochs) ? NAI_WORD_EPOCH : NAI_WORD_NONE;
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
