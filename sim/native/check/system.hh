// One line in a whole machine: its cores, its resolvers, its memory and the messages under way.
//
// A core here is a row of the client table, the line's data, and the rule by which accesses use
// them: a cell with `hit` performs the access, one with a request sends it and the access is
// performed when the grant arrives, `stall` waits. Resolvers are the very templates of the engine.
// The network keeps no order: every message may be the next to arrive.
//
//   for (const Step& s : system.steps()) { System next = system; next.take(s); }
//
// Each store writes a new version into one word of the line and `golden` holds the newest ones.
// Invariants, checked on every step, else Violation: a core in E or M is alone, one at most is in
// O, one at most of the cores below a resolver is in F, and every readable copy equals `golden`: a
// load returns the last store. A line in memory or in a resolver's store is checked when somebody
// is given it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "check/inline.hh"
#include "check/tree.hh"
#include "check/watched.hh"

namespace uncore::check {

struct Violation {
  std::string what;
};

// What may happen next.
struct Step {
  enum class What : uint8_t { deliver, memory, load, store, amo, evict, evict_data, recall };
  What what;
  int at = 0;    // the message, core or resolver
  int word = 0;  // of the line, of a store
  int line = 0;  // of two_lines.hh

  // Work under way goes on; the other steps begin some.
  bool progress() const { return what <= What::memory; }
};

template <int kCores, int kNodes, int kMessages, int kWords>
class System {
 public:
  using Data = std::array<uint32_t, kWords>;
  using Msg = Message<Data>;

  // What a resolver is told about its surroundings (coherence/resolver.hh).
  struct Env {
    using Data = System::Data;
    using Set = Bits;
    using Queue = Few<Msg, 2 * kCores>;  // a core may have an atomic under way beside a request

    System* system = nullptr;
    Agent agent = kNobody;

    const Watched& protocol() const { return *system->watched; }
    const Policy& policy() const { return node().policy; }
    Agent self() const { return agent; }
    int children() const { return system ? node().children : 0; }
    Agent child(int ordinal) const { return node().first + ordinal; }
    int ordinal(Agent a) const { return a - node().first; }
    Agent above(uint64_t) const { return node().parent; }
    uint32_t next_request() { return ++system->ids[static_cast<std::size_t>(agent)]; }
    void send(const Msg& m) { system->messages.push(m); }
    void send_stored(const Entry<Env>&, const Msg& m) { send(m); }
    Msg apply(Data& data, const Msg& m) { return system->apply(data, m, agent); }
    void memory_read(Entry<Env>&) { system->reading = true; }
    void memory_write(Entry<Env>&, const Data& data) { system->memory = data; }
    void keep(Entry<Env>&) {}
    void touch(Entry<Env>&) {}
    void discard(Entry<Env>&) {}
    void opened(Entry<Env>&) {}
    void closed(Entry<Env>&) {}
    // There is no time here. That children go first is what a probe that comes later sees.
    bool young(const Msg&) const { return false; }
    // And a core here is one hart.
    bool contended(const Entry<Env>&) const { return false; }

   private:
    const Node& node() const { return system->tree->node(agent); }
  };
  using Line = Entry<Env>;
  using Logic = Resolver<Env>;

  struct Core {
    Copy copy;
    Data data{};
    Few<Msg, 2> deferred;  // probes that wait for the state to change
    bool far = false;      // an atomic is under way
  };

  // And what a client is told about its line (coherence/client.hh).
  struct AtCore {
    using Data = System::Data;

    System* system;
    Agent agent;

    const Watched& protocol() const { return *system->watched; }
    Agent self() const { return agent; }
    uint64_t number() const { return 0; }
    Agent above() const { return system->tree->parent(agent); }
    uint32_t next_request() { return ++system->ids[static_cast<std::size_t>(agent)]; }
    void send(const Msg& m) { system->messages.push(m); }
    const Data* data() const { return &own().data; }
    bool shares() const { return protocol().holds_copy(own().copy.state); }
    bool needs_data() const { return false; }
    void fill(const Data& data) { system->core(agent).data = data; }
    void enters(State) {}

   private:
    const Core& own() const { return system->core(agent); }
  };
  using CoreClient = Client<AtCore>;

  System(const Tree& t, const Watched& w) : tree(&t), watched(&w) {
    if (t.cores > kCores || t.agents() - t.cores > kNodes)
      throw std::invalid_argument("check: this tree has more cores or resolvers than supported");
    golden.fill(1);
    memory = golden;
    for (Agent a = t.cores; a < t.agents(); ++a) forget(a);
  }

