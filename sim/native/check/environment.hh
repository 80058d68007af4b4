// The environments in which the protocol runs in a machine without time or distance: one for a
// resolver (coherence/resolver.hh), one for a core (coherence/client.hh).
#pragma once

#include "check/inline.hh"
#include "check/recording_protocol.hh"
#include "check/tree.hh"

namespace uncore::check {

template <class Size>
class System;

// `Size` has the largest numbers of cores, resolvers (nodes) and messages under way of a System,
// and the number of words in a line.
template <class Size>
using DataOf = std::array<uint32_t, Size::words>;

}  // namespace uncore::check

namespace uncore {

// A far atomic in the checker: it increments a word of the line. The value that it reads is not
// needed, so Reads is empty.
template <std::size_t words>
struct FarAtomic<std::array<uint32_t, words>> {
  struct Asks {
    int word;
  };
  struct Reads {};
};

}  // namespace uncore

namespace uncore::check {

template <class Size>
struct AtResolver {
  using Data = DataOf<Size>;
  using Msg = Message<Data>;
  using Set = SmallSet;
  using Queue =
      FixedQueue<Msg, 2 * Size::cores>;  // a core may have a far atomic and a request under way

  System<Size>* system = nullptr;
  Agent agent = kNobody;

  const RecordingProtocol& protocol() const { return *system->protocol; }
  const Policy& policy() const { return system ? node().policy : kNone; }
  Agent self() const { return agent; }
  int children() const { return system ? node().children : 0; }
  Agent child(int ordinal) const { return node().first + ordinal; }
  int ordinal(Agent a) const { return a - node().first; }
  Agent above(uint64_t) const { return node().parent; }
  uint32_t next_request() { return system->next_request(agent); }
  void send(const Entry<AtResolver>&, const Msg& m) { system->messages.push(m); }
  void send_stored(const Entry<AtResolver>& e, const Msg& m) { send(e, m); }
  Msg apply(Data& data, const Msg& m) { return system->apply(data, m, agent); }
  void memory_read(Entry<AtResolver>&) { system->reading = true; }
  void memory_write(Entry<AtResolver>&, const Data& data) { system->memory = data; }
  void keep(Entry<AtResolver>&) {}
  void discard(Entry<AtResolver>&) {}
  void opened(Entry<AtResolver>&) {}
  void closed(Entry<AtResolver>&) {}
  void entered(const Entry<AtResolver>&, ClientEvent, State) {}
  // Returns false, because there is no time here. A child's request that is served before a waiting
  // probe is covered anyway, by the orders of messages in which the probe arrives later.
  bool can_wait(const Msg&) const { return false; }
  // Returns false, because contention matters only to cores with several harts; here a core has
  // one.
  bool contended(const Entry<AtResolver>&) const { return false; }

 private:
  static constexpr Policy kNone{};

  const Node& node() const { return system->tree->node(agent); }
};

template <class Size>
struct AtCore {
  using Data = DataOf<Size>;

  System<Size>* system;
  Agent agent;

  const RecordingProtocol& protocol() const { return *system->protocol; }
  Agent self() const { return agent; }
  uint64_t number() const { return 0; }
  Agent above() const { return system->tree->parent(agent); }
  uint32_t next_request() { return system->next_request(agent); }
  void send(const Message<Data>& m) { system->messages.push(m); }
  const Data* data() const { return &system->core(agent).data; }
  bool shares() const { return protocol().holds_copy(system->core(agent).copy.state); }
  bool needs_data() const { return false; }
  bool stays_below() const { return false; }
  void fill(const Data& data) { system->core(agent).data = data; }
  void entered(ClientEvent, State) {}
};

}  // namespace uncore::check
