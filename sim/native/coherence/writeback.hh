// What comes back to a resolver: writebacks of its children, and lines that it gives up itself.
// Part of resolver.hh.
#pragma once

namespace uncore {

// A snooping resolver cannot know a stale Put: the putter says whether its data still count.
template <class Env>
TransactionEvent Resolver<Env>::ask_putter(Env& env, E& e) {
  e.answers = 0;
  e.waiting = 1;
  send_probe(env, e, Kind::ProbeM, env.ordinal(e.request.from), kNobody, State::I);
  return kNothing;
}

// Of the data of a Put, which are in hand.
template <class Env>
TransactionEvent Resolver<Env>::take(Env& env, E& e) {
  e.owner = kNobody;
  make_dirty(env, e);
  if (env.policy().keeps_data)
    put_in_store(env, e, e.in_hand, true);
  else if (env.policy().root)
    env.memory_write(e, e.in_hand);
  else
    return Event::Onward;
  return Event::Over;
}

template <class Env>
TransactionEvent Resolver<Env>::recall_below(Env& env, E& e) {
  const Cell cell = resolver_cell(env, e, kNoChild, Request::Evict);
  return ask_children(env, e, asks(env, cell), kNoChild, kNobody);
}

// No copy is left below: what is dirty is written back, and the line given up.
template <class Env>
TransactionEvent Resolver<Env>::leave(Env& env, E& e) {
  e.owner = kNobody;
  e.sharers.clear();
  if (e.answers & Flag::dirty) make_dirty(env, e);
  const bool dirty = e.dirty || (e.answers & Flag::dirty);
  if (e.carried) e.data = e.in_hand;
  if (e.stored) drop_data(env, e);
  e.dirty = false;
  if (env.policy().root) {
    if (dirty) env.memory_write(e, e.data);
    return Event::Over;
  }
  if (e.up.state == State::I) return Event::Over;
  if (!dirty && env.protocol().is_dirty(e.up.state)) throw lost_data();
  UpperHalf up(env, e);
  return Up::evict(up, e.up) == Evicted::put ? kNothing : Event::Over;
}

// To the child whose Put is served; an eviction has none.
template <class Env>
void Resolver<Env>::acknowledge(Env& env, E& e) {
  e.carried = false;
  if (e.request.kind != Kind::Put) return;
  Msg m;
  m.kind = Kind::PutAck;
  m.from = m.resolver = env.self();
  m.to = e.request.from;
  m.line = e.line;
  m.id = e.request.id;
  env.send(m);
  env.closed(e);
}

}  // namespace uncore
