// A resolver as an agent of the machine: adds time, positions and capacities to the protocol of
// coherence/resolver.hh (rules R1, R5.3, R7, R8 and R9).
//
// Requests, and probes from above, wait for their slice and occupy it for `service`; Answers, Data
// and Unblocks do not. Interface: the engine calls arrive() at Action::arrive and act() at
// Action::act. Both return Action::act if the engine must call act() at once, because no other
// event comes first; else Action::nothing.
#pragma once

#include "fabric/network.hh"
#include "memory/memories.hh"
#include "memory/versions.hh"
#include "observe/counters.hh"
#include "observe/resolver_observer.hh"
#include "resolver/capacity.hh"
#include "resolver/entries.hh"
#include "resolver/slices.hh"

namespace uncore {

// The context of a resolver: the parts of the engine that it uses.
struct ResolverContext {
  const Protocol& protocol;
  const Agents& agents;
  AddressMap& map;
  Network& network;
  EventQueue& queue;
  Memories& memories;
  Counters& counters;
  ResolverObserver observer;
  Versions* versions;  // null unless a core is weakly ordered
};

class ResolverAgent {
 public:
  ResolverAgent(const ResolverContext& context, Agent self, const ResolverSpec& spec);

  Action arrive(Packet& packet, Time now);  // called when a message reaches its slice
  Action act(Packet& packet, Time now);     // called when the slice has served the message

  // Returns the line's bytes if this level's copy is the newest, else null. Serves functional
  // reads.
  const Bytes* stored_data(uint64_t line);
  // Calls f for each copy of the line's bytes in this resolver, valid or not.
  template <class F>
  void each_copy(uint64_t line, F f) {
    TimedEntry* const e = entries_.find(line);
    if (!e) return;
    f(e->copy.data), f(e->in_hand.data);
    const auto carried = [&](const Msg& m) {
      if (m.carries) f(m.data);
    };
    carried(e->request);
    e->queue.each(carried);
  }
  const Entries& entries() const { return entries_; }
  const Slices& slices() const { return slices_; }

 private:
  friend class ResolverAt;
  using Msg = Message<Bytes>;

  Action act_after(const Packet& packet, Time when);
  [[gnu::noinline]] Time delay(const Packet& packet);
  bool has_successor(const Packet& packet);
  bool must_look_up(const Packet& packet);
  TimedEntry& entry(ResolverAt& resolver, uint64_t line);
  [[gnu::noinline]] TimedEntry& new_entry(ResolverAt& resolver, uint64_t line);
  void recall(ResolverAt& resolver, TimedEntry& e);
  void evict(ResolverAt& resolver, TimedEntry& e);
  void forget_if_blank(TimedEntry& e);
  [[gnu::noinline]] void forget_blank(TimedEntry& e);

  const ResolverContext context_;
  const Agent self_;
  const ResolverSpec& spec_;
  const Policy policy_;
  const bool delays_;  // true if delay() may return more than 0
  Slices slices_;
  Entries entries_;
  Capacity capacity_;
  uint32_t requests_ = 0;
};

// --- functions of the environment that the protocol calls often ---

inline const Protocol& ResolverAt::protocol() const { return agent_.context_.protocol; }
inline const Policy& ResolverAt::policy() const { return agent_.policy_; }
inline Agent ResolverAt::self() const { return agent_.self_; }
inline int ResolverAt::children() const { return static_cast<int>(agent_.spec_.children.size()); }
inline Agent ResolverAt::child(int ordinal) const { return agent_.spec_.children[ordinal]; }
inline int ResolverAt::ordinal(Agent a) const {
  return a == kNobody ? kNobody : agent_.context_.agents.ordinal(a);
}
inline Agent ResolverAt::above(uint64_t line) const {
  return agent_.context_.map.resolver_above(agent_.self_, line, kNobody);
}
inline uint32_t ResolverAt::next_request() { return ++agent_.requests_; }

inline void ResolverAt::entered(const E& e, ClientEvent event, State next) const {
  agent_.context_.observer.entered(e, agent_.self_, event, next, now_);
}

inline bool ResolverAt::can_wait(const Msg& probe) const {
  return probe.since > 0 && now_ < probe.since + agent_.spec_.grants_until;
}

}  // namespace uncore
