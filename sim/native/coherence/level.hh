// This level's own copy of a line's data: stores fills and writebacks, and drops them (R7). Part of
// resolver.hh.
//
// Invariant: `entry.copy.stored` changes only here, and each change calls keep() or discard() of
// the environment.
#pragma once

#include "coherence/entry.hh"

namespace uncore {

template <class Env>
class Level {
 public:
  using E = Entry<Env>;
  using Data = typename Env::Data;

  Level(Env& env, E& entry) : env_(env), entry_(entry) {}

  // Takes data from the level above or from memory. They are in hand for the present request, and
  // enter the data store if this level has one.
  void fill(const Data& data) {
    entry_.in_hand.put(data);
    if (env_.policy().keeps_data) store(data, false);
  }

  // Stores dirty data in this level's data store, or in memory if this is a root without a store.
  // Returns false, and stores nothing, if this is a join without a store.
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
