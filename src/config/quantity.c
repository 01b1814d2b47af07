#include "config/quantity.h"

static const struct {
  const char *suffix;
  enum nai_quantity_kind kind;
  enum nai_unit unit;
  double scale; /* to the base unit */
} suffixes[] = {
    {"", NAI_QUANTITY_NUMBER, NAI_COUNT, 1},        {"%", NAI_QUANTITY_PERCENT, NAI_PCT, 1},
    {"pt", NAI_QUANTITY_UNIT, NAI_PCT, 1},          {"%_of_step", NAI_QUANTITY_OF_STEP, NAI_PCT, 1},
    {"ns", NAI_QUANTITY_UNIT, NAI_NS, 1},           {"us", NAI_QUANTITY_UNIT, NAI_NS, 1e3},
    {"ms", NAI_QUANTITY_UNIT, NAI_NS, 1e6},         {"s", NAI_QUANTITY_UNIT, NAI_NS, 1e9},
    {"B", NAI_QUANTITY_UNIT, NAI_BYTES, 1},         {"KiB", NAI_QUANTITY_UNIT, NAI_BYTES, 1024},
    {"MiB", NAI_QUANTITY_UNIT, NAI_BYTES, 1048576}, {"GiB", NAI_QUANTITY_UNIT, NAI_BYTES, 1073741824},
    {"KB", NAI_QUANTITY_UNIT, NAI_BYTES, 1e3},      {"MB", NAI_QUANTITY_UNIT, NAI_BYTES, 1e6},
    {"GB", NAI_QUANTITY_UNIT, NAI_BYTES, 1e9},      {"GB/s", NAI_QUANTITY_UNIT, NAI_GB_PER_S, 1},
};

int nai_quantity_read(struct nai_quantity *out, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                      struct nai_err *err) {
  const char *text;
  char *end;
  NAI_TRY(nai_yaml_text(&text, doc, node, err));
  size_t digits = strspn(text, "0123456789.");
  if (text[0] == '-')
    return nai_yaml_error(doc, node, err, "\"%s\" must not be negative", text);
  /* Only plain decimals: strtod would also take "nan", "0x10" and "1e9". */
  double number = strtod(text, &end);
  if (!digits || end != text + digits || !isfinite(number) || number > 1e18)
    return nai_yaml_error(doc, node, err, "expected an amount such as 3%%, 0.05ms, 64KiB or 5, got \"%s\"", text);
  end += strspn(end, " ");
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
    if (strcmp(end, suffixes[i].suffix) == 0) {
      *out = (struct nai_quantity){suffixes[i].kind, suffixes[i].unit, number * suffixes[i].scale};
      return NAI_OK;
    }
  return nai_yaml_error_in(
      doc, node, (size_t)(end - text), err,
      "unknown unit \"%s\"; use %%, pt, %%_of_step, ns, us, ms, s, B, KiB, MiB, GiB, KB, MB, GB or "
      "GB/s",
      end);
}
