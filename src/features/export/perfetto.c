/* Perfetto's own format: protobuf messages by hand. Field numbers: protos/perfetto/trace of the Perfetto sources. */
#include "features/export/timeline.h"
#include "tables/capture.h"

/* --- protobuf ---------------------------------------------------------------------------------------- */

enum { VARINT = 0, FIXED64 = 1, BYTES = 2 };

static void put_tag(struct nai_buf *out, int field, int type) {
  nai_buf_put_varint(out, (uint64_t)field << 3 | (uint64_t)type);
}

static void put_int(struct nai_buf *out, int field, uint64_t v) {
  put_tag(out, field, VARINT);
  nai_buf_put_varint(out, v);
}

static void put_fixed(struct nai_buf *out, int field, uint64_t v) {
  char bytes[8];
  for (int i = 0; i < 8; i++)
    bytes[i] = (char)(v >> 8 * i);
  put_tag(out, field, FIXED64);
  nai_buf_put(out, bytes, sizeof bytes);
}

static void put_double(struct nai_buf *out, int field, double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  put_fixed(out, field, bits);
}

static void put_bytes(struct nai_buf *out, int field, const char *bytes, size_t len) {
  put_tag(out, field, BYTES);
  nai_buf_put_varint(out, len);
  nai_buf_put(out, bytes, len);
}

static void put_text(struct nai_buf *out, int field, const char *text) { put_bytes(out, field, text, strlen(text)); }

/* A message, which is empty again then. */
static void put_message(struct nai_buf *out, int field, struct nai_buf *message) {
  put_bytes(out, field, nai_buf_str(message), message->len);
  nai_buf_clear(message);
}

/* --- packets ----------------------------------------------------------------------------------------- */

enum { TRACE_PACKET = 1 };
enum {
  PACKET_CLOCK_SNAPSHOT = 6,
  PACKET_TIMESTAMP = 8,
  PACKET_SEQUENCE_ID = 10,
  PACKET_TRACK_EVENT = 11,
  PACKET_INTERNED = 12,
  PACKET_SEQUENCE_FLAGS = 13,
  PACKET_TRACK_DESCRIPTOR = 60,
  PACKET_FIRST_ON_SEQUENCE = 87,
  PACKET_TRACE_ATTRIBUTES = 126
};
enum { CLEARED = 1, NEEDS_INTERNED = 2 }; /* 0: needs nothing of other packets */
enum {
  EVENT_CATEGORY = 3,
  EVENT_ARG = 4,
  EVENT_TYPE = 9,
  EVENT_NAME = 10,
  EVENT_TRACK = 11,
  EVENT_DOUBLE = 44,
  EVENT_FLOW = 47,
  EVENT_LAST_FLOW = 48
};
enum { BEGIN = 1, END = 2, INSTANT = 3, COUNTER = 4 };
static const uint64_t COLLECTIVES = UINT64_C(1) << 62; /* before the numbers of their flows */
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ARG_NAME = 3, INTERNED_VALUE = 29 };

struct perfetto {
  struct nai_timeline_writer writer;
  struct nai_timeline *tl;
  struct nai_buf *out;
  int64_t shift;                                       /* added to times, so that none is negative */
  struct nai_buf packet, interned, event, part, inner; /* messages in progress, from outermost to innermost */
  uint32_t categories, names, values;                  /* texts interned so far */
  uint32_t ends_flow; /* of the operation that was begun last: of a GPU they do not nest */
};

static void perfetto_free(struct perfetto *p) {
  struct nai_buf *const messages[] = {&p->packet, &p->interned, &p->event, &p->part, &p->inner};
  for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
    nai_buf_free(messages[i]);
}

/* Ids are numbers + 1: 0 stands for none. */
static void intern(struct perfetto *p, int field, uint64_t iid, const char *text) {
  put_int(&p->part, 1, iid);
  put_text(&p->part, 2, text);
  put_message(&p->interned, field, &p->part);
}

static void intern_new(struct perfetto *p, int field, uint32_t *sent, const struct nai_strings *texts) {
  for (; *sent < texts->count; ++*sent)
    intern(p, field, (uint64_t)*sent + 1, nai_strings_get(texts, *sent));
}

static void end_packet(struct perfetto *p) {
  if (p->interned.len)
    put_message(&p->packet, PACKET_INTERNED, &p->interned);
  put_message(p->out, TRACE_PACKET, &p->packet);
}

