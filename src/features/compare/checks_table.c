/* Reasons for doubt as a table: compared_checks. */
#include "features/compare/internal.h"

#include "tables/compared_checks.h"

int nai_checks_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  static const char *const scopes[] = {"everything", "numbers per step", NULL, ""};
  int rc = nai_table_new(out, &nai_compared_checks_schema, err);
  for (uint32_t i = 0; !rc && i < c->check_count; i++) {
    const struct nai_check *check = &c->checks[i];
    int64_t row = nai_table_add_row(*out);
    nai_set_str(*out, row, COMPARED_CHECKS_check, nai_check_name(check->code));
    nai_set_str(*out, row, COMPARED_CHECKS_level, check->level == NAI_CHECK_HARD ? "hard" : "soft");
    nai_set_str(*out, row, COMPARED_CHECKS_affects,
                check->scope == NAI_SCOPE_CAPABILITY ? check->capability : scopes[check->scope]);
    nai_set_str(*out, row, COMPARED_CHECKS_base, check->base);
    nai_set_str(*out, row, COMPARED_CHECKS_new, check->fresh);
    nai_set_str(*out, row, COMPARED_CHECKS_reason, check->reason);
  }
  return rc;
}
