#define PCRE2_CODE_UNIT_WIDTH 8

#include "config/patterns.h"

#include "base/array.h"
#include "base/hash.h"

#include <pcre2.h>
#include <stdatomic.h>

enum {
  REGEX_MAX = 256,          /* regular expressions in a set */
  REGEX_LENGTH_MAX = 1000,  /* bytes of one */
  REGEX_SUBJECT_MAX = 4096, /* bytes of a name they look at: bounds expressions whose cost is quadratic */
  REGEX_MATCH_LIMIT = 20000,
  JIT_SIZE_MAX = 8192, /* compiled size worth machine code; larger ones are interpreted */
  MESSAGE_SIZE = 128
};

struct pattern {
  int class;
  char *text; /* substring in lower case, or the expression */
  size_t len;
  uint16_t pair;     /* of a substring: which first two bytes (pair_of) */
  pcre2_code *regex; /* NULL for a substring */
  uint32_t file;     /* of `files` */
  uint32_t line, column;
};

struct nai_patterns {
  struct nai_strings classes, files;
  struct pattern *patterns;
  int count, regex_count;
  uint32_t capacity;
  pcre2_compile_context *compile_context;
  pcre2_match_context *match_context;
  atomic_int gave_up; /* lowest pattern that ran into its limit, INT_MAX while none did */
  atomic_bool oom;
  bool interpreted; /* none gets machine code */
};

int nai_patterns_new(struct nai_patterns **out, struct nai_err *err) {
  NAI_OWNED(nai_patterns) *set = calloc(1, sizeof *set);
  *out = NULL;
  NAI_TRY(nai_memory_check(set, err));
  atomic_init(&set->gave_up, INT32_MAX);
  set->compile_context = pcre2_compile_context_create(NULL);
  set->match_context = pcre2_match_context_create(NULL);
  NAI_TRY(nai_memory_check(set->compile_context && set->match_context, err));
  pcre2_set_max_pattern_length(set->compile_context, REGEX_LENGTH_MAX);
  pcre2_set_parens_nest_limit(set->compile_context, 32);
  pcre2_set_match_limit(set->match_context, REGEX_MATCH_LIMIT);
  pcre2_set_depth_limit(set->match_context, REGEX_MATCH_LIMIT);
  pcre2_set_heap_limit(set->match_context, 4096); /* KiB */
  return NAI_GIVE(out, set);
}

void nai_patterns_interpret(struct nai_patterns *set) { set->interpreted = true; }

void nai_patterns_free(struct nai_patterns *set) {
  if (!set)
    return;
  for (int i = 0; i < set->count; i++) {
    free(set->patterns[i].text);
    pcre2_code_free(set->patterns[i].regex);
  }
  free(set->patterns);
  nai_strings_free(&set->classes);
  nai_strings_free(&set->files);
  pcre2_compile_context_free(set->compile_context);
  pcre2_match_context_free(set->match_context);
  free(set);
}

