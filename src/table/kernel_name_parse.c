#include "table/kernel_name_parse.h"

enum { MAX_LAMBDA_PARAMETERS = 32 };

bool nai_is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         (unsigned char)c >= 0x80;
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool slice_is(const struct nai_parsed_name *n, struct nai_slice at, const char *word) {
  return at.e - at.b == strlen(word) && memcmp(n->text + at.b, word, at.e - at.b) == 0;
}

static bool starts(const struct nai_parsed_name *n, uint32_t i, const char *word) {
  size_t len = strlen(word);
  return n->len - i >= len && memcmp(n->text + i, word, len) == 0;
}

/* If an `operator` starts at i, the end of its symbol: its brackets are no brackets. Else i. */
static uint32_t skip_operator(const struct nai_parsed_name *n, uint32_t i) {
  if (!starts(n, i, "operator") || (i > 0 && nai_is_word(n->text[i - 1])))
    return i;
  uint32_t at = i + 8;
  if (at < n->len && nai_is_word(n->text[at]))
    return i;
  while (at < n->len && n->text[at] == ' ')
    at++;
  if (starts(n, at, "()") || starts(n, at, "[]"))
    return at + 2;
  while (at < n->len && strchr("<>=!+-*/%&|^~,", n->text[at]))
    at++;
  return at;
}

/* Finds the partner of each bracket; false when they do not pair up. */
static bool match_brackets(struct nai_parsed_name *n) {
  uint32_t top = UINT32_MAX; /* innermost open bracket; match[] of open ones chains outwards */
  for (uint32_t i = 0; i < n->len; i++) {
    uint32_t end = skip_operator(n, i);
    if (end > i) {
      i = end - 1;
      continue;
    }
    char c = n->text[i];
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      n->match[i] = top;
      top = i;
    } else if (c == '>') {
      if (top == UINT32_MAX || n->text[top] != '<' || (i > 0 && n->text[i - 1] == '-'))
        continue; /* an operator of an expression */
      uint32_t outer = n->match[top];
      n->match[top] = i;
      top = outer;
    } else if (c == ')' || c == ']' || c == '}') {
      char open = c == ')' ? '(' : c == ']' ? '[' : '{';
      while (top != UINT32_MAX && n->text[top] == '<') { /* (a < b) */
        uint32_t outer = n->match[top];
        n->match[top] = 0;
        top = outer;
      }
      if (top == UINT32_MAX || n->text[top] != open)
        return false;
      uint32_t outer = n->match[top];
      n->match[top] = i;
      top = outer;
    }
  }
  return top == UINT32_MAX;
}

/* Text without qualifiers (a::b:: of a::b::c) and without casts in front of numbers. */
void nai_name_simplify(struct nai_buf *out, const char *text, size_t len) {
  size_t word = out->len, cast = SIZE_MAX;
  for (size_t i = 0; i < len && !out->oom; i++) {
    char c = text[i];
    if (c == ':' && i + 1 < len && text[i + 1] == ':') {
      out->len = word;
      i++;
    } else if (c == ')' && cast != SIZE_MAX && i + 1 < len && (is_digit(text[i + 1]) || text[i + 1] == '-')) {
      out->len = word = cast;
      cast = SIZE_MAX;
    } else {
      if (c == '(')
        cast = out->len;
      else if (!nai_is_word(c) && c != ' ')
        cast = SIZE_MAX;
      nai_buf_putc(out, c);
      if (!nai_is_word(c))
        word = out->len;
    }
  }
  if (out->data)
    out->data[out->len] = '\0';
}

/* --- one argument ----------------------------------------------------------------------------- */

/* What the walk over a chain like a::b<T>::c(int)::[lambda(float)] leaves standing. */
struct chain {
  struct nai_slice name, args, tail; /* the last named part, its template arguments, a plain type nested in it */
  struct nai_slice lambda;           /* parameters of the last lambda */
  bool function, is_lambda;
};

struct part {
  struct nai_slice name, args, parameters;
  bool anonymous, lambda;
};

static void end_part(struct chain *chain, struct part *part, uint32_t next) {
  if (part->lambda) {
    chain->is_lambda = true;
    chain->lambda = part->parameters;
  } else if (!part->anonymous && part->name.e > part->name.b) {
    bool plain = part->args.e == part->args.b && part->parameters.e == part->parameters.b;
    if (plain && chain->args.e > chain->args.b && !chain->function) {
      chain->tail = part->name;
    } else {
      chain->name = part->name;
      chain->args = part->args;
      chain->tail = (struct nai_slice){0};
      chain->lambda = (struct nai_slice){0};
      chain->is_lambda = false;
    }
  }
  chain->function |= part->parameters.e > part->parameters.b && !part->lambda;
  *part = (struct part){.name = {next, next}};
}

static bool is_qualifier(const struct nai_parsed_name *n, uint32_t i, uint32_t *end) {
  static const char *const words[] = {"const", "volatile", "noexcept"};
  for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
    *end = i + (uint32_t)strlen(words[w]);
    if (starts(n, i, words[w]) && (*end == n->len || !nai_is_word(n->text[*end])))
      return true;
  }
  return false;
}

