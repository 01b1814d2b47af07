/* What in the trace a question names. */
#include "features/ask/internal.h"
#include "features/ask/numbers.h"

/* cudaMalloc or cuMemAlloc, as opposed to "cudamalloc" in passing. */
static bool is_call(const char *typed) {
  const char *behind = typed + (strncmp(typed, "cuda", 4) == 0 ? 4 : 2);
  return strncmp(typed, "cu", 2) == 0 && isupper((unsigned char)*behind);
}

/* Whether a word can only be a name: it is in quotes, or has what only names have. */
static bool is_name(const struct nai_question_word *word) {
  return word->quoted || is_call(word->typed) || (nai_question_has_mark(word->text) && !word->known);
}

/* ExecutionContext */
static bool is_camel(const char *typed) {
  while (*typed && !(islower((unsigned char)*typed) && isupper((unsigned char)typed[1])))
    typed++;
  return *typed;
}

static bool may_name(const struct nai_question_word *w, bool plain) {
  enum { SHORTEST = 4 };
  if (w->names)
    return false;
  return w->quoted || nai_question_has_mark(w->text) ||
         (!w->known && !w->of_gpu && (is_camel(w->typed) || nai_question_is_mixed(w->text))) ||
         (plain && !w->known && strlen(w->text) >= SHORTEST && w->text[strspn(w->text, "0123456789.")]);
}

static bool before(const struct nai_question_word *a, const struct nai_question_word *b) {
  bool first = a->quoted || nai_question_has_mark(a->text), second = b->quoted || nai_question_has_mark(b->text);
  return first != second ? first : strlen(a->text) > strlen(b->text);
}

/* Words that may name something of the trace, those in quotes first, then the longest. `plain`: ordinary words, too. */
static size_t names_of(const char **out, const struct nai_question *q, bool plain) {
  const struct nai_question_word *sorted[NAI_QUESTION_MAX_WORDS];
  size_t count = 0, at;
  for (size_t i = 0; i < q->count; i++) {
    if (!may_name(&q->words[i], plain))
      continue;
    for (at = count++; at && before(&q->words[i], sorted[at - 1]); at--)
      sorted[at] = sorted[at - 1];
    sorted[at] = &q->words[i];
  }
  count = count < NAI_QUESTION_MAX_NAMES ? count : NAI_QUESTION_MAX_NAMES;
  for (size_t i = 0; i < count; i++)
    out[i] = sorted[i]->text;
  return count;
}

size_t nai_question_whole_names(const char **out, const struct nai_question *q) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz", digits[] = "0123456789";
  size_t count = 0;
  for (size_t i = 0; i < q->count && count < NAI_QUESTION_MAX_NAMES; i++) {
    const struct nai_question_word *w = &q->words[i];
    bool numbered = isalpha((unsigned char)*w->text) && strpbrk(w->text, digits) && strpbrk(w->text, letters);
    if (w->names || w->ignored)
      continue;
    if (numbered || (is_camel(w->typed) && !is_call(w->typed)) || nai_question_is_strange(w))
      out[count++] = w->text;
  }
  return count;
}

/* Takes a word for such a name: no intent is about it. */
static void take_name(struct nai_question *q, const char *word) {
  for (size_t i = 0; i < q->count; i++)
    q->words[i].names |= strcmp(q->words[i].text, word) == 0;
}

/* What has a name that the question may mean: kind of things, their names in lower case, and when a word is part of one
 * (NULL: only the whole is); `%s` is the word. */
static const struct {
  const char *kind, *names, *part, *whole;
} named[] = {
    {"kernel", "select lower(substr(short_name, 1, instr(short_name || '<', '<') - 1)) as name from kernels",
     "instr(name, '%s')", "name = '%s'"},
    {"range", "select lower(range_name) as name from nvtx_ranges", "instr(name, '%s')", "name = '%s'"},
    {"call", "select distinct lower(name) as name from api_events", "name = '%s' or name glob '%s_v[0-9]*'",
     "name = '%s' or name glob '%s_v[0-9]*'"},
    {"os_call", "select lower(function) as name from osrt_calls", "name = '%s'", "name = '%s'"},
    {"thread", "select distinct lower(thread_name) as name from threads where thread_name is not null",
     "name = '%s' or :text regexp '\\bthreads?\\b' and '%s' glob '*[0-9]*' and instr(name, '%s') = 1", "name = '%s'"},
    {"function", /* only where words ask for such, or a name can be no other word: there are many frames */
     "select distinct lower(substr(symbol, 1, instr(symbol || '(', '(') - 1)) as name from callchain_frames where "
     "kind = 0 and :text regexp '\\b(cpu|samp|func|stack|call|prof|hot|thread|inside)|[a-z0-9](_|::)[a-z0-9]'",
     "name = '%s'", "name = '%s'"},
    {"cause", "select 1", "cause_meaning('%s') is not null", "0"},
};
enum { KINDS = sizeof named / sizeof *named, OF_WORDS = 2 };
/* How a word is to be found in a name: anywhere, as all of it, as a word ("line" is no part of aten::linear), anywhere
 * in a kernel's, or as its last word ("execute" of ExecutionContext::execute). */
