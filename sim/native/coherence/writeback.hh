// Writebacks and recalls: handles the Puts of children (C5), and gives up the lines that this
// resolver evicts itself (R7, R8). Part of resolver.hh.
//
// Invariant: dirty data are written back before the right to them is given up. leave() throws if
// this level is responsible for dirty data but does not have them.
#pragma once

#include "coherence/above.hh"
#include "coherence/probes.hh"

namespace uncore {

template <class Env>
class Writeback {
 public:
  using E = Entry<Env>;
  using Msg = Message<typename Env::Data>;

  Writeback(Env& env, E& entry) : env_(env), entry_(entry) {}

  // Probes the child that sent a Put, to learn whether it still owns the line. A snooping resolver
  // has no record by which it could recognize a stale Put (R3).
  TransactionEvent ask_putter() {
    entry_.poll.flags = 0;
    entry_.poll.waiting = 1;
    Probes(env_, entry_).send(Kind::ProbeM, env_.ordinal(entry_.request.from), kNobody, State::I);
    return kNoEvent;
  }

  // Takes the data of a Put, which are in hand (R7.1 to R7.3). Returns Over if they are stored at
  // this level or in memory, Onward if they must be written back to the level above.
  TransactionEvent take() {
    entry_.holders.owner = kNobody;
    Above(env_, entry_).note_dirtied();
    const bool stays = Level(env_, entry_).accept_dirty(entry_.in_hand.data);
    return stays ? TransactionEvent::Over : TransactionEvent::Onward;
  }

  // Recalls every copy below this level (R7.4).
  TransactionEvent recall() {
    Probes probes(env_, entry_);
    return probes.ask(probes.cell(kNobody, Request::Evict), kNobody, kNobody);
  }

  TransactionEvent leave();
  void acknowledge();

 private:
  Env& env_;
  E& entry_;
};

// Called when no copy is left below: writes dirty data back and gives up the line (R7.4).
template <class Env>
TransactionEvent Writeback<Env>::leave() {
  using Event = TransactionEvent;
  entry_.holders.clear();
  Above(env_, entry_).learn(entry_.poll);
  const bool dirty = entry_.copy.dirty || entry_.poll.says(Flag::dirty);
  if (entry_.in_hand.valid) entry_.copy.data = entry_.in_hand.data;
  if (entry_.copy.stored) Level(env_, entry_).drop();
  entry_.copy.dirty = false;
  if (env_.policy().root) {
    if (dirty) env_.memory_write(entry_, entry_.copy.data);
    return Event::Over;
  }
  if (entry_.above.state == State::I) return Event::Over;
  if (!dirty && env_.protocol().is_dirty(entry_.above.state)) throw lost_data();
  return Above(env_, entry_).evict() == EvictionResult::put ? kNoEvent : Event::Over;
}

// Sends the PutAck to the child whose Put has been served. Sends nothing after an eviction by this
// level, which has no requester.
template <class Env>
void Writeback<Env>::acknowledge() {
  entry_.in_hand.valid = false;
  if (entry_.request.kind != Kind::Put) return;
  Msg m;
  m.kind = Kind::PutAck;
  m.from = m.resolver = env_.self();
  m.to = entry_.request.from;
  m.line = entry_.line;
  m.id = entry_.request.id;
  env_.send(entry_, m);
  env_.closed(entry_);
}

}  // namespace uncore
