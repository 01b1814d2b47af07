/* Which addresses of unified memory move and fault? Table um_addresses. */
#include "analyses/analysis.h"
#include "base/keyset.h"
#include "base/sort.h"
#include "base/strings.h"
#include "model/memory/uvm.h"
#include "tables/um_addresses.h"
#include "tables/um_fault_events.h"

enum { MAX_ROWS = 1000 };

struct place {
  int64_t process, address;
};
struct sum {
  struct place place;
  int64_t moves, to_gpu, to_host, bytes, ns, gpu_faults, cpu_faults, first, last;
};
struct work {
  struct nai_arena *arena;
  struct nai_strings known; /* places */
  struct sum *sums;
  uint32_t capacity;
};

/* NULL after a failure. */
static struct sum *find(struct work *w, int64_t process, int64_t address, int64_t start, int64_t end,
                        struct nai_err *err) {
  const struct place place = {process, address};
  uint32_t before = w->known.count, slot = nai_strings_add(&w->known, (const char *)&place, sizeof place);
  if (slot == NAI_NO_STRING) {
    nai_err_nomem(err);
    return NULL;
  }
  if (NAI_ROOM(w->sums, w->capacity, slot, w->arena, err) != NAI_OK)
    return NULL;
  struct sum *sum = &w->sums[slot];
  if (slot == before)
    *sum = (struct sum){.place = place, .first = start, .last = end};
  sum->first = start < sum->first ? start : sum->first;
  sum->last = end > sum->last ? end : sum->last;
  return sum;
}

static int add_moves(struct work *w, const struct nai_model *m, struct nai_err *err) {
  const struct MEMOP_EVENTS_columns *c = &m->memops;
  for (uint32_t i = 0; i < c->n; i++) {
    int64_t address = nai_at(&c->migration, i) == 1 ? nai_at(&c->virtual_address, i) : NAI_NULL_I64;
    if (address == NAI_NULL_I64)
      continue;
    int64_t bytes = nai_at(&c->bytes, i), kind = nai_at(&c->copy_kind, i);
    struct sum *sum = find(w, nai_at(&c->process, i), address, nai_val(&c->start_ns, i), nai_val(&c->end_ns, i), err);
    if (!sum)
      return err->code;
    sum->moves++;
    sum->bytes += bytes;
    sum->to_gpu += kind == NAI_UVM_TO_GPU ? bytes : 0;
    sum->to_host += kind == NAI_UVM_TO_HOST ? bytes : 0;
    sum->ns += nai_memop_ns(m, i);
  }
  return NAI_OK;
}

static int add_faults(struct work *w, const struct nai_model *m, struct nai_err *err) {
  const struct UM_FAULT_EVENTS_columns c = UM_FAULT_EVENTS_columns_of(m->tables[NAI_IN_UM_FAULTS]);
  for (uint32_t i = 0; i < c.n; i++) {
    int64_t address = nai_at(&c.address, i), faults = nai_at(&c.faults, i);
    if (address == NAI_NULL_I64)
      continue;
    struct sum *sum = find(w, nai_at(&c.process, i), address, nai_val(&c.start_ns, i), nai_val(&c.end_ns, i), err);
    if (!sum)
      return err->code;
    if (nai_at(&c.kind, i) == NAI_FAULT_CPU)
      sum->cpu_faults++;
    else
      sum->gpu_faults += faults == NAI_NULL_I64 ? 0 : faults;
  }
  return NAI_OK;
}

NAI_ORDER(by_size, struct sum, {b->bytes, a->bytes}, {b->gpu_faults, a->gpu_faults}, {b->cpu_faults, a->cpu_faults},
          {a->place.process, b->place.process}, {a->place.address, b->place.address})

static void put(struct nai_table *out, const struct nai_model *m, const struct sum *sum, bool faults) {
  NAI_ADD(UM_ADDRESSES, out,
          .pid = sum->place.process < 0 ? NAI_NULL_I64 : nai_model_pid(m, (int32_t)sum->place.process),
          .address = sum->place.address, .migrated_bytes = sum->bytes, .migration_count = sum->moves,
          .to_gpu_bytes = sum->to_gpu, .to_host_bytes = sum->to_host, .migration_ns = sum->ns,
          .gb_per_s = sum->ns ? (double)sum->bytes / (double)sum->ns : (double)NAN,
          .gpu_faults = faults ? sum->gpu_faults : NAI_NULL_I64, .cpu_faults = faults ? sum->cpu_faults : NAI_NULL_I64,
          .first_start_ns = sum->first, .last_end_ns = sum->last);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct work w = {.arena = io->arena, .known = {.arena = io->arena}};
  NAI_TRY(add_moves(&w, m, err));
  NAI_TRY(add_faults(&w, m, err));
  if (w.known.count)
    qsort(w.sums, w.known.count, sizeof *w.sums, by_size);
  for (uint32_t i = 0; i < w.known.count && i < MAX_ROWS; i++)
    put(io->out[0], m, &w.sums[i], m->tables[NAI_IN_UM_FAULTS]->rows > 0);
  return NAI_OK;
}

NAI_ANALYSIS(um_addresses, .outputs = NAI_SCHEMAS(&nai_um_addresses_schema),
             .tables = NAI_IN(MEMOPS) | NAI_IN(UM_FAULTS) | NAI_IN(PROCESSES), .run = run)
