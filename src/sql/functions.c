/* Functions on one row. */
#include "sql/internal.h"

#include "table/kernel_name.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* clip_ns(start, end, a, b): how much of [start, end) lies in [a, b); NULL bounds are open. */
static void clip_ns(sqlite3_context *context, int argc, sqlite3_value **argv) {
  (void)argc;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL || sqlite3_value_type(argv[1]) == SQLITE_NULL)
    return;
  int64_t start = sqlite3_value_int64(argv[0]), end = sqlite3_value_int64(argv[1]);
  int64_t a = sqlite3_value_type(argv[2]) == SQLITE_NULL ? INT64_MIN : sqlite3_value_int64(argv[2]);
  int64_t b = sqlite3_value_type(argv[3]) == SQLITE_NULL ? INT64_MAX : sqlite3_value_int64(argv[3]);
  int64_t length;
  start = start > a ? start : a;
  end = end < b ? end : b;
  if (start >= end)
    length = 0;
  else if (__builtin_sub_overflow(end, start, &length))
    length = INT64_MAX;
  sqlite3_result_int64(context, length);
}

/* bucket(t, width): the multiple of width at or below t. */
static void bucket(sqlite3_context *context, int argc, sqlite3_value **argv) {
  int64_t t = sqlite3_value_int64(argv[0]), width = sqlite3_value_int64(argv[1]);
  (void)argc;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL || width <= 0)
    return;
  int64_t rest = t % width, floor_of;
  if (!__builtin_sub_overflow(t, rest < 0 ? rest + width : rest, &floor_of))
    sqlite3_result_int64(context, floor_of);
}

static void put_buf(sqlite3_context *context, const struct nai_buf *text) {
  if (text->oom)
    sqlite3_result_error_nomem(context);
  else
    sqlite3_result_text64(context, nai_buf_str(text), text->len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* contains(text, part): letters in either case. */
static void contains(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const char *text = (const char *)sqlite3_value_text(argv[0]), *part = (const char *)sqlite3_value_text(argv[1]);
  (void)argc;
  if (text && part)
    sqlite3_result_int(context, strcasestr(text, part) != NULL);
}

/* short_name(kernel name). */
static void short_name(sqlite3_context *context, int argc, sqlite3_value **argv) {
  struct nai_sql *sql = sqlite3_user_data(context);
  const char *name = (const char *)sqlite3_value_text(argv[0]);
  const char *kept = name ? nai_sql_kept(&sql->short_names, name) : NULL;
  NAI_SCOPED(nai_buf) text = {0};
  (void)argc;
  if (kept) {
    sqlite3_result_text(context, kept, -1, SQLITE_TRANSIENT);
  } else if (name) {
    nai_kernel_name_short(&text, name, NAI_SHORT_NAME);
    put_buf(context, &text);
    if (!text.oom)
      nai_sql_keep(&sql->short_names, name, nai_buf_str(&text));
  }
}

/* human(value, unit): as reports print it. Durations are ns whatever unit they are to be shown in. */
static void human(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const char *name = (const char *)sqlite3_value_text(argv[1]);
  enum nai_unit unit = NAI_TEXT;
  struct nai_value value = {.null = sqlite3_value_type(argv[0]) == SQLITE_NULL};
  NAI_SCOPED(nai_buf) text = {0};
  (void)argc;
  while (unit < NAI_UNIT_COUNT && (!name || strcmp(nai_unit_name(unit), name) != 0))
    unit++;
  if (unit == NAI_UNIT_COUNT) {
    sqlite3_result_error(
        context, "human(value, unit): unit is ns, timestamp_ns, bytes, percent, count, id, per_second or gb_per_s", -1);
    return;
  }
  if (sqlite3_value_type(argv[0]) == SQLITE_TEXT) {
    value.type = NAI_STR;
    value.s = (const char *)sqlite3_value_text(argv[0]);
    value.null = !value.s;
  } else if (sqlite3_value_type(argv[0]) == SQLITE_FLOAT) {
    value.type = NAI_F64;
    value.f = sqlite3_value_double(argv[0]);
    if (!isfinite(value.f) || fabs(value.f) > 9e18)
      value.null = true;
  } else {
    value.type = NAI_I64;
    value.i = sqlite3_value_int64(argv[0]);
  }
  nai_value_print_human(&text, unit, &value);
  put_buf(context, &text);
}

static void free_pattern(void *code) { pcre2_code_free(code); }

static void refuse_pattern(sqlite3_context *context, int failed, size_t at) {
  PCRE2_UCHAR why[128] = "";
  char text[256];
  pcre2_get_error_message(failed, why, sizeof why);
  snprintf(text, sizeof text, "the regular expression cannot be compiled: %s at character %zu", (const char *)why, at);
  sqlite3_result_error(context, text, -1);
}

/* text REGEXP pattern: called as regexp(pattern, text). */
static void regexp(sqlite3_context *context, int argc, sqlite3_value **argv) {
  enum { MATCH_LIMIT = 100000 };
  const char *pattern = (const char *)sqlite3_value_text(argv[0]), *text = (const char *)sqlite3_value_text(argv[1]);
  pcre2_code *code = sqlite3_get_auxdata(context, 0), *compiled = NULL;
  int failed;
  size_t at;
  (void)argc;
  if (!pattern || !text)
    return;
  if (!code)
    code = compiled = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C,
                                    &failed, &at, NULL);
  if (!code) {
    refuse_pattern(context, failed, at);
    return;
  }
  pcre2_match_context *limits = pcre2_match_context_create(NULL);
  pcre2_match_data *match = pcre2_match_data_create(1, NULL);
  if (limits && match) {
    pcre2_set_match_limit(limits, MATCH_LIMIT);
    int rc = pcre2_match(code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0, match, limits);
    if (rc < PCRE2_ERROR_PARTIAL) /* gave up */
      sqlite3_result_error(context, "the regular expression takes too long on some text", -1);
    else
      sqlite3_result_int(context, rc >= 0);
  } else {
    sqlite3_result_error_nomem(context);
  }
  pcre2_match_data_free(match);
  pcre2_match_context_free(limits);
  if (compiled)
    sqlite3_set_auxdata(context, 0, compiled, free_pattern);
}

int nai_functions_add(struct nai_sql *sql) {
  static const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  static const struct {
    const char *name;
    int arguments;
    void (*call)(sqlite3_context *, int, sqlite3_value **);
  } list[] = {{"clip_ns", 4, clip_ns},       {"contains", 2, contains}, {"bucket", 2, bucket},
              {"short_name", 1, short_name}, {"human", 2, human},       {"regexp", 2, regexp}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    NAI_TRY(sqlite3_create_function_v2(sql->sqlite, list[i].name, list[i].arguments, flags, sql, list[i].call, NULL,
                                       NULL, NULL));
  return SQLITE_OK;
}
