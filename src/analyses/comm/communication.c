/* What did GPUs say to each other, what of it did nothing hide, and how much of it was waiting? Tables comm_*. */
#include "analyses/comm/comm.h"

#include "base/buf.h"
#include "tables/active_spans.h"
#include "tables/comm_capture.h"
#include "tables/comm_instances.h"
#include "tables/comm_ops.h"
#include "tables/comm_ranks.h"
#include "tables/comm_streams.h"
#include "tables/step_comm.h"
#include "tables/step_comm_ops.h"

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
  } cells[] = {{COMM_CAPTURE_kernel_count, c->count},
               {COMM_CAPTURE_attributed_count, c->attributed},
               {COMM_CAPTURE_group_count, c->in_groups},
               {COMM_CAPTURE_graph_count, c->captured},
               {COMM_CAPTURE_sized_count, c->sized},
               {COMM_CAPTURE_matched_count, matched},
               {COMM_CAPTURE_set_count, c->set_count},
               {COMM_CAPTURE_refused_count, refused},
               {COMM_CAPTURE_payload_count, c->payloads[NAI_PAYLOAD_READ] + refused}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
    nai_set_i64(table, row, cells[i].column, cells[i].value);
  if (unlisted)
    nai_set_i64(table, row, COMM_CAPTURE_unlisted_count, unlisted);
  if (refused)
    nai_set_str(table, row, COMM_CAPTURE_refused_reason, nai_payload_verdict_text(most));
  if (2 * c->sized >= c->count)
    return;
  nai_set_str(table, row, COMM_CAPTURE_missing,
              c->attributed ? "message sizes, and with them rates"
                            : "the calls behind kernels, message sizes and rates");
  nai_set_str(table, row, COMM_CAPTURE_command, command);
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

NAI_ANALYSIS(communication,
             .outputs = NAI_SCHEMAS(&nai_comm_ops_schema, &nai_comm_streams_schema, &nai_comm_instances_schema,
                                    &nai_comm_ranks_schema, &nai_comm_capture_schema, &nai_step_comm_schema,
                                    &nai_step_comm_ops_schema),
             .inputs = NAI_SCHEMAS(&nai_active_spans_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(RANGES) | NAI_PART(CALLS) |
                      NAI_PART(NVTX_TREE) | NAI_PART(STEPS),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(GPUS) |
                       NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(NVTX_DOMAINS) |
                       NAI_IN(NVTX_PAYLOADS) | NAI_IN(PAYLOAD_SCHEMAS) | NAI_IN(PAYLOAD_ENTRIES) |
                       NAI_IN(PAYLOAD_ENUMS) | NAI_IN(DYNAMIC_PAYLOADS) | NAI_IN(GRAPH_NODES),
             .config = NAI_CONFIG(KERNEL_CLASSES), .run = run)
