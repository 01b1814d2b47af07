/* Known findings: what a list says of findings, its mistakes at their places, and the list that is written. */
#include "unit.h"

#include "rules/known.h"
#include "tables/gpu_utilization.h"
#include "tables/known_findings.h"

#include <string.h>

static const struct nai_schema *const schemas[] = {&nai_gpu_utilization_schema};

static struct nai_rule_set *rules(void) {
  static const char yaml[] =
      "rules:\n"
      "  - {id: idle, title: t, table: gpu_utilization, severity: low, why: w, recommendation: r}\n"
      "  - {id: copies, title: t, table: gpu_utilization, severity: low, why: w, recommendation: r}\n";
  struct nai_rule_set *set;
  struct nai_err err;
  assert_int_equal(nai_rules_parse(&set, "r.yaml", yaml, strlen(yaml), schemas, 1, &err), NAI_OK);
  return set;
}

struct found {
  const char *id, *place, *scope;
};

static struct nai_table *findings(const struct found *found, size_t count) {
  struct nai_table *table;
  struct nai_err err;
  assert_int_equal(nai_table_new(&table, &nai_findings_schema, &err), NAI_OK);
  for (size_t i = 0; i < count; i++)
    NAI_ADD(FINDINGS, table, .finding = (int64_t)i + 1, .id = found[i].id, .place = found[i].place,
            .scope = found[i].scope, .severity = "low");
  return table;
}

/* What a list says on 15 June 2026, as "state id", one a line. */
static void says(const char *yaml, const struct found *found, size_t count, const char *expected) {
  NAI_SCOPED(nai_known) known;
  NAI_SCOPED(nai_buf) text = {0};
  NAI_OWNED(nai_rule_set) *set = rules();
  NAI_OWNED(nai_table) *of = findings(found, count), *out = NULL;
  struct nai_err err;
  assert_int_equal(nai_known_parse(&known, "k.yaml", yaml, strlen(yaml), "2026-06-15", set, &err), NAI_OK);
  assert_int_equal(nai_table_new(&out, &nai_known_findings_schema, &err), NAI_OK);
  assert_int_equal(nai_known_apply(out, &known, of, &err), NAI_OK);
  for (int64_t i = 0; i < out->rows; i++)
    nai_buf_printf(&text, "%s %s\n", nai_get_str(out, i, KNOWN_FINDINGS_state), nai_get_str(out, i, KNOWN_FINDINGS_id));
  assert_string_equal(nai_buf_str(&text), expected);
}

static const struct found two[] = {{"idle", "in a > b<int *>", "GPU 0"}, {"copies", "", "GPUs 0, 1"}};

TEST(entries_fit_rule_and_place) {
  says("known: []", two, 2, "new idle\nnew copies\n");
  says("known: [{rule: idle}]", two, 2, "known idle\nnew copies\n");
  says("known: [{rule: idle, where: 'in a > b<int *>'}]", two, 2, "known idle\nnew copies\n");
  says("known: [{rule: idle, where: 'in*int*'}, {rule: copies, where: GPUs*}]", two, 2, "known idle\nknown copies\n");
  says("known: [{rule: idle, where: 'in*int'}]", two, 2, "new idle\nnew copies\nfixed idle\n");
  says("known: [{rule: copies, where: in*}]", two, 1, "new idle\nfixed copies\n");
}

TEST(a_reason_mutes_until_a_day) {
  says("known: [{rule: idle, reason: small}]", two, 1, "muted idle\n");
  says("known: [{rule: idle, reason: small, until: 2026-06-15}]", two, 1, "muted idle\n");
  says("known: [{rule: idle, reason: small, until: 2026-06-14}]", two, 1, "new idle\n");
  says("known: [{rule: idle, until: 2026-06-14}, {rule: idle, where: GPU 0}]", two, 1, "known idle\n");
}

static void fails(const char *yaml, const char *message) {
  NAI_SCOPED(nai_known) known;
  NAI_OWNED(nai_rule_set) *set = rules();
  struct nai_err err;
  assert_int_equal(nai_known_parse(&known, "k.yaml", yaml, strlen(yaml), "2026-06-15", set, &err), NAI_EUSAGE);
  assert_non_null(strstr(err.msg, message));
}

TEST(mistakes_have_their_place) {
  fails("known:\n  - rule: idl\n", "k.yaml:2:11: unknown rule \"idl\"; did you mean \"idle\"?");
  fails("known:\n  - where: x\n", "\"rule\"");
  fails("known:\n  - {rule: idle, were: x}\n", "did you mean \"where\"?");
  fails("knwon: []\n", "did you mean \"known\"?");
  fails("known: {}\n", "k.yaml:1:8:");
  fails("known:\n  - rule: idle\n    until: soon\n", "k.yaml:3:12: \"soon\" is no day");
  fails("known:\n  - rule: idle\n    until: 2026-13-01\n", "no day");
  fails("known:\n  - rule: idle\n    until: 2026-1-1\n", "no day");
}

/* What is written lists each finding, so that none is new then; what held before it stays with its reason. */
TEST(the_list_written_knows_all) {
  static const struct found found[] = {{"idle", "\"q\": # {x}", "GPU 0"},
                                       {"idle", "\"q\": # {x}", "GPU 1"},
                                       {"copies", "", "GPU 0"},
                                       {"idle", "old", "GPU 0"},
                                       {"idle", "late", "GPU 0"}};
  static const char before[] =
      "known:\n- {rule: idle, where: o*d, reason: 'a \"b\" c', until: 2026-07-01}\n"
      "- {rule: idle, where: late, reason: was, until: 2026-01-01}\n- {rule: copies, where: gone}";
  NAI_SCOPED(nai_known) known;
  NAI_SCOPED(nai_buf) text = {0}, empty = {0};
  NAI_OWNED(nai_rule_set) *set = rules();
  NAI_OWNED(nai_table) *of = findings(found, 5), *none = findings(found, 0);
  struct nai_err err;
  assert_int_equal(nai_known_parse(&known, "k.yaml", before, strlen(before), "2026-06-15", set, &err), NAI_OK);
  nai_known_write(&text, &known, of);
  says(nai_buf_str(&text), found, 5, "known idle\nknown idle\nknown copies\nmuted idle\nknown idle\n");
  assert_non_null(strstr(text.data, "until: 2026-07-01"));
  assert_null(strstr(text.data, "2026-01-01"));
  assert_null(strstr(text.data, "gone"));
  nai_known_write(&empty, &known, none);
  says(nai_buf_str(&empty), found, 1, "new idle\n");
}
