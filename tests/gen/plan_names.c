/* Strings, kernels, range names and phases of a plan, each once. */
#include "gen/plan_internal.h"

#include <string.h>

int64_t nai_gen_string(struct nai_gen_plan *plan, const char *bytes, size_t size) {
  const struct nai_gen_string_entry *entries = plan->strings.items;
  for (size_t i = 0; i < plan->strings.count; i++) {
    if (entries[i].size == size && memcmp(nai_gen_bytes_at(plan, entries[i].offset), bytes, size) == 0) {
      return (int64_t)i;
    }
  }
  size_t offset = plan->string_bytes.count;
  uintptr_t place = (uintptr_t)bytes - (uintptr_t)plan->string_bytes.items;
  struct nai_gen_string_entry *entry = nai_gen_plan_push(plan, &plan->strings);
  if (!entry) {
    return 0;
  }
  if (place < offset) {
    offset = place; /* the text of a range name: share its bytes */
  } else if (!nai_gen_vec_append(&plan->string_bytes, bytes, size)) {
    nai_gen_fail(NAI_GEN_ENOMEM, plan->err, "out of memory");
    return 0;
  }
  *entry = (struct nai_gen_string_entry){offset, size};
  return (int64_t)plan->strings.count - 1;
}

enum { REGISTERS_PER_BLOCK = 65536 };

static int add_kernel(struct nai_gen_plan *plan, int64_t demangled, int64_t short_name, enum nai_gen_class class,
                      enum nai_gen_api launch_api) {
  struct nai_gen_kernel *kernel = nai_gen_plan_push(plan, &plan->kernels);
  if (!kernel) {
    return 0;
  }
  kernel->demangled = demangled;
  kernel->short_name = short_name;
  kernel->class = class;
  kernel->launch_api = launch_api;
  kernel->grid = (int)nai_gen_rng_between(&plan->rng, 1, 2048);
  kernel->block = 32 * (int)nai_gen_rng_between(&plan->rng, 1, 16);
  kernel->registers = 8 * (int)nai_gen_rng_between(&plan->rng, 2, 30);
  if (plan->even_shapes) { /* one full wave: 8 blocks on each of 132 multiprocessors */
    kernel->grid = 1056;
    kernel->block = 256;
    kernel->registers = 32;
  }
  if (kernel->registers * kernel->block > REGISTERS_PER_BLOCK) { /* no driver launches such a kernel */
    kernel->registers = REGISTERS_PER_BLOCK / kernel->block;
  }
  return (int)plan->kernels.count - 1;
}

int nai_gen_kernel_from(struct nai_gen_plan *plan, const struct nai_gen_kernel_spec *spec) {
  const char *short_name = spec->short_name ? spec->short_name : spec->demangled;
  int64_t full = nai_gen_string(plan, spec->demangled, strlen(spec->demangled));
  int64_t base = nai_gen_string(plan, short_name, strlen(short_name));
  return add_kernel(plan, full, base, spec->class, spec->launch_api);
}

int nai_gen_kernel(struct nai_gen_plan *plan, const char *demangled, const char *short_name) {
  const struct nai_gen_kernel_spec spec = {demangled, short_name, NAI_GEN_COMPUTE, API_LAUNCH};
  return nai_gen_kernel_from(plan, &spec);
}

void nai_gen_kernels(struct nai_gen_plan *plan, int *handles, const struct nai_gen_kernel_spec *specs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    handles[i] = nai_gen_kernel_from(plan, &specs[i]);
  }
}

int nai_gen_kernel_bytes(struct nai_gen_plan *plan, const char *name, size_t size) {
  int64_t id = nai_gen_string(plan, name, size);
  return add_kernel(plan, id, id, NAI_GEN_COMPUTE, API_LAUNCH);
}

int nai_gen_kernel_missing(struct nai_gen_plan *plan, int64_t string_id) {
  return add_kernel(plan, string_id, string_id, NAI_GEN_COMPUTE, API_LAUNCH);
}

int nai_gen_name_bytes(struct nai_gen_plan *plan, const char *text, size_t size) {
  for (int i = 0; i < (int)plan->names.count; i++) {
    const struct nai_gen_name *known = nai_gen_name_at(plan, i);
    if (known->size == size && memcmp(nai_gen_bytes_at(plan, known->offset), text, size) == 0) {
      return i;
    }
  }
  size_t offset = plan->string_bytes.count;
  struct nai_gen_name *name = nai_gen_plan_push(plan, &plan->names);
  if (!name || !nai_gen_vec_append(&plan->string_bytes, text, size)) {
    nai_gen_fail(NAI_GEN_ENOMEM, plan->err, "out of memory");
    return 0;
  }
  name->offset = offset;
  name->size = size;
  name->string_id = -1;
  name->phase = -1;
  return (int)plan->names.count - 1;
}

int nai_gen_name(struct nai_gen_plan *plan, const char *text) { return nai_gen_name_bytes(plan, text, strlen(text)); }

void nai_gen_name_phase(struct nai_gen_plan *plan, int name, const char *phase) {
  if (nai_gen_failed(plan)) {
    return;
  }
  struct nai_gen_phase *phases = plan->phases.items;
  int slot = 0;
  while (slot < (int)plan->phases.count && strcmp(phases[slot].name, phase) != 0) {
    slot++;
  }
  if (slot == (int)plan->phases.count) {
    struct nai_gen_phase *added = nai_gen_plan_push(plan, &plan->phases);
    if (!added) {
      return;
    }
    added->name = phase;
  }
  nai_gen_name_at(plan, name)->phase = slot;
}

void nai_gen_names(struct nai_gen_plan *plan, int *handles, const struct nai_gen_name_spec *specs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    handles[i] = nai_gen_name(plan, specs[i].text);
    if (specs[i].phase) {
      nai_gen_name_phase(plan, handles[i], specs[i].phase);
    }
  }
}
