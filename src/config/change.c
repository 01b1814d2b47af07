#include "config/change.h"

/* "remove-wait", "kernel", ...: as options are called */
static const char *kind_name(enum nai_change_kind kind) {
  static const char *const names[NAI_CHANGE_KINDS] = {
      "remove-wait",    "remove-wait-at", "kernel", "copy", "copy-at", "pinned",      "own-stream", "own-stream-comm",
      "more-in-flight", "fuse",           "graphs", "call", "host",    "no-profiler", "balance"};
  return names[kind];
}

/* Of what takes a factor: what it is about, then the factor. */
static void put_factor(struct nai_buf *out, const struct nai_change *change, const char *what, const char *about,
                       size_t length) {
  double from = change->factor[NAI_CASE_HIGH], to = change->factor[NAI_CASE_LIKELY] * 2 - from;
  bool range = from < change->factor[NAI_CASE_LIKELY];
  nai_buf_printf(out, "%s%s%.*s", from == 0 && !range ? "no " : "", what, (int)length, about);
  if (range)
    nai_buf_printf(out, " in %.0f to %.0f %% of the time", 100 * from, 100 * to);
  else if (from > 0)
    nai_buf_printf(out, " in %.0f %% of the time", 100 * from);
}

void nai_change_put_words(struct nai_buf *out, const struct nai_change *change) {
  static const char *const words[NAI_CHANGE_KINDS] = {[NAI_CHANGE_REMOVE_WAIT] = "no wait in ",
                                                      [NAI_CHANGE_REMOVE_WAIT_AT] = "no wait in ",
                                                      [NAI_CHANGE_KERNEL] = "kernels ",
                                                      [NAI_CHANGE_COPY] = "copies ",
                                                      [NAI_CHANGE_COPY_AT] = "copies by ",
                                                      [NAI_CHANGE_PINNED] = "pinned memory for copies",
                                                      [NAI_CHANGE_OWN_STREAM] = "copies to the GPU on their own stream",
                                                      [NAI_CHANGE_OWN_STREAM_COMM] = "communication on its own stream",
                                                      [NAI_CHANGE_MORE_IN_FLIGHT] = "no hand-offs to thread ",
                                                      [NAI_CHANGE_FUSE] = "fused kernels ",
                                                      [NAI_CHANGE_GRAPHS] = "launches in CUDA graphs",
                                                      [NAI_CHANGE_CALL] = "calls ",
                                                      [NAI_CHANGE_HOST] = "host code",
                                                      [NAI_CHANGE_NO_PROFILER] = "no profiler overhead",
                                                      [NAI_CHANGE_BALANCE] = "balanced ranks"};
  const char *kind = kind_name(change->kind), *what = words[change->kind];
  const char *about = change->text + strlen(kind), *equals = strrchr(about, '=');
  about += *about == ' ';
  bool comment = strncmp(about, "(?#", 3) == 0; /* of the expression: what it stands for, in words */
  if (change->kind == NAI_CHANGE_HOST)
    put_factor(out, change, what, "", 0);
  else if (change->kind == NAI_CHANGE_KERNEL || change->kind == NAI_CHANGE_COPY || change->kind == NAI_CHANGE_COPY_AT ||
           change->kind == NAI_CHANGE_CALL)
    put_factor(out, change, what, comment ? about + 3 : about,
               comment ? strcspn(about + 3, ")") : (size_t)(equals - about));
  else if (change->kind == NAI_CHANGE_FUSE && strcmp(about, ".") == 0)
    nai_buf_puts(out, "fused elementwise kernels");
  else
    nai_buf_printf(out, "%s%s", what, about);
}

void nai_change_free(struct nai_change *change) { nai_patterns_free(change->where); }

static int bad_factor(const struct nai_change *change, struct nai_err *err) {
  return nai_err_set(err, NAI_EUSAGE,
                     "%.200s: a factor of the duration (=0.55), a speed-up (=1.8x) or a range of factors (=0.5..0.7) "
                     "stands at the end",
                     change->text);
}

static bool in_bounds(double factor) { return factor >= 0 && factor <= 100; }

