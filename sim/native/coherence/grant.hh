// What a resolver gives: data or a right to the child that asked, or an operation done for it; and
// this level's data, which are given. Part of resolver.hh.
#pragma once

#include "coherence/resolver.hh"

namespace uncore {

// Dirty data given up to this level by a child that was asked to share.
template <class Env>
void Resolver<Env>::take_over(Env& env, E& e) {
  if (env.policy().keeps_data) return put_in_store(env, e, e.in_hand, true);
  if (!env.policy().root)
    throw ProtocolError{"a join without data was given dirty data to keep: it needs MOESI"};
  env.memory_write(e, e.in_hand);
}

// Sends data or a grant to the requester, unless the owner did; fetches them if nobody has them.
template <class Env>
void Resolver<Env>::deliver(Env& env, E& e) {
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
    m.wants_unblock = wants_unblock(env, m.right);
    m.contended = env.contended(e);
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
template <class Env>
void Resolver<Env>::operate(Env& env, E& e) {
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

template <class Env>
void Resolver<Env>::fetch(Env& env, E& e) {
  e.answers = 0;
  if (env.policy().root) {
    e.step = Step::above;
    return env.memory_read(e);
  }
  // Clean data that were dropped silently below: so was this level's right.
  const Cell cell = client_cell(env.protocol(), e.up.state, ClientEvent::Evict, e.line);
  if (!cell.has(Act::drop) || env.protocol().holds_copy(cell.next()))
    throw ProtocolError{"a level responsible for dirty data lost them"};
  e.up.state = cell.next();
  ascend(env, e);
}

template <class Env>
void Resolver<Env>::record(Env& env, E& e) {
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

template <class Env>
void Resolver<Env>::unblocked(Env& env, E& e) {
  if (e.step != Step::closing) {
    if (--e.open_reads >= 0 || e.step == Step::asking) return;
    throw ProtocolError{"a resolver received the completion of nothing"};
  }
  e.step = Step::idle;
  env.closed(e);
}

// ---- this level's data

template <class Env>
void Resolver<Env>::put_in_store(Env& env, E& e, const Data& data, bool dirty) {
  e.data = data;
  e.stored = true;
  e.dirty = dirty;
  env.keep(e);
}

// Data that came from above: in hand for the transaction, and in the store.
template <class Env>
void Resolver<Env>::take_in(Env& env, E& e, const Data& data) {
  e.in_hand = data;
  e.carried = true;
  if (env.policy().keeps_data) put_in_store(env, e, data, false);
}

template <class Env>
void Resolver<Env>::drop_data(Env& env, E& e) {
  e.stored = false;
  e.dirty = false;
  env.discard(e);
}

}  // namespace uncore
