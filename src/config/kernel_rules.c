#include "config/kernel_rules.h"

#include "base/arena.h"
#include "base/assets.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "config/kernel_parts.h"

enum { MAX_BYTES = 1 << 20, MAX_PATTERN = 64 };

/* Where patterns look, the most telling first. */
enum where { NAME, PATH, TEMPLATE, NAMESPACE, ARGUMENTS, GENERATOR, PLACES };
static const char *const places[PLACES] = {"name", "path", "template", "namespace", "arguments", "generator"};

struct pattern {
  const char *text; /* letters and digits in lower case */
  const char *said; /* as it is in the file */
  uint64_t edges;   /* bit i: a word of it begins at character i */
  uint16_t len;
  uint8_t where;
  bool open_left, open_right; /* matches a part of a word, too */
  bool first, last;           /* only at the beginning, at the end of the part */
};

/* Its patterns and examples lie together, from the first. */
struct rule {
  const char *source;
  int category;
  uint32_t line, wanted; /* bits by place: one pattern of each has to match */
  uint32_t first_pattern, pattern_count, first_example, example_count;
};

struct nai_kernel_rules {
  struct nai_arena arena;
  struct rule *rules;
  struct pattern *patterns;
  struct nai_kernel_example *examples;
  uint32_t count, capacity, pattern_count, pattern_capacity, example_count, example_capacity;
};

/* --- reading --------------------------------------------------------------------------------- */

struct reading {
  struct nai_kernel_rules *set;
  struct nai_strings *categories;
  const char *file;
  uint32_t line;
  bool builtin;
};

static int add_pattern(struct reading *r, struct rule *rule, int where, const char *said, struct nai_err *err) {
  struct nai_kernel_rules *set = r->set;
  struct nai_kernel_words words;
  size_t len = strlen(said);
  bool left = strchr("*^", *said), right = strchr("*$", said[len - 1]);
  if (len > MAX_PATTERN)
    return nai_err_set(err, NAI_EUSAGE, "%s:%u: a pattern of more than %d characters", r->file, r->line, MAX_PATTERN);
  if (len <= (size_t)left + right || strcspn(said + left, "*^$") < len - left - right)
    return nai_err_set(err, NAI_EUSAGE, "%s:%u: \"%.100s\": * ^ $ stand before or behind words", r->file, r->line,
                       said);
  nai_kernel_words_of(&words, said + left, len - left - right);
  char *text;
  uint32_t kept = words.part[NAI_KERNEL_PART_NAME].to;
  NAI_TRY(NAI_NEW(text, &set->arena, kept + 1, err));
  memcpy(text, words.text, kept);
  uint64_t edges = 0;
  for (uint32_t e = 0; e < words.edge_count; e++)
    edges |= words.edges[e] < MAX_PATTERN ? UINT64_C(1) << words.edges[e] : 0;
  NAI_TRY(NAI_ROOM(set->patterns, set->pattern_capacity, set->pattern_count, &set->arena, err));
  set->patterns[set->pattern_count++] = (struct pattern){.text = text,
                                                         .said = said,
                                                         .edges = edges,
                                                         .len = (uint16_t)kept,
                                                         .where = (uint8_t)where,
                                                         .open_left = *said == '*',
                                                         .open_right = said[len - 1] == '*',
                                                         .first = *said == '^',
                                                         .last = said[len - 1] == '$'};
  rule->pattern_count++;
  rule->wanted |= 1u << where;
  return kept ? NAI_OK : nai_err_set(err, NAI_EUSAGE, "%s:%u: no word in \"%.100s\"", r->file, r->line, said);
}

static int add_example(struct reading *r, struct rule *rule, const char *example, struct nai_err *err) {
  struct nai_kernel_rules *set = r->set;
  NAI_TRY(NAI_ROOM(set->examples, set->example_capacity, set->example_count, &set->arena, err));
  set->examples[set->example_count++] = (struct nai_kernel_example){example, r->line};
  rule->example_count++;
  return NAI_OK;
}

