/* Templates of users: any text as template and as its partials, over a view with every kind of value. */
#include "report/mustache.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
  const char *text;
  size_t len;
};

/* Every partial is the input again, from another place on. */
static int load(struct nai_buf *text, void *ctx, const char *name, struct nai_err *err) {
  const struct input *in = ctx;
  (void)err;
  size_t skip = strcmp(name, "main") == 0 ? 0 : strlen(name) % (in->len + 1);
  nai_buf_put(text, in->text + skip, in->len - skip);
  return NAI_OK;
}

static struct nai_view *make_view(void) {
  struct nai_view *root = nai_view_new();
  nai_view_put_text(root, "a", "<text>");
  nai_view_put_code(root, "b", "`code`");
  nai_view_put_trusted(root, "c", "trusted");
  nai_view_put_bool(root, "d", true);
  struct nai_view *list = nai_view_put_list(root, "e");
  for (int i = 0; i < 3; i++)
    nai_view_put_int(nai_view_add_map(list), "i", i);
  nai_view_add_text(nai_view_put_list(root, "f"), "g");
  nai_view_put_map(nai_view_put_map(root, "g"), "h");
  return root;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct input in = {(const char *)data, size};
  struct nai_templates *set = NULL;
  struct nai_err err = {0};
  struct nai_view *root = make_view();
  if (size > 4096 || nai_templates_new(&set, load, &in, &err)) {
    nai_view_free(root);
    return 0;
  }
  for (int mode = NAI_ESCAPE_NONE; mode <= NAI_ESCAPE_MARKDOWN; mode++) {
    struct nai_buf out = {0};
    int rc = nai_mustache_render(&out, set, "main", root, (enum nai_escape_mode)mode, &err);
    if (rc && (rc != NAI_EUSAGE || !strstr(err.msg, ".mustache:")))
      abort();
    if (!rc && nai_templates_check(set, "main", &err) && !strstr(err.msg, ".mustache:"))
      abort();
    nai_buf_free(&out);
  }
  nai_templates_free(set);
  nai_view_free(root);
  return 0;
}
