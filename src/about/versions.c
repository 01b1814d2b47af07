#include "about/versions.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <cmark.h>
#include <csv.h>
#include <curses.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <pcre2.h>
#include <sqlite3.h>
#include <xxhash.h>
#include <yaml.h>
#include <zlib.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
#if defined __x86_64__
#define MACHINE "x86_64"
#elif defined __aarch64__
#define MACHINE "aarch64"
#else
#define MACHINE "another machine"
#endif
#ifdef NAI_STATIC
#define LINKED "static"
#else
#define LINKED "dynamic"
#endif

/* "PCRE2 10.42 2022-12-11" and such are cut behind the number. */
static void put(struct nai_buf *out, const char *name, const char *version) {
  version += strcspn(version, "0123456789");
  nai_buf_printf(out, ", %s %.*s", name, (int)strcspn(version, " "), version);
}

static void put_regular_expressions(struct nai_buf *out) {
  char version[64] = "";
  if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) < (int)sizeof version)
    pcre2_config(PCRE2_CONFIG_VERSION, version);
  put(out, "PCRE2", version);
}

void nai_put_versions(struct nai_buf *out) {
  unsigned hash = XXH_versionNumber();
  nai_buf_puts(out, MACHINE " Linux, " LINKED ", " COMPILER);
  put(out, "glibc", gnu_get_libc_version());
  nai_buf_printf(out, "\nSQLite %s", sqlite3_libversion());
  put(out, "libyaml", yaml_get_version_string());
  put(out, "jansson", JANSSON_VERSION);
  nai_buf_printf(out, ", libcsv %d.%d.%d", CSV_MAJOR, CSV_MINOR, CSV_RELEASE);
  put(out, "cmark", cmark_version_string());
  put(out, "zlib", zlibVersion());
  put_regular_expressions(out);
  put(out, "ncurses", curses_version());
  nai_buf_printf(out, ", xxHash %u.%u.%u\n", hash / 10000, hash / 100 % 100, hash % 100);
}
