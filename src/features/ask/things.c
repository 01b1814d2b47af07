/* What a question names: kinds of events, and names of the trace. */
#include "features/ask/relation.h"

#include "base/sort.h"
#include "features/ask/numbers.h"

/* --- kinds -------------------------------------------------------------------------------------------------------- */

/* By what they are called, the longest first. */
static const struct {
  const char *words;
  enum nai_thing_kind kind;
  const char *category, *op, *direction;
} kinds[] = {
    {"htod migrations|h2d migrations|h2d migration|host to device migration|migrations to the gpu|migrated to the gpu|migrations to gpu|host to device "
     "migrations",
     NAI_THING_MIGRATIONS, NULL, NULL, "Unified Host-to-Device"},
    {"dtoh migrations|d2h migrations|d2h migration|device to host migration|migrations to the host|migrated to the host|migrated back to the host|migrations "
     "back to the host|migrations to host|migrated back|device to host migrations",
     NAI_THING_MIGRATIONS, NULL, NULL, "Unified Device-to-Host"},
    {"page migrations|page migration|unified memory migrations|managed memory migrations|migrations|migration",
     NAI_THING_MIGRATIONS, NULL, NULL, NULL},
    {"host to device copies|h2d copies|htod copies|h2d copy|h2d transfers|uploads|upload|h2d|htod", NAI_THING_COPIES,
     NULL, NULL, "Host-to-Device"},
    {"device to host copies|d2h copies|dtoh copies|d2h copy|d2h transfers|downloads|download|back to the host|copy back|copies back|copying back|d2h|dtoh",
     NAI_THING_COPIES, NULL, NULL, "Device-to-Host"},
    {"device to device copies|d2d copies|d2d", NAI_THING_COPIES, NULL, NULL, "Device-to-Device"},
    {"elementwise kernels|elementwise kernel|elementwise|pointwise kernels|pointwise", NAI_THING_KERNELS, "elementwise",
     NULL, NULL},
    {"gemm kernels|gemm kernel|gemms|gemm|matmuls|matmul", NAI_THING_KERNELS, "gemm", NULL, NULL},
    {"attention kernels|attention kernel|attention", NAI_THING_KERNELS, "attention", NULL, NULL},
    {"convolution kernels|convolutions|convolution|convs|conv", NAI_THING_KERNELS, "convolution", NULL, NULL},
    {"softmax kernels|softmax", NAI_THING_KERNELS, "softmax", NULL, NULL},
    {"nccl kernels|nccl kernel|nccl calls|communication kernels|communication kernel|nccl|communication|collectives",
     NAI_THING_KERNELS, "communication", NULL, NULL},
    {"allreduce kernels|allreduces|allreduce|all reduce", NAI_THING_KERNELS, NULL, "allreduce", NULL},
    {"allgather kernels|allgathers|allgather|all gather", NAI_THING_KERNELS, NULL, "allgather", NULL},
    {"reducescatter kernels|reducescatter|reduce scatter", NAI_THING_KERNELS, NULL, "reducescatter", NULL},
    {"sendrecv", NAI_THING_KERNELS, NULL, "sendrecv", NULL},
    {"gpu kernels|kernels|kernel", NAI_THING_KERNELS, NULL, NULL, NULL},
    {"data transfers|data transfer|data copies|memory transfers|memory transfer|memory copies|memory copy|memcpys|memcpies|memcpy|copies|copy|copying|transfers|transfer",
     NAI_THING_COPIES, NULL, NULL, NULL},
    {"memsets|memset", NAI_THING_MEMSETS, NULL, NULL, NULL},
    {"gpu work|work|gpu time|gpu operations|gpu activity|gpu ops|thing the gpu did|gpu did", NAI_THING_OPERATIONS, NULL,
     NULL, NULL},
    {"kernel launch calls|kernel launch|does the launch|does a launch|kernel launches|launch calls|launch call|launches|launching kernels|launching",
     NAI_THING_LAUNCHES, NULL, NULL, NULL},
    {"stream synchronization|stream syncs|stream sync|synchronization calls|synchronizations|sync calls|syncs|waiting for sync|waiting for the gpu|synchronizing|"
     "synchronization|sync|synchronize",
     NAI_THING_WAITS, NULL, NULL, NULL},
    {"cuda api calls|cuda api call|cuda calls|cuda call|api calls|api call", NAI_THING_CALLS, NULL, NULL, NULL},
    {"os runtime calls|os calls|os call|system calls|syscalls|syscall", NAI_THING_OS_CALLS, NULL, NULL, NULL},
    {"nvtx ranges|nvtx range|ranges|range|layers|layer|stages|stage|blocks|block|phases|phase", NAI_THING_RANGES, NULL,
     NULL, NULL},
    {"iterations|iteration|steps|step|frames|frame|batches|batch", NAI_THING_STEPS, NULL, NULL, NULL}};

