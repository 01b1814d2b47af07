#include "features/whatif/sensitivity.h"

#include "base/fmt.h"

enum { LABEL_WIDTH = 22, CELL_WIDTH = 12 };

static const int less_pct[NAI_SPEEDUPS] = {10, 25, 50, 100};
static const struct {
  const char *kind, *change;
} kinds[] = {{"GPU kernels", "kernel .="}, {"NCCL kernels", "kernel ^nccl="}, {"copies", "copy .="},
             {"CUDA calls", "call .="},    {"launch calls", "call Launch="},  {"host code and calls", "host "}};

/* One kind, at each speed; left out where the trace has none of it. */
static int add_kind(struct nai_sensitivity *s, const struct nai_whatif *w, size_t kind, const struct nai_change *wait,
                    struct nai_arena *arena, struct nai_err *err) {
  const struct nai_change *together[] = {NULL, wait};
  for (int i = 0; i < NAI_SPEEDUPS; i++) {
    struct nai_change change = {0};
    int64_t edited = 0;
    int rc = nai_change_parse(&change, nai_arena_printf(arena, "%s%g", kinds[kind].change, 1 - less_pct[i] / 100.0),
                              arena, err);
    together[0] = &change;
    if (!rc && !i)
      rc = nai_change_count(&edited, w, &change, err);
    if (!rc && (i || edited))
      rc = nai_whatif_likely(&s->v[s->count].after_ns[i], w, together, wait ? 2 : 1, err);
    nai_change_free(&change);
    NAI_TRY(rc);
    if (!i && !edited)
      return NAI_OK;
  }
  s->v[s->count].without_waits = wait != NULL;
  s->v[s->count++].kind = kinds[kind].kind;
  return NAI_OK;
}

int nai_find_sensitivity(struct nai_sensitivity *out, const struct nai_whatif *w, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_change wait = {0};
  int64_t waits = 0;
  *out = (struct nai_sensitivity){0};
  int rc = nai_change_parse(&wait, "remove-wait .", &arena, err);
  if (!rc && !nai_whatif_refuses(w, &wait))
    rc = nai_change_count(&waits, w, &wait, err);
  for (int without = 0; without < 1 + (waits > 0); without++)
    for (size_t kind = 0; !rc && kind < sizeof kinds / sizeof *kinds; kind++)
      rc = add_kind(out, w, kind, without ? &wait : NULL, &arena, err);
  nai_change_free(&wait);
  return rc;
}

static void pad(struct nai_buf *out, size_t from, size_t width) {
  size_t put = nai_buf_position(out) - from;
  nai_buf_fill(out, ' ', put < width ? width - put : 1);
}

void nai_sensitivity_put_text(struct nai_buf *out, const struct nai_sensitivity *s) {
  for (int i = 0; i < s->count; i++) {
    size_t from = nai_buf_position(out);
    if (!i || s->v[i].without_waits != s->v[i - 1].without_waits) {
      nai_buf_puts(out, s->v[i].without_waits ? "\nand no call waits" : "If all of a kind takes");
      pad(out, from, LABEL_WIDTH + s->v[i].without_waits);
      for (int k = 0; k < NAI_SPEEDUPS; k++)
        nai_buf_printf(out, "%*d %% less", CELL_WIDTH - 7, less_pct[k]);
      nai_buf_putc(out, '\n');
      from = nai_buf_position(out);
    }
    nai_buf_printf(out, "  %s", s->v[i].kind);
    pad(out, from, LABEL_WIDTH);
    for (int k = 0; k < NAI_SPEEDUPS; k++) {
      NAI_SCOPED(nai_buf) cell = {0};
      nai_fmt_duration(&cell, s->v[i].after_ns[k]);
      nai_buf_printf(out, "%*s", CELL_WIDTH, nai_buf_str(&cell));
      out->oom |= cell.oom;
    }
    nai_buf_putc(out, '\n');
  }
}

void nai_sensitivity_put_json(struct nai_json *json, const struct nai_sensitivity *s) {
  nai_json_put_array(json, "sensitivity", NAI_JSON_INLINE);
  for (int i = 0; i < s->count; i++)
    for (int k = 0; k < NAI_SPEEDUPS; k++) {
      nai_json_begin_object(json, NAI_JSON_INLINE);
      nai_json_put_text(json, "kind", s->v[i].kind);
      nai_json_put_int(json, "less_pct", less_pct[k]);
      nai_json_put_bool(json, "without_waits", s->v[i].without_waits);
      nai_json_put_int(json, "after_ns", llround(s->v[i].after_ns[k]));
      nai_json_end(json);
    }
  nai_json_end(json);
}
