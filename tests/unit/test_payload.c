/* Payloads of NCCL's ranges: every reading of the header, and everything that must be refused. */
#include "unit.h"

#include "model/payload.h"

#include <stdio.h>
#include <string.h>

#include "tables/events.h"

enum { DOMAIN = 3, FIRST = 1 << 24, INT = 5, UINT64 = 18, SIZE = 22, REDOP_TYPE = FIRST + 40 };

/* What NCCL describes, by what each payload holds. */
struct entry {
  const char *name;
  int type, offset;
};
enum shape { COMM_ONLY, SIZED, ROOTED, REDUCED, PEERED, RANKED, SPLIT, BARE, SHAPES };
static const struct {
  int bytes;
  struct entry entries[6];
} shapes[SHAPES] = {
    [COMM_ONLY] = {8, {{"NCCL communicator ID", UINT64, 0}}},
    [SIZED] = {16, {{"NCCL communicator ID", UINT64, 0}, {"Message size [bytes]", SIZE, 8}}},
    [ROOTED] = {24, {{"NCCL communicator ID", UINT64, 0}, {"Message size [bytes]", SIZE, 8}, {"Root", INT, 16}}},
    [REDUCED] = {24,
                 {{"NCCL communicator ID", UINT64, 0},
                  {"Message size [bytes]", SIZE, 8},
                  {"Reduction operation", REDOP_TYPE, 16}}},
    [PEERED] = {24, {{"NCCL communicator ID", UINT64, 0}, {"Message size [bytes]", SIZE, 8}, {"Peer rank", INT, 16}}},
    [RANKED] =
        {24,
         {{"NCCL communicator ID", UINT64, 0}, {"No. of ranks", INT, 8}, {"Rank", INT, 12}, {"CUDA device", INT, 16}}},
    [SPLIT] = {32,
               {{"NCCL communicator ID", UINT64, 0},
                {"Parent NCCL communicator ID", UINT64, 8},
                {"No. of ranks", INT, 16},
                {"Rank", INT, 20}}},
    [BARE] = {8, {{"Message size [bytes]", SIZE, 0}}}, /* as NCCL before 2.26 has it */
};
/* Schema ids of NCCL, from the first own id on. */
static const enum shape of_schema[] = {RANKED, RANKED, COMM_ONLY, COMM_ONLY, SIZED,  REDUCED, ROOTED,    REDUCED,
                                       ROOTED, PEERED, PEERED,    RANKED,    RANKED, SPLIT,   COMM_ONLY, SPLIT,
                                       SIZED,  ROOTED, ROOTED,    COMM_ONLY, RANKED, PEERED,  PEERED,    PEERED};
enum { SCHEMAS = sizeof of_schema / sizeof *of_schema };

struct fixture {
  struct nai_table *schemas, *entries, *enums;
  struct nai_payload_schemas *read;
};

static void describe(struct fixture *f, int schema, enum shape shape, int shift) {
  int64_t row = nai_table_add_row(f->schemas);
  nai_set_i64(f->schemas, row, NVTX_PAYLOAD_SCHEMAS_domain_id, DOMAIN);
  nai_set_i64(f->schemas, row, NVTX_PAYLOAD_SCHEMAS_schema_id, schema);
  nai_set_i64(f->schemas, row, NVTX_PAYLOAD_SCHEMAS_payload_bytes, shapes[shape].bytes);
  for (int i = 0; i < 6 && shapes[shape].entries[i].name; i++) {
    const struct entry *e = &shapes[shape].entries[i];
    row = nai_table_add_row(f->entries);
    nai_set_i64(f->entries, row, NVTX_PAYLOAD_ENTRIES_domain_id, DOMAIN);
    nai_set_i64(f->entries, row, NVTX_PAYLOAD_ENTRIES_schema_id, schema);
    nai_set_i64(f->entries, row, NVTX_PAYLOAD_ENTRIES_idx, i);
    nai_set_i64(f->entries, row, NVTX_PAYLOAD_ENTRIES_type, e->type == REDOP_TYPE ? e->type + shift : e->type);
    nai_set_str(f->entries, row, NVTX_PAYLOAD_ENTRIES_name, e->name);
    nai_set_i64(f->entries, row, NVTX_PAYLOAD_ENTRIES_offset_bytes, e->offset);
  }
}

