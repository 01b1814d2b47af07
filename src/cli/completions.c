/* The completion scripts. They ask the program itself what to offer (complete.c), so they never grow old. */
#include "cli/internal.h"

#include "base/assets.h"

static const struct {
  const char *name, *about, *script;
} shells[] = {
    {"bash", "for ~/.bashrc: source <(PROGRAM completions bash)", "src/cli/completions/bash"},
    {"zsh", "as _PROGRAM in a directory of $fpath", "src/cli/completions/zsh"},
    {"fish", "as PROGRAM.fish in ~/.config/fish/completions", "src/cli/completions/fish"},
};

NAI_CLI_NAMES_OF(shell_name, shells)

static const char *shell_about(size_t i) { return shells[i].about; }

/* In all of them @ is the program's name (but for the shells' own $@, [@] and (@)) and %_ begins that name as an
 * identifier. */
static void put_script(struct nai_buf *out, const char *script, const char *name) {
  for (const char *c = script; *c; c++) {
    bool program = *c == '@' && !strchr("$[(", c[-1]), function = *c == '%' && c[1] == '_';
    if (!program && !function) {
      nai_buf_putc(out, *c);
      continue;
    }
    if (function)
      nai_buf_putc(out, '_');
    for (const char *n = name; *n; n++)
      nai_buf_putc(out, function && *n == '-' ? '_' : *n);
  }
}

static int run(void *args, const char *const *operands, size_t count, struct nai_err *err) {
  (void)count;
  const struct nai_asset *script = nai_asset_find(shells[nai_cli_choice_index(shell_name, operands[0])].script);
  NAI_SCOPED(nai_buf) text = {0};
  put_script(&text, script->data, ((const struct nai_cli_completions_args *)args)->program);
  NAI_TRY(nai_buf_check(&text, err));
  fputs(nai_buf_str(&text), stdout);
  return NAI_OK;
}

const struct nai_cli_command nai_cli_completions = {
    .name = "completions",
    .synopsis = "SHELL",
    .summary = "print the completion script of a shell",
    .description =
        "Prints a script that makes the shell complete commands, options and their values. Installed packages bring it "
        "already.",
    .examples = "PROGRAM completions bash > PROGRAM.bash && source PROGRAM.bash",
    .operands = (const struct nai_cli_operand[]){{"SHELL", shell_name, shell_about, true, NAI_CLI_NOTHING, NULL}, {0}},
    .min_operands = 1,
    .max_operands = 1,
    .args_size = sizeof(struct nai_cli_completions_args),
    .no_json = "a shell reads the script",
    .run = run,
};