/* A line of a rule: "name small_reduce pooling*". */
static int add_line(struct reading *r, char *line, struct nai_err *err) {
  struct rule *rule = r->set->count ? &r->set->rules[r->set->count - 1] : NULL;
  char *rest = line + strcspn(line, " "), *mark;
  if (!rule)
    return nai_err_set(err, NAI_EUSAGE, "%s:%u: a rule begins with its category, not indented", r->file, r->line);
  if (*rest)
    *rest++ = '\0';
  rest += strspn(rest, " ");
  if (!*rest)
    return nai_err_set(err, NAI_EUSAGE, "%s:%u: nothing behind \"%.100s\"", r->file, r->line, line);
  if (strcmp(line, "source") == 0)
    return rule->source = rest, NAI_OK;
  if (strcmp(line, "example") == 0)
    return add_example(r, rule, rest, err);
  for (int where = 0; where < PLACES; where++) {
    if (strcmp(line, places[where]) != 0)
      continue;
    for (char *word = strtok_r(rest, " ", &mark); word; word = strtok_r(NULL, " ", &mark))
      NAI_TRY(add_pattern(r, rule, where, word, err));
    return NAI_OK;
  }
  return nai_err_set(err, NAI_EUSAGE,
                     "%s:%u: \"%.100s\" is none of source, example, name, path, template, namespace, arguments, "
                     "generator",
                     r->file, r->line, line);
}

static int add_rule(struct reading *r, const char *category, struct nai_err *err) {
  struct nai_kernel_rules *set = r->set;
  uint32_t id;
  NAI_TRY(nai_strings_put(&id, r->categories, category, err));
  NAI_TRY(NAI_ROOM(set->rules, set->capacity, set->count, &set->arena, err));
  set->rules[set->count++] = (struct rule){.source = "",
                                           .category = (int)id,
                                           .line = r->line,
                                           .first_pattern = set->pattern_count,
                                           .first_example = set->example_count};
  return NAI_OK;
}

/* The rule that ends here. */
static int check_rule(const struct reading *r, struct nai_err *err) {
  const struct rule *rule = r->set->count ? &r->set->rules[r->set->count - 1] : NULL;
  if (rule && !rule->wanted)
    return nai_err_set(err, NAI_EUSAGE, "%s:%u: a rule without patterns", r->file, rule->line);
  if (rule && r->builtin && (!*rule->source || rule->example_count < 2))
    return nai_err_set(err, NAI_EUSAGE, "%s:%u: a rule needs a source and two examples", r->file, rule->line);
  return NAI_OK;
}

static int parse(struct reading *r, char *text, struct nai_err *err) {
  for (char *line; (line = strsep(&text, "\n"));) {
    size_t len = strcspn(line, "\r");
    r->line++;
    for (char *tab = line; (tab = strchr(tab, '\t'));)
      *tab = ' ';
    while (len && line[len - 1] == ' ')
      len--;
    line[len] = '\0';
    char *begin = line + strspn(line, " ");
    if (!*begin || *begin == '#')
      continue;
    if (!nai_text_is_clean(begin, strlen(begin)))
      return nai_err_set(err, NAI_EUSAGE, "%s:%u: invisible characters, or no UTF-8", r->file, r->line);
    if (begin == line)
      NAI_TRY(check_rule(r, err));
    NAI_TRY(begin == line ? add_rule(r, begin, err) : add_line(r, begin, err));
  }
  NAI_TRY(check_rule(r, err));
  return r->set->count ? NAI_OK : nai_err_set(err, NAI_EUSAGE, "%s: no rules", r->file);
}

