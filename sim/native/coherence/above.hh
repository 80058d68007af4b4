// The upper half of a join: a join is a client of the level above it (J1), and this file manages
// the right that it holds there. Part of resolver.hh; the client's logic is in coherence/client.hh.
//
// Interface: suffices() compares the right with a child's request; obtain() and accept() get a
// right; answer() and evict() give it up.
// Invariant: the right changes only as client.table says. A root holds M from the beginning, so
// suffices() is always true there.
#pragma once

#include "coherence/level.hh"

namespace uncore {

// The `Env` of client.hh for a join: to the level above, this level and its children together are
// one client.
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
  // Returns whether this level must request data together with the right. A right without data is
  // enough only if the requester or this level certainly has the data (J4).
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

  // Returns whether this level's right suffices to grant a child's request. E suffices for a write,
  // because note_modified() turns it into M when the child is granted M.
  static bool suffices(const Env& env, const E& entry, const Msg& request) {
    return env.protocol().client(entry.above.state, event_of(request)).has(Act::hit);
  }

  // Requests the right that the child's request needs from the level above.
  void obtain() { access(event_of(entry_.request)); }

  // Handles a grant or a PutAck from the level above.
  void accept(const Msg& m) {
    if (m.kind == Kind::PutAck) return Logic::put_away(client_, entry_.above);
    entry_.contended = m.contended;
    Logic::granted(client_, entry_.above, m);
  }

  // Called when a child has modified data, or had modified the data that it passed to another
  // child: a right E at the level above becomes M.
  [[gnu::always_inline]] void note_modified() {
    const State held_right = entry_.above.state;
    if (env_.protocol().may_store(held_right) && !env_.protocol().is_written(held_right))
      access(ClientEvent::Store);
  }
  // Updates the right held above from the children's answers to a poll.
  void learn(const Poll& poll) {
    if (poll.says(Flag::passed))
      note_modified();
    else if (poll.dirty())
      note_dirtied();
  }
  // Called when a child has sent dirty data away (J5.3).
  void note_dirtied() {
    const State held_right = entry_.above.state;
    if (!env_.protocol().is_dirty(held_right) || env_.protocol().is_written(held_right))
      note_modified();
  }

  // Returns whether the data to be granted came from above together with ownership, because the
  // owner there passed the line on (J5.2). No child owns them yet.
  bool was_passed() const {
    const auto& protocol = env_.protocol();
    return protocol.passed_right != State::I && !env_.policy().root && !entry_.copy.dirty &&
           protocol.is_dirty(entry_.above.state);
  }

  // Drops this level's right. Called when the data were clean and are lost: this level does not
  // store them, and the children have silently dropped their copies (R6).
  void drop() {
    if (evict() != EvictionResult::dropped || env_.protocol().holds_copy(entry_.above.state))
      throw lost_data();
  }

  EvictionResult evict() { return Logic::evict(client_, entry_.above); }

  // Returns whether the probe revokes a grant that has not reached this level yet (C3.1).
  bool is_early(const Msg& probe) const { return Logic::is_early(client_, entry_.above, probe); }
  void answer(const Msg& probe) { Logic::answer(client_, entry_.above, probe); }

 private:
  using Logic = Client<UpperHalf<Env>>;

  static ClientEvent event_of(const Msg& m) {
    return m.kind == Kind::GetS ? ClientEvent::Load : ClientEvent::Store;
  }
  void access(ClientEvent event) { Logic::access(client_, entry_.above, event); }

  Env& env_;
  E& entry_;
  UpperHalf<Env> client_;
};

}  // namespace uncore