/* A time of the trace as the file has it. */
static uint64_t file_time(const struct perfetto *p, int64_t at) {
  const struct nai_export_place *place = p->tl->options->place;
  if (!place)
    return (uint64_t)(at + p->shift);
  at = nai_export_place_time(place, at);
  return at < 0 ? 0 : (uint64_t)at;
}

static uint32_t place_number(const struct perfetto *p) {
  return p->tl->options->place ? p->tl->options->place->number : 0;
}

/* Of a track or a flow: the trace's own number, unique in the file. */
static uint64_t file_id(const struct perfetto *p, uint64_t id) { return id ? (uint64_t)place_number(p) << 40 | id : 0; }

/* The same of a process or thread, whose number viewers show: nsys keeps 24 bits. */
static uint64_t file_pid(const struct perfetto *p, int32_t pid) {
  enum { PLACE_BITS = 26, MADE = 1 << 25 };
  if (!p->tl->options->place)
    return (uint64_t)pid;
  int32_t own = pid >= NAI_MADE_ID ? MADE + (pid - NAI_MADE_ID) % MADE : pid % MADE;
  return (uint64_t)place_number(p) << PLACE_BITS | (uint64_t)own;
}

static void put_head(struct perfetto *p, int64_t at, int flags) {
  put_int(&p->packet, PACKET_TIMESTAMP, file_time(p, at));
  put_int(&p->packet, PACKET_SEQUENCE_ID, place_number(p) + 1);
  if (flags)
    put_int(&p->packet, PACKET_SEQUENCE_FLAGS, (uint64_t)flags);
}

/* --- tracks ------------------------------------------------------------------------------------------ */

static void put_track(struct nai_timeline_writer *writer, const struct nai_track *t) {
  enum { UUID = 1, NAME = 2, PROCESS = 3, THREAD = 4, PARENT = 5, COUNTER_OF = 8, ORDER = 11, RANK = 12 };
  enum { EXPLICIT = 3 };
  struct perfetto *p = (struct perfetto *)writer; /* its first member */
  struct nai_buf *d = &p->event;
  const struct nai_export_place *place = p->tl->options->place;
  const char *name =
      place && !t->parent ? nai_arena_printf(&p->tl->arena, "%s \u00b7 %s", place->label, t->name) : t->name;
  put_int(d, UUID, file_id(p, t->number));
  put_text(d, NAME, name);
  if (t->kind == NAI_TRACK_PROCESS) {
    put_int(&p->part, 1, file_pid(p, t->pid));
    put_text(&p->part, 6, name);
    put_message(d, PROCESS, &p->part);
  }
  if (t->kind == NAI_TRACK_THREAD) {
    put_int(&p->part, 1, file_pid(p, t->pid));
    put_int(&p->part, 2, file_pid(p, t->tid));
    put_text(&p->part, 5, t->name);
    put_message(d, THREAD, &p->part);
  }
  if (t->parent)
    put_int(d, PARENT, file_id(p, t->parent));
  if (t->kind == NAI_TRACK_COUNTER)
    put_message(d, COUNTER_OF, &p->part);
  if (t->kind == NAI_TRACK_GPU)
    put_int(d, ORDER, EXPLICIT);
  if (t->kind == NAI_TRACK_GPU || t->kind == NAI_TRACK_DEVICE || t->kind == NAI_TRACK_METRICS)
    put_int(d, RANK, t->rank);
  put_head(p, p->tl->first_ns, NEEDS_INTERNED);
  put_message(&p->packet, PACKET_TRACK_DESCRIPTOR, d);
  end_packet(p);
}

/* --- events ------------------------------------------------------------------------------------------ */

static void put_arg(struct perfetto *p, const struct nai_arg *arg) {
  enum { NAME = 1, INT = 4, DOUBLE = 5, VALUE = 17 };
  put_int(&p->part, NAME, (uint64_t)arg->key + 1);
  if (arg->type == NAI_ARG_INT)
    put_int(&p->part, INT, (uint64_t)arg->i);
  else if (arg->type == NAI_ARG_REAL)
    put_double(&p->part, DOUBLE, arg->f);
  else
    put_int(&p->part, VALUE, (uint64_t)arg->i + 1);
  put_message(&p->event, EVENT_ARG, &p->part);
}

