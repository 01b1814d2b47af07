#include "model/cpu/call_stacks.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/sort.h"
#include "model/graphs/graph_origin.h"

const char *nai_site_kind_name(enum nai_site_kind kind) {
  static const char *const names[] = {
      [NAI_SITE_NONE] = "none",           [NAI_SITE_PYTHON] = "python",
      [NAI_SITE_NATIVE] = "native",       [NAI_SITE_PYTHON_FRAMEWORK] = "python_framework",
      [NAI_SITE_FRAMEWORK] = "framework", [NAI_SITE_LIBRARY] = "library",
      [NAI_SITE_MODULE] = "module"};
  return names[kind];
}

bool nai_call_stacks_any(const struct nai_model *m) {
  const struct CALLCHAIN_FRAMES_columns c = CALLCHAIN_FRAMES_columns_of(m->tables[NAI_IN_CALLCHAINS]);
  for (uint32_t i = 0; i < c.n; i++)
    if (nai_at(&c.kind, i) == NAI_CALLCHAIN_CUDA)
      return true;
  return false;
}

/* --- frames ------------------------------------------------------------------------------------- */

static const char *text_of(const struct nai_call_stacks *s, const struct nai_column *column, uint32_t row) {
  uint32_t text = nai_at_text(column, row);
  return text == NAI_NO_STRING ? "" : nai_strings_get(s->frames.strings, text);
}

static bool parse_python(struct nai_python_frame *python, const struct nai_call_stacks *s, uint32_t row) {
  return nai_at(&s->frames.c.unresolved, row) != 1 &&
         nai_python_frame_parse(python, text_of(s, &s->frames.c.symbol, row), text_of(s, &s->frames.c.module, row));
}

/* What lies behind site-packages/, else the last two parts of a path, without the name of anybody's home. */
static void put_path(struct nai_buf *out, const char *path, size_t length) {
  static const char *const packages[] = {"/site-packages/", "/dist-packages/"}, *const homes[] = {"/home/", "/Users/"};
  const char *end = path + length, *start = path, *home_end = NULL;
  for (size_t i = 0; i < 2; i++) {
    const char *found = memmem(path, length, packages[i], strlen(packages[i]));
    if (found) {
      nai_buf_put(out, found + strlen(packages[i]), (size_t)(end - found) - strlen(packages[i]));
      return;
    }
    if (length > strlen(homes[i]) && memcmp(path, homes[i], strlen(homes[i])) == 0)
      home_end = memchr(path + strlen(homes[i]), '/', length - strlen(homes[i]));
  }
  int parts = 0;
  for (const char *at = end; at > path && parts < 2; at--)
    if (at[-1] == '/' && ++parts == 2)
      start = at;
  if (home_end && start <= home_end) {
    nai_buf_puts(out, "~");
    start = home_end;
  }
  nai_buf_put(out, start, (size_t)(end - start));
}

static void put_python(struct nai_buf *out, const struct nai_python_frame *python) {
  put_path(out, python->path, (size_t)python->path_length);
  if (python->line >= 0)
    nai_buf_printf(out, ":%" PRId64, python->line);
  if (python->function_length)
    nai_buf_printf(out, " %.*s", python->function_length, python->function);
}

static void put_native(struct nai_buf *out, const struct nai_call_stacks *s, uint32_t row) {
  const char *module = nai_frame_file_name(text_of(s, &s->frames.c.module, row));
  bool named = nai_frame_class(&s->frames, row) != NAI_FRAME_MARKER;
  if (named)
    nai_buf_puts(out, text_of(s, &s->frames.c.symbol, row));
  if (*module)
    nai_buf_printf(out, named ? " (%s)" : "%s", module);
}

static void put_frame(struct nai_buf *out, const struct nai_call_stacks *s, uint32_t row) {
  struct nai_python_frame python;
  if (text_of(s, &s->frames.c.symbol, row)[0] == '[')
    nai_buf_puts(out, "[cut]");
  else if (parse_python(&python, s, row))
    put_python(out, &python);
  else
    put_native(out, s, row);
  if (!out->len && !out->oom)
    nai_buf_puts(out, "unknown");
}

static int label_of(uint32_t *label, struct nai_call_stacks *s, uint32_t row, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  put_frame(&text, s, row);
  NAI_TRY(nai_buf_check(&text, err));
  *label = nai_strings_add(&s->labels, nai_buf_str(&text), text.len);
  NAI_TRY(nai_memory_check(*label != NAI_NO_STRING, err));
  NAI_TRY(NAI_ROOM(s->label_texts, s->label_capacity, *label, s->arena, err));
  if (!s->label_texts[*label])
    s->label_texts[*label] = nai_arena_printf(s->arena, "%s", nai_buf_str(&text));
  return nai_arena_check(s->arena, err);
}

