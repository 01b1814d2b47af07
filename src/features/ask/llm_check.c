/* Whether a model kept to the facts. */
#include "features/ask/llm.h"
#include "features/ask/numbers.h"

#include <strings.h>

/* A sentence, with what cites behind its full stop. */
struct sentence {
  const char *text, *end;
};

/* The length of "[F1]", "[F1, F3]" at a place; 0: it is none. *facts: a bit for each; bit 63 for one there cannot be.
 */
static size_t citation_at(uint64_t *facts, const char *at, const char *end) {
  const char *c = at + 1;
  uint64_t seen = 0;
  if (at >= end || *at != '[')
    return 0;
  while (c < end && *c == 'F' && isdigit((unsigned char)c[1])) {
    char *after;
    long number = strtol(c + 1, &after, 10);
    seen |= UINT64_C(1) << (number >= 1 && number <= NAI_QUESTION_MAX_FACTS ? number - 1 : 63);
    for (c = after; c < end && (*c == ',' || *c == ' ' || *c == ';');)
      c++;
  }
  if (!seen || c >= end || *c != ']')
    return 0;
  *facts |= seen;
  return (size_t)(c + 1 - at);
}

static bool ends_sentence(const char *at, const char *from) {
  return *at == '\n' || (strchr(".!?", *at) && at > from && (at[1] == ' ' || at[1] == '\n' || at[1] == '[' || !at[1]));
}

static struct sentence next_sentence(const char *from) {
  struct sentence s = {from, from};
  uint64_t ignored = 0;
  size_t len;
  while (*s.end && !ends_sentence(s.end, from))
    s.end++;
  s.end += *s.end != '\0';
  const char *whole = from + strlen(from);
  for (const char *c = s.end; (len = citation_at(&ignored, c + strspn(c, " "), whole));)
    c = s.end = c + strspn(c, " ") + len;
  return s;
}

/* "1." in front of an item of a list counts, and says nothing. */
static bool is_marker(const struct nai_number *n, const struct sentence *s) {
  const char *first = s->text + strspn(s->text, " \n*-#");
  return n->text == first && n->kind == NAI_NUMBER_PLAIN && (n->text[n->len] == '.' || n->text[n->len] == ')');
}

/* The 0 of "GPU 0" names a GPU. */
static bool is_gpu(const struct nai_number *n, const char *text) {
  static const char gpu[] = "GPU ";
  size_t before = (size_t)(n->text - text), len = sizeof gpu - 1;
  return n->kind == NAI_NUMBER_PLAIN && before >= len && strncasecmp(n->text - len, gpu, len) == 0;
}

static bool stands_in(const struct nai_number *number, const char *text) {
  struct nai_number other;
  for (const char *at = text, *end = text + strlen(text); nai_number_next(&other, text, &at, end);)
    if (nai_number_same(number, &other))
      return true;
  return false;
}

static struct nai_number number_of(const struct nai_fact_value *v) {
  struct nai_number n = {.kind = NAI_NUMBER_PLAIN, .value = v->value.type == NAI_F64 ? v->value.f : (double)v->value.i};
  if (v->unit == NAI_NS || v->unit == NAI_US || v->unit == NAI_MS || v->unit == NAI_S || v->unit == NAI_TIMESTAMP_NS)
    n.kind = NAI_NUMBER_TIME; /* stored in ns */
  else if (v->unit == NAI_BYTES)
    n.kind = NAI_NUMBER_BYTES;
  else if (v->unit == NAI_PCT)
    n.kind = NAI_NUMBER_PERCENT;
  return n;
}

static bool is_of(const struct nai_number *number, const struct nai_fact *fact) {
  if (stands_in(number, fact->text))
    return true;
  for (size_t i = 0; i < fact->value_count; i++) {
    const struct nai_fact_value *v = &fact->values[i];
    if (v->value.null || v->value.type == NAI_STR)
      continue;
    struct nai_number exact = number_of(v);
    if (nai_number_same(number, &exact))
      return true;
  }
  return false;
}

/* Whether a text is about that GPU: "GPU 1", "GPUs 0, 1"; *any: about some. */
static bool is_about_gpu(bool *any, const char *text, int64_t gpu) {
  for (const char *at = text; (at = strstr(at, "GPU"));) {
    for (at += at[3] == 's' ? 4 : 3; *at && strchr(" ,", *at) && isdigit((unsigned char)at[1 + (at[1] == ' ')]);) {
      char *after;
      *any = true;
      if (strtoll(at + 1, &after, 10) == gpu)
        return true;
      at = after;
    }
  }
  return false;
}

/* Of facts those about a GPU; *any: those about some GPU. */
static uint64_t facts_with_gpu(uint64_t *any, const struct nai_answer *answer, size_t facts, int64_t gpu) {
  uint64_t found = 0;
  for (size_t i = 0; i < facts; i++) {
    bool some = false;
    if (is_about_gpu(&some, answer->facts[i].text, gpu))
      found |= UINT64_C(1) << i;
    *any |= some ? UINT64_C(1) << i : 0;
  }
  return found;
}

/* The next word that only a name can be: flash_fwd_kernel, aten::copy_, cudaMalloc; false: there is none. */
static bool next_name(const char **name, size_t *len, const char *at, const char *end) {
  for (; at < end; at += *len) {
    *len = 0;
    while (at + *len < end && (isalnum((unsigned char)at[*len]) || strchr("_:", at[*len])))
      ++*len;
    *name = at;
    bool marked = memchr(at, '_', *len) || (*len > 2 && strstr(at, "::") && strstr(at, "::") < at + *len - 2) ||
                  (*len > 4 && strncmp(at, "cuda", 4) == 0 && isupper((unsigned char)at[4]));
    if (marked && isalpha((unsigned char)*at))
      return true;
    *len += *len == 0;
  }
  return false;
}

