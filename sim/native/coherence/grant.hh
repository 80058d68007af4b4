// What a resolver gives: data or a right to the child that asked, or an operation done for it; and
// this level's data, which are given. Part of resolver.hh.
#pragma once

namespace uncore {

// Data or a right to the requester, unless the owner has handed the data over.
template <class Env>
void Resolver<Env>::grant(Env& env, E& e) {
  if (!(e.answers & Flag::handed)) {
    Msg m;
    m.kind = upgrades(env, e) && !e.carried ? Kind::Grant : Kind::Data;
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
  list_child(env, e);
  e.carried = false;
}

// Who below has the line now, and whether the data here still count.
template <class Env>
void Resolver<Env>::list_child(Env& env, E& e) {
  const State right = e.request.right;
  const int who = env.ordinal(e.request.from);
  // A snooping resolver cannot know whether an upgrader still holds its copy: if it does not, it
  // asks again, and for these very data.
  const bool needs_data = env.policy().snoop && upgrades(env, e);
  if (!env.policy().snoop) {
    if (env.protocol().is_owner(right)) {
      e.sharers.remove(who);
      e.owner = who;
      e.owner_grant = e.request.id;
    } else {
      e.sharers.add(who);
    }
  }
  if (!env.protocol().is_dirty(right)) return;
  // The child answers for the data from now on.
  make_dirty(env, e);
  if (needs_data) return;
  e.dirty = false;
  if (e.stored && !env.policy().inclusive) drop_data(env, e);
}

// Shared grants are always completed (they overlap); exclusive ones where the policy says so.
template <class Env>
bool Resolver<Env>::wants_unblock(const Env& env, State right) {
  return !env.protocol().may_store(right) || env.policy().completion;
}

template <class Env>
TransactionEvent Resolver<Env>::await(const Env& env, const E& e) {
  if (env.policy().snoop) return kNothing;
  if (!env.protocol().may_store(e.request.right)) return Event::Overlap;
  return env.policy().completion ? kNothing : Event::Over;
}

// A far atomic: nobody below has a copy, so the operation is done on this level's data.
template <class Env>
void Resolver<Env>::operate(Env& env, E& e) {
  const bool stored = !e.carried;
  Data data = stored ? e.data : e.in_hand;
  const Msg value = env.apply(data, e.request);
  make_dirty(env, e);
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
}

// ---- this level's data

// Dirty data given up to this level by a child that was asked to share.
template <class Env>
void Resolver<Env>::take_over(Env& env, E& e) {
  if (env.policy().keeps_data) return put_in_store(env, e, e.in_hand, true);
  if (!env.policy().root)
    throw ProtocolError{"a join without data was given dirty data to keep: it needs an O"};
  env.memory_write(e, e.in_hand);
}

// For the transaction under way.
template <class Env>
void Resolver<Env>::put_in_hand(E& e, const Data& data) {
  e.in_hand = data;
  e.carried = true;
}

// Data that came from above: in hand, and in the store.
template <class Env>
void Resolver<Env>::fill(Env& env, E& e, const Data& data) {
  put_in_hand(e, data);
  if (env.policy().keeps_data) put_in_store(env, e, data, false);
}

template <class Env>
void Resolver<Env>::put_in_store(Env& env, E& e, const Data& data, bool dirty) {
  e.data = data;
  e.stored = true;
  e.dirty = dirty;
  env.keep(e);
}

template <class Env>
void Resolver<Env>::drop_data(Env& env, E& e) {
  e.stored = false;
  e.dirty = false;
  env.discard(e);
}

}  // namespace uncore
