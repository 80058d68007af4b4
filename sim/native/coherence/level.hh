// This level's own copy of a line's data: which fills and writebacks it stores, and when it drops
// them (R7). Part of resolver.hh.
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

  // Takes data from above or from memory: in hand for the request under way, and into the data
  // store if this level has one.
  void fill(const Data& data) {
    entry_.in_hand.put(data);
    if (env_.policy().keeps_data) store(data, false);
  }

  // Puts dirty data into the store, or into memory if a root has no store. Returns false if this is
  // a join without a store, which has no place for them.
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
