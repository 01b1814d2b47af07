/* What functions made of texts. */
#include "sql/internal.h"

#include "base/array.h"

enum { MAX_KEPT = 100000 }; /* of kernels' names: some ten MB */

const char *nai_sql_kept(const struct nai_sql_kept *kept, const char *text) {
  uint32_t id = nai_strings_find(&kept->texts, text, strlen(text));
  return id == NAI_NO_STRING ? NULL : nai_strings_get(&kept->made, kept->made_of[id]);
}

void nai_sql_keep(struct nai_sql_kept *kept, const char *text, const char *made) {
  uint32_t id = kept->texts.count;
  if (id >= MAX_KEPT || !nai_array_room(&kept->made_of, &kept->capacity, id, sizeof *kept->made_of))
    return;
  if ((kept->made_of[id] = nai_strings_add(&kept->made, made, strlen(made))) == NAI_NO_STRING)
    return;
  nai_strings_add(&kept->texts, text, strlen(text));
}

void nai_sql_kept_free(struct nai_sql_kept *kept) {
  nai_strings_free(&kept->texts);
  nai_strings_free(&kept->made);
  free(kept->made_of);
}
