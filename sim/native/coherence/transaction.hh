// A transaction executes transaction.table: what has come leads from phase to phase, and the verbs
// of its cells are the functions of this and the other parts of resolver.hh. Here stand those of a
// request below: its turn, the children asked, and what their answers mean.
#pragma once

#include <bit>

namespace uncore {

// `come`: the message behind the event, where an action reads one. What an action raises happens at
// once; a cell has one such action at most, and it comes last.
template <class Env>
void Resolver<Env>::happen(Env& env, E& e, Event event, const Msg& come) {
  for (int at_once = 0; event != kNothing; ++at_once) {
    if (at_once > kMostAtOnce)
      throw ProtocolError{"a transaction goes round in its table for ever"};
    const Cell cell = env.protocol().transaction(e.phase, event);
    if (!cell.possible())
      protocol_error("transaction", name::phases[static_cast<std::size_t>(e.phase)],
                     name::transaction_events[static_cast<std::size_t>(event)], e.line);
    e.phase = cell.phase();
    event = kNothing;
    for (uint32_t left = cell.actions(); left != 0; left &= left - 1) {
      const auto action = static_cast<Do>(std::countr_zero(left));
      if (action < Do::poll)
        perform(env, e, action, come);
      else
        event = decide(env, e, action);
    }
  }
}

template <class Env>
void Resolver<Env>::perform(Env& env, E& e, Do action, const Msg& come) {
  switch (action) {
    case Do::open:
      return env.opened(e);
    case Do::share:
      return share(env, e);
    case Do::revoke:
      return revoke(env, e);
    case Do::accept:
      return accept(env, e, come);
    case Do::fill:
      return fill(env, e, come.data);
    case Do::fetch:
      return env.memory_read(e);
    case Do::drop:
      return drop(env, e);
    case Do::grant:
      return grant(env, e);
    case Do::operate:
      return operate(env, e);
    case Do::overlap:
      return void(++e.open_reads);
    case Do::complete:
      return void(--e.open_reads);
    case Do::ack:
      return acknowledge(env, e);
    case Do::reply:
      return reply(env, e);
    case Do::close:
      return env.closed(e);
    case Do::obtain:
      return obtain(env, e);
    default:
      return;
  }
}

// The actions that may raise an event.
template <class Env>
TransactionEvent Resolver<Env>::decide(Env& env, E& e, Do action) {
  switch (action) {
    case Do::poll:
      return poll(env, e);
    case Do::recall:
      return recall_below(env, e);
    case Do::probe:
      return probe_below(env, e);
    case Do::resume:
      return env.protocol().waits_for_grant(e.up.state) ? kNothing : turn(env, e);
    case Do::await:
      return await(env, e);
    case Do::take:
      return take(env, e);
    case Do::leave:
      return leave(env, e);
    default:
      return kNothing;
  }
}

// What a request is that has its turn.
template <class Env>
TransactionEvent Resolver<Env>::turn(Env& env, const E& e) {
  const Kind kind = e.request.kind;
  if (kind == Kind::Put) return Event::Put;
  if (!env.policy().root && !right_suffices(env, e, e.request)) return Event::Short;
  return kind == Kind::GetS ? Event::Read : kind == Kind::Amo ? Event::Amo : Event::Write;
}

// ---- the children are asked

template <class Env>
Children Resolver<Env>::children(const Env& env, const E& e, int requester) {
  if (env.policy().snoop) return Children::U;
  if (e.owner == kNobody) return e.sharers.any() ? Children::S : Children::N;
  if (e.owner == requester) return Children::R;
  return others_share(e, requester) ? Children::B : Children::W;
}

template <class Env>
bool Resolver<Env>::others_share(const E& e, int requester) {
  if (!e.sharers.any()) return false;
  bool others = false;
  e.sharers.each([&](int c) { others |= c != requester; });
  return others;
}

template <class Env>
Cell Resolver<Env>::resolver_cell(Env& env, const E& e, int requester, Request r) {
  const Children c = children(env, e, requester);
  const Cell cell = env.protocol().resolver(c, r);
  if (!cell.possible())
    protocol_error("resolver", name::children[static_cast<std::size_t>(c)],
                   name::requests[static_cast<std::size_t>(r)], e.line);
  return cell;
}

// An atomic that is done here leaves no copy anywhere: its requester is a child like any other.
template <class Env>
TransactionEvent Resolver<Env>::poll(Env& env, E& e) {
  const Request request = request_of(e.request.kind);
  const bool granted = request != Request::Amo;
  const int requester = granted ? env.ordinal(e.request.from) : kNoChild;
  Cell cell = resolver_cell(env, e, requester, request);
  if (cell.has(Plan::lost)) {
    e.sharers.add(e.owner);  // a join keeps the sharers below it
    e.owner = kNobody;
    cell = resolver_cell(env, e, requester, request);
  }
  if (cell.has(Plan::take)) put_in_hand(e, e.request.data);
  if (cell.has(Plan::ask)) return ask_putter(env, e);
  const bool direct = granted && env.policy().direct && !cell.has(Plan::via);
  e.answers = cell.has(Plan::take) ? Flag::dirty : 0;
  return ask_children(env, e, asks(env, cell), requester, direct ? e.request.from : kNobody);
}

// Asks the children; `except`: the ordinal of the one that is not, `data_to`: who is to be handed
// the data, kNobody: this level. Answers: there was none to ask.
template <class Env>
TransactionEvent Resolver<Env>::ask_children(Env& env, E& e, const Asked& asked, int except,
                                             Agent data_to) {
  const auto ask = [&](Kind kind, int child) {
    send_probe(env, e, kind, child, data_to, kind == Kind::Inv ? State::I : asked.right);
    ++e.waiting;
  };
  e.waiting = 0;
  if (asked.share || asked.give_up) {
    const Kind kind = asked.share ? Kind::ProbeS : Kind::ProbeM;
    if (env.policy().snoop) {
      for (int c = 0; c < env.children(); ++c)
        if (c != except) ask(kind, c);
    } else if (e.owner != kNobody && e.owner != except) {
      ask(kind, e.owner);
    }
  }
  if (asked.invalidate)
    e.sharers.each([&](int c) {
      if (c != except) ask(Kind::Inv, c);
    });
  return e.waiting == 0 ? said(env, e) : kNothing;
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
  m.since = e.answers_above() ? e.probe.since : e.request.since;
  env.send(m);
}

// ---- and have answered

template <class Env>
void Resolver<Env>::answered(Env& env, E& e, const Msg& m) {
  if (e.waiting == 0) throw ProtocolError{"a resolver received an answer it did not ask for"};
  e.answers |= m.flags;
  if (m.flags & Flag::carries) put_in_hand(e, m.data);
  if (--e.waiting == 0) happen(env, e, said(env, e));
}

// What the last answer is to the transaction: are the data where they are wanted?
template <class Env>
TransactionEvent Resolver<Env>::said(Env& env, const E& e) {
  switch (e.phase) {
    case Phase::putter:
      return e.answers & Flag::dirty ? Event::Answers : Event::Missing;
    case Phase::read:
    case Phase::write:
    case Phase::amo:
      if (e.carried || e.stored || (e.answers & Flag::handed) || upgrades(env, e))
        return Event::Answers;
      return env.policy().root ? Event::Missing : Event::Dropped;
    default:
      return Event::Answers;
  }
}

// An upgrade of a copy that the requester surely has.
template <class Env>
bool Resolver<Env>::upgrades(Env& env, const E& e) {
  if (e.request.kind != Kind::Upg) return false;
  const int who = env.ordinal(e.request.from);
  return env.policy().snoop || e.owner == who || e.sharers.has(who);
}

template <class Env>
void Resolver<Env>::share(Env& env, E& e) {
  Answers found = Answers::nobody;
  if (e.answers & Flag::own)
    found = Answers::own;
  else if (e.answers & Flag::dirty)
    found = Answers::dirty;
  else if (e.answers & Flag::gave)
    found = Answers::given;
  keep_owner_or_sharer(e);
  if (e.answers & (Flag::dirty | Flag::own)) make_dirty(env, e);
  if (found == Answers::dirty) take_over(env, e);
  if (found == Answers::nobody) {
    const bool others = others_share(e, env.ordinal(e.request.from));
    if (others || (e.answers & Flag::shared))
      found = Answers::shared;
    else if (!env.protocol().may_store(e.up.state))
      found = Answers::outside;
  }
  choose_right(env, e, found);
}

// The requester keeps the copy it may have, or its children theirs, until it is granted more.
template <class Env>
void Resolver<Env>::revoke(Env& env, E& e) {
  const int who = env.ordinal(e.request.from);
  const bool stays = e.request.kind != Kind::Amo && (e.owner == who || e.sharers.has(who));
  e.owner = kNobody;
  e.sharers.clear();
  if (stays) e.sharers.add(who);
  choose_right(env, e,
               e.answers & Flag::own    ? Answers::own
               : e.answers & Flag::gave ? Answers::given
                                        : Answers::nobody);
}

template <class Env>
void Resolver<Env>::choose_right(Env& env, E& e, Answers found) {
  const Request request = request_of(e.request.kind);
  const Cell cell = env.protocol().grant(request, found);
  if (!cell.possible())
    protocol_error("grant", name::requests[static_cast<std::size_t>(request)],
                   name::answers[static_cast<std::size_t>(found)], e.line);
  e.request.right = given(env, cell.next());
}

// After a ProbeS the owner keeps ownership, a shared copy, or nothing.
template <class Env>
void Resolver<Env>::keep_owner_or_sharer(E& e) {
  if (e.owner == kNobody || (e.answers & Flag::own)) return;
  if (e.answers & Flag::shared) e.sharers.add(e.owner);
  e.owner = kNobody;
}

// A child held modified data, so this level does.
template <class Env>
void Resolver<Env>::make_dirty(Env& env, E& e) {
  UpperHalf up(env, e);
  if (env.protocol().may_store(e.up.state)) Up::access(up, e.up, ClientEvent::Store);
}

}  // namespace uncore
