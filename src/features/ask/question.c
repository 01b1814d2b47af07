/* nsys-ai ask: a question in plain words. */
#include "features/ask/question_print.h"

#include "features/ask/llm.h"
#include "base/escape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct question_args {
  struct nai_cmd_ask ask;
  const char *intents[16];
  size_t intent_count;
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
  int rc = nai_cli_read_number(&model->price_in, option, values[0], err);
  return rc ? rc : nai_cli_read_number(&model->price_out, option, values[1], err);
}
static const struct nai_cli_type price_type = {set_price, NULL};

static const char *formats(size_t index, const char *before) {
  static const char *const names[] = {"text", "json"};
  (void)before;
  return index < sizeof names / sizeof *names ? names[index] : NULL;
}
enum { TEXT, JSON };

#define ASK offsetof(struct question_args, ask)
#define MODEL(field) .at = offsetof(struct question_args, model) + offsetof(struct nai_llm_options, field)
static const struct nai_cli_option options[] = {
    {.name = "intents",
     .value = "FILE",
     .help = "further things that can be asked, as in rules/intents.yaml; repeatable",
     .type = &nai_cli_texts,
     .at = offsetof(struct question_args, intents),
     .count_at = offsetof(struct question_args, intent_count),
     .most = 16,
     .hint = NAI_CLI_FILE,
     .suffixes = "yaml yml"},
    {.name = "format",
     .value = "FORMAT",
     .help = "how the answer is printed",
     .type = &nai_cli_choice,
     .at = ASK + offsetof(struct nai_cmd_ask, format),
     .choices = formats},
    {.name = "llm",
     .help = "let the model of NSYS_AI_LLM_URL and NSYS_AI_LLM_MODEL (key: NSYS_AI_LLM_KEY) put the facts into words; "
             "what it writes is used only if its numbers are those of the facts",
     .type = &nai_cli_on,
     .at = offsetof(struct question_args, llm)},
    {.name = "dry-run",
     .help = "print what --llm would send, and send nothing",
     .type = &nai_cli_on,
     .at = offsetof(struct question_args, dry_run)},
    {.name = "timeout",
     .value = "SECONDS",
     .help = "of --llm",
     .type = &nai_cli_number,
     MODEL(timeout_s),
     .min = 0,
     .max = 3600},
    {.name = "max-prompt-tokens",
     .value = "N",
     .help = "send at most about so many tokens; the last facts are left out",
     .type = &nai_cli_int64,
     MODEL(max_prompt_tokens),
     .min = 100,
     .max = 1000000},
    {.name = "price",
     .value = "IN OUT",
     .help = "of a million tokens of the model, sent and received: what --max-cost is reckoned with",
     .type = &price_type,
     .max = 1000000,
     .otherwise = "0 0"},
    {.name = "max-cost",
     .value = "X",
     .help = "do not ask the model if that may cost more",
     .type = &nai_cli_number,
     MODEL(max_cost),
     .max = 1000000,
     .otherwise = "no limit"},
    {.name = "no-cache", .help = "ask the model again", .type = &nai_cli_on, MODEL(no_cache)},
    {.name = "insecure-http", .help = "allow a URL with http to another machine", .type = &nai_cli_on, MODEL(insecure)},
    NAI_CMD_QUIET_OPTION(ASK),
    {0},
};

/* The words of a command line as one text: a question need not be quoted. */
static int join(struct nai_buf *out, const char *const *words, size_t count, struct nai_err *err) {
  for (size_t i = 0; i < count; i++)
    nai_buf_printf(out, "%s%s", i ? " " : "", words[i]);
  int rc = nai_buf_check(out, err);
  if (!rc && strspn(nai_buf_str(out), " \t\n") == out->len)
    rc = nai_err_set(err, NAI_EUSAGE, "ask what? The question is empty");
  if (!rc && out->len > NAI_QUESTION_MAX_BYTES)
    rc = nai_err_set(err, NAI_EUSAGE, "a question has at most %d bytes", NAI_QUESTION_MAX_BYTES);
  return rc;
}

/* What would be sent, the key left out. */
static int print_request(struct nai_buf *out, const char *question, const struct nai_answer *answer,
                         const struct nai_llm_options *model, struct nai_err *err) {
  struct nai_buf body = {0};
  struct nai_llm_options named = *model;
  size_t facts;
  named.name = model->name && *model->name ? model->name : "(NSYS_AI_LLM_MODEL)";
  int rc = nai_llm_request(&body, &facts, question, answer, &named, err);
  nai_buf_puts(out, "POST ");
  nai_escape_terminal(out, model->url ? model->url : "(NSYS_AI_LLM_URL)",
                      strlen(model->url ? model->url : "(NSYS_AI_LLM_URL)"));
  nai_buf_printf(out, "/chat/completions\nContent-Type: application/json\n%s\n%s\n",
                 model->key && *model->key ? "Authorization: Bearer (NSYS_AI_LLM_KEY)\n" : "", nai_buf_str(&body));
  nai_buf_free(&body);
  return rc;
}

