#include "features/compare/kernel_key.h"
#include "base/text.h"

const char *nai_match_level_name(enum nai_match_level level) {
  static const char *const names[NAI_LEVEL_COUNT] = {"name", "toolchain", "tuning", "call site", "place", "category"};
  return names[level];
}

const char *nai_match_level_confidence(enum nai_match_level level) {
  static const char *const words[NAI_LEVEL_COUNT] = {"certain", "high", "medium", "medium", "low", "low"};
  return words[level];
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool starts(const char *at, const char *end, const char *word) {
  size_t n = strlen(word);
  return (size_t)(end - at) >= n && memcmp(at, word, n) == 0;
}

/* --- L1: toolchain ---------------------------------------------------------------------------- */

/* A cast in front of a number, "(unsigned long)4", "(bool)0": its length; 0 for anything else. */
static size_t cast_length(const char *at, const char *end) {
  static const char *const types[] = {"int",           "bool",      "unsigned int",       "unsigned", "long",
                                      "unsigned long", "short",     "unsigned short",     "char",     "signed char",
                                      "unsigned char", "long long", "unsigned long long", NULL};
  const char *close = at < end && *at == '(' ? memchr(at, ')', (size_t)(end - at)) : NULL;
  const char *number = close ? close + 1 : end;
  if (!close || number >= end || !(is_digit(*number) || (*number == '-' && number + 1 < end && is_digit(number[1]))))
    return 0;
  return nai_text_is_one(at + 1, (size_t)(close - at - 1), types) ? (size_t)(number - at) : 0;
}

/* Digits with a suffix of C++ literals, "4ul": appended without it. Returns how much was read. */
static size_t put_number(struct nai_buf *out, const char *at, const char *end) {
  const char *p = at;
  while (p < end && is_digit(*p))
    p++;
  nai_buf_put(out, at, (size_t)(p - at));
  const char *suffix = p;
  while (suffix < end && strchr("uUlL", *suffix) && suffix - p < 3)
    suffix++;
  return (size_t)((suffix == end || !is_word(*suffix) ? suffix : p) - at);
}

/* Ways in which compilers write the namespace without a name. */
static size_t anonymous_length(const char *at, const char *end) {
  static const char *const words[] = {"(anonymous namespace)", "<unnamed>", "{anonymous}", "`anonymous-namespace'"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (starts(at, end, words[i]))
      return strlen(words[i]);
  return 0;
}

/* A token at a place where a word begins that is replaced: its length, with what replaces it. */
static size_t fixed_length(const char **by, const char *at, const char *end) {
  size_t n = anonymous_length(at, end);
  *by = "(anonymous)";
  if (n)
    return n;
  *by = "";
  if (starts(at, end, "[abi:")) {
    const char *close = memchr(at, ']', (size_t)(end - at));
    return close ? (size_t)(close + 1 - at) : 0;
  }
  return 0;
}

/* true and false of template arguments, as numbers. */
static size_t truth_length(const char **by, const char *at, const char *end) {
  size_t n = starts(at, end, "true") ? 4 : starts(at, end, "false") ? 5 : 0;
  *by = n == 4 ? "1" : "0";
  return n && (at + n == end || !is_word(at[n])) ? n : 0;
}

/* Address or other number in hex: "0x7f12" becomes "0x". */
static size_t hex_length(const char *at, const char *end) {
  const char *p = at + 2;
  if (!starts(at, end, "0x"))
    return 0;
  while (p < end && isxdigit((unsigned char)*p))
    p++;
  return p > at + 2 ? (size_t)(p - at) : 0;
}

/* Where the name ends without Triton's specialisation, "__0d1d2de" or "_0d1d2de". */
static size_t without_specialisation(const char *name, size_t len) {
  size_t at = len, ds = 0;
  while (at > 0 && (is_digit(name[at - 1]) || strchr("dce", name[at - 1]))) {
    at--;
    ds += name[at] == 'd';
  }
  if (!ds || at == len || !is_digit(name[at]) || at == 0 || name[at - 1] != '_')
    return len;
  while (at > 1 && name[at - 1] == '_')
    at--;
  return at;
}

/* Where an Inductor kernel's name ends without its number and the hash of its text. */
static size_t without_index(const char *name, size_t len) {
  for (int part = 0; part < 2; part++) {
    size_t at = len, digits = 0;
    while (at > 0 && (is_digit(name[at - 1]) || (name[at - 1] >= 'a' && name[at - 1] <= 'z')))
      digits += is_digit(name[--at]);
    size_t n = len - at;
    bool number = digits == n && n > 0, hash = n >= 8 && digits >= 2 && digits < n;
    if (at < 2 || name[at - 1] != '_' || !(number || hash))
      return len;
    len = at - 1;
  }
  return len;
}

void nai_kernel_key_toolchain(struct nai_buf *out, const char *name, size_t len) {
  size_t skip = len > 5 && memcmp(name, "void ", 5) == 0 ? 5 : 0;
  const char *at = name + skip, *by;
  if (len > 7 && memcmp(name, "triton_", 7) == 0)
    len = without_index(name, without_specialisation(name, len));
  else if (!memchr(name, '(', len) && !memchr(name, '<', len))
    len = without_specialisation(name, len);
  for (const char *end = name + len; at < end;) {
    bool begins = at == name + skip || !is_word(at[-1]);
    size_t n = fixed_length(&by, at, end);
    if (!n && begins)
      n = truth_length(&by, at, end);
    if (n) {
      nai_buf_puts(out, by);
      at += n;
    } else if ((n = cast_length(at, end)) > 0) {
      at += n;
    } else if (begins && (n = hex_length(at, end)) > 0) {
      nai_buf_puts(out, "0x");
      at += n;
    } else if (begins && is_digit(*at)) {
      at += put_number(out, at, end);
    } else if (*at == ' ' && (at + 1 == end || strchr("*&>,)", at[1]) || (at > name && strchr(",<( ", at[-1])))) {
      at++; /* spaces that only some demanglers write */
    } else {
      nai_buf_putc(out, *at++);
    }
  }
}

/* --- L2: tuning ------------------------------------------------------------------------------- */

/* Where the call signature begins: the last "(" at depth 0, when it closes the name. */
static size_t without_signature(const char *name, size_t len) {
  int depth = 0;
  size_t end = len;
  if (end >= 6 && memcmp(name + end - 6, " const", 6) == 0)
    end -= 6;
  if (!end || name[end - 1] != ')')
    return len;
  for (size_t at = end; at > 0; at--) {
    depth += name[at - 1] == ')' ? 1 : name[at - 1] == '(' ? -1 : 0;
    if (depth == 0)
      return at > 1 && !(at > 10 && memcmp(name + at - 11, "operator()", 10) == 0) ? at - 1 : len;
  }
  return len;
}

/* "128x64", "16x8x16". */
static bool is_tile(const char *token, size_t n) {
  size_t x = 0;
  for (size_t i = 0; i < n; i++) {
    if (token[i] == 'x' && i > 0 && is_digit(token[i - 1]))
      x++;
    else if (!is_digit(token[i]))
      return false;
  }
  return x > 0 && is_digit(token[n - 1]);
}

static bool word_with_number(const char *token, size_t n, const char *word) {
  size_t m = strlen(word);
  if (n <= m || memcmp(token, word, m) != 0)
    return false;
  for (size_t i = m; i < n; i++)
    if (!is_digit(token[i]) && token[i] != 'x')
      return false;
  return true;
}

/* A part of a library kernel's name that an autotuner chooses. */
static bool is_tuning(const char *token, size_t n) {
  static const char *const words[] = {
      "stages",        "warpspecialized", "pingpong", "cooperative", "ws", "RING",  "TREE",   "NVLS", "NVLSTREE",
      "COLLNETDIRECT", "COLLNETCHAIN",    "COLLNET",  "PAT",         "LL", "LL128", "SIMPLE", NULL};
  static const char *const numbered[] = {"tilesize", "stage",         "stages", "cluster", "align", "splitk", "splitK",
                                         "warpsize", "warpgroupsize", "tensor", "ldg",     "warps", "num",    "sliced"};
  if (is_tile(token, n) || nai_text_is_one(token, n, words))
    return true;
  for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
    if (word_with_number(token, n, numbered[i]))
      return true;
  return false;
}

/* nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN: library, types, epilogue and transposes stay. */
static bool nvjet_keeps(const char *token, size_t n, int index) {
  static const char *const kept[] = {"bias", "relu", "gelu", "silu", "aux", "drelu", "dgelu", "Avec", "Bvec", NULL};
  bool letters = n == 3;
  for (size_t i = 0; i < n; i++)
    letters &= token[i] == 'N' || token[i] == 'T';
  return index < 2 || letters || nai_text_is_one(token, n, kept);
}

/* A word of [A-Za-z0-9_] without the parts between underscores that tuners choose. */
static void put_word(struct nai_buf *out, const char *word, size_t len) {
  bool nvjet = len > 6 && memcmp(word, "nvjet_", 6) == 0;
  int index = 0;
  for (size_t at = 0, n; at <= len; at += n + 1, index++) {
    for (n = 0; at + n < len && word[at + n] != '_';)
      n++;
    if (index && n && (nvjet ? !nvjet_keeps(word + at, n, index) : is_tuning(word + at, n)))
      continue;
    if (index)
      nai_buf_putc(out, '_');
    nai_buf_put(out, word + at, n);
  }
}

/* " (instance 3)" and "#3" of lambdas: their length. */
static size_t instance_length(const char *at, const char *end) {
  const char *p = at + (starts(at, end, " (instance ") ? 11 : starts(at, end, "#") ? 1 : 0);
  const char *first = p;
  while (p > at && p < end && is_digit(*p))
    p++;
  if (p == first)
    return 0;
  return *at == '#' ? (size_t)(p - at) : p < end && *p == ')' ? (size_t)(p + 1 - at) : 0;
}

/* An integer that is a whole template argument: its length. */
static size_t literal_length(const char *name, const char *at, const char *end) {
  const char *p = at + (*at == '-'), *first = p;
  if (at == name || !strchr("<,", at[-1]))
    return 0;
  while (p < end && is_digit(*p))
    p++;
  return p > first && p < end && strchr(",>", *p) ? (size_t)(p - at) : 0;
}

void nai_kernel_key_tuning(struct nai_buf *out, const char *name, size_t len) {
  const char *end = name + without_signature(name, len), *at = name;
  while (at < end) {
    size_t n = instance_length(at, end);
    if (n) {
      at += n;
    } else if ((n = literal_length(name, at, end)) > 0) {
      nai_buf_putc(out, '#');
      at += n;
    } else if (is_word(*at)) {
      for (n = 1; at + n < end && is_word(at[n]);)
        n++;
      put_word(out, at, n);
      at += n;
    } else {
      nai_buf_putc(out, *at++);
    }
  }
}

/* --- type of data ----------------------------------------------------------------------------- */

const char *nai_kernel_key_type(const char *name) {
  static const struct {
    const char *word, *type;
  } types[] = {{"bfloat16", "bf16"}, {"BFloat16", "bf16"}, {"bf16", "bf16"}, {"e4m3", "f8"},  {"e5m2", "f8"},
               {"fp8", "f8"},        {"half", "f16"},      {"Half", "f16"},  {"fp16", "f16"}, {"f16", "f16"},
               {"double", "f64"},    {"f64", "f64"},       {"float", "f32"}, {"f32", "f32"},  {"sgemm", "f32"},
               {"int8", "i8"},       {"s8", "i8"}};
  const char *first = NULL, *type = "";
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    const char *at = strstr(name, types[i].word);
    if (at && (!first || at < first)) {
      first = at;
      type = types[i].type;
    }
  }
  return type;
}
