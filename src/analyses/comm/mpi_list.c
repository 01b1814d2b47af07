/* MPI calls of all processes: what they are, and which rows of the export are one call. */
#include "analyses/comm/mpi_list.h"

#include "base/sort.h"
#include "base/text.h"

/* --- classes ---------------------------------------------------------------------------------- */

/* Behind MPI_, in this order. */
enum nai_mpi_class nai_mpi_class_of(const char *name) {
  static const struct {
    enum nai_mpi_class class;
    const char *prefixes[12];
  } known[] = {
      {NAI_MPI_CLASS_FILES, {"File_"}},
      {NAI_MPI_CLASS_SYNC, {"Barrier", "Win_fence"}},
      {NAI_MPI_CLASS_RMA,
       {"Win_lock", "Win_unlock", "Win_flush", "Win_post", "Win_start", "Win_complete", "Win_wait", "Put", "Accumulate",
        "Raccumulate", "Rput"}},
      {NAI_MPI_CLASS_SETUP, {"Win_", "Init", "Finalize", "Comm_"}},
      {NAI_MPI_CLASS_WAIT, {"Wait", "Test"}},
      {NAI_MPI_CLASS_ICOLLECTIVE,
       {"Ibarrier", "Ibcast", "Igather", "Iscatter", "Iall", "Ireduce", "Iscan", "Iexscan", "Ineighbor"}},
      {NAI_MPI_CLASS_COLLECTIVE, {"Bcast", "Gather", "Scatter", "All", "Reduce", "Scan", "Exscan", "Neighbor"}},
      {NAI_MPI_CLASS_POST, {"Isend", "Irecv", "Ibsend", "Issend", "Irsend", "Imrecv", "Start"}},
      {NAI_MPI_CLASS_P2P, {"Send", "Recv", "Bsend", "Ssend", "Rsend", "Mrecv"}},
      {NAI_MPI_CLASS_OTHER, {"Get_"}},
      {NAI_MPI_CLASS_RMA, {"Get", "Rget"}},
      {NAI_MPI_CLASS_PACK, {"Pack", "Unpack"}},
  };
  name += nai_text_begins(name, NAI_WORDS("MPI_")) ? strlen("MPI_") : 0;
  size_t len = strlen(name);
  if (len > 5 && strcmp(name + len - 5, "_init") == 0)
    return NAI_MPI_CLASS_POST; /* persistent: MPI_Send_init */
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (nai_text_begins(name, known[i].prefixes))
      return known[i].class;
  return NAI_MPI_CLASS_OTHER;
}

/* --- calls ------------------------------------------------------------------------------------ */

NAI_ORDER(compare, struct nai_mpi_call, {a->process, b->process}, {a->name, b->name}, {a->start, b->start},
          {a->thread, b->thread}, {a->end, b->end}, {a->sent, b->sent})

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; } /* NULL is the least */

/* Rows of one call become one: a wait has a row per request, MPI_Sendrecv one per direction, which end at different
 * times. */
static uint32_t merge(struct nai_mpi_call *v, uint32_t n, const struct nai_strings *names) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; i++) {
    struct nai_mpi_call *last = kept ? &v[kept - 1] : NULL;
    bool same = last && last->process == v[i].process && last->name == v[i].name && last->thread == v[i].thread &&
                last->start == v[i].start;
    if (!same || (last->end != v[i].end && !strstr(nai_strings_get(names, v[i].name), "Sendrecv"))) {
      v[kept++] = v[i];
      continue;
    }
    last->rows += v[i].rows;
    last->end = most(last->end, v[i].end);
    last->sent = most(last->sent, v[i].sent);
    last->received = most(last->received, v[i].received);
    last->open |= v[i].open;
  }
  return kept;
}

int nai_mpi_collect(struct nai_mpi_call **calls, uint32_t *count, const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_table *t = m->tables[NAI_IN_MPI];
  NAI_TRY(NAI_NEW(*calls, io->arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t thread = nai_get_i64(t, i, MPI_EVENTS_thread);
    struct nai_column name = nai_table_column(t, MPI_EVENTS_name);
    uint32_t text = nai_at_text(&name, (uint64_t)i);
    if (thread < 0 || thread >= m->thread_count || m->thread_process[thread] < 0 || text >= t->strings.count)
      continue;
    (*calls)[(*count)++] = (struct nai_mpi_call){.process = m->thread_process[thread],
                                                 .thread = (int32_t)thread,
                                                 .name = text,
                                                 .start = nai_get_i64(t, i, MPI_EVENTS_start_ns),
                                                 .end = nai_get_i64(t, i, MPI_EVENTS_end_ns),
                                                 .sent = nai_get_i64(t, i, MPI_EVENTS_bytes),
                                                 .received = nai_get_i64(t, i, MPI_EVENTS_received_bytes),
                                                 .rows = 1,
                                                 .open = nai_get_i64(t, i, MPI_EVENTS_open) == 1};
  }
  qsort(*calls, *count, sizeof **calls, compare);
  *count = merge(*calls, *count, &t->strings);
  return NAI_OK;
}