static void name_redop(struct fixture *f, int type, int value, const char *name) {
  int64_t row = nai_table_add_row(f->enums);
  nai_set_i64(f->enums, row, NVTX_PAYLOAD_ENUMS_domain_id, DOMAIN);
  nai_set_i64(f->enums, row, NVTX_PAYLOAD_ENUMS_schema_id, type);
  nai_set_i64(f->enums, row, NVTX_PAYLOAD_ENUMS_value, value);
  nai_set_str(f->enums, row, NVTX_PAYLOAD_ENUMS_name, name);
}

static void begin(struct fixture *f) {
  *f = (struct fixture){0};
  assert_int_equal(nai_table_new(&f->schemas, &nai_nvtx_payload_schemas_schema, NULL), 0);
  assert_int_equal(nai_table_new(&f->entries, &nai_nvtx_payload_entries_schema, NULL), 0);
  assert_int_equal(nai_table_new(&f->enums, &nai_nvtx_payload_enums_schema, NULL), 0);
  for (int s = 0; s < SCHEMAS; s++)
    describe(f, FIRST + s, of_schema[s], 0);
  name_redop(f, REDOP_TYPE, 0, "Sum");
  name_redop(f, REDOP_TYPE, 4, "Avg");
}

static void open_schemas(struct fixture *f) {
  assert_int_equal(nai_payload_schemas_new(&f->read, f->schemas, f->entries, f->enums, NULL), 0);
}

static void end(struct fixture *f) {
  nai_payload_schemas_free(f->read);
  nai_table_free(f->schemas);
  nai_table_free(f->entries);
  nai_table_free(f->enums);
}

static void put(unsigned char *to, int bytes, uint64_t value) { memcpy(to, &value, (size_t)bytes); }

/* Readings of the header: four words with an offset behind it, the same with a gap, two pairs of words and a total. */
enum header { OFFSET, GAP, TOTAL, HEADERS };

/* A payload of a schema: field i has the value 1000 * schema + i + 1. Returns its length. */
static size_t blob(unsigned char *to, int schema, enum header header) {
  enum shape shape = of_schema[schema];
  uint64_t size = (uint64_t)shapes[shape].bytes,
           from = header == GAP ? 72 : 32; /* 40 to 64 are the totals of these sizes */
  memset(to, 0xee, 256);
  put(to, 8, DOMAIN);
  put(to + 8, 8, FIRST + (uint64_t)schema);
  if (header == TOTAL) { /* the upper halves mean something else */
    put(to + 4, 4, 0x77);
    put(to + 12, 4, 0x88);
  }
  put(to + 16, 8, size);
  put(to + 24, 8, header == TOTAL ? 32 + size : from);
  for (int i = 0; i < 6 && shapes[shape].entries[i].name; i++) {
    const struct entry *e = &shapes[shape].entries[i];
    put(to + from + e->offset, e->type == UINT64 || e->type == SIZE ? 8 : 4, 1000 * (uint64_t)schema + (uint64_t)i + 1);
  }
  return (size_t)(from + size);
}

static enum nai_payload_field field_of(const char *name) {
  static const char *const names[NAI_PAYLOAD_FIELDS] = {
      "NCCL communicator ID",       "Message size [bytes]", "Root", "Peer rank",
      "Reduction operation",        "No. of ranks",         "Rank", "CUDA device",
      "Parent NCCL communicator ID"};
  for (int f = 0; f < NAI_PAYLOAD_FIELDS; f++)
    if (strcmp(names[f], name) == 0)
      return (enum nai_payload_field)f;
  fail_msg("%s", name);
  return NAI_PAYLOAD_FIELDS;
}

