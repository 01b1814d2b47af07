/* Reading a demangled C++ name: brackets, and what an argument is called. Internal to src/table/kernel_name*.c. */
#pragma once

#include "base/buf.h"

/* [b, e) of a text. */
struct nai_slice {
  uint32_t b, e;
};

struct nai_parsed_name {
  const char *text;
  uint32_t len;
  uint32_t *match; /* of every opening bracket: its closing one, 0 when it is none */
};

/* How much an argument tells about what a kernel computes. */
enum nai_argument_rank { NAI_RANK_VALUE, NAI_RANK_TYPE, NAI_RANK_OPERATION };

/* A template argument, or the whole name: head<args>tail. */
struct nai_argument {
  struct nai_slice head, tail; /* in `words`, head directly in front of tail */
  struct nai_slice args;       /* between the angle brackets, in the name; empty when there are none */
  enum nai_argument_rank rank;
  bool plumbing; /* says how a kernel walks over memory, not what it computes */
};

/* Finds the brackets of `text`. False when they do not pair up (then it is not a name we understand) or when there is
 * no memory (then match is NULL). The caller frees match. */
bool nai_parsed_name_init(struct nai_parsed_name *name, const char *text, uint32_t len);
/* Reads one argument, or with `root` the whole name, and appends its head and tail to `words`. False when a root has no
 * C++ structure to work on. */
bool nai_parsed_name_argument(struct nai_argument *argument, struct nai_buf *words, const struct nai_parsed_name *name,
                              struct nai_slice at, bool root);
/* Where the name of the function itself stands, whatever it wraps; empty where it has none. */
struct nai_slice nai_parsed_name_function(const struct nai_parsed_name *name);
/* The end of the template argument that starts at b: a comma, or `end`. */
uint32_t nai_parsed_name_argument_end(const struct nai_parsed_name *name, uint32_t b, uint32_t end);
/* Appends text without qualifiers (a::b:: of a::b::c) and without casts in front of numbers. */
void nai_name_simplify(struct nai_buf *out, const char *text, size_t len);
bool nai_is_word(char c); /* a character of an identifier */
