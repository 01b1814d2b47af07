/* JSON of Chrome's trace viewer ("Trace Event Format"), which other viewers read as well. */
#include "features/export/timeline.h"

#include "table/json.h"
#include "tables/capture.h"

struct chrome {
  struct nai_timeline_writer writer;
  struct nai_timeline *tl;
  struct nai_json json;
  uint64_t flows;
};

/* Microseconds with exactly three decimals. */
static void put_us(struct nai_json *json, const char *key, int64_t ns) {
  char digits[40];
  uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
  snprintf(digits, sizeof digits, "%s%" PRIu64 ".%03d", ns < 0 ? "-" : "", size / 1000, (int)(size % 1000));
  nai_json_key(json, key);
  nai_json_decimal(json, digits);
}

/* A row of the viewer: the thread itself, or a number made for the track. */
struct place {
  int32_t pid, tid;
};

static struct place place_of(const struct nai_track *t) {
  struct place place = {t->pid, t->tid ? t->tid : (int32_t)(NAI_MADE_ID + t->number)};
  if (t->kind == NAI_TRACK_GPU || t->kind == NAI_TRACK_DEVICE)
    place.pid = (int32_t)(NAI_GPU_PID + t->gpu);
  else if (t->kind == NAI_TRACK_METRICS || t->kind == NAI_TRACK_COUNTER)
    place.pid = NAI_GPU_PID - 1;
  return place;
}

static void begin_event(struct chrome *c, const char *phase, struct place place) {
  nai_json_begin_object(&c->json, NAI_JSON_INLINE);
  nai_json_put_text(&c->json, "ph", phase);
  nai_json_put_int(&c->json, "pid", place.pid);
  nai_json_put_int(&c->json, "tid", place.tid);
}

static void begin_args(struct chrome *c) { nai_json_put_object(&c->json, "args", NAI_JSON_INLINE); }

static void end_args(struct chrome *c) {
  nai_json_end(&c->json);
  nai_json_end(&c->json);
}

/* --- rows -------------------------------------------------------------------------------------------- */

static void put_meta(struct chrome *c, const char *name, struct place place, const char *key, const char *text,
                     int64_t number) {
  begin_event(c, "M", place);
  nai_json_put_text(&c->json, "name", name);
  begin_args(c);
  if (text)
    nai_json_put_text(&c->json, key, text);
  else
    nai_json_put_int(&c->json, key, number);
  end_args(c);
}

static void put_track(struct nai_timeline_writer *writer, const struct nai_track *t) {
  struct chrome *c = (struct chrome *)writer; /* its first member */
  struct place place = place_of(t);
  if (t->kind == NAI_TRACK_COUNTER)
    return;
  if (t->kind == NAI_TRACK_PROCESS || t->kind == NAI_TRACK_GPU || t->kind == NAI_TRACK_METRICS) {
    int group = t->kind == NAI_TRACK_PROCESS ? 0 : 1; /* GPUs below processes */
    put_meta(c, "process_name", place, "name", t->name, 0);
    put_meta(c, "process_sort_index", place, "sort_index", NULL, group * 1000000 + t->number);
    return;
  }
  put_meta(c, "thread_name", place, "name", t->name, 0);
  /* The rows of a thread stand below it. */
  uint32_t owner = t->kind == NAI_TRACK_HOST ? t->parent : t->number;
  put_meta(c, "thread_sort_index", place, "sort_index", NULL,
           t->kind == NAI_TRACK_DEVICE ? t->rank : (int64_t)owner * 2 + (t->kind == NAI_TRACK_HOST));
}

/* --- events ------------------------------------------------------------------------------------------ */

static void put_arg(struct chrome *c, const struct nai_arg *arg) {
  char digits[64];
  if (arg->key == NAI_ARG_KERNEL) /* once, in otherData */
    return;
  nai_json_key(&c->json, nai_arg_names[arg->key]);
  if (arg->type == NAI_ARG_INT)
    nai_json_int(&c->json, arg->i);
  else if (arg->type == NAI_ARG_TEXT)
    nai_json_text(&c->json, nai_strings_get(&c->tl->values, (uint32_t)arg->i));
  else {
    snprintf(digits, sizeof digits, "%.3f", arg->f);
    nai_json_decimal(&c->json, digits);
  }
}

static void put_args(struct chrome *c, const struct nai_track_slice *s) {
  struct nai_arg args[NAI_MAX_ARGS];
  int count = nai_labels_args(args, c->tl, s);
  begin_args(c);
  for (int i = 0; i < count; i++)
    put_arg(c, &args[i]);
  end_args(c);
}

static void begin_slice(struct chrome *c, const char *phase, const struct nai_track *track,
                        const struct nai_track_slice *s) {
  begin_event(c, phase, place_of(track));
  nai_json_put_text(&c->json, "name", nai_strings_get(&c->tl->names, s->name));
  nai_json_put_text(&c->json, "cat", nai_strings_get(&c->tl->categories, s->category));
  put_us(&c->json, "ts", s->start - c->tl->first_ns);
}

