/* NCCL's own NVTX ranges: which collectives a thread called, in which groups, and what their payloads say. */
#include "analyses/comm/comm.h"
#include "base/array.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* --- names ------------------------------------------------------------------------------------ */

struct call_name {
  const char *name, *op;
  enum nai_comm_call_kind kind;
};
static const struct call_name known[] = {
    {"ncclAllReduce", "AllReduce", NAI_COMM_COLLECTIVE},
    {"ncclAllGather", "AllGather", NAI_COMM_COLLECTIVE},
    {"ncclReduceScatter", "ReduceScatter", NAI_COMM_COLLECTIVE},
    {"ncclBroadcast", "Broadcast", NAI_COMM_COLLECTIVE},
    {"ncclBcast", "Broadcast", NAI_COMM_COLLECTIVE},
    {"ncclReduce", "Reduce", NAI_COMM_COLLECTIVE},
    {"ncclAlltoAll", "AllToAll", NAI_COMM_COLLECTIVE},
    {"ncclAllToAll", "AllToAll", NAI_COMM_COLLECTIVE},
    {"ncclGather", "Gather", NAI_COMM_COLLECTIVE},
    {"ncclScatter", "Scatter", NAI_COMM_COLLECTIVE},
    {"ncclSend", "Send", NAI_COMM_COLLECTIVE},
    {"ncclRecv", "Recv", NAI_COMM_COLLECTIVE},
    {"ncclPutSignal", "Put", NAI_COMM_COLLECTIVE},
    {"ncclGroupStart", NULL, NAI_COMM_GROUP_START},
    {"ncclGroupEnd", NULL, NAI_COMM_GROUP_END},
    {"ncclCommInitRank", NULL, NAI_COMM_INIT},
    {"ncclCommInitAll", NULL, NAI_COMM_INIT},
    {"ncclCommInitRankConfig", NULL, NAI_COMM_INIT},
    {"ncclCommInitRankScalable", NULL, NAI_COMM_INIT},
    {"ncclCommSplit", NULL, NAI_COMM_INIT},
};

static const struct call_name *find_name(const char *name) {
  for (size_t i = 0; strncmp(name, "nccl", 4) == 0 && i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].name, name) == 0)
      return &known[i];
  return NULL;
}

/* --- payloads --------------------------------------------------------------------------------- */

struct reader {
  struct nai_comm *c;
  const struct call_name **names; /* by string of nvtx_events; NULL for other names */
  struct nai_column domain, row_offset;
  struct nai_payload_schemas *schemas;
  const struct nai_table *payloads;
  struct nai_key *rows; /* payloads by row of the export */
  size_t row_count;
};

static int sort_payloads(struct reader *r, struct nai_err *err) {
  const struct nai_table *t = r->payloads;
  if (!t || !t->rows)
    return NAI_OK;
  const struct nai_column row = nai_table_column(t, NP_ROW);
  r->rows = malloc((size_t)t->rows * sizeof *r->rows);
  if (!r->rows)
    return nai_err_nomem(err);
  for (int64_t i = 0; i < t->rows; i++)
    r->rows[r->row_count++] = (struct nai_key){nai_key_from_i64(nai_at(&row, (uint64_t)i)), (uint32_t)i};
  return nai_sort_keys(r->rows, r->row_count, err);
}

/* Row of nvtx_payloads of a range, -1 for none. */
static int64_t payload_of(const struct reader *r, uint32_t range) {
  int64_t offset = nai_at(&r->row_offset, range);
  if (!r->row_count || offset == NAI_NULL_I64)
    return -1;
  uint64_t key = nai_key_from_i64((int64_t)range + offset);
  size_t low = nai_keys_from(r->rows, r->row_count, key);
  return low < r->row_count && r->rows[low].key == key ? (int64_t)r->rows[low].value : -1;
}

static int64_t domain_id(const struct reader *r, uint32_t range) {
  const struct nai_table *domains = r->c->m->tables[NAI_IN_NVTX_DOMAINS];
  int64_t row = nai_at(&r->domain, range);
  return domains && row >= 0 && row < domains->rows ? nai_get_i64(domains, row, ND_ID) : NAI_NULL_I64;
}

