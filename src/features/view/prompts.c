/* Lines that are typed: a filter, a duration, a time, a file. */
#include "features/view/state.h"

#include "base/fs.h"

void nai_prompt_open(struct nai_term *v, char key) {
  v->prompt = (struct nai_prompt){.key = key};
  if (key == 'w') {
    snprintf(v->prompt.text, sizeof v->prompt.text, "nsys-ai-view.txt");
    v->prompt.len = strlen(v->prompt.text);
  }
}

/* A number that is all of the text. */
static bool read_number(double *out, const char *text) {
  char *end;
  *out = strtod(text, &end);
  return end != text && !*end && isfinite(*out);
}

/* --- what becomes of the line ------------------------------------------------------------------------- */

static int filter(struct nai_term *v, const char *text, struct nai_err *err) {
  if (v->in_tree)
    return nai_tree_filter(&v->tree, text, err);
  NAI_TRY(nai_scene_filter(&v->scene, text, v->scene.filter.min_ns, err));
  if (*text && !v->scene.matches)
    nai_term_say(v, "no kernel has \"%s\" in its name; n shows all", text);
  return NAI_OK;
}

static int set_least(struct nai_term *v, const char *text, struct nai_err *err) {
  double us = 0;
  if (*text && (!read_number(&us, text) || us < 0 || us > 1e9)) {
    nai_term_say(v, "\"%s\" is no number of microseconds", text);
    return NAI_OK;
  }
  return nai_term_set(v, NAI_SET_MIN_US, (int)ceil(us), err);
}

static void go(struct nai_term *v, const char *text) {
  double s = 0;
  if (!*text)
    return;
  if (!read_number(&s, text) || fabs(s) > 1e9) {
    nai_term_say(v, "\"%s\" is no number of seconds", text);
    return;
  }
  nai_term_push(v);
  nai_term_go(v, llround(s * 1e9) + (v->relative ? v->scene.first : 0));
}

static int write_window(struct nai_term *v, const char *path, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_err said;
  if (!*path)
    return NAI_OK;
  NAI_TRY(nai_term_print(&text, v, v->width, 0, err));
  if (nai_fs_exists(path))
    nai_term_say(v, "\"%s\" exists; nothing was written", path);
  else if (nai_fs_write(path, nai_buf_str(&text), text.len, &said))
    nai_term_say(v, "%s", said.msg);
  else
    nai_term_say(v, "written to %s", path);
  return NAI_OK;
}

static int accept(struct nai_term *v, struct nai_err *err) {
  struct nai_prompt p = v->prompt;
  v->prompt.key = 0;
  switch (p.key) {
  case '/':
  case 'F':
    return filter(v, p.text, err);
  case 'm':
    return set_least(v, p.text, err);
  case 'g':
    go(v, p.text);
    return NAI_OK;
  default:
    return write_window(v, p.text, err);
  }
}

/* --- typing ------------------------------------------------------------------------------------------- */

static void erase(struct nai_prompt *p) {
  while (p->len && (p->text[p->len - 1] & 0xc0) == 0x80)
    p->len--;
  if (p->len)
    p->len--;
  p->text[p->len] = 0;
}

static void type(struct nai_prompt *p, uint32_t key) {
  char bytes[4];
  size_t n = key < 0x80 ? 1 : key < 0x800 ? 2 : key < 0x10000 ? 3 : 4;
  static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  if (key < 0x20 || key >= 0x110000 || p->len + n >= sizeof p->text)
    return;
  for (size_t i = n - 1; i > 0; i--, key >>= 6)
    bytes[i] = (char)(0x80 | (key & 0x3f));
  bytes[0] = (char)(lead[n] | key);
  memcpy(p->text + p->len, bytes, n);
  p->len += n;
  p->text[p->len] = 0;
}

int nai_prompt_key(struct nai_term *v, uint32_t key, struct nai_err *err) {
  if (key == NAI_KEY_ENTER)
    return accept(v, err);
  if (key == NAI_KEY_ESCAPE) {
    v->prompt.key = 0;
    return NAI_OK;
  }
  if (key == NAI_KEY_BACKSPACE)
    erase(&v->prompt);
  else
    type(&v->prompt, key);
  return v->prompt.key == 'F' ? nai_tree_filter(&v->tree, v->prompt.text, err) : NAI_OK;
}