/* --- words as texts ----------------------------------------------------------------------------------------------- */

enum { MAX_SLICE = 8, MAX_TEXT = 512 };

/* Words of the question with a blank between them; false: they are too long. */
static bool join_words(char out[MAX_TEXT], const struct nai_question *q, size_t first, size_t behind) {
  size_t len = 0;
  for (size_t i = first; i < behind && len < MAX_TEXT; i++)
    len += (size_t)snprintf(out + len, MAX_TEXT - len, "%s%s", i > first ? " " : "", q->words[i].text);
  return len < MAX_TEXT;
}

/* Letters and digits in lower case, a blank for all else: " fsdp pre forward blocks 3". `whole`: as words of a question
 * are, where _, :: and points are parts of them. */
static void spread_name(struct nai_buf *out, const char *name, bool whole) {
  bool blank = true;
  nai_buf_clear(out);
  for (const char *at = name; *at; at++) {
    bool in = isalnum((unsigned char)*at) || (*at & 0x80) || (whole && strchr("_:.", *at));
    if (in && blank)
      nai_buf_putc(out, ' ');
    if (in)
      nai_buf_putc(out, (char)tolower((unsigned char)*at));
    blank = !in;
  }
}

static bool has_phrase(const char *list, const char *phrase) {
  size_t len = strlen(phrase);
  for (const char *at = list; (at = strstr(at, phrase)); at++)
    if ((at == list || at[-1] == '|') && (at[len] == '|' || !at[len]))
      return true;
  return false;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Names of the trace, each with the kind of what has it, and in full: kernels are called by their function. */
_Static_assert(NAI_THING_KERNELS == 0 && NAI_THING_RANGES == 3 && NAI_THING_CALLS == 4 && NAI_THING_OS_CALLS == 7,
               "kinds of the dictionary");
static const char dictionary[] =
    "select 0, kernel_name, substr(short_name, 1, instr(short_name || '<', '<') - 1) from kernels group by 2 "
    "union all select 3, range_name, range_name from nvtx_ranges group by 2 "
    "union all select 4, name, name from api_events group by 2 "
    "union all select 7, function, function from osrt_calls group by 2";

struct names {
  const struct nai_query_rows *rows;
  const char **whole, **parts; /* by row, a blank in front */
};

static int read_names(struct names *out, const struct nai_query_rows *rows, struct nai_arena *arena,
                      struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  *out = (struct names){.rows = rows};
  NAI_TRY(NAI_NEW(out->whole, arena, rows->rows, err));
  NAI_TRY(NAI_NEW(out->parts, arena, rows->rows, err));
  for (int64_t i = 0; i < rows->rows; i++) {
    spread_name(&text, nai_query_cell_text(rows, i, 2), true);
    out->whole[i] = nai_arena_printf(arena, "%s", nai_buf_str(&text));
    spread_name(&text, nai_query_cell_text(rows, i, 2), false);
    out->parts[i] = nai_arena_printf(arena, "%s", nai_buf_str(&text));
  }
  NAI_TRY(nai_buf_check(&text, err));
  return nai_arena_check(arena, err);
}

/* How words name something: they are the name, end it, or begin a word of it: "coarse level" of "Coarse Level 3"; of
 * kernels five letters or more may stand anywhere: "winograd" of "generateWinogradTiles". */
enum how { WHOLE, END, PART };

static bool ends_with(const char *name, const char *end) {
  const size_t all = strlen(name), len = strlen(end);
  return all >= len && strcmp(name + all - len, end) == 0;
}

/* Words of one letter or digit are parts of too much. */
static bool is_named(const struct names *names, int64_t row, const char *words, const char *parts, enum how how) {
  if (how == WHOLE)
    return strcmp(names->whole[row] + (*names->whole[row] == ' '), words) == 0;
  const size_t len = strlen(parts);
  const bool anywhere = len > 5 && *parts == ' ' && nai_query_cell_int(names->rows, row, 0) == NAI_THING_KERNELS;
  return len > 3 &&
         (how == END ? ends_with(names->parts[row], parts) : strstr(names->parts[row], parts + anywhere) != NULL);
}

/* The kind of what ends with the words: "execute" of ExecutionContext::execute, whatever kernels have it in their name;
 * -1: nothing does. */
static int64_t kind_of_last(const struct names *names, const char *parts) {
  for (int64_t i = 0; i < names->rows->rows; i++)
    if (is_named(names, i, "", parts, END))
      return nai_query_cell_int(names->rows, i, 0);
  return -1;
}

/* The things of one kind that have the name; of several kinds the first. */
static int take_names(struct nai_thing *out, bool *found, const struct names *names, const char *words, enum how how,
                      struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_buf) parts = {0}, list = {0};
  int64_t kind = -1, first = 0;
  spread_name(&parts, words, false);
  if (how != WHOLE && parts.len > 1 && parts.data[parts.len - 1] == 's') /* levels */
    parts.data[--parts.len] = '\0';
  out->name_count = 0;
  kind = how == WHOLE ? -1 : kind_of_last(names, nai_buf_str(&parts));
  for (int64_t i = 0; i < names->rows->rows; i++) {
    if ((kind >= 0 && nai_query_cell_int(names->rows, i, 0) != kind) ||
        !is_named(names, i, words, nai_buf_str(&parts), how))
      continue;
    first = out->name_count ? first : i;
    kind = nai_query_cell_int(names->rows, i, 0);
    nai_buf_printf(&list, "%s%s\n", list.len ? "" : "\n", nai_query_cell_text(names->rows, i, 1));
    out->name_count++;
  }
  *found = out->name_count > 0;
  NAI_TRY(nai_buf_check(&parts, err));
  NAI_TRY(nai_buf_check(&list, err));
  if (!*found)
    return NAI_OK;
  const bool whole = how == WHOLE || out->name_count == 1; /* then it is called by that */
  out->kind = (enum nai_thing_kind)kind;
  out->names = nai_arena_printf(arena, "%s", nai_buf_str(&list));
  out->part = !whole;
  out->called = nai_arena_printf(arena, "%s", whole ? nai_query_cell_text(names->rows, first, 2) : words);
  return nai_arena_check(arena, err);
}

