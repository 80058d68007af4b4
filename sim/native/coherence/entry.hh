// What a resolver knows about one line: who below holds it, by what right this level does, its
// data, and the transaction under way.
//
// Plain state; coherence/resolver.hh is the only one that changes it. `Env` brings the types: Data
// (a line's bytes), Set (children by ordinal) and Queue (waiting messages).
#pragma once

#include "coherence/client.hh"

namespace uncore {

// What a resolver is, as far as the protocol is concerned.
struct Policy {
  bool root = true;
  bool snoop = false;       // knows nothing: asks every child
  bool direct = true;       // the owner answers the requester, not the resolver
  bool completion = true;   // an exclusive grant closes when the requester says so
  bool keeps_data = false;  // has a data store
  bool inclusive = false;   // recalls copies when its data are evicted
  bool forwarder = true;    // makes a reader the forwarder, where the protocol has one
  int grants = 0;           // children served before a waiting probe
};

template <class Env>
struct Entry {
  using Data = typename Env::Data;
  using Msg = Message<Data>;
  explicit Entry(const Env& env, uint64_t l) : line(l), sharers(env.children()) {}

  // First what decides whether it may go: each eviction asks it.
  Phase phase = Phase::idle;
  uint8_t answers = 0;     // flags collected
  bool stored = false;     // `data` are valid in this level's store
  bool dirty = false;      // and differ from the level above
  bool carried = false;    // `in_hand` holds data for the transaction under way
  bool contended = false;  // when the line came from above, others waited there for it (rule C9)
  bool probed = false;     // a probe from above waits
  int open_reads = 0;      // shared grants not yet completed
  int waiting = 0;         // answers outstanding
  int served = 0;          // children served since the probe arrived
  typename Env::Queue queue{};

  uint64_t line;
  Copy up;                   // the right held above; a root holds M
  int owner = kNobody;       // ordinal of the owner child
  uint32_t owner_grant = 0;  // the request that made it the owner
  typename Env::Set sharers;
  Data data{};

  Msg request{};  // of the transaction under way; an eviction has no requester
  Data in_hand{};
  Msg probe{};  // the one that waits, or that is being answered

  bool busy() const { return phase != Phase::idle; }
  // Children are asked on behalf of a probe from above.
  bool answers_above() const { return phase == Phase::probing || phase == Phase::above_probing; }
  bool quiet() const { return !busy() && !probed && open_reads == 0 && queue.empty(); }
  // Nothing to remember: the entry may be forgotten. A root holds every line at M.
  bool blank(bool root) const {
    return quiet() && owner == kNobody && !sharers.any() && !stored &&
           (root || up.state == State::I);
  }
};

}  // namespace uncore
