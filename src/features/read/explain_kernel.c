/* nsys-ai explain kernel NAME: why a kernel has its category. No run is needed. */
#include "features/read/read.h"

#include "config/kernel_classes.h"
#include "config/kernel_parts.h"
#include "pipeline/analyze.h"

static const char statement[] =
    "select column1 as fact, column2 as value from (values ('category', :category), ('matched part', :part), "
    "('pattern', :pattern), ('rule', :rule), ('source', :source), ('generator', :generator), ('namespace', :namespace), "
    "('own name', :name), ('template arguments', :template), ('function arguments', :arguments)) "
    "where column2 is not null";

/* NULL for a part that the name does not have. */
static const char *part_text(struct nai_arena *arena, struct nai_kernel_span part) {
  return part.len ? nai_arena_printf(arena, "%.*s", (int)part.len, part.text) : NULL;
}

/* Where the rule is: "rules/kernel-classes.rules:253". */
static const char *place(struct nai_arena *arena, const struct nai_kernel_reason *reason) {
  if (!reason->file)
    return "none matches";
  return reason->line ? nai_arena_printf(arena, "%s:%u", reason->file, reason->line) : reason->file;
}

int nai_cmd_explain_kernel(struct nai_buf *out, const char *kernel_name, const char *classes_path,
                           const struct nai_cmd_ask *ask, struct nai_err *err) {
  NAI_OWNED(nai_kernel_classes) *classes = NULL;
  NAI_OWNED(nai_run) *run = NULL;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_TRY(nai_empty_run(&run, err));
  NAI_TRY(nai_kernel_classes_load(&classes, classes_path, err));
  struct nai_kernel_reason reason = nai_kernel_classes_explain(classes, kernel_name);
  NAI_TRY(nai_kernel_classes_check(classes, err));
  struct nai_kernel_parts parts = nai_kernel_parts_of(kernel_name);
  struct nai_query_parameter parameters[5 + NAI_KERNEL_PART_COUNT] = {
      nai_query_string("category", nai_kernel_classes_name(classes, reason.category)),
      nai_query_string("part", reason.part),
      nai_query_string("pattern", reason.pattern),
      nai_query_string("rule", place(&arena, &reason)),
      nai_query_string("source", reason.source),
  };
  for (int p = 0; p < NAI_KERNEL_PART_COUNT; p++)
    parameters[5 + p] =
        nai_query_string(nai_kernel_part_name((enum nai_kernel_part)p), part_text(&arena, parts.part[p]));
  NAI_TRY(nai_arena_check(&arena, err));
  const struct nai_cmd_printing how = {
      .format = nai_cmd_page_format(ask->format), .human = true, .width = nai_cmd_terminal_width(), .title = ""};
  return nai_cmd_query_all(out, run, statement, "explain kernel", parameters, sizeof parameters / sizeof *parameters,
                           &how, err);
}