/* Whether words can be a part of a name: none says anything else, and not all are words that questions have. */
static bool may_name(const struct nai_question *q, size_t first, size_t behind, nai_says_fn *says) {
  bool strange = false;
  for (size_t i = first; i < behind; i++) {
    const struct nai_question_word *w = &q->words[i];
    const bool upper = i && strcmp(w->typed, w->text) != 0 && !w->meant[0]; /* "FSDP", though intents know it */
    strange |= w->quoted || !w->known || upper || nai_question_has_mark(w->text);
    if (!w->quoted && (w->ignored || w->of_gpu || says(w->text)))
      return false;
  }
  return strange;
}

/* A number alone is part of many names. */
static bool is_digits(const struct nai_question *q, size_t first, size_t behind) {
  return behind == first + 1 && isdigit((unsigned char)q->words[first].text[0]);
}

/* "conv2d" of aten::conv2d, though intents know the word. */
static bool is_mixed(const char *words) {
  return !isdigit((unsigned char)*words) && words[strcspn(words, "0123456789 ")] && !strchr(words, ' ');
}

static int find_one(struct nai_thing *out, bool *found, const struct names *names, const struct nai_question *q,
                    size_t first, size_t behind, nai_says_fn *says, struct nai_arena *arena, struct nai_err *err) {
  char words[MAX_TEXT];
  *out = (struct nai_thing){.first = first, .behind = behind};
  *found = false;
  if (!join_words(words, q, first, behind))
    return NAI_OK;
  if (!says(words) || q->words[first].quoted)
    NAI_TRY(take_names(out, found, names, words, WHOLE, arena, err));
  for (size_t k = 0; !*found && k < sizeof kinds / sizeof *kinds; k++)
    if (has_phrase(kinds[k].words, words)) {
      *out = (struct nai_thing){.kind = kinds[k].kind,
                                .category = kinds[k].category,
                                .op = kinds[k].op,
                                .direction = kinds[k].direction,
                                .called = nai_arena_printf(arena, "%s", words),
                                .first = first,
                                .behind = behind};
      *found = true;
      return nai_arena_check(arena, err);
    }
  if (!*found && is_mixed(words))
    NAI_TRY(take_names(out, found, names, words, END, arena, err));
  if (!*found && may_name(q, first, behind, says) && !is_digits(q, first, behind))
    NAI_TRY(take_names(out, found, names, words, PART, arena, err));
  return NAI_OK;
}

