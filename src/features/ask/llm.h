/* A language model that may put the facts of an answer into its own words, and nothing more: what it writes is used
 * only if every number in it is one of the facts that it cites there. Servers of OpenAI's chat protocol, local ones
 * included. */
#pragma once

#include "features/ask/question.h"

struct nai_llm_options {
  const char *url, *name, *key; /* base of the server, "https://host/v1"; the model; NULL or "": none */
  double timeout_s;             /* of everything */
  int64_t max_prompt_tokens;
  double price_in, price_out; /* for a million tokens */
  double max_cost;            /* negative: no bound */
  bool no_cache, insecure;    /* insecure: http to other machines, too */
};
enum { NAI_LLM_TIMEOUT_S = 120, NAI_LLM_PROMPT_TOKENS = 8000, NAI_LLM_REPLY_TOKENS = 800 };

/* What is sent: the body of the request, without the key. *facts: how many of the answer's facts it holds; the last
 * ones are left out when all are too long. NAI_ELIMIT: too long or too dear anyhow. */
NAI_MUST_CHECK int nai_llm_request(struct nai_buf *body, size_t *facts, const char *question,
                                   const struct nai_answer *answer, const struct nai_llm_options *options,
                                   struct nai_err *err);
/* The model's text, checked. Any failure is an error whose message says why there is none; it never holds the key. */
NAI_MUST_CHECK int nai_llm_rewrite(struct nai_buf *text, const char *question, const struct nai_answer *answer,
                                   const struct nai_llm_options *options, struct nai_err *err);

enum nai_claim_verdict {
  NAI_CLAIM_SUPPORTED,
  NAI_CLAIM_NOT_IN_CITED, /* no fact that its sentence cites holds it */
  NAI_CLAIM_UNCITED,      /* its sentence cites no fact */
  NAI_CLAIM_NO_SUCH_FACT  /* of a sentence: it cites a fact that the answer does not have */
};
/* A number of a text, or a citation; texts are borrowed from there. */
struct nai_claim {
  enum nai_claim_verdict verdict;
  const char *text, *sentence; /* text: NULL of a citation */
  size_t len, sentence_len;
  uint64_t cited, found; /* bit 0 for F1: facts that the sentence cites; facts that hold the number */
};
typedef void (*nai_claim_visit)(void *context, const struct nai_claim *claim);
/* Each number of a text held against the first `facts` facts of an answer: one holds it that has the same kind of
 * unit and is equal to the last digit that is written. A number without a unit may also be the question's. False: out
 * of memory. */
bool nai_claims_visit(const char *text, const char *question, const struct nai_answer *answer, size_t facts,
                      nai_claim_visit visit, void *context);
/* Whether all claims of a text are supported. *why, empty before: the first that is not. */
bool nai_llm_check(struct nai_buf *why, const char *text, const char *question, const struct nai_answer *answer,
                   size_t facts);
