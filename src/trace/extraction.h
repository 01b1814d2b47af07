/* The stage extract while it runs. Internal to src/trace. */
#pragma once

#include "trace/identity.h"
#include "trace/sources/source.h"

enum { NAI_MAX_SCANS = 72 }; /* feeds of all sources */

struct extraction {
  struct nai_arena arena;
  struct nai_ingest *out;
  struct nai_trace *trace;
  const struct nai_ingest_options *options;
  struct nai_intake intakes[NAI_MAX_SCANS]; /* by source */
  int intake_count;
  struct nai_scan scans[NAI_MAX_SCANS];
  int columns[NAI_MAX_SCANS][NAI_SCAN_MAX_COLUMNS];
  bool scan_vital[NAI_MAX_SCANS];   /* the sources that it feeds are */
  bool scan_damaged[NAI_MAX_SCANS]; /* its table, which tells nothing then */
  int scan_count;
  struct nai_part *parts;
  int part_count;
  struct nai_identity identity;
  struct nai_strings names[NAI_IN_COUNT];   /* of the event tables, until they are created */
  struct nai_strings records[NAI_IN_COUNT]; /* by the table they become */
  struct nai_strings record_names[NAI_IN_COUNT];
  uint32_t *record_name[NAI_IN_COUNT]; /* of record i of a table, NAI_NO_STRING for none */
  uint32_t record_capacity[NAI_IN_COUNT];
  struct nai_strings sizes;
  bool too_many_sizes;
  uint64_t tables; /* wanted, and what they bring */
  int64_t last_ns; /* latest time of any event, within --trim; known once merged */
};

/* The rows of a part (part.c). */
NAI_MUST_CHECK int nai_part_open(struct nai_part *part, struct nai_err *err);   /* makes room for open rows */
NAI_MUST_CHECK int nai_part_pack(struct nai_part *part, struct nai_err *err);   /* packs the open rows */
NAI_MUST_CHECK int nai_part_settle(struct nai_part *part, struct nai_err *err); /* and makes all rows readable */
void nai_part_close(struct nai_part *part);                                     /* frees what only reading needs */
void nai_part_free_rows(struct nai_part *part);
void nai_part_free(struct nai_part *part);

/* Damage (damage.c). Whether a failure is damage of a table that the rest does without: then it is to go on,
 * and `why` says what was found. */
bool nai_damage_is_borne(char why[160], const struct nai_source *source, int rc, const struct nai_err *err);
/* Says of a damaged table how much is lost. */
NAI_MUST_CHECK int nai_damage_note(struct nai_table *notes, struct nai_trace *trace, const char *name,
                                   struct nai_err *err);
/* Leaves out the scans of damaged tables, with a note for each. */
NAI_MUST_CHECK int nai_damage_settle(struct extraction *x, struct nai_err *err);

/* Merges the parts' dictionaries in part order, which makes ids the same for any number of threads and parts. Sets each
 * part's remap, names, records, sizes and last_ns. */
NAI_MUST_CHECK int nai_merge(struct extraction *x, struct nai_err *err);

/* notes.c: what one intake's parts counted, which reader read them. NAI_EINPUT for sums no capture can have. */
NAI_MUST_CHECK int nai_note_intake(struct extraction *x, const struct nai_intake *intake, struct nai_err *err);

/* Whether a table is to be made. */
static inline bool nai_wanted(const struct extraction *x, enum nai_input_table table) {
  return x->tables & NAI_IN_BIT(table);
}
/* describe.c: the small tables that were asked for, from the merged records and from tables of the export. */
NAI_MUST_CHECK int nai_describe(struct extraction *x, struct nai_err *err);

/* outputs.c: program_outputs. */
NAI_MUST_CHECK int nai_put_outputs(struct extraction *x, struct nai_table *table, struct nai_err *err);
/* Every output that the capture holds: of which process (0: not told), the name of its file, its text. */
typedef int nai_output_fn(void *ctx, int64_t process, const struct nai_cell *file, const struct nai_cell *text,
                          struct nai_err *err);
NAI_MUST_CHECK int nai_each_output(struct extraction *x, nai_output_fn *fn, void *ctx, struct nai_err *err);

/* program_marks.c: program_marks. */
NAI_MUST_CHECK int nai_put_marks(struct extraction *x, struct nai_table *table, struct nai_err *err);

/* dynamic_payloads.c: nvtx_dynamic_payloads. */
NAI_MUST_CHECK int nai_put_dynamic_payloads(struct extraction *x, struct nai_table *table, struct nai_err *err);

/* Writes the event tables from the parts' rows, which it frees. Rows of GPUs that --gpu leaves out are dropped. */
NAI_MUST_CHECK int nai_write_events(struct extraction *x, struct nai_err *err);
/* probe.c: capabilities that come from a table that notes call damaged are none. */
void nai_probe_take_back(struct nai_table *capabilities, const struct nai_table *notes);
/* capture.c: fills the table `capture`, and notes what it says of the capture's faults. */
NAI_MUST_CHECK int nai_probe_capture(struct nai_ingest *out, struct nai_trace *trace, struct nai_err *err);
/* Whether --gpu asks for this GPU. */
bool nai_keeps_gpu(const struct nai_ingest_options *options, int64_t device);