/* "naive_gemm kernels", "the range forward", "FSDP block": two words for one thing; of parts of names those that have
 * both. */
static bool merge(struct nai_thing *into, const struct nai_thing *thing, struct nai_arena *arena) {
  NAI_SCOPED(nai_buf) list = {0};
  uint32_t count = 0;
  if (into->kind == NAI_THING_KERNELS && into->names && thing->kind == NAI_THING_LAUNCHES) { /* "fill launches" */
    into->behind = thing->behind;
    return true;
  }
  if (into->kind != thing->kind)
    return false;
  if (nai_thing_is_plain(into) || nai_thing_is_plain(thing)) {
    const size_t first = into->first, behind = thing->behind;
    *into = nai_thing_is_plain(into) ? *thing : *into;
    into->first = first;
    into->behind = behind;
    return true;
  }
  if (!into->part || !thing->part)
    return false;
  for (const char *at = into->names + 1, *end; (end = strchr(at, '\n')); at = end + 1) {
    const char *name = nai_arena_printf(arena, "\n%.*s\n", (int)(end - at), at);
    if (!strstr(thing->names, name))
      continue;
    nai_buf_printf(&list, "%s%s", list.len ? "" : "\n", name + 1);
    count++;
  }
  if (!count)
    return false;
  into->names = nai_arena_printf(arena, "%s", nai_buf_str(&list));
  into->called = nai_arena_printf(arena, "%s %s", into->called, thing->called);
  into->name_count = count;
  into->behind = thing->behind;
  into->joined = true;
  arena->oom |= list.oom;
  return true;
}

/* The other part is that of the thing before. */
static void join_lead(struct nai_thing *thing, struct nai_thing lead, struct nai_arena *arena) {
  const size_t first = thing->first;
  if (!merge(&lead, thing, arena))
    return;
  *thing = lead;
  thing->first = first;
}

/* Whether nothing is said between two things that tells them apart: "which block has the slowest pre_forward". */
static bool are_beside(const struct nai_question *q, const struct nai_thing *first, const struct nai_thing *second) {
  for (size_t i = first->behind; i < second->first; i++)
    if (!nai_word_is_of("has have the a is of with slowest longest fastest shortest most least", q->words[i].text))
      return false;
  return true;
}