/* One end of an arrow; both ends bind to the slices around them, so they come after those. */
static void put_flow(struct chrome *c, const char *phase, struct place place, int64_t at) {
  begin_event(c, phase, place);
  nai_json_put_text(&c->json, "name", "launch");
  nai_json_put_text(&c->json, "cat", "launch");
  nai_json_put_int(&c->json, "id", (int64_t)c->flows);
  if (*phase == 'f')
    nai_json_put_text(&c->json, "bp", "e");
  put_us(&c->json, "ts", at - c->tl->first_ns);
  nai_json_end(&c->json);
}

static void put_flows(struct chrome *c, const struct nai_track *track, const struct nai_track_slice *s) {
  struct nai_timeline *tl = c->tl;
  uint32_t thread = nai_at_text(&tl->m->apis.thread, s->call);
  int64_t at = nai_at(&tl->m->apis.start_ns, s->call);
  int32_t process = tl->m->thread_process[thread];
  const struct nai_track row = {.kind = NAI_TRACK_HOST,
                                .number = tl->calls_track[thread] + tl->call_row[s->call],
                                .pid = tl->pid[process < 0 ? tl->m->process_count : (uint32_t)process]};
  c->flows++;
  put_flow(c, "s", place_of(&row), at < tl->options->start_ns ? tl->options->start_ns : at);
  put_flow(c, "f", place_of(track), s->start);
}

static void put_slice(struct nai_timeline_writer *writer, const struct nai_track *track,
                      const struct nai_track_slice *s) {
  struct chrome *c = (struct chrome *)writer;
  begin_slice(c, "X", track, s);
  put_us(&c->json, "dur", s->end - s->start);
  put_args(c, s);
  if (s->call != NAI_NO_ROW && s->kind != NAI_LANE_API)
    put_flows(c, track, s);
}

static void end_slice(struct nai_timeline_writer *writer, const struct nai_track *track, int64_t at) {
  (void)writer, (void)track, (void)at; /* its length is written with its start */
}

static void put_instant(struct nai_timeline_writer *writer, const struct nai_track *track,
                        const struct nai_track_slice *s) {
  struct chrome *c = (struct chrome *)writer;
  begin_slice(c, "i", track, s);
  nai_json_put_text(&c->json, "s", "t");
  put_args(c, s);
}

static void put_counter(struct nai_timeline_writer *writer, const struct nai_track *track, int64_t at, double value) {
  struct chrome *c = (struct chrome *)writer;
  char digits[400];
  snprintf(digits, sizeof digits, "%.0f", value);
  begin_event(c, "C", place_of(track));
  nai_json_put_text(&c->json, "name", track->name);
  put_us(&c->json, "ts", at - c->tl->first_ns);
  begin_args(c);
  nai_json_key(&c->json, "value");
  nai_json_decimal(&c->json, digits);
  end_args(c);
}

/* --- the file ---------------------------------------------------------------------------------------- */

/* Whole names of kernels, which would make every event long. */
static void put_kernels(struct chrome *c) {
  const struct nai_strings *names = &c->tl->m->tables[NAI_IN_KERNELS]->strings;
  nai_json_put_object(&c->json, "kernels", NAI_JSON_LINES);
  for (uint32_t i = 0; i < names->count; i++)
    if (c->tl->kernel_name[i] && !c->tl->options->full_names)
      nai_json_put_text(&c->json, nai_strings_get(&c->tl->names, c->tl->kernel_name[i] - 1), nai_strings_get(names, i));
  nai_json_end(&c->json);
}

static void put_other(struct chrome *c) {
  const struct nai_table *capture = c->tl->m->tables[NAI_IN_CAPTURE];
  int64_t utc = nai_get_i64(capture, 0, CAPTURE_utc_epoch_ns);
  nai_json_put_object(&c->json, "otherData", NAI_JSON_LINES);
  nai_json_put_text(&c->json, "tool", "nsys-ai " NAI_VERSION);
  nai_json_put_text(&c->json, "trace", nai_get_str(capture, 0, CAPTURE_file));
  nai_json_put_text(&c->json, "schema_version", nai_get_str(capture, 0, CAPTURE_schema_version));
  nai_json_put_int(&c->json, "window_start_ns", c->tl->first_ns); /* session time of ts 0 */
  if (utc != NAI_NULL_I64) {
    char digits[32]; /* JavaScript's numbers could not hold it */
    snprintf(digits, sizeof digits, "%" PRId64, utc);
    nai_json_put_text(&c->json, "session_start_utc_ns", digits);
  }
  put_kernels(c);
  nai_json_end(&c->json);
}

int nai_export_chrome(struct nai_buf *out, const struct nai_model *model, const struct nai_export_options *options,
                      struct nai_err *err) {
  NAI_SCOPED(nai_timeline) tl = {0};
  struct chrome c = {.writer = {put_track, put_slice, end_slice, put_instant, put_counter}, .tl = &tl};
  NAI_TRY(nai_timeline_open(&tl, model, options, err));
  nai_json_open(&c.json, out, NAI_JSON_LINES);
  nai_json_put_array(&c.json, "traceEvents", NAI_JSON_LINES);
  int rc = nai_timeline_write(&tl, &c.writer, err);
  nai_json_end(&c.json);
  nai_json_put_text(&c.json, "displayTimeUnit", "ns");
  put_other(&c);
  nai_json_close(&c.json);
  return rc;
}
