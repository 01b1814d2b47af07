/* Which words of a question an answer takes up. */
#include "features/ask/internal.h"

/* Whether a fact's statement has a text. */
bool nai_fact_has(const struct nai_yaml *doc, const struct nai_yaml_node *entry, const char *text) {
  const struct nai_yaml_node *n = nai_yaml_first(doc, entry), *with;
  for (; n; n = nai_yaml_next(doc, n)) {
    if (strstr(n->text, text))
      return true;
    for (with = nai_yaml_first(doc, n); with; with = nai_yaml_next(doc, with))
      if (strstr(with->text, text))
        return true;
  }
  return false;
}

bool nai_intent_takes(const struct nai_intent *intent, const char *parameter) {
  const struct nai_yaml_node *entry = nai_intent_items(intent->doc, intent->node, "facts");
  while (entry && !nai_fact_has(intent->doc, entry, parameter))
    entry = nai_yaml_next(intent->doc, entry);
  return entry != NULL;
}

/* Values that its statements choose by; not one that they do not tell from none, where they do so of others. */
static void mark_choices(struct nai_question_marks *covered, const struct nai_question *q,
                         const struct nai_intents *intents, const struct nai_intent *intent) {
  enum { OF_CASES = 1 };
  char parameter[NAI_QUESTION_WORD], literal[NAI_QUESTION_WORD], other[NAI_QUESTION_WORD];
  for (size_t i = 0; i < q->choice_count; i++) {
    const char *key = q->choices[i].key, *value = q->choices[i].value;
    snprintf(parameter, sizeof parameter, ":%s", key);
    if (!value || !nai_intent_takes(intent, parameter))
      continue;
    snprintf(literal, sizeof literal, "'%s'", value);
    for (size_t d = 0; d < intents->doc_count; d++) {
      const struct nai_yaml *doc = intents->docs[d];
      const struct nai_yaml_node *choices = nai_yaml_get(doc, nai_yaml_root(doc), "choices"),
                                 *of = choices ? nai_yaml_get(doc, choices, key) : NULL,
                                 *node = of ? nai_yaml_first(doc, of) : NULL;
      bool told = nai_intent_takes(intent, literal);
      int others = 0;
      for (; node; node = nai_yaml_next(doc, node)) {
        snprintf(other, sizeof other, "'%s'", node->key);
        others += nai_intent_takes(intent, other);
      }
      struct nai_question_marks marks = {0};
      nai_question_mark_term(&marks, q, doc, value);
      for (size_t w = 0; w < q->count; w++)
        covered->at[w] = marks.at[w] ? told || others < OF_CASES : covered->at[w];
    }
  }
}

/* Whether a text looks for a word in the question and finds it: a literal behind ":question" has it, alone or in words
 * without space that the question has ("lessthan"). */
static bool looks_for(const struct nai_question *q, const char *text, const char *word) {
  for (const char *at = text; (at = strstr(at, ":question")); at++) {
    const char *from = strchr(at, '\''), *end = from ? strchr(from + 1, '\'') : NULL;
    for (size_t len; end && from < end; from += len + 1) {
      char token[NAI_QUESTION_WORD];
      for (len = 0; isalnum((unsigned char)from[len]);)
        len++;
      snprintf(token, sizeof token, "%.*s", (int)len, from);
      if (strstr(token, word) && strstr(q->squeezed, token))
        return true;
    }
  }
  return false;
}

/* Words that its statements look for in the question. */
static void mark_looked_for(struct nai_question_marks *covered, const struct nai_question *q,
                            const struct nai_intent *intent) {
  enum { SHORTEST = 3 };
  const struct nai_yaml *doc = intent->doc;
  const struct nai_yaml_node *entry = nai_intent_items(doc, intent->node, "facts"), *n, *with;
  for (; entry; entry = nai_yaml_next(doc, entry))
    for (n = nai_yaml_first(doc, entry); n; n = nai_yaml_next(doc, n))
      for (size_t i = 0; i < q->count; i++) {
        const char *word = q->words[i].text;
        bool found = looks_for(q, n->text, word);
        for (with = nai_yaml_first(doc, n); with && !found; with = nai_yaml_next(doc, with))
          found = looks_for(q, with->text, word);
        covered->at[i] |= found && strlen(word) >= SHORTEST;
      }
}

static bool is_in(const char *word, const char *const *list) {
  while (*list && strcmp(*list, word) != 0)
    list++;
  return *list != NULL;
}

/* A number with its unit, and the words that bind it: "between 1 and 2 s", "the first 100 ms". */
static void mark_numbers(struct nai_question_marks *covered, const struct nai_question *q,
                         const struct nai_intent *intent) {
  static const char *const units[] = {"ns",     "us",      "µs",          "ms",           "s",           "sec",
                                      "second", "seconds", "millisecond", "milliseconds", "microsecond", "microseconds",
                                      "min",    "minute",  "minutes",     "percent",      "b",           "kb",
                                      "mb",     "gb",      "kib",         "mib",          "gib",         "byte",
                                      "bytes",  NULL};
  static const char *const links[] = {"between", "and", "from", "to", "than", "at", "first",
                                      "last",    "top", "in",   "a",  "one",  NULL};
  static const char *const ends[] = {"first", "last", "a", "one", NULL};
  bool limits = nai_intent_takes(intent, ":least_ns"), /* and so no length that is none */
      time = q->time_count && nai_intent_takes(intent, ":from") && (q->time_count == 2 || !limits),
       lengths = q->least_ns != INT64_MIN || q->most_ns != INT64_MIN,
       limit = lengths || q->least_bytes != INT64_MIN || q->most_bytes != INT64_MIN, limited = limit && limits,
       plain = nai_intent_takes(intent, ":number") || nai_intent_takes(intent, "[0-9]"), above;
  for (size_t i = 0; i < q->count; i++) {
    bool unit = (time || limited) && i && is_in(q->words[i].text, units) && (is_in(q->words[i - 1].text, ends));
    if (!(isdigit((unsigned char)*q->words[i].text) || unit) || !(time || limited || plain) || (limit && !limited) ||
        (q->time_count && !time))
      continue;
    covered->at[i] = true;
    if (i + 1 < q->count && is_in(q->words[i + 1].text, units))
      covered->at[i + 1] = true;
    for (size_t j = i; j; j--) {
      const char *word = q->words[j - 1].text;
      if (!is_in(word, links) && !(limited && nai_question_is_comparison(word, strlen(word), &above)))
        break;
      covered->at[j - 1] = true;
    }
  }
}

void nai_question_answered(struct nai_question *q, const struct nai_intents *intents, const struct nai_intent *intent) {
  struct nai_question_marks covered = {0};
  nai_question_score(&covered, q, intents, intent);
  mark_choices(&covered, q, intents, intent);
  mark_looked_for(&covered, q, intent);
  mark_numbers(&covered, q, intent);
  nai_question_mark_phrases(&covered, q, intent->doc, nai_yaml_get(intent->doc, intent->node, "takes"));
  for (size_t i = 0; i < q->count; i++)
    q->words[i].answered = covered.at[i];
}
