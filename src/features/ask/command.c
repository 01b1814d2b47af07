/* nsys-ai ask: a question in plain words. */
#include "features/ask/question_print.h"

#include "features/ask/llm.h"
#include "base/escape.h"

struct question_args {
  struct nai_cmd_ask ask;
  const char *intents[16];
  size_t intent_count;
  const char *check; /* a text to hold against the facts; NULL: none */
  bool llm, dry_run;
  struct nai_llm_options model;
};

static void init(void *memory) {
  struct question_args *args = memory;
  nai_cmd_ask_init(&args->ask);
  args->model.timeout_s = NAI_LLM_TIMEOUT_S;
  args->model.max_prompt_tokens = NAI_LLM_PROMPT_TOKENS;
  args->model.max_cost = -1;
}

static int set_price(void *memory, const struct nai_cli_option *option, const char *const *values,
                     struct nai_err *err) {
  struct nai_llm_options *model = &((struct question_args *)memory)->model;
  NAI_TRY(nai_cli_read_number(&model->price_in, option, values[0], err));
  return nai_cli_read_number(&model->price_out, option, values[1], err);
}
static const struct nai_cli_type price_type = {set_price, NULL};

NAI_CLI_NAMES(formats, "text", "json")
enum { TEXT, JSON };

#define NAI_CLI_ARGS struct question_args
static const struct nai_cli_option options[] = {
    NAI_CLI_LIST(texts, intents, intent_count, "intents", "FILE",
                 "further things that can be asked, as in rules/intents.yaml; repeatable", NAI_CLI_FILES("yaml yml")),
    NAI_CLI_OPTION(choice, ask.format, "format", "FORMAT", "how the answer is printed", .choices = formats),
    NAI_CLI_OPTION(text, check, "check", "TEXT",
                   "instead of the answer: each number of a text about it, which cites its facts as [F1], and whether "
                   "they support it"),
    NAI_CLI_SWITCH(
        on, llm, "llm",
        "let the model of NSYS_AI_LLM_URL and NSYS_AI_LLM_MODEL (key: NSYS_AI_LLM_KEY) put the facts into words; "
        "what it writes is used only if its numbers are those of the facts"),
    NAI_CLI_SWITCH(on, dry_run, "dry-run", "print what --llm would send, and send nothing"),
    NAI_CLI_OPTION(number, model.timeout_s, "timeout", "SECONDS", "of --llm", NAI_CLI_RANGE(0, 3600)),
    NAI_CLI_OPTION(int64, model.max_prompt_tokens, "max-prompt-tokens", "N",
                   "send at most about so many tokens; the last facts are left out", NAI_CLI_RANGE(100, 1000000)),
    NAI_CLI_OTHER(price_type, "price", "IN OUT",
                  "of a million tokens of the model, sent and received: what --max-cost is reckoned with",
                  .max = 1000000, .otherwise = "0 0"),
    NAI_CLI_OPTION(number, model.max_cost, "max-cost", "X", "do not ask the model if that may cost more",
                   .max = 1000000, .otherwise = "no limit"),
    NAI_CLI_SWITCH(on, model.no_cache, "no-cache", "ask the model again"),
    NAI_CLI_SWITCH(on, model.insecure, "insecure-http", "allow a URL with http to another machine"),
    NAI_CMD_EXPORT_OPTION,
    NAI_CMD_QUIET_OPTION,
    {0},
};

/* A word as a shell reads it back: quoted where it has to be. */
static void put_shell_word(struct nai_buf *out, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";
  if (*word && strspn(word, plain) == strlen(word))
    nai_buf_puts(out, word);
  else
    nai_cmd_put_quoted(out, word);
}

/* The words of a command line as one text: a question need not be quoted. */
static int join(struct nai_buf *out, const char *const *words, size_t count, struct nai_err *err) {
  for (size_t i = 0; i < count; i++)
    nai_buf_printf(out, "%s%s", i ? " " : "", words[i]);
  NAI_TRY(nai_buf_check(out, err));
  if (strspn(nai_buf_str(out), " \t\n") == out->len)
    return nai_err_set(err, NAI_EUSAGE, "ask what? The question is empty");
  if (out->len > NAI_QUESTION_MAX_BYTES)
    return nai_err_set(err, NAI_EUSAGE, "a question has at most %d bytes", NAI_QUESTION_MAX_BYTES);
  return NAI_OK;
}

