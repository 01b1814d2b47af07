/* stages/manifest.json: what a run was asked, what each of its nodes was made from, and the files it wrote. It decides
 * what a later run may reuse, and which files of a directory are a run's own. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "table/table.h"

/* Where it lies in an artifacts directory: also what marks a directory as one. */
#define NAI_MANIFEST_PATH "stages/manifest.json"
/* Beside it: from what the trace's file looked like, its identity without reading it again. */
#define NAI_STAMP_PATH "stages/trace-stamp"

/* Readers accept any minor version: members are only added within a major one. In 2 each table has a file of its own.
 */
enum { NAI_MANIFEST_MAJOR = 3, NAI_MANIFEST_MINOR = 1, NAI_MANIFEST_OLDEST_MAJOR = 2 };

/* A name (in manifest.names) and the hash of what it names. */
struct nai_manifest_entry {
  uint32_t name;
  uint64_t hash;
};

struct nai_manifest_node {
  uint32_t name;
  uint32_t stage;            /* its tables are in stages/STAGE.ntab; NAI_NO_STRING: each in a file of its own */
  uint64_t key;              /* of its inputs together */
  uint32_t input, input_end; /* entries: what it was made from */
  uint32_t table, table_end; /* entries: its tables, by content */
};

/* Zeroed to begin with. Sticky on out-of-memory. */
struct nai_manifest {
  struct nai_arena arena;
  const char *version, *trace; /* of the program; the trace's file name; NULL when unknown */
  uint64_t identity;           /* of the trace */
  struct nai_strings options;  /* "--trim 1 2": what was asked, where it is not the default */
  struct nai_strings tables;   /* of the export, by name, whether they were read or not; none: unknown */
  struct nai_strings names;
  struct nai_manifest_entry *entries;
  uint32_t entry_count, entry_capacity;
  struct nai_manifest_node *nodes;
  uint32_t node_count, node_capacity;
  struct nai_strings files; /* paths relative to the artifacts directory */
  bool ours;                /* read: it is a manifest of this program, of whatever version */
  bool oom;
};

/* Reads the manifest of the artifacts directory open as `directory`; a missing, damaged or foreign one is an empty
 * manifest, one of another major version is empty but for its files. NAI_EIO or NAI_ELIMIT
 * when it could not be read, so that nobody knows what it says; it is empty then. */
NAI_MUST_CHECK int nai_manifest_read(struct nai_manifest *manifest, int directory, struct nai_err *err);
/* The same of its text. */
NAI_MUST_CHECK int nai_manifest_parse(struct nai_manifest *manifest, const struct nai_buf *text, struct nai_err *err);
void nai_manifest_free(struct nai_manifest *manifest);

/* Adds a node, then its inputs, then its tables. `stage` may be NULL. */
void nai_manifest_add_node(struct nai_manifest *manifest, const char *name, const char *stage);
void nai_manifest_add_input(struct nai_manifest *manifest, const char *name, uint64_t hash);
void nai_manifest_add_table(struct nai_manifest *manifest, const char *name, uint64_t hash);
/* Takes the node added last away; takes all nodes away. */
void nai_manifest_remove_last(struct nai_manifest *manifest);
void nai_manifest_forget_nodes(struct nai_manifest *manifest);
/* Puts the node of that name behind those put so before, so that the order tells nothing of how they were made. */
void nai_manifest_put_next(struct nai_manifest *manifest, const char *name, uint32_t *put);
void nai_manifest_add_file(struct nai_manifest *manifest, const char *path);
NAI_MUST_CHECK int nai_manifest_check(const struct nai_manifest *manifest, struct nai_err *err);

/* Whether this very program made one of the nodes at least. */
bool nai_manifest_is_of_this_program(const struct nai_manifest *manifest);

/* The node of that name; the node that made that table. NULL when there is none. */
const struct nai_manifest_node *nai_manifest_node(const struct nai_manifest *manifest, const char *name);
const struct nai_manifest_node *nai_manifest_maker(const struct nai_manifest *manifest, const char *table);
/* The hash of the table's content, where `hash` is not NULL. False when there is no such table. */
bool nai_manifest_table(uint64_t *hash, const struct nai_manifest *manifest, const char *table);
/* Names of all tables, in the order of their nodes; the list is the arena's. */
NAI_MUST_CHECK int nai_manifest_tables(const char ***names, size_t *count, const struct nai_manifest *manifest,
                                       struct nai_arena *arena, struct nai_err *err);
/* Whether the run wrote a file of that path. */
bool nai_manifest_lists(const struct nai_manifest *manifest, const char *file);
const char *nai_manifest_name(const struct nai_manifest *manifest, uint32_t name);

/* The text. `readers` is the table of that name (which reader served which table), or NULL when nothing was read. */
void nai_manifest_print(struct nai_buf *out, const struct nai_manifest *manifest, const struct nai_table *readers);
