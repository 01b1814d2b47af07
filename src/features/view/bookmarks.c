/* Places that are kept between runs of the program, in a file per trace: {"bookmarks": [{"at_ns", "start_ns",
 * "end_ns", "row", "label"}]}. */
#include "features/view/state.h"

#include "base/fs.h"
#include "config/yaml.h"
#include "table/json.h"

#include <fcntl.h>
#include <unistd.h>

static bool path_of(char *path, size_t size, const struct nai_term *v) {
  int n = v->options->bookmarks
            ? snprintf(path, size, "%s/%016llx.json", v->options->bookmarks, (unsigned long long)v->options->identity)
            : -1;
  return n > 0 && (size_t)n < size;
}

static bool add(struct nai_term *v, struct nai_position position, const char *label) {
  if (v->bookmark_count == NAI_BOOKMARKS_MOST)
    return false;
  v->bookmarks[v->bookmark_count] = (struct nai_bookmark){position, nai_arena_printf(&v->arena, "%s", label)};
  v->bookmark_count += !v->arena.oom;
  return !v->arena.oom;
}

/* --- the file ----------------------------------------------------------------------------------------- */

static int read_one(struct nai_term *v, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                    struct nai_err *err) {
  static const char *const keys[] = {"at_ns", "start_ns", "end_ns", "row", "label"};
  const struct nai_yaml_node *members[5];
  int64_t values[4];
  const char *label;
  for (int i = 0; i < 5; i++) {
    NAI_TRY(nai_yaml_require(&members[i], doc, node, keys[i], err));
    if (i < 4)
      NAI_TRY(nai_yaml_int(&values[i], doc, members[i], INT64_MIN / 4, INT64_MAX / 4, err));
  }
  NAI_TRY(nai_yaml_text(&label, doc, members[4], err));
  struct nai_position p = {values[1], values[2], values[0], 0};
  p.row = values[3] >= 0 && values[3] < v->scene.count ? (uint32_t)values[3] : 0;
  bool inside =
      p.start >= v->scene.first && p.end <= v->scene.last && p.start < p.end && p.at >= p.start && p.at < p.end;
  return !inside || add(v, p, label) ? NAI_OK : nai_err_nomem(err);
}

static int read_all(struct nai_term *v, const char *path, struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = NULL;
  const struct nai_yaml_node *n;
  NAI_TRY(nai_yaml_load(&doc, path, err));
  NAI_TRY(nai_yaml_items(&n, doc, nai_yaml_root(doc), "bookmarks", NAI_YAML_LIST, err));
  for (; n; n = nai_yaml_next(doc, n))
    NAI_TRY(read_one(v, doc, n, err));
  return NAI_OK;
}

/* A damaged file is no reason not to look at a trace: it is said, and overwritten with the next bookmark. */
int nai_bookmarks_load(struct nai_term *v, struct nai_err *err) {
  char path[4096];
  if (!path_of(path, sizeof path, v) || !nai_fs_exists(path))
    return NAI_OK;
  int rc = read_all(v, path, err);
  if (rc != NAI_EUSAGE && rc != NAI_EINPUT && rc != NAI_EIO)
    return rc;
  nai_term_say(v, "bookmarks: %s", err->msg);
  return NAI_OK;
}

static int write_file(const char *directory, const char *path, const struct nai_buf *text, struct nai_err *err) {
  char part[4200];
  snprintf(part, sizeof part, "%s.part", path);
  NAI_TRY(nai_fs_mkdir_all(directory, err));
  unlink(part);
  int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  int failed = fd < 0 ? -1 : nai_fs_write_all(fd, text->data, text->len);
  if (fd >= 0 && close(fd) && !failed)
    failed = -1;
  if (failed || rename(part, path)) {
    unlink(part);
    return nai_err_set(err, NAI_EIO, "cannot write \"%s\"", path);
  }
  return NAI_OK;
}

static int save(const struct nai_term *v, struct nai_err *err) {
  char path[4096];
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_json json;
  if (!path_of(path, sizeof path, v))
    return nai_err_set(err, NAI_EIO, "no directory for bookmarks: neither XDG_STATE_HOME nor HOME is set");
  nai_json_open(&json, &text, NAI_JSON_LINES);
  nai_json_put_array(&json, "bookmarks", NAI_JSON_LINES);
  for (uint32_t i = 0; i < v->bookmark_count; i++) {
    const struct nai_bookmark *b = &v->bookmarks[i];
    nai_json_begin_object(&json, NAI_JSON_INLINE);
    nai_json_put_int(&json, "at_ns", b->position.at);
    nai_json_put_int(&json, "start_ns", b->position.start);
    nai_json_put_int(&json, "end_ns", b->position.end);
    nai_json_put_int(&json, "row", b->position.row);
    nai_json_put_text(&json, "label", b->label);
    nai_json_end(&json);
  }
  nai_json_close(&json);
  NAI_TRY(nai_buf_check(&text, err));
  return write_file(v->options->bookmarks, path, &text, err);
}

/* --- what keys do ------------------------------------------------------------------------------------- */

/* The row, the event and the ranges around it. */
static void print_label(struct nai_buf *out, const struct nai_term *v) {
  const struct nai_row *row = nai_term_row(v);
  uint32_t event = nai_term_event(v);
  nai_print_time(out, v, v->now.at);
  nai_buf_printf(out, " %s", row ? row->label + (*row->label == ' ') : "");
  if (!row || event >= nai_row_spans(&v->scene, row)->count)
    return;
  nai_buf_puts(out, ": ");
  nai_event_name(out, &v->scene, row, event, false);
  size_t before = out->len;
  nai_buf_puts(out, " in ");
  size_t after = out->len;
  nai_event_path(out, &v->scene, row, event);
  if (out->len == after)
    out->len = before;
}

void nai_term_bookmark(struct nai_term *v) {
  NAI_SCOPED(nai_buf) label = {0};
  struct nai_err err;
  print_label(&label, v);
  nai_buf_putc(&label, '\0');
  if (label.oom || !add(v, v->now, nai_buf_str(&label)))
    nai_term_say(v, "no more bookmarks can be kept");
  else if (save(v, &err))
    nai_term_say(v, "bookmark %u for now only: %s", v->bookmark_count, err.msg);
  else
    nai_term_say(v, "bookmark %u saved", v->bookmark_count);
}

void nai_term_go_bookmark(struct nai_term *v, uint32_t number) {
  if (number >= v->bookmark_count) {
    nai_term_say(v, v->bookmark_count ? "there is no bookmark %u" : "there are no bookmarks; B saves one", number + 1);
    return;
  }
  nai_term_push(v);
  v->now = v->bookmarks[number].position;
  v->bookmark_at = number + 1;
  nai_term_scroll(v);
  nai_term_say(v, "bookmark %u: %s", number + 1, v->bookmarks[number].label);
}

void nai_term_cycle_bookmark(struct nai_term *v, uint32_t key) {
  uint32_t count = v->bookmark_count, at = v->bookmark_at; /* number + 1 */
  at = key == '.' ? (at < count ? at + 1 : 1) : at > 1 ? at - 1 : count;
  nai_term_go_bookmark(v, at ? at - 1 : 0);
}