int nai_call_frame_label(const char **out, struct nai_call_stacks *s, uint32_t row, struct nai_err *err) {
  uint32_t label;
  NAI_TRY(label_of(&label, s, row, err));
  *out = s->label_texts[label];
  return NAI_OK;
}

bool nai_call_frame_is_python(const struct nai_call_stacks *s, uint32_t row) {
  struct nai_python_frame python;
  return parse_python(&python, s, row);
}

bool nai_call_frame_is_shown(const struct nai_call_stacks *s, uint32_t row) {
  enum nai_frame_class class = nai_frame_class(&s->frames, row);
  bool marker = text_of(s, &s->frames.c.symbol, row)[0] == '[';
  return marker || nai_call_frame_is_python(s, row) ||
         (class != NAI_FRAME_PROFILER && class != NAI_FRAME_CUDA && class != NAI_FRAME_SYSTEM &&
          class != NAI_FRAME_INTERPRETER);
}

/* --- sites -------------------------------------------------------------------------------------- */

/* What a frame may stand for; the least kind of a stack's frames is its site. */
static enum nai_site_kind kind_of(const struct nai_call_stacks *s, uint32_t row) {
  struct nai_python_frame python;
  enum nai_frame_class class = nai_frame_class(&s->frames, row);
  if (parse_python(&python, s, row)) {
    NAI_SCOPED(nai_buf) path = {0};
    nai_buf_put(&path, python.path, (size_t)python.path_length);
    s->arena->oom |= path.oom;
    class = nai_call_frames_class(s->frames.names, NAI_FRAME_FILE, nai_buf_str(&path));
    return class == NAI_FRAME_USER ? NAI_SITE_PYTHON : NAI_SITE_PYTHON_FRAMEWORK;
  }
  return class == NAI_FRAME_USER      ? NAI_SITE_NATIVE
       : class == NAI_FRAME_FRAMEWORK ? NAI_SITE_FRAMEWORK
       : class == NAI_FRAME_LIBRARY || class == NAI_FRAME_COMPILER || class == NAI_FRAME_STANDARD_CPP ? NAI_SITE_LIBRARY
                                                                                                      : NAI_SITE_MODULE;
}

static int add_site(uint32_t *site, struct nai_call_stacks *s, const char *label, uint32_t number,
                    enum nai_site_kind kind, struct nai_err *err) {
  bool added;
  *site = nai_keyset_add(&s->site_ids, nai_key_pair(kind, number), &added);
  NAI_TRY(nai_memory_check(!s->site_ids.oom, err));
  NAI_TRY(NAI_ROOM(s->sites, s->site_capacity, *site, s->arena, err));
  s->sites[*site] = (struct nai_call_site){label, kind};
  s->site_count = s->site_ids.count;
  return NAI_OK;
}

/* The innermost of the frames that are worth most; without any worth, the library of the innermost. */
static int find_site(uint32_t *site, struct nai_call_stacks *s, const uint32_t *rows, uint32_t count,
                     struct nai_err *err) {
  enum nai_site_kind kind = kind_of(s, rows[0]);
  uint32_t best = rows[0], label;
  for (uint32_t i = 1; i < count && kind > NAI_SITE_PYTHON; i++) {
    enum nai_site_kind other = kind_of(s, rows[i]);
    if (other < kind) {
      kind = other;
      best = rows[i];
    }
  }
  NAI_TRY(label_of(&label, s, best, err));
  return add_site(site, s, s->label_texts[label], label, kind, err);
}

/* --- stacks ------------------------------------------------------------------------------------- */

/* Frames are equal by their function (or address) and the file name of their library; of Python by the file's path. */
static uint64_t hash_frame(uint64_t hash, struct nai_call_stacks *s, uint32_t row) {
  const char *module = text_of(s, &s->frames.c.module, row);
  if (!nai_call_frame_is_python(s, row))
    module = nai_frame_file_name(module);
  hash = nai_hash_int(hash, nai_at_text(&s->frames.c.symbol, row));
  return nai_hash_int(hash, nai_strings_add(&s->modules, module, strlen(module)));
}

/* Which stack a callchain is, by ascending id. */
struct chains {
  int64_t *ids;
  uint32_t *stacks, count;
  struct nai_keyset hashes;
};

static int add_chain(struct chains *c, struct nai_call_stacks *s, uint32_t first, uint32_t end, struct nai_err *err) {
  uint64_t hash = 0;
  bool added;
  for (uint32_t i = first; i < end; i++)
    hash = hash_frame(hash, s, s->rows[i]);
  uint32_t stack = 1 + nai_keyset_add(&c->hashes, (int64_t)hash, &added);
  NAI_TRY(nai_memory_check(!c->hashes.oom, err));
  c->ids[c->count] = nai_at(&s->frames.c.callchain_id, s->rows[first]);
  c->stacks[c->count++] = stack;
  if (!added)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(s->stacks, s->stack_capacity, stack, s->arena, err));
  s->stacks[stack] = (struct nai_call_stack){.first = first, .count = end - first};
  s->stack_count = stack + 1;
  return find_site(&s->stacks[stack].site, s, s->rows + first, end - first, err);
}

