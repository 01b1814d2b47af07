/* What kernels do, told from the parts of their names by ordered rules. A file of rules:
 *
 *   reduction                              the category: a rule begins with it
 *     source Modular MAX, max/kernels      where the names are from
 *     name small_reduce pooling*           the kernel's own name has one of these
 *     namespace moe                        and its namespace one of those
 *     example void small_reduce<float>     a name that this rule decides; further ones on lines of their own
 *
 * A pattern matches whole words, in either case, with or without underscores: all_reduce is AllReduce and allreduce,
 * and no part of small_reduce. `*` before or behind it stands for the rest of a word, `^` and `$` for the beginning and
 * the end of the part. Parts: generator, namespace, path (namespace and name), name, template, arguments
 * (config/kernel_parts.h). The first rule that matches decides. Lines that begin with # are comments. */
#pragma once

#include "base/err.h"
#include "base/scope.h"
#include "base/strings.h"

struct nai_kernel_rules;

/* Adds the categories to `categories`, and takes the text into *hash. `builtin`: a file of the program, in which every
 * rule needs a source and two examples. Of another file each example is tried: one that its rule does not decide is a
 * mistake, too. NAI_EUSAGE with file:line for a mistake. */
NAI_MUST_CHECK int nai_kernel_rules_load(struct nai_kernel_rules **out, uint64_t *hash, const char *path, bool builtin,
                                         struct nai_strings *categories, struct nai_err *err);
void nai_kernel_rules_free(struct nai_kernel_rules *rules);
NAI_OWNER(nai_kernel_rules)

/* Number of the rule that decides, -1: none. Safe from several threads. */
int nai_kernel_rules_match(const struct nai_kernel_rules *rules, const char *kernel_name);

/* Texts are borrowed. Lines are those of the file. */
struct nai_kernel_example {
  const char *kernel_name;
  uint32_t line;
};
struct nai_kernel_rule {
  int category;
  const char *source; /* "" where the rule names none */
  uint32_t line;
  const struct nai_kernel_example *examples;
  uint32_t example_count;
};
int nai_kernel_rules_count(const struct nai_kernel_rules *rules);
struct nai_kernel_rule nai_kernel_rules_get(const struct nai_kernel_rules *rules, int rule);
/* Why a rule matches: its pattern of the part that says most; "name" and "small_reduce". */
void nai_kernel_rules_reason(const struct nai_kernel_rules *rules, int rule, const char *kernel_name, const char **part,
                             const char **pattern);
