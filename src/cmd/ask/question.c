/* nsys-ai ask: a question in plain words. */
#include "cmd/ask/question.h"

#include <string.h>

struct question_args {
  struct nai_cmd_ask ask;
  const char *intents[16];
  size_t intent_count;
};

static void init(void *memory) { nai_cmd_ask_init(&((struct question_args *)memory)->ask); }

static const char *formats(size_t index, const char *before) {
  static const char *const names[] = {"text", "json"};
  (void)before;
  return index < sizeof names / sizeof *names ? names[index] : NULL;
}
enum { TEXT, JSON };

#define ASK offsetof(struct question_args, ask)
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

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  const struct question_args *args = memory;
  struct nai_intents *intents = NULL;
  struct nai_run *source = NULL;
  struct nai_answer answer = {0};
  struct nai_buf question = {0}, quoted = {0}, out = {0};
  (void)program;
  int rc = join(&question, operands + 1, count - 1, err);
  if (!rc)
    rc = nai_intents_load(&intents, args->intents, args->intent_count, err);
  if (!rc)
    rc = nai_cmd_source_open(&source, operands[0], &(struct nai_cmd_source){.quiet = args->ask.quiet}, err);
  nai_cmd_put_shell_word(&quoted, operands[0]);
  if (!rc)
    rc = nai_question_ask(&answer, intents, source, nai_buf_str(&question), nai_buf_str(&quoted), err);
  if (!rc)
    (args->ask.format == JSON ? nai_cmd_put_answer_json : nai_cmd_put_answer)(&out, nai_buf_str(&question), &answer);
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

const struct nai_cli_command nai_cmd_question = {
    .name = "ask",
    .synopsis = "SRC QUESTION...",
    .summary = "answer a question in plain words, from the tables of a run",
    .description =
        "Answers a question such as \"why is my GPU idle\" from findings and tables of a run: each sentence cites a fact, "
        "and each fact the row of the table that says so. Words of the question decide what is looked at (rules/intents.yaml); "
        "names of kernels, ranges and calls, and \"GPU 1\", are understood. The same question about the same run has the same "
        "answer. SRC is an artifacts directory or a trace, which is analysed for this answer only.",
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
    .run = run,
};
