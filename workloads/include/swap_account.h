// The count of reserved swap: a page that a mapping promises is counted for the system, and for the
// user who owns it. How that is kept decides how mmap, munmap and brk scale:
//
//   mutex   each count under a mutex: FreeBSD 11 (swap_reserve in vm/swap_pager.c). The system's is
//           a variable of its own, so its mutex is held while the count's line comes; the user's
//           stands beside its mutex (struct uidinfo)
//   atomic  each by an atomic add whose result is compared with the limit: FreeBSD 12
//   percpu  in parts, folded into the system's in batches under a spin lock; no count of the user:
//           Linux's vm_committed_as
//
// Invariant: after `account_change` by all tasks the counts are the sum of what they said.
#ifndef UNCORE_SWAP_ACCOUNT_H_
#define UNCORE_SWAP_ACCOUNT_H_

#include "mtx.h"
#include "percpu_counter.h"

enum accounting { MUTEX, ATOMIC, PERCPU };
UC_PARAM(choice, accounting, MUTEX, "mutex|atomic|percpu", "how reserved pages are counted");
UC_PARAM(u64, batch, 32, "pages", "accounting=percpu: fold a part when it reaches this");

#define ACCOUNT_LIMIT (1ll << 40)  // pages of swap: never reached

static struct swap_account {
  UC_ALIGNED struct mtx lock;
  UC_ALIGNED _Atomic int64_t pages;
  uint64_t changes;  // under the lock: what was added wrongly may have been taken away wrongly
}* swap;
static struct user_account {
  UC_ALIGNED struct mtx lock;
  _Atomic int64_t pages;
}* user;
static struct percpu_counter* parts;

static inline void account_setup(unsigned n) {
  mtx_setup(n);
  swap = uc_alloc(sizeof *swap, 0);
  user = uc_alloc(sizeof *user, 0);
  parts = percpu_counter_make(n, UC_BLOCK, 0);
}

static inline void account_add(_Atomic int64_t* account, int64_t pages) {
  int64_t sum = atomic_load_explicit(account, memory_order_relaxed) + pages;
  if (sum <= ACCOUNT_LIMIT) atomic_store_explicit(account, sum, memory_order_relaxed);
}

static inline void account_add_locked(int64_t pages) {
  if (!UC_SABOTAGE) mtx_lock(&swap->lock);
  account_add(&swap->pages, pages);
  swap->changes++;
  if (!UC_SABOTAGE) mtx_unlock(&swap->lock);
  mtx_lock(&user->lock);
  account_add(&user->pages, pages);
  mtx_unlock(&user->lock);
}

static inline void account_add_atomically(_Atomic int64_t* account, int64_t pages) {
  int64_t before = atomic_fetch_add_explicit(account, pages, memory_order_relaxed);
  if (before + pages > ACCOUNT_LIMIT)
    atomic_fetch_sub_explicit(account, pages, memory_order_relaxed);
}

static inline void account_change(unsigned id, int64_t pages) {
  if (accounting == PERCPU) {
    percpu_counter_add(parts, id, pages, (int64_t)batch);
  } else if (accounting == ATOMIC) {
    account_add_atomically(&swap->pages, pages);
    account_add_atomically(&user->pages, pages);
  } else {
    account_add_locked(pages);
  }
}

static inline void account_check(int64_t pages, uint64_t changes) {
  bool percpu = accounting == PERCPU;
  uc_check((percpu ? percpu_counter_sum(parts) : swap->pages) == pages, "swap was lost");
  uc_check(percpu || user->pages == pages, "the user's account is wrong");
  uc_check(accounting != MUTEX || swap->changes == changes, "a change of the account was lost");
}

#endif  // UNCORE_SWAP_ACCOUNT_H_
