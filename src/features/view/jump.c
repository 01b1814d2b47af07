/* From the selected event to others. */
#include "features/view/state.h"

#include "base/fmt.h"

void nai_term_snap(struct nai_term *v, uint32_t key) {
  const struct nai_row *row = nai_term_row(v);
  bool forward = key == NAI_KEY_TAB;
  if (!row)
    return;
  const struct nai_spans *s = nai_row_spans(&v->scene, row);
  uint32_t next = nai_spans_from(s, forward ? v->now.at + 1 : v->now.at);
  if (!forward)
    next = next ? next - 1 : s->count;
  if (next < s->count)
    nai_term_go(v, nai_spans_start(s, next));
  else
    nai_term_say(v, forward ? "nothing in this row begins later" : "nothing in this row begins earlier");
}

void nai_term_same_name(struct nai_term *v, uint32_t key) {
  const struct nai_row *row = nai_term_row(v);
  uint32_t event = nai_term_event(v), i = event;
  if (!row || event >= nai_row_spans(&v->scene, row)->count) {
    nai_term_say(v, "no event is selected; Tab goes to the next one");
    return;
  }
  const struct nai_spans *s = nai_row_spans(&v->scene, row);
  uint64_t name = nai_event_name_id(&v->scene, row, event);
  do
    i = key == 'N' ? i + 1 : i - 1;
  while (i < s->count && nai_event_name_id(&v->scene, row, i) != name);
  if (i >= s->count) {
    nai_term_say(v, key == 'N' ? "the last of its name in this row" : "the first of its name in this row");
    return;
  }
  nai_term_push(v);
  nai_term_go(v, nai_spans_start(s, i));
}

/* --- by length ---------------------------------------------------------------------------------------- */

/* Whether event i comes before j where the longest is first; of equals the earlier. */
static bool is_longer(const struct nai_spans *s, uint32_t i, uint32_t j) {
  int64_t a = nai_spans_end(s, i) - nai_spans_start(s, i), b = nai_spans_end(s, j) - nai_spans_start(s, j);
  return a > b || (a == b && i < j);
}

/* The next one in that order, or the one before; `count` for none. */
static uint32_t next_by_length(const struct nai_spans *s, uint32_t event, bool forward) {
  uint32_t best = s->count;
  for (uint32_t i = 0; i < s->count; i++)
    if (forward ? is_longer(s, event, i) && (best == s->count || is_longer(s, i, best))
                : is_longer(s, i, event) && (best == s->count || is_longer(s, best, i)))
      best = i;
  return best;
}

void nai_term_by_length(struct nai_term *v, uint32_t key) {
  const struct nai_row *row = nai_term_row(v);
  const struct nai_spans *s = row ? nai_row_spans(&v->scene, row) : NULL;
  const struct nai_by_length *was = &v->by_length;
  NAI_SCOPED(nai_buf) count = {0};
  if (!s || !s->count) {
    nai_term_say(v, "nothing in this row");
    return;
  }
  bool goes_on = was->events == s->count && was->row == v->now.row && was->at == v->now.at, forward = key == 's';
  if (!goes_on && !forward) {
    nai_term_say(v, "s goes to the longest event of the row");
    return;
  }
  uint32_t event = goes_on ? next_by_length(s, was->event, forward) : nai_spans_longest(s, 0, s->count);
  if (event == s->count) {
    nai_term_say(v, forward ? "the shortest of this row" : "the longest of this row");
    return;
  }
  uint32_t rank = !goes_on ? 1 : forward ? was->rank + 1 : was->rank - 1;
  nai_term_push(v);
  nai_term_go(v, nai_spans_start(s, event));
  v->by_length = (struct nai_by_length){v->now.row, s->count, event, rank, v->now.at};
  nai_fmt_count(&count, s->count);
  nai_term_say(v, "%u of %s in this row, the longest first", rank, nai_buf_str(&count));
}

/* --- launches ----------------------------------------------------------------------------------------- */

/* The row in which an event of a table lies; count for none. */
static uint32_t row_of(const struct nai_term *v, enum nai_lane_kind kind, uint32_t table_row, int64_t start) {
  for (uint32_t r = 0; r < v->scene.count; r++) {
    const struct nai_row *row = &v->scene.rows[r];
    if (row->kind != NAI_ROW_EVENTS || row->lane != kind)
      continue;
    const struct nai_spans *s = nai_row_spans(&v->scene, row);
    for (uint32_t i = nai_spans_from(s, start); i < s->count && nai_spans_start(s, i) == start; i++)
      if (s->rows[i] == table_row)
        return r;
  }
  return v->scene.count;
}

/* The first operation that a call launched. */
static bool go_to_work(struct nai_term *v, uint32_t call) {
  const struct nai_model *m = v->scene.m;
  const struct {
    enum nai_lane_kind kind;
    const uint32_t *calls;
    const struct nai_column *start;
    uint32_t n;
  } tables[] = {{NAI_LANE_KERNEL, m->kernel_api, &m->kernels.start_ns, m->kernels.n},
                {NAI_LANE_COPY, m->memop_api, &m->memops.start_ns, m->memops.n},
                {NAI_LANE_SET, m->memop_api, &m->memops.start_ns, m->memops.n},
                {NAI_LANE_GRAPH, m->graph_api, &m->graphs.start_ns, m->graphs.n}};
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (uint32_t r = 0; r < tables[t].n; r++) {
      if (tables[t].calls[r] != call)
        continue;
      uint32_t row = row_of(v, tables[t].kind, r, nai_at(tables[t].start, r));
      if (row == v->scene.count)
        continue;
      v->now.row = row;
      nai_term_go(v, nai_at(tables[t].start, r));
      return true;
    }
  return false;
}

