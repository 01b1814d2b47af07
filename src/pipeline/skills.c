/* Skills as part of a report: read and checked with the rest of the configuration, asked after the analyses. */
#include "pipeline/state.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "tables/skill_answers.h"

/* --- reading --------------------------------------------------------------------------------------- */

static bool is_file(const char *name) {
  return strchr(name, '/') || nai_text_ends(name, ".yaml") || nai_text_ends(name, ".yml");
}

static int read_skill(struct nai_skill **out, const char *name, struct nai_err *err) {
  if (!is_file(name))
    return nai_skills_builtin(out, name, err);
  NAI_TRY(nai_skills_read(out, name, err));
  return (*out)->is_page ? nai_err_set(err, NAI_EUSAGE, "%s: a page is no part of a report; --skill takes skills", name)
                         : NAI_OK;
}

static bool is_of(const char *parameter, const char *id) {
  size_t len = strlen(id);
  return strncmp(parameter, id, len) == 0 && parameter[len] == '.';
}

/* The parameters given for one skill, as NAME=VALUE. Returns their number. */
static size_t parameters_of(const char *out[NAI_SKILL_MAX_PARAMETERS], const struct nai_skill *skill,
                            const struct nai_options *o) {
  size_t n = 0;
  for (size_t i = 0; i < o->skill_parameter_count && n < NAI_SKILL_MAX_PARAMETERS; i++)
    if (is_of(o->skill_parameters[i], skill->id))
      out[n++] = o->skill_parameters[i] + strlen(skill->id) + 1;
  return n;
}

/* Every parameter belongs to a skill that is asked for, and has a value it can have. */
static int check_parameters(const struct nai_state_skills *s, const struct nai_options *o, struct nai_err *err) {
  struct nai_query_parameter ignored[NAI_SKILL_MAX_PARAMETERS + NAI_SKILL_ALWAYS];
  const char *given[NAI_SKILL_MAX_PARAMETERS];
  for (size_t i = 0; i < o->skill_parameter_count; i++) {
    bool known = false;
    for (size_t k = 0; k < s->count; k++)
      known |= is_of(o->skill_parameters[i], s->list[k]->id);
    if (!known)
      return nai_err_set(err, NAI_EUSAGE,
                         "--skill-param \"%s\": expected SKILL.NAME=VALUE, of a skill given with --skill",
                         o->skill_parameters[i]);
  }
  for (size_t k = 0; k < s->count; k++) {
    size_t count;
    const struct nai_skill_request request = {.parameters = given,
                                              .parameter_count = parameters_of(given, s->list[k], o)};
    int rc = nai_skill_bind(ignored, &count, s->list[k], &request, err);
    if (rc)
      return nai_err_wrap(err, rc, "--skill %s", s->list[k]->id);
  }
  return NAI_OK;
}

/* Its id is the name of a table of its own. */
static int check_id(const struct nai_state_skills *s, size_t index, struct nai_run *tables, struct nai_err *err) {
  const struct nai_skill *skill = s->list[index];
  bool taken = nai_query_has(tables, skill->id) || strcmp(skill->id, nai_skill_answers_schema.name) == 0;
  if (taken)
    return nai_yaml_error(skill->doc, nai_yaml_get(skill->doc, nai_yaml_root(skill->doc), "skill"), err,
                          "a run has a table \"%s\" already", skill->id);
  for (size_t i = 0; i < index; i++)
    if (strcmp(s->list[i]->id, skill->id) == 0)
      return nai_err_set(err, NAI_EUSAGE, "--skill %s: given twice", skill->id);
  return NAI_OK;
}

