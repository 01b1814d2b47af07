/* Classes of names by pattern: the file format and matcher behind phase maps and kernel classes.
 *
 *   class: [pattern, ...]      substring, ASCII letters match in either case
 *   class: ["re:PCRE2 regex"]  a regular expression, case-sensitive unless it says (?i)
 *
 * The first pattern in file order that matches decides. Matching is safe from several threads. */
#pragma once

#include "base/scope.h"
#include "config/yaml.h"

enum { NAI_PATTERNS_MAX = 4096, NAI_PATTERN_SUBJECT_MAX = 16384 };

struct nai_patterns;

NAI_MUST_CHECK int nai_patterns_new(struct nai_patterns **out, struct nai_err *err);
/* Before anything is added to a set that few names are matched against: machine code would cost more than it saves. */
void nai_patterns_interpret(struct nai_patterns *set);
void nai_patterns_free(struct nai_patterns *set);
NAI_OWNER(nai_patterns)
/* Compiles the patterns of a document behind those already there. Classes are numbered in order of first appearance. */
NAI_MUST_CHECK int nai_patterns_add(struct nai_patterns *set, const struct nai_yaml *doc, struct nai_err *err);
/* The same of a file, or of one that is built in; makes *set where it is NULL. *hash takes in that of the text. */
NAI_MUST_CHECK int nai_patterns_load(struct nai_patterns **set, uint64_t *hash, const char *path, bool builtin,
                                     struct nai_err *err);
/* The same for one class: `node` is its pattern or list of patterns. */
NAI_MUST_CHECK int nai_patterns_add_class(struct nai_patterns *set, const char *class_name, const struct nai_yaml *doc,
                                          const struct nai_yaml_node *node, struct nai_err *err);
/* Compiles one regular expression, without "re:", that did not come from a file: `origin` names it in messages. */
NAI_MUST_CHECK int nai_patterns_add_regex(struct nai_patterns *set, const char *class_name, const char *origin,
                                          const char *regex, struct nai_err *err);
/* Class of a name, or -1. Only the first NAI_PATTERN_SUBJECT_MAX bytes of a name are looked at. */
int nai_patterns_match(const struct nai_patterns *set, const char *name);
/* After matching: NAI_EUSAGE with file:line:column when a regular expression gave up on some name because it would
 * have taken too long (it then counts as not matching). */
NAI_MUST_CHECK int nai_patterns_check(const struct nai_patterns *set, struct nai_err *err);

int nai_patterns_class_count(const struct nai_patterns *set);
const char *nai_patterns_class(const struct nai_patterns *set, int index); /* borrowed */