void nai_term_launch(struct nai_term *v) {
  const struct nai_row *row = nai_term_row(v);
  uint32_t event = nai_term_event(v);
  const struct nai_model *m = v->scene.m;
  if (!row || row->kind != NAI_ROW_EVENTS || event >= nai_row_spans(&v->scene, row)->count) {
    nai_term_say(v, "no event is selected; Tab goes to the next one");
    return;
  }
  struct nai_position was = v->now;
  if (row->lane == NAI_LANE_API) { /* back, or to what it launched */
    if (v->jumped && v->launched.row < v->scene.count)
      v->now = v->launched;
    else if (!go_to_work(v, nai_row_spans(&v->scene, row)->rows[event]))
      nai_term_say(v, "this call launched nothing that is shown");
    v->jumped = false;
  } else {
    uint32_t call = nai_event_call(&v->scene, row, event);
    uint32_t to = call == NAI_NO_ROW ? v->scene.count : row_of(v, NAI_LANE_API, call, nai_at(&m->apis.start_ns, call));
    if (to == v->scene.count) {
      nai_term_say(v, "the call that launched it is not in the trace");
      return;
    }
    v->launched = v->now;
    v->jumped = true;
    v->now.row = to;
    nai_term_go(v, nai_at(&m->apis.start_ns, call));
  }
  struct nai_position to = v->now;
  v->now = was;
  nai_term_push(v);
  v->now = to;
  nai_term_scroll(v);
}

/* --- findings, GPUs ----------------------------------------------------------------------------------- */

static size_t first_of_finding(const struct nai_term_place *places, size_t at) {
  while (at > 0 && places[at - 1].finding == places[at].finding)
    at--;
  return at;
}

/* The first place of the next finding that has one, or of the one before; round and round. */
static size_t next_place(const struct nai_term *v, bool forward) {
  const struct nai_term_place *places = v->options->places;
  size_t count = v->options->place_count, at = v->place ? v->place - 1 : 0;
  if (!forward) {
    at = v->place ? first_of_finding(places, at) : 0;
    return first_of_finding(places, at ? at - 1 : count - 1);
  }
  if (v->place)
    for (at++; at < count && places[at].finding == places[v->place - 1].finding;)
      at++;
  return at < count ? at : 0;
}

void nai_term_finding(struct nai_term *v, uint32_t key) {
  v->in_tree = false;
  if (!v->options->place_count) {
    nai_term_say(v, v->options->finding_count ? "no finding has a place on the timeline" : "there are no findings");
    return;
  }
  v->place = next_place(v, key == '!') + 1;
  const struct nai_term_place *p = &v->options->places[v->place - 1];
  nai_term_push(v);
  uint32_t row = nai_term_find_row(v, p->device, p->pid);
  if (row < v->scene.count)
    v->now.row = row;
  nai_term_go_to(v, p->start, p->end);
  nai_term_scroll(v);
  nai_term_say(v, "finding %u of %zu, %s: %s", p->finding + 1, v->options->finding_count, p->severity, p->title);
}

void nai_term_next_gpu(struct nai_term *v) {
  const struct nai_row *row = nai_term_row(v);
  uint32_t r = v->now.row;
  for (uint32_t i = 0; row && i < v->scene.count; i++) {
    r = r + 1 < v->scene.count ? r + 1 : 0;
    if (v->scene.rows[r].kind == NAI_ROW_BUSY) {
      v->now.row = r;
      nai_term_scroll(v);
      return;
    }
  }
  nai_term_say(v, "there is no other GPU");
}

/* --- timeline and tree -------------------------------------------------------------------------------- */

static void to_timeline(struct nai_term *v) {
  const struct nai_model *m = v->scene.m;
  uint32_t node = nai_tree_node(&v->tree);
  v->in_tree = false;
  if (node == NAI_NO_ROW)
    return;
  uint32_t range = m->nodes[node].longest;
  enum nai_lane_kind kind = m->nodes[node].start_end ? NAI_LANE_NVTX_ASYNC : NAI_LANE_NVTX;
  nai_term_push(v);
  uint32_t row = row_of(v, kind, range, nai_at(&m->nvtx.start_ns, range));
  if (row < v->scene.count) {
    int *depth = &v->settings[NAI_SET_DEPTH];
    *depth = v->scene.rows[row].depth >= *depth ? v->scene.rows[row].depth + 1 : *depth;
    v->now.row = row;
  }
  nai_term_go_to(v, nai_at(&m->nvtx.start_ns, range), nai_at(&m->nvtx.end_ns, range));
  nai_term_scroll(v);
}

void nai_term_switch(struct nai_term *v) {
  if (v->in_tree) {
    to_timeline(v);
    return;
  }
  const struct nai_row *row = nai_term_row(v);
  uint32_t event = nai_term_event(v);
  const struct nai_nvtx_node *node =
      row && event < nai_row_spans(&v->scene, row)->count ? nai_event_node(&v->scene, row, event) : NULL;
  v->in_tree = true;
  if (node)
    nai_tree_select(&v->tree, (uint32_t)(node - v->scene.m->nodes));
}
