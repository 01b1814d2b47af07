/* Configuration files: YAML (JSON is read as YAML) as a bounded tree of nodes that remember where they stand.
 * Refused, with `file:line:column: message` and NAI_EUSAGE: anchors, aliases, tags, merge keys, duplicate keys, keys
 * that are not text, several documents, invisible or control characters, more than 1 MiB, 64 levels or 65,536 values.
 */
#pragma once

#include "base/err.h"
#include "base/scope.h"
#include "base/strings.h"

enum { NAI_YAML_MAX_BYTES = 1 << 20, NAI_YAML_MAX_DEPTH = 64, NAI_YAML_MAX_NODES = 1 << 16 };

enum nai_yaml_kind { NAI_YAML_SCALAR, NAI_YAML_LIST, NAI_YAML_MAP };

/* Nodes lie in document order; children follow their parent. Borrowed from the document. */
struct nai_yaml_node {
  enum nai_yaml_kind kind;
  bool plain;            /* an unquoted scalar: the only kind that may be a number, true/false or null */
  bool one_line;         /* a scalar that starts and ends on the same line of the file */
  uint32_t line, column; /* of the value, from 1 */
  uint32_t key_line, key_column;
  const char *key;      /* name of this member of a map, NULL for list items and the root */
  const char *text;     /* scalar: its text, else "" */
  uint32_t count;       /* number of children */
  uint32_t first, next; /* node numbers, 0 = none (the root is nobody's child) */
};

struct nai_yaml {
  char *file;    /* as it appears in messages */
  uint64_t hash; /* of the text */
  struct nai_yaml_node *nodes;
  uint32_t count;
  struct nai_strings strings;
};

/* Parses `len` bytes; `file` is the name for messages. An empty document is an error. */
NAI_MUST_CHECK int nai_yaml_parse(struct nai_yaml **out, const char *file, const char *text, size_t len,
                                  struct nai_err *err);
/* Reads and parses a regular file. */
NAI_MUST_CHECK int nai_yaml_load(struct nai_yaml **out, const char *path, struct nai_err *err);
/* The same of what the program itself wrote as JSON (table/json.h): names of files and words of command lines in it
 * may hold any character, so it is not refused for invisible ones. Such a text is cleaned before it is shown. */
NAI_MUST_CHECK int nai_yaml_load_own(struct nai_yaml **out, const char *path, struct nai_err *err);
/* The same of a file that is built into the program (base/assets.h). */
NAI_MUST_CHECK int nai_yaml_load_builtin(struct nai_yaml **out, const char *path, struct nai_err *err);
void nai_yaml_free(struct nai_yaml *doc);
NAI_OWNER(nai_yaml)

const struct nai_yaml_node *nai_yaml_root(const struct nai_yaml *doc);
/* Children in document order: for (n = nai_yaml_first(doc, map); n; n = nai_yaml_next(doc, n)). */
const struct nai_yaml_node *nai_yaml_first(const struct nai_yaml *doc, const struct nai_yaml_node *node);
const struct nai_yaml_node *nai_yaml_next(const struct nai_yaml *doc, const struct nai_yaml_node *node);
/* Member of a map or NULL. */
const struct nai_yaml_node *nai_yaml_get(const struct nai_yaml *doc, const struct nai_yaml_node *map, const char *key);

/* A member that has to be there. */
NAI_MUST_CHECK int nai_yaml_require(const struct nai_yaml_node **out, const struct nai_yaml *doc,
                                    const struct nai_yaml_node *map, const char *key, struct nai_err *err);

/* `file:line:column: message`: at a value, at its key, or `offset` characters into a value on one line. */
int nai_yaml_error_at(const struct nai_yaml *doc, size_t line, size_t column, struct nai_err *err, const char *fmt, ...)
    NAI_PRINTF(5, 6);
size_t nai_yaml_column(const struct nai_yaml_node *node, size_t offset);
#define nai_yaml_error(doc, node, err, ...) nai_yaml_error_at(doc, (node)->line, (node)->column, err, __VA_ARGS__)
#define nai_yaml_error_key(doc, node, err, ...)                         \
  nai_yaml_error_at(doc, (node)->key ? (node)->key_line : (node)->line, \
                    (node)->key ? (node)->key_column : (node)->column, err, __VA_ARGS__)
#define nai_yaml_error_in(doc, node, offset, err, ...) \
  nai_yaml_error_at(doc, (node)->line, nai_yaml_column(node, offset), err, __VA_ARGS__)

/* Typed access. Errors read `file:line:column: "limit": expected a number, got a list`. */
NAI_MUST_CHECK int nai_yaml_text(const char **out, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                                 struct nai_err *err); /* any scalar but null, not empty */
NAI_MUST_CHECK int nai_yaml_number(double *out, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                                   struct nai_err *err); /* finite decimal number */
NAI_MUST_CHECK int nai_yaml_int(int64_t *out, const struct nai_yaml *doc, const struct nai_yaml_node *node, int64_t min,
                                int64_t max, struct nai_err *err);
NAI_MUST_CHECK int nai_yaml_bool(bool *out, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                                 struct nai_err *err);
NAI_MUST_CHECK int nai_yaml_expect(const struct nai_yaml *doc, const struct nai_yaml_node *node,
                                   enum nai_yaml_kind kind, struct nai_err *err);
/* The first item of a member that is a list or a map of its own; NULL: there is no such member, or it is empty. */
NAI_MUST_CHECK int nai_yaml_items(const struct nai_yaml_node **first, const struct nai_yaml *doc,
                                  const struct nai_yaml_node *map, const char *key, enum nai_yaml_kind kind,
                                  struct nai_err *err);
/* The node is a map and each of its keys is one of `allowed` (ends with NULL); an unknown key gets a suggestion. */
NAI_MUST_CHECK int nai_yaml_expect_keys(const struct nai_yaml *doc, const struct nai_yaml_node *node,
                                        const char *const *allowed, struct nai_err *err);
