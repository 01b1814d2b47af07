#include "report/mustache_parse.h"

struct nai_templates {
  nai_template_load_fn *load;
  void *ctx;
  struct nai_arena arena; /* of the templates */
  struct template **list;
  uint32_t count, capacity;
};

int nai_templates_new(struct nai_templates **out, nai_template_load_fn *load, void *ctx, struct nai_err *err) {
  struct nai_templates *set = calloc(1, sizeof *set);
  NAI_TRY(nai_memory_check(set, err));
  *set = (struct nai_templates){.load = load, .ctx = ctx, .arena = NAI_ARENA(NULL)};
  *out = set;
  return NAI_OK;
}

void nai_templates_free(struct nai_templates *set) {
  if (!set)
    return;
  nai_arena_free(&set->arena);
  free(set);
}

static int load(struct template **out, struct nai_templates *set, const char *name, size_t len, struct nai_err *err) {
  struct nai_arena *arena = &set->arena;
  struct template *fresh = NULL;
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(NAI_ROOM(set->list, set->capacity, set->count, arena, err));
  NAI_TRY(NAI_NEW(fresh, arena, 1, err));
  fresh->name = nai_arena_printf(arena, "%.*s", (int)len, name);
  NAI_TRY(nai_arena_check(arena, err));
  NAI_TRY(set->load(&text, set->ctx, fresh->name, err));
  NAI_TRY(nai_buf_check(&text, err));
  NAI_TRY(NAI_NEW(fresh->text, arena, text.len + 1, err));
  memcpy(fresh->text, nai_buf_str(&text), text.len);
  fresh->len = text.len;
  NAI_TRY(nai_template_parse(fresh, arena, err));
  *out = set->list[set->count++] = fresh;
  return NAI_OK;
}

static int get(struct template **out, struct nai_templates *set, const char *name, size_t len, struct nai_err *err) {
  for (size_t i = 0; i < set->count; i++) {
    *out = set->list[i];
    if (strncmp((*out)->name, name, len) == 0 && (*out)->name[len] == '\0')
      return NAI_OK;
  }
  return load(out, set, name, len, err);
}

static const char *tag_text(const struct template *template, const struct tag *tag) { return template->text + tag->at; }

static int get_partial(struct template **out, struct nai_templates *set, const struct template *from,
                       const struct tag *tag, struct nai_err *err) {
  int rc = get(out, set, tag_text(from, tag), tag->len, err);
  return rc ? nai_err_wrap(err, rc, "%s.mustache:%u:%u", from->name, tag->line, tag->column) : NAI_OK;
}

int nai_templates_check(struct nai_templates *set, const char *name, struct nai_err *err) {
  struct template *ignored;
  NAI_TRY(get(&ignored, set, name, strlen(name), err));
  for (size_t i = 0; i < set->count; i++) {
    const struct template *template = set->list[i];
    for (uint32_t t = 0; t < template->count; t++)
      if (template->tags[t].kind == TAG_PARTIAL)
        NAI_TRY(get_partial(&ignored, set, template, &template->tags[t], err));
  }
  return NAI_OK;
}

/* What to go back to: the next entry of a list at the end of a section, or the tag behind a partial at its end. */
struct frame {
  const struct template *template; /* of the partial tag; NULL in frames of sections */
  uint32_t at;
  size_t indent_bytes;
  bool over_list;
};

struct renderer {
  struct nai_buf *out;
  struct nai_templates *set;
  enum nai_escape_mode mode;
  struct nai_err *err;
  struct nai_arena *arena;         /* of frames and context */
  const struct template *template; /* being rendered, at tag number `at` */
  uint32_t at;
  struct frame *frames;
  uint32_t frame_count, frame_capacity;
  const struct nai_view **context; /* innermost last */
  uint32_t context_count, context_capacity;
  struct nai_buf *indent; /* of the partials around, outermost first */
  int partial_depth;
};

static int push_context(struct renderer *r, const struct nai_view *view) {
  NAI_TRY(NAI_ROOM(r->context, r->context_capacity, r->context_count, r->arena, r->err));
  r->context[r->context_count++] = view;
  return NAI_OK;
}

static int push_frame(struct renderer *r, const struct frame *frame) {
  NAI_TRY(NAI_ROOM(r->frames, r->frame_capacity, r->frame_count, r->arena, r->err));
  r->frames[r->frame_count++] = *frame;
  return NAI_OK;
}

/* The value of a dotted name: its first part is looked up from the innermost context outwards, the rest below it. */
static const struct nai_view *lookup(const struct renderer *r, const struct tag *tag) {
  const char *name = tag_text(r->template, tag), *end = name + tag->len;
  if (tag->len == 1 && *name == '.')
    return r->context[r->context_count - 1];
  const char *dot = memchr(name, '.', tag->len);
  const struct nai_view *found = NULL;
  for (size_t i = r->context_count; i > 0 && !found; i--)
    found = nai_view_get(r->context[i - 1], name, (size_t)((dot ? dot : end) - name));
  while (dot && found) {
    name = dot + 1;
    dot = memchr(name, '.', (size_t)(end - name));
    found = nai_view_get(found, name, (size_t)((dot ? dot : end) - name));
  }
  return found;
}

/* A text that is printed where it is used: straight into the output, unless it has to be escaped. */
static int print_text(struct renderer *r, const struct tag *tag, const struct nai_view *view) {
  if (tag->kind == TAG_RAW) {
    view->print(r->out, view->print_ctx);
    return NAI_OK;
  }
  NAI_SCOPED(nai_buf) text = {0};
  view->print(&text, view->print_ctx);
  nai_escape(r->out, r->mode, nai_buf_str(&text), text.len);
  return nai_buf_check(&text, r->err);
}

