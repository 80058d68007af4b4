// This level's data for one line: what it keeps of fills and writebacks, and what it lets go (R7).
// Part of resolver.hh.
#pragma once

#include "coherence/entry.hh"

namespace uncore {

template <class Env>
class Level {
 public:
  using E = Entry<Env>;
  using Data = typename Env::Data;

  Level(Env& env, E& entry) : env_(env), entry_(entry) {}

  // Data have come from above, or from memory: they are in hand, and in the store.
  void fill(const Data& data) {
    entry_.in_hand.put(data);
    if (env_.policy().keeps_data) store(data, false);
  }

  // Puts dirty data where this level has a place for them. A join without a store has none: false.
  bool accept_dirty(const Data& data) {
    if (env_.policy().keeps_data)
      store(data, true);
    else if (env_.policy().root)
      env_.memory_write(entry_, data);
    else
      return false;
    return true;
  }

  void store(const Data& data, bool dirty) {
    entry_.copy.data = data;
    entry_.copy.stored = true;
    entry_.copy.dirty = dirty;
    env_.keep(entry_);
  }

  void drop() {
    entry_.copy.stored = false;
    entry_.copy.dirty = false;
    env_.discard(entry_);
  }

 private:
  Env& env_;
  E& entry_;
};

}  // namespace uncore
