// Sets of harts, as in cpuset(2): the harts on which a thread may run, or the targets of an
// interrupt (uc_ipi_many takes the bits).
//
// A null pointer, passed as a set, stands for all harts.
#ifndef UNCORE_CPUSET_H_
#define UNCORE_CPUSET_H_

#include "uncore.h"

struct uc_cpuset {
  uint64_t bits[UC_MAX_HARTS / 64];
  uint64_t size;  // number of harts in the set
};

static inline bool uc_cpuset_has(const struct uc_cpuset* set, unsigned hart) {
  return !set || set->bits[hart / 64] >> hart % 64 & 1;
}

static inline void uc_cpuset_add(struct uc_cpuset* set, unsigned hart) {
  if (uc_cpuset_has(set, hart)) return;
  set->bits[hart / 64] |= 1ul << hart % 64;
  set->size++;
}

static inline void uc_cpuset_remove(struct uc_cpuset* set, unsigned hart) {
  if (!uc_cpuset_has(set, hart)) return;
  set->bits[hart / 64] &= ~(1ul << hart % 64);
  set->size--;
}

// Makes a new set of `count` harts, from `first` on.
static inline struct uc_cpuset* uc_cpuset_range(unsigned first, unsigned count) {
  struct uc_cpuset* set = uc_alloc(sizeof *set, 0);
  for (unsigned i = 0; i < count; i++) uc_cpuset_add(set, first + i);
  return set;
}

#endif  // UNCORE_CPUSET_H_
