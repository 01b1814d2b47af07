/* Why a step took longer than the others: the part of its time that grew, then what is behind that part. */
#include "analyses/steps/step_cause.h"

#include "base/fmt.h"
#include "base/sort.h"
#include "base/text.h"
#include "table/kernel_name.h"
#include "tables/gpu_idle_gaps.h"

enum { EXPLAINS_PCT = 80, ACTIVITY_CHARS = 120 };

/* --- gaps ------------------------------------------------------------------------------------- */

int nai_step_gaps_find(struct nai_step_gaps *g, const struct nai_table *table, int64_t device, struct nai_arena *arena,
                       struct nai_err *err) {
  *g = (struct nai_step_gaps){.table = table};
  NAI_TRY(NAI_NEW(g->v, arena, (size_t)table->rows, err));
  for (int64_t i = 0; i < table->rows; i++)
    if (nai_get_i64(table, i, GPU_IDLE_GAPS_device_id) == device)
      g->v[g->count++] =
          (struct nai_key){nai_key_from_i64(nai_get_i64(table, i, GPU_IDLE_GAPS_gap_start_ns)), (uint32_t)i};
  return nai_sort_keys(g->v, g->count, err);
}

/* The first gap that begins at t or later. */
static size_t gap_from(const struct nai_step_gaps *g, int64_t t) {
  return nai_keys_from(g->v, g->count, nai_key_from_i64(t));
}

/* Whether a function or range is one that gets input. */
static bool gets_input(const char *activity) {
  static const char *const words[] = {"read",      "recv",       "poll",       "select",     "epoll_wait", "futex",
                                      "sem_wait",  "sem_timed",  "cond_wait",  "cond_timed", "DataLoader", "dataloader",
                                      "get_batch", "next_batch", "load_batch", NULL};
  for (const char *const *word = words; *word; word++)
    if (strstr(activity, *word))
      return true;
  return false;
}

int64_t nai_step_input_wait(const struct nai_step_gaps *g, const struct nai_gpu_step *step) {
  int64_t start = step->end - step->end_idle_ns;
  size_t i = step->end_idle_ns ? gap_from(g, start) : g->count;
  if (i == g->count || g->v[i].key != nai_key_from_i64(start))
    return 0;
  int64_t row = g->v[i].value;
  bool own = strcmp(nai_get_str(g->table, row, GPU_IDLE_GAPS_cause), "host_code") == 0;
  bool input = strcmp(nai_get_str(g->table, row, GPU_IDLE_GAPS_next_op), "Host-to-Device") == 0 ||
               gets_input(nai_get_str(g->table, row, GPU_IDLE_GAPS_host_activity));
  return own && input ? step->end_idle_ns : 0;
}

/* --- what is behind a part -------------------------------------------------------------------- */

static void put_ms(struct nai_buf *out, int64_t ns) {
  nai_fmt_scaled(out, (ns + (ns < 0 ? -500 : 500)) / 1000, 3);
  nai_buf_puts(out, " ms");
}

static void explain_idle(struct nai_buf *out, const struct nai_step_gaps *g, const struct nai_gpu_step *step) {
  int64_t best = -1, longest = 0;
  for (size_t i = gap_from(g, step->start); i < gap_from(g, step->end); i++) {
    int64_t ns = nai_get_i64(g->table, g->v[i].value, GPU_IDLE_GAPS_gap_ns);
    best = ns > longest ? g->v[i].value : best;
    longest = ns > longest ? ns : longest;
  }
  if (best < 0)
    return;
  const char *activity = nai_get_str(g->table, best, GPU_IDLE_GAPS_host_activity);
  activity = *activity ? activity : nai_get_str(g->table, best, GPU_IDLE_GAPS_wait_before);
  nai_buf_puts(out, "longest gap ");
  put_ms(out, longest);
  const char *cause = nai_get_str(g->table, best, GPU_IDLE_GAPS_cause);
  nai_buf_printf(out, ": %s%s", nai_column_label(&g->table->schema->columns[GPU_IDLE_GAPS_cause], cause),
                 *activity ? ", " : "");
  nai_text_cut(out, activity, strlen(activity), ACTIVITY_CHARS);
}

static void explain_copy(struct nai_buf *out, const struct nai_step_usual *u, const struct nai_gpu_step *step) {
  int64_t bytes = step->htod_bytes + step->dtoh_bytes + step->other_bytes;
  if (bytes * 10 > u->copied_bytes * 11) {
    nai_buf_printf(out, "copies %lld bytes instead of %lld", (long long)bytes, (long long)u->copied_bytes);
    return;
  }
  nai_buf_puts(out, "the usual bytes, slower or no longer hidden");
}

/* Adds kernels that start inside a step's window to sums by name; communication ones only, or the others only. */
static void add_kernels(struct nai_step_kernels *sums, const struct nai_step_usual *u, const struct nai_gpu_step *step,
                        bool communication) {
  const struct nai_gpu *gpu = &u->m->gpus[u->list->gpu];
  for (uint32_t i = nai_gpu_op_from(gpu, step->start); i < gpu->op_count && gpu->ops[i].start < step->end; i++) {
    const struct nai_op *op = &gpu->ops[i];
    if (op->type != NAI_OP_KERNEL || op->communication != communication)
      continue;
    struct nai_step_kernels *sum = &sums[nai_val_text(&u->m->kernels.name, op->row)];
    sum->ns += nai_kernel_ns(u->m, op->row);
    sum->count++;
  }
}

