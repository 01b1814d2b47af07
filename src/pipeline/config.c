/* Everything the user configures: read once, checked before any work, and hashed as it was read. */
#include "pipeline/state.h"

#include "base/fs.h"
#include "base/hash.h"

/* A directory that is not there would quietly mean the built-in templates. */
static int check_templates(const char *path, struct nai_err *err) {
  return !path || nai_fs_is_dir(path) ? NAI_OK
                                      : nai_err_set(err, NAI_EUSAGE, "--templates \"%s\" is no directory", path);
}

static uint64_t hash_selection(const struct nai_options *o) {
  uint64_t hash = nai_hash_int(nai_hash_int(0, o->show_output), o->trim);
  hash = nai_hash_int(nai_hash_int(hash, o->trim ? o->trim_start_ns : 0), o->trim ? o->trim_end_ns : 0);
  return nai_hash_bytes(hash, o->gpus, o->gpu_count * sizeof *o->gpus);
}

static bool is_listed(const char *const *names, const char *name) {
  while (*names && strcmp(*names, name) != 0)
    names++;
  return *names;
}

/* Whether a table of the node is asked for, or read by one of those that are kept. */
static bool is_needed(const struct nai_node *node, const struct nai_node *const *kept, const char *const *tables) {
  for (int o = 0; node->outputs[o]; o++) {
    if (is_listed(tables, node->outputs[o]->name))
      return true;
    for (const struct nai_node *const *k = kept; *k; k++)
      for (int i = 0; (*k)->inputs && (*k)->inputs[i]; i++)
        if ((*k)->inputs[i] == node->outputs[o])
          return true;
  }
  return false;
}

/* Analyses that the tables of the options need, and no later stage. */
static void keep_needed(struct nai_state *s) {
  const struct nai_node *const *all = s->stages[NAI_STAGE_ANALYZE].nodes;
  size_t count = 0;
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; all[i] && count < NAI_REPORT_MAX_TABLES; i++) {
      bool kept = false;
      for (size_t k = 0; k < count; k++)
        kept |= s->needed[k] == all[i];
      if (kept || !is_needed(all[i], s->needed, s->options->tables))
        continue;
      s->needed[count++] = all[i];
      more = true;
    }
  }
  s->own_stages[NAI_STAGE_ANALYZE].nodes = s->needed;
  for (int stage = NAI_STAGE_ANALYZE + 1; stage < NAI_STAGE_RENDER; stage++)
    s->own_stages[stage].nodes = s->needed + count;
  s->wanted = nai_state_wanted(s->own_stages);
}

/* On what the options ask for the stages have nodes of their own. */
static void choose_nodes(struct nai_state *s) {
  if (!s->skills.count && !s->options->known && !s->options->tables)
    return;
  memcpy(s->own_stages, s->stages, sizeof s->own_stages);
  if (s->skills.count)
    s->own_stages[NAI_STAGE_SKILLS].nodes = s->skills.nodes;
  if (s->options->known)
    s->own_stages[NAI_STAGE_RECOMMEND].nodes = nai_recommend_with_known;
  if (s->options->tables)
    keep_needed(s);
  s->stages = s->own_stages;
}

static int load_known(struct nai_state *s, struct nai_err *err) {
  char today[32];
  time_t now = time(NULL);
  struct tm day;
  if (!s->options->known)
    return NAI_OK;
  if (!gmtime_r(&now, &day) || !strftime(today, sizeof today, "%Y-%m-%d", &day))
    return nai_err_set(err, NAI_EIO, "--known: what day it is cannot be told");
  return nai_known_load(&s->known, s->options->known, s->options->update_known, today, s->rules, err);
}

static int load(struct nai_state *s, struct nai_err *err) {
  const struct nai_options *o = s->options;
  NAI_TRY(nai_state_skills_load(&s->skills, o, err));
  size_t schemas = nai_state_schemas(s->schemas, s, NAI_STAGE_RECOMMEND);
  choose_nodes(s);
  NAI_TRY(check_templates(o->templates, err));
  NAI_TRY(nai_state_templates(s, err));
  NAI_TRY(nai_kernel_classes_load(&s->classes, o->kernel_classes, err));
  NAI_TRY(nai_workload_patterns_load(&s->workload, o->workload, err));
  NAI_TRY(nai_gpu_facts_load(&s->gpu_facts, o->gpu_facts, err));
  NAI_TRY(nai_flops_read(&s->flops, &o->flops, err));
  if (o->step) {
    NAI_TRY(nai_patterns_new(&s->step, err));
    NAI_TRY(nai_patterns_add_regex(s->step, "step", "--step", o->step, err));
  }
  if (o->comm_names)
    NAI_TRY(nai_patterns_load(&s->comm_names, &s->config[NAI_CONFIG_COMM_NAMES], o->comm_names, false, err));
  if (o->phase_map)
    NAI_TRY(nai_phase_map_load(&s->phases, &s->config[NAI_CONFIG_PHASE_MAP], o->phase_map, err));
  NAI_TRY(nai_rules_load_with(&s->rules, o->rules, o->rule_count, s->skills.rules, s->skills.rule_count, s->schemas,
                              schemas, err));
  NAI_TRY(load_known(s, err));
  NAI_TRY(nai_metrics_load(&s->metrics, o->metrics, o->metric_count, s->schemas, schemas, err));
  return o->nvtx_coverage_warn_threshold < 0
           ? NAI_OK
           : nai_rules_set_parameter(s->rules, "nvtx_coverage_warn_threshold", o->nvtx_coverage_warn_threshold, err);
}

int nai_state_config(struct nai_state *s, struct nai_err *err) {
  const struct nai_options *o = s->options;
  NAI_TRY(load(s, err));
  s->config[NAI_CONFIG_SELECTION] = hash_selection(o);
  s->config[NAI_CONFIG_SOURCES] = s->wanted;
  s->config[NAI_CONFIG_KERNEL_CLASSES] = nai_kernel_classes_hash(s->classes);
  s->config[NAI_CONFIG_WORKLOAD] = nai_workload_patterns_hash(s->workload);
  if (!s->phases) /* it will be one of them */
    s->config[NAI_CONFIG_PHASE_MAP] =
        nai_hash_int(nai_phase_map_builtins_hash(), (int64_t)s->config[NAI_CONFIG_WORKLOAD]);
  s->config[NAI_CONFIG_FLOPS] = nai_flops_hash(&s->flops);
  s->config[NAI_CONFIG_GPU_FACTS] = nai_gpu_facts_hash(s->gpu_facts);
  s->config[NAI_CONFIG_STEP] = o->step ? nai_hash_text(0, o->step) : 0;
  s->config[NAI_CONFIG_MAP_NVTX] = o->map_nvtx;
  s->config[NAI_CONFIG_PAGE_EVENTS] = (uint64_t)o->page_events;
  s->config[NAI_CONFIG_SKILLS] = s->skills.hash;
  s->config[NAI_CONFIG_RULES] = nai_rules_hash(s->rules);
  s->config[NAI_CONFIG_METRICS] = nai_metrics_hash(s->metrics);
  s->config[NAI_CONFIG_KNOWN] = s->known.hash;
  return NAI_OK;
}
