/* What a skill is asked with: texts of a command line as values of declared types. */
#include "skills/internal.h"

#include "base/text.h"

const char *const nai_skill_always[NAI_SKILL_ALWAYS] = {"start_ns", "end_ns", "gpu"};

static int refuse(const struct nai_skill_parameter *p, const char *text, struct nai_err *err) {
  static const char *const wanted[] = {"a whole number", "a number", "a text", "the number of a GPU",
                                       "seconds since session start"};
  return nai_err_set(err, NAI_EUSAGE, "\"%s\": expected %s, got \"%.80s\"", p->name, wanted[p->type], text);
}

int nai_skill_value(struct nai_value *out, const struct nai_skill_parameter *p, const char *text, struct nai_err *err) {
  char *end = NULL;
  errno = 0;
  if (p->type == NAI_SKILL_TEXT) {
    *out = (struct nai_value){.type = NAI_STR, .s = text};
    return NAI_OK;
  }
  double number = strtod(text, &end);
  if (!*text || *end || !isfinite(number) || strspn(text, "+-.0123456789eE") != strlen(text))
    return refuse(p, text, err);
  if ((p->has_min && number < p->min) || (p->has_max && number > p->max))
    return nai_err_set(err, NAI_EUSAGE, "\"%s\": %s is out of range", p->name, text);
  if (p->type == NAI_SKILL_NUMBER) {
    *out = (struct nai_value){.type = NAI_F64, .f = number};
    return NAI_OK;
  }
  errno = 0;
  long long whole = p->type == NAI_SKILL_TIME ? llround(number * 1e9) : strtoll(text, &end, 10);
  if (*end || errno || fabs(number) > 9e9 * (p->type == NAI_SKILL_TIME ? 1 : 1e9))
    return refuse(p, text, err);
  *out = (struct nai_value){.type = NAI_I64, .i = whole};
  return NAI_OK;
}

static struct nai_value integer(bool known, int64_t value) {
  return (struct nai_value){.type = NAI_I64, .i = value, .null = !known};
}

static const struct nai_skill_parameter *find(const struct nai_skill *skill, const char *name, size_t len) {
  for (size_t i = 0; i < skill->parameter_count; i++)
    if (strlen(skill->parameters[i].name) == len && strncmp(skill->parameters[i].name, name, len) == 0)
      return &skill->parameters[i];
  return NULL;
}

static int unknown(const struct nai_skill *skill, const char *given, struct nai_err *err) {
  const char *names[NAI_SKILL_MAX_PARAMETERS];
  char word[64];
  for (size_t i = 0; i < skill->parameter_count; i++)
    names[i] = skill->parameters[i].name;
  snprintf(word, sizeof word, "%.*s", (int)strcspn(given, "="), given);
  const char *near = nai_text_suggest(word, names, skill->parameter_count);
  return nai_err_set(err, NAI_EUSAGE, "skill %s has no parameter \"%s\"%s%s%s", skill->id, word,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

int nai_skill_bind(struct nai_query_parameter out[NAI_SKILL_MAX_PARAMETERS + NAI_SKILL_ALWAYS], size_t *count,
                   const struct nai_skill *skill, const struct nai_skill_request *request, struct nai_err *err) {
  size_t n = 0;
  for (size_t i = 0; skill && i < skill->parameter_count; i++)
    out[n++] = (struct nai_query_parameter){skill->parameters[i].name, skill->parameters[i].value};
  for (size_t i = 0; i < request->parameter_count; i++) {
    const char *given = request->parameters[i], *equals = strchr(given, '=');
    const struct nai_skill_parameter *p = equals && skill ? find(skill, given, (size_t)(equals - given)) : NULL;
    if (!equals)
      return nai_err_set(err, NAI_EUSAGE, "--param \"%s\": expected NAME=VALUE", given);
    if (!p)
      return skill ? unknown(skill, given, err) : nai_err_set(err, NAI_EUSAGE, "a page has no parameters");
    NAI_TRY(nai_skill_value(&out[p - skill->parameters].value, p, equals + 1, err));
  }
  for (size_t i = 0; skill && i < skill->parameter_count; i++)
    if (skill->parameters[i].required && out[i].value.null)
      return nai_err_set(err, NAI_EUSAGE, "skill %s needs --param %s=VALUE: %s", skill->id, skill->parameters[i].name,
                         skill->parameters[i].description);
  out[n++] = (struct nai_query_parameter){"start_ns", integer(request->has_window, request->window_start_ns)};
  out[n++] = (struct nai_query_parameter){"end_ns", integer(request->has_window, request->window_end_ns)};
  out[n++] = (struct nai_query_parameter){"gpu", integer(request->has_gpu, request->gpu)};
  *count = n;
  return NAI_OK;
}
