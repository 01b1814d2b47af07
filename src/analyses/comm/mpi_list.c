/* MPI calls of all processes: what they are, and which rows of the export are one call. */
#include "analyses/comm/mpi_list.h"

#include "base/sort.h"

/* --- classes ---------------------------------------------------------------------------------- */

static bool begins_with(const char *name, const char *prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

/* The first that a name begins with, behind MPI_. */
enum nai_mpi_class nai_mpi_class_of(const char *name) {
  static const struct {
    const char *prefix;
    enum nai_mpi_class class;
  } known[] = {{"File_", NAI_MPI_CLASS_FILES},
               {"Win_fence", NAI_MPI_CLASS_SYNC},
               {"Win_lock", NAI_MPI_CLASS_RMA},
               {"Win_unlock", NAI_MPI_CLASS_RMA},
               {"Win_flush", NAI_MPI_CLASS_RMA},
               {"Win_post", NAI_MPI_CLASS_RMA},
               {"Win_start", NAI_MPI_CLASS_RMA},
               {"Win_complete", NAI_MPI_CLASS_RMA},
               {"Win_wait", NAI_MPI_CLASS_RMA},
               {"Win_", NAI_MPI_CLASS_SETUP},
               {"Init", NAI_MPI_CLASS_SETUP},
               {"Finalize", NAI_MPI_CLASS_SETUP},
               {"Comm_", NAI_MPI_CLASS_SETUP},
               {"Wait", NAI_MPI_CLASS_WAIT},
               {"Test", NAI_MPI_CLASS_WAIT},
               {"Barrier", NAI_MPI_CLASS_SYNC},
               {"Ibarrier", NAI_MPI_CLASS_ICOLLECTIVE},
               {"Ibcast", NAI_MPI_CLASS_ICOLLECTIVE},
               {"Igather", NAI_MPI_CLASS_ICOLLECTIVE},
               {"Iscatter", NAI_MPI_CLASS_ICOLLECTIVE},
               {"Iall", NAI_MPI_CLASS_ICOLLECTIVE},
               {"Ireduce", NAI_MPI_CLASS_ICOLLECTIVE},
               {"Iscan", NAI_MPI_CLASS_ICOLLECTIVE},
               {"Iexscan", NAI_MPI_CLASS_ICOLLECTIVE},
               {"Ineighbor", NAI_MPI_CLASS_ICOLLECTIVE},
               {"Bcast", NAI_MPI_CLASS_COLLECTIVE},
               {"Gather", NAI_MPI_CLASS_COLLECTIVE},
               {"Scatter", NAI_MPI_CLASS_COLLECTIVE},
               {"All", NAI_MPI_CLASS_COLLECTIVE},
               {"Reduce", NAI_MPI_CLASS_COLLECTIVE},
               {"Scan", NAI_MPI_CLASS_COLLECTIVE},
               {"Exscan", NAI_MPI_CLASS_COLLECTIVE},
               {"Neighbor", NAI_MPI_CLASS_COLLECTIVE},
               {"Isend", NAI_MPI_CLASS_POST},
               {"Irecv", NAI_MPI_CLASS_POST},
               {"Ibsend", NAI_MPI_CLASS_POST},
               {"Issend", NAI_MPI_CLASS_POST},
               {"Irsend", NAI_MPI_CLASS_POST},
               {"Imrecv", NAI_MPI_CLASS_POST},
               {"Start", NAI_MPI_CLASS_POST},
               {"Send", NAI_MPI_CLASS_P2P},
               {"Recv", NAI_MPI_CLASS_P2P},
               {"Bsend", NAI_MPI_CLASS_P2P},
               {"Ssend", NAI_MPI_CLASS_P2P},
               {"Rsend", NAI_MPI_CLASS_P2P},
               {"Mrecv", NAI_MPI_CLASS_P2P},
               {"Put", NAI_MPI_CLASS_RMA},
               {"Get_", NAI_MPI_CLASS_OTHER},
               {"Get", NAI_MPI_CLASS_RMA},
               {"Accumulate", NAI_MPI_CLASS_RMA},
               {"Rput", NAI_MPI_CLASS_RMA},
               {"Rget", NAI_MPI_CLASS_RMA},
               {"Raccumulate", NAI_MPI_CLASS_RMA},
               {"Pack", NAI_MPI_CLASS_PACK},
               {"Unpack", NAI_MPI_CLASS_PACK}};
  size_t len = strlen(name);
  name += begins_with(name, "MPI_") ? 4 : 0;
  if (len > 5 && strcmp(name + strlen(name) - 5, "_init") == 0)
    return NAI_MPI_CLASS_POST; /* persistent: MPI_Send_init */
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (begins_with(name, known[i].prefix))
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