/* Cautious is half way to no change where no range is given. */
static int read_factor(struct nai_change *change, const char *digits, struct nai_err *err) {
  char *end;
  double first = strtod(digits, &end), second;
  if (end == digits || !in_bounds(first))
    return bad_factor(change, err);
  if (strncmp(end, "..", 2) == 0) {
    const char *rest = end + 2;
    second = strtod(rest, &end);
    if (end == rest || *end || !in_bounds(second))
      return bad_factor(change, err);
    change->factor[NAI_CASE_LOW] = fmax(first, second);
    change->factor[NAI_CASE_HIGH] = fmin(first, second);
    change->factor[NAI_CASE_LIKELY] = (first + second) / 2;
    return NAI_OK;
  }
  if (strcmp(end, "x") == 0 && first > 0)
    first = 1 / first;
  else if (*end)
    return bad_factor(change, err);
  change->factor[NAI_CASE_LOW] = (1 + first) / 2;
  change->factor[NAI_CASE_LIKELY] = change->factor[NAI_CASE_HIGH] = first;
  return NAI_OK;
}

/* "FUNCTION in RANGE > RANGE": of the ranges the last. */
static void read_place(struct nai_change *change, const char *words, struct nai_arena *arena) {
  const char *in = strstr(words, " in ");
  change->function = in ? nai_arena_printf(arena, "%.*s", (int)(in - words), words) : words;
  change->range = in ? in + 4 : NULL;
  for (const char *inner; change->range && (inner = strstr(change->range, " > "));)
    change->range = inner + 3;
}

static int read_pattern(struct nai_change *change, const char *words, size_t len, struct nai_arena *arena,
                        struct nai_err *err) {
  const char *regex = nai_arena_printf(arena, "%.*s", (int)len, words);
  NAI_TRY(nai_arena_check(arena, err));
  NAI_TRY(nai_patterns_new(&change->where, err));
  return nai_patterns_add_regex(change->where, "match", kind_name(change->kind), regex, err);
}

int nai_change_read(struct nai_change *change, enum nai_change_kind kind, const char *words, struct nai_arena *arena,
                    struct nai_err *err) {
  const char *name = kind_name(kind), *equals;
  bool alone = kind == NAI_CHANGE_NO_PROFILER || kind == NAI_CHANGE_BALANCE || kind == NAI_CHANGE_PINNED ||
               kind == NAI_CHANGE_OWN_STREAM || kind == NAI_CHANGE_OWN_STREAM_COMM || kind == NAI_CHANGE_GRAPHS;
  *change = (struct nai_change){.kind = kind, .factor = {1, 1, 1}};
  words = nai_arena_printf(arena, "%s", words);
  change->text = alone ? name : nai_arena_printf(arena, "%s %s", name, words);
  NAI_TRY(nai_arena_check(arena, err));
  if (alone && *words)
    return nai_err_set(err, NAI_EUSAGE, "%s takes nothing more: \"%.200s\"", name, words);
  if (!alone && !*words)
    return nai_err_set(err, NAI_EUSAGE, "%s: what it is about is missing", name);
  if (alone)
    return NAI_OK;
  if (kind == NAI_CHANGE_REMOVE_WAIT || kind == NAI_CHANGE_MORE_IN_FLIGHT || kind == NAI_CHANGE_FUSE)
    return read_pattern(change, words, strlen(words), arena, err);
  if (kind == NAI_CHANGE_HOST)
    return read_factor(change, words, err);
  if (kind == NAI_CHANGE_REMOVE_WAIT_AT) {
    read_place(change, words, arena);
    return nai_arena_check(arena, err);
  }
  equals = strrchr(words, '=');
  if (!equals || equals == words)
    return bad_factor(change, err);
  NAI_TRY(read_factor(change, equals + 1, err));
  if (kind == NAI_CHANGE_COPY_AT) {
    read_place(change, nai_arena_printf(arena, "%.*s", (int)(equals - words), words), arena);
    return nai_arena_check(arena, err);
  }
  return read_pattern(change, words, (size_t)(equals - words), arena, err);
}

int nai_change_parse(struct nai_change *out, const char *text, struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(nai_arena_check(arena, err)); /* whose text it may be */
  size_t len = strcspn(text, " ");
  for (int k = 0; k < NAI_CHANGE_KINDS; k++) {
    const char *name = kind_name((enum nai_change_kind)k);
    if (strlen(name) == len && strncmp(text, name, len) == 0)
      return nai_change_read(out, (enum nai_change_kind)k, text + len + (text[len] == ' '), arena, err);
  }
  return nai_err_set(
      err, NAI_EUSAGE,
      "\"%.200s\" is no change; they begin with remove-wait, remove-wait-at, kernel, copy, copy-at, "
      "pinned, own-stream, own-stream-comm, more-in-flight, fuse, graphs, call, host, no-profiler or balance",
      text);
}
