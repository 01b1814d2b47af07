/* The parts of a kernel's name, demangled or not, and the words in them. */
#pragma once

#include "base/std.h"

enum nai_kernel_part {
  NAI_KERNEL_PART_GENERATOR, /* who made the name: "triton_poi", "kernel_cutlass"; empty for names that people gave */
  NAI_KERNEL_PART_NAMESPACE, /* "at::native::" */
  NAI_KERNEL_PART_NAME,      /* the kernel's own name: "reduce_kernel" */
  NAI_KERNEL_PART_TEMPLATE,  /* template arguments */
  NAI_KERNEL_PART_ARGUMENTS, /* function arguments */
  NAI_KERNEL_PART_COUNT
};
const char *nai_kernel_part_name(enum nai_kernel_part part); /* "name", "template" */

struct nai_kernel_span {
  const char *text; /* borrowed; not terminated */
  size_t len;
};

struct nai_kernel_parts {
  struct nai_kernel_span part[NAI_KERNEL_PART_COUNT];
};

/* Never fails: what is no name of C++ or of a known generator is a kernel's own name as a whole. A template that only
 * launches its first argument, as cutlass::device_kernel does, gives way to it. A return type is part of nothing. */
struct nai_kernel_parts nai_kernel_parts_of(const char *name);

enum { NAI_KERNEL_WORDS_MAX = 4096 }; /* bytes of all parts that are looked at */

/* The parts in lower case without underscores, and where words begin and end: "splitKreduce_kernel" is
 * "splitkreducekernel" with the words split, kreduce and kernel. What is neither letter, digit nor underscore stands
 * as one space between words. */
struct nai_kernel_words {
  char text[NAI_KERNEL_WORDS_MAX];
  bool edge[NAI_KERNEL_WORDS_MAX + 1]; /* a word begins or ends before this character */
  uint16_t edges[NAI_KERNEL_WORDS_MAX + 1];
  uint32_t edge_count;
  struct {
    uint32_t from, to;         /* of `text` */
    uint32_t first, last_edge; /* of `edges`: those at `from` and at `to` */
  } part[NAI_KERNEL_PART_COUNT];
};

void nai_kernel_words(struct nai_kernel_words *words, const struct nai_kernel_parts *name);
/* The same of one text, as the part `name`. */
void nai_kernel_words_of(struct nai_kernel_words *words, const char *text, size_t len);
