/* What clients may name: files and directories below the roots, and runs of the server's own by their handles. */
#include "features/mcp/internal.h"

#include "base/assets.h"
#include "base/cache.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/stamp.h"
#include "rundir/manifest.h"

#include <sys/stat.h>

enum { HANDLE_LENGTH = 18 };
static const int64_t most_bytes = INT64_C(2) << 30;

bool nai_agent_is_handle(const char *text) {
  return strlen(text) == HANDLE_LENGTH && strncmp(text, "r-", 2) == 0 &&
         strspn(text + 2, "0123456789abcdef") == HANDLE_LENGTH - 2;
}

int nai_agent_handle(char handle[32], const char *trace, const char *const *words, size_t count, struct nai_err *err) {
  struct nai_stamp stamp;
  int failed = nai_stamp_of(&stamp, trace);
  if (failed)
    return nai_err_sys(err, NAI_EINPUT, failed, "cannot read the trace");
  uint64_t hash = nai_hash_int(nai_hash_int(nai_hash_of_program(), stamp.bytes), stamp.mtime_ns);
  hash = nai_hash_text(nai_hash_int(hash, (int64_t)stamp.beside), trace);
  for (size_t i = 0; i < count; i++)
    hash = nai_hash_text(hash, words[i]);
  snprintf(handle, 32, "r-%016" PRIx64, hash);
  return NAI_OK;
}

static bool is_below(const char *path, const char *root) {
  size_t len = strlen(root);
  return strcmp(root, "/") == 0 || (strncmp(path, root, len) == 0 && (path[len] == '/' || !path[len]));
}

/* Without links, and below a root; of a name below several the one of the first. */
static bool find_below_roots(char out[PATH_MAX], const struct nai_agent *agent, const char *given) {
  char path[PATH_MAX];
  size_t places = *given == '/' ? 1 : agent->root_count;
  for (size_t place = 0; place < places; place++) {
    int n = *given == '/' ? snprintf(path, sizeof path, "%s", given)
                          : snprintf(path, sizeof path, "%s/%s", agent->roots[place], given);
    if (n < 0 || (size_t)n >= sizeof path || !realpath(path, out))
      continue;
    for (size_t i = 0; i < agent->root_count; i++)
      if (is_below(out, agent->roots[i]))
        return true;
  }
  return false;
}

static int refuse_place(const struct nai_agent *agent, const char *given, struct nai_err *err) {
  NAI_SCOPED(nai_buf) list = {0};
  for (size_t i = 0; i < agent->root_count; i++)
    nai_buf_printf(&list, "%s%s", i ? ", " : "", agent->roots[i]);
  return nai_err_set(err, NAI_EUSAGE, "\"%.400s\" is nothing below what this server may read: %.1000s", given,
                     nai_buf_str(&list));
}

static int refuse_handle(const char *handle, struct nai_err *err) {
  return nai_err_set(
      err, NAI_EUSAGE,
      "no such run: \"%.100s\"; analyze returns handles (\"r-\" and 16 hexadecimal digits), and old runs "
      "are dropped: call analyze with the trace",
      handle);
}

static int find_handle(char out[PATH_MAX], const struct nai_agent *agent, const char *handle, struct nai_err *err) {
  char manifest[PATH_MAX];
  snprintf(out, PATH_MAX, "%s/%s", agent->cache, handle);
  if (!nai_fs_join(manifest, sizeof manifest, out, NAI_MANIFEST_PATH) || !nai_fs_exists(manifest))
    return refuse_handle(handle, err);
  nai_cache_touch(out);
  return NAI_OK;
}