/* "which thread launches most kernels": no launch calls. */
static void drop_verb(struct nai_thing *things, size_t *count) {
  for (size_t i = 0; i + 1 < *count; i++) {
    const bool verb = things[i].kind == NAI_THING_LAUNCHES && things[i].behind == things[i].first + 1;
    if (!verb || things[i + 1].kind != NAI_THING_KERNELS)
      continue;
    memmove(&things[i], &things[i + 1], (*count - i - 1) * sizeof *things);
    --*count;
  }
}

int nai_things_find(struct nai_thing *things, size_t *count, const struct nai_asking *asking,
                    const struct nai_question *q, nai_says_fn *says, struct nai_err *err) {
  NAI_SCOPED(nai_query_rows) rows = {0};
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_thing lead = {0}; /* "pre_forward" of the last thing that is joined of two parts */
  struct names names;
  *count = 0;
  NAI_TRY(nai_query_ask(&rows, asking->run, dictionary, NULL, 0, err));
  NAI_TRY(read_names(&names, &rows, &arena, err));
  for (size_t i = 0; i < q->count && *count < NAI_RELATION_MAX_THINGS; i++) {
    bool found = false;
    struct nai_thing thing;
    for (size_t len = q->count - i < MAX_SLICE ? q->count - i : MAX_SLICE; len && !found; len--)
      NAI_TRY(find_one(&thing, &found, &names, q, i, i + len, says, asking->arena, err));
    if (!found)
      continue;
    struct nai_thing *before = *count ? &things[*count - 1] : NULL, first = before ? *before : lead;
    if (before && are_beside(q, before, &thing) && merge(before, &thing, asking->arena)) {
      lead = before->joined ? first : lead;
    } else {
      if (before && before->joined && thing.part) /* "pre_forward of blocks.7 and blocks.8" */
        join_lead(&thing, lead, asking->arena);
      things[(*count)++] = thing;
    }
    i = thing.behind - 1;
  }
  drop_verb(things, count);
  return nai_arena_check(asking->arena, err);
}

/* --- events ------------------------------------------------------------------------------------------------------- */

#define NAMED(name) "(:names is null or instr(:names, char(10) || " name " || char(10)))"
#define PLACED                                                                                              \
  " and (:gpu is null or device_id = :gpu) and (:stream is null or stream_id = :stream) and (:pid is null " \
  "or pid = :pid)"

#define ON_HOST(table, condition)                                                               \
  "select e.start_ns, e.end_ns, e.start_ns, t.tid, t.pid, null, null, null, e.name from " table \
  " e join threads t on t.rowid = e.thread where " condition " and (:pid is null or t.pid = :pid)"