static int interpolate(struct renderer *r, const struct tag *tag) {
  const struct nai_view *view = lookup(r, tag);
  if (!view || view->kind == NAI_VIEW_NULL)
    return NAI_OK;
  if (view->kind == NAI_VIEW_TEXT && view->print)
    return print_text(r, tag, view);
  if (view->kind == NAI_VIEW_BOOL)
    nai_buf_puts(r->out, view->truth ? "true" : "false");
  else if (view->kind != NAI_VIEW_TEXT)
    return nai_template_error(r->template, tag, r->err, "\"%.*s\" is a %s, not a text",
                              (int)(tag->len < 64 ? tag->len : 64), tag_text(r->template, tag),
                              view->kind == NAI_VIEW_LIST ? "list" : "map");
  else if (view->text_kind == NAI_TEXT_CODE)
    nai_escape_code(r->out, r->mode, view->text, view->len);
  else if (view->text_kind == NAI_TEXT_TRUSTED && tag->kind == TAG_RAW)
    nai_buf_put(r->out, view->text, view->len);
  else
    nai_escape(r->out, r->mode, view->text, view->len);
  return NAI_OK;
}

static int begin_section(struct renderer *r, const struct tag *tag) {
  const struct nai_view *view = lookup(r, tag);
  if (nai_view_truth(view) == (tag->kind == TAG_INVERTED)) {
    r->at = tag->pair;
    return NAI_OK;
  }
  if (tag->kind == TAG_INVERTED)
    return NAI_OK;
  bool list = view->kind == NAI_VIEW_LIST;
  NAI_TRY(push_context(r, list ? view->first : view));
  return push_frame(r, &(struct frame){.at = r->at, .over_list = list});
}

static void end_section(struct renderer *r, const struct tag *tag) {
  if (r->template->tags[tag->pair].kind == TAG_INVERTED)
    return;
  const struct frame *frame = &r->frames[r->frame_count - 1];
  const struct nai_view *next = frame->over_list ? r->context[r->context_count - 1]->next : NULL;
  if (next) {
    r->context[r->context_count - 1] = next;
    r->at = frame->at;
  } else {
    r->context_count--;
    r->frame_count--;
  }
}

static int begin_partial(struct renderer *r, const struct tag *tag) {
  if (r->partial_depth == NAI_MUSTACHE_MAX_PARTIAL_DEPTH)
    return nai_template_error(r->template, tag, r->err,
                              "partials are nested more than %d deep; does one include itself?",
                              NAI_MUSTACHE_MAX_PARTIAL_DEPTH);
  struct template *partial;
  NAI_TRY(get_partial(&partial, r->set, r->template, tag, r->err));
  NAI_TRY(push_frame(r, &(struct frame){.template = r->template, .at = r->at, .indent_bytes = r->indent->len}));
  nai_buf_put(r->indent, r->template->text + tag->tag_at - tag->indent_bytes, tag->indent_bytes);
  r->partial_depth++;
  r->template = partial;
  r->at = UINT32_MAX; /* the next tag is number 0 */
  return nai_buf_check(r->indent, r->err);
}

static void end_partial(struct renderer *r) {
  const struct frame *frame = &r->frames[--r->frame_count];
  r->template = frame->template;
  r->at = frame->at;
  r->indent->len = frame->indent_bytes;
  r->partial_depth--;
}

static int step(struct renderer *r, const struct tag *tag) {
  switch (tag->kind) {
  case TAG_LINE:
    nai_buf_put(r->out, nai_buf_str(r->indent), r->indent->len);
    break;
  case TAG_TEXT:
    nai_buf_put(r->out, tag_text(r->template, tag), tag->len);
    break;
  case TAG_NAME:
  case TAG_RAW:
    return interpolate(r, tag);
  case TAG_SECTION:
  case TAG_INVERTED:
    return begin_section(r, tag);
  case TAG_CLOSE:
    end_section(r, tag);
    break;
  case TAG_PARTIAL:
    return begin_partial(r, tag);
  }
  return NAI_OK;
}

static int run(struct renderer *r) {
  size_t start = nai_buf_position(r->out);
  for (int64_t steps = 0;;) {
    if (r->at == r->template->count) {
      if (r->frame_count == 0)
        return nai_buf_check(r->out, r->err);
      end_partial(r);
    } else {
      const struct tag *tag = &r->template->tags[r->at];
      NAI_TRY(step(r, tag));
      if (nai_buf_failed(r->out))
        return nai_buf_check(r->out, r->err);
      if (++steps > NAI_MUSTACHE_MAX_STEPS || nai_buf_position(r->out) - start > NAI_MUSTACHE_MAX_OUTPUT)
        return nai_err_set(r->err, NAI_EUSAGE, "%s.mustache: the result is too large; does a partial include itself?",
                           r->template->name);
    }
    r->at++;
  }
}

int nai_mustache_render(struct nai_buf *out, struct nai_templates *set, const char *name, const struct nai_view *root,
                        enum nai_escape_mode mode, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(nai_buf) indent = {0};
  struct renderer r = {.out = out, .set = set, .mode = mode, .err = err, .arena = &arena, .indent = &indent};
  struct template *template = NULL;
  NAI_TRY(get(&template, set, name, strlen(name), err));
  NAI_TRY(push_context(&r, root));
  r.template = template;
  return run(&r);
}
