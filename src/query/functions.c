/* Functions on one row that ask the run or the model's words. */
#include "query/internal.h"

#include "model/idle/idle.h"
#include "tables/declare.h"

/* cause_meaning(cause of idle time): NULL for other texts. */
static void cause_meaning(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const char *name = (const char *)sqlite3_value_text(argv[0]);
  const char *meaning = name ? nai_idle_cause_meaning(name) : NULL;
  (void)argc;
  if (meaning)
    sqlite3_result_text(context, meaning, -1, SQLITE_STATIC);
}

/* label(value of an enumeration): as reports show it; other texts as they are. */
static void label(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const char *value = (const char *)sqlite3_value_text(argv[0]);
  (void)argc;
  for (size_t i = 0; value && nai_all_labels[i]; i++)
    for (const struct nai_value_label *l = nai_all_labels[i]; l->value; l++)
      if (strcmp(l->value, value) == 0) {
        sqlite3_result_text(context, l->label, -1, SQLITE_STATIC);
        return;
      }
  sqlite3_result_value(context, argv[0]);
}

int nai_database_classes(struct nai_database *db, struct nai_err *err) {
  if (db->classes)
    return NAI_OK;
  NAI_TRY(nai_kernel_classes_load(&db->classes, NULL, err));
  return nai_run_tell_classes(db->classes, db->run, err);
}

/* category(kernel name), as the run was made. */
static void category(sqlite3_context *context, int argc, sqlite3_value **argv) {
  struct nai_database *db = sqlite3_user_data(context);
  const char *name = (const char *)sqlite3_value_text(argv[0]);
  struct nai_err err = {0};
  (void)argc;
  if (!name)
    return;
  const char *kept = nai_sql_kept(&db->categories, name);
  if (kept) {
    sqlite3_result_text(context, kept, -1, SQLITE_TRANSIENT);
  } else if (nai_database_classes(db, &err)) {
    sqlite3_result_error(context, err.msg, -1);
  } else {
    const char *made = nai_kernel_classes_name(db->classes, nai_kernel_classes_match(db->classes, name));
    sqlite3_result_text(context, made, -1, SQLITE_TRANSIENT);
    nai_sql_keep(&db->categories, name, made);
  }
}

int nai_database_functions(struct nai_database *db) {
  static const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  NAI_TRY(sqlite3_create_function_v2(db->sql.sqlite, "label", 1, flags, NULL, label, NULL, NULL, NULL));
  NAI_TRY(sqlite3_create_function_v2(db->sql.sqlite, "category", 1, flags, db, category, NULL, NULL, NULL));
  return sqlite3_create_function_v2(db->sql.sqlite, "cause_meaning", 1, flags, NULL, cause_meaning, NULL, NULL, NULL);
}