static bool has_name(const char *text, const char *name, size_t len) {
  for (; text && *text; text++)
    if (strncasecmp(text, name, len) == 0)
      return true;
  return false;
}

static uint64_t facts_with_name(const struct nai_answer *answer, size_t facts, const char *name, size_t len) {
  uint64_t found = 0;
  for (size_t i = 0; i < facts; i++)
    if (has_name(answer->facts[i].text, name, len))
      found |= UINT64_C(1) << i;
  return found;
}

static uint64_t facts_with(const struct nai_number *number, const struct nai_answer *answer, size_t facts) {
  uint64_t found = 0;
  for (size_t i = 0; i < facts; i++)
    if (is_of(number, &answer->facts[i]))
      found |= UINT64_C(1) << i;
  return found;
}

/* The facts that a sentence cites; citations are blanked out of `copy`, for their digits are no numbers. */
static uint64_t take_citations(char *copy, size_t len) {
  uint64_t cited = 0;
  for (size_t i = 0, n; i < len; i++)
    if ((n = citation_at(&cited, copy + i, copy + len)))
      memset(copy + i, ' ', n);
  return cited;
}

static enum nai_claim_verdict judge(const struct nai_claim *claim, const struct nai_number *number,
                                    const char *question) {
  if (claim->found & claim->cited || (number->kind == NAI_NUMBER_PLAIN && stands_in(number, question)))
    return NAI_CLAIM_SUPPORTED;
  return claim->cited ? NAI_CLAIM_NOT_IN_CITED : NAI_CLAIM_UNCITED;
}

/* The claims of a sentence. False: out of memory. */
static bool visit_sentence(const struct sentence *s, const char *question, const struct nai_answer *answer,
                           size_t facts, nai_claim_visit visit, void *context) {
  size_t len = (size_t)(s->end - s->text);
  NAI_FREED char *copy = strndup(s->text, len);
  struct nai_number number;
  const char *name;
  size_t name_len;
  bool numbers = false;
  size_t blanks = strspn(s->text, " \n");
  struct nai_claim claim = {.sentence = s->text + blanks, .sentence_len = len > blanks ? len - blanks : 0};
  if (!copy)
    return false;
  claim.cited = take_citations(copy, len);
  const struct sentence blank = {copy, copy + len};
  if (claim.cited >> facts) {
    claim.verdict = NAI_CLAIM_NO_SUCH_FACT;
    visit(context, &claim);
  }
  for (const char *at = copy; nai_number_next(&number, copy, &at, copy + len);) {
    if (is_marker(&number, &blank))
      continue;
    claim.text = s->text + (number.text - copy);
    claim.len = number.len;
    claim.found = facts_with(&number, answer, facts);
    uint64_t any = 0;
    bool gpu = is_gpu(&number, copy);
    if (gpu)
      claim.found = facts_with_gpu(&any, answer, facts, (int64_t)number.value);
    if (gpu &&
        (claim.found & claim.cited || (claim.found && !(any & claim.cited)))) /* one that no fact has is a claim */
      continue;
    numbers |= !gpu;
    claim.verdict = judge(&claim, &number, any & claim.cited ? "" : question);
    visit(context, &claim);
  }
  /* A name beside a number is of what is cited, too. */
  for (const char *at = copy; numbers && claim.cited && next_name(&name, &name_len, at, copy + len);) {
    at = name + name_len;
    claim.text = s->text + (name - copy);
    claim.len = name_len;
    claim.found = facts_with_name(answer, facts, name, name_len);
    claim.verdict = claim.found & claim.cited ? NAI_CLAIM_SUPPORTED : NAI_CLAIM_NOT_IN_CITED;
    if (claim.verdict != NAI_CLAIM_SUPPORTED && !has_name(question, name, name_len) &&
        !has_name(answer->advice, name, name_len))
      visit(context, &claim);
  }
  return true;
}

bool nai_claims_visit(const char *text, const char *question, const struct nai_answer *answer, size_t facts,
                      nai_claim_visit visit, void *context) {
  while (*text) {
    struct sentence s = next_sentence(text);
    if (!visit_sentence(&s, question, answer, facts, visit, context))
      return false;
    text = s.end;
  }
  return true;
}

/* The first claim that does not hold. */
static void say_first(void *context, const struct nai_claim *claim) {
  struct nai_buf *why = context;
  if (why->len || claim->verdict == NAI_CLAIM_SUPPORTED)
    return;
  if (claim->verdict == NAI_CLAIM_NO_SUCH_FACT)
    nai_buf_puts(why, "it cites a fact that there is not");
  else if (claim->verdict == NAI_CLAIM_NOT_IN_CITED)
    nai_buf_printf(why, "\"%.*s\" is in no fact that it cites there", (int)claim->len, claim->text);
  else
    nai_buf_printf(why, "\"%.*s\" stands in a sentence that cites no fact", (int)claim->len, claim->text);
}

bool nai_llm_check(struct nai_buf *why, const char *text, const char *question, const struct nai_answer *answer,
                   size_t facts) {
  if (!nai_claims_visit(text, question, answer, facts, say_first, why))
    nai_buf_puts(why, "out of memory");
  return why->len == 0;
}
