/* Shared by the files behind outdir.h. Internal to them. */
#pragma once

#include "rundir/outdir.h"

/* Directories beside the target are named .STEM.TAG.XXXXXX: where runs write and what they displaced, and an earlier
 * run that had to make room for a moment where two directories cannot be exchanged in one step. */
#define NAI_OUTDIR_WORK "nsys-ai-run"
#define NAI_OUTDIR_ASIDE "nsys-ai-old"
enum { NAI_OUTDIR_PATIENCE_S = 60, NAI_OUTDIR_UNIQUE = 6 };

struct nai_outdir {
  struct nai_arena arena;
  struct nai_outdir_calls calls;
  const char *given;  /* --out "PATH" as the user wrote it, for messages */
  const char *target; /* `above` and `name` */
  const char *above;  /* the directory that holds target and work, with a slash */
  const char *name;
  const char *work; /* NULL before it is made, and once it is committed */
  int parent;       /* `above`; locked while entries in it change hands */
  int fresh;        /* the work directory, locked while this run lives */
  int earlier;
  char stem[192]; /* what names of work directories are made of */
  char unique[8]; /* this run's part of them */
};

/* outdir_place.c: names, moves and locks. */
void nai_outdir_note(const struct nai_outdir *out, const char *fmt, ...) NAI_PRINTF(2, 3);
void nai_outdir_name(char name[NAME_MAX + 1], const struct nai_outdir *out, const char *tag, const char *unique);
/* Absolute path of something beside the target, for messages. */
const char *nai_outdir_beside(char path[PATH_MAX], const struct nai_outdir *out, const char *name);
/* A directory that is no link; -1 with errno set. */
int nai_outdir_open(int parent, const char *name);
/* Renames within the parent; 0 or errno. */
int nai_outdir_move(const struct nai_outdir *out, const char *from, const char *to, unsigned flags);
/* To a name that nobody has. Without RENAME_NOREPLACE an empty directory may be replaced. */
int nai_outdir_move_free(const struct nai_outdir *out, const char *from, const char *to);
/* Whether errno says that the file system lacks a kind of rename. */
bool nai_outdir_cannot(int failed);
NAI_MUST_CHECK int nai_outdir_set_names(struct nai_outdir *out, const char *path, struct nai_err *err);
NAI_MUST_CHECK int nai_outdir_open_parent(struct nai_outdir *out, struct nai_err *err);
/* Whether nobody reads from the run in `directory`, whose files may be removed then until `*lock` is closed (unless it
 * is -1): 0, EWOULDBLOCK, or another errno where there are no locks. */
int nai_outdir_claim(int *lock, int directory);
/* Locks the parent. On a file system without locks runs go on without: an exchange is verified, and nothing of others
 * is swept. */
NAI_MUST_CHECK int nai_outdir_lock(struct nai_outdir *out, struct nai_err *err);
/* `known` may be NULL. */
NAI_MUST_CHECK int nai_outdir_list(struct nai_strings *files, bool *known, const struct nai_outdir *out, int directory,
                                   struct nai_err *err);

/* outdir_sweep.c: what killed runs left; the parent is locked. */
/* Without RENAME_EXCHANGE a run that is killed between its two renames leaves no target: the earlier one comes back. */
NAI_MUST_CHECK int nai_outdir_put_back(const struct nai_outdir *out, struct nai_err *err);
/* `tell`: notes what stays. */
void nai_outdir_sweep(const struct nai_outdir *out, bool tell);
/* Tells the user what stays in a directory beside the target. */
void nai_outdir_note_left(const struct nai_outdir *out, const char *name, const char *left);

/* outdir_tree.c: what lies in an artifacts directory, whose it is, and how it is kept or removed. */
/* In a work directory that is still being written; it says that files of a run's names are the run's. */
#define NAI_OUTDIR_WORK_MARK ".nsys-ai-work"

/* Refuses what could not be kept. With `work` >= 0 it is tried out: a link to each file is made there and removed.
 * `given` is for messages. */
NAI_MUST_CHECK int nai_outdir_check(int directory, const struct nai_strings *ours, int work, const char *given,
                                    struct nai_err *err);
/* Links everything that is not ours into `fresh`, under the same name or NAME.kept, and gives what is ours there the
 * permissions that it has here. */
NAI_MUST_CHECK int nai_outdir_link(int directory, const struct nai_strings *ours, int fresh, const char *given,
                                   struct nai_err *err);
/* As nai_outdir_link for what appeared since, directories included, which are moved. What fails stays where it is. */
void nai_outdir_adopt(int directory, const struct nai_strings *ours, int fresh);
/* Removes what is ours, or is in `target` (-1: none) too, and then the directory itself (`name` in `parent`). Returns
 * whether it is gone; if not, `left` names something that is still in it. */
bool nai_outdir_clean(int parent, const char *name, int directory, const struct nai_strings *ours, int target,
                      char *left, size_t size);
/* Whether `name` in `directory` is a mount point. */
bool nai_outdir_is_mount(int directory, const char *name);
NAI_MUST_CHECK int nai_outdir_is_empty(bool *empty, int directory, const char *given, struct nai_err *err);
