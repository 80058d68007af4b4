// Grants: how a resolver answers a child's request, with data, with a right alone (R4 to R6), or
// with the value of an atomic operation that it performs for the child (C8.3). Part of resolver.hh.
#pragma once

#include "coherence/above.hh"
#include "coherence/probes.hh"

namespace uncore {

template <class Env>
class Grants {
 public:
  using E = Entry<Env>;
  using Data = typename Env::Data;
  using Msg = Message<Data>;

  Grants(Env& env, E& entry) : env_(env), entry_(entry) {}

  // Grants the request: sends the data or the right alone, unless the owner has already sent the
  // data to the requester, and records the child as a holder.
  [[gnu::always_inline]] void deliver() {
    if (!entry_.poll.says(Flag::handed)) send();
    record();
    entry_.in_hand.valid = false;
  }
  void operate();
  TransactionEvent await() const;

 private:
  [[gnu::always_inline]] void send();
  [[gnu::always_inline]] void record();
  // Returns the data to be granted: those in hand, or else this level's copy.
  Data& data() { return entry_.in_hand.valid ? entry_.in_hand.data : entry_.copy.data; }

  Env& env_;
  E& entry_;
};

template <class Env>
inline void Grants<Env>::send() {
  Msg m;
  m.kind = entry_.upgrades(env_) && !entry_.in_hand.valid ? Kind::Grant : Kind::Data;
  m.right = entry_.request.right;
  m.from = m.resolver = env_.self();
  m.to = entry_.request.from;
  m.line = entry_.line;
  m.id = entry_.request.id;
  m.wants_unblock = env_.policy().completes(env_.protocol(), m.right);
  m.contended = env_.contended(entry_);
  if (m.kind == Kind::Data) m.carry(data());
  if (m.carries && !entry_.in_hand.valid)
    env_.send_stored(entry_, m);
  else
    env_.send(entry_, m);
}

// Records the child as a holder. If the child becomes responsible for dirty data, this level's own
// copy is no longer dirty, and is dropped unless the level is inclusive.
template <class Env>
inline void Grants<Env>::record() {
  const State right = entry_.request.right;
  const int child = env_.ordinal(entry_.request.from);
  // A snooping resolver cannot know whether an upgrading child still has its copy. If it does not,
  // it sends a GetM next, for which this level must keep its data.
  const bool needs_data = env_.policy().snoop && entry_.upgrades(env_);
  if (!env_.policy().snoop) {
    if (env_.protocol().is_owner(right))
      entry_.holders.add_owner(child, entry_.request.id);
    else
      entry_.holders.add_sharer(child);
  }
  if (!env_.protocol().is_dirty(right)) return;
  // The child is responsible for the data from now on (R7.3). A reader gets such a right only if an
  // owner passed modified data to it, and then share() has already updated the right held above.
  if (entry_.request.kind != Kind::GetS) Above(env_, entry_).note_modified();
  if (needs_data) return;
  entry_.copy.dirty = false;
  if (entry_.copy.stored && !env_.policy().inclusive) Level(env_, entry_).drop();
}

// Returns the event after a grant; kNoEvent: the transaction stays open until the Unblock. After a
// shared grant further reads may begin before its Unblock arrives (R5.2). An exclusive grant waits
// for the Unblock if the policy demands one (R5.1), or if an owner passed the line to a reader,
// because the owner's probe has already told the reader to send one (R12.2).
template <class Env>
TransactionEvent Grants<Env>::await() const {
  if (env_.policy().snoop) return kNoEvent;
  if (!env_.protocol().may_store(entry_.request.right)) return TransactionEvent::Overlap;
  const Poll& poll = entry_.poll;
  const bool passed = poll.says(Flag::passed) && poll.says(Flag::handed);
  return env_.policy().completion || passed ? kNoEvent : TransactionEvent::Over;
}

// Performs a far atomic on this level's data. All children's copies have been revoked (C8.3).
template <class Env>
void Grants<Env>::operate() {
  const bool stored = !entry_.in_hand.valid;
  const Msg value = env_.apply(data(), entry_.request);
  Above(env_, entry_).note_modified();
  if (!Level(env_, entry_).accept_dirty(data()))
    throw ProtocolError{"a join without data was asked for an atomic operation on them"};
  if (stored)
    env_.send_stored(entry_, value);
  else
    env_.send(entry_, value);
  entry_.in_hand.valid = false;
}

}  // namespace uncore
