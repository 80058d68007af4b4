// A resolver towards the level above, whose client it is by the client table: it asks for rights,
// and is asked for them (rules J). Part of resolver.hh.
//
// A probe from above is answered in the midst of a wait for the level above, with the right that is
// left; so waiting never forms a cycle (J2).
#pragma once

#include "coherence/resolver.hh"

namespace uncore {

// Whether the right held above lets a child be granted what it asks for. (An E becomes M when the
// child is granted M.)
template <class Env>
bool Resolver<Env>::right_suffices(const Env& env, const E& e, const Msg& request) {
  return client_cell(env.protocol(), e.up.state, wish(request), e.line).has(Act::hit);
}

template <class Env>
void Resolver<Env>::obtain(Env& env, E& e) {
  const Cell cell = client_cell(env.protocol(), e.up.state, wish(e.request), e.line);
  const Kind kind = request_kind(cell);
  const bool needs_data = kind == Kind::Upg && !has_data_for_requester(env, e);
  e.up.state = cell.next();
  ask_above(env, e, needs_data ? Kind::GetM : kind);
}

// An upgrade without data serves the requester only if it, or this level, surely has the bytes.
template <class Env>
bool Resolver<Env>::has_data_for_requester(Env& env, const E& e) {
  return e.stored || env.protocol().is_dirty(e.up.state) || upgrades(env, e);
}

template <class Env>
void Resolver<Env>::ask_above(Env& env, E& e, Kind kind) {
  e.up.request = env.next_request();
  Msg m;
  m.kind = kind;
  m.from = m.requester = env.self();
  m.to = m.resolver = env.above(e.line);
  m.line = e.line;
  m.id = e.up.request;
  env.send(m);
}

// What has come from above, by the client's row.
template <class Env>
void Resolver<Env>::accept(Env& env, E& e, const Msg& m) {
  const Cell cell = client_cell(env.protocol(), e.up.state, e.up.event(env.protocol(), m), e.line);
  e.up.state = cell.next();
  if (m.kind != Kind::PutAck) e.contended = m.contended;
  if (cell.has(Act::fill)) fill(env, e, m.data);
  if (cell.has(Act::unblock)) complete(env, env.self(), m);
  if (cell.has(Act::GetM)) ask_above(env, e, Kind::GetM);
}

// Clean data were dropped silently below: so is this level's right.
template <class Env>
void Resolver<Env>::drop(Env& env, E& e) {
  const Cell cell = client_cell(env.protocol(), e.up.state, ClientEvent::Evict, e.line);
  if (!cell.has(Act::drop) || env.protocol().holds_copy(cell.next()))
    throw ProtocolError{"a level responsible for dirty data lost them"};
  e.up.state = cell.next();
}

// ---- being asked

// While a probe waits, requests of the children that need no right from above go first: `grants`
// of them, and as many as come while the request behind the probe is young.
template <class Env>
bool Resolver<Env>::children_first(Env& env, const E& e) {
  if (e.phase != Phase::idle || e.queue.empty()) return false;
  if (e.served >= env.policy().grants && !env.young(e.probe)) return false;
  const Msg& m = e.queue.front();
  return m.kind == Kind::Put || env.protocol().client(e.up.state, wish(m)).has(Act::hit);
}

template <class Env>
Waits Resolver<Env>::waits_for(const E& e) {
  if (e.phase == Phase::put) return Waits::put;
  if (e.open_reads > 0) return Waits::below;
  if (e.phase == Phase::idle || e.phase == Phase::probing) return Waits::idle;
  const bool above = e.phase == Phase::above || e.phase == Phase::above_probing;
  return above ? Waits::above : Waits::below;
}

template <class Env>
Cell Resolver<Env>::join_cell(Env& env, const E& e) {
  const Children c = children(env, e, kNoChild);
  const Waits waits = waits_for(e);
  const Cell cell = env.protocol().join(c, waits, static_cast<Probe>(e.probe.kind));
  if (!cell.possible())
    protocol_error("join", name::children[static_cast<std::size_t>(c)],
                   name::waits[static_cast<std::size_t>(waits)], e.line);
  return cell;
}

template <class Env>
bool Resolver<Env>::probe_waits(Env& env, const E& e) {
  if (e.answers_above() || e.up.event(env.protocol(), e.probe) == ClientEvent::Early) return true;
  return join_cell(env, e).has(Ask::wait);
}

template <class Env>
TransactionEvent Resolver<Env>::probe_below(Env& env, E& e) {
  e.answers = 0;
  return ask_children(env, e, asks(join_cell(env, e)), kNoChild, kNobody);
}

// The children have answered: the client's row answers the level above.
template <class Env>
void Resolver<Env>::reply(Env& env, E& e) {
  const bool shares = e.probe.kind == Kind::ProbeS;
  if (e.answers & (Flag::dirty | Flag::own)) make_dirty(env, e);
  if (shares) {
    keep_owner_or_sharer(e);
    if (e.carried && env.policy().keeps_data)
      put_in_store(env, e, e.in_hand, e.dirty || (e.answers & (Flag::dirty | Flag::own)));
  } else {
    e.owner = kNobody;
    e.sharers.clear();
  }
  const bool at_hand = e.stored || e.phase == Phase::put;
  const Data* data = e.carried ? &e.in_hand : at_hand ? &e.data : nullptr;
  const Cell cell =
      client_cell(env.protocol(), e.up.state, e.up.event(env.protocol(), e.probe), e.line);
  if (cell.has(Act::dirty) && !data)
    throw ProtocolError{"a level responsible for dirty data lost them"};
  const bool copies = e.stored || e.owner != kNobody || e.sharers.any();
  answer_probe(env, env.self(), e.probe, cell, data, copies);
  e.up.state = cell.next();
  keep_what_right_allows(env, e);
  e.carried = false;
}

// Of this level's data, after a probe.
template <class Env>
void Resolver<Env>::keep_what_right_allows(Env& env, E& e) {
  const State right = e.up.state;
  if (!env.protocol().holds_copy(right) && e.stored) return drop_data(env, e);
  if (!env.protocol().is_dirty(right)) e.dirty = false;
}

}  // namespace uncore