int nai_agent_path(char out[PATH_MAX], const struct nai_agent *agent, const char *given, int kinds,
                   struct nai_err *err) {
  struct stat st;
  if (kinds & NAI_AGENT_RUN && nai_agent_is_handle(given))
    return find_handle(out, agent, given, err);
  if (!find_below_roots(out, agent, given) || stat(out, &st))
    return kinds & NAI_AGENT_RUN && strncmp(given, "r-", 2) == 0 ? refuse_handle(given, err)
                                                                 : refuse_place(agent, given, err);
  if (S_ISREG(st.st_mode) && kinds & (NAI_AGENT_TRACE | NAI_AGENT_FILE))
    return NAI_OK;
  if (S_ISDIR(st.st_mode) && kinds & NAI_AGENT_RUN)
    return NAI_OK;
  if (S_ISREG(st.st_mode))
    return nai_err_set(err, NAI_EUSAGE, "\"%.400s\" is a file: call analyze with it and use the run that it returns",
                       given);
  return nai_err_set(err, NAI_EUSAGE, "\"%.400s\" is no regular file%s", given,
                     kinds & NAI_AGENT_RUN ? " and no directory" : "");
}

/* --- the server's own ------------------------------------------------------------------------------- */

/* Names of the server's own making only: the directory may be the user's, with other things in it. */
static bool is_own(const char *name) {
  return name[0] && strchr("rce", name[0]) && name[1] == '-' && strlen(name) == HANDLE_LENGTH &&
         strspn(name + 2, "0123456789abcdef") == HANDLE_LENGTH - 2;
}

void nai_agent_sweep(const struct nai_agent *agent) { nai_cache_sweep(agent->cache, is_own, agent->cache_bytes); }

static int place_cache(struct nai_agent *agent, struct nai_err *err) {
  const char *given = agent->options.cache;
  char usual[PATH_MAX];
  if (!given && !nai_cache_place(usual, "runs"))
    return nai_err_set(err, NAI_EUSAGE, "no place for runs: set HOME or give --cache DIR");
  const char *path = given ? given : usual;
  NAI_TRY(nai_fs_mkdir_all(path, err));
  NAI_FREED char *whole = realpath(path, NULL);
  if (!whole)
    return nai_err_sys(err, NAI_EIO, errno, "cannot use the cache \"%s\"", path);
  if (strlen(whole) >= sizeof agent->cache)
    return nai_err_set(err, NAI_EUSAGE, "the path of the cache is too long");
  snprintf(agent->cache, sizeof agent->cache, "%s", whole);
  /* The exports that its workers make lie there, too. */
  return given && setenv("XDG_CACHE_HOME", whole, 1) ? nai_err_nomem(err) : NAI_OK;
}

static int add_root(struct nai_agent *agent, const char *path, struct nai_err *err) {
  char *whole = realpath(path, NULL);
  if (!whole)
    return nai_err_sys(err, NAI_EUSAGE, errno, "--root \"%s\"", path);
  agent->roots[agent->root_count++] = whole;
  return nai_fs_is_dir(whole) ? NAI_OK : nai_err_set(err, NAI_EUSAGE, "--root \"%s\" is no directory", path);
}

/* Tools name the schema of their answers, which several share; clients are told it in full. */
static void spell_out_schemas(json_t *catalogue) {
  json_t *tool;
  size_t i;
  json_array_foreach(json_object_get(catalogue, "tools"), i, tool) {
    const char *name = json_string_value(json_object_get(tool, "outputSchema"));
    if (name)
      json_object_set(tool, "outputSchema", json_object_get(json_object_get(catalogue, "outputs"), name));
  }
}

int nai_agent_open(struct nai_agent *agent, const struct nai_agent_options *options, struct nai_err *err) {
  const struct nai_asset *text = nai_asset_find("src/features/mcp/catalogue.json");
  json_error_t why;
  *agent = (struct nai_agent){.options = *options, .cache_bytes = most_bytes};
  agent->catalogue = text ? nai_json_read(text->data, (size_t)(text->end - text->data), 0, &why) : NULL;
  NAI_TRY(nai_memory_check(agent->catalogue, err));
  spell_out_schemas(agent->catalogue);
  for (size_t i = 0; i < options->root_count; i++)
    NAI_TRY(add_root(agent, options->roots[i], err));
  if (!agent->root_count)
    NAI_TRY(add_root(agent, ".", err));
  return place_cache(agent, err);
}

void nai_agent_close(struct nai_agent *agent) {
  for (size_t i = 0; i < agent->root_count; i++)
    free(agent->roots[i]);
  json_decref(agent->catalogue);
}