/* Steps over the bracket at i, noting what it means for the part. */
static uint32_t take_bracket(const struct nai_parsed_name *n, uint32_t i, struct part *part) {
  uint32_t close = n->match[i], inner = i + 1;
  struct nai_slice inside = {i, close + 1};
  bool at_start = i == part->name.b;
  if (at_start && (starts(n, inner, "lambda") || starts(n, inner, "'lambda"))) {
    part->lambda = true;
    while (inner < close && n->text[inner] != '(')
      inner++;
    if (inner < close)
      part->parameters = (struct nai_slice){inner, n->match[inner] + 1};
  } else if (at_start) {
    part->anonymous = true; /* <unnamed>, (anonymous namespace), {unnamed type#1} */
  } else if (n->text[i] == '<' && part->args.e == 0) {
    part->args = (struct nai_slice){inner, close};
  } else if (n->text[i] == '(') {
    part->parameters = inside;
  }
  return close + 1;
}

/* Walks over a chain without looking into brackets and returns where it ends: in front of a * or &, for example.
 * `in_front` receives the words before it. */
static uint32_t walk(const struct nai_parsed_name *n, struct nai_slice at, struct chain *chain,
                     struct nai_slice *in_front) {
  struct part part = {.name = {at.b, at.b}};
  uint32_t i = at.b, end;
  bool open = true; /* the part's name may still grow */
  *in_front = (struct nai_slice){at.b, at.b};
  while (i < at.e) {
    char c = n->text[i];
    if (c == ':' && starts(n, i, "::")) {
      i += 2;
      end_part(chain, &part, i);
      open = true;
    } else if ((end = skip_operator(n, i)) > i) {
      part.anonymous = true; /* the class of an operator tells more than `operator()` */
      i = end;
      open = false;
    } else if (n->match[i] && strchr("([{<", c)) {
      if (c == '(' && i > at.b && n->text[i - 1] == ' ' && !starts(n, n->match[i] + 1, "::"))
        break; /* the parameters of a function type, or words about a memory copy */
      i = take_bracket(n, i, &part);
      open = false;
    } else if (c == ' ') {
      if (is_qualifier(n, i + 1, &end)) {
        i = end;
        continue;
      }
      if (i + 1 == at.e || strchr("*&[", n->text[i + 1]))
        break;
      *chain = (struct chain){0};
      in_front->e = ++i;
      part = (struct part){.name = {i, i}};
      open = true;
    } else if (c == '*' || c == '&') {
      break;
    } else {
      i++;
      if (open)
        part.name.e = i;
    }
  }
  end_part(chain, &part, i);
  return i;
}

static bool one_of(const struct nai_parsed_name *n, struct nai_slice name, const char *const *list) {
  for (; *list; list++)
    if (slice_is(n, name, *list))
      return true;
  return false;
}

static void put_in_front(struct nai_buf *out, const struct nai_parsed_name *n, struct nai_slice words) {
  static const char *const kept[] = {"unsigned", "signed", "long", "short", NULL};
  for (uint32_t b = words.b; b < words.e;) {
    uint32_t e = b;
    while (e < words.e && n->text[e] != ' ')
      e++;
    if (one_of(n, (struct nai_slice){b, e}, kept))
      nai_buf_put(out, n->text + b, e - b + 1);
    b = e + 1;
  }
}

/* The end of the template argument that starts at b: a comma, or `end`. */
uint32_t nai_parsed_name_argument_end(const struct nai_parsed_name *n, uint32_t b, uint32_t end) {
  while (b < end && n->text[b] != ',')
    b = n->match[b] ? n->match[b] + 1 : b + 1;
  return b < end ? b : end;
}

static struct nai_slice trimmed(const struct nai_parsed_name *n, struct nai_slice at) {
  while (at.b < at.e && n->text[at.b] == ' ')
    at.b++;
  while (at.e > at.b && n->text[at.e - 1] == ' ')
    at.e--;
  /* (int)4 */
  while (at.b < at.e && n->text[at.b] == '(' && n->match[at.b] && n->match[at.b] + 1 < at.e &&
         (is_digit(n->text[n->match[at.b] + 1]) || n->text[n->match[at.b] + 1] == '-'))
    at.b = n->match[at.b] + 1;
  return at;
}

/* Templates that only carry another function or functor. */
static const char *const wrappers[] = {
    "gpu_kernel_impl",      "gpu_kernel_impl_nocast", "Kernel", "Kernel2", "device_kernel",
    "enable_sm90_or_later", "enable_sm80_to_sm89",    NULL};
/* Arguments that say how a kernel walks over memory, not what it computes. */
static const char *const plumbing[] = {"array",
                                       "Array",
                                       "TrivialOffsetCalculator",
                                       "OffsetCalculator",
                                       "LoadWithCast",
                                       "LoadWithoutCast",
                                       "StoreWithCast",
                                       "StoreWithoutCast",
                                       NULL};