/* Only ASCII letters have a case here: the result must not depend on a locale. */
static void lower(char *out, const char *text, size_t len) {
  for (size_t i = 0; i < len; i++)
    out[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
}

/* Pairs of neighbouring bytes that a name has: most substrings are ruled out by their first two. */
enum { PAIRS = 1024, MIN_SUBSTRINGS = 6 /* of a set, for that to be cheaper */ };
struct pairs {
  uint64_t bits[PAIRS / 64];
};

static uint16_t pair_of(const char *text) {
  return (uint16_t)(((unsigned char)text[0] * 37 + (unsigned char)text[1]) % PAIRS);
}

static void note_pairs(struct pairs *pairs, const char *text, size_t len) {
  memset(pairs, 0, sizeof *pairs);
  for (size_t i = 0; i + 1 < len; i++)
    pairs->bits[pair_of(text + i) / 64] |= UINT64_C(1) << pair_of(text + i) % 64;
}

static bool may_hold(const struct pairs *pairs, const struct pattern *pattern) {
  return pattern->len < 2 || pairs->bits[pattern->pair / 64] & UINT64_C(1) << pattern->pair % 64;
}

/* *offset = where in the expression the mistake that `message` tells is; NAI_EUSAGE for one. */
static int compile_regex(pcre2_code **out, PCRE2_UCHAR message[MESSAGE_SIZE], PCRE2_SIZE *offset,
                         const struct nai_patterns *set, const char *text, struct nai_err *err) {
  int code;
  *out = pcre2_compile((PCRE2_SPTR)text, strlen(text), PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
                       &code, offset, set->compile_context);
  if (!*out) {
    if (code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED)
      return nai_err_nomem(err);
    pcre2_get_error_message(code, message, MESSAGE_SIZE);
    return NAI_EUSAGE;
  }
  size_t size = 0;
  pcre2_pattern_info(*out, PCRE2_INFO_SIZE, &size);
  if (size <= JIT_SIZE_MAX && !set->interpreted)
    (void)pcre2_jit_compile(*out, PCRE2_JIT_COMPLETE); /* without it the interpreter does the same work */
  return 0;
}

/* Adds a pattern of the class `class_name`, whose expression is not compiled yet. */
static int add(struct pattern **out, struct nai_patterns *set, const char *class_name, const char *file,
               const char *text, struct nai_err *err) {
  uint32_t origin = nai_strings_add(&set->files, file, strlen(file));
  uint32_t class = nai_strings_add(&set->classes, class_name, strlen(class_name));
  if (origin == NAI_NO_STRING || class == NAI_NO_STRING ||
      !nai_array_room(&set->patterns, &set->capacity, (uint32_t)set->count, sizeof *set->patterns))
    return nai_err_nomem(err);
  struct pattern added = {.class = (int)class, .file = origin, .line = 1, .column = 1, .len = strlen(text)};
  added.text = strdup(text);
  NAI_TRY(nai_memory_check(added.text, err));
  *out = &set->patterns[set->count];
  set->patterns[set->count++] = added;
  return NAI_OK;
}

static int add_pattern(struct nai_patterns *set, const char *class_name, const struct nai_yaml *doc,
                       const struct nai_yaml_node *node, struct nai_err *err) {
  const char *text;
  struct pattern *added;
  PCRE2_SIZE offset = 0;
  PCRE2_UCHAR message[MESSAGE_SIZE];
  NAI_TRY(nai_yaml_text(&text, doc, node, err));
  if (set->count == NAI_PATTERNS_MAX)
    return nai_yaml_error(doc, node, err, "more than %d patterns", NAI_PATTERNS_MAX);
  bool regex = strncmp(text, "re:", 3) == 0;
  text += regex ? 3 : 0;
  if (!*text)
    return nai_yaml_error(doc, node, err, "empty regular expression");
  NAI_TRY(add(&added, set, class_name, doc->file, text, err));
  added->line = node->line;
  added->column = node->column;
  if (!regex) {
    lower(added->text, text, added->len);
    added->pair = pair_of(added->text);
    return NAI_OK;
  }
  if (++set->regex_count > REGEX_MAX)
    return nai_yaml_error(doc, node, err, "more than %d regular expressions", REGEX_MAX);
  int rc = compile_regex(&added->regex, message, &offset, set, text, err);
  return rc == NAI_EUSAGE ? nai_yaml_error_in(doc, node, 3 + offset, err, "bad regular expression: %s", (char *)message)
                          : rc;
}

int nai_patterns_add_class(struct nai_patterns *set, const char *class_name, const struct nai_yaml *doc,
                           const struct nai_yaml_node *node, struct nai_err *err) {
  if (nai_strings_add(&set->classes, class_name, strlen(class_name)) == NAI_NO_STRING) /* perhaps without patterns */
    return nai_err_nomem(err);
  if (node->kind == NAI_YAML_SCALAR)
    return add_pattern(set, class_name, doc, node, err);
  NAI_TRY(nai_yaml_expect(doc, node, NAI_YAML_LIST, err));
  for (const struct nai_yaml_node *item = nai_yaml_first(doc, node); item; item = nai_yaml_next(doc, item))
    NAI_TRY(add_pattern(set, class_name, doc, item, err));
  return NAI_OK;
}

int nai_patterns_add_regex(struct nai_patterns *set, const char *class_name, const char *origin, const char *regex,
                           struct nai_err *err) {
  struct pattern *added;
  PCRE2_SIZE offset = 0;
  PCRE2_UCHAR message[MESSAGE_SIZE];
  if (!*regex)
    return nai_err_set(err, NAI_EUSAGE, "%s: empty regular expression", origin);
  NAI_TRY(add(&added, set, class_name, origin, regex, err));
  set->regex_count++;
  int rc = compile_regex(&added->regex, message, &offset, set, regex, err);
  return rc == NAI_EUSAGE ? nai_err_set(err, NAI_EUSAGE, "%s \"%.200s\": bad regular expression at character %zu: %s",
                                        origin, regex, (size_t)offset + 1, (char *)message)
                          : rc;
}

int nai_patterns_add(struct nai_patterns *set, const struct nai_yaml *doc, struct nai_err *err) {
  const struct nai_yaml_node *root = nai_yaml_root(doc);
  NAI_TRY(nai_yaml_expect(doc, root, NAI_YAML_MAP, err));
  if (!root->count)
    return nai_yaml_error(doc, root, err, "no patterns");
  for (const struct nai_yaml_node *entry = nai_yaml_first(doc, root); entry; entry = nai_yaml_next(doc, entry))
    NAI_TRY(nai_patterns_add_class(set, entry->key, doc, entry, err));
  return NAI_OK;
}

int nai_patterns_load(struct nai_patterns **set, uint64_t *hash, const char *path, bool builtin, struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = NULL;
  if (!*set)
    NAI_TRY(nai_patterns_new(set, err));
  NAI_TRY(builtin ? nai_yaml_load_builtin(&doc, path, err) : nai_yaml_load(&doc, path, err));
  *hash = nai_hash_int(*hash, (int64_t)doc->hash);
  return nai_patterns_add(*set, doc, err);
}

/* Whether the expression matches; -1 when it gave up. Out of memory, nothing matches: nai_patterns_check tells. *data
 * is made when first needed. */
static int match_regex(struct nai_patterns *set, const struct pattern *pattern, pcre2_match_data **data,
                       const char *name, size_t len) {
  int rc = PCRE2_ERROR_NOMEMORY;
  if (!*data)
    *data = pcre2_match_data_create(1, NULL);
  if (*data)
    rc = pcre2_match(pattern->regex, (PCRE2_SPTR)name, len < REGEX_SUBJECT_MAX ? len : REGEX_SUBJECT_MAX, 0, 0, *data,
                     set->match_context);
  if (rc == PCRE2_ERROR_NOMEMORY) {
    atomic_store(&set->oom, true);
    return 0;
  }
  return rc >= 0 ? 1 : rc == PCRE2_ERROR_NOMATCH ? 0 : -1;
}

static int match(const struct nai_patterns *set, pcre2_match_data **data, const char *name) {
  char folded[NAI_PATTERN_SUBJECT_MAX];
  size_t len = strnlen(name, sizeof folded);
  lower(folded, name, len);
  bool filter = set->count - set->regex_count >= MIN_SUBSTRINGS;
  struct pairs pairs;
  if (filter)
    note_pairs(&pairs, folded, len);
  /* Patterns behind one that gave up no longer matter: the run will end with nai_patterns_check. Keeping the lowest
   * makes the message independent of the order in which threads meet the names. */
  atomic_int *gave_up = &((struct nai_patterns *)set)->gave_up;
  for (int i = 0; i < set->count && i < atomic_load_explicit(gave_up, memory_order_relaxed); i++) {
    const struct pattern *pattern = &set->patterns[i];
    if (!pattern->regex) {
      if ((!filter || may_hold(&pairs, pattern)) && memmem(folded, len, pattern->text, pattern->len))
        return pattern->class;
      continue;
    }
    int matched = match_regex((struct nai_patterns *)set, pattern, data, name, len);
    if (matched > 0)
      return pattern->class;
    int lowest = atomic_load(gave_up);
    while (matched < 0 && i < lowest && !atomic_compare_exchange_weak(gave_up, &lowest, i))
      ;
  }
  return -1;
}

int nai_patterns_match(const struct nai_patterns *set, const char *name) {
  pcre2_match_data *data = NULL;
  int class = match(set, &data, name);
  pcre2_match_data_free(data);
  return class;
}

int nai_patterns_check(const struct nai_patterns *set, struct nai_err *err) {
  int i = atomic_load(&((struct nai_patterns *)set)->gave_up);
  if (atomic_load(&((struct nai_patterns *)set)->oom))
    return nai_err_nomem(err);
  if (i >= set->count)
    return 0;
  const struct pattern *pattern = &set->patterns[i];
  return nai_err_set(err, NAI_EUSAGE, "%s:%u:%u: regular expression \"%.200s\" takes too long on a name of this trace",
                     nai_strings_get(&set->files, pattern->file), pattern->line, pattern->column, pattern->text);
}

int nai_patterns_class_count(const struct nai_patterns *set) { return (int)set->classes.count; }

const char *nai_patterns_class(const struct nai_patterns *set, int index) {
  return nai_strings_get(&set->classes, (uint32_t)index);
}
