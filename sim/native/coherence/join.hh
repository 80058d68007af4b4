// A resolver towards the level above, whose client it is by the client table: it asks for rights,
// and is asked for them (rules J). Part of resolver.hh.
//
// A probe from above is answered in the midst of a wait for the level above, with the right that is
// left; so waiting never forms a cycle (J2).
#pragma once

#include "coherence/resolver.hh"

namespace uncore {

// Gets the right the request needs: from above, if this level's does not suffice.
template <class Env>
void Resolver<Env>::ascend(Env& env, E& e) {
  if (e.request.kind == Kind::Put || env.policy().root) return plan(env, e);
  const Cell cell = client_cell(env.protocol(), e.up.state, wish(e.request), e.line);
  const bool has_data = has_data_for_requester(env, e);
  if (cell.has(Act::hit)) return plan(env, e);  // E becomes M when the child is granted M
  e.up.state = cell.next();
  const Kind kind = request_kind(cell);
  ask_above(env, e, kind == Kind::Upg && !has_data ? Kind::GetM : kind);
}

// An upgrade without data serves the requester only if it, or this level, surely has the bytes.
template <class Env>
bool Resolver<Env>::has_data_for_requester(Env& env, const E& e) {
  const int who = env.ordinal(e.request.from);
  const bool holds = e.owner == who || e.sharers.has(who);
  return e.stored || e.up.state == State::O || (e.request.kind == Kind::Upg && holds);
}

template <class Env>
void Resolver<Env>::ask_above(Env& env, E& e, Kind kind) {
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

template <class Env>
void Resolver<Env>::granted(Env& env, E& e, const Msg& m) {
  const Cell cell = client_cell(env.protocol(), e.up.state, e.up.event(env.protocol(), m), e.line);
  e.up.state = cell.next();
  e.contended = m.contended;
  if (cell.has(Act::fill)) take_in(env, e, m.data);
  if (cell.has(Act::unblock)) complete(env, env.self(), m);
  if (cell.has(Act::GetM)) return ask_above(env, e, Kind::GetM);
  e.step = Step::idle;
  e.answers = 0;
  ascend(env, e);
}

// ---- being asked

// While a probe waits, requests of the children that need no right from above go first: `grants`
// of them, and as many as come while the request behind the probe is young.
template <class Env>
bool Resolver<Env>::children_first(Env& env, const E& e) {
  if (e.queue.empty()) return false;
  if (e.served >= env.policy().grants && !env.young(e.probe)) return false;
  const Msg& m = e.queue.front();
  return m.kind == Kind::Put || env.protocol().client(e.up.state, wish(m)).has(Act::hit);
}

template <class Env>
Cell Resolver<Env>::probe_cell(Env& env, const E& e) {
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

template <class Env>
bool Resolver<Env>::probe_waits(Env& env, const E& e) {
  if (e.probing || e.up.event(env.protocol(), e.probe) == ClientEvent::Early) return true;
  return probe_cell(env, e).has(Ask::wait);
}

template <class Env>
void Resolver<Env>::start_probe(Env& env, E& e) {
  const Cell cell = probe_cell(env, e);
  e.probed = false;
  e.contended = false;
  e.probing = true;
  e.answers = 0;
  e.carried = false;
  ask_children(env, e, {cell.has(Ask::probeS), cell.has(Ask::probeM), cell.has(Ask::inv)}, kNoChild,
               kNobody);
  if (e.waiting == 0) finish_probe(env, e);
}

// The children have answered: answer the level above by the client table.
template <class Env>
void Resolver<Env>::finish_probe(Env& env, E& e) {
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
  const Cell cell =
      client_cell(env.protocol(), e.up.state, e.up.event(env.protocol(), e.probe), e.line);
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
template <class Env>
void Resolver<Env>::settle_store(Env& env, E& e) {
  const State s = e.up.state;
  if (!env.protocol().holds_copy(s) && e.stored) return drop_data(env, e);
  if (!env.protocol().is_dirty(s)) e.dirty = false;
}

}  // namespace uncore
