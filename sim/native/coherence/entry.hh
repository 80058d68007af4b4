// A resolver's entry for one line: a directory entry (the children that hold the line), the right
// that the resolver itself holds at the level above, its own copy of the data, and the transaction
// under way.
//
// It is plain state. `Env` supplies the types Data (a line's bytes), Set (children by ordinal) and
// Queue (waiting messages). Invariant: only the parts of coherence/resolver.hh change an entry.
#pragma once

#include "coherence/client.hh"
#include "coherence/holders.hh"

namespace uncore {

// The properties of a resolver that the protocol depends on (R3 to R11), from the machine file.
struct Policy {
  bool root = true;
  bool snoop = false;       // keeps no directory, so it probes every child
  bool direct = true;       // the owner sends the data straight to the requester
  bool completion = true;   // the requester's Unblock closes an exclusive grant (R5.1)
  bool keeps_data = false;  // has a data store (R7)
  bool inclusive = false;   // recalls the copies below when its data are evicted (R7.2)
  bool forwarder = true;    // makes a reader the forwarder (F), if the protocol has one
  // Number of children's requests that may be served before a waiting probe (J3.1).
  int max_grants_before_probe = 0;
  int pointers = 0;      // sharers that an entry can list (R11); 0: no limit
  int region = 1 << 30;  // children per bit of the coarse vector of overflowed pointers (R11.2)
  bool evicts = false;   // invalidates a sharer rather than overflow the pointers (R11.3)

  // Returns the right that this resolver grants if a table names `right` (R10): a resolver without
  // a forwarder grants the shared right instead of F.
  State gives(const StateProperties& states, State right) const {
    return states.forwards(right) && !forwarder ? states.shared_right : right;
  }
  // Returns whether the requester must confirm a grant of this right by an Unblock (R5.1, R5.2).
  bool completes(const StateProperties& states, State right) const {
    return !states.may_store(right) || completion;
  }
};

// The answers that have arrived so far from the children that were probed (R3).
struct Poll {
  uint8_t flags = 0;  // the flags of all answers, or-ed
  int waiting = 0;    // number of answers outstanding

  bool says(uint8_t any_of) const { return (flags & any_of) != 0; }
  // Returns whether a child had data that differ from the level above.
  bool dirty() const { return says(Flag::dirty | Flag::own | Flag::passed); }
};

// This level's own copy of the line, in its data store or being written back from it.
template <class Data>
struct LevelCopy {
  bool stored = false;  // the data store holds `data`
  bool dirty = false;   // `data` differ from the level above
  Kept<Data> data{};
};

// The data that the transaction under way will grant, once a child, the level above or memory has
// sent them.
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

  // The fields that quiet() reads come first, because each eviction examines many entries to find a
  // quiet one (R7.5).
  Phase phase = Phase::idle;
  bool probed = false;     // a probe from above waits
  bool contended = false;  // others waited for the line when the level above granted it (C9)
  int open_reads = 0;      // shared grants not yet completed
  int served = 0;          // children's requests served since the waiting probe arrived (J3.1)
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
  // Returns whether the children are being probed on behalf of a probe from above.
  bool answers_above() const { return phase == Phase::probing || phase == Phase::above_probing; }
  bool quiet() const { return !busy() && !probed && open_reads == 0 && queue.empty(); }
  // Returns whether the entry can be deleted, because a new one would be equal. A root's right does
  // not count, since a root holds M for every line.
  bool blank(bool root) const {
    return quiet() && !holders.any() && !copy.stored && (root || above.state == State::I);
  }
  // Returns whether the request is an upgrade by a child that is recorded as a holder. A snooping
  // resolver has no record, so it assumes that the requester still has its copy.
  bool upgrades(const Env& env) const {
    if (request.kind != Kind::Upg) return false;
    return env.policy().snoop || holders.has(env.ordinal(request.from));
  }
};

}  // namespace uncore
