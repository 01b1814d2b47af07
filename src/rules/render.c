/* Texts with the values of the rows they are about. */
#include "base/text.h"
#include "base/fmt.h"
#include "rules/evaluation.h"
#include "table/kernel_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a text value: a name can be megabytes long, a sentence cannot. */
enum { SHORT_MAX = 72, VALUE_MAX = 240 };

void nai_number_print(struct nai_buf *out, double number) {
  struct nai_buf text = {0};
  nai_fmt_real(&text, number, 6);
  while (text.len && text.data[text.len - 1] == '0')
    text.len--;
  if (text.len && text.data[text.len - 1] == '.')
    text.len--;
  nai_buf_put(out, nai_buf_str(&text), text.len);
  out->oom |= text.oom;
  nai_buf_free(&text);
}

static void put_shell_word(struct nai_buf *out, const char *text, size_t len) {
  static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+,-";
  size_t run = 0;
  while (run < len && text[run] && strchr(safe, text[run]))
    run++;
  if (len && run == len && *text != '-') {
    nai_buf_put(out, text, len);
    return;
  }
  nai_buf_putc(out, '\'');
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '\'')
      nai_buf_puts(out, "'\\''");
    else
      nai_buf_putc(out, text[i]);
  }
  nai_buf_putc(out, '\'');
}

static void put_text(struct nai_buf *out, const struct env *env, const char *text, enum text_mode mode) {
  size_t whole = strlen(text), len = nai_text_prefix(text, whole, VALUE_MAX);
  if (mode == TEXT_SHELL) {
    put_shell_word(out, text, len);
    return;
  }
  if (mode == TEXT_PROSE && env->input->escape)
    env->input->escape(out, text, len);
  else
    nai_buf_put(out, text, len);
  if (len < whole)
    nai_buf_puts(out, "...");
}

static void put_filtered(struct nai_buf *out, const struct env *env, enum filter filter, const char *text,
                         enum text_mode mode) {
  struct nai_buf name = {0};
  nai_kernel_name_short(&name, text, filter == FILTER_SHORT ? SHORT_MAX : VALUE_MAX);
  if (filter == FILTER_FUNCTION && name.len)
    name.data[strcspn(name.data, "<[ ")] = '\0';
  put_text(out, env, nai_buf_str(&name), mode);
  out->oom |= name.oom;
  nai_buf_free(&name);
}

/* "34 calls", "1 copy". */
static void put_counted(struct nai_buf *out, const struct ref *ref, const struct nai_value *count) {
  nai_value_print_human(out, ref->unit, count);
  nai_buf_putc(out, ' ');
  nai_fmt_noun(out, count->type == NAI_I64 && count->i == 1, ref->noun, ref->noun_len);
}

static void put_value(struct nai_buf *out, const struct env *env, const struct ref *ref, enum text_mode mode) {
  struct nai_value value = nai_env_value(env, ref);
  if (value.null)
    nai_buf_puts(out, "n/a");
  else if (ref->filter == FILTER_NOUN)
    put_counted(out, ref, &value);
  else if (value.type == NAI_STR && ref->filter)
    put_filtered(out, env, ref->filter, value.s, mode);
  else if (value.type == NAI_STR)
    put_text(out, env, value.s, mode);
  else if (ref->kind == REF_PARAMETER)
    nai_number_print(out, value.f);
  else if (ref->kind == REF_STAKE && ref->unit == NAI_NS)
    nai_fmt_duration(out, (double)value.i);
  else if (mode != TEXT_SHELL)
    nai_value_print_human(out, ref->unit, &value);
  else if (ref->unit == NAI_TIMESTAMP_NS)
    nai_fmt_scaled(out, value.i, 9); /* seconds, as --trim takes them */
  else
    nai_value_print(out, ref->unit, &value);
}

void nai_text_render(struct nai_buf *out, const struct env *env, struct span pieces, enum text_mode mode) {
  for (uint32_t i = 0; i < pieces.count; i++) {
    const struct ref *piece = POOL_AT(env->set->pieces, struct ref, pieces.first + i);
    if (piece->kind == REF_TEXT)
      nai_buf_put(out, piece->text, piece->text_len);
    else
      put_value(out, env, piece, mode);
  }
}

/* Texts that are items of a Markdown list stay one list: no empty line between them. */
static bool starts_list_item(const struct env *env, struct span pieces) {
  const struct ref *first = pieces.count ? POOL_AT(env->set->pieces, struct ref, pieces.first) : NULL;
  return first && first->kind == REF_TEXT && first->text_len >= 2 && memcmp(first->text, "- ", 2) == 0;
}

void nai_variants_render(struct nai_buf *out, const struct env *env, struct span variants, enum text_mode mode,
                         const char *separator) {
  bool held = false, in_list = false;
  size_t start = out->len;
  for (uint32_t i = 0; i < variants.count; i++) {
    const struct variant *variant = POOL_AT(env->set->variants, struct variant, variants.first + i);
    bool conditional = variant->when.number > 0;
    if (variant->otherwise ? held : !nai_formula_holds(env, variant->when))
      continue;
    held |= conditional;
    bool item = starts_list_item(env, variant->pieces);
    if (out->len > start)
      nai_buf_puts(out, in_list && item ? "\n" : separator);
    in_list = item;
    nai_text_render(out, env, variant->pieces, mode);
  }
}
