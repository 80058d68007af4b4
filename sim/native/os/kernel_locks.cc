#include "os/kernel_locks.hh"

namespace uncore {
namespace {

// Fields of a lock's word: the byte `held`, the byte `pending`, and in the upper half the tail: the
// number plus one of the last hart in the queue.
constexpr uint64_t kHeld = 1, kPending = 1 << 8;
constexpr unsigned kPendingByte = 1, kTailBytes = 2, kTailShift = 16;
// Fields of a hart's queue node: a word that is 1 once the hart is first in the queue; and the
// number plus one of the next hart in the queue.
constexpr unsigned kFirst = 0, kNext = 4;

}  // namespace

Work SpinLocks::lock(Flow& by, uint64_t word) const {
  if (cost_nothing) co_return 0;
  uint64_t seen = co_await by.amo(Amo::cas, word, 4, kHeld);
  if (!seen) co_return 0;
  if (seen == kHeld) {  // no hart waits, so this hart may become the pending one
    seen = co_await by.amo(Amo::bit_or, word, 4, kPending);
    if (!(seen & ~kHeld)) {
      co_await wait_while(by, word, kHeld);
      co_await by.store(word, kTailBytes, kHeld);
      co_return 0;
    }
    // Another hart was pending or queued first. If this hart has set the pending byte, it clears
    // it.
    if (!(seen & kPending)) co_await by.store(word + kPendingByte, 1, 0);
  }
  co_return co_await wait_in_queue(by, word);
}

Work SpinLocks::wait_in_queue(Flow& by, uint64_t word) const {
  const uint64_t own_number = by.hart + 1, node = node_of(own_number);
  co_await by.store(node, 8, 0);
  const uint64_t former = co_await by.amo(Amo::swap, word + kTailBytes, kTailBytes, own_number);
  if (former) {
    co_await by.store(node_of(former) + kNext, 4, own_number);
    co_await wait_for(by, node + kFirst);
  }
  co_await wait_while(by, word, kHeld | kPending);
  const uint64_t only_this_hart = own_number << kTailShift;
  const uint64_t seen = co_await by.amo(Amo::cas, word, 4, kHeld, only_this_hart);
  if (seen == only_this_hart) co_return 0;
  co_await by.store(word, 1, kHeld);
  const int64_t next_hart = co_await wait_for(by, node + kNext);
  co_await by.store(node_of(static_cast<uint64_t>(next_hart)) + kFirst, 4, 1);
  co_return 0;
}

// Polls the word until it has none of the bits.
Work SpinLocks::wait_while(Flow& by, uint64_t address, uint64_t bits) const {
  for (;;) {
    const uint64_t seen = co_await by.load(address, 4);
    if (!(seen & bits)) co_return 0;
    co_await by.spend(kPollInterval);
  }
}

// Polls the word until it is not zero, and returns it.
Work SpinLocks::wait_for(Flow& by, uint64_t address) const {
  for (;;) {
    const uint64_t seen = co_await by.load(address, 4);
    if (seen) co_return static_cast<int64_t>(seen);
    co_await by.spend(kPollInterval);
  }
}

Work SpinLocks::unlock(Flow& by, uint64_t word) const {
  if (!cost_nothing) co_await by.store(word, 1, 0);
  co_return 0;
}

}  // namespace uncore
