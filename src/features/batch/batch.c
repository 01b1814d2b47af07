/* The directory of a batch, and batch.json. */
#include "features/batch/internal.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/temporary.h"

#include <dirent.h>
#include <unistd.h>

enum { MAJOR = 1, MINOR = 0 };

int nai_batch_add_option(struct nai_batch *b, const char *word, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(b->options, b->option_capacity, b->option_count, b->arena, err));
  b->options[b->option_count++] = nai_arena_printf(b->arena, "%s", word);
  return nai_arena_check(b->arena, err);
}

static bool top_path(char *path, size_t size, const char *out, const char *name) {
  return (size_t)snprintf(path, size, "%s/%s", out, name) < size;
}

bool nai_batch_path(char *out, size_t size, const struct nai_batch *b, const char *directory, const char *id,
                    const char *suffix) {
  return (size_t)snprintf(out, size, "%s/%s/%s%s", b->out, directory, id, suffix) < size;
}

/* Where it cannot be told, there is none: who goes on then has the directory judged by check_place. */
bool nai_batch_exists(const char *out) {
  char path[PATH_MAX];
  return top_path(path, sizeof path, out, "batch.json") && access(path, F_OK) == 0 &&
         top_path(path, sizeof path, out, "manifest.csv") && access(path, F_OK) == 0;
}

const char *nai_batch_text_of(const struct nai_yaml *doc, const char *key) {
  const struct nai_yaml_node *node = nai_yaml_get(doc, nai_yaml_root(doc), key);
  return node ? node->text : "";
}

int64_t nai_batch_int_of(const struct nai_yaml *doc, const char *key) {
  return strtoll(nai_batch_text_of(doc, key), NULL, 10);
}

uint64_t nai_batch_hex_of(const struct nai_yaml *doc, const char *key) {
  return strtoull(nai_batch_text_of(doc, key), NULL, 16);
}

int nai_batch_by_size(const void *pa, const void *pb, void *ctx) {
  const struct nai_batch *b = ctx;
  uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
  int64_t x = b->manifest.items[ia].stamp.bytes, y = b->manifest.items[ib].stamp.bytes;
  return x != y ? (x < y) - (x > y) : (ia > ib) - (ia < ib);
}

