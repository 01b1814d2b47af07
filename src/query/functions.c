/* Functions on one row that ask the run or the model's words. */
#include "query/internal.h"

#include "base/array.h"
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

/* The category of a name, looked up once per name: rows have few. */
static int category_of(struct nai_database *db, const char *name) {
  enum { MAX_KEPT = 100000 };
  uint32_t known = db->classed.count;
  if (known >= MAX_KEPT)
    return nai_kernel_classes_match(db->classes, name);
  uint32_t id = nai_strings_add(&db->classed, name, strlen(name));
  if (id < known)
    return db->classes_of[id];
  int category = nai_kernel_classes_match(db->classes, name);
  if (id == NAI_NO_STRING || !nai_array_room(&db->classes_of, &db->classes_of_capacity, id, sizeof *db->classes_of)) {
    nai_strings_free(&db->classed); /* begins again */
    return category;
  }
  db->classes_of[id] = category;
  return category;
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
  if (!db->classes && nai_database_classes(db, &err))
    sqlite3_result_error(context, err.msg, -1);
  else
    sqlite3_result_text(context, nai_kernel_classes_name(db->classes, category_of(db, name)), -1, SQLITE_TRANSIENT);
}

int nai_database_functions(struct nai_database *db) {
  static const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  NAI_TRY(sqlite3_create_function_v2(db->sql.sqlite, "label", 1, flags, NULL, label, NULL, NULL, NULL));
  NAI_TRY(sqlite3_create_function_v2(db->sql.sqlite, "category", 1, flags, db, category, NULL, NULL, NULL));
  return sqlite3_create_function_v2(db->sql.sqlite, "cause_meaning", 1, flags, NULL, cause_meaning, NULL, NULL, NULL);
}