static const char *const builtin[] = {"bool",     "char", "short", "int",   "long",    "float", "double",
                                      "unsigned", "void", "true",  "false", "nullptr", NULL};

static enum nai_argument_rank rank_of(const struct nai_parsed_name *n, const struct chain *chain) {
  static const char *const operation_words[] = {"unctor", "Func", "func", "Op"};
  struct nai_slice name = chain->name;
  if (chain->is_lambda || chain->function)
    return NAI_RANK_OPERATION;
  if (name.e == name.b || is_digit(n->text[name.b]) || n->text[name.b] == '-' || one_of(n, name, builtin))
    return NAI_RANK_VALUE;
  for (size_t w = 0; w < sizeof operation_words / sizeof *operation_words; w++)
    if (memmem(n->text + name.b, name.e - name.b, operation_words[w], strlen(operation_words[w])))
      return NAI_RANK_OPERATION;
  return NAI_RANK_TYPE;
}

/* An argument after one step of reading. */
struct reading {
  struct nai_slice at, in_front;
  uint32_t end; /* where the walk stopped */
  struct chain chain;
  enum nai_argument_rank rank;
};

static struct reading read_argument(const struct nai_parsed_name *n, struct nai_slice at) {
  struct reading r = {.at = trimmed(n, at)};
  r.end = walk(n, r.at, &r.chain, &r.in_front);
  r.rank = rank_of(n, &r.chain);
  return r;
}

static bool has_args(const struct chain *chain) { return chain->args.e > chain->args.b; }

/* Reads an argument and, where it is a wrapper, what it wraps. */
static struct reading read_unwrapped(const struct nai_parsed_name *n, struct nai_slice at) {
  struct reading r = read_argument(n, at);
  while (one_of(n, r.chain.name, wrappers) && has_args(&r.chain) &&
         nai_parsed_name_argument_end(n, r.chain.args.b, r.chain.args.e) == r.chain.args.e) {
    struct reading inner = read_argument(n, r.chain.args);
    if (inner.rank == NAI_RANK_VALUE)
      break;
    r = inner;
  }
  return r;
}

struct nai_slice nai_parsed_name_function(const struct nai_parsed_name *n) {
  struct reading r = read_argument(n, (struct nai_slice){0, n->len});
  return r.chain.function || has_args(&r.chain) ? r.chain.name : (struct nai_slice){0};
}

/* The name, and for a function's lambda its parameters: they tell the instances of one source apart. */
static void put_head(struct nai_buf *words, const struct nai_parsed_name *n, const struct chain *chain) {
  struct nai_slice name = chain->name, lambda = chain->lambda;
  while (name.e > name.b + 1 && is_digit(n->text[name.b]) && strchr("uUlL", n->text[name.e - 1]))
    name.e--; /* 4ul */
  nai_buf_put(words, n->text + name.b, name.e - name.b);
  if (name.e == name.b)
    nai_buf_puts(words, "lambda");
  if (chain->is_lambda && !has_args(chain) && lambda.e - lambda.b > 2 && lambda.e - lambda.b <= MAX_LAMBDA_PARAMETERS)
    nai_name_simplify(words, n->text + lambda.b, lambda.e - lambda.b);
}

bool nai_parsed_name_argument(struct nai_argument *argument, struct nai_buf *words, const struct nai_parsed_name *n,
                              struct nai_slice at, bool root) {
  struct reading r = read_unwrapped(n, at);
  const struct chain *chain = &r.chain;
  bool structured = chain->name.e > chain->name.b || chain->is_lambda;
  if (root && !(structured && (chain->function || has_args(chain) || r.at.b > 0)))
    return false;
  argument->head.b = (uint32_t)words->len;
  if (structured && !chain->function && !root)
    put_in_front(words, n, r.in_front);
  if (structured)
    put_head(words, n, chain);
  else
    nai_name_simplify(words, n->text + r.at.b, r.at.e - r.at.b);
  argument->head.e = argument->tail.b = (uint32_t)words->len;
  if (chain->tail.e > chain->tail.b) {
    nai_buf_puts(words, "::");
    nai_buf_put(words, n->text + chain->tail.b, chain->tail.e - chain->tail.b);
  }
  for (uint32_t i = r.end; structured && !root && i < r.at.e; i++)
    if (n->text[i] == '*' || n->text[i] == '&')
      nai_buf_putc(words, n->text[i]);
  argument->tail.e = (uint32_t)words->len;
  argument->args = structured ? chain->args : (struct nai_slice){0};
  argument->plumbing = one_of(n, chain->name, plumbing);
  argument->rank = r.rank;
  return true;
}

bool nai_parsed_name_init(struct nai_parsed_name *name, const char *text, uint32_t len) {
  *name = (struct nai_parsed_name){.text = text, .len = len, .match = calloc((size_t)len + 1, sizeof(uint32_t))};
  return name->match && match_brackets(name);
}