/* None is hidden behind another rule, or beside its patterns. */
static int try_examples(const struct nai_kernel_rules *set, const char *file, struct nai_err *err) {
  for (uint32_t i = 0; i < set->count; i++)
    for (uint32_t e = 0; e < set->rules[i].example_count; e++) {
      struct nai_kernel_example example = set->examples[set->rules[i].first_example + e];
      int decides = nai_kernel_rules_match(set, example.kernel_name);
      if (decides < 0)
        return nai_err_set(err, NAI_EUSAGE,
                           "%s:%u: \"%.200s\" is no example of its rule: no pattern of line %u ff. matches", file,
                           example.line, example.kernel_name, set->rules[i].line);
      if (decides != (int)i)
        return nai_err_set(err, NAI_EUSAGE,
                           "%s:%u: \"%.200s\" is decided by the rule of line %u, not by that of line %u", file,
                           example.line, example.kernel_name, set->rules[decides].line, set->rules[i].line);
    }
  return NAI_OK;
}

static int read_text(struct nai_buf *text, const char *path, bool builtin, struct nai_err *err) {
  if (!builtin)
    return nai_fs_read(text, path, MAX_BYTES, NAI_EUSAGE, err);
  const struct nai_asset *asset = nai_asset_find(path);
  if (!asset)
    return nai_err_set(err, NAI_EUSAGE, "%s is not built into this program", path);
  nai_buf_put_asset(text, asset);
  return nai_buf_check(text, err);
}

int nai_kernel_rules_load(struct nai_kernel_rules **out, uint64_t *hash, const char *path, bool builtin,
                          struct nai_strings *categories, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  NAI_OWNED(nai_kernel_rules) *set = calloc(1, sizeof *set);
  char *own;
  *out = NULL;
  NAI_TRY(nai_memory_check(set, err));
  NAI_TRY(read_text(&text, path, builtin, err));
  if (strlen(nai_buf_str(&text)) < text.len)
    return nai_err_set(err, NAI_EUSAGE, "%s: a NUL character", path);
  *hash = nai_hash_bytes(*hash, nai_buf_str(&text), text.len);
  NAI_TRY(NAI_NEW(own, &set->arena, text.len + 1, err));
  memcpy(own, nai_buf_str(&text), text.len);
  struct reading r = {.set = set, .categories = categories, .file = path, .builtin = builtin};
  NAI_TRY(parse(&r, own, err));
  if (!builtin)
    NAI_TRY(try_examples(set, path, err));
  return NAI_GIVE(out, set);
}

void nai_kernel_rules_free(struct nai_kernel_rules *set) {
  if (!set)
    return;
  nai_arena_free(&set->arena);
  free(set);
}

int nai_kernel_rules_count(const struct nai_kernel_rules *set) { return (int)set->count; }

struct nai_kernel_rule nai_kernel_rules_get(const struct nai_kernel_rules *set, int number) {
  const struct rule *rule = &set->rules[number];
  return (struct nai_kernel_rule){.category = rule->category,
                                  .source = rule->source,
                                  .line = rule->line,
                                  .examples = set->examples + rule->first_example,
                                  .example_count = rule->example_count};
}

/* --- matching -------------------------------------------------------------------------------- */

/* A stretch of the words: characters, and the edges from its beginning to its end. */
struct stretch {
  uint32_t from, to, first, last_edge;
};

static struct stretch stretch_of(const struct nai_kernel_words *w, enum where where) {
  static const struct {
    enum nai_kernel_part first, last;
  } parts[PLACES] = {[NAME] = {NAI_KERNEL_PART_NAME, NAI_KERNEL_PART_NAME},
                     [PATH] = {NAI_KERNEL_PART_NAMESPACE, NAI_KERNEL_PART_NAME},
                     [TEMPLATE] = {NAI_KERNEL_PART_TEMPLATE, NAI_KERNEL_PART_TEMPLATE},
                     [NAMESPACE] = {NAI_KERNEL_PART_NAMESPACE, NAI_KERNEL_PART_NAMESPACE},
                     [ARGUMENTS] = {NAI_KERNEL_PART_ARGUMENTS, NAI_KERNEL_PART_ARGUMENTS},
                     [GENERATOR] = {NAI_KERNEL_PART_GENERATOR, NAI_KERNEL_PART_GENERATOR}};
  enum nai_kernel_part first = parts[where].first, last = parts[where].last;
  return (struct stretch){w->part[first].from, w->part[last].to, w->part[first].first, w->part[last].last_edge};
}

