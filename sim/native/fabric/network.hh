// The network: messages under way (rules F2, F3 and I5).
//
// A message travels its route leg by leg. It causes an event at each channel of the route, and one
// event when it has arrived, at which the engine gives the message to its agent. This class never
// calls an agent.
//
// Interface: send(), send_register() and send_many() send messages; cross() is called at
// Action::hop; the receiver drops the packet; in_flight() tells a core how far it may run ahead
// (S2).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/address_map.hh"
#include "fabric/fabric.hh"
#include "fabric/packet.hh"
#include "observe/message_observer.hh"
#include "time/queue.hh"

namespace uncore {

class Network {
 public:
  // `accept` is the time that an interrupt controller takes to accept a message.
  Network(const Agents& agents, const AddressMap& map, Fabric& fabric, EventQueue& queue,
          Time accept, const MessageObserver& observer)
      : agents_(agents),
        map_(map),
        fabric_(fabric),
        queue_(queue),
        accept_(accept),
        observer_(observer),
        traffic_(agents.count()) {}

  Packets packets;

  // Sends a coherence message, which leaves `m.from` at `when`. `origin` is the agent that supplied
  // the data it carries.
  void send(const Message<Bytes>& m, Time when, Agent origin);
  // Sends an access to a register, or its answer, to core `to`. `reader` is the hart that accesses
  // the register and waits for the answer of a read.
  void send_register(Device device, Register target, uint64_t value, Agent from, Agent to,
                     uint32_t reader, Time when);
  // Interrupts `harts` (in ascending order) by one message, which forks where their routes part
  // (I5).
  void send_many(std::vector<uint32_t> harts, Agent from, Time when);
  // Returns whether the job makes accesses to the line take no time (docs/whatif.md).
  bool costs_nothing(uint64_t line) const { return map_.costs_nothing(line); }
  // Moves the message across the channel at which it is, and across the following channels as long
  // as no other event comes first. Returns the action that is due now: an arrival, or
  // Action::nothing.
  [[gnu::always_inline]] Action cross(Packet& p, Time now);

  // Returns how many times a message has taken a channel, summed over all channels.
  uint64_t crossings() const;
  // Returns the number of messages sent.
  uint64_t messages() const {
    uint64_t all = 0;
    for (const Traffic& t : traffic_) all += t.sent;
    return all;
  }
  // Returns the sender's count (T2) for the next event that it causes.
  uint64_t next_sent(Agent sender) { return ++traffic_[sender].sent; }
  // Returns the number of messages under way to a core, including the probes that it has deferred.
  uint32_t in_flight(Agent core) const { return traffic_[core].in_flight; }
  void expect(Agent core) { ++traffic_[core].in_flight; }
  void arrived(Agent core) { --traffic_[core].in_flight; }

 private:
  // The next event of a message, at a channel or at its destination.
  struct Step {
    Time time;
    Action action;
  };
  [[gnu::always_inline]] Step onward(const Packet& p, Time head) const;
  void go(const Packet& p, Time head);
  [[gnu::always_inline]] Time take_channel(Packet& p, Time now);
  [[gnu::noinline]] void fork(Packet& packet, Time head, int32_t crossed);
  const Leg* next_leg(const Packet& p, uint32_t hart, int32_t crossed);
  std::vector<std::vector<uint32_t>> part(const Packet& p, const std::vector<uint32_t>& harts,
                                          int32_t crossed);
  uint64_t register_rank(Agent core, uint32_t hart) const {
    return event_place(static_cast<uint64_t>(core), kInterruptClass, hart);
  }

  const Agents& agents_;
  const AddressMap& map_;
  Fabric& fabric_;
  EventQueue& queue_;
  const Time accept_;
  const MessageObserver observer_;
  struct Traffic {
    uint64_t sent = 0;
    uint32_t in_flight = 0;  // to a core
  };
  std::vector<Traffic> traffic_;  // index: agent
};

// --- crossing a channel: inlined into the engine's loop ---

inline Action Network::cross(Packet& p, Time now) {
  for (;;) {
    const int32_t link = p.leg->link;
    const Time start = take_channel(p, now);
    if (p.forks()) [[unlikely]]
      return fork(p, start, link), Action::nothing;
    const auto [time, action] = onward(p, start);
    if (!queue_.pass_to(time, p)) return queue_.push(time, p, action), Action::nothing;
    if (action != Action::hop) return action;
    now = time;
  }
}

// Takes the channel of the present leg. Returns the time at which the head enters the channel.
inline Time Network::take_channel(Packet& p, Time now) {
  const Leg& leg = *p.leg;
  const Time busy = leg[p.size].busy;
  Channel& channel = fabric_.channels[leg.channel];
  const Time start = std::max(now, channel.free_at);
  channel.free_at = start + busy;
  channel.used += busy;
  ++channel.taken[static_cast<std::size_t>(p.size)];
  p.tail = std::max(p.tail, busy);
  observer_.crossed(p.number, leg.link, now, start);
  p.leg = leg.next;
  return start;
}

// Returns the next event of a message whose head begins its present leg at time `head`.
inline Network::Step Network::onward(const Packet& p, Time head) const {
  const Time reached = head + (*p.leg)[p.size].reach;
  if (p.leg->next) return {reached, Action::hop};
  const Time whole = reached + p.tail;
  if (p.device == Device::none) [[likely]]
    return {whole, Action::arrive};
  return {p.device == Device::value ? whole : whole + accept_, Action::reach};
}

}  // namespace uncore