TEST(test_every_schema_with_every_header) {
  struct fixture f;
  begin(&f);
  open_schemas(&f);
  for (int s = 0; s < SCHEMAS; s++)
    for (int h = 0; h < HEADERS; h++) {
      unsigned char bytes[256];
      struct nai_payload p;
      size_t len = blob(bytes, s, (enum header)h);
      if (nai_payload_read(&p, f.read, DOMAIN, bytes, len) != NAI_PAYLOAD_READ)
        fail_msg("schema %d, header %d", s, h);
      uint32_t known = 0;
      for (int i = 0; i < 6 && shapes[of_schema[s]].entries[i].name; i++) {
        enum nai_payload_field field = field_of(shapes[of_schema[s]].entries[i].name);
        assert_int_equal(p.value[field], 1000 * s + i + 1);
        known |= 1u << field;
      }
      assert_int_equal(p.known, known);
    }
  end(&f);
}

TEST(test_refusals) {
  struct fixture f;
  unsigned char bytes[512];
  struct nai_payload p;
  begin(&f);
  open_schemas(&f);
  enum { ALL_REDUCE = 5 };
  size_t len = blob(bytes, ALL_REDUCE, OFFSET);
  for (size_t cut = 1; cut < len; cut++) /* cut off anywhere */
    assert_int_not_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, cut), NAI_PAYLOAD_READ);
  assert_int_equal(p.known, 0);
  put(bytes + 16, 8, UINT64_MAX - 16); /* larger than the blob: a sum with the header must not wrap */
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, len), NAI_PAYLOAD_BAD_SIZE);
  put(bytes + 16, 8, 8); /* less than the schema says */
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, len), NAI_PAYLOAD_BAD_SIZE);
  len = blob(bytes, ALL_REDUCE, OFFSET);
  put(bytes + 24, 8, 7); /* an offset inside of the header */
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, len), NAI_PAYLOAD_BAD_HEADER);
  put(bytes + 24, 8, UINT64_MAX - 3);
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, len), NAI_PAYLOAD_BAD_HEADER);
  len = blob(bytes, ALL_REDUCE, OFFSET);
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN + 1, bytes, len), NAI_PAYLOAD_NO_SCHEMA);
  put(bytes + 8, 8, FIRST + 99);
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, len), NAI_PAYLOAD_NO_SCHEMA);
  len = blob(bytes, ALL_REDUCE, OFFSET);
  put(bytes + 32 + 8, 8, (uint64_t)1 << 60); /* no message is that large */
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, len), NAI_PAYLOAD_BAD_VALUE);
  put(bytes + 32 + 8, 8, (uint64_t)-1);
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, len), NAI_PAYLOAD_BAD_VALUE);
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, 0), NAI_PAYLOAD_BAD_HEADER);
  assert_int_equal(nai_payload_read_hex(&p, f.read, DOMAIN, "abc", 3), NAI_PAYLOAD_BAD_HEADER);
  assert_int_equal(nai_payload_read_hex(&p, f.read, DOMAIN, "zz", 2), NAI_PAYLOAD_BAD_HEADER);
  end(&f);
}

TEST(test_several_payloads_of_a_range) {
  struct fixture f;
  unsigned char bytes[600];
  struct nai_payload p;
  begin(&f);
  describe(&f, FIRST + 60, BARE, 0);
  open_schemas(&f);
  size_t len = blob(bytes, 2, OFFSET); /* a communicator only */
  unsigned char *second = bytes + len;
  memset(second, 0, 64);
  put(second, 8, DOMAIN);
  put(second + 8, 8, FIRST + 60);
  put(second + 16, 8, 8);
  put(second + 24, 8, 40);
  put(second + 32, 8, 4096);
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, len + 40), NAI_PAYLOAD_READ);
  assert_int_equal(p.value[NAI_PAYLOAD_COMM], 2001);
  assert_int_equal(p.value[NAI_PAYLOAD_BYTES], 4096);
  /* What is behind the last one spoils the row: nothing says what it is. */
  assert_int_not_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, len + 45), NAI_PAYLOAD_READ);
  assert_int_equal(p.known, 0);
  end(&f);
}

TEST(test_processes_that_disagree) {
  struct fixture f;
  unsigned char bytes[256];
  struct nai_payload p;
  begin(&f);
  describe(&f, FIRST + 5, REDUCED, 7); /* another process, whose enumerations are numbered otherwise */
  open_schemas(&f);
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, blob(bytes, 5, OFFSET)), NAI_PAYLOAD_CONFLICT);
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, blob(bytes, 4, OFFSET)), NAI_PAYLOAD_READ);
  end(&f);
}