/* The answer in the model's words, if those can be had. Whatever goes wrong, there is the answer without. */
static int print_answer(struct nai_buf *out, const char *question, const struct nai_answer *answer,
                        const struct question_args *args, const struct nai_llm_options *model, struct nai_err *err) {
  struct nai_cmd_wording wording = {.model = model->name};
  struct nai_buf text = {0};
  struct nai_err failure = {0};
  bool good = args->llm && nai_llm_rewrite(&text, question, answer, model, &failure) == NAI_OK;
  if (good)
    wording.text = nai_buf_str(&text);
  if (args->llm && !good) {
    struct nai_buf why = {0};
    nai_escape_terminal(&why, failure.msg, strlen(failure.msg));
    fprintf(stderr, "nsys-ai: the model's words are not used: %s\n", nai_buf_str(&why));
    nai_buf_free(&why);
  }
  (args->ask.format == JSON ? nai_cmd_put_answer_json : nai_cmd_put_answer)(out, question, answer,
                                                                            good ? &wording : NULL);
  nai_buf_free(&text);
  return nai_buf_check(out, err);
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  const struct question_args *args = memory;
  struct nai_llm_options model = args->model;
  struct nai_intents *intents = NULL;
  struct nai_run *source = NULL;
  struct nai_answer answer = {0};
  struct nai_buf question = {0}, quoted = {0}, out = {0};
  (void)program;
  model.url = getenv("NSYS_AI_LLM_URL");
  model.name = getenv("NSYS_AI_LLM_MODEL");
  model.key = getenv("NSYS_AI_LLM_KEY");
  int rc = join(&question, operands + 1, count - 1, err);
  if (!rc)
    rc = nai_intents_load(&intents, args->intents, args->intent_count, err);
  if (!rc)
    rc = nai_cmd_source_open(&source, operands[0], &(struct nai_cmd_source){.quiet = args->ask.quiet}, err);
  nai_cmd_put_shell_word(&quoted, operands[0]);
  if (!rc)
    rc = nai_cmd_blame_build(
        nai_question_ask(&answer, intents, source, nai_buf_str(&question), nai_buf_str(&quoted), err), source, err);
  if (!rc)
    rc = args->dry_run ? print_request(&out, nai_buf_str(&question), &answer, &model, err)
                       : print_answer(&out, nai_buf_str(&question), &answer, args, &model, err);
  if (!rc)
    rc = nai_cmd_print(&out, err);
  nai_answer_free(&answer);
  nai_intents_free(intents);
  nai_run_close(source);
  nai_buf_free(&question);
  nai_buf_free(&quoted);
  nai_buf_free(&out);
  return rc;
}

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct question_args *args = memory;
  (void)operands, (void)count;
  return args->llm && !nai_llm_is_built()
           ? nai_err_set(err, NAI_EUSAGE, "--llm: this program was built without it (cmake -DNAI_LLM=ON, libcurl)")
           : NAI_OK;
}

const struct nai_cli_command nai_cmd_question = {
    .name = "ask",
    .synopsis = "SRC QUESTION...",
    .summary = "answer a question in plain words, from the tables of a run",
    .description =
        "Answers a question such as \"why is my GPU idle\" from findings and tables of a run: each sentence cites a fact, "
        "and each fact the row of the table that says so. Words of the question decide what is looked at (rules/intents.yaml); "
        "names of kernels, ranges and calls, and \"GPU 1\", are understood. The same question about the same run has the same "
        "answer. With --llm a language model puts the facts into words; what it writes is checked, and whatever fails there, the "
        "answer without it is printed. SRC is an artifacts directory or a trace, which is analysed for this answer only.",
    .examples =
        "nsys-ai ask artifacts/run1 why is my GPU idle\nnsys-ai ask artifacts/run1 'is NCCL overlapped on GPU 1?'\n"
        "nsys-ai ask trace.sqlite 'how slow is flash_fwd_kernel' --format json",
    .options = options,
    .operands =
        (const struct nai_cli_operand[]){
            {.name = "SRC", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES}, {.name = "QUESTION"}, {0}},
    .min_operands = 2,
    .max_operands = NAI_CLI_ANY_NUMBER,
    .args_size = sizeof(struct question_args),
    .init = init,
    .check = check,
    .run = run,
};