static void put_event(struct perfetto *p, const struct nai_track *track, int type, const struct nai_track_slice *s) {
  struct nai_timeline *tl = p->tl;
  struct nai_arg args[NAI_MAX_ARGS];
  int count = nai_labels_args(args, tl, s);
  put_int(&p->event, EVENT_TYPE, (uint64_t)type);
  put_int(&p->event, EVENT_TRACK, file_id(p, track->number));
  put_int(&p->event, EVENT_NAME, (uint64_t)s->name + 1);
  put_int(&p->event, EVENT_CATEGORY, (uint64_t)s->category + 1);
  if (s->call != NAI_NO_ROW) {
    bool last = s->kind != NAI_LANE_API && tl->call_ops[s->call] == 1;
    put_fixed(&p->event, last ? EVENT_LAST_FLOW : EVENT_FLOW, file_id(p, (uint64_t)s->call + 1));
  }
  const struct nai_export_collective *collective = nai_labels_collective(tl, s);
  for (uint32_t i = 0; collective && i < collective->flow_count; i++)
    put_fixed(&p->event, EVENT_FLOW, COLLECTIVES | (collective->first_flow + i));
  p->ends_flow = collective ? collective->ends_flow : 0;
  for (int i = 0; i < count; i++)
    put_arg(p, &args[i]);
  intern_new(p, INTERNED_CATEGORY, &p->categories, &tl->categories);
  intern_new(p, INTERNED_NAME, &p->names, &tl->names);
  intern_new(p, INTERNED_VALUE, &p->values, &tl->values);
  put_head(p, s->start, NEEDS_INTERNED);
  put_message(&p->packet, PACKET_TRACK_EVENT, &p->event);
  end_packet(p);
}

static void put_begin(struct nai_timeline_writer *writer, const struct nai_track *track,
                      const struct nai_track_slice *s) {
  put_event((struct perfetto *)writer, track, BEGIN, s);
}

static void put_instant(struct nai_timeline_writer *writer, const struct nai_track *track,
                        const struct nai_track_slice *s) {
  put_event((struct perfetto *)writer, track, INSTANT, s);
}

static void put_end(struct nai_timeline_writer *writer, const struct nai_track *track, int64_t at) {
  struct perfetto *p = (struct perfetto *)writer;
  put_int(&p->event, EVENT_TYPE, END);
  put_int(&p->event, EVENT_TRACK, file_id(p, track->number));
  if (p->ends_flow)
    put_fixed(&p->event, EVENT_LAST_FLOW, COLLECTIVES | (p->ends_flow - 1));
  p->ends_flow = 0;
  put_head(p, at, 0);
  put_message(&p->packet, PACKET_TRACK_EVENT, &p->event);
  end_packet(p);
}

static void put_counter(struct nai_timeline_writer *writer, const struct nai_track *track, int64_t at, double value) {
  struct perfetto *p = (struct perfetto *)writer;
  put_int(&p->event, EVENT_TYPE, COUNTER);
  put_int(&p->event, EVENT_TRACK, file_id(p, track->number));
  put_double(&p->event, EVENT_DOUBLE, value);
  put_head(p, at, 0);
  put_message(&p->packet, PACKET_TRACK_EVENT, &p->event);
  end_packet(p);
}

/* --- the file ---------------------------------------------------------------------------------------- */

static void put_clock(struct perfetto *p, int id, int64_t ns) {
  put_int(&p->inner, 1, (uint64_t)id);
  put_int(&p->inner, 2, (uint64_t)ns);
  put_message(&p->event, 1, &p->inner);
}

/* When session time 0 was, so that viewers can show the time of day. */
static void put_clocks(struct perfetto *p, int64_t utc_ns) {
  enum { REALTIME = 1, BOOTTIME = 6, PRIMARY = 2 };
  if (utc_ns == NAI_NULL_I64 || utc_ns <= 0)
    return;
  put_clock(p, BOOTTIME, p->shift);
  put_clock(p, REALTIME, utc_ns);
  put_int(&p->event, PRIMARY, BOOTTIME);
  put_head(p, -p->shift, NEEDS_INTERNED);
  put_message(&p->packet, PACKET_CLOCK_SNAPSHOT, &p->event);
  end_packet(p);
}

static void put_attribute(struct perfetto *p, const char *key, const char *text, int64_t number) {
  put_text(&p->part, 1, key);
  if (text)
    put_text(&p->part, 3, text);
  else
    put_int(&p->part, 2, (uint64_t)number);
  put_message(&p->event, 1, &p->part);
}

static void put_first_packet(struct perfetto *p) {
  for (int key = 0; key < NAI_ARG_KEYS; key++)
    intern(p, INTERNED_ARG_NAME, (uint64_t)key + 1, nai_arg_names[key]);
  put_head(p, p->tl->first_ns, CLEARED);
  put_int(&p->packet, PACKET_FIRST_ON_SEQUENCE, 1);
  end_packet(p);
}