enum how { PART, WHOLE, WORD, INSIDE, LAST };

static bool is_plain(const char *word) { return !strpbrk(word, "'*?["); }
static bool is_ascii(const char *word) {
  while (*word > 0)
    word++;
  return !*word;
}

static const char *condition(size_t kind, enum how how) {
  if (how == WORD && kind < OF_WORDS)
    return "name regexp '(^|[^a-z0-9])%s([^a-z0-9]|$)'";
  if (how == LAST)
    return kind < OF_WORDS ? "name regexp '(^|[^a-z0-9])%s$'" : "0";
  if (how == INSIDE)
    return kind ? "0" : "instr(name, '%s')";
  return how == WHOLE ? named[kind].whole : named[kind].part;
}

static void put_counts(struct nai_buf *sql, const char *word, enum how how) {
  if ((how == WORD || how == LAST) && !is_ascii(word))
    how = PART;
  for (size_t k = 0; k < KINDS; k++) {
    const char *text = is_plain(word) ? condition(k, how) : "0", *at;
    nai_buf_printf(sql, ", (select count(*) from (%s) where ", named[k].names);
    for (; (at = strstr(text, "%s")); text = at + 2) {
      nai_buf_put(sql, text, (size_t)(at - text));
      nai_buf_puts(sql, word);
    }
    nai_buf_printf(sql, "%s)", text);
  }
}

static bool says_thread(const struct nai_question *q) {
  bool says = false;
  for (size_t i = 0; i < q->count; i++)
    says |= nai_word_is_of("thread threads", q->words[i].text);
  return says;
}

/* Of some words the first that is a name, or NULL; *kind is of what. */
static int find_name(const char **word, const char **kind, const struct nai_asking *asking, const char *const *words,
                     size_t count, enum how how, struct nai_err *err) {
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_SCOPED(nai_query_rows) found = {0};
  *word = NULL;
  if (count && (how == WORD || how == INSIDE)) /* what it ends is called by it */
    NAI_TRY(find_name(word, kind, asking, words, count, LAST, err));
  if (*word)
    return NAI_OK;
  for (size_t i = 0; i < count; i++) {
    nai_buf_printf(&sql, "%sselect %zu", i ? " union all " : "", i);
    put_counts(&sql, words[i], how);
  }
  nai_buf_puts(&sql, " order by 1");
  NAI_TRY(nai_buf_check(&sql, err));
  if (count)
    NAI_TRY(nai_facts_ask(&found, asking, nai_buf_str(&sql), "names", err));
  /* A program and its threads are often called as what they compute: "in the gaussian run, Fan1 or Fan2". */
  for (int threads = says_thread(asking->question); threads < 2; threads++)
    for (int64_t row = 0; row < found.rows; row++)
      for (uint32_t k = 0; k < KINDS; k++)
        if (nai_query_cell_int(&found, row, k + 1) && (threads || strcmp(named[k].kind, "thread") != 0)) {
          *word = words[row];
          *kind = named[k].kind;
          return NAI_OK;
        }
  return NAI_OK;
}

/* "is this vecAdd copy bound": the program itself, which says nothing. */
static int ignore_program(const struct nai_asking *asking, struct nai_question *q, struct nai_err *err) {
  for (size_t i = 1; i < q->count && !says_thread(q); i++) {
    const char *text = q->words[i].text, *name, *kind;
    if (!nai_word_is_of("this my our", q->words[i - 1].text) || q->words[i].known || q->words[i].quoted)
      continue;
    NAI_TRY(find_name(&name, &kind, asking, &text, 1, WHOLE, err));
    if (name && strcmp(kind, "thread") == 0)
      q->words[i].ignored = q->words[i].known = true;
  }
  return NAI_OK;
}