/* Whether a pattern's characters, which are at `at`, are its words. From word to word it does not matter where words
 * between begin: all_reduce is allreduce. A part of a word is not made of parts of several: topk is not in
 * SplitOpKernel.
 */
static bool is_words(const struct pattern *p, const struct nai_kernel_words *w, struct stretch s, uint32_t at) {
  bool begins = w->edge[at], ends = w->edge[at + p->len];
  if ((!begins && !p->open_left) || (!ends && !p->open_right) || (p->first && at != s.from) ||
      (p->last && at + p->len != s.to))
    return false;
  for (uint32_t i = 1; i < p->len && !(begins && ends); i++)
    if (w->edge[at + i] && !(p->edges >> i & 1))
      return false;
  return true;
}

/* A pattern that begins with a word, or one that ends with one and may begin within it: at each edge. */
static bool match_at_edges(const struct pattern *p, const struct nai_kernel_words *w, struct stretch s) {
  uint32_t before = p->open_left ? p->len : 0;
  for (uint32_t e = s.first; e <= s.last_edge; e++) {
    uint32_t at = w->edges[e] - before;
    if (w->edges[e] >= s.from + before && at + p->len <= s.to && w->text[at] == *p->text &&
        memcmp(w->text + at, p->text, p->len) == 0 && is_words(p, w, s, at))
      return true;
  }
  return false;
}

static bool match_anywhere(const struct pattern *p, const struct nai_kernel_words *w, struct stretch s) {
  const char *at = w->text + s.from, *end = w->text + s.to;
  for (; (at = memmem(at, (size_t)(end - at), p->text, p->len)); at++)
    if (is_words(p, w, s, (uint32_t)(at - w->text)))
      return true;
  return false;
}

static bool match_pattern(const struct pattern *p, const struct nai_kernel_words *w, struct stretch s) {
  if (s.to - s.from < p->len)
    return false;
  return p->open_left && p->open_right ? match_anywhere(p, w, s) : match_at_edges(p, w, s);
}

/* Sets the bits of the places where a pattern matches; `found`, where it is not NULL, gets the pattern by place. */
static uint32_t match_rule(const struct nai_kernel_rules *set, const struct rule *rule,
                           const struct nai_kernel_words *words, const struct pattern **found) {
  uint32_t matched = 0;
  const struct pattern *p = set->patterns + rule->first_pattern, *end = p + rule->pattern_count;
  for (; p < end && matched != rule->wanted; p++) {
    if (matched & 1u << p->where || !match_pattern(p, words, stretch_of(words, (enum where)p->where)))
      continue;
    matched |= 1u << p->where;
    if (found)
      found[p->where] = p;
  }
  return matched;
}

static void words_of(struct nai_kernel_words *words, const char *kernel_name) {
  struct nai_kernel_parts name = nai_kernel_parts_of(kernel_name);
  nai_kernel_words(words, &name);
}

int nai_kernel_rules_match(const struct nai_kernel_rules *set, const char *kernel_name) {
  struct nai_kernel_words words;
  words_of(&words, kernel_name);
  for (uint32_t i = 0; i < set->count; i++)
    if (match_rule(set, &set->rules[i], &words, NULL) == set->rules[i].wanted)
      return (int)i;
  return -1;
}

void nai_kernel_rules_reason(const struct nai_kernel_rules *set, int rule, const char *kernel_name, const char **part,
                             const char **pattern) {
  const struct pattern *found[PLACES] = {0};
  struct nai_kernel_words words;
  words_of(&words, kernel_name);
  (void)match_rule(set, &set->rules[rule], &words, found);
  for (int where = PLACES; where-- > 0;) {
    if (!found[where])
      continue;
    *part = places[where];
    *pattern = found[where]->said;
  }
}