/* start, end, begin of the call, thread, process, GPU, stream, bytes, name */
static const char *const statements[NAI_THING_KINDS] = {
    [NAI_THING_KERNELS] =
        "select start_ns, end_ns, call_start_ns, tid, pid, device_id, stream_id, null, short_name from v_kernels where " NAMED(
            "name") " and (:category is null or category(name) = :category) and (:op is null or instr(lower(replace(name, '_', '')), "
                    ":op))" PLACED,
    [NAI_THING_COPIES] =
        "select start_ns, end_ns, call_start_ns, tid, pid, device_id, stream_id, bytes, direction from v_copies where "
        "direction <> 'memset' and direction not like 'Unified%' and (:direction is null or direction = :direction)" PLACED,
    [NAI_THING_MEMSETS] =
        "select start_ns, end_ns, call_start_ns, tid, pid, device_id, stream_id, bytes, direction from v_copies where "
        "direction = 'memset'" PLACED,
    [NAI_THING_RANGES] = ON_HOST("nvtx_events", NAMED("e.name") " and e.kind <> 2"),
    [NAI_THING_CALLS] = ON_HOST("api_events", NAMED("e.name")),
    [NAI_THING_LAUNCHES] = ON_HOST("api_events", "e.name like '%launch%'"),
    [NAI_THING_WAITS] = ON_HOST("api_events", "e.name like '%synchronize%'"),
    [NAI_THING_OS_CALLS] = ON_HOST("osrt_events", NAMED("e.name")),
    /* Steps, as long as they are in reports; where there are none, from one begin of the range that repeats with most
     * time to its next. */
    [NAI_THING_STEPS] =
        "select iif(:on_host, cpu_start_ns, coalesce(gpu_start_ns, cpu_start_ns)), iif(:on_host, cpu_end_ns, "
        "coalesce(gpu_start_ns, cpu_start_ns) + duration_ns), cpu_start_ns, null, pid, device_id, null, null, 'step' from steps where "
        "(:pid is null or pid = :pid) and (:gpu is null or device_id = :gpu) union all select * from (select start_ns, "
        "lead(start_ns) over (partition by tid order by start_ns) as next, start_ns, tid, pid, null, null, null, name from v_ranges "
        "where name = (select nvtx_path from repeating_units where first_kernel is null order by median_ns * repetitions desc, "
        "unit limit 1) and (:pid is null or pid = :pid) and not exists (select 1 from steps)) where next is not null",
    [NAI_THING_MIGRATIONS] =
        "select start_ns, end_ns, call_start_ns, tid, pid, device_id, stream_id, bytes, direction from v_copies where "
        "direction like 'Unified%' and (:direction is null or direction = :direction)" PLACED,
    [NAI_THING_OPERATIONS] =
        "select start_ns, end_ns, call_start_ns, tid, pid, device_id, stream_id, null, short_name from v_kernels where 1" PLACED
        " union all select start_ns, end_ns, call_start_ns, tid, pid, device_id, stream_id, bytes, iif(direction = 'memset', direction, "
        "direction || ' copy') from v_copies where direction not like 'Unified%'" PLACED,
};

struct loading {
  const struct nai_thing_filter *filter;
  struct nai_thing_events *out;
  struct nai_arena *arena;
  uint32_t capacity;
};

static int begin_loading(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err) {
  (void)ctx, (void)columns, (void)count, (void)err;
  return NAI_OK;
}

static int64_t number_of(const struct nai_value *cell, int64_t otherwise) { return cell->null ? otherwise : cell->i; }

static int add_event(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  struct loading *l = ctx;
  struct nai_thing_events *out = l->out;
  uint32_t name;
  if (cells[0].null || cells[1].null || (l->filter->least_ns >= 0 && cells[1].i - cells[0].i <= l->filter->least_ns) ||
      (l->filter->most_ns >= 0 && cells[1].i - cells[0].i >= l->filter->most_ns))
    return NAI_OK;
  NAI_TRY(nai_strings_put(&name, &out->names, cells[8].null ? "" : cells[8].s, err));
  NAI_TRY(NAI_ROOM(out->at, l->capacity, out->count, l->arena, err));
  out->at[out->count++] = (struct nai_thing_event){.start = cells[0].i,
                                                   .end = cells[1].i,
                                                   .call = number_of(&cells[2], NAI_NULL_I64),
                                                   .tid = number_of(&cells[3], -1),
                                                   .pid = number_of(&cells[4], -1),
                                                   .gpu = number_of(&cells[5], -1),
                                                   .stream = number_of(&cells[6], -1),
                                                   .bytes = number_of(&cells[7], 0),
                                                   .name = name};
  return NAI_OK;
}

NAI_ORDER(by_start, struct nai_thing_event, {a->start, b->start}, {a->gpu, b->gpu}, {a->stream, b->stream},
          {a->tid, b->tid}, {b->end, a->end})