/* "should we use cudaMalloc instead": a known call that is proposed need not be in the trace. */
static bool is_proposed(const struct nai_question *q, const struct nai_question_word *word) {
  bool proposes = false;
  for (size_t i = 0; i < q->count; i++)
    proposes |= nai_word_is_of("should would could worth instead switch switching moving replace", q->words[i].text);
  return proposes && word->known && !word->quoted && is_call(word->typed);
}

enum { MISSPELT = NAI_QUESTION_WORD }; /* what is less is that, what is more only begins alike */
/* How near a name is to a word, 0 the word itself; SIZE_MAX: it is another. */
static size_t nearness_of(const char *word, const char *name) {
  char lower[NAI_QUESTION_WORD];
  size_t len = 0, same = 0;
  for (; name[len] && len < sizeof lower - 1; len++)
    lower[len] = (char)tolower((unsigned char)name[len]);
  while (same < len && lower[same] == word[same])
    same++;
  const size_t size = strlen(word), d = nai_word_distance(word, lower, len, sizeof lower);
  return 4 * d <= size ? d : 2 * same > size ? MISSPELT + size - same : SIZE_MAX;
}

/* " Nearest: flash_fwd_kernel.", the names that are nearest to a word that is none; "": there are none. */
static int find_nearest(const char **said, const struct nai_asking *asking, const char *word, struct nai_err *err) {
  enum { SHOWN = 2 };
  static const char sql[] = "select substr(short_name, 1, instr(short_name || '<', '<') - 1) from kernels union select "
                            "range_name from nvtx_ranges union select name from api_events union select function from "
                            "osrt_calls";
  NAI_SCOPED(nai_query_rows) found = {0};
  size_t least[SHOWN] = {SIZE_MAX, SIZE_MAX};
  const char *nearest[SHOWN] = {NULL};
  NAI_TRY(nai_facts_ask(&found, asking, sql, "names", err));
  for (int64_t row = 0; row < found.rows; row++) {
    const char *name = nai_query_cell_text(&found, row, 0);
    const size_t d = nearness_of(word, name);
    const int at = d < least[0] ? 0 : 1;
    if (d >= least[at])
      continue;
    if (!at) {
      least[1] = least[0];
      nearest[1] = nearest[0];
    }
    least[at] = d;
    nearest[at] = name;
  }
  *said = !nearest[0] ? ""
        : !nearest[1] || (least[0] < MISSPELT && least[1] > MISSPELT)
            ? nai_arena_printf(asking->arena, " Nearest: %s.", nearest[0])
            : nai_arena_printf(asking->arena, " Nearest: %s, %s.", nearest[0], nearest[1]);
  return NAI_OK;
}

int nai_names_say_unknown(bool *any, const struct nai_asking *asking, struct nai_question *q, struct nai_err *err) {
  const char *text, *word, *kind;
  *any = false;
  for (size_t i = 0; i < q->count; i++) {
    if (!is_name(&q->words[i]))
      continue;
    text = q->words[i].text;
    NAI_TRY(find_name(&word, &kind, asking, &text, 1, PART, err));
    if (word || is_proposed(q, &q->words[i]))
      continue;
    q->words[i].names = *any = true;
    NAI_TRY(find_nearest(&word, asking, text, err));
    nai_answer_say(
        asking, &asking->answer->said, NULL,
        nai_arena_printf(asking->arena,
                         "Nothing in the trace is called \"%s\": no kernel, NVTX range, CUDA call or thread.%s",
                         q->words[i].typed, word));
  }
  return NAI_OK;
}

/* "ioctls", "cudaMallocs": calls of a name. */
static int take_plural(struct nai_question_word *w, const struct nai_asking *asking, struct nai_err *err) {
  size_t len = strlen(w->text);
  const char *one = w->text, *name, *kind;
  if ((w->known && !nai_question_has_mark(w->text)) || w->quoted || len < 2 || w->text[len - 1] != 's')
    return NAI_OK;
  w->text[len - 1] = '\0';
  NAI_TRY(find_name(&name, &kind, asking, &one, 1, WHOLE, err));
  if (!name)
    w->text[len - 1] = 's';
  return NAI_OK;
}

int nai_names_correct_spelling(const struct nai_asking *asking, struct nai_question *q, struct nai_err *err) {
  NAI_TRY(ignore_program(asking, q, err));
  nai_question_spell(q, asking->intents);
  for (size_t i = 0; i < q->count; i++) {
    const char *typed = q->words[i].text, *name, *kind;
    NAI_TRY(take_plural(&q->words[i], asking, err));
    if (!q->words[i].meant[0])
      continue;
    NAI_TRY(find_name(&name, &kind, asking, &typed, 1, PART, err));
    if (name)
      q->words[i].meant[0] = '\0';
  }
  nai_question_take_spelling(q, asking->intents);
  return NAI_OK;
}

