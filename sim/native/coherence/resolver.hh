// The resolver: one point of ownership for one line, as root (memory above) or as join (a resolver
// above, of which it is a client).
//
// Pure protocol, as client.hh: transaction.table says what happens, and the verbs of its cells are
// functions here. This file has what starts when; the verbs are in transaction.hh (children asked),
// grant.hh, writeback.hh and join.hh. Time, positions, capacities and messages under way are the
// environment's:
//
//   Data, Set, Queue                       types (coherence/entry.hh)
//   protocol(), policy(), self()           the tables, what this resolver is, its agent number
//   children(), child(ordinal), ordinal(agent), above(line)
//   next_request()                         a fresh number for a request to the level above
//   send(message)                          on its way now
//   send_stored(entry, message)            with data of this level's store
//   memory_read(entry), memory_write(entry, data)   a root's; a read is answered by Data
//   keep(entry), discard(entry)            data have entered, have left the store
//   apply(data, request) -> Message        does the atomic operation; what it read, as a Value
//   opened(entry), closed(entry)           a transaction
//   enters(entry, event, state)            told before the right held above becomes that
//   young(message)                         whether the request behind a probe may wait still
//   contended(entry)                       whether others wait for the line of a request served
//
// Invariants: one transaction a line at a time, later requests wait in arrival order; shared grants
// alone may overlap, and nothing exclusive starts before all of them are closed. Dirty data are
// always in a child, in `data`, or in the one message under way.
#pragma once

#include "coherence/entry.hh"

namespace uncore {

template <class Env>
class Resolver {
 public:
  using Data = typename Env::Data;
  using Msg = Message<Data>;
  using E = Entry<Env>;

  static void init(Env& env, E& e) {
    if (env.policy().root) e.up.state = env.protocol().full_right;
  }

  // A message of any kind that reached the resolver.
  static void receive(Env& env, E& e, const Msg& m) {
    switch (m.kind) {
      case Kind::Answer:
        answered(env, e, m);
        break;
      case Kind::Unblock:
        happen(env, e, e.open_reads > 0 ? Event::UnblockS : Event::Unblock);
        break;
      case Kind::ProbeS:
      case Kind::ProbeM:
      case Kind::Inv:
        e.probe = m;
        e.probed = true;
        e.served = 0;
        break;
      case Kind::Data:
      case Kind::Grant:
        happen(env, e, env.policy().root ? Event::Memory : Event::Grant, m);
        break;
      case Kind::PutAck:
        happen(env, e, Event::PutAck, m);
        break;
      default:
        if (e.probed || !e.queue.empty() || !may_begin(env, e, m)) {
          e.queue.push(m);
        } else {
          e.request.assign(m);
          begin(env, e);
        }
    }
    next(env, e);
  }

  // Evicts this level's data; where they are dirty or the level is inclusive, the copies below go
  // first. The entry must be quiet.
  static void evict(Env& env, E& e) {
    if (!e.dirty && !env.policy().inclusive) return drop_data(env, e);
    recall(env, e);
  }

  // Recalls every copy below and gives up the line. The entry must be quiet.
  static void recall(Env& env, E& e) {
    e.request = Msg{};
    e.request.kind = Kind::Inv;
    e.request.line = e.line;
    e.answers = 0;
    e.carried = false;
    happen(env, e, Event::Evict);
    next(env, e);
  }

 private:
  using Event = TransactionEvent;
  static constexpr auto kNothing = static_cast<Event>(0xff);
  // Events that one may bring about; in the shipped tables a Put that is passed on: five.
  static constexpr int kMostAtOnce = 16;
  static constexpr int kNoChild = -2;  // no requester to except

  // What children are asked, as a cell says, and what an owner is to hand over.
  struct Asked {
    bool share, give_up, invalidate;
    State right;
  };
  static Asked asks(const Env& env, Cell cell) {
    return {cell.has(Plan::probeS), cell.has(Plan::probeM), cell.has(Plan::inv),
            given(env, cell.next())};
  }
  // The right that a table names, as this resolver gives it (rule R10).
  static State given(const Env& env, State right) {
    const auto& protocol = env.protocol();
    const bool forwards = protocol.forwards(right) && !env.policy().forwarder;
    return forwards ? protocol.shared_right : right;
  }

