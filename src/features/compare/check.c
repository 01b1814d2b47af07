/* Reasons against comparing, as data: each has a code; hard ones make metrics undecidable, soft ones are said. */
#include "features/compare/internal.h"
#include "tables/compared_checks.h"
#include "tables/nvtx_ranges.h"

const char *nai_check_name(enum nai_check_code code) {
#define NAI_CHECK_NAME(id, name) name
  static const char *const names[] = {NAI_CHECKS(NAI_CHECK_NAME)};
  return code < NAI_CHECK_COUNT ? names[code] : NULL;
}

const char *nai_check_word(const struct nai_check *check) {
  static const char *const words[] = {"no", "not per step", "not by what needs it", "no"};
  return check->level == NAI_CHECK_HARD ? words[check->scope] : "caveat";
}

const char *nai_steps_advice(const struct nai_comparison *c) {
  for (int s = 0; s < NAI_SIDES; s++)
    if (!nai_side_count(c->sides, s, &nai_nvtx_ranges_schema))
      return "mark steps with NVTX ranges and capture with --trace=cuda,nvtx";
  return "name the ranges of steps with analyze --step";
}

int nai_check_add(struct nai_comparison *c, struct nai_check check, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(c->checks, c->check_capacity, c->check_count, &c->arena, err));
  if (c->options.allow & 1u << check.code)
    check.level = NAI_CHECK_SOFT;
  c->checks[c->check_count++] = check;
  return nai_arena_check(&c->arena, err);
}

int nai_check_text(const char **out, struct nai_comparison *c, const struct nai_buf *text, struct nai_err *err) {
  *out = text->len ? nai_arena_printf(&c->arena, "%s", text->data) : NULL;
  return nai_buf_check(text, err);
}

int nai_check_describe(const char **out, bool *agrees, struct nai_comparison *c, int side, nai_describe_fn *describe,
                       struct nai_err *err) {
  NAI_SCOPED(nai_buf) first = {0}, one = {0};
  const struct nai_side *s = &c->sides[side];
  *agrees = true;
  for (uint32_t i = 0; i < s->count; i++) {
    nai_buf_clear(&one);
    describe(i ? &one : &first, &s->captures[i]);
    *agrees &= i == 0 || strcmp(nai_buf_str(&one), nai_buf_str(&first)) == 0;
  }
  nai_buf_clear(&one);
  for (uint32_t i = 0; !*agrees && i < s->count; i++) {
    nai_buf_printf(&one, "%s%s: ", i ? "; " : "", s->captures[i].label);
    describe(&one, &s->captures[i]);
  }
  NAI_TRY(nai_buf_check(&first, err));
  return nai_check_text(out, c, *agrees ? &first : &one, err);
}

const struct nai_check *nai_comparison_obstacle(const struct nai_comparison *c) {
  for (uint32_t i = 0; i < c->check_count; i++)
    if (c->checks[i].level == NAI_CHECK_HARD && c->checks[i].scope == NAI_SCOPE_ALL)
      return &c->checks[i];
  return NULL;
}

int nai_fill_checks(struct nai_table *out, const struct nai_comparison *c, struct nai_err *err) {
  static const char *const scopes[] = {"everything", "numbers per step", NULL, ""};
  (void)err;
  for (uint32_t i = 0; i < c->check_count; i++) {
    const struct nai_check *check = &c->checks[i];
    NAI_ADD(COMPARED_CHECKS, out, .check = nai_check_name(check->code),
            .level = check->level == NAI_CHECK_HARD ? "hard" : "soft",
            .affects = check->scope == NAI_SCOPE_CAPABILITY ? check->capability : scopes[check->scope],
            .base = check->says[NAI_BASE], .new = check->says[NAI_CANDIDATE], .reason = check->reason);
  }
  return NAI_OK;
}