TEST(test_reductions_have_the_names_of_the_trace) {
  struct fixture f;
  unsigned char bytes[256];
  struct nai_payload p;
  begin(&f);
  open_schemas(&f);
  size_t len = blob(bytes, 5, OFFSET);
  put(bytes + 32 + 16, 4, 4);
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, len), NAI_PAYLOAD_READ);
  assert_string_equal(nai_payload_redop(&p, f.read, DOMAIN), "Avg");
  put(bytes + 32 + 16, 4, 9);
  assert_int_equal(nai_payload_read(&p, f.read, DOMAIN, bytes, len), NAI_PAYLOAD_READ);
  assert_null(nai_payload_redop(&p, f.read, DOMAIN));
  end(&f);
}

static enum nai_payload_verdict json(struct nai_payload *p, const char *text) {
  return nai_payload_read_json(p, text, strlen(text));
}

TEST(test_json) {
  struct nai_payload p;
  assert_int_equal(json(&p, "{\"NCCL communicator ID\": 18446744073709551615, \"Message size [bytes]\": 1048576, "
                            "\"Reduction operation\": \"Sum\", \"Root\": -1, \"x\": 1.5}"),
                   NAI_PAYLOAD_READ);
  assert_int_equal(p.known, 1u << NAI_PAYLOAD_COMM | 1u << NAI_PAYLOAD_BYTES | 1u << NAI_PAYLOAD_ROOT);
  assert_int_equal(p.value[NAI_PAYLOAD_COMM], -1); /* 64 bits without a sign */
  assert_int_equal(p.value[NAI_PAYLOAD_BYTES], 1 << 20);
  assert_int_equal(p.value[NAI_PAYLOAD_ROOT], -1);
  assert_int_equal(json(&p, "{\"Message size [bytes]\":\"42\"}"), NAI_PAYLOAD_READ);
  assert_int_equal(p.value[NAI_PAYLOAD_BYTES], 42);
  assert_int_equal(json(&p, "{}"), NAI_PAYLOAD_READ);
  assert_int_equal(json(&p, "{\"Message size [bytes]\": -1}"), NAI_PAYLOAD_BAD_VALUE);
  static const char *const bad[] = {"",
                                    "[]",
                                    "{",
                                    "{\"a\"",
                                    "{\"a\":",
                                    "{\"a\":1",
                                    "{\"a\" 1}",
                                    "{\"a\":{\"b\":1}}",
                                    "{\"Message size [bytes]\": 5,",
                                    "\"",
                                    "{\"\\"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(json(&p, bad[i]), NAI_PAYLOAD_BAD_HEADER);
    assert_int_equal(p.known, 0);
  }
}

static enum nai_payload_verdict fields(struct nai_payload *p, const struct fixture *f, int64_t schema,
                                       const char *text) {
  return nai_payload_read_fields(p, f->read, DOMAIN, schema, text, strlen(text));
}

/* Fields that the exporter read: the enumeration is that of the schema, unless processes disagree about it. */
TEST(test_fields) {
  struct fixture f;
  struct nai_payload p, more;
  begin(&f);
  open_schemas(&f);
  assert_int_equal(fields(&p, &f, FIRST + 5, "{\"Reduction operation\":4}"), NAI_PAYLOAD_READ);
  assert_string_equal(nai_payload_redop(&p, f.read, DOMAIN), "Avg");
  assert_int_equal(fields(&more, &f, FIRST + 99, "{\"Message size [bytes]\":7,\"Reduction operation\":1}"),
                   NAI_PAYLOAD_READ);
  nai_payload_add(&p, &more); /* what is known stays */
  assert_int_equal(p.value[NAI_PAYLOAD_BYTES], 7);
  assert_string_equal(nai_payload_redop(&p, f.read, DOMAIN), "Avg");
  assert_int_equal(fields(&p, &f, FIRST + 5, "{"), NAI_PAYLOAD_BAD_HEADER);
  assert_null(nai_payload_redop(&p, f.read, DOMAIN));
  end(&f);
}
