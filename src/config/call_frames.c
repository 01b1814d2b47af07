#include "config/call_frames.h"

#include "config/patterns.h"

enum { LOCK = NAI_FRAME_FILE + 1, GARBAGE, NOT_INLINED, SETS, NAMES = LOCK };

static const char *const class_names[] = {
#define NAME(id, name) name,
    NAI_FRAME_CLASSES(NAME)
#undef NAME
};

struct nai_call_frames {
  struct nai_patterns *sets[SETS];
  enum nai_frame_class classes[NAMES][NAI_FRAME_USER]; /* by number of a set's class */
};

/* A class of the file may be of several sets, in each of which classes are numbered by themselves. */
static int add_class(struct nai_call_frames *frames, enum nai_frame_class class, const struct nai_yaml *doc,
                     const struct nai_yaml_node *node, struct nai_err *err) {
  static const char *const keys[] = {
      [NAI_FRAME_MODULE] = "module", [NAI_FRAME_SYMBOL] = "symbol", [NAI_FRAME_FILE] = "file", NULL};
  NAI_TRY(nai_yaml_expect_keys(doc, node, keys, err));
  for (int s = 0; s < NAMES; s++) {
    const struct nai_yaml_node *patterns = nai_yaml_get(doc, node, keys[s]);
    if (!patterns)
      continue;
    NAI_TRY(nai_patterns_add_class(frames->sets[s], class_names[class], doc, patterns, err));
    frames->classes[s][nai_patterns_class_count(frames->sets[s]) - 1] = class;
  }
  return NAI_OK;
}

static int add_list(struct nai_call_frames *frames, int set, const struct nai_yaml *doc, const char *key,
                    struct nai_err *err) {
  const struct nai_yaml_node *node;
  NAI_TRY(nai_yaml_require(&node, doc, nai_yaml_root(doc), key, err));
  return nai_patterns_add_class(frames->sets[set], key, doc, node, err);
}

int nai_call_frames_load(struct nai_call_frames **out, struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = NULL;
  NAI_OWNED(nai_call_frames) *frames = calloc(1, sizeof *frames);
  *out = NULL;
  NAI_TRY(nai_memory_check(frames, err));
  NAI_TRY(nai_yaml_load_builtin(&doc, "rules/call-frames.yaml", err));
  for (int s = 0; s < SETS; s++)
    NAI_TRY(nai_patterns_new(&frames->sets[s], err));
  for (int c = 0; c < NAI_FRAME_USER; c++) {
    const struct nai_yaml_node *node;
    NAI_TRY(nai_yaml_require(&node, doc, nai_yaml_root(doc), class_names[c], err));
    NAI_TRY(add_class(frames, (enum nai_frame_class)c, doc, node, err));
  }
  NAI_TRY(add_list(frames, LOCK, doc, "interpreter_lock", err));
  NAI_TRY(add_list(frames, GARBAGE, doc, "garbage_collection", err));
  NAI_TRY(add_list(frames, NOT_INLINED, doc, "not_inlined", err));
  return NAI_GIVE(out, frames);
}

void nai_call_frames_free(struct nai_call_frames *frames) {
  for (int s = 0; frames && s < SETS; s++)
    nai_patterns_free(frames->sets[s]);
  free(frames);
}

enum nai_frame_class nai_call_frames_class(const struct nai_call_frames *frames, enum nai_frame_name kind,
                                           const char *name) {
  int found = nai_patterns_match(frames->sets[kind], name);
  return found < 0 ? NAI_FRAME_USER : frames->classes[kind][found];
}

bool nai_call_frames_is_lock(const struct nai_call_frames *frames, const char *symbol) {
  return nai_patterns_match(frames->sets[LOCK], symbol) >= 0;
}

bool nai_call_frames_is_garbage(const struct nai_call_frames *frames, const char *symbol) {
  return nai_patterns_match(frames->sets[GARBAGE], symbol) >= 0;
}

bool nai_call_frames_is_not_inlined(const struct nai_call_frames *frames, const char *symbol) {
  return nai_patterns_match(frames->sets[NOT_INLINED], symbol) >= 0;
}

int nai_call_frames_check(const struct nai_call_frames *frames, struct nai_err *err) {
  for (int s = 0; s < SETS; s++)
    NAI_TRY(nai_patterns_check(frames->sets[s], err));
  return NAI_OK;
}
