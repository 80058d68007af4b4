// A join is a client of the level above it (J1). This file keeps the right that the join holds
// there. Part of resolver.hh; the client's logic is in coherence/client.hh.
//
// Interface: suffices() compares the right with a request, obtain() and accept() get a right,
// answer() and evict() give it up.
// Invariant: the right changes by the client table alone. A root holds M from the beginning, and
// suffices() is true.
#pragma once

#include "coherence/level.hh"

namespace uncore {

// The line as the client logic sees it: the `Env` of client.hh. To the level above, this level and
// its children are one client.
template <class Env>
class UpperHalf {
 public:
  using E = Entry<Env>;
  using Data = typename Env::Data;
  using Msg = Message<Data>;

  UpperHalf(Env& env, E& entry) : env_(env), entry_(entry) {}

  const auto& protocol() const { return env_.protocol(); }
  Agent self() const { return env_.self(); }
  uint64_t number() const { return entry_.line; }
  Agent above() const { return env_.above(entry_.line); }
  uint32_t next_request() { return env_.next_request(); }
  void send(const Msg& m) { env_.send(entry_, m); }
  const Data* data() const {
    if (entry_.in_hand.valid) return &entry_.in_hand.data;
    return entry_.copy.stored || entry_.phase == Phase::put ? &entry_.copy.data : nullptr;
  }
  bool shares() const { return entry_.copy.stored || entry_.holders.any(); }
  bool stays_below() const { return protocol().has_stays && entry_.holders.any(); }
  // Returns whether this level must ask for the line's data with the right. A bare right serves
  // only if the requester or this level surely has the data (J4).
  bool needs_data() const {
    return !entry_.copy.stored && !protocol().is_dirty(entry_.above.state) &&
           !entry_.upgrades(env_);
  }
  void fill(const Data& data) { Level(env_, entry_).fill(data); }
  void entered(ClientEvent event, State next) { env_.entered(entry_, event, next); }

 private:
  Env& env_;
  E& entry_;
};

template <class Env>
class Above {
 public:
  using E = Entry<Env>;
  using Msg = Message<typename Env::Data>;

  Above(Env& env, E& entry) : env_(env), entry_(entry), client_(env, entry) {}

  // Returns whether this level's right suffices to grant a child's request. E suffices for a write:
  // note_modified() turns it into M when the child is granted M.
  static bool suffices(const Env& env, const E& entry, const Msg& request) {
    return env.protocol().client(entry.above.state, wish(request)).has(Act::hit);
  }

  // Asks for the right that the request needs.
  void obtain() { access(wish(entry_.request)); }

  // Takes a grant, or the PutAck, from the level above.
  void accept(const Msg& m) {
    if (m.kind == Kind::PutAck) return Logic::put_away(client_, entry_.above);
    entry_.contended = m.contended;
    Logic::granted(client_, entry_.above, m);
  }

  // Called when a child has modified data, or had modified them before it passed them on: an E held
  // at the level above becomes an M.
  [[gnu::always_inline]] void note_modified() {
    const State held = entry_.above.state;
    if (env_.protocol().may_store(held) && !env_.protocol().is_written(held))
      access(ClientEvent::Store);
  }
  // Updates the right held above from the children's answers to a poll.
  void learn(const Poll& poll) {
    if (poll.says(Flag::passed))
      note_modified();
    else if (poll.dirty())
      note_dirtied();
  }
  // Called when a child gave dirty data away (J5.3).
  void note_dirtied() {
    const State held = entry_.above.state;
    if (!env_.protocol().is_dirty(held) || env_.protocol().is_written(held)) note_modified();
  }

  // Returns whether the data to be granted came from above together with the responsibility for
  // them, because their owner there passed the line on (J5.2). No child answers for them yet.
  bool was_passed() const {
    const auto& protocol = env_.protocol();
    return protocol.passed_right != State::I && !env_.policy().root && !entry_.copy.dirty &&
           protocol.is_dirty(entry_.above.state);
  }

  // Drops this level's right. Called when neither this level nor a child has the data any more,
  // because the children have silently dropped their clean copies (R6).
  void drop() {
    if (evict() != Evicted::dropped || env_.protocol().holds_copy(entry_.above.state))
      throw lost_data();
  }

  Evicted evict() { return Logic::evict(client_, entry_.above); }

  // Returns whether the probe revokes a grant that this level still waits for (C3.1).
  bool is_early(const Msg& probe) const { return Logic::is_early(client_, entry_.above, probe); }
  void answer(const Msg& probe) { Logic::answer(client_, entry_.above, probe); }

 private:
  using Logic = Client<UpperHalf<Env>>;

  static ClientEvent wish(const Msg& m) {
    return m.kind == Kind::GetS ? ClientEvent::Load : ClientEvent::Store;
  }
  void access(ClientEvent event) { Logic::access(client_, entry_.above, event); }

  Env& env_;
  E& entry_;
  UpperHalf<Env> client_;
};

}  // namespace uncore
