/* Reasons for doubt as a table: compared_checks. */
#include "compare/internal.h"

#include "table/columns.h"

enum { CHECK, LEVEL, SCOPE, BASE, FRESH, REASON };
static const struct nai_column_def columns[] = {
    [CHECK] = NAI_NAME_COLUMN("check", "what was checked"),
    [LEVEL] = NAI_LABEL_COLUMN("level", "hard: what it affects cannot be decided; soft: a caveat"),
    [SCOPE] = NAI_LABEL_COLUMN("affects", "everything, numbers per step, or metrics that need a capability"),
    [BASE] = NAI_LABEL_COLUMN("base", "of the base"),
    [FRESH] = NAI_LABEL_COLUMN("new", "of the new side"),
    [REASON] = NAI_LABEL_COLUMN("reason", "why it matters"),
};
static const struct nai_schema schema = NAI_SCHEMA("compared_checks", "Comparability", "One reason for doubt", columns);

int nai_checks_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  static const char *const scopes[] = {"everything", "numbers per step", NULL, ""};
  int rc = nai_table_new(out, &schema, err);
  for (uint32_t i = 0; !rc && i < c->check_count; i++) {
    const struct nai_check *check = &c->checks[i];
    int64_t row = nai_table_add_row(*out);
    nai_set_str(*out, row, CHECK, nai_check_name(check->code));
    nai_set_str(*out, row, LEVEL, check->level == NAI_CHECK_HARD ? "hard" : "soft");
    nai_set_str(*out, row, SCOPE, check->scope == NAI_SCOPE_CAPABILITY ? check->capability : scopes[check->scope]);
    nai_set_str(*out, row, BASE, check->base);
    nai_set_str(*out, row, FRESH, check->fresh);
    nai_set_str(*out, row, REASON, check->reason);
  }
  return rc;
}
