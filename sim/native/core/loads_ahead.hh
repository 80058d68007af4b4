// Rule C10: a load that was done ahead is done anew where another hart of the core has written its
// line meanwhile.
//
//   note_load() after a load, take_overtaken() before one, note_atomic() before an AMO or LR,
//   overtake() at a write, note_loss() where the core gives a line up
//
// Its state is in Thread: `loaded`, and `slow_path.overtaken`. Invariant: a core has had the
// line `loaded` ever since its hart loaded from it.
#pragma once

#include <utility>

#include "core/thread.hh"

namespace uncore {

class LoadsAhead {
 public:
  // C10.1: keep track of the line that a hart may look at again.
  static void note_load(Thread& thread, uint64_t line) { thread.loaded = line; }
  static void note_atomic(Thread& thread) { thread.loaded = kNoLine; }
  static void note_loss(const Threads& threads, uint64_t line) {
    for (const auto& t : threads)
      if (t->loaded == line) t->loaded = kNoLine;
  }

  // C10.2: a hart writes; other harts whose last load was from the line have loaded too early.
  static void overtake(const Thread& by, uint64_t line) {
    for (Thread* t = by.next; t != &by; t = t->next)
      if (t->loaded == line) t->slow_path.overtaken = true;
  }
  // C10.2: is the load done anew? The question clears its answer: a load that has to wait and asks
  // again was not done ahead.
  static bool take_overtaken(Thread& thread, uint64_t line) {
    const bool overtaken = std::exchange(thread.slow_path.overtaken, false);
    return std::exchange(thread.loaded, kNoLine) == line && overtaken;
  }
};

}  // namespace uncore