/* The intent about things of that kind that the question names. */
static const struct nai_intent *intent_of_names(const struct nai_intents *intents, const char *kind) {
  for (size_t i = 0; i < intents->count; i++) {
    const char *names = nai_intent_text(intents->list[i].doc, intents->list[i].node, "names");
    if (!intents->list[i].replaced && names && strcmp(names, kind) == 0)
      return &intents->list[i];
  }
  return NULL;
}

/* A range whose whole name the question has: of several words ("Coarse Level 0"), or one that it looks into ("gemms in
 * forward"); else NULL. */
static int find_range(const char **name, const struct nai_asking *asking, struct nai_err *err) {
  static const char sql[] =
      "select lower(range_name) as name from nvtx_ranges where instr(:text, lower(range_name)) and substr(:text, "
      "instr(:text, lower(range_name)) + length(range_name), 1) not regexp '[a-z0-9_]' and iif(range_name glob "
      "'*[^a-zA-Z0-9_:.]*', length(range_name) > 7, :text regexp '\\b(in|inside|within|during) (the )?(range )?\"?' || "
      "lower(range_name)) and not (:other is not null and lower(range_name) glob 'step [0-9]*') order by "
      "length(range_name) desc";
  NAI_SCOPED(nai_query_rows) found = {0};
  *name = NULL;
  NAI_TRY(nai_facts_ask(&found, asking, sql, "names", err));
  if (found.rows)
    *name = nai_answer_copy(asking, nai_query_cell_text(&found, 0, 0));
  return NAI_OK;
}

/* Which of two words a question has first. */
static bool comes_first(const struct nai_question *q, const char *word, const char *other) {
  size_t i = 0;
  while (i < q->count && strcmp(q->words[i].text, word) != 0 && strcmp(q->words[i].text, other) != 0)
    i++;
  return i < q->count && strcmp(q->words[i].text, word) == 0;
}

/* Further things of that kind that the question names, in its order: "Fan1 or Fan2". */
static int find_others(struct nai_asking *asking, const char *kind, const char *const *words, size_t count,
                       enum how how, struct nai_err *err) {
  const char *word, *other;
  for (size_t i = 0; i < count && asking->other_count < NAI_ASKING_MAX_OTHERS; i++) {
    if (strcmp(words[i], asking->name) == 0)
      continue;
    NAI_TRY(find_name(&word, &other, asking, &words[i], 1, how, err));
    if (word && strcmp(kind, other) == 0)
      asking->others[asking->other_count++] = word;
  }
  if (asking->other_count && comes_first(asking->question, asking->others[0], asking->name)) {
    word = asking->name;
    asking->name = asking->others[0];
    asking->others[0] = word;
  }
  return NAI_OK;
}

/* Whether two words stand beside each other: "blocks.7 pre_forward", "pre_forward of blocks.7". */
static bool are_beside(const struct nai_question *q, const char *word, const char *other) {
  size_t at = 0;
  while (at < q->count && strcmp(q->words[at].text, word) != 0 && strcmp(q->words[at].text, other) != 0)
    at++;
  const char *next = at < q->count && strcmp(q->words[at].text, word) == 0 ? other : word;
  for (at++; at < q->count && nai_word_is_of("of in the", q->words[at].text);)
    at++;
  return at < q->count && strcmp(q->words[at].text, next) == 0;
}

/* Parts of one name that stand together are that name. */
static int join_parts(struct nai_asking *asking, struct nai_question *q, const char *kind, struct nai_err *err) {
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_SCOPED(nai_query_rows) found = {0};
  size_t k = 0;
  while (k < OF_WORDS && strcmp(kind, named[k].kind) != 0)
    k++;
  if (k == OF_WORDS || asking->other_count != 1 || !is_plain(asking->name) || !is_plain(asking->others[0]) ||
      !are_beside(q, asking->name, asking->others[0]))
    return NAI_OK;
  nai_buf_printf(&sql, "select distinct name from (%s) where instr(name, '%s') and instr(name, '%s') limit 2",
                 named[k].names, asking->name, asking->others[0]);
  NAI_TRY(nai_buf_check(&sql, err));
  NAI_TRY(nai_facts_ask(&found, asking, nai_buf_str(&sql), "names", err));
  if (found.rows != 1)
    return NAI_OK;
  take_name(q, asking->name);
  take_name(q, asking->others[0]);
  asking->name = nai_answer_copy(asking, nai_query_cell_text(&found, 0, 0));
  asking->other_count = 0;
  return NAI_OK;
}