/* Sums by name over the usual steps: both kinds of kernels, which have different names. */
static int know_usual(struct nai_step_usual *u, struct nai_err *err) {
  uint32_t names = u->m->tables[NAI_IN_KERNELS]->strings.count;
  if (u->usual)
    return NAI_OK;
  NAI_TRY(NAI_NEW(u->own, u->arena, names, err));
  NAI_TRY(NAI_NEW(u->usual, u->arena, names, err));
  for (uint32_t i = 0; i < u->list->count; i++)
    for (int kind = 0; kind < 2 && u->stats->state[i] == NAI_STEP_STEADY && !u->stats->outlier[i]; kind++)
      add_kernels(u->usual, u, &u->list->v[i], kind);
  return NAI_OK;
}

static int put_kernels(struct nai_buf *out, const char *kernel, const struct nai_step_kernels *own, double usual_count,
                       double usual_ns, struct nai_err *err) {
  NAI_SCOPED(nai_buf) name = {0};
  nai_kernel_name_short(&name, kernel, 80);
  nai_buf_printf(out, "%s: ", nai_buf_str(&name));
  if (own->count > usual_count * 1.05 + 0.5)
    nai_buf_printf(out, "%u kernels instead of %.0f, ", own->count, usual_count);
  put_ms(out, own->ns);
  nai_buf_puts(out, " instead of ");
  put_ms(out, (int64_t)usual_ns);
  return nai_buf_check(&name, err);
}

/* The kernel whose time grew most: more of them, or slower ones. */
static int explain_kernels(struct nai_buf *out, struct nai_step_usual *u, const struct nai_gpu_step *step,
                           bool communication, struct nai_err *err) {
  const struct nai_strings *names = &u->m->tables[NAI_IN_KERNELS]->strings;
  double usual = (double)u->stats->states[NAI_STEP_STEADY] - u->stats->outliers, most = 0;
  uint32_t best = NAI_NO_STRING;
  NAI_TRY(know_usual(u, err));
  if (usual <= 0)
    return NAI_OK;
  add_kernels(u->own, u, step, communication);
  for (uint32_t i = 0; i < names->count; i++) {
    double more = (double)u->own[i].ns - (double)u->usual[i].ns / usual;
    if (!u->own[i].count || more <= 0 || more < most)
      continue;
    if (more == most && strcmp(nai_strings_get(names, best), nai_strings_get(names, i)) < 0)
      continue; /* whatever the order of names */
    most = more;
    best = i;
  }
  if (best != NAI_NO_STRING)
    NAI_TRY(put_kernels(out, nai_strings_get(names, best), &u->own[best], u->usual[best].count / usual,
                        (double)u->usual[best].ns / usual, err));
  memset(u->own, 0, names->count * sizeof *u->own);
  return NAI_OK;
}

/* --- the part --------------------------------------------------------------------------------- */

enum part { COMPUTE, COMM, COPY, IDLE, PARTS };
static const char *const parts[PARTS] = {"compute", "exposed_comm", "exposed_copy", "idle"};
static const char *const words[PARTS] = {"compute", "exposed communication", "exposed copies", "idle"};

static int explain_part(struct nai_buf *out, struct nai_step_usual *u, const struct nai_gpu_step *step, enum part part,
                        struct nai_err *err) {
  switch (part) {
  case COMPUTE:
  case COMM:
    return explain_kernels(out, u, step, part == COMM, err);
  case COPY:
    explain_copy(out, u, step);
    return NAI_OK;
  default:
    explain_idle(out, u->gaps, step);
    return NAI_OK;
  }
}

int nai_step_explain(struct nai_step_cause *out, struct nai_step_usual *u, uint32_t i, struct nai_err *err) {
  const struct nai_gpu_step *step = &u->list->v[i];
  const int64_t more[PARTS] = {step->compute_ns - u->compute_ns, step->exposed_comm_ns - u->exposed_comm_ns,
                               step->exposed_copy_ns - u->exposed_copy_ns, step->idle_ns - u->idle_ns};
  int64_t excess = nai_step_ns(step) - u->stats->median_ns;
  int largest = 0;
  for (int part = 1; part < PARTS; part++)
    largest = more[part] > more[largest] ? part : largest;
  nai_buf_clear(&out->detail);
  out->ns = more[largest];
  out->part = parts[largest];
  if (more[largest] * 100 >= excess * EXPLAINS_PCT)
    return explain_part(&out->detail, u, step, (enum part)largest, err);
  out->part = "spread";
  out->ns = 0;
  /* With a sign: other findings state whole parts of a step. */
  for (int part = 0; part < PARTS; part++) {
    if (more[part] <= 0)
      continue;
    nai_buf_printf(&out->detail, "%s%s +", out->detail.len ? ", " : "", words[part]);
    put_ms(&out->detail, more[part]);
  }
  return NAI_OK;
}
