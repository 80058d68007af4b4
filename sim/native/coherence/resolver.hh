// The resolver: one point of ownership for one line, as root (memory above) or as join (a resolver
// above, of which it is a client).
//
// Pure protocol, as client.hh: the tables say what happens; here stands how answers are counted and
// what a transaction remembers. This file has what starts when; the parts of a transaction are in
// transaction.hh, grant.hh, writeback.hh and join.hh (as in engine/reference). Time, positions,
// capacities and messages under way are the environment's:
//
//   Data, Set, Queue                       types (coherence/entry.hh)
//   protocol(), policy(), self()           the tables, what this resolver is, its agent number
//   children(), child(ordinal), ordinal(agent), above(line)
//   next_request()                         a fresh number for a request to the level above
//   send(message)                          on its way now
//   send_stored(entry, message)            with data of this level's store
//   memory_read(entry), memory_write(entry, data)   a root's; read answers by memory_data()
//   keep(entry), discard(entry)            data have entered, have left the store
//   apply(data, request) -> Message        does the atomic operation; what it read, as a Value
//   opened(entry), closed(entry)           a transaction
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
  using Step = typename E::Step;

  static void init(Env& env, E& e) {
    if (env.policy().root) e.up.state = State::M;
  }

  // A message of any kind that reached the resolver.
  static void receive(Env& env, E& e, const Msg& m) {
    switch (m.kind) {
      case Kind::Answer:
        answered(env, e, m);
        break;
      case Kind::Unblock:
        unblocked(env, e);
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
        granted(env, e, m);
        break;
      case Kind::PutAck:
        put_away(env, e);
        break;
      default:
        e.queue.push(m);
    }
    next(env, e);
  }

  // The memory's data for a root's transaction.
  static void memory_data(Env& env, E& e, const Data& data) {
    take_in(env, e, data);
    deliver(env, e);
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
    begin_recall(env, e);
    next(env, e);
  }

 private:
  static constexpr int kNoChild = -2;  // no requester to except

  struct Probes {
    bool share, give_up, invalidate;
  };

  static Children children(const Env& env, const E& e, int requester) {
    if (env.policy().snoop) return Children::U;
    if (e.owner != kNobody) return e.owner == requester ? Children::R : Children::W;
    return e.sharers.any() ? Children::S : Children::N;
  }

  static Cell plan_cell(Env& env, const E& e, int requester, Request r) {
    const Children c = children(env, e, requester);
    const Cell cell = env.protocol().resolver(c, r);
    if (!cell.possible())
      protocol_error("resolver", name::children[static_cast<std::size_t>(c)],
                     name::requests[static_cast<std::size_t>(r)], e.line);
    return cell;
  }

  // Starts whatever may start: a waiting probe, within a transaction too if its phase allows, or
  // requests from the head of the queue.
  static void next(Env& env, E& e) {
    for (;;) {
      const bool children = e.probed && e.step == Step::idle && children_first(env, e);
      if (e.probed && !children && !probe_waits(env, e)) {
        start_probe(env, e);
        continue;
      }
      if (e.busy() || e.queue.empty() || (e.probed && !children)) return;
      const bool overlaps = e.queue.front().kind == Kind::GetS && !env.policy().snoop;
      if (e.open_reads > 0 && !overlaps) return;
      e.request = e.queue.front();
      e.queue.pop();
      if (e.probed) ++e.served;
      serve(env, e);
    }
  }

  static ClientEvent wish(const Msg& m) {
    return m.kind == Kind::GetS ? ClientEvent::Load : ClientEvent::Store;
  }

  // ---- a request of a child: coherence/transaction.hh

  static void serve(Env& env, E& e);
  static void plan(Env& env, E& e);
  static bool others_read(Env& env, const E& e);
  static bool others_share(const Env& env, const E& e);
  static void ask_children(Env& env, E& e, Probes probes, int except, Agent data_to);
  static void send_probe(Env& env, E& e, Kind kind, int child, Agent data_to, State right);
  static bool wants_unblock(const Env& env, State right);
  static void answered(Env& env, E& e, const Msg& m);
  static void conclude(Env& env, E& e);
  static void settle_owner(E& e);
  static void promote(E& e);

  // ---- what it is given: coherence/grant.hh

  static void take_over(Env& env, E& e);
  static void deliver(Env& env, E& e);
  static void operate(Env& env, E& e);
  static void fetch(Env& env, E& e);
  static void record(Env& env, E& e);
  static void unblocked(Env& env, E& e);
  static void put_in_store(Env& env, E& e, const Data& data, bool dirty);
  static void take_in(Env& env, E& e, const Data& data);
  static void drop_data(Env& env, E& e);

  // ---- what comes back: coherence/writeback.hh

  static void take(Env& env, E& e, const Data& data);
  static void acknowledge(Env& env, E& e);
  static void begin_recall(Env& env, E& e);
  static void recalled(Env& env, E& e);
  static void put_away(Env& env, E& e);
  static void finish_eviction(Env& env, E& e);

  // ---- the level above: coherence/join.hh

  static void ascend(Env& env, E& e);
  static bool has_data_for_requester(Env& env, const E& e);
  static void ask_above(Env& env, E& e, Kind kind);
  static void granted(Env& env, E& e, const Msg& m);
  static bool children_first(Env& env, const E& e);
  static Cell probe_cell(Env& env, const E& e);
  static bool probe_waits(Env& env, const E& e);
  static void start_probe(Env& env, E& e);
  static void finish_probe(Env& env, E& e);
  static void settle_store(Env& env, E& e);
};

}  // namespace uncore

#include "coherence/grant.hh"
#include "coherence/join.hh"
#include "coherence/transaction.hh"
#include "coherence/writeback.hh"