  const Tree* tree;
  const Watched* watched;
  std::array<Core, kCores> cores{};
  Few<Msg, kMessages> messages;
  std::array<uint32_t, kCores + kNodes> ids{};  // the newest request of every agent
  Data memory{}, golden{};
  bool reading = false;    // the memory is asked by the root
  uint64_t performed = 0;  // loads and stores

  Line& line(Agent a) { return lines_[static_cast<std::size_t>(a - tree->cores)].line; }
  const Line& line(Agent a) const { return lines_[static_cast<std::size_t>(a - tree->cores)].line; }
  const Copy& copy(Agent a) const { return tree->is_core(a) ? core(a).copy : line(a).up; }
  Core& core(Agent a) { return cores[static_cast<std::size_t>(a)]; }
  const Core& core(Agent a) const { return cores[static_cast<std::size_t>(a)]; }

  // Whether an agent has left too many completions under way (Tree::ahead).
  bool ahead(Agent a) const {
    const auto late = [a](const Msg& m) { return m.kind == Kind::Unblock && m.from == a; };
    return std::count_if(messages.begin(), messages.end(), late) >= tree->ahead;
  }

  // Nothing is under way.
  bool quiet() const {
    if (!messages.empty() || reading) return false;
    for (Agent a = 0; a < tree->cores; ++a)
      if (watched->transient(core(a).copy.state) || core(a).far || !core(a).deferred.empty())
        return false;
    for (Agent a = tree->cores; a < tree->agents(); ++a)
      if (!line(a).quiet()) return false;
    return true;
  }

  bool may_arrive(const Msg& m) const { return !is_request(m.kind) || !ahead(m.to); }

  // Whether a step that is not progress is possible and changes anything.
  bool may_begin(const Step& s) const {
    if (s.what == Step::What::amo && (!tree->far || core(s.at).far)) return false;
    if (s.what < Step::What::evict_data) {
      const Cell cell = watched->client(core(s.at).copy.state, event(s.what));
      // An access that stalls is tried again later; until then nothing changes.
      return cell.possible() && !cell.has(Act::stall) && !ahead(s.at);
    }
    const Node& node = tree->node(s.at);
    const Line& l = line(s.at);
    if (!l.quiet() || l.blank(node.policy.root)) return false;
    return s.what == Step::What::recall ? node.recalls : l.stored;
  }

  void steps(std::vector<Step>& out) const {
    out.clear();
    for (int m = 0; m < messages.size(); ++m)
      if (may_arrive(messages[m])) out.push_back({Step::What::deliver, m});
    if (reading) out.push_back({Step::What::memory});
    const auto consider = [&](Step s) {
      if (may_begin(s)) out.push_back(s);
    };
    for (Agent c = 0; c < tree->cores; ++c)
      for (const auto what :
           {Step::What::load, Step::What::store, Step::What::amo, Step::What::evict})
        consider({what, c});
    for (Agent a = tree->cores; a < tree->agents(); ++a)
      for (const auto what : {Step::What::evict_data, Step::What::recall}) consider({what, a});
  }

  void take(const Step& s) {
    switch (s.what) {
      case Step::What::deliver: {
        const Msg m = messages[s.at];
        messages.replace_by_last(s.at);
        deliver(m);
        break;
      }
      case Step::What::memory:
        reading = false;
        with(tree->agents() - 1, [&](Env& env, Line& l) { Logic::memory_data(env, l, memory); });
        break;
      case Step::What::evict_data:
        with(s.at, [](Env& env, Line& l) { Logic::evict(env, l); });
        break;
      case Step::What::recall:
        with(s.at, [](Env& env, Line& l) { Logic::recall(env, l); });
        break;
      default:
        access(s.at, event(s.what), s.word);
        reconsider(s.at);
    }
    check_rights();
  }

  std::string describe(const Step& s) const;

 private:
  struct Slot {
    Line line{Env{}, 0};
  };
  std::array<Slot, kNodes> lines_{};
  std::array<uint8_t, kCores> word_{};  // which word the store under way writes

  static ClientEvent event(Step::What what) {
    return what == Step::What::load    ? ClientEvent::Load
           : what == Step::What::store ? ClientEvent::Store
           : what == Step::What::amo   ? ClientEvent::Amo
                                       : ClientEvent::Evict;
  }

  // --- resolvers --------------------------------------------------------------------------------

