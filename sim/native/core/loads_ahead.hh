// Rule C10: a load that was speculated ahead is executed again if another hart of the core has
// written its line meanwhile.
//
//   note_load()       called after a load
//   take_overtaken()  called before a load
//   note_atomic()     called before an AMO or LR
//   overtake()        called at a write
//   note_loss()       called when the core loses a line
//
// The rule's state is in Thread: `loaded` and `slow_path.overtaken`. Invariant: the core has held
// the line `loaded` without interruption since the hart loaded from it.
#pragma once

#include <utility>

#include "core/thread.hh"

namespace uncore {

class LoadsAhead {
 public:
  // C10.1: the next three functions record the line of the hart's last load.
  static void note_load(Thread& thread, uint64_t line) { thread.loaded = line; }
  static void note_atomic(Thread& thread) { thread.loaded = kNoLine; }
  static void note_loss(const Threads& threads, uint64_t line) {
    for (const auto& t : threads)
      if (t->loaded == line) t->loaded = kNoLine;
  }

  // C10.2: called when a hart writes. Harts whose last load was from the written line may have
  // loaded too early.
  static void overtake(const Thread& by, uint64_t line) {
    for (Thread* t = by.next; t != &by; t = t->next)
      if (t->loaded == line) t->slow_path.overtaken = true;
  }
  // C10.2: returns true if the load must be executed again, and clears that state, because a load
  // that has to wait was not speculated.
  static bool take_overtaken(Thread& thread, uint64_t line) {
    const bool overtaken = std::exchange(thread.slow_path.overtaken, false);
    return std::exchange(thread.loaded, kNoLine) == line && overtaken;
  }
};

}  // namespace uncore