  static ClientEvent wish(const Msg& m) {
    return m.kind == Kind::GetS ? ClientEvent::Load : ClientEvent::Store;
  }

  // Starts whatever may start: a waiting probe, within a transaction too if its phase allows, or
  // requests from the head of the queue.
  static void next(Env& env, E& e) {
    for (;;) {
      const bool children = e.probed && children_first(env, e);
      if (e.probed && !children) {
        if (probe_waits(env, e)) return;
        e.probed = e.contended = e.carried = false;
        happen(env, e, Event::Probe);
        continue;
      }
      if (e.queue.empty() || !may_begin(env, e, e.queue.front())) return;
      if (e.probed) ++e.served;
      e.queue.pop(e.request);
      begin(env, e);
    }
  }
  // Does nothing that is under way stand before the request?
  static bool may_begin(const Env& env, const E& e, const Msg& m) {
    if (e.busy()) return false;
    return e.open_reads == 0 || (m.kind == Kind::GetS && !env.policy().snoop);
  }
  static void begin(Env& env, E& e) {
    e.carried = false;
    happen(env, e, turn(env, e));
  }

  // ---- the table, and a request below: coherence/transaction.hh

  static void happen(Env& env, E& e, Event event) { happen(env, e, event, e.request); }
  static void happen(Env& env, E& e, Event event, const Msg& come);
  static void perform(Env& env, E& e, Do action, const Msg& come);
  static Event decide(Env& env, E& e, Do action);
  static Event turn(Env& env, const E& e);
  static Children children(const Env& env, const E& e, int requester);
  static bool others_share(const E& e, int requester);
  static Cell resolver_cell(Env& env, const E& e, int requester, Request r);
  static Event poll(Env& env, E& e);
  static Event ask_children(Env& env, E& e, const Asked& asked, int except, Agent data_to);
  static void send_probe(Env& env, E& e, Kind kind, int child, Agent data_to, State right);
  static void answered(Env& env, E& e, const Msg& m);
  static Event said(Env& env, const E& e);
  static bool upgrades(Env& env, const E& e);
  static void share(Env& env, E& e);
  static void revoke(Env& env, E& e);
  static void choose_right(Env& env, E& e, Answers found);
  static void keep_owner_or_sharer(E& e);
  static void make_dirty(Env& env, E& e);

  // ---- what it is given: coherence/grant.hh

  static void grant(Env& env, E& e);
  static void list_child(Env& env, E& e);
  static bool wants_unblock(const Env& env, State right);
  static Event await(const Env& env, const E& e);
  static void operate(Env& env, E& e);
  static void take_over(Env& env, E& e);
  static void put_in_hand(E& e, const Data& data);
  static void fill(Env& env, E& e, const Data& data);
  static void put_in_store(Env& env, E& e, const Data& data, bool dirty);
  static void drop_data(Env& env, E& e);

  // ---- what comes back: coherence/writeback.hh

  static Event ask_putter(Env& env, E& e);
  static Event take(Env& env, E& e);
  static Event recall_below(Env& env, E& e);
  static Event leave(Env& env, E& e);
  static void acknowledge(Env& env, E& e);

  // ---- the level above: coherence/join.hh

  class UpperHalf;
  using Up = Client<UpperHalf>;
  static bool right_suffices(const Env& env, const E& e, const Msg& request);
  static void obtain(Env& env, E& e);
  static void accept(Env& env, E& e, const Msg& m);
  static void drop(Env& env, E& e);
  static bool children_first(Env& env, const E& e);
  static Waits waits_for(const E& e);
  static Cell join_cell(Env& env, const E& e);
  static bool probe_waits(Env& env, E& e);
  static Event probe_below(Env& env, E& e);
  static void reply(Env& env, E& e);
  static void keep_what_right_allows(Env& env, E& e);
};

}  // namespace uncore

#include "coherence/grant.hh"
#include "coherence/join.hh"
#include "coherence/transaction.hh"
#include "coherence/writeback.hh"
