/* Text that came from outside. */
#pragma once

#include "base/buf.h"

/* Whether `text` may stand in any output as it is: valid UTF-8 without C0/C1 controls, DEL, NUL,
 * line/paragraph separators, bidi controls or other invisible format characters. Pure ASCII is checked 8 bytes at a
 * time. */
bool nai_text_is_clean(const char *text, size_t len);
/* Bytes of the character with which valid UTF-8 begins, and the character, where nai_text_is_clean refuses it; else 0.
 */
size_t nai_text_hidden(uint32_t *c, const char *text, size_t len);
/* Appends `text` cleaned: tab, newline and separators become one space; other control, bidi and invisible characters
 * are shown as U+XXXX in angle-free form `\u{202e}`; invalid bytes become U+FFFD. The result satisfies
 * nai_text_is_clean. */
void nai_text_clean(struct nai_buf *out, const char *text, size_t len);
/* Appends `text` with U+FFFD in place of each invalid byte: valid UTF-8, otherwise as it was. */
void nai_text_repair(struct nai_buf *out, const char *text, size_t len);
/* Largest prefix length <= max that does not cut a UTF-8 sequence of clean text. */
size_t nai_text_prefix(const char *text, size_t len, size_t max);
/* Appends clean text, at most `max` code points of it: the middle of a longer one is left out. */
void nai_text_cut(struct nai_buf *out, const char *text, size_t len, size_t max);
size_t nai_text_chars(const char *text, size_t len); /* code points of clean text */
/* Appends lines of clean text and a line feed, each in as many lines of `width` columns (0: any) as that needs: words
 * stay whole, a number stays with its unit, and what goes on begins with `indent` blanks. */
void nai_text_wrap(struct nai_buf *out, const char *text, size_t len, int indent, int width);
/* Whether text[0, len) is one of some words, and whether a text begins with one: nai_text_begins(path, NAI_WORDS("a/",
 * "b/")). */
#define NAI_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
bool nai_text_is_one(const char *text, size_t len, const char *const *words);
bool nai_text_begins(const char *text, const char *const *words);
/* Whether a text ends in another one. */
static inline bool nai_text_ends(const char *text, const char *end) {
  size_t len = strlen(text), tail = strlen(end);
  return len >= tail && memcmp(text + len - tail, end, tail) == 0;
}
/* Appends `text` with every run of digits as '#': "blocks.3" and "blocks.22" are both "blocks.#".
 * What counts dimensions is a part of the word: "conv2d", "AllToAll4D". */
void nai_text_fold_digits(struct nai_buf *out, const char *text);
/* Damerau-Levenshtein distance for "did you mean" suggestions; at most 64 characters are compared. */
int nai_text_distance(const char *a, const char *b);
/* The nearest of `count` candidates if it is near enough to be a typing mistake, else NULL. */
const char *nai_text_suggest(const char *word, const char *const *candidates, size_t count);
