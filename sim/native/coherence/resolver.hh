// The resolver's side of the protocol for one line: the directory controller that orders the
// requests of its children. A root has memory above it; a join is a client of a resolver above it.
//
// Like client.hh, this is protocol logic without time or position. transaction.table decides what
// happens within a transaction, and this file decides which transaction starts when. Its parts are
// transaction.hh (the table; requests of children), probes.hh (probes sent to children), grants.hh,
// writeback.hh, level.hh (this level's data), above.hh (the right held above) and join.hh (probes
// from above). Each part combines an entry (entry.hh) with its environment for one call. The
// environment provides time, position, capacity and the sending of messages:
//
//   Data, Set, Queue                       types (coherence/entry.hh)
//   protocol(), policy(), self()           the tables, the resolver's properties, its agent number
//   children(), child(ordinal), ordinal(agent), above(line)
//   next_request()                         a fresh number for a request to the level above
//   send(entry, message)                   sends a message
//   send_stored(entry, message)            sends a message with data of this level's store (R6.1)
//   memory_read(entry), memory_write(entry, data)
//                                          used by a root; a read is answered by Data
//   keep(entry), discard(entry)            called when data have entered or left the store
//   apply(data, request) -> Message        performs an atomic operation, returns the Value message
//   opened(entry), closed(entry)           called when a transaction begins, ends
//   entered(entry, event, state)           called before the right held above becomes `state`
//   can_wait(probe)                        whether the request that caused it can still wait (J3.2)
//   contended(entry)                       whether others wait for the entry's line (C9.2)
//
// Invariants: a line has one transaction at a time, and later requests wait in arrival order (R2).
// Only shared grants may overlap, and no exclusive request starts before all of them are closed
// (R5.2). Dirty data are always in one of these: a child, `copy`, or one message under way.
#pragma once

#include "coherence/transaction.hh"

namespace uncore {

template <class Env>
class Resolver {
 public:
  using E = Entry<Env>;
  using Msg = Message<typename Env::Data>;

  Resolver(Env& env, E& entry) : env_(env), entry_(entry), transaction_(env, entry) {}

  // Called once for a new entry.
  void init() {
    if (env_.policy().root) entry_.above.state = env_.protocol().full_right;
  }
  // Handles a message of any kind.
  [[gnu::always_inline]] void receive(const Msg& m) {
    const bool read = m.kind >= Kind::Data && m.kind <= Kind::PutAck;  // actions read these kinds
    happen(accept(m), read ? m : entry_.request);
  }
  // Evicts this level's data. If they are dirty, or the level is inclusive, it first recalls the
  // copies below (R7). The entry must be quiet.
  void evict() {
    if (!entry_.copy.dirty && !env_.policy().inclusive) return Level(env_, entry_).drop();
    recall();
  }
  // Recalls every copy below and gives up the line (R8). The entry must be quiet.
  void recall();

 private:
  using Event = TransactionEvent;

  void happen(Event event, const Msg& message);
  [[gnu::always_inline]] Event accept(const Msg& m);
  [[gnu::always_inline]] Event request(const Msg& m);
  Event probed(const Msg& m);
  [[gnu::always_inline]] bool next(Event& event);
  bool start_probe(Event& event);
  bool may_begin(const Msg& m) const;

  Env& env_;
  E& entry_;
  Transaction<Env> transaction_;
};

// Executes the event that a message raises, then all requests and probes that may start after it.
// `message`: as in Transaction::happen().
template <class Env>
void Resolver<Env>::happen(Event event, const Msg& message) {
  const Msg* read = &message;
  do {
    transaction_.happen(event, *read);
    read = &entry_.request;
  } while (next(event));
}

// Returns the event of transaction.table that a message raises; kNoEvent if it raises none, or has
// to wait.
template <class Env>
inline TransactionEvent Resolver<Env>::accept(const Msg& m) {
  switch (m.kind) {
    case Kind::Answer:
      return Probes(env_, entry_).answered(m);
    case Kind::Unblock:
      return entry_.open_reads > 0 ? Event::UnblockS : Event::Unblock;
    case Kind::ProbeS:
    case Kind::ProbeM:
    case Kind::Inv:
      return probed(m);
    case Kind::Data:
    case Kind::Grant:
      return env_.policy().root ? Event::Memory : Event::Grant;
    case Kind::PutAck:
      return Event::PutAck;
    default:
      return request(m);
  }
}

template <class Env>
inline TransactionEvent Resolver<Env>::request(const Msg& m) {
  if (entry_.probed || !entry_.queue.empty() || !may_begin(m)) {
    entry_.queue.push(m);
    return kNoEvent;
  }
  entry_.request.assign(m);
  return transaction_.begin();
}

template <class Env>
TransactionEvent Resolver<Env>::probed(const Msg& m) {
  entry_.probe = m;
  entry_.probed = true;
  entry_.served = 0;
  return kNoEvent;
}

template <class Env>
void Resolver<Env>::recall() {
  static_cast<Header&>(entry_.request) = Header{};
  entry_.request.kind = Kind::Inv;
  entry_.request.line = entry_.line;
  entry_.poll.flags = 0;
  entry_.in_hand.valid = false;
  happen(Event::Evict, entry_.request);
}

// Starts the waiting probe (even during a transaction, if join.table allows it) or the request at
// the head of the queue, and sets `event` to its first event. Returns false if neither may start.
template <class Env>
inline bool Resolver<Env>::next(Event& event) {
  if (entry_.probed && !Join(env_, entry_).children_first()) return start_probe(event);
  if (entry_.queue.empty() || !may_begin(entry_.queue.front())) return false;
  if (entry_.probed) ++entry_.served;
  entry_.queue.pop(entry_.request);
  event = transaction_.begin();
  return true;
}

template <class Env>
bool Resolver<Env>::start_probe(Event& event) {
  if (Join(env_, entry_).must_wait()) return false;
  entry_.probed = entry_.contended = entry_.in_hand.valid = false;
  event = Event::Probe;
  return true;
}

// Returns whether the request may begin now. It may not while a transaction is under way (R2).
// While shared grants await their Unblocks, only a further read may begin, and only if it
// invalidates no sharer (R5.2, R11.3).
template <class Env>
bool Resolver<Env>::may_begin(const Msg& m) const {
  if (entry_.busy()) return false;
  if (entry_.open_reads == 0) return true;
  if (m.kind != Kind::GetS || env_.policy().snoop) return false;
  return !env_.policy().evicts || entry_.holders.displaced_by(env_.ordinal(m.from)) == kNobody;
}

}  // namespace uncore
