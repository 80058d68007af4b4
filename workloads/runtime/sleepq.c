// Sleep queues: the threads that wait for a channel, found by the channel's address.
//
// They follow sleepqueue(9) and Unix's tsleep and wakeup: a thread may wait for any address, which
// needs no memory while no thread waits. Channels are hashed to chains; a chain's lock guards the
// sleepers of all its channels and, for its users, the decision to sleep.
#include "queues.h"

#define CHAINS_SHIFT 8  // as FreeBSD's SC_TABLESIZE, 256

static struct chain {
  UC_ALIGNED struct uc_spin lock;
  struct uc_threads sleepers;
}* chains;

void uc_sleepq_start(void) {
  chains = uc_alloc((1 << CHAINS_SHIFT) * sizeof *chains, 0);
  for (unsigned i = 0; i < 1 << CHAINS_SHIFT; i++)
    chains[i].sleepers.end = &chains[i].sleepers.first;
}

// Fibonacci hashing of the address in units of 8 bytes (Knuth, TAOCP 6.4).
static struct chain* chain_of(const void* channel) {
  return &chains[((uint64_t)channel >> 3) * 0x9E3779B97F4A7C15 >> (64 - CHAINS_SHIFT)];
}

void uc_sleepq_lock(const void* channel) { uc_spin_lock(&chain_of(channel)->lock); }
void uc_sleepq_release(const void* channel) { uc_spin_unlock(&chain_of(channel)->lock); }

void uc_sleepq_wait(const void* channel) {
  struct chain* chain = chain_of(channel);
  bool interrupts = chain->lock.interrupts;
  struct uc_thread* self = uc_thread_self();
  self->channel = channel;
  uc_threads_append(&chain->sleepers, self);
  uc_block(&chain->lock);
  uc_interrupts_restore(interrupts);
}

unsigned uc_sleepq_signal(const void* channel) {
  struct uc_thread* thread = uc_threads_take(&chain_of(channel)->sleepers, channel);
  if (!thread) return 0;
  thread->channel = NULL;
  uc_ready(thread);
  return 1;
}

unsigned uc_sleepq_broadcast(const void* channel) {
  unsigned woken = 0;
  while (uc_sleepq_signal(channel)) woken++;
  return woken;
}

unsigned uc_wakeup(const void* channel) {
  uc_sleepq_lock(channel);
  unsigned woken = uc_sleepq_broadcast(channel);
  uc_sleepq_release(channel);
  return woken;
}

unsigned uc_wakeup_one(const void* channel) {
  uc_sleepq_lock(channel);
  unsigned woken = uc_sleepq_signal(channel);
  uc_sleepq_release(channel);
  return woken;
}
