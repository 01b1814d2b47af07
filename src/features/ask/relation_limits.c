/* Whether each event of a thing keeps a limit: "does every X take less than 5 ms". */
#include "features/ask/relation_say.h"

#include "base/fmt.h"
#include "base/keyset.h"

/* Some events, how many of them break the limit, and the one that is nearest to that or farthest beyond. */
struct kept {
  int64_t count, broken, extreme_ns, extreme_at;
};

static bool is_longer_broken(const struct nai_relation *r) { return (r->filter.most_ns >= 0) != r->never; }

static bool is_kept(const struct nai_relation *r, int64_t ns) {
  const bool within = r->filter.most_ns >= 0 ? ns < r->filter.most_ns : ns > r->filter.least_ns;
  return within != r->never;
}

static void take(struct kept *out, const struct nai_relation *r, int64_t start, int64_t ns) {
  const bool more = is_longer_broken(r) ? ns > out->extreme_ns : ns < out->extreme_ns;
  if (!out->count || more) {
    out->extreme_ns = ns;
    out->extreme_at = start;
  }
  out->count++;
  out->broken += !is_kept(r, ns);
}

/* What ranges launched takes a time of its own, from its first operation to its last. */
static int take_spans(struct kept *out, const struct nai_answering *a, struct nai_err *err) {
  static const char sql[] =
      "select start_ns, span_ns from v_projection where whole = 1 and not is_inside and (:names is "
      "null or instr(:names, char(10) || range_name || char(10))) and (:pid is null or pid = :pid)";
  const struct nai_thing *thing = &a->r->things[0];
  NAI_SCOPED(nai_query_rows) rows = {0};
  const struct nai_query_parameter parameters[] = {nai_query_string("names", thing->names),
                                                   nai_query_int("pid", a->r->filter.pid, -1)};
  const struct nai_query_text text = {.sql = sql, .label = "spans"};
  const struct nai_query query = {.run = a->asking->run,
                                  .text = &text,
                                  .parameters = parameters,
                                  .parameter_count = sizeof parameters / sizeof *parameters,
                                  .limits = {.rows = -1}};
  if (thing->kind != NAI_THING_RANGES)
    return NAI_OK;
  NAI_TRY(nai_query_collect(&rows, &query, err));
  for (int64_t row = 0; row < rows.rows; row++)
    take(out, a->r, nai_query_cell_int(&rows, row, 0), nai_query_cell_int(&rows, row, 1));
  return NAI_OK;
}

static void put_kept(struct nai_buf *out, const struct nai_relation *r, const struct kept *k) {
  nai_buf_printf(out, " take%s %s, the %s ", k->broken == 1 ? "s" : "", is_longer_broken(r) ? "longer" : "less",
                 is_longer_broken(r) ? "longest" : "shortest");
  nai_fmt_duration(out, (double)k->extreme_ns);
  nai_buf_puts(out, " at ");
  nai_put_moment(out, k->extreme_at);
}

/* Each process has its own steps. */
static int count_processes(uint32_t *out, const struct nai_thing_events *events, struct nai_err *err) {
  NAI_SCOPED(nai_keyset) pids = {0};
  bool added;
  for (uint32_t i = 0; i < events->count; i++)
    nai_keyset_add(&pids, events->at[i].pid, &added);
  *out = pids.count;
  return nai_memory_check(!pids.oom, err);
}

int nai_say_every(struct nai_answering *a, struct nai_err *err) {
  struct nai_buf *out = &a->said;
  struct kept own = {0}, on_gpu = {0};
  uint32_t processes;
  for (uint32_t i = 0; i < a->events[0].count; i++)
    take(&own, a->r, a->events[0].at[i].start, a->events[0].at[i].end - a->events[0].at[i].start);
  a->none = !own.count && a->r->things[0].kind != NAI_THING_STEPS;
  if (!own.count) {
    nai_buf_puts(out, "No steps were found in this trace; nsys-ai analyze --step REGEX names the range that is one");
    return NAI_OK;
  }
  NAI_TRY(take_spans(&on_gpu, a, err));
  NAI_TRY(count_processes(&processes, &a->events[0], err));
  if (on_gpu.count && !own.broken != !on_gpu.broken)
    nai_buf_puts(out, own.broken ? "On the CPU no, on the GPU yes: " : "On the CPU yes, on the GPU no: ");
  else
    nai_buf_puts(out, own.broken ? "No: " : "Yes: ");
  nai_fmt_count(out, own.broken);
  nai_buf_puts(out, " of ");
  nai_put_count(out, &a->r->things[0], own.count);
  if (a->r->things[0].kind == NAI_THING_STEPS && processes > 1)
    nai_buf_printf(out, " of %" PRIu32 " processes", processes);
  put_kept(out, a->r, &own);
  if (!on_gpu.count)
    return NAI_OK;
  nai_buf_puts(out, "; on the GPU, from the first operation to the last, ");
  nai_fmt_count(out, on_gpu.broken);
  nai_buf_puts(out, " of ");
  nai_fmt_count(out, on_gpu.count);
  put_kept(out, a->r, &on_gpu);
  return NAI_OK;
}