int nai_things_load(struct nai_thing_events *out, const struct nai_thing *thing, const struct nai_thing_filter *filter,
                    const struct nai_asking *asking, struct nai_err *err) {
  const struct nai_query_parameter parameters[] = {
      nai_query_string("names", thing->names), nai_query_string("category", thing->category),
      nai_query_string("op", thing->op),       nai_query_string("direction", thing->direction),
      nai_query_int("gpu", filter->gpu, -1),   nai_query_int("stream", filter->stream, -1),
      nai_query_int("pid", filter->pid, -1),   nai_query_int("on_host", thing->on_host, -1)};
  struct loading loading = {.filter = filter, .out = out, .arena = asking->arena};
  const struct nai_query_text text = {.sql = statements[thing->kind], .label = "things"};
  const struct nai_query query = {.run = asking->run,
                                  .text = &text,
                                  .parameters = parameters,
                                  .parameter_count = sizeof parameters / sizeof *parameters,
                                  .limits = {.rows = -1}};
  const struct nai_query_sink sink = {begin_loading, add_event, &loading};
  bool truncated;
  *out = (struct nai_thing_events){.names = {.arena = asking->arena}};
  NAI_TRY(nai_query_run(&truncated, &query, &sink, err));
  if (out->count)
    qsort(out->at, out->count, sizeof *out->at, by_start);
  return NAI_OK;
}

/* --- what lies in what -------------------------------------------------------------------------------------------- */

struct call {
  int64_t tid, start, end; /* end: of what is around others */
  uint32_t event;
};
NAI_ORDER(by_thread, struct call, {a->tid, b->tid}, {a->start, b->start}, {b->end, a->end})

static int order_calls(struct call **out, const struct nai_thing_events *events, bool around, struct nai_arena *arena,
                       struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, arena, events->count, err));
  for (uint32_t i = 0; i < events->count; i++) {
    const struct nai_thing_event *e = &events->at[i];
    (*out)[i] = (struct call){e->tid, around ? e->start : e->call, around ? e->end : e->call, i};
  }
  if (events->count)
    qsort(*out, events->count, sizeof **out, by_thread);
  return NAI_OK;
}

int nai_things_place(uint32_t **inside, const struct nai_thing_events *events, const struct nai_thing_events *around,
                     struct nai_arena *arena, struct nai_err *err) {
  struct call *calls, *ranges;
  uint32_t *open, depth = 0, next = 0;
  NAI_TRY(order_calls(&calls, events, false, arena, err));
  NAI_TRY(order_calls(&ranges, around, true, arena, err));
  NAI_TRY(NAI_NEW(open, arena, around->count, err));
  NAI_TRY(NAI_NEW(*inside, arena, events->count, err));
  for (uint32_t i = 0; i < events->count; i++) {
    const struct call *call = &calls[i];
    for (; next < around->count && NAI_COMPARE({ranges[next].tid, call->tid}, {ranges[next].start, call->start}) <= 0;
         next++) {
      while (depth &&
             (ranges[open[depth - 1]].tid != ranges[next].tid || ranges[open[depth - 1]].end <= ranges[next].start))
        depth--;
      open[depth++] = next;
    }
    uint32_t at = depth;
    while (at && (ranges[open[at - 1]].tid != call->tid || ranges[open[at - 1]].end < call->start))
      at--;
    const bool is = at && call->start != NAI_NULL_I64;
    (*inside)[call->event] = is ? ranges[open[at - 1]].event : UINT32_MAX;
  }
  return NAI_OK;
}

int nai_things_keep_inside(struct nai_thing_events *events, const struct nai_thing_events *around,
                           struct nai_arena *arena, struct nai_err *err) {
  uint32_t *inside, kept = 0;
  NAI_TRY(nai_things_place(&inside, events, around, arena, err));
  for (uint32_t i = 0; i < events->count; i++)
    if (inside[i] != UINT32_MAX)
      events->at[kept++] = events->at[i];
  events->count = kept;
  return NAI_OK;
}
