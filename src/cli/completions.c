/* The completion scripts. They ask the program itself what to offer (complete.c), so they never grow old. */
#include "cli/internal.h"

#include <stdio.h>
#include <string.h>

/* In all of them @ is the program's name (but for the shells' own $@, [@] and (@)) and %_ begins that name as an
 * identifier. */
static const char bash[] = "# Completion of @ for bash; made by: @ completions bash\n"
                           "%_offer() { # the words that compgen makes of its options\n"
                           "  compopt -o filenames 2>/dev/null\n"
                           "  mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen \"$@\" -- \"$cur\")\n"
                           "}\n"
                           "%_complete() {\n"
                           "  local line suffix cur=${COMP_WORDS[COMP_CWORD]}\n"
                           "  [[ $cur == = ]] && cur=\n"
                           "  COMPREPLY=()\n"
                           "  while IFS= read -r line; do\n"
                           "    case $line in\n"
                           "      :directories) %_offer -d ;;\n"
                           "      :files) %_offer -f ;;\n"
                           "      :files*)\n"
                           "        for suffix in ${line#:files }; do\n"
                           "          %_offer -f -X \"!*.$suffix\"\n"
                           "        done\n"
                           "        %_offer -d ;;\n"
                           "      *) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
                           "    esac\n"
                           "  done < <(\"${COMP_WORDS[0]}\" --complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
                           "}\n"
                           "complete -F %_complete @\n";

static const char zsh[] = "#compdef @\n"
                          "# Completion of @ for zsh; made by: @ completions zsh\n"
                          "%_complete() {\n"
                          "  local line\n"
                          "  local -a offers\n"
                          "  while IFS= read -r line; do\n"
                          "    case $line in\n"
                          "      :directories) _files -/ ;;\n"
                          "      :files) _files ;;\n"
                          "      :files*) _files -g \"*.(${${line#:files }// /|})\" ;;\n"
                          "      *) offers+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
                          "    esac\n"
                          "  done < <(\"${words[1]}\" --complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
                          "  (( ${#offers} )) && _describe -t offers '@' offers\n"
                          "}\n"
                          "if [[ $funcstack[1] == _@ ]]; then\n"
                          "  %_complete\n"
                          "else\n"
                          "  compdef %_complete @\n"
                          "fi\n";

static const char fish[] =
    "# Completion of @ for fish; made by: @ completions fish\n"
    "function %_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l current (commandline -ct)\n"
    "    for line in ($words[1] --complete $words[2..-1] \"$current\" 2>/dev/null)\n"
    "        switch $line\n"
    "            case ':directories'\n"
    "                __fish_complete_directories \"$current\" ''\n"
    "            case ':files'\n"
    "                __fish_complete_path \"$current\"\n"
    "            case ':files *'\n"
    "                for suffix in (string split ' ' -- (string replace ':files ' '' -- $line))\n"
    "                    __fish_complete_suffix \".$suffix\"\n"
    "                end\n"
    "            case '*'\n"
    "                echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c @ -f -a '(%_complete)'\n";

static const struct {
  const char *name, *about, *script;
} shells[] = {
    {"bash", "for ~/.bashrc: source <(PROGRAM completions bash)", bash},
    {"zsh", "as _PROGRAM in a directory of $fpath", zsh},
    {"fish", "as PROGRAM.fish in ~/.config/fish/completions", fish},
};
enum { SHELL_COUNT = sizeof shells / sizeof *shells };

static const char *shell_name(size_t i, const char *before) {
  (void)before;
  return i < SHELL_COUNT ? shells[i].name : NULL;
}

static const char *shell_about(size_t i) { return shells[i].about; }

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

static int run(void *args, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  (void)args, (void)count;
  NAI_SCOPED(nai_buf) text = {0};
  for (size_t i = 0; i < SHELL_COUNT; i++)
    if (strcmp(shells[i].name, operands[0]) == 0)
      put_script(&text, shells[i].script, program->name);
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
    .run = run,
};
