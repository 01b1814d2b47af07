/* Statements of expressions: preparing them, and what SQLite fails with at its place. */
#include "rules/internal.h"

/* Where the word is that a message of SQLite's names: `near "WORD": ...` or `no such thing: WORD`. */
static size_t offset_of(const char *message, const char *text) {
  char word[64];
  const char *near = strstr(message, "near \""), *colon = strstr(message, ": ");
  const char *from = near ? near + strlen("near \"") : colon ? colon + strlen(": ") : "";
  snprintf(word, sizeof word, "%.*s", (int)strcspn(from, near ? "\"" : "("), from);
  size_t len = strlen(word);
  for (const char *at = text; len && (at = strstr(at, word)) != NULL; at++)
    if (!nai_is_of_word(at[len]) || !nai_is_of_word(*word))
      return (size_t)(at - text);
  return 0;
}

int nai_expression_error(const struct nai_rule_set *set, const struct expression *e, struct nai_err *err) {
  const char *message = sqlite3_errmsg(set->sql->sqlite);
  switch (sqlite3_errcode(set->sql->sqlite)) {
  case SQLITE_NOMEM:
    return nai_err_nomem(err);
  case SQLITE_INTERRUPT:
    message = "took too many steps: a rule compares few rows with few";
  }
  return nai_yaml_error_in(e->doc, e->node, e->node->text ? offset_of(message, e->node->text) : 0, err, "%s", message);
}

static void tell_former(void *expression, const struct nai_former *former) {
  const struct expression *e = expression;
  nai_former_tell(e->doc->file, e->node->line, e->node->column, former);
}

void nai_expression_listen(struct expression *e, const struct nai_rule_set *set) {
  set->sql->tell = tell_former;
  set->sql->tell_ctx = e;
}

int nai_expression_prepare(struct expression *e, const struct nai_rule_set *set, struct nai_err *err) {
  nai_expression_listen(e, set);
  bool ready = e->statement || sqlite3_prepare_v3(set->sql->sqlite, e->sql, -1, SQLITE_PREPARE_PERSISTENT,
                                                  &e->statement, NULL) == SQLITE_OK;
  return ready ? NAI_OK : nai_expression_error(set, e, err);
}

int nai_expression_check(struct expression *e, const struct nai_rule_set *set, struct nai_err *err) {
  NAI_TRY(nai_expression_prepare(e, set, err));
  sqlite3_finalize(e->statement); /* its plan is that of an empty table */
  e->statement = NULL;
  return NAI_OK;
}
