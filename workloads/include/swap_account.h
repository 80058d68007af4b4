// The count of reserved swap: a page that a mapping promises is counted for the system, and for the
// user who owns it. How that is kept decides how mmap, munmap and brk scale:
//
//   mutex   each count under a mutex: FreeBSD 11 (swap_reserve_by_cred in its vm/swap_pager.c). The
//           system's is a variable of its own, so its mutex is held while the count's line comes;
//           the user's stands beside its mutex (struct uidinfo)
//   atomic  each by an atomic add: FreeBSD 12.0 (the same function)
//   percpu  in parts, folded into the system's in batches under a spin lock; no count of the user:
//           Linux's vm_committed_as
//
// FreeBSD finds the user by a credential (credential.h). Whoever reserves, and is not releasing,
// looks after each count whether there is a limit at all: `overcommit`, a variable that the
// compiler puts beside the system's count, for both are static and mentioned one after the other.
// So the line of that count is read once more, after the user's has been waited for, or with the
// user's mutex held.
//
// Invariant: after `account_change` by all tasks the counts are the sum of what they said.
#ifndef UNCORE_SWAP_ACCOUNT_H_
#define UNCORE_SWAP_ACCOUNT_H_

#include "credential.h"
#include "mtx.h"
#include "percpu_counter.h"

enum accounting { MUTEX, ATOMIC, PERCPU };
UC_PARAM(choice, accounting, MUTEX, "mutex|atomic|percpu", "how reserved pages are counted");
UC_PARAM(u64, batch, 32, "pages", "accounting=percpu: fold a part when it reaches this");

#define ACCOUNT_LIMIT (1ll << 40)  // pages of swap, if there is a limit

static struct swap_account {
  UC_ALIGNED struct mtx lock;
  UC_ALIGNED _Atomic int64_t pages;
  _Atomic bool overcommit;  // never set: as FreeBSD comes, no reservation is refused
  uint64_t changes;         // under the lock: counts calls, because errors in a count may cancel
}* swap;
struct user_account {
  UC_ALIGNED struct mtx lock;
  _Atomic int64_t pages;
};
static struct percpu_counter* parts;

static inline struct user_account* account_user(void) {
  return atomic_load_explicit(&credentials->user, memory_order_relaxed);
}

static inline void account_setup(unsigned n) {
  mtx_setup(n);
  credential_setup();
  swap = uc_alloc(sizeof *swap, 0);
  struct user_account* user = uc_alloc(sizeof *user, 0);
  atomic_store_explicit(&credentials->user, user, memory_order_relaxed);
  parts = percpu_counter_make(n, UC_BLOCK, 0);
}

// True if a reservation is beyond the limit and overcommit forbids it; never for a release.
static inline bool account_refuses(int64_t pages, int64_t sum) {
  return pages > 0 && atomic_load_explicit(&swap->overcommit, memory_order_relaxed) &&
         sum > ACCOUNT_LIMIT;
}

static inline void account_add(_Atomic int64_t* account, int64_t pages) {
  int64_t sum = atomic_load_explicit(account, memory_order_relaxed) + pages;
  if (!account_refuses(pages, sum)) atomic_store_explicit(account, sum, memory_order_relaxed);
}

static __attribute__((noinline)) void account_add_locked(struct user_account* user, int64_t pages) {
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
  if (account_refuses(pages, before + pages))
    atomic_fetch_sub_explicit(account, pages, memory_order_relaxed);
}

static inline void account_change(unsigned id, int64_t pages) {
  if (accounting == PERCPU) {
    percpu_counter_add(parts, id, pages, (int64_t)batch);
    return;
  }
  struct user_account* user = account_user();
  if (accounting == ATOMIC) {
    account_add_atomically(&swap->pages, pages);
    account_add_atomically(&user->pages, pages);
  } else {
    account_add_locked(user, pages);
  }
}

static inline void account_check(int64_t pages, uint64_t changes) {
  bool percpu = accounting == PERCPU;
  uc_check((percpu ? percpu_counter_sum(parts) : swap->pages) == pages, "swap was lost");
  uc_check(percpu || account_user()->pages == pages, "the user's account is wrong");
  uc_check(accounting != MUTEX || swap->changes == changes, "a change of the account was lost");
}

#endif  // UNCORE_SWAP_ACCOUNT_H_