/* What would be sent, the key left out. */
static int print_request(struct nai_buf *out, const char *question, const struct nai_answer *answer,
                         const struct nai_llm_options *model, struct nai_err *err) {
  NAI_SCOPED(nai_buf) body = {0};
  struct nai_llm_options named = *model;
  size_t facts;
  named.name = model->name && *model->name ? model->name : "(NSYS_AI_LLM_MODEL)";
  int rc = nai_llm_request(&body, &facts, question, answer, &named, err);
  nai_buf_puts(out, "POST ");
  nai_escape_terminal(out, model->url ? model->url : "(NSYS_AI_LLM_URL)",
                      strlen(model->url ? model->url : "(NSYS_AI_LLM_URL)"));
  nai_buf_printf(out, "/chat/completions\nContent-Type: application/json\n%s\n%s\n",
                 model->key && *model->key ? "Authorization: Bearer (NSYS_AI_LLM_KEY)\n" : "", nai_buf_str(&body));
  return rc;
}

static int print_claims(struct nai_buf *out, const char *question, const struct nai_answer *answer,
                        const struct question_args *args, struct nai_err *err) {
  (args->ask.format == JSON ? nai_cmd_put_claims_json : nai_cmd_put_claims)(out, args->check, question, answer);
  return nai_buf_check(out, err);
}

/* The answer in the model's words, if those can be had. Whatever goes wrong, there is the answer without. */
static int print_answer(struct nai_buf *out, const char *question, const struct nai_answer *answer,
                        const struct question_args *args, const struct nai_llm_options *model, struct nai_err *err) {
  struct nai_cmd_wording wording = {.model = model->name};
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_err failure = {0};
  bool good = args->llm && nai_llm_rewrite(&text, question, answer, model, &failure) == NAI_OK;
  if (good)
    wording.text = nai_buf_str(&text);
  if (args->llm && !good) {
    NAI_SCOPED(nai_buf) why = {0};
    nai_escape_terminal(&why, failure.msg, strlen(failure.msg));
    fprintf(stderr, "nsys-ai: the model's words are not used: %s\n", nai_buf_str(&why));
  }
  (args->ask.format == JSON ? nai_cmd_put_answer_json : nai_cmd_put_answer)(out, question, answer,
                                                                            good ? &wording : NULL);
  return nai_buf_check(out, err);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct question_args *args = memory;
  struct nai_llm_options model = args->model;
  NAI_OWNED(nai_intents) *intents = NULL;
  NAI_OWNED(nai_run) *source = NULL;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_answer answer;
  NAI_SCOPED(nai_buf) question = {0}, quoted = {0}, out = {0};
  model.url = getenv("NSYS_AI_LLM_URL");
  model.name = getenv("NSYS_AI_LLM_MODEL");
  model.key = getenv("NSYS_AI_LLM_KEY");
  NAI_TRY(join(&question, operands + 1, count - 1, err));
  NAI_TRY(nai_intents_load(&intents, args->intents, args->intent_count, err));
  NAI_TRY(nai_cmd_source_open(&source, operands[0], &(struct nai_cmd_source){.quiet = args->ask.quiet}, err));
  put_shell_word(&quoted, operands[0]);
  NAI_TRY(nai_buf_check(&quoted, err));
  NAI_TRY(nai_cmd_blame_build(nai_question_ask(&answer, intents, source, nai_buf_str(&question), nai_buf_str(&quoted),
                                               &arena, err),
                              source, err));
  NAI_TRY(args->check     ? print_claims(&out, nai_buf_str(&question), &answer, args, err)
          : args->dry_run ? print_request(&out, nai_buf_str(&question), &answer, &model, err)
                          : print_answer(&out, nai_buf_str(&question), &answer, args, &model, err));
  return nai_cmd_print(&out, err);
}

NAI_CLI_COMMAND(
    nai_cmd_question, .name = "ask", .synopsis = "SRC QUESTION...",
    .summary = "answer a question in plain words, from the tables of a run",
    .description =
        "Answers a question such as \"why is my GPU idle\" from findings and tables of a run: each sentence cites a "
        "fact, and each fact the row of the table that says so. Words of the question decide what is looked at "
        "(rules/intents.yaml); names of kernels, ranges and calls, and \"GPU 1\", are understood. The same question "
        "about the same run has the same answer. With --llm a language model puts the facts into words; what it writes "
        "is checked, and whatever fails there, the answer without it is printed. " NAI_CMD_ABOUT_SOURCE,
    .examples =
        "nsys-ai ask artifacts/run1 why is my GPU idle\nnsys-ai ask artifacts/run1 'is NCCL overlapped on GPU 1?'\n"
        "nsys-ai ask trace.sqlite 'how slow is flash_fwd_kernel' --format json",
    .options = options, NAI_CLI_OPERANDS(2, NAI_CLI_ANY_NUMBER, NAI_CMD_SOURCE("SRC"), {.name = "QUESTION"}),
    .init = init, .run = run)
