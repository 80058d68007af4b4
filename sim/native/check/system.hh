// One line in a whole machine: its cores, its resolvers, its memory and the messages under way.
//
// Cores and resolvers use the engine's own templates (coherence/client.hh and resolver.hh). A core
// performs an access at once, or when the right that it has requested arrives. The network is
// unordered: any message may be the next to arrive.
//
//   for (const Step& s : system.steps()) { System next = system; next.take(s); }
//
// Each store writes a new version number into one word of the line, and `golden` holds the newest
// numbers. These invariants are checked after every step, which throws Violation if one fails: if a
// core is in E or M, no other can read; at most one core is in O; at most one core below a resolver
// is in F; every readable copy equals `golden`, so that a load returns the last store. Data in
// memory or in a resolver's store are checked when a core gets them. An access that begins either
// hits or sends a request.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "check/environment.hh"
#include "check/step.hh"

namespace uncore::check {

template <class Size>
class System {
 public:
  using Data = DataOf<Size>;
  using Msg = Message<Data>;
  using Env = AtResolver<Size>;
  using Entry = uncore::Entry<Env>;

  struct Core {
    Copy copy;
    Data data{};
    FixedQueue<Msg, 2> deferred;  // probes that wait until the copy's state changes
    bool far_in_flight = false;   // a far atomic is under way
  };

  System(const Tree& t, const RecordingProtocol& p) : tree(&t), protocol(&p) {
    if (t.cores > Size::cores || t.agents() - t.cores > Size::nodes)
      throw std::invalid_argument("check: this tree has more cores or resolvers than supported");
    golden.fill(1);
    memory = golden;
    for (Agent a = t.cores; a < t.agents(); ++a) forget(a);
  }

  const Tree* tree;
  const RecordingProtocol* protocol;
  std::array<Core, Size::cores> cores{};
  FixedQueue<Msg, Size::messages> messages;
  std::array<uint32_t, Size::cores + Size::nodes> ids{};  // number of every agent's newest request
  Data memory{}, golden{};
  bool reading = false;    // the root waits for data from memory
  uint64_t performed = 0;  // number of accesses performed

  Entry& entry(Agent a) { return entries_[static_cast<std::size_t>(a - tree->cores)].entry; }
  const Entry& entry(Agent a) const {
    return entries_[static_cast<std::size_t>(a - tree->cores)].entry;
  }
  const Copy& copy(Agent a) const { return tree->is_core(a) ? core(a).copy : entry(a).above; }
  Core& core(Agent a) { return cores[static_cast<std::size_t>(a)]; }
  const Core& core(Agent a) const { return cores[static_cast<std::size_t>(a)]; }

  uint32_t next_request(Agent a) { return ++ids[static_cast<std::size_t>(a)]; }

  // Returns whether the agent has so many Unblocks under way that it may not begin a new
  // transaction (Tree::max_unblocks).
  bool at_unblock_limit(Agent a) const {
    const auto is_own_unblock = [a](const Msg& m) {
      return m.kind == Kind::Unblock && m.from == a;
    };
    return std::count_if(messages.begin(), messages.end(), is_own_unblock) >= tree->max_unblocks;
  }

  // Returns whether no message and no transaction is under way.
  bool quiet() const {
    if (!messages.empty() || reading) return false;
    for (Agent a = 0; a < tree->cores; ++a)
      if (protocol->transient(core(a).copy.state) || core(a).far_in_flight ||
          !core(a).deferred.empty())
        return false;
    for (Agent a = tree->cores; a < tree->agents(); ++a)
      if (!entry(a).quiet()) return false;
    return true;
  }

  bool may_arrive(const Msg& m) const { return !is_request(m.kind) || !at_unblock_limit(m.to); }

  // Returns whether a step that begins a new transaction is possible and has an effect.
  bool may_begin(const Step& s) const;
  void steps(std::vector<Step>& out) const;
  void take(const Step& s) {
    switch (s.what) {
      case Step::What::deliver: {
        const Msg m = messages[s.index];
        messages.replace_by_last(s.index);
        deliver(m);
        break;
      }
      case Step::What::memory:
        reading = false;
        deliver(from_memory());
        break;
      case Step::What::evict_data:
        with(s.index, [](Env& env, Entry& e) { Logic(env, e).evict(); });
        break;
      case Step::What::recall:
        with(s.index, [](Env& env, Entry& e) { Logic(env, e).recall(); });
        break;
      default:
        access(s.index, s.event(), s.word);
        reconsider(s.index);
    }
    check_rights();
  }

  // Performs an atomic operation on a resolver's data.
  Msg apply(Data& data, const Msg& m, Agent agent);

  std::string describe(const Step& s) const;

 private:
  using Logic = Resolver<Env>;
  using CoreEnv = AtCore<Size>;
  using CoreLogic = Client<CoreEnv>;

  struct Slot {
    Entry entry{Env{}, 0};
  };
  std::array<Slot, Size::nodes> entries_{};
  std::array<uint8_t, Size::cores> word_{};  // for each core: the word that its access is for

  void forget(Agent a) {
    Env env{this, a};
    entry(a) = Entry(env, 0);
    Logic(env, entry(a)).init();
  }

  template <class Act>
  void with(Agent a, Act&& act) {
    Env env{this, a};
    act(env, entry(a));
    if (entry(a).blank(tree->node(a).policy.root)) forget(a);  // the engine does the same
  }

  Msg from_memory() const {
    Msg m;
    m.kind = Kind::Data;
    m.to = tree->agents() - 1;
    m.carry(memory);
    return m;
  }

  void deliver(const Msg& m) {
    if (!tree->is_core(m.to))
      return with(m.to, [&m](Env& env, Entry& e) { Logic(env, e).receive(m); });
    receive(m.to, m);
    reconsider(m.to);
  }

  // --- cores: check/cores.hh

  void access(Agent c, ClientEvent event, int word);
  void perform(Agent c, ClientEvent event, int word);
  void receive(Agent c, const Msg& m);
  void receive_grant(CoreEnv& env, const Msg& m);
  void reconsider(Agent c);

  // --- invariants: check/rights.hh

  void check_rights() const;
};

}  // namespace uncore::check

// The definitions of System's member functions.
#include "check/cores.hh"
#include "check/describe.hh"
#include "check/rights.hh"
#include "check/steps.hh"
