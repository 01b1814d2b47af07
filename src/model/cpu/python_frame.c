/* Frames of Python, in the forms that tools write them: `step (/app/train.py:42)`, `/app/train.py:42 step`, `File
 * "/app/train.py", line 42, in step`, or the function as symbol and the path as module. */
#include "model/cpu/call_stacks.h"
#include "base/text.h"

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }
static bool ends_path(char c) {
  return !c || isspace((unsigned char)c) || c == ':' || c == '"' || c == '(' || c == ')' || c == ',';
}

/* The path of a Python file in a text; its length, 0 for none. */
static int find_path(const char **path, const char *text) {
  for (const char *at = strstr(text, ".py"); at; at = strstr(at + 1, ".py")) {
    const char *end = at + 3 + (at[3] == 'x'), *start = at;
    if (!ends_path(*end)) /* before the way back, which then ends where the last one did */
      continue;
    while (start > text && !ends_path(start[-1]))
      start--;
    if (start == at)
      continue;
    *path = start;
    return (int)(end - start);
  }
  return 0;
}

static int64_t number_at(const char *text) {
  char *end;
  long long value = strtoll(text, &end, 10);
  return end > text && isdigit((unsigned char)text[0]) && value <= INT32_MAX ? value : -1;
}

/* `:42` right behind a path, or `line 42` anywhere. */
static int64_t find_line(const char *text, const char *behind) {
  const char *word = strstr(text, "line ");
  return behind && *behind == ':' ? number_at(behind + 1) : word ? number_at(word + strlen("line ")) : -1;
}

static bool is_filler(const char *word, size_t length) {
  return isdigit((unsigned char)word[0]) || nai_text_is_one(word, length, NAI_WORDS("File", "line", "in", "at"));
}

/* The first word outside of the path that is neither a number nor filler; dots and <locals> belong to it. */
static void find_function(struct nai_python_frame *frame, const char *text) {
  for (const char *at = text; *at;) {
    if (at == frame->path) {
      at += frame->path_length;
      continue;
    }
    const char *end = at;
    while (is_name(*end) || *end == '<' || *end == '>' || (*end == '.' && end > at))
      end++;
    if (end > at && end != frame->path && !is_filler(at, (size_t)(end - at))) {
      frame->function = at;
      frame->function_length = (int)(end - at);
      return;
    }
    at = end > at ? end : at + 1;
  }
}

bool nai_python_frame_parse(struct nai_python_frame *frame, const char *symbol, const char *module) {
  *frame = (struct nai_python_frame){.line = -1};
  frame->path_length = find_path(&frame->path, symbol);
  if (!frame->path_length && module)
    frame->path_length = find_path(&frame->path, module);
  if (!frame->path_length)
    return false;
  const char *end = frame->path + frame->path_length;
  frame->line = find_line(symbol, end);
  find_function(frame, symbol);
  if (frame->line < 0 && frame->function_length && frame->function[frame->function_length] == ':')
    frame->line = number_at(frame->function + frame->function_length + 1);
  return true;
}
