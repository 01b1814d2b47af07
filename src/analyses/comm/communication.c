/* What did GPUs say to each other, what of it did nothing hide, and how much of it was waiting? Tables comm_*. */
#include "analyses/comm/comm.h"
#include "analyses/comm/comm_columns.h"

#include "base/buf.h"

#include <stdlib.h>

static const char command[] = "nsys profile --trace=cuda,nvtx,osrt ..., then nsys export --type sqlite "
                              "--include-blobs=true REPORT.nsys-rep";

static void put_capture(struct nai_table *table, const struct nai_comm *c, int64_t unlisted) {
  int64_t row = nai_table_add_row(table), matched = 0, refused = 0;
  enum nai_payload_verdict most = NAI_PAYLOAD_READ;
  for (uint32_t i = 0; i < c->count; i++)
    matched += c->items[i].set != NAI_NO_ROW;
  for (int v = NAI_PAYLOAD_READ + 1; v < NAI_PAYLOAD_VERDICTS; v++) {
    refused += c->payloads[v];
    most = c->payloads[v] > (most == NAI_PAYLOAD_READ ? 0 : c->payloads[most]) ? (enum nai_payload_verdict)v : most;
  }
  const struct {
    int column;
    int64_t value;
  } cells[] = {{CC_COUNT, c->count},
               {CC_ATTRIBUTED, c->attributed},
               {CC_GROUPED, c->in_groups},
               {CC_CAPTURED, c->captured},
               {CC_SIZED, c->sized},
               {CC_MATCHED, matched},
               {CC_SETS, c->set_count},
               {CC_REFUSED, refused},
               {CC_PAYLOADS, c->payloads[NAI_PAYLOAD_READ] + refused}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
    nai_set_i64(table, row, cells[i].column, cells[i].value);
  if (unlisted)
    nai_set_i64(table, row, CC_UNLISTED, unlisted);
  if (refused)
    nai_set_str(table, row, CC_REASON, nai_payload_verdict_text(most));
  if (2 * c->sized >= c->count)
    return;
  nai_set_str(table, row, CC_MISSING,
              c->attributed ? "message sizes, and with them rates"
                            : "the calls behind kernels, message sizes and rates");
  nai_set_str(table, row, CC_COMMAND, command);
}

static int find(struct nai_comm *c, struct nai_err *err) {
  int rc = nai_comm_expose(c, err);
  if (!rc)
    rc = nai_comm_read_calls(c, err);
  if (!rc)
    rc = nai_comm_find_issuers(c, err);
  if (!rc)
    rc = nai_comm_attribute(c, err);
  return rc ? rc : nai_comm_match(c, err);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_comm c;
  int rc = nai_comm_collect(&c, io->model, err);
  c.spans = io->in[0];
  if (!rc && c.count)
    rc = find(&c, err);
  if (!rc && c.count)
    rc = nai_comm_put_ops(io->out[0], &c, err);
  if (!rc && c.count)
    rc = nai_comm_put_streams(io->out[1], &c, err);
  if (!rc && c.count)
    rc = nai_comm_put_instances(io->out[2], &c, err);
  if (!rc && c.count)
    rc = nai_comm_put_ranks(io->out[3], &c, err);
  if (!rc && c.count)
    rc = nai_comm_put_steps(io->out[5], io->out[6], &c, err);
  if (!rc && c.count)
    put_capture(io->out[4], &c, c.count - io->out[2]->rows);
  nai_comm_free(&c);
  return rc;
}

static const struct nai_schema *const outputs[] = {&nai_comm_ops,       &nai_comm_streams,
                                                   &nai_comm_instances, &nai_comm_ranks,
                                                   &nai_comm_capture,   &nai_step_comm,
                                                   &nai_step_comm_ops,  NULL};
static const char *const inputs[] = {"active_spans", NULL};
const struct nai_node nai_analysis_communication = {
    .name = "communication",
    .outputs = outputs,
    .inputs = inputs,
    .parts = NAI_PART(NAMES) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(RANGES) | NAI_PART(CALLS) |
             NAI_PART(NVTX_TREE) | NAI_PART(STEPS),
    .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(GPUS) |
              NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(NVTX_DOMAINS) |
              NAI_IN(NVTX_PAYLOADS) | NAI_IN(PAYLOAD_SCHEMAS) | NAI_IN(PAYLOAD_ENTRIES) | NAI_IN(PAYLOAD_ENUMS) |
              NAI_IN(DYNAMIC_PAYLOADS) | NAI_IN(GRAPH_NODES),
    .config = NAI_CONFIG(KERNEL_CLASSES),
    .run = run};
