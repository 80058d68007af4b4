// A resolver as an agent of the machine: the protocol of coherence/resolver.hh given time,
// positions and capacities (rules R1, R7, R8 and R9).
//
// Requests and probes from above wait for their slice and occupy it for `service`; answers, data
// and `Unblock`s do not. Entries are made when a line is first asked for and forgotten when
// nothing is known of it any more.
//
// Interface: arrive() and act() at the actions of these names. Invariant: only quiet entries are
// evicted; where none is quiet, a set overflows for a while.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "fabric/network.hh"
#include "storage/line_map.hh"
#include "storage/ways.hh"
#include "memory/memories.hh"
#include "memory/versions.hh"
#include "observe/counters.hh"
#include "observe/log.hh"
#include "observe/trace.hh"
#include "resolver/resolver_at.hh"

namespace uncore {

// What a resolver needs of the machine around it.
struct ResolverSurroundings {
  const Protocol& protocol;
  const Agents& agents;
  AddressMap& map;
  Network& network;
  EventQueue& queue;
  Memories& memories;
  Counters& counters;
  Log* log;            // null unless the job asks for it
  Trace* trace;        // the same, and then there is a log
  Versions* versions;  // null unless a core is weakly ordered
};

class ResolverAgent {
 public:
  // Where what is known of a line is kept.
  struct Placed {
    uint64_t used = 0;       // stamp for LRU
    Time repeats = 0;        // when its data may leave again
    Agent origin = kNobody;  // who supplied the data in hand
    bool in_store = false, in_tags = false;
    uint64_t last_use() const { return used; }
  };
  // What an eviction asks of one stands in one line of the host.
  struct alignas(64) PlacedEntry : Placed, Entry<ResolverAt> {
    using Entry::Entry;
  };

  ResolverAgent(const ResolverSurroundings& around, Agent self, const ResolverSpec& spec);

  void arrive(PacketId id, Time now);  // at its slice
  void act(PacketId id, Time now);     // after service

  // The line's bytes if this level's are the valid ones; for functional reads.
  const Bytes* stored_data(uint64_t line) const;
  template <class F>
  void each(F f) const {
    for (const auto& [line, e] : entries_) f(*e);
  }
  // Wherever the line's bytes are, valid or not.
  template <class F>
  void each_copy(uint64_t line, F f) {
    const auto found = entries_.find(line);
    if (found == entries_.end()) return;
    PlacedEntry& e = *found->second;
    f(e.data), f(e.in_hand), f(e.request.data), f(e.probe.data);
    e.queue.each([&](Msg& waiting) { f(waiting.data); });
  }
  std::vector<Time> busy;  // summed service time of each slice

 private:
  friend class ResolverAt;
  using Msg = Message<Bytes>;
  using Set = Ways<PlacedEntry>;

  std::size_t slice(uint64_t line) const {
    return around_.map.slice(around_.agents.resolver_number(self_), line);
  }
  void act_after(PacketId id, Time when);
  Time delay(const Packet& packet);
  bool awaited(const Packet& packet);
  bool must_look_up(const Packet& packet);
  PlacedEntry* known(uint64_t line);  // or null
  PlacedEntry& entry(ResolverAt& at, uint64_t line);
  std::unique_ptr<PlacedEntry> made(ResolverAt& at, uint64_t line);
  void forget_if_blank(PlacedEntry& e);
  void log_received(const PlacedEntry& e, PacketId id, Time now);

  // --- capacities ---
  Set& tags(uint64_t line);
  Set& store(uint64_t line) { return store_[line % std::max(1u, spec_.data_sets)]; }
  void use(PlacedEntry& e) { e.used = ++clock_; }
  void take_tag(ResolverAt& at, PlacedEntry& e);
  void evict_if_full(ResolverAt& at, Set& set, uint32_t ways, PlacedEntry& keep, bool recall);

  const ResolverSurroundings around_;
  const Agent self_;
  const ResolverSpec& spec_;
  Policy policy_;
  std::vector<Time> free_;  // by slice
  LineMap<std::unique_ptr<PlacedEntry>> entries_;
  std::vector<std::unique_ptr<PlacedEntry>> spare_;  // of lines that are forgotten
  PlacedEntry* last_ = nullptr;  // that was asked for: a transaction asks several times
  LineMap<Set> store_, tags_;    // sets, made when touched
  uint32_t requests_ = 0;
  uint64_t clock_ = 0;
};

// --- what the protocol asks for all the time ---

inline const Protocol& ResolverAt::protocol() const { return agent_.around_.protocol; }
inline const Policy& ResolverAt::policy() const { return agent_.policy_; }
inline Agent ResolverAt::self() const { return agent_.self_; }
inline int ResolverAt::children() const { return static_cast<int>(agent_.spec_.children.size()); }
inline Agent ResolverAt::child(int ordinal) const { return agent_.spec_.children[ordinal]; }
inline int ResolverAt::ordinal(Agent a) const {
  return a == kNobody ? kNobody : agent_.around_.agents.ordinal(a);
}
inline Agent ResolverAt::above(uint64_t line) const {
  return agent_.around_.map.resolver_above(agent_.self_, line, kNobody);
}
inline uint32_t ResolverAt::next_request() { return ++agent_.requests_; }

inline void ResolverAt::enters(const E& e, ClientEvent event, State next) const {
  if (Trace* trace = agent_.around_.trace) [[unlikely]]
    trace->entered(agent_.self_, e.line, e.up.state, event, next, now_);
}

inline bool ResolverAt::young(const Msg& probe) const {
  return probe.since > 0 && now_ < probe.since + agent_.spec_.grants_until;
}

}  // namespace uncore
