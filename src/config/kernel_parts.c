#include "config/kernel_parts.h"

#include "base/std.h"

const char *nai_kernel_part_name(enum nai_kernel_part part) {
  static const char *const names[NAI_KERNEL_PART_COUNT] = {"generator", "namespace", "name", "template", "arguments"};
  return names[part];
}

/* A text that is read from its beginning. */
struct reader {
  const char *at, *end;
};

static struct nai_kernel_span span(const char *from, const char *to) {
  return (struct nai_kernel_span){.text = from, .len = to > from ? (size_t)(to - from) : 0};
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool span_is(struct nai_kernel_span s, const char *text) {
  return s.len == strlen(text) && memcmp(s.text, text, s.len) == 0;
}

static bool begins(struct reader r, const char *text) {
  size_t len = strlen(text);
  return (size_t)(r.end - r.at) >= len && memcmp(r.at, text, len) == 0;
}

/* --- demangled names --------------------------------------------------------------------------- */

/* Behind the bracket that closes the one at `at`; inside of parentheses < and > compare. */
static const char *skip_brackets(const char *at, const char *end) {
  int round = 0, angle = 0;
  for (; at < end; at++) {
    round += *at == '(' || *at == '[' || *at == '{' ? 1 : *at == ')' || *at == ']' || *at == '}' ? -1 : 0;
    if (round <= 0)
      angle += *at == '<' ? 1 : *at == '>' && at[-1] != '-' ? -1 : 0;
    if (round <= 0 && angle <= 0)
      return at + 1;
  }
  return end;
}

/* Behind a name that stands for none, 0 where there is no such thing. */
static size_t unnamed(struct reader r) {
  static const char *const words[] = {"(anonymous namespace)", "<unnamed>", "{anonymous}"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (begins(r, words[i]))
      return strlen(words[i]);
  return 0;
}

/* A qualified name up to its arguments, or to a comma where it is an argument itself. */
static struct nai_kernel_parts parse_demangled(struct reader r) {
  struct nai_kernel_parts found = {0};
  const char *start = r.at, *own = r.at, *own_end = NULL; /* the qualified name, its last component */
  while (r.at < r.end && *r.at != ',') {
    size_t skipped = unnamed(r);
    if (skipped) {
      r.at += skipped;
    } else if (*r.at == '<') {
      const char *open = r.at;
      own_end = own_end ? own_end : r.at;
      r.at = skip_brackets(r.at, r.end);
      found.part[NAI_KERNEL_PART_TEMPLATE] = span(open + 1, r.at[-1] == '>' && r.at > open + 1 ? r.at - 1 : r.at);
    } else if (*r.at == '(') {
      const char *open = r.at;
      r.at = skip_brackets(r.at, r.end);
      found.part[NAI_KERNEL_PART_ARGUMENTS] = span(open + 1, r.at[-1] == ')' ? r.at - 1 : r.at);
      own_end = own_end ? own_end : open;
      break;
    } else if (*r.at == ' ' && r.at + 1 == r.end) {
      break;
    } else if (*r.at == ' ') { /* what stood before it was a return type */
      start = own = ++r.at;
      own_end = NULL;
      found = (struct nai_kernel_parts){0};
    } else if (begins(r, "::")) {
      own = r.at += 2;
      own_end = NULL;
    } else {
      r.at++;
    }
  }
  found.part[NAI_KERNEL_PART_NAMESPACE] = span(start, own);
  found.part[NAI_KERNEL_PART_NAME] = span(own, own_end ? own_end : r.at);
  return found;
}

/* --- mangled names (Itanium C++ ABI) ------------------------------------------------------------ */

/* The identifier at r->at, "6kernel"; empty when there is none. */
static struct nai_kernel_span identifier(struct reader *r) {
  size_t len = 0;
  const char *at = r->at;
  while (at < r->end && is_digit(*at) && len < 100000)
    len = len * 10 + (size_t)(*at++ - '0');
  if (!len)
    return span(at, at);
  const char *end = len < (size_t)(r->end - at) ? at + len : r->end;
  r->at = end;
  return span(at, end);
}

/* A nested or plain name behind "_Z", or an argument of a template. */
static struct nai_kernel_parts parse_mangled(struct reader r) {
  struct nai_kernel_parts found = {0};
  while (r.at < r.end && (*r.at == 'N' || *r.at == 'K' || *r.at == 'V' || *r.at == 'L'))
    r.at++;
  const char *start = r.at, *own = r.at;
  while (r.at < r.end) {
    const char *before = r.at;
    if (is_digit(*r.at)) {
      found.part[NAI_KERNEL_PART_NAME] = identifier(&r);
      own = before;
    } else if (*r.at == 'S') { /* a substitution: S_, S1_, St */
      r.at++;
      while (r.at < r.end && (is_digit(*r.at) || (*r.at >= 'A' && *r.at <= 'Z')) && *r.at != '_')
        r.at++;
      r.at += r.at < r.end;
    } else {
      break;
    }
    if (r.at == before)
      break;
  }
  found.part[NAI_KERNEL_PART_NAMESPACE] = span(start, own);
  bool arguments = r.at < r.end && *r.at == 'I';
  found.part[arguments ? NAI_KERNEL_PART_TEMPLATE : NAI_KERNEL_PART_ARGUMENTS] = span(r.at + arguments, r.end);
  return found;
}

/* --- names of generators ------------------------------------------------------------------------- */

static struct nai_kernel_parts parse_plain(struct reader r) {
  if (begins(r, "_Z"))
    return parse_mangled((struct reader){r.at + 2, r.end});
  return parse_demangled(r);
}

/* A name that begins with a prefix of `len` bytes by which its generator is known. */
static struct nai_kernel_parts parse_generated(struct reader r, size_t len) {
  struct nai_kernel_parts found = parse_plain((struct reader){r.at + len, r.end});
  found.part[NAI_KERNEL_PART_GENERATOR] = span(r.at, r.at + len - (r.at[len - 1] == '_'));
  return found;
}

/* CuTe DSL puts the types of the arguments behind the name: kernel_cutlass_NAME_object_at__tensorptrbf16... */
static struct nai_kernel_parts parse_cute(struct reader r, size_t len) {
  static const char *const arguments[] = {"_object_at_", "_tensor", "_TiledMMA", "_ptr", "_TiledCopy"};
  struct nai_kernel_parts found = {.part[NAI_KERNEL_PART_GENERATOR] = span(r.at, r.at + len - 1)};
  const char *own = r.at + len, *end = r.end;
  for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
    const char *at = memmem(own, (size_t)(end - own), arguments[i], strlen(arguments[i]));
    end = at ? at : end;
  }
  found.part[NAI_KERNEL_PART_NAME] = span(own, end);
  found.part[NAI_KERNEL_PART_ARGUMENTS] = span(end, r.end);
  return found;
}

/* LLVM: __omp_offloading_DEVICE_FILE_FUNCTION_lLINE. */
static struct nai_kernel_parts parse_offloading(struct reader r, size_t len) {
  struct reader function = {r.at + len, r.end};
  for (int numbers = 0; numbers < 2 && function.at < function.end; function.at++)
    numbers += *function.at == '_';
  struct nai_kernel_parts found = parse_plain(function);
  found.part[NAI_KERNEL_PART_GENERATOR] = span(r.at, r.at + len - 1);
  return found;
}

/* Whether the last word is "fusion", perhaps with a number: XLA's names of computations. */
static bool is_fusion(struct reader r) {
  const char *end = r.end;
  while (end > r.at && is_digit(end[-1]))
    end--;
  end -= end > r.at && end < r.end && end[-1] == '_';
  return end - r.at >= 6 && memcmp(end - 6, "fusion", 6) == 0;
}

/* NVHPC with OpenACC: FUNCTION_LINE_gpu, and FUNCTION_LINE_gpu__red for its reductions. */
static bool is_openacc(struct reader r) {
  const char *end = r.end;
  if (end - r.at > 5 && memcmp(end - 5, "__red", 5) == 0)
    end -= 5;
  return end - r.at > 6 && memcmp(end - 4, "_gpu", 4) == 0 && is_digit(end[-5]);
}

static struct nai_kernel_parts parse(struct reader r) {
  static const struct {
    const char *prefix;
    struct nai_kernel_parts (*parse)(struct reader r, size_t len);
    bool fusion; /* only for names that end in it */
  } generators[] = {
      {"triton_poi_", parse_generated, false},
      {"triton_red_", parse_generated, false},
      {"triton_per_", parse_generated, false},
      {"triton_tem_", parse_generated, false},
      {"triton_for_", parse_generated, false},
      {"kernel_cutlass_", parse_cute, false},
      {"__omp_offloading_", parse_offloading, false},
      {"nvkernel_", parse_generated, false},
      {"wrapped_", parse_generated, false},
      {"loop_", parse_generated, true},
      {"input_", parse_generated, true},
      {"cupy_", parse_generated, false},
  };
  for (size_t i = 0; i < sizeof generators / sizeof *generators; i++)
    if (begins(r, generators[i].prefix) && (!generators[i].fusion || is_fusion(r)))
      return generators[i].parse(r, strlen(generators[i].prefix));
  struct nai_kernel_parts found = parse_plain(r);
  if (is_openacc(r))
    found.part[NAI_KERNEL_PART_GENERATOR] = span(r.end - 3, r.end);
  return found;
}

/* --- templates that only launch ------------------------------------------------------------------ */

static bool holds(struct nai_kernel_span s, const char *text) {
  return s.len && memmem(s.text, s.len, text, strlen(text));
}

static struct reader reader_of(struct nai_kernel_span span) { /* of an empty one the text may be NULL */
  return (struct reader){span.text, span.len ? span.text + span.len : span.text};
}

/* cutlass::device_kernel, thrust's agents, and enable_sm90_or_later, which exists for one architecture only. */
static bool launches(const struct nai_kernel_parts *name) {
  static const struct {
    const char *space, *name;
  } wrappers[] = {
      {"cutlass", "device_kernel"},
      {"cutlass", "Kernel"},
      {"cutlass", "Kernel2"},
      {"thrust", "_kernel_agent"},
      {"thrust", "ParallelForAgent"},
      {"Kokkos", "cuda_parallel_launch_local_memory"},
      {"Kokkos", "cuda_parallel_launch_constant_memory"},
      {"Kokkos", "cuda_parallel_launch_global_memory"},
  };
  struct nai_kernel_span own = name->part[NAI_KERNEL_PART_NAME];
  if (begins(reader_of(own), "enable_"))
    return name->part[NAI_KERNEL_PART_TEMPLATE].len;
  for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
    if (span_is(name->part[NAI_KERNEL_PART_NAME], wrappers[i].name) &&
        holds(name->part[NAI_KERNEL_PART_NAMESPACE], wrappers[i].space))
      return true;
  return false;
}

struct nai_kernel_parts nai_kernel_parts_of(const char *name) {
  enum { MAX_LAUNCHERS = 4 };
  size_t len = strlen(name);
  struct nai_kernel_parts found = parse((struct reader){name, name + len});
  bool mangled = strncmp(name, "_Z", 2) == 0;
  for (int i = 0; i < MAX_LAUNCHERS && launches(&found); i++) {
    struct nai_kernel_span template = found.part[NAI_KERNEL_PART_TEMPLATE];
    struct reader r = reader_of(template);
    struct nai_kernel_parts inner = mangled ? parse_mangled(r) : parse_demangled(r);
    if (!inner.part[NAI_KERNEL_PART_NAME].len)
      break;
    inner.part[NAI_KERNEL_PART_GENERATOR] = found.part[NAI_KERNEL_PART_GENERATOR];
    inner.part[NAI_KERNEL_PART_ARGUMENTS] = found.part[NAI_KERNEL_PART_ARGUMENTS];
    found = inner;
  }
  return found;
}

/* --- words --------------------------------------------------------------------------------------- */

enum letter { NONE, BREAK, JOIN, LOWER, UPPER, DIGIT };

static enum letter letter(char c) {
  if (c == '_')
    return JOIN;
  if (is_digit(c))
    return DIGIT;
  if (c >= 'A' && c <= 'Z')
    return UPPER;
  return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80 ? LOWER : BREAK;
}

static void add_edge(struct nai_kernel_words *w, uint32_t at) {
  if (!w->edge[at])
    w->edges[w->edge_count++] = (uint16_t)at;
  w->edge[at] = true;
}

/* Whether a word begins with this letter: camelCase, HTTPServer, a number, after an underscore. */
static bool word_begins(enum letter last, enum letter this, const char *next, const char *end) {
  if (last != this)
    return !(last == UPPER && this == LOWER);
  return this == UPPER && next < end && letter(*next) == LOWER;
}

/* Appends a part; `len` characters are there already. */
static uint32_t add_words(struct nai_kernel_words *w, uint32_t len, struct nai_kernel_span part) {
  enum letter last = NONE;
  const char *end = part.len ? part.text + part.len : part.text;
  for (const char *at = part.text; at < end && len < NAI_KERNEL_WORDS_MAX; at++) {
    enum letter this = letter(*at);
    if (this == BREAK && last != BREAK) {
      add_edge(w, len);
      w->text[len++] = ' ';
      w->edge[len] = false;
    } else if (this >= LOWER) {
      if (word_begins(last, this, at + 1, end))
        add_edge(w, len);
      w->text[len++] = this == UPPER ? (char)(*at + 32) : *at;
      w->edge[len] = false;
    }
    last = this;
  }
  return len;
}

static void begin(struct nai_kernel_words *w) {
  w->edge_count = 0;
  w->edge[0] = false;
}

/* The next part; it begins and ends at an edge. */
static uint32_t add_part(struct nai_kernel_words *w, enum nai_kernel_part part, uint32_t len,
                         struct nai_kernel_span text) {
  add_edge(w, len);
  w->part[part].from = len;
  w->part[part].first = w->edge_count - 1;
  len = add_words(w, len, text);
  add_edge(w, len);
  w->part[part].to = len;
  w->part[part].last_edge = w->edge_count - 1;
  return len;
}

void nai_kernel_words(struct nai_kernel_words *w, const struct nai_kernel_parts *name) {
  uint32_t len = 0;
  begin(w);
  for (int p = 0; p < NAI_KERNEL_PART_COUNT; p++)
    len = add_part(w, (enum nai_kernel_part)p, len, name->part[p]);
}

void nai_kernel_words_of(struct nai_kernel_words *w, const char *text, size_t len) {
  begin(w);
  add_part(w, NAI_KERNEL_PART_NAME, 0, (struct nai_kernel_span){.text = text, .len = len});
}
