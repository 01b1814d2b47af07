/* The command line: options of every type, operands in any number, texts made from the tables. */
#include "unit.h"

#include "cli/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct args {
  bool on, off;
  const char *text, *word;
  int number, choice;
  int64_t large, bytes, ints[3];
  const char *texts[2];
  double real;
  size_t int_count, text_count;
  struct nai_cli_stretch stretch;
};

static const char *color(size_t i, const char *before) {
  static const char *const names[] = {"red", "green", "blue"};
  (void)before;
  return i < 3 ? names[i] : NULL;
}

static void init(void *memory) {
  struct args *a = memory;
  a->off = true;
  a->number = 7;
  a->choice = 2;
  a->real = -1;
}

#define AT(field) .at = offsetof(struct args, field)
static const struct nai_cli_option options[] = {
    {.name = "on", .letter = 'o', .help = "h", .type = &nai_cli_on, AT(on)},
    {.name = "no-off", .help = "h", .type = &nai_cli_off, AT(off)},
    {.name = "text", .letter = 't', .value = "T", .help = "h", .type = &nai_cli_text, AT(text), .otherwise = "nothing"},
    {.name = "number", .letter = 'n', .value = "N", .help = "h", .type = &nai_cli_int, AT(number), .min = 1, .max = 9},
    {.name = "large", .value = "N", .help = "h", .type = &nai_cli_int64, AT(large), .min = INT64_MIN, .max = INT64_MAX},
    {.name = "real", .value = "X", .help = "h", .type = &nai_cli_number, AT(real), .min = 0, .max = 1},
    {.name = "bytes", .value = "S", .help = "h", .type = &nai_cli_bytes, AT(bytes), .max = 1 << 30},
    {.name = "trim",
     .value = "START END",
     .help = "h",
     .type = &nai_cli_stretch,
     AT(stretch),
     .min = -1000,
     .max = 1000},
    {.name = "choice", .value = "C", .help = "h", .type = &nai_cli_choice, AT(choice), .choices = color},
    {.name = "word", .value = "C", .help = "h", .type = &nai_cli_word, AT(word), .choices = color, .also = "a file"},
    {.name = "int",
     .value = "N",
     .help = "h",
     .type = &nai_cli_ints,
     AT(ints),
     .min = -1,
     .max = 9,
     .most = 3,
     .count_at = offsetof(struct args, int_count)},
    {.name = "texts",
     .value = "T",
     .help = "h",
     .type = &nai_cli_texts,
     AT(texts),
     .most = 2,
     .count_at = offsetof(struct args, text_count)},
    {0},
};

static const struct nai_cli_command command = {
    .name = "do",
    .synopsis = "THING...",
    .options = options,
    .operands = (const struct nai_cli_operand[]){{.name = "THING"}, {0}},
    .max_operands = NAI_CLI_ANY_NUMBER,
    .args_size = sizeof(struct args),
    .init = init,
};

/* Parses the words of a line. */
static int parse(struct nai_cli_call *call, struct nai_err *err, const char *line) {
  static char copy[4096], *argv[1024];
  int argc = 0;
  snprintf(copy, sizeof copy, "%s", line);
  for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
    argv[argc++] = word;
  free(call->args);
  *call = (struct nai_cli_call){.args = nai_cli_new_args(&command)};
  *err = (struct nai_err){0};
  assert_non_null(call->args);
  return nai_cli_parse(call, &command, argc, argv, err);
}

TEST(test_values) {
  struct nai_cli_call call = {0};
  struct nai_err err;
  assert_int_equal(parse(&call, &err,
                         "a --on --no-off -t x --number=3 --large -9223372036854775808 --real 0.25 --bytes 1.5k "
                         "--choice green --word blue --int 4 --int -1 b --texts p --texts q"),
                   0);
  const struct args *a = call.args;
  assert_true(a->on && !a->off);
  assert_string_equal(a->text, "x");
  assert_int_equal(a->number, 3);
  assert_true(a->large == INT64_MIN && a->real == 0.25);
  assert_int_equal(a->bytes, 1536);
  assert_int_equal(a->choice, 1);
  assert_string_equal(a->word, "blue");
  assert_int_equal(a->int_count, 2);
  assert_true(a->ints[0] == 4 && a->ints[1] == -1);
  assert_int_equal(a->text_count, 2);
  assert_string_equal(a->texts[1], "q");
  assert_int_equal(call.operand_count, 2);
  assert_string_equal(call.operands[0], "a");
  assert_string_equal(call.operands[1], "b");
  assert_int_equal(parse(&call, &err, "-on4 -- -t --on -"), 0);
  a = call.args;
  assert_true(a->on && a->number == 4 && !a->text);
  assert_int_equal(call.operand_count, 3);
  assert_string_equal(call.operands[0], "-t");
  free(call.args);
}