/* Of one of several traces: how its clock was corrected, and what is left in doubt. */
static void put_clock_attributes(struct perfetto *p, const struct nai_export_place *place) {
  struct nai_arena *arena = &p->tl->arena;
  put_attribute(p, nai_arena_printf(arena, "%s: taken_off_times_ns", place->label), NULL, place->offset);
  put_attribute(p, nai_arena_printf(arena, "%s: clock_doubt_ns", place->label), NULL, place->doubt);
}

static void end_attributes(struct perfetto *p) {
  put_head(p, p->tl->first_ns, NEEDS_INTERNED);
  put_message(&p->packet, PACKET_TRACE_ATTRIBUTES, &p->event);
  end_packet(p);
}

static void put_attributes(struct perfetto *p, const struct nai_table *capture) {
  const struct nai_export_place *place = p->tl->options->place;
  if (place)
    put_clock_attributes(p, place);
  else
    put_attribute(p, "trace", nai_get_str(capture, 0, CAPTURE_file), 0);
  if (!place || place->reference) {
    put_attribute(p, "tool", "nsys-ai " NAI_VERSION, 0);
    put_attribute(p, "schema_version", nai_get_str(capture, 0, CAPTURE_schema_version), 0);
    put_attribute(p, "added_to_times_ns", NULL, p->shift);
  }
  end_attributes(p);
}

static int check(const struct perfetto *p, struct nai_err *err) {
  bool full = p->packet.oom || p->interned.oom || p->event.oom || p->part.oom || p->inner.oom || p->tl->arena.oom;
  return full ? nai_err_nomem(err) : NAI_OK;
}

int nai_export_perfetto(struct nai_buf *out, const struct nai_model *model, const struct nai_export_options *options,
                        struct nai_err *err) {
  NAI_SCOPED(nai_timeline) tl = {0};
  NAI_SCOPED(perfetto) p = {.writer = {put_track, put_begin, put_end, put_instant, put_counter}, .tl = &tl, .out = out};
  const struct nai_table *capture = model->tables[NAI_IN_CAPTURE];
  NAI_TRY(nai_timeline_open(&tl, model, options, err));
  p.shift = options->place ? options->place->shift : tl.first_ns < 0 ? -tl.first_ns : 0;
  put_first_packet(&p);
  if (!options->place || options->place->reference)
    put_clocks(&p, nai_get_i64(capture, 0, CAPTURE_utc_epoch_ns));
  put_attributes(&p, capture);
  NAI_TRY(nai_timeline_write(&tl, &p.writer, err));
  return check(&p, err);
}

static void put_state(struct perfetto *p, const struct nai_track *parent, const struct nai_export_bins *bins,
                      uint32_t state) {
  const struct nai_track track = nai_timeline_announce(
      p->tl, (struct nai_track){.kind = NAI_TRACK_COUNTER,
                                .parent = parent->number,
                                .name = nai_arena_printf(&p->tl->arena, "%s, %% of the time", bins->names[state])});
  for (uint32_t bin = 0; bin <= bins->count; bin++) { /* nothing behind the last */
    int64_t ns = bin < bins->count ? bins->ns[(size_t)bin * bins->states + state] : 0;
    put_counter(&p->writer, &track, bins->first_ns + bin * bins->width_ns, 100 * (double)ns / (double)bins->width_ns);
  }
}

int nai_export_perfetto_bins(struct nai_buf *out, const struct nai_export_place *place,
                             const struct nai_export_bins *bins, struct nai_err *err) {
  /* its times are those of the file already */
  const struct nai_export_place file = {.number = place->number, .label = place->label};
  const struct nai_export_options options = {.place = &file};
  NAI_SCOPED(nai_timeline) tl = {.options = &options, .first_ns = bins->first_ns, .arena = NAI_ARENA(NULL)};
  NAI_SCOPED(perfetto) p = {.writer = {put_track, put_begin, put_end, put_instant, put_counter}, .tl = &tl, .out = out};
  tl.writer = &p.writer;
  put_first_packet(&p);
  put_clock_attributes(&p, place);
  end_attributes(&p);
  struct nai_track gpu =
      nai_timeline_announce(&tl, (struct nai_track){.kind = NAI_TRACK_METRICS, .name = "GPU", .rank = place->number});
  for (uint32_t state = 0; state < bins->states; state++)
    put_state(&p, &gpu, bins, state);
  return check(&p, err);
}
