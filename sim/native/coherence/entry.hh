// One line at a resolver, its entry: the children that hold it, the right held above, this level's
// data, and the transaction under way.
//
// Plain state. `Env` brings the types: Data (a line's bytes), Set (children by ordinal) and Queue
// (waiting messages). Invariant: only the parts of coherence/resolver.hh change an entry.
#pragma once

#include "coherence/client.hh"
#include "coherence/holders.hh"

namespace uncore {

// The kind of a resolver, as far as the protocol is concerned; from the machine (R3 to R11).
struct Policy {
  bool root = true;
  bool snoop = false;       // knows nothing: asks every child
  bool direct = true;       // the owner answers the requester, not the resolver
  bool completion = true;   // an exclusive grant closes with the requester's Unblock (R5.1)
  bool keeps_data = false;  // has a data store (R7)
  bool inclusive = false;   // recalls the copies below when its data are evicted (R7.2)
  bool forwarder = true;    // makes a reader the forwarder, where the protocol has one
  int grants = 0;           // requests served before a waiting probe (J3.1)
  int pointers = 0;         // children that it can name (R11); 0: all
  int region = 1 << 30;     // children that one bit stands for if more share (R11.2); or all
  bool evicts = false;      // takes a copy away rather than let more share (R11.3)

  // Returns the right that this resolver gives where a table names `right` (R10).
  State gives(const StateProperties& states, State right) const {
    return states.forwards(right) && !forwarder ? states.shared_right : right;
  }
  // Is a grant of this right to be completed by its requester (R5.1, R5.2)?
  bool completes(const StateProperties& states, State right) const {
    return !states.may_store(right) || completion;
  }
};

// The children that have been asked, and what they have said so far (R3).
struct Poll {
  uint8_t flags = 0;  // flags of all answers together
  int waiting = 0;    // number of answers outstanding

  bool says(uint8_t any_of) const { return (flags & any_of) != 0; }
  // Did a child have data that differ from the level above?
  bool dirty() const { return says(Flag::dirty | Flag::own | Flag::passed); }
};

// This level's own copy of the line: in its data array, or being written back from it.
template <class Data>
struct LevelCopy {
  bool stored = false;  // `data` are valid in the store
  bool dirty = false;   // `data` differ from the level above
  Kept<Data> data{};
};

// The data that a transaction has to give. Children, the level above or memory have sent them.
template <class Data>
struct InHand {
  bool valid = false;
  Kept<Data> data{};

  void put(const Data& sent) {
    data = sent;
    valid = true;
  }
};

template <class Env>
struct Entry {
  using Data = typename Env::Data;
  using Msg = Message<Data>;
  explicit Entry(const Env& env, uint64_t l)
      : line(l), holders(env.children(), env.policy().pointers) {}

  // The fields that quiet() reads come first, because each eviction asks many entries whether they
  // may go (R7.5).
  Phase phase = Phase::idle;
  bool probed = false;     // a probe from above waits
  bool contended = false;  // when the line came from above, others waited there for it (C9)
  int open_reads = 0;      // shared grants not yet completed
  int served = 0;          // requests served since the probe arrived (J3.1)
  Poll poll;
  typename Env::Queue queue{};

  uint64_t line;
  Copy above;  // the right held at the level above; a root holds M
  Holders<typename Env::Set> holders;
  LevelCopy<Data> copy;

  Kept<Msg> request{};  // request of the transaction under way; an eviction has no requester
  InHand<Data> in_hand;
  Msg probe{};  // the probe from above that waits, or that is being answered; it has no data

  bool busy() const { return phase != Phase::idle; }
  // Are children being asked on behalf of a probe from above?
  bool answers_above() const { return phase == Phase::probing || phase == Phase::above_probing; }
  bool quiet() const { return !busy() && !probed && open_reads == 0 && queue.empty(); }
  // Is there nothing to remember, so that the entry may be forgotten? A root holds every line at M.
  bool blank(bool root) const {
    return quiet() && !holders.any() && !copy.stored && (root || above.state == State::I);
  }
  // Is the request an upgrade of a copy that the requester surely has?
  bool upgrades(const Env& env) const {
    if (request.kind != Kind::Upg) return false;
    return env.policy().snoop || holders.has(env.ordinal(request.from));
  }
};

}  // namespace uncore
