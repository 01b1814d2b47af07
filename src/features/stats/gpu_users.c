#include "features/stats/gpu_users.h"

int nai_stats_add_time(const struct nai_stats_users *users, struct nai_stats_times *times, int64_t start, int64_t end,
                       struct nai_err *err) {
  NAI_TRY(NAI_ROOM(times->at, times->capacity, times->count, &users->source->arena, err));
  times->at[times->count++] = (struct nai_interval){start, end};
  return NAI_OK;
}

int nai_stats_add_use(struct nai_stats_users *users, int64_t global, int64_t device, int64_t context, int64_t start,
                      int64_t end, int kind, struct nai_err *err) {
  const int64_t process = nai_stats_pid(global);
  bool added;
  if (!nai_stats_has_times(start, end) || start <= 0)
    return NAI_OK;
  uint32_t slot = nai_keyset_add(&users->known, nai_key_pair(process, (uint32_t)device), &added);
  NAI_TRY(nai_memory_check(!users->known.oom, err));
  NAI_TRY(NAI_ROOM(users->at, users->capacity, slot, &users->source->arena, err));
  struct nai_stats_user *user = &users->at[slot];
  if (added)
    *user = (struct nai_stats_user){.process = process, .device = device, .first = INT64_MAX, .last = INT64_MIN};
  if (start < user->first)
    user->context = context;
  user->first = start < user->first ? start : user->first;
  user->last = end > user->last ? end : user->last;
  return nai_stats_add_time(users, &user->times[kind], start, end, err);
}