/* Of the session's time, or from the first event on; the end as a time or a length. */
TEST(test_stretches) {
  static const struct {
    const char *line;
    bool from_first;
    int64_t start_ns, end_ns;
  } cases[] = {{"--trim 1.5 2", false, 1500000000, 2000000000},
               {"--trim -3ms 20us", false, -3000000, 20000},
               {"--trim 1s +250ns", false, 1000000000, 1000000250},
               {"--trim +0 +20ms", true, 0, 20000000},
               {"--trim +1.5\u00b5s +0.25", true, 1500, 250001500}};
  struct nai_cli_call call = {0};
  struct nai_err err;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(parse(&call, &err, cases[i].line), NAI_OK);
    const struct nai_cli_stretch *s = &((const struct args *)call.args)->stretch;
    assert_true(s->given && s->from_first == cases[i].from_first);
    assert_int_equal(s->start_ns, cases[i].start_ns);
    assert_int_equal(s->end_ns, cases[i].end_ns);
  }
  free(call.args);
}

TEST(test_any_number_of_operands) {
  struct nai_cli_call call = {0};
  struct nai_err err;
  char line[4096] = "";
  for (int i = 0; i < 500; i++)
    strcat(line, i % 2 ? "x " : "-n5 ");
  assert_int_equal(parse(&call, &err, line), 0);
  assert_int_equal(call.operand_count, 250);
  for (size_t i = 0; i < call.operand_count; i++)
    assert_string_equal(call.operands[i], "x");
  free(call.args);
}

TEST(test_mistakes) {
  static const struct {
    const char *line, *message;
  } cases[] = {
      {"--number 10", "--number 10: expected a whole number from 1 to 9"},
      {"--number 3x", "--number 3x: expected a whole number from 1 to 9"},
      {"--number", "--number needs N"},
      {"--real nan", "--real nan: expected a number from 0 to 1"},
      {"--trim +0 20", "--trim +0 20: behind +START stands +LENGTH"},
      {"--trim 1 +0", "--trim 1 +0: the end must lie after the start"},
      {"--trim 1x 2", "--trim 1x: expected seconds, or a time such as 20ms or 1.5us"},
      {"--trim + +1", "--trim : expected seconds, or a time such as 20ms or 1.5us"},
      {"--trim 0 1e9ms", "--trim 1e9ms: expected seconds, or a time such as 20ms or 1.5us"},
      {"--bytes 2G", "--bytes 2G: expected a size such as 512M or 4G"},
      {"--choice gren", "--choice gren: expected red, green or blue; did you mean green?"},
      {"--word x", "--word x: expected red, green, blue, or a file"},
      {"--on=1", "--on takes no value"},
      {"--text=", "--text needs T, not an empty word"},
      {"--nubmer 3", "unknown option --nubmer; did you mean --number?"},
      {"--hlep", "unknown option --hlep; did you mean --help?"},
      {"-z", "unknown option -z"},
      {"--int 1 --int 2 --int 3 --int 4", "--int can be given 3 times at most"},
  };
  struct nai_cli_call call = {0};
  struct nai_err err;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(parse(&call, &err, cases[i].line), NAI_EUSAGE);
    assert_string_equal(err.msg, cases[i].message);
  }
  free(call.args);
}

/* The text of an option: its choices and its default come from table and value. */
static void check_description(const char *name, const struct args *defaults, const char *wanted) {
  struct nai_buf text = {0};
  nai_cli_describe(&text, nai_cli_find_option(&command, name, strlen(name)), defaults);
  assert_string_equal(nai_buf_str(&text), wanted);
  nai_buf_free(&text);
}

TEST(test_descriptions) {
  struct args *a = nai_cli_new_args(&command);
  assert_non_null(a);
  check_description("number", a, "h (default: 7)");
  check_description("choice", a, "h: red, green or blue (default: blue)");
  check_description("word", a, "h: red, green, blue, or a file");
  check_description("text", a, "h (default: nothing)");
  check_description("real", a, "h");
  check_description("on", a, "h");
  a->number = 8;
  a->choice = 0;
  a->text = "x";
  a->bytes = 2048;
  check_description("number", a, "h (default: 8)");
  check_description("choice", a, "h: red, green or blue (default: red)");
  check_description("text", a, "h (default: x)");
  check_description("bytes", a, "h (default: 2K)");
  free(a);
}

TEST(test_help_and_version_anywhere) {
  struct nai_cli_call call = {0};
  struct nai_err err;
  assert_int_equal(parse(&call, &err, "a -h --frob"), 0);
  assert_true(call.help && !call.version);
  assert_int_equal(parse(&call, &err, "a -oh"), 0);
  assert_true(call.help);
  assert_int_equal(parse(&call, &err, "--version"), 0);
  assert_true(call.version);
  assert_int_equal(parse(&call, &err, "-- --help"), 0);
  assert_false(call.help);
  free(call.args);
}
