// What comes back to a resolver: writebacks of its children, and lines that it gives up itself.
// Part of resolver.hh.
#pragma once

#include "coherence/resolver.hh"

namespace uncore {

template <class Env>
void Resolver<Env>::take(Env& env, E& e, const Data& data) {
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

template <class Env>
void Resolver<Env>::acknowledge(Env& env, E& e) {
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

template <class Env>
void Resolver<Env>::begin_recall(Env& env, E& e) {
  e.evicting = true;
  const Cell cell = plan_cell(env, e, kNoChild, Request::Evict);
  ask_children(env, e, {cell.has(Plan::probeS), cell.has(Plan::probeM), cell.has(Plan::inv)},
               kNoChild, kNobody);
  if (e.waiting == 0) return recalled(env, e);
  e.step = Step::asking;
}

// No copy is left below: write the line back if it is dirty, then forget it.
template <class Env>
void Resolver<Env>::recalled(Env& env, E& e) {
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

template <class Env>
void Resolver<Env>::put_away(Env& env, E& e) {
  const Cell cell = client_cell(env.protocol(), e.up.state, ClientEvent::PutAck, e.line);
  e.up.state = cell.next();
  e.step = Step::idle;
  finish_eviction(env, e);
}

template <class Env>
void Resolver<Env>::finish_eviction(Env& env, E& e) {
  e.evicting = false;
  e.carried = false;
  if (e.request.kind == Kind::Put) acknowledge(env, e);
}

}  // namespace uncore