static int add(struct nai_state_skills *s, const char *name, struct nai_run *tables, struct nai_err *err) {
  NAI_TRY(read_skill(&s->list[s->count++], name, err));
  const struct nai_skill *skill = s->list[s->count - 1];
  NAI_TRY(check_id(s, s->count - 1, tables, err));
  NAI_TRY(nai_skill_check(skill, tables, err));
  NAI_TRY(nai_skill_schema(&s->schemas[s->count - 1], skill, err));
  s->outputs[s->count] = s->schemas[s->count - 1];
  if (skill->has_rules)
    s->rules[s->rule_count++] =
        (struct nai_rules_extra){skill->doc->file, nai_buf_str(&skill->file), skill->id, skill->file.len};
  s->hash = nai_hash_bytes(s->hash, nai_buf_str(&skill->file), skill->file.len);
  return NAI_OK;
}

/* --- asking ---------------------------------------------------------------------------------------- */

static void put_plain(struct nai_buf *out, const char *text, size_t len) { nai_buf_put(out, text, len); }

static void put_answer(struct nai_table *answers, const struct nai_skill *skill,
                       const struct nai_skill_answer *answer) {
  NAI_SCOPED(nai_buf) text = {0};
  struct SKILL_ANSWERS_row row = NAI_ROW(SKILL_ANSWERS, .skill = skill->id, .title = skill->title,
                                         .source = nai_fs_basename(skill->source), .left_out = answer->left_out);
  if (answer->table)
    row.row_count = answer->table->rows;
  else
    row.reason = nai_buf_str(&answer->reason);
  if (answer->table && answer->table->rows && skill->line) {
    nai_skill_put_line(&text, skill, answer->table, put_plain);
    row.text = nai_buf_str(&text);
  }
  answers->oom |= text.oom;
  SKILL_ANSWERS_add(answers, &row);
}

/* One after the other: each is a process of its own, which nothing else should run beside when it is started. A skill
 * that cannot say has a table without rows, about which rules are silent; why is in skill_answers. */
static int run_skills(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_state *s = io->ctx;
  const struct nai_state_skills *skills = &s->skills;
  const char *given[NAI_SKILL_MAX_PARAMETERS];
  NAI_TRY(nai_table_new(&io->out[0], &nai_skill_answers_schema, err));
  for (size_t i = 0; i < skills->count; i++) {
    const struct nai_skill *skill = skills->list[i];
    const struct nai_skill_request request = {
        .run = s->run, .parameters = given, .parameter_count = parameters_of(given, skill, s->options)};
    NAI_SCOPED(nai_skill_answer) answer = {0};
    int rc = nai_skill_ask(&answer, skill, &request, err);
    if (rc)
      return nai_err_wrap(err, rc, "%s", skill->id);
    put_answer(io->out[0], skill, &answer);
    io->out[i + 1] = answer.table;
    if (!answer.table)
      NAI_TRY(nai_table_new_copy(&io->out[i + 1], skills->schemas[i], err));
    answer.table = NULL;
  }
  return NAI_OK;
}

int nai_state_skills_load(struct nai_state_skills *s, const struct nai_options *o, struct nai_err *err) {
  NAI_OWNED(nai_run) *tables = NULL;
  if (!o->skill_count && !o->skill_parameter_count)
    return NAI_OK;
  NAI_TRY(nai_empty_run(&tables, err));
  s->outputs[0] = &nai_skill_answers_schema;
  s->node =
      (struct nai_node){.name = "skills",
                        .outputs = s->outputs,
                        .reads_report = true,
                        .config = NAI_CONFIG(TRACE) | NAI_CONFIG(SELECTION) | NAI_CONFIG(MAP_NVTX) | NAI_CONFIG(SKILLS),
                        .creates = true,
                        .run = run_skills};
  s->nodes[0] = &s->node;
  for (size_t i = 0; i < o->skill_count; i++)
    NAI_TRY(add(s, o->skills[i], tables, err));
  for (size_t i = 0; i < o->skill_parameter_count; i++)
    s->hash = nai_hash_text(s->hash, o->skill_parameters[i]);
  return check_parameters(s, o, err);
}

void nai_state_skills_free(struct nai_state_skills *s) {
  for (size_t i = 0; i < s->count; i++) {
    nai_skill_free(s->list[i]);
    nai_schema_free(s->schemas[i]);
  }
}