/* "conv2d" where one kind of ranges ends so, aten::conv2d: it is no kind of kernels then. *name: that, NULL none. */
static int find_mixed(const char **name, const char **kind, const struct nai_asking *asking, struct nai_question *q,
                      struct nai_err *err) {
  enum { RANGES = 1 };
  *name = NULL;
  for (size_t i = 0; i < q->count && !*name; i++) {
    const struct nai_question_word *w = &q->words[i];
    NAI_SCOPED(nai_buf) sql = {0};
    NAI_SCOPED(nai_query_rows) found = {0};
    if (!nai_question_is_mixed(w->text) || !w->known || w->names || w->ignored || !is_plain(w->text))
      continue;
    nai_buf_printf(&sql, "select distinct name from (%s) where name regexp '(^|[^a-z0-9])%s$' limit 2",
                   named[RANGES].names, w->text);
    NAI_TRY(nai_buf_check(&sql, err));
    NAI_TRY(nai_facts_ask(&found, asking, nai_buf_str(&sql), "names", err));
    if (found.rows != 1)
      continue;
    *name = nai_answer_copy(asking, nai_query_cell_text(&found, 0, 0));
    *kind = named[RANGES].kind;
    take_name(q, w->text);
  }
  return NAI_OK;
}

int nai_names_choose(const struct nai_intent **about, struct nai_asking *asking, struct nai_question *q,
                     struct nai_err *err) {
  const struct nai_intent *matched[NAI_QUESTION_MAX_MATCHES];
  const char *word, *kind = "", *words[NAI_QUESTION_MAX_NAMES];
  *about = NULL;
  enum how how = WHOLE;
  NAI_TRY(find_range(&q->within, asking, err));
  for (size_t i = 0; q->within && i < q->count; i++) /* its words are no others then */
    q->words[i].names |= strstr(q->within, q->words[i].text) != NULL;
  size_t names = nai_question_whole_names(words, q);
  NAI_TRY(find_name(&word, &kind, asking, words, names, how, err));
  if (word)
    take_name(q, word);
  else if (!q->within)
    NAI_TRY(find_mixed(&word, &kind, asking, q, err));
  if (!word || (strcmp(kind, "thread") == 0 && !says_thread(q))) {
    const char *program = word;
    names = names_of(words, q, false);
    NAI_TRY(find_name(&word, &kind, asking, words, names, how = PART, err));
    /* Once a word is understood, ordinary ones are not looked for in names, which have all kinds of them. */
    if (!word && !program && !nai_question_match(matched, q, asking->intents, false)) {
      names = names_of(words, q, true);
      NAI_TRY(find_name(&word, &kind, asking, words, names, how = WORD, err));
    }
    for (size_t i = 0; word && program && i < q->count; i++) /* it says where, and so nothing */
      q->words[i].ignored |= strcmp(q->words[i].text, program) == 0;
    kind = word || !program ? kind : "thread";
    word = word ? word : program;
  }
  if (!word && q->within) {
    word = q->within;
    kind = "range";
    q->within = NULL;
  }
  if (!word || !(*about = intent_of_names(asking->intents, kind)))
    return NAI_OK;
  asking->name = word;
  NAI_TRY(find_others(asking, kind, words, names, how, err));
  return how == PART ? join_parts(asking, q, kind, err) : NAI_OK;
}

int nai_names_choose_by_rest(const struct nai_intent **about, struct nai_asking *asking, const struct nai_question *q,
                             struct nai_err *err) {
  enum { SHORTEST = 4 };
  const char *word, *kind = "", *words[NAI_QUESTION_MAX_NAMES];
  size_t names = 0;
  for (size_t i = 0; i < q->count && names < NAI_QUESTION_MAX_NAMES; i++)
    if (strlen(q->words[i].text) >= SHORTEST && !(i && nai_word_is_of("per each every", q->words[i - 1].text)) &&
        (nai_question_is_left(&q->words[i]) || nai_question_is_strange(&q->words[i])))
      words[names++] = q->words[i].text;
  NAI_TRY(find_name(&word, &kind, asking, words, names, WHOLE, err));
  if (!word)
    NAI_TRY(find_name(&word, &kind, asking, words, names, INSIDE, err));
  if (word && (*about = intent_of_names(asking->intents, kind)))
    asking->name = word;
  return NAI_OK;
}
