/* What nsys-ai store prints of a store: its runs and its baselines. */
#include "features/nights/store_command.h"

#include "base/strings.h"
#include "base/escape.h"

#include <string.h>

int nai_cmd_store_list(const struct nai_store *store, const struct store_args *a, struct nai_err *err) {
  struct nai_strings names = {0};
  struct nai_buf text = {0};
  for (uint32_t i = 0; i < store->count; i++) {
    const struct nai_store_run *run = &store->runs[i];
    if (!nai_store_matches(run->series, a->series))
      continue;
    nai_buf_printf(&text, "%-20s %-36s %-8s %-6s ", run->series, run->id, run->status, run->verdict);
    nai_escape_terminal(&text, *run->error ? run->error : run->note, strlen(*run->error ? run->error : run->note));
    nai_buf_putc(&text, '\n');
  }
  int rc = nai_store_baselines(&names, store, err);
  for (uint32_t i = 0; i < names.count && !rc; i++)
    nai_buf_printf(&text, "baseline %s\n", nai_strings_get(&names, i));
  if (!rc)
    rc = nai_cmd_print(&text, err);
  nai_strings_free(&names);
  nai_buf_free(&text);
  return rc;
}

static int show_baseline(const struct nai_store *store, const char *name, struct nai_err *err) {
  struct nai_store_baseline baseline;
  struct nai_buf text = {0};
  int rc = nai_store_baseline(&baseline, store, name, err);
  for (uint32_t i = 0; i < baseline.ids.count && !rc; i++)
    nai_buf_printf(&text, "%s\n", nai_strings_get(&baseline.ids, i));
  if (!rc && *baseline.reason) {
    nai_escape_terminal(&text, baseline.reason, strlen(baseline.reason));
    nai_buf_putc(&text, '\n');
  }
  if (!rc)
    rc = nai_cmd_print(&text, err);
  nai_store_baseline_free(&baseline);
  nai_buf_free(&text);
  return rc;
}

static int list_baselines(const struct nai_store *store, struct nai_err *err) {
  struct nai_strings names = {0};
  struct nai_buf text = {0};
  int rc = nai_store_baselines(&names, store, err);
  for (uint32_t i = 0; i < names.count; i++)
    nai_buf_printf(&text, "%s\n", nai_strings_get(&names, i));
  if (!rc)
    rc = nai_cmd_print(&text, err);
  nai_strings_free(&names);
  nai_buf_free(&text);
  return rc;
}

int nai_cmd_store_baseline(const struct nai_store *store, const struct store_args *a, const char *const *words,
                           size_t count, struct nai_err *err) {
  if (strcmp(words[0], "list") == 0)
    return list_baselines(store, err);
  if (strcmp(words[0], "show") == 0)
    return show_baseline(store, words[1], err);
  return nai_store_set_baseline(store, words[1], words + 2, count - 2, a->reason ? a->reason : "", err);
}
