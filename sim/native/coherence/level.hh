// This level's data for one line: which fills and writebacks it keeps, and when it lets go (R7).
// Part of resolver.hh.
//
// Invariant: `entry.copy.stored` changes here only, and the environment is told (keep, discard).
#pragma once

#include "coherence/entry.hh"

namespace uncore {

template <class Env>
class Level {
 public:
  using E = Entry<Env>;
  using Data = typename Env::Data;

  Level(Env& env, E& entry) : env_(env), entry_(entry) {}

  // Takes data from above, or from memory: in hand for the request, and into the store, if any.
  void fill(const Data& data) {
    entry_.in_hand.put(data);
    if (env_.policy().keeps_data) store(data, false);
  }

  // Puts dirty data into the store, or into a root's memory. False: a join without a store has no
  // place for them.
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
