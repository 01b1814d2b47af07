/* A text held against the facts of an answer, printed. */
#include "features/ask/question_print.h"

#include "base/escape.h"
#include "table/json.h"

static const char *const verdicts[] = {
    [NAI_CLAIM_SUPPORTED] = "supported",
    [NAI_CLAIM_NOT_IN_CITED] = "not in the cited facts",
    [NAI_CLAIM_UNCITED] = "no fact is cited",
    [NAI_CLAIM_NO_SUCH_FACT] = "cites a fact that the answer does not have",
};

/* Where claims are printed to. */
struct printing {
  struct nai_buf *out;
  struct nai_json json;
  size_t count, wrong;
};

static void put_facts(struct nai_buf *out, uint64_t facts) {
  for (int i = 0; i < NAI_QUESTION_MAX_FACTS; i++)
    if (facts >> i & 1)
      nai_buf_printf(out, " F%d", i + 1);
}

static void put_line(void *context, const struct nai_claim *claim) {
  struct printing *printing = context;
  bool number = claim->verdict != NAI_CLAIM_NO_SUCH_FACT;
  printing->count++;
  printing->wrong += claim->verdict != NAI_CLAIM_SUPPORTED;
  nai_buf_puts(printing->out, "  ");
  nai_escape_terminal(printing->out, number ? claim->text : claim->sentence, number ? claim->len : claim->sentence_len);
  nai_buf_printf(printing->out, ": %s", verdicts[claim->verdict]);
  nai_buf_puts(printing->out, claim->found ? "; it is in" : "");
  put_facts(printing->out, claim->found);
  nai_buf_putc(printing->out, '\n');
}

void nai_cmd_put_claims(struct nai_buf *out, const char *text, const char *question, const struct nai_answer *answer) {
  struct printing printing = {.out = out};
  nai_buf_puts(out, "Numbers\n");
  out->oom |= !nai_claims_visit(text, question, answer, answer->fact_count, put_line, &printing);
  nai_buf_printf(out, "%s%zu of %zu supported\n", printing.count ? "" : "  none\n", printing.count - printing.wrong,
                 printing.count);
}

/* --- JSON ----------------------------------------------------------------------------------------------- */

static void put_bytes(struct nai_json *json, const char *key, const char *text, size_t len) {
  NAI_SCOPED(nai_buf) copy = {0};
  nai_buf_put(&copy, text, len);
  nai_json_put_text(json, key, nai_buf_str(&copy));
  json->out->oom |= copy.oom;
}

static void put_ids(struct nai_json *json, const char *key, uint64_t facts) {
  char id[16];
  nai_json_put_array(json, key, NAI_JSON_INLINE);
  for (int i = 0; i < NAI_QUESTION_MAX_FACTS; i++) {
    snprintf(id, sizeof id, "F%d", i + 1);
    if (facts >> i & 1)
      nai_json_text(json, id);
  }
  nai_json_end(json);
}

static void put_object(void *context, const struct nai_claim *claim) {
  struct printing *printing = context;
  struct nai_json *json = &printing->json;
  printing->wrong += claim->verdict != NAI_CLAIM_SUPPORTED;
  nai_json_begin_object(json, NAI_JSON_INLINE);
  if (claim->verdict == NAI_CLAIM_NO_SUCH_FACT)
    nai_json_put_text(json, "text", NULL);
  else
    put_bytes(json, "text", claim->text, claim->len);
  nai_json_put_text(json, "verdict", verdicts[claim->verdict]);
  put_ids(json, "cited", claim->cited);
  put_ids(json, "found_in", claim->found);
  put_bytes(json, "sentence", claim->sentence, claim->sentence_len);
  nai_json_end(json);
}

void nai_cmd_put_claims_json(struct nai_buf *out, const char *text, const char *question,
                             const struct nai_answer *answer) {
  struct printing printing = {.out = out};
  struct nai_json *json = &printing.json;
  nai_json_open(json, out, NAI_JSON_LINES);
  nai_json_put_text(json, "question", question);
  nai_json_put_array(json, "claims", NAI_JSON_LINES);
  out->oom |= !nai_claims_visit(text, question, answer, answer->fact_count, put_object, &printing);
  nai_json_end(json);
  nai_json_put_bool(json, "supported", printing.wrong == 0);
  nai_cmd_put_facts_json(json, answer);
  nai_json_close(json);
}