static void read_payload(struct reader *r, struct nai_comm_call *call, uint32_t range) {
  const struct nai_table *t = r->payloads;
  int64_t row = payload_of(r, range);
  if (row < 0)
    return;
  int64_t kind = nai_get_i64(t, row, NP_KIND);
  enum nai_payload_verdict verdict = NAI_PAYLOAD_BAD_HEADER;
  if (kind == NAI_PAYLOAD_BLOB) {
    const char *hex = nai_get_str(t, row, NP_BLOB);
    verdict = nai_payload_read_hex(&call->payload, r->schemas, domain_id(r, range), hex, strlen(hex));
    call->redop = nai_payload_redop(&call->payload, r->schemas, domain_id(r, range));
  } else if (kind == NAI_PAYLOAD_JSON) {
    const char *json = nai_get_str(t, row, NP_JSON);
    verdict = nai_payload_read_json(&call->payload, json, strlen(json));
  } else {
    return; /* a number, which NCCL does not attach */
  }
  r->c->payloads[verdict]++;
}

/* --- calls of a thread ------------------------------------------------------------------------ */

/* Ranges of NCCL's domain. A trace may not name its domains; the names of ranges then have to do. */
static bool is_nccl(const struct reader *r, uint32_t range) {
  const struct nai_table *domains = r->c->m->tables[NAI_IN_NVTX_DOMAINS];
  int64_t row = nai_at(&r->domain, range);
  const char *name = domains && row >= 0 && row < domains->rows ? nai_get_str(domains, row, ND_NAME) : "";
  return !*name || strcmp(name, "NCCL") == 0;
}

static int read_thread(struct reader *r, uint32_t thread, struct nai_err *err) {
  const struct nai_model *m = r->c->m;
  const struct nai_groups *g = &m->nvtx_by_thread;
  struct nai_comm_calls *calls = &r->c->calls[thread];
  int64_t until = INT64_MIN;
  uint32_t depth = 0, first = 0;
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++) {
    uint32_t range = g->order[i];
    const struct call_name *name = r->names[nai_at_text(&m->nvtx.name, range)];
    if (!name || nai_at(&m->nvtx.start, range) < until || !is_nccl(r, range))
      continue;
    if (!nai_array_room(&calls->v, &calls->capacity, calls->count, sizeof *calls->v))
      return nai_err_nomem(err);
    struct nai_comm_call *call = &calls->v[calls->count++];
    *call = (struct nai_comm_call){.start = nai_at(&m->nvtx.start, range),
                                   .end = nai_at(&m->nvtx.end, range),
                                   .op = name->op,
                                   .kind = (uint8_t)name->kind};
    until = call->end;
    read_payload(r, call, range);
    if (name->kind == NAI_COMM_GROUP_START && depth++ == 0)
      first = calls->count;
    /* The end of a group that began before the capture: what was in it is not known. */
    if (name->kind == NAI_COMM_GROUP_END && depth > 0 && --depth == 0) {
      call->first = first;
      call->last = calls->count - 1;
    }
  }
  return NAI_OK;
}

static int open_reader(struct reader *r, struct nai_err *err) {
  const struct nai_model *m = r->c->m;
  const struct nai_table *nvtx = m->tables[NAI_IN_NVTX];
  r->domain = nai_table_column(nvtx, NE_DOMAIN);
  r->row_offset = nai_table_column(nvtx, NE_ROW_OFFSET);
  r->payloads = m->tables[NAI_IN_NVTX_PAYLOADS];
  r->names = calloc((size_t)nvtx->strings.count + 1, sizeof *r->names);
  if (!r->names)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < nvtx->strings.count; i++)
    r->names[i] = find_name(nai_strings_get(&nvtx->strings, i));
  int rc = nai_payload_schemas_new(&r->schemas, m->tables[NAI_IN_PAYLOAD_SCHEMAS], m->tables[NAI_IN_PAYLOAD_ENTRIES],
                                   m->tables[NAI_IN_PAYLOAD_ENUMS], err);
  return rc ? rc : sort_payloads(r, err);
}

int nai_comm_read_calls(struct nai_comm *c, struct nai_err *err) {
  struct reader r = {.c = c};
  if (!c->m->nvtx.n)
    return NAI_OK;
  int rc = open_reader(&r, err);
  for (uint32_t t = 0; !rc && t < c->m->thread_count; t++)
    rc = read_thread(&r, t, err);
  free(r.names);
  free(r.rows);
  nai_payload_schemas_free(r.schemas);
  return rc;
}