  void forget(Agent a) {
    Env env{this, a};
    line(a) = Line(env, 0);
    Logic::init(env, line(a));
  }

  template <class Act>
  void with(Agent a, Act&& act) {
    Env env{this, a};
    act(env, line(a));
    if (line(a).blank(tree->node(a).policy.root)) forget(a);  // as an engine does
  }

  void deliver(const Msg& m) {
    if (!tree->is_core(m.to))
      return with(m.to, [&m](Env& env, Line& l) { Logic::receive(env, l, m); });
    receive(m.to, m);
    reconsider(m.to);
  }

  // --- cores ------------------------------------------------------------------------------------

  void access(Agent c, ClientEvent wish, int word) {
    Core& own = core(c);
    AtCore at{this, c};
    word_[static_cast<std::size_t>(c)] = static_cast<uint8_t>(word);
    if (wish == ClientEvent::Evict)
      CoreClient::evict(at, own.copy);
    else if (wish == ClientEvent::Amo && CoreClient::goes_far(at, own.copy))
      ask_far(at, word);
    else if (CoreClient::access(at, own.copy, wish) == Begun::performed)
      perform(c, wish, word);
  }

  // The word to write travels in the flags.
  void ask_far(AtCore& at, int word) {
    core(at.agent).far = true;
    Msg m = CoreClient::far_atomic(at);
    m.flags = static_cast<uint8_t>(word);
    at.send(m);
  }

  Msg apply(Data& data, const Msg& m, Agent at) {
    if (data != golden) throw Violation{"an atomic found old data at " + std::to_string(at)};
    ++performed;
    ++golden[m.flags];
    data = golden;
    Msg value;
    value.kind = Kind::Value;
    value.from = value.resolver = at;
    value.to = m.from;
    return value;
  }

  void perform(Agent c, ClientEvent wish, int word) {
    Core& own = core(c);
    if (own.data != golden)
      throw Violation{std::string(wish == ClientEvent::Load ? "a load" : "a store") + " of core " +
                      std::to_string(c) + " found old data"};
    ++performed;
    if (wish == ClientEvent::Load) return;
    ++golden[static_cast<std::size_t>(word)];
    own.data = golden;
  }

  void receive(Agent c, const Msg& m) {
    Core& own = core(c);
    AtCore at{this, c};
    if (m.kind == Kind::Value)
      own.far = false;
    else if (m.kind == Kind::PutAck)
      CoreClient::put_away(at, own.copy);
    else if (!is_probe(m.kind))
      receive_grant(at, m);
    else if (CoreClient::is_early(at, own.copy, m))
      own.deferred.push(m);
    else
      CoreClient::answer(at, own.copy, m);
  }

  void receive_grant(AtCore& at, const Msg& m) {
    Copy& copy = core(at.agent).copy;
    const bool reads = watched->waits_to_read(copy.state);
    if (CoreClient::granted(at, copy, m) && !watched->waits_for_grant(copy.state))
      perform(at.agent, reads ? ClientEvent::Load : ClientEvent::Store,
              word_[static_cast<std::size_t>(at.agent)]);
  }

  // Probes that waited are served in order, as far as the state they meet now allows.
  void reconsider(Agent c) {
    Core& own = core(c);
    AtCore at{this, c};
    while (!own.deferred.empty()) {
      const Msg m = own.deferred.front();
      if (CoreClient::is_early(at, own.copy, m)) return;
      own.deferred.pop();
      CoreClient::answer(at, own.copy, m);
    }
  }

  // --- what must hold ---------------------------------------------------------------------------

  void check_rights() const {
    int readers = 0, owners = 0, writers = 0;
    Agent forwards = kNobody;  // the resolver whose F was met last; each may have its own
    for (Agent a = 0; a < tree->cores; ++a) {
      const State s = core(a).copy.state;
      if (!watched->may_load(s)) continue;
      ++readers;
      writers += watched->may_store(s);
      owners += watched->is_dirty(s);
      if (core(a).data != golden)
        throw Violation{"core " + std::to_string(a) + " can read old data"};
      if (!watched->forwards(s)) continue;
      if (forwards == tree->parent(a)) throw Violation{"two cores of one resolver hold F"};
      forwards = tree->parent(a);
    }
    if (owners > 1 || (writers > 0 && readers > 1))
      throw Violation{"two cores hold rights that exclude each other"};
  }
};

}  // namespace uncore::check

#include "check/describe.hh"