static int arrange_rows(uint32_t *count, struct nai_call_stacks *s, struct nai_err *err) {
  const struct CALLCHAIN_FRAMES_columns *c = &s->frames.c;
  const struct nai_column *const order[] = {&c->callchain_id, &c->depth, &c->symbol};
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->n; i++)
    n += nai_at(&c->kind, i) == NAI_CALLCHAIN_CUDA;
  NAI_TRY(NAI_NEW(s->rows, s->arena, n, err));
  for (uint32_t i = 0, to = 0; i < c->n; i++)
    if (nai_at(&c->kind, i) == NAI_CALLCHAIN_CUDA)
      s->rows[to++] = i;
  *count = n;
  return nai_rows_arrange(s->rows, n, order, 3, err);
}

static int find_stacks(struct chains *c, struct nai_call_stacks *s, struct nai_err *err) {
  const struct nai_column *const id = &s->frames.c.callchain_id;
  uint32_t n;
  NAI_TRY(arrange_rows(&n, s, err));
  NAI_TRY(NAI_NEW(c->ids, s->arena, n, err));
  NAI_TRY(NAI_NEW(c->stacks, s->arena, n, err));
  for (uint32_t i = 0, end; i < n; i = end) {
    end = nai_rows_run(s->rows, i, n, &id, 1);
    NAI_TRY(add_chain(c, s, i, end, err));
  }
  return NAI_OK;
}

static uint32_t stack_of_chain(const struct chains *c, int64_t id) {
  size_t at = id > 0 ? nai_bisect(c->ids, c->count, sizeof *c->ids, 0, id) : c->count;
  return at < c->count && c->ids[at] == id ? c->stacks[at] : 0;
}

/* A call in another one, as the driver's in the runtime's, has that one's stack. */
static void find_calls(struct nai_call_stacks *s, const struct chains *c) {
  const struct nai_model *m = s->m;
  const struct nai_groups *calls = &m->api_by_thread;
  for (uint32_t thread = 0; thread < calls->groups; thread++) {
    uint32_t outer = NAI_NO_ROW;
    for (uint32_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
      uint32_t call = calls->order[i], own = stack_of_chain(c, nai_at(&m->apis.callchain_id, call));
      if (outer == NAI_NO_ROW || nai_val(&m->apis.start_ns, call) >= nai_val(&m->apis.end_ns, outer))
        outer = call;
      s->has_own[call] = own > 0;
      s->stack_of[call] = own ? own : call == outer ? 0 : s->stack_of[outer];
    }
  }
}

int nai_call_stacks_open(struct nai_call_stacks *s, const struct nai_model *m, struct nai_arena *arena,
                         struct nai_err *err) {
  struct chains chains = {.hashes.arena = arena};
  uint32_t none;
  *s = (struct nai_call_stacks){
      .m = m, .arena = arena, .site_ids.arena = arena, .labels.arena = arena, .modules.arena = arena};
  NAI_TRY(nai_frames_open(&s->frames, m, arena, err));
  NAI_TRY(NAI_ROOM(s->stacks, s->stack_capacity, 0, arena, err));
  s->stack_count = 1;
  NAI_TRY(add_site(&none, s, "(no call stack)", UINT32_MAX, NAI_SITE_NONE, err));
  NAI_TRY(find_stacks(&chains, s, err));
  NAI_TRY(NAI_NEW(s->stack_of, arena, m->apis.n, err));
  NAI_TRY(NAI_NEW(s->has_own, arena, m->apis.n, err));
  find_calls(s, &chains);
  NAI_TRY(nai_arena_check(arena, err));
  return nai_call_frames_check(s->frames.names, err);
}

struct nai_call_source nai_call_source_of(const struct nai_call_stacks *s, const struct nai_graph_nodes *nodes,
                                          int32_t process, int64_t node, uint32_t launch) {
  uint32_t origin = NAI_NO_ROW;
  if (node != NAI_NULL_I64 && node)
    nai_graph_node_call(&origin, nodes, process, node);
  bool captured = origin != NAI_NO_ROW && s->stack_of[origin];
  uint32_t call = captured ? origin : launch;
  return (struct nai_call_source){call, call == NAI_NO_ROW ? 0 : s->stack_of[call], captured};
}

void nai_call_stacks_free(struct nai_call_stacks *s) { nai_frames_free(&s->frames); }
