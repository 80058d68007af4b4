// The resolver: one point of ownership for one line, as root (memory above) or as join (a resolver
// above, of which it is a client).
//
// Pure protocol, as client.hh: the tables say what happens, this file says how answers are counted
// and what a transaction remembers. Time, positions, capacities and messages under way are the
// environment's:
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
      case Kind::Done:
        done(env, e);
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

  // --- what starts when -------------------------------------------------------------------------

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

  // While a probe waits, requests of the children that need no right from above go first: `grants`
  // of them, and as many as come while the request behind the probe is young.
  static bool children_first(Env& env, const E& e) {
    if (e.queue.empty()) return false;
    if (e.served >= env.policy().grants && !env.young(e.probe)) return false;
    const Msg& m = e.queue.front();
    return m.kind == Kind::Put || env.protocol().client(e.up.state, wish(m)).has(Act::hit);
  }

  static ClientEvent wish(const Msg& m) {
    return m.kind == Kind::GetS ? ClientEvent::Load : ClientEvent::Store;
  }

  static Cell probe_cell(Env& env, const E& e) {
    Phase phase = Phase::below;
    if (e.step == Step::put)
      phase = Phase::put;
    else if (e.open_reads > 0)
      phase = Phase::below;
    else if (e.step == Step::above)
      phase = Phase::above;
    else if (e.step == Step::idle)
      phase = Phase::idle;
    const Children c = children(env, e, kNoChild);
    const Cell cell = env.protocol().join(c, phase, static_cast<Probe>(e.probe.kind));
    if (!cell.possible())
      protocol_error("join", name::children[static_cast<std::size_t>(c)],
                     name::phases[static_cast<std::size_t>(phase)], e.line);
    return cell;
  }

  static bool probe_waits(Env& env, const E& e) {
    if (e.probing || e.up.event(e.probe) == ClientEvent::Early) return true;
    return probe_cell(env, e).has(Ask::wait);
  }

  // --- requests of the children -----------------------------------------------------------------

  static void serve(Env& env, E& e) {
    e.evicting = false;
    e.answers = 0;
    e.carried = false;
    env.opened(e);
    ascend(env, e);
  }

  // Gets the right the request needs: from above, if this level's does not suffice.
  static void ascend(Env& env, E& e) {
    if (e.request.kind == Kind::Put || env.policy().root) return plan(env, e);
    const Cell cell = client_cell(env.protocol(), e.up.state, wish(e.request), e.line);
    const bool has_data = has_data_for_requester(env, e);
    if (cell.has(Act::hit)) return plan(env, e);  // E becomes M when the child is granted M
    e.up.state = cell.next();
    const Kind kind = request_kind(cell);
    ask_above(env, e, kind == Kind::Upg && !has_data ? Kind::GetM : kind);
  }

  // An upgrade without data serves the requester only if it, or this level, surely has the bytes.
  static bool has_data_for_requester(Env& env, const E& e) {
    const int who = env.ordinal(e.request.from);
    const bool holds = e.owner == who || e.sharers.has(who);
    return e.stored || e.up.state == State::O || (e.request.kind == Kind::Upg && holds);
  }

  static void ask_above(Env& env, E& e, Kind kind) {
    e.step = Step::above;
    e.up.request = env.next_request();
    Msg m;
    m.kind = kind;
    m.from = m.requester = env.self();
    m.to = m.resolver = env.above(e.line);
    m.line = e.line;
    m.id = e.up.request;
    env.send(m);
  }

  static void plan(Env& env, E& e) {
    const Request request = request_of(e.request.kind);
    const int requester = env.ordinal(e.request.from);
    Cell cell = plan_cell(env, e, requester, request);
    if (cell.has(Plan::lost)) {
      e.sharers.add(e.owner);  // a join keeps the sharers below it
      e.owner = kNobody;
      cell = plan_cell(env, e, requester, request);
    }
    if (cell.has(Plan::ack)) return acknowledge(env, e);
    if (cell.has(Plan::take)) return take(env, e, Data(e.request.data));
    if (cell.has(Plan::ask)) {
      e.step = Step::asking;
      e.waiting = 1;
      return send_probe(env, e, Kind::ProbeM, requester, kNobody, State::M);
    }
    e.holder = e.request.kind == Kind::Upg &&
               (env.policy().snoop || e.owner == requester || e.sharers.has(requester));
    e.direct = env.policy().direct && !(cell.has(Plan::probeM) && others_read(env, e));
    // An atomic that is done here leaves no copy anywhere, its requester's neither.
    const bool here = request == Request::Amo;
    e.direct = e.direct && !here;
    ask_children(env, e, {cell.has(Plan::probeS), cell.has(Plan::probeM), cell.has(Plan::inv)},
                 here ? kNoChild : requester, e.direct ? e.request.from : kNobody);
    if (e.waiting == 0) return conclude(env, e);
    e.step = Step::asking;
  }

  // Whether somebody may read beside the owner. Then a writer gets the data from this resolver,
  // once the sharers have answered: the owner would be too early, and one core would read the old
  // value after another has written the new one. A snooping resolver knows only whether the
  // protocol has such owners: F among sharers, or O.
  static bool others_read(Env& env, const E& e) {
    if (!env.policy().snoop) return others_share(env, e);
    return env.protocol().grant(Request::GetS, Answers::given).next() == State::F ||
           env.protocol().client(State::M, ClientEvent::ProbeS).has(Act::own);
  }

  static bool others_share(const Env& env, const E& e) {
    bool others = false;
    e.sharers.each([&](int c) { others |= c != env.ordinal(e.request.from); });
    return others;
  }

  struct Probes {
    bool share, give_up, invalidate;
  };

  // Asks the children; `except`: the requester's ordinal.
  static void ask_children(Env& env, E& e, Probes probes, int except, Agent data_to) {
    e.waiting = 0;
    e.asked_owner = false;
    if (probes.share || probes.give_up) {
      const Kind kind = probes.share ? Kind::ProbeS : Kind::ProbeM;
      const State right =
          probes.share ? env.protocol().grant(Request::GetS, Answers::given).next() : State::M;
      if (env.policy().snoop) {
        for (int c = 0; c < env.children(); ++c)
          if (c != except) send_probe(env, e, kind, c, data_to, right), ++e.waiting;
      } else if (e.owner != kNobody && e.owner != except) {
        send_probe(env, e, kind, e.owner, data_to, right), ++e.waiting;
        e.asked_owner = true;
      }
    }
    if (!probes.invalidate) return;
    e.sharers.each([&](int c) {
      if (c != except) send_probe(env, e, Kind::Inv, c, data_to, State::I), ++e.waiting;
    });
  }

  static void send_probe(Env& env, E& e, Kind kind, int child, Agent data_to, State right) {
    Msg m;
    m.kind = kind;
    m.from = m.resolver = env.self();
    m.to = env.child(child);
    m.requester = data_to;
    m.right = right;
    m.line = e.line;
    m.id = e.request.id;
    m.grant = child == e.owner ? e.owner_grant : 0;
    m.wants_done = wants_done(env, right);
    m.since = e.probing ? e.probe.since : e.request.since;
    env.send(m);
  }

  // Shared grants are always completed (they overlap); exclusive ones where the policy says so.
  static bool wants_done(const Env& env, State right) {
    return right == State::S || right == State::F || env.policy().completion;
  }

  static void answered(Env& env, E& e, const Msg& m) {
    if (e.waiting == 0) throw ProtocolError{"a resolver received an answer it did not ask for"};
    e.answers |= m.flags;
    if (m.flags & Flag::carries) {
      e.in_hand = m.data;
      e.carried = true;
    }
    if (--e.waiting > 0) return;
    if (e.probing) return finish_probe(env, e);
    if (e.evicting) return recalled(env, e);
    if (e.request.kind != Kind::Put) return conclude(env, e);
    if (e.answers & Flag::dirty) return take(env, e, Data(e.in_hand));
    acknowledge(env, e);
  }

  // Every child asked has answered: settle who holds what, then give the requester its due.
  static void conclude(Env& env, E& e) {
    const bool read = e.request.kind == Kind::GetS;
    Answers column = Answers::nobody;
    if (e.answers & Flag::own)
      column = Answers::own;
    else if ((e.answers & Flag::dirty) && read)
      column = Answers::dirty;
    else if (e.answers & Flag::gave)
      column = Answers::given;
    if (read) {
      settle_owner(e);
      if (e.answers & (Flag::dirty | Flag::own)) promote(e);
      if (column == Answers::dirty) take_over(env, e);
      if (column == Answers::nobody && (others_share(env, e) || (e.answers & Flag::shared)))
        column = Answers::shared;
    } else {
      // The requester keeps the copy it may have, or its children theirs, until it is granted more.
      const int who = env.ordinal(e.request.from);
      const bool stays = e.sharers.has(who) && e.request.kind != Kind::Amo;
      e.owner = kNobody;
      e.sharers.clear();
      if (stays) e.sharers.add(who);
    }
    const Request request = request_of(e.request.kind);
    const Cell cell = env.protocol().grant(request, column);
    if (!cell.possible())
      protocol_error("resolver", name::requests[static_cast<std::size_t>(request)],
                     name::answers[static_cast<std::size_t>(column)], e.line);
    e.request.right = cell.next();
    // A read may be given E only where this level holds the line alone.
    if (e.request.right == State::E && e.up.state != State::E && e.up.state != State::M)
      e.request.right = State::S;
    deliver(env, e);
  }

  // After a ProbeS the owner keeps ownership, a shared copy, or nothing.
  static void settle_owner(E& e) {
    if (!e.asked_owner || (e.answers & Flag::own)) return;
    if (e.answers & Flag::shared) e.sharers.add(e.owner);
    e.owner = kNobody;
    e.asked_owner = false;
  }

  // A child held modified data, so this level does.
  static void promote(E& e) {
    if (e.up.state == State::E) e.up.state = State::M;
  }

  // Dirty data given up to this level by a child that was asked to share.
  static void take_over(Env& env, E& e) {
    if (env.policy().keeps_data) return put_in_store(env, e, e.in_hand, true);
    if (!env.policy().root)
      throw ProtocolError{"a join without data was given dirty data to keep: it needs MOESI"};
    env.memory_write(e, e.in_hand);
  }

  // Sends data or a grant to the requester, unless the owner did; fetches them if nobody has them.
  static void deliver(Env& env, E& e) {
    if (e.request.kind == Kind::Amo) return operate(env, e);
    const bool handed = e.direct && (e.answers & (Flag::gave | Flag::own));
    if (!handed) {
      if (!e.carried && !e.holder && !e.stored) return fetch(env, e);
      Msg m;
      m.kind = e.holder && !e.carried ? Kind::Grant : Kind::Data;
      m.right = e.request.right;
      m.from = m.resolver = env.self();
      m.to = e.request.from;
      m.line = e.line;
      m.id = e.request.id;
      m.wants_done = wants_done(env, m.right);
      m.carries = m.kind == Kind::Data;
      if (m.carries) m.data = e.carried ? e.in_hand : e.data;
      if (m.carries && !e.carried)
        env.send_stored(e, m);
      else
        env.send(m);
    }
    record(env, e);
  }

  // A far atomic: nobody below has a copy, so the operation is done on this level's data.
  static void operate(Env& env, E& e) {
    if (!e.carried && !e.stored) return fetch(env, e);
    const bool stored = !e.carried;
    Data data = stored ? e.data : e.in_hand;
    const Msg value = env.apply(data, e.request);
    e.up.state = client_cell(env.protocol(), e.up.state, ClientEvent::Store, e.line).next();
    if (env.policy().keeps_data)
      put_in_store(env, e, data, true);
    else if (env.policy().root)
      env.memory_write(e, data);
    else
      throw ProtocolError{"a join without data was asked for an atomic operation on them"};
    if (stored)
      env.send_stored(e, value);
    else
      env.send(value);
    e.carried = false;
    e.step = Step::idle;
    env.closed(e);
  }

  static void fetch(Env& env, E& e) {
    e.answers = 0;
    if (env.policy().root) {
      e.step = Step::above;
      return env.memory_read(e);
    }
    // Clean data that were dropped silently below: so was this level's right.
    const Cell cell = client_cell(env.protocol(), e.up.state, ClientEvent::Evict, e.line);
    if (!cell.has(Act::drop) || holds_copy(cell.next()))
      throw ProtocolError{"a level responsible for dirty data lost them"};
    e.up.state = cell.next();
    ascend(env, e);
  }

  static void record(Env& env, E& e) {
    const State right = e.request.right;
    const int who = env.ordinal(e.request.from);
    const bool shared = right == State::S || right == State::F;
    if (!env.policy().snoop) {
      if (right == State::S) {
        e.sharers.add(who);
      } else {
        e.sharers.remove(who);
        e.owner = who;
        e.owner_grant = e.request.id;
      }
    }
    // The child answers for the data from now on. But a snooping resolver cannot know whether an
    // upgrader still holds its copy: if it does not, it asks again, and for these very data.
    if (right == State::M)
      e.up.state = client_cell(env.protocol(), e.up.state, ClientEvent::Store, e.line).next();
    if (right == State::M && !(env.policy().snoop && e.holder)) {
      e.dirty = false;
      if (e.stored && !env.policy().inclusive) drop_data(env, e);
    }
    e.carried = false;
    if (shared && !env.policy().snoop) ++e.open_reads;
    bool closes_later = env.policy().snoop || (!shared && env.policy().completion);
    if (closes_later && e.open_reads < 0) {  // it has been completed already
      ++e.open_reads;
      closes_later = false;
    }
    e.step = closes_later ? Step::closing : Step::idle;
    if (!closes_later) env.closed(e);
  }

  static void done(Env& env, E& e) {
    if (e.step != Step::closing) {
      if (--e.open_reads >= 0 || e.step == Step::asking) return;
      throw ProtocolError{"a resolver received the completion of nothing"};
    }
    e.step = Step::idle;
    env.closed(e);
  }

  // --- writebacks and evictions -----------------------------------------------------------------

  static void take(Env& env, E& e, const Data& data) {
    e.owner = kNobody;
    promote(e);
    if (env.policy().keeps_data) {
      put_in_store(env, e, data, true);
    } else if (env.policy().root) {
      env.memory_write(e, data);
    } else {  // nowhere to keep them: pass the line up
      e.in_hand = data;
      e.carried = true;
      e.answers = Flag::dirty;
      return begin_recall(env, e);
    }
    acknowledge(env, e);
  }

  static void acknowledge(Env& env, E& e) {
    Msg m;
    m.kind = Kind::PutAck;
    m.from = m.resolver = env.self();
    m.to = e.request.from;
    m.line = e.line;
    m.id = e.request.id;
    env.send(m);
    e.step = Step::idle;
    env.closed(e);
  }

  static void begin_recall(Env& env, E& e) {
    e.evicting = true;
    const Cell cell = plan_cell(env, e, kNoChild, Request::Evict);
    ask_children(env, e, {cell.has(Plan::probeS), cell.has(Plan::probeM), cell.has(Plan::inv)},
                 kNoChild, kNobody);
    if (e.waiting == 0) return recalled(env, e);
    e.step = Step::asking;
  }

  // No copy is left below: write the line back if it is dirty, then forget it.
  static void recalled(Env& env, E& e) {
    e.owner = kNobody;
    e.sharers.clear();
    if (e.answers & Flag::dirty) promote(e);
    const bool dirty = e.dirty || (e.answers & Flag::dirty);
    if (e.carried) e.data = e.in_hand;
    if (e.stored) drop_data(env, e);
    e.dirty = false;
    e.step = Step::idle;
    if (env.policy().root) {
      if (dirty) env.memory_write(e, e.data);
      return finish_eviction(env, e);
    }
    if (e.up.state == State::I) return finish_eviction(env, e);
    const Cell cell = client_cell(env.protocol(), e.up.state, ClientEvent::Evict, e.line);
    e.up.state = cell.next();
    if (!cell.has(Act::Put)) return finish_eviction(env, e);
    if (!dirty) throw ProtocolError{"a level responsible for dirty data lost them"};
    e.step = Step::put;
    Msg m;
    m.kind = Kind::Put;
    m.from = m.requester = env.self();
    m.to = m.resolver = env.above(e.line);
    m.line = e.line;
    m.carries = true;
    m.data = e.data;
    m.id = env.next_request();
    env.send(m);
  }

  static void put_away(Env& env, E& e) {
    const Cell cell = client_cell(env.protocol(), e.up.state, ClientEvent::PutAck, e.line);
    e.up.state = cell.next();
    e.step = Step::idle;
    finish_eviction(env, e);
  }

  static void finish_eviction(Env& env, E& e) {
    e.evicting = false;
    e.carried = false;
    if (e.request.kind == Kind::Put) acknowledge(env, e);
  }

  // --- this level's data ------------------------------------------------------------------------

  static void put_in_store(Env& env, E& e, const Data& data, bool dirty) {
    e.data = data;
    e.stored = true;
    e.dirty = dirty;
    env.keep(e);
  }

  // Data that came from above: in hand for the transaction, and in the store.
  static void take_in(Env& env, E& e, const Data& data) {
    e.in_hand = data;
    e.carried = true;
    if (env.policy().keeps_data) put_in_store(env, e, data, false);
  }

  static void drop_data(Env& env, E& e) {
    e.stored = false;
    e.dirty = false;
    env.discard(e);
  }

  // --- the level above --------------------------------------------------------------------------

  static void granted(Env& env, E& e, const Msg& m) {
    const Cell cell = client_cell(env.protocol(), e.up.state, e.up.event(m), e.line);
    e.up.state = cell.next();
    if (cell.has(Act::fill)) take_in(env, e, m.data);
    if (cell.has(Act::done)) complete(env, env.self(), m);
    if (cell.has(Act::GetM)) return ask_above(env, e, Kind::GetM);
    e.step = Step::idle;
    e.answers = 0;
    ascend(env, e);
  }

  static void start_probe(Env& env, E& e) {
    const Cell cell = probe_cell(env, e);
    e.probed = false;
    e.probing = true;
    e.answers = 0;
    e.carried = false;
    ask_children(env, e, {cell.has(Ask::probeS), cell.has(Ask::probeM), cell.has(Ask::inv)},
                 kNoChild, kNobody);
    if (e.waiting == 0) finish_probe(env, e);
  }

  // The children have answered: answer the level above by the client table.
  static void finish_probe(Env& env, E& e) {
    const bool shares = e.probe.kind == Kind::ProbeS;
    if (e.answers & (Flag::dirty | Flag::own)) promote(e);
    if (shares) {
      settle_owner(e);
      if (e.carried && env.policy().keeps_data)
        put_in_store(env, e, e.in_hand, e.dirty || (e.answers & (Flag::dirty | Flag::own)));
    } else {
      e.owner = kNobody;
      e.sharers.clear();
    }
    const bool at_hand = e.stored || e.step == Step::put;
    const Data* data = e.carried ? &e.in_hand : at_hand ? &e.data : nullptr;
    const Cell cell = client_cell(env.protocol(), e.up.state, e.up.event(e.probe), e.line);
    if (cell.has(Act::dirty) && !data)
      throw ProtocolError{"a level responsible for dirty data lost them"};
    const bool copies = e.stored || e.owner != kNobody || e.sharers.any();
    answer_probe(env, env.self(), e.probe, cell, data, copies);
    e.up.state = cell.next();
    settle_store(env, e);
    e.probing = false;
    e.carried = false;
    e.answers = 0;
  }

  // What the right left after a probe means for this level's data.
  static void settle_store(Env& env, E& e) {
    const State s = e.up.state;
    const bool nothing = s == State::I || s == State::IS || s == State::IM || s == State::II;
    if (nothing && e.stored) return drop_data(env, e);
    if (s != State::M && s != State::O && s != State::OM) e.dirty = false;
  }
};

}  // namespace uncore