static int too_long(struct nai_err *err) {
  return nai_err_set(err, NAI_EUSAGE, "the name of the output directory is too long");
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Words, and the content of files that they name: a changed rule is another batch. */
static int hash_options(struct nai_batch *b, struct nai_err *err) {
  enum { MAX_BYTES = 64 << 20 };
  b->options_hash = 0;
  for (uint32_t i = 0; i < b->option_count; i++) {
    const char *word = b->options[i];
    NAI_SCOPED(nai_buf) text = {0};
    if (nai_fs_exists(word) && !nai_fs_is_dir(word))
      NAI_TRY(nai_fs_read(&text, word, MAX_BYTES, NAI_EUSAGE, err));
    b->options_hash = nai_hash_text(b->options_hash, word);
    b->options_hash = nai_hash_bytes(b->options_hash, nai_buf_str(&text), text.len);
  }
  return NAI_OK;
}

static void print_plan(struct nai_buf *out, const struct nai_batch *b) {
  struct nai_json json;
  nai_json_open(&json, out, NAI_JSON_LINES);
  nai_json_put_int(&json, "format_major", MAJOR);
  nai_json_put_int(&json, "format_minor", MINOR);
  nai_json_put_text(&json, "version", NAI_VERSION);
  nai_json_put_hex(&json, "program", b->program);
  nai_json_put_hex(&json, "batch", b->hash);
  nai_json_put_array(&json, "options", NAI_JSON_INLINE);
  for (uint32_t i = 0; i < b->option_count; i++)
    nai_json_text(&json, b->options[i]);
  nai_json_end(&json);
  nai_json_put_hex(&json, "options_hash", b->options_hash);
  nai_json_put_int(&json, "time_limit_s", b->time_limit_s);
  nai_json_put_int(&json, "memory_limit_bytes", b->memory_limit_bytes);
  nai_json_put_text(&json, "scratch", b->scratch ? b->scratch : "");
  nai_json_put_bool(&json, "retry_refused", b->retry_refused);
  nai_json_put_int(&json, "shards", b->shards);
  nai_json_close(&json);
}

int nai_batch_write_plan(const struct nai_batch *b, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  char path[PATH_MAX];
  top_path(path, sizeof path, b->out, "batch.json");
  print_plan(&text, b);
  NAI_TRY(nai_buf_check(&text, err));
  return nai_fs_replace(path, nai_buf_str(&text), text.len, err);
}

/* Whether somebody else's files lie there. A batch that was killed in its first moments has batch.json and no more. */
static int check_place(const char *out, struct nai_err *err) {
  char path[PATH_MAX];
  NAI_OWNED(nai_yaml) *doc = NULL;
  struct nai_err why;
  bool ours = false, other = false;
  top_path(path, sizeof path, out, "batch.json");
  int rc = nai_yaml_load_own(&doc, path, &why);
  if (rc == NAI_ELIMIT)
    return nai_err_set(err, rc, "%s", why.msg);
  if (!rc && nai_yaml_expect(doc, nai_yaml_root(doc), NAI_YAML_MAP, &why) == NAI_OK)
    ours = nai_batch_int_of(doc, "format_major") == MAJOR && *nai_batch_text_of(doc, "batch") &&
         *nai_batch_text_of(doc, "options_hash");
  DIR *directory = ours ? NULL : opendir(out);
  if (!ours && !directory)
    return nai_err_sys(err, NAI_EIO, errno, "cannot read \"%s\"", out);
  for (const struct dirent *e; directory && (e = readdir(directory));)
    other |= strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  if (directory)
    closedir(directory);
  return other ? nai_err_set(err, NAI_EUSAGE,
                             "--out \"%s\" holds files that are not from a batch; give a new directory, nothing was "
                             "changed",
                             out)
               : NAI_OK;
}

int nai_batch_create(struct nai_batch *b, struct nai_err *err) {
  static const char *const directories[] = {"items", "status", "logs"};
  char path[PATH_MAX];
  NAI_TRY(top_path(path, sizeof path - 64, b->out, "") ? nai_fs_mkdir_all(b->out, err) : too_long(err));
  nai_temporary_sweep(b->out);
  NAI_TRY(check_place(b->out, err));
  if (!nai_batch_exists(b->out)) /* from here on it is a batch's */
    NAI_TRY(nai_batch_write_plan(b, err));
  for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
    NAI_TRY(top_path(path, sizeof path - 64, b->out, directories[i]) ? nai_fs_mkdir(path, err) : too_long(err));
  NAI_TRY(hash_options(b, err));
  b->program = nai_hash_of_program();
  top_path(path, sizeof path, b->out, "manifest.csv");
  NAI_TRY(nai_batch_manifest_write(&b->hash, &b->manifest, path, err));
  return nai_batch_write_plan(b, err);
}

/* --- reading ---------------------------------------------------------------------------------- */

static int read_plan(struct nai_batch *b, const struct nai_yaml *doc, struct nai_err *err) {
  const struct nai_yaml_node *root = nai_yaml_root(doc);
  if (nai_yaml_expect(doc, root, NAI_YAML_MAP, err) != NAI_OK || nai_batch_int_of(doc, "format_major") != MAJOR)
    return nai_err_set(err, NAI_EUSAGE, "\"%s\" holds a batch of another version of this program", b->out);
  b->program = nai_batch_hex_of(doc, "program");
  b->hash = nai_batch_hex_of(doc, "batch");
  b->options_hash = nai_batch_hex_of(doc, "options_hash");
  b->time_limit_s = nai_batch_int_of(doc, "time_limit_s");
  b->memory_limit_bytes = nai_batch_int_of(doc, "memory_limit_bytes");
  b->retry_refused = strcmp(nai_batch_text_of(doc, "retry_refused"), "true") == 0;
  b->shards = (uint32_t)nai_batch_int_of(doc, "shards");
  if (*nai_batch_text_of(doc, "scratch"))
    b->scratch = nai_arena_printf(b->arena, "%s", nai_batch_text_of(doc, "scratch"));
  const struct nai_yaml_node *list = nai_yaml_get(doc, root, "options");
  for (const struct nai_yaml_node *n = list ? nai_yaml_first(doc, list) : NULL; n; n = nai_yaml_next(doc, n))
    NAI_TRY(nai_batch_add_option(b, n->text, err));
  return nai_arena_check(b->arena, err);
}

int nai_batch_none(const char *out, struct nai_err *err) {
  return nai_err_set(err, NAI_EUSAGE, "\"%s\" holds no batch; begin one with nsys-ai batch INPUT --out DIR", out);
}

int nai_batch_open(struct nai_batch *b, const char *out, struct nai_err *err) {
  char path[PATH_MAX];
  NAI_OWNED(nai_yaml) *doc = NULL;
  if (!nai_batch_exists(out))
    return nai_batch_none(out, err);
  if (!realpath(out, path))
    return nai_err_nomem(err);
  b->out = nai_arena_printf(b->arena, "%s", path);
  top_path(path, sizeof path, out, "batch.json");
  NAI_TRY(nai_yaml_load_own(&doc, path, err));
  NAI_TRY(read_plan(b, doc, err));
  top_path(path, sizeof path, out, "manifest.csv");
  b->manifest = (struct nai_batch_manifest){.arena = b->arena};
  return nai_batch_manifest_read(&b->manifest, path, err);
}

/* --- tidying ---------------------------------------------------------------------------------- */

void nai_batch_sweep(const struct nai_batch *b) {
  char path[PATH_MAX];
  nai_temporary_sweep(b->out);
  if (top_path(path, sizeof path, b->out, "status"))
    nai_temporary_sweep(path);
}
