// The count of reserved swap: each page of a new mapping is counted for the whole system and for
// the user. The way in which this is counted decides how mmap, munmap and brk scale:
//
//   mutex   each count under a mutex: FreeBSD 11 (swap_reserve_by_cred in its vm/swap_pager.c). The
//           system's count and mutex are on different lines, so the mutex is held while the count's
//           line is fetched; the user's count is on the line of its mutex (struct uidinfo)
//   atomic  each count by an atomic add: FreeBSD 12.0 (the same function)
//   percpu  in per-CPU parts, folded into the system's count in batches under a spin lock; there is
//           no count for the user: Linux's vm_committed_as
//
// FreeBSD finds the user through a credential (credential.h). After each count, a reservation (not
// a release) checks whether there is a limit at all: `overcommit`. The compiler places this
// variable beside the system's count, because both are static and referenced one after the other.
// So the system's line is read once more, after the user's line has come, or with the user's mutex
// held.
//
// Invariant: when all tasks have called `account_change`, each count is the sum of their changes.
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
  _Atomic bool overcommit;  // never set, as in FreeBSD by default: no reservation is refused
  uint64_t changes;         // number of calls, under the lock; errors in `pages` might cancel out
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

// Returns whether a reservation is refused, because it exceeds a limit that is enforced.
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
