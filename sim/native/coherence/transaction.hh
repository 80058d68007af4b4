// One request of a child, from its start until it is known what the children asked have said. Part
// of resolver.hh.
//
// A Put takes a short way: what it brings is taken in by writeback.hh.
#pragma once

#include "coherence/resolver.hh"

namespace uncore {

template <class Env>
void Resolver<Env>::serve(Env& env, E& e) {
  e.evicting = false;
  e.answers = 0;
  e.carried = false;
  env.opened(e);
  ascend(env, e);
}

template <class Env>
void Resolver<Env>::plan(Env& env, E& e) {
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
template <class Env>
bool Resolver<Env>::others_read(Env& env, const E& e) {
  if (!env.policy().snoop) return others_share(env, e);
  return env.protocol().grant(Request::GetS, Answers::given).next() == State::F ||
         env.protocol().client(State::M, ClientEvent::ProbeS).has(Act::own);
}

template <class Env>
bool Resolver<Env>::others_share(const Env& env, const E& e) {
  bool others = false;
  e.sharers.each([&](int c) { others |= c != env.ordinal(e.request.from); });
  return others;
}

// Asks the children; `except`: the requester's ordinal.
template <class Env>
void Resolver<Env>::ask_children(Env& env, E& e, Probes probes, int except, Agent data_to) {
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

template <class Env>
void Resolver<Env>::send_probe(Env& env, E& e, Kind kind, int child, Agent data_to, State right) {
  Msg m;
  m.kind = kind;
  m.from = m.resolver = env.self();
  m.to = env.child(child);
  m.requester = data_to;
  m.right = right;
  m.line = e.line;
  m.id = e.request.id;
  m.grant = child == e.owner ? e.owner_grant : 0;
  m.wants_unblock = wants_unblock(env, right);
  m.contended = env.contended(e);
  m.since = e.probing ? e.probe.since : e.request.since;
  env.send(m);
}

// Shared grants are always completed (they overlap); exclusive ones where the policy says so.
template <class Env>
bool Resolver<Env>::wants_unblock(const Env& env, State right) {
  return right == State::S || right == State::F || env.policy().completion;
}

template <class Env>
void Resolver<Env>::answered(Env& env, E& e, const Msg& m) {
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
template <class Env>
void Resolver<Env>::conclude(Env& env, E& e) {
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
template <class Env>
void Resolver<Env>::settle_owner(E& e) {
  if (!e.asked_owner || (e.answers & Flag::own)) return;
  if (e.answers & Flag::shared) e.sharers.add(e.owner);
  e.owner = kNobody;
  e.asked_owner = false;
}

// A child held modified data, so this level does.
template <class Env>
void Resolver<Env>::promote(E& e) {
  if (e.up.state == State::E) e.up.state = State::M;
}

}  // namespace uncore
