/* A run: an artifacts directory with its tables, or the file that they were packed into. One that is finished is
 * opened; one in progress is created and filled. Several may be open at once. Tables are read when they are asked for,
 * the event tables and the model built from them only then. */
#pragma once

#include "model/model.h"
#include "rundir/manifest.h"

struct nai_run;

/* Opens a finished run, of a directory or in one file. NAI_EINPUT when there is none. As long as it is open its files
 * stay, even if another run takes its place. */
NAI_MUST_CHECK int nai_run_open(struct nai_run **out, const char *path, struct nai_err *err);
/* The first run in a directory that is none itself, by name, for messages. False: it holds none. */
bool nai_run_find_inside(char out[PATH_MAX], const char *path);
/* Opens the run in a directory that is open already, even if `path`, which is for messages, names another by now. Who
 * opened that sees to it that the files stay. */
NAI_MUST_CHECK int nai_run_open_at(struct nai_run **out, int directory, const char *path, struct nai_err *err);
/* A run without tables, to be filled; `path` exists and holds a directory stages/. */
NAI_MUST_CHECK int nai_run_create(struct nai_run **out, const char *path, struct nai_err *err);
/* A run in no directory, of the tables that are put into it. */
NAI_MUST_CHECK int nai_run_new(struct nai_run **out, struct nai_err *err);
void nai_run_close(struct nai_run *run);
static inline void nai_run_free_owned(struct nai_run **run) { nai_run_close(*run); } /* NAI_OWNED(nai_run) */

/* What was asked of it, and what it made; the latter to be filled by who makes the run. */
const struct nai_manifest *nai_run_manifest(const struct nai_run *run);
struct nai_manifest *nai_run_manifest_to_fill(struct nai_run *run);
/* Whether it made a table of that name. */
bool nai_run_has(const struct nai_run *run, const char *name);
/* Path of the artifacts directory, for messages; and that directory, open: it stays this run's when another directory
 * gets its name. -1: none. */
const char *nai_run_path(const struct nai_run *run);
/* The page of a run, by its path below `root` ("": as it is), below it: PATH/report.html, or of a run in one file,
 * captures/N, the reports/N.html beside captures. False where neither is there; with NULL for `root` nobody looks. What
 * cannot be looked at is not there, and *unread says so; or NULL. */
bool nai_run_find_report(char out[PATH_MAX], const char *root, const char *path, struct nai_err *unread);
int nai_run_directory(const struct nai_run *run);
/* Whether it has a file of that path, or may have: that cannot be told. */
bool nai_run_has_file(const struct nai_run *run, const char *file);

/* Appends the run as one file: manifest and stages, without event tables that have files of their own. Whoever holds
 * that file opens it as any run; nothing can be added to it. */
NAI_MUST_CHECK int nai_run_pack(struct nai_buf *out, const struct nai_run *run, struct nai_err *err);
/* Writes the files of a run in one file, but for the manifest, into a directory with stages/. */
NAI_MUST_CHECK int nai_run_unpack(const struct nai_run *run, const char *to, struct nai_err *err);

/* The identity of its trace, if that file still is as it was when the run was made: `stamp` is nai_trace_stamp's. */
bool nai_run_recall(uint64_t *identity, const struct nai_run *run, uint64_t stamp);

/* A table: held already, or read from stages/. With `schema` it has exactly those columns, whatever version wrote it.
 * NAI_ESTALE when the file is missing or damaged, or holds something else than the manifest says. Borrowed. */
NAI_MUST_CHECK int nai_run_table(const struct nai_table **out, struct nai_run *run, const char *name,
                                 const struct nai_schema *schema, struct nai_err *err);
/* The same of a table that a run may lack: then *out is NULL. One that is there and cannot be read is an error,
 * NAI_EINPUT where it is damaged. */
NAI_MUST_CHECK int nai_run_table_if_any(const struct nai_table **out, struct nai_run *run, const char *name,
                                        const struct nai_schema *schema, struct nai_err *err);
/* The table if it is held, else NULL. */
struct nai_table *nai_run_find_loaded(const struct nai_run *run, const char *name);
/* The i-th table that is held, NULL behind the last. */
const struct nai_table *nai_run_loaded(const struct nai_run *run, uint32_t i);
/* When its capture began, ns since 1970: the session may have begun long before. NAI_NULL_I64 where that is not known,
 * or the table capture is not held; it is held with nai_capture_schema. */
int64_t nai_run_utc(const struct nai_run *run);
/* Takes a table over from another run, which loses it. Errors as nai_run_table. */
NAI_MUST_CHECK int nai_run_take(struct nai_run *run, struct nai_run *from, const char *name,
                                const struct nai_schema *schema, struct nai_err *err);
/* Puts a table into the run in the place of one of that name. The run owns the table from now on; on failure it is
 * freed. */
NAI_MUST_CHECK int nai_run_add(struct nai_run *run, struct nai_table *table, struct nai_err *err);
/* Frees a table and removes its file, if it has one of its own. */
void nai_run_remove(struct nai_run *run, const char *name);
/* Path of stages/NAME.ntab: of what a stage made, or of a table that has a file of its own; false when it is too long.
 */
bool nai_run_table_path(char *path, size_t size, const struct nai_run *run, const char *name);
/* Writes tables of a stage into stages/STAGE.ntab, in the place of one. */
NAI_MUST_CHECK int nai_run_write_stage(struct nai_run *run, const char *stage, struct nai_table *const *tables,
                                       size_t count, struct nai_err *err);
/* Whether that file of a run holds just those tables. */
bool nai_run_stage_is(struct nai_run *run, const char *stage, struct nai_table *const *tables, size_t count);

/* The model over the run's event tables, with `parts` built: of those tables (NAI_IN(...)) and those the parts read. */
NAI_MUST_CHECK int nai_run_model(struct nai_model **out, struct nai_run *run, const struct nai_model_options *options,
                                 uint64_t tables, uint32_t parts, struct nai_err *err);
/* Tells the classes what kernels of the run are, where it was made with --kernel-classes: its table of kernels knows
 * what the built-in patterns do not. Of several runs the last one decides about a name. */
NAI_MUST_CHECK int nai_run_tell_classes(struct nai_kernel_classes *classes, struct nai_run *run, struct nai_err *err);
/* Opens those event tables (NAI_IN(...)), so that it is known whether all are there. */
NAI_MUST_CHECK int nai_run_open_events(struct nai_run *run, uint64_t tables, struct nai_err *err);
/* Checks the cells of all tables that are held, and that rows they refer to are there. NAI_ESTALE. */
NAI_MUST_CHECK int nai_run_check(struct nai_run *run, struct nai_err *err);
/* The model if it has been asked for, else NULL. */
struct nai_model *nai_run_held_model(const struct nai_run *run);
/* Puts a model, or none, in the place of the one that is held, which is the caller's until it is put back. */
struct nai_model *nai_run_exchange_model(struct nai_run *run, struct nai_model *model);
/* Forgets the model, whose event tables are going to change. */
void nai_run_drop_model(struct nai_run *run);
