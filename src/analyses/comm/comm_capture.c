/* What does the trace tell of communication, and what would a better capture? Table comm_capture. */
#include "analyses/analysis.h"
#include "model/comm/comm.h"

#include "tables/comm_capture.h"
#include "tables/comm_instances.h"

static const char command[] = "nsys profile --trace=cuda,nvtx,osrt -o run COMMAND && "
                              "nsys export --type sqlite --include-blobs=true run.nsys-rep",
                  advanced[] = "nsys export --type sqlite --include-blobs=true --include-json=true run.nsys-rep";

/* What became of most payloads that could not be read, NAI_PAYLOAD_READ for none; and of how many. */
static enum nai_payload_verdict most_refused(int64_t *refused, const struct nai_comm *c) {
  enum nai_payload_verdict most = NAI_PAYLOAD_READ;
  *refused = 0;
  for (int v = NAI_PAYLOAD_READ + 1; v < NAI_PAYLOAD_VERDICTS; v++) {
    *refused += c->payloads[v];
    most = c->payloads[v] > (most == NAI_PAYLOAD_READ ? 0 : c->payloads[most]) ? (enum nai_payload_verdict)v : most;
  }
  return most;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  (void)err;
  const struct nai_comm *c = io->model->comm;
  int64_t matched = 0, refused, unlisted = c->count - io->in[0]->rows;
  enum nai_payload_verdict most = most_refused(&refused, c);
  if (!c->count)
    return NAI_OK;
  for (uint32_t i = 0; i < c->count; i++)
    matched += c->items[i].set != NAI_NO_ROW;
  struct COMM_CAPTURE_row row =
      NAI_ROW(COMM_CAPTURE, .kernel_count = c->count, .attributed_count = c->attributed, .group_count = c->in_groups,
              .graph_count = c->captured, .sized_count = c->sized, .matched_count = matched, .set_count = c->set_count,
              .unlisted_count = unlisted ? unlisted : NAI_NULL_I64,
              .payload_count = c->payloads[NAI_PAYLOAD_READ] + refused, .refused_count = refused,
              .refused_reason = refused ? nai_payload_verdict_text(most) : NULL);
  row.form = c->advanced ? "advanced" : c->attributed ? "ranges" : "kernels";
  if (2 * c->sized < c->count) {
    row.missing =
        c->attributed ? "message sizes, and with them rates" : "the calls behind kernels, message sizes and rates";
    row.command = c->advanced ? advanced : command;
  }
  COMM_CAPTURE_add(io->out[0], &row);
  return NAI_OK;
}

NAI_ANALYSIS(comm_capture, .outputs = NAI_SCHEMAS(&nai_comm_capture_schema),
             .inputs = NAI_SCHEMAS(&nai_comm_instances_schema), .parts = NAI_PART(COMM), .run = run)
