/* Checking arguments: the words of JSON Schema that catalogue.json uses, so that what is promised to clients is what is
 * checked. */
#include "features/mcp/internal.h"

static const char *type_name(const json_t *value) {
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    return "object";
  case JSON_ARRAY:
    return "array";
  case JSON_STRING:
    return "string";
  case JSON_INTEGER:
    return "integer";
  case JSON_REAL:
    return "number";
  case JSON_NULL:
    return "null";
  default:
    return "boolean";
  }
}

static bool is_type(const json_t *type, const json_t *value) {
  const char *wanted = json_string_value(type), *is = type_name(value);
  return strcmp(wanted, is) == 0 || (strcmp(wanted, "number") == 0 && strcmp(is, "integer") == 0);
}

static int check_type(struct nai_rpc_error *error, const json_t *schema, const json_t *value, const char *where) {
  json_t *type = json_object_get(schema, "type"), *one;
  size_t i;
  bool fits = !type || (json_is_string(type) && is_type(type, value));
  json_array_foreach(type, i, one) fits = fits || is_type(one, value);
  if (fits)
    return 0;
  const char *wanted = json_is_string(type) ? json_string_value(type) : "string, a number or null";
  return nai_rpc_fail(error, NAI_RPC_PARAMS, "%s: expected %s %s, got %s", where, strchr("aeio", *wanted) ? "an" : "a",
                      wanted, type_name(value));
}

/* Lengths and sizes: minLength and the like. */
static int check_size(struct nai_rpc_error *error, const json_t *schema, const char *least, const char *most,
                      size_t size, const char *unit, const char *where) {
  const json_t *min = json_object_get(schema, least), *max = json_object_get(schema, most);
  if (min && (json_int_t)size < json_integer_value(min))
    return nai_rpc_fail(error, NAI_RPC_PARAMS, "%s: expected at least %d %s", where, (int)json_integer_value(min),
                        unit);
  if (max && (json_int_t)size > json_integer_value(max))
    return nai_rpc_fail(error, NAI_RPC_PARAMS, "%s: expected at most %d %s, got %zu", where,
                        (int)json_integer_value(max), unit, size);
  return 0;
}

static int check_number(struct nai_rpc_error *error, const json_t *schema, const json_t *value, const char *where) {
  const json_t *min = json_object_get(schema, "minimum"), *max = json_object_get(schema, "maximum");
  double number = json_number_value(value);
  if ((min && number < json_number_value(min)) || (max && number > json_number_value(max)))
    return nai_rpc_fail(error, NAI_RPC_PARAMS, "%s: expected a number from %.17g to %.17g", where,
                        json_number_value(min), json_number_value(max));
  return 0;
}

static int check_choice(struct nai_rpc_error *error, const json_t *schema, const json_t *value, const char *where) {
  json_t *choices = json_object_get(schema, "enum"), *choice;
  NAI_SCOPED(nai_buf) list = {0};
  size_t i;
  json_array_foreach(choices, i, choice) {
    if (json_equal(choice, value))
      return 0;
    nai_buf_printf(&list, "%s%s", i ? ", " : "", json_string_value(choice));
  }
  return choices ? nai_rpc_fail(error, NAI_RPC_PARAMS, "%s: expected one of %s", where, nai_buf_str(&list)) : 0;
}

static int check_object(struct nai_rpc_error *error, const json_t *schema, const json_t *value, const char *where) {
  const json_t *known = json_object_get(schema, "properties"), *other = json_object_get(schema, "additionalProperties");
  json_t *required = json_object_get(schema, "required"), *name, *member;
  const char *key;
  size_t i;
  char inner[256];
  json_array_foreach(required, i, name) if (!json_object_get(value, json_string_value(name))) return nai_rpc_fail(
      error, NAI_RPC_PARAMS, "%s: \"%s\" is missing", where, json_string_value(name));
  json_object_foreach((json_t *)value, key, member) {
    const json_t *of = json_object_get(known, key);
    if (!of && !json_is_object(other))
      return nai_rpc_fail(error, NAI_RPC_PARAMS, "%s: there is no \"%.64s\"", where, key);
    snprintf(inner, sizeof inner, "%.150s.%.64s", where, key);
    NAI_TRY(nai_agent_check(error, of ? of : other, member, inner));
  }
  return check_size(error, schema, "minProperties", "maxProperties", json_object_size(value), "members", where);
}

static int check_array(struct nai_rpc_error *error, const json_t *schema, const json_t *value, const char *where) {
  json_t *item;
  size_t i;
  char inner[256];
  NAI_TRY(check_size(error, schema, "minItems", "maxItems", json_array_size(value), "items", where));
  json_array_foreach((json_t *)value, i, item) {
    snprintf(inner, sizeof inner, "%.200s[%zu]", where, i);
    NAI_TRY(nai_agent_check(error, json_object_get(schema, "items"), item, inner));
  }
  return 0;
}

int nai_agent_check(struct nai_rpc_error *error, const json_t *schema, const json_t *value, const char *where) {
  NAI_TRY(check_type(error, schema, value, where));
  NAI_TRY(check_choice(error, schema, value, where));
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    return check_object(error, schema, value, where);
  case JSON_ARRAY:
    return check_array(error, schema, value, where);
  case JSON_STRING:
    return check_size(error, schema, "minLength", "maxLength", json_string_length(value), "bytes", where);
  case JSON_INTEGER:
  case JSON_REAL:
    return check_number(error, schema, value, where);
  default:
    return 0;
  }
}
