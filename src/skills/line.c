/* Lines of text with {{placeholders}}. */
#include "skills/skill.h"

#include "base/fmt.h"

/* ISO 8601 of ns since 1970. */
static void put_utc(struct nai_buf *out, const struct nai_value *value) {
  struct tm tm;
  time_t seconds = (time_t)(value->i / 1000000000);
  char text[32];
  if (value->null || value->type != NAI_I64 || !gmtime_r(&seconds, &tm)) {
    nai_buf_puts(out, "n/a");
    return;
  }
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
  nai_buf_puts(out, text);
}

/* A text of several lines, such as the advice of a finding, keeps them: each is escaped by itself. */
static void put_lines(struct nai_buf *out, const char *text, void (*escape)(struct nai_buf *, const char *, size_t)) {
  size_t len = strcspn(text, "\n");
  escape(out, text, len);
  for (; text[len]; len = strcspn(text, "\n")) {
    text += len + 1;
    nai_buf_putc(out, '\n');
    escape(out, text, strcspn(text, "\n"));
  }
}

static void put_plain(struct nai_buf *out, const char *text, size_t len) { nai_buf_put(out, text, len); }

static void put_cell(struct nai_buf *out, const struct nai_skill_cell *cell, bool alone,
                     void (*escape)(struct nai_buf *, const char *, size_t)) {
  if (cell->value.null)
    nai_buf_puts(out, "n/a");
  else if (cell->value.type == NAI_STR && alone)
    put_lines(out, cell->value.s, escape);
  else if (cell->value.type == NAI_STR)
    escape(out, cell->value.s, strlen(cell->value.s));
  else
    nai_value_print_human(out, cell->unit == NAI_UNIT_COUNT ? NAI_COUNT : cell->unit, &cell->value);
}

/* "34 calls", "1 copy". */
static void put_counted(struct nai_buf *out, const struct nai_skill_cell *cell, const char *noun, size_t len,
                        void (*escape)(struct nai_buf *, const char *, size_t)) {
  put_cell(out, cell, false, escape);
  nai_buf_putc(out, ' ');
  nai_fmt_noun(out, cell->value.type == NAI_I64 && !cell->value.null && cell->value.i == 1, noun, len);
}

void nai_skill_line(struct nai_buf *out, const char *line, const struct nai_skill_cell *cells, size_t count,
                    int64_t rows, void (*escape)(struct nai_buf *, const char *, size_t)) {
  const char *begin = line;
  while (*line) {
    size_t plain = strcspn(line, "{");
    nai_buf_put(out, line, plain);
    line += plain;
    const char *close = strncmp(line, "{{", 2) == 0 ? strstr(line, "}}") : NULL;
    if (!close) {
      nai_buf_put(out, line, *line ? 1 : 0);
      line += *line ? 1 : 0;
      continue;
    }
    const char *name = line + 2, *bar = memchr(name, '|', (size_t)(close - name));
    size_t len = (size_t)((bar ? bar : close) - name), i = 0;
    while (i < count && (strlen(cells[i].name) != len || strncmp(cells[i].name, name, len) != 0))
      i++;
    if (len == strlen("count") && strncmp(name, "count", len) == 0)
      nai_buf_printf(out, "%" PRId64, rows);
    else if (i == count)
      nai_buf_puts(out, "n/a");
    else if (bar && strncmp(bar, "|utc", strlen("|utc")) == 0)
      put_utc(out, &cells[i].value);
    else if (bar && strncmp(bar, "|markdown", strlen("|markdown")) == 0)
      put_cell(out, &cells[i], true, cells[i].into_markdown ? put_plain : escape);
    else if (bar)
      put_counted(out, &cells[i], bar + 1, (size_t)(close - bar - 1), escape);
    else
      put_cell(out, &cells[i], (line == begin || line[-1] == '\n') && (close[2] == '\n' || !close[2]), escape);
    line = close + 2;
  }
}

void nai_skill_put_line(struct nai_buf *out, const struct nai_skill *skill, const struct nai_table *table,
                        void (*escape)(struct nai_buf *, const char *, size_t)) {
  struct nai_skill_cell cells[NAI_SKILL_MAX_COLUMNS];
  size_t n = 0;
  for (; n < skill->column_count && table->rows; n++)
    cells[n] =
        (struct nai_skill_cell){skill->columns[n].name, skill->columns[n].unit, nai_table_value(table, 0, (int)n)};
  if (skill->line)
    nai_skill_line(out, skill->line, cells, n, table->rows, escape);
}
