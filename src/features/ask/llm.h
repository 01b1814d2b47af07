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

/* Whether every sentence with a number cites facts of the first `facts`, and each number is one of theirs or of the
 * question: of the same kind of unit, and equal to the last digit that is written. *why: what is not. */
bool nai_llm_check(struct nai_buf *why, const char *text, const char *question, const struct nai_answer *answer,
                   size_t facts);
