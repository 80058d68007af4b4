// A transaction executes transaction.table (R2): events move it from phase to phase, and each
// action of a cell is a function in one of the parts of resolver.hh. This file has the actions for
// a child's request: it probes other children, and chooses the right to grant by their answers.
//
// Interface: begin() for a request; happen() for each event. Invariant: `entry.phase` changes in
// enter() only.
#pragma once

#include <bit>

#include "coherence/grants.hh"
#include "coherence/join.hh"
#include "coherence/writeback.hh"

namespace uncore {

template <class Env>
class Transaction {
 public:
  using E = Entry<Env>;
  using Msg = Message<typename Env::Data>;
  using Event = TransactionEvent;

  Transaction(Env& env, E& entry) : env_(env), entry_(entry) {}

  // Begins the transaction of `entry.request`. Returns its first event.
  Event begin() {
    entry_.in_hand.valid = false;
    return first_event();
  }
  // Executes an event. `message` is the message that raised it; only actions that handle data or a
  // grant read it.
  [[gnu::always_inline]] void happen(Event event, const Msg& message);

 private:
  // Limit on the number of events that one message raises, to catch a loop in the table. The
  // longest chain in the shipped tables has five events: a Put that is written back to the level
  // above.
  static constexpr int kMaxChainedEvents = 16;

  [[gnu::always_inline]] Cell enter(Event event);
  [[gnu::always_inline]] void perform(TransactionAction action, const Msg& message);
  [[gnu::always_inline]] Event decide(TransactionAction action);

  Event first_event() const;
  // Inlined: each has one caller.
  [[gnu::always_inline]] Event poll();
  [[gnu::always_inline]] void share();
  [[gnu::always_inline]] void revoke();
  Answers share_answers();
  void choose_right(Answers answers);

  Env& env_;
  E& entry_;
};

// ---- the table

// Executes an event, and then the events that its actions raise. At most one action of a cell
// raises an event, and it is the last.
template <class Env>
inline void Transaction<Env>::happen(Event event, const Msg& message) {
  for (int events = 0; event != kNoEvent; ++events) {
    if (events > kMaxChainedEvents)
      throw ProtocolError{"a transaction goes round in its table for ever"};
    const Cell cell = enter(event);
    event = kNoEvent;
    for (uint32_t actions = cell.actions(); actions != 0; actions &= actions - 1) {
      const auto action = static_cast<TransactionAction>(std::countr_zero(actions));
      if (action < TransactionAction::poll)
        perform(action, message);
      else
        event = decide(action);
    }
  }
}

template <class Env>
inline Cell Transaction<Env>::enter(Event event) {
  const Cell cell = env_.protocol().transaction(entry_.phase, event);
  if (!cell.possible())
    protocol_error("transaction", name::phases[static_cast<std::size_t>(entry_.phase)],
                   name::transaction_events[static_cast<std::size_t>(event)], entry_.line);
  entry_.phase = cell.phase();
  return cell;
}

template <class Env>
inline void Transaction<Env>::perform(TransactionAction action, const Msg& message) {
  switch (action) {
    case TransactionAction::open:
      return env_.opened(entry_);
    case TransactionAction::share:
      return share();
    case TransactionAction::revoke:
      return revoke();
    case TransactionAction::accept:
      return Above(env_, entry_).accept(message);
    case TransactionAction::fill:
      return Level(env_, entry_).fill(message.data);
    case TransactionAction::fetch:
      return env_.memory_read(entry_);
    case TransactionAction::drop:
      return Above(env_, entry_).drop();
    case TransactionAction::grant:
      return Grants(env_, entry_).deliver();
    case TransactionAction::operate:
      return Grants(env_, entry_).operate();
    case TransactionAction::overlap:
      return void(++entry_.open_reads);
    case TransactionAction::complete:
      return void(--entry_.open_reads);
    case TransactionAction::ack:
      return Writeback(env_, entry_).acknowledge();
    case TransactionAction::reply:
      return Join(env_, entry_).reply();
    case TransactionAction::close:
      return env_.closed(entry_);
    case TransactionAction::obtain:
      return Above(env_, entry_).obtain();
    default:
      return;
  }
}

// Performs an action that may raise an event. Returns the event, or kNoEvent.
template <class Env>
inline TransactionEvent Transaction<Env>::decide(TransactionAction action) {
  switch (action) {
    case TransactionAction::poll:
      return poll();
    case TransactionAction::recall:
      return Writeback(env_, entry_).recall();
    case TransactionAction::probe:
      return Join(env_, entry_).ask_children();
    case TransactionAction::resume:
      return env_.protocol().waits_for_grant(entry_.above.state) ? kNoEvent : first_event();
    case TransactionAction::await:
      return Grants(env_, entry_).await();
    case TransactionAction::take:
      return Writeback(env_, entry_).take();
    case TransactionAction::leave:
      return Writeback(env_, entry_).leave();
    default:
      return kNoEvent;
  }
}

// ---- a request

// Returns the event with which the request begins, or continues after a grant from above.
template <class Env>
TransactionEvent Transaction<Env>::first_event() const {
  const Kind kind = entry_.request.kind;
  if (kind == Kind::Put) return Event::Put;
  if (!env_.policy().root && !Above<Env>::suffices(env_, entry_, entry_.request))
    return Event::Short;
  return kind == Kind::GetS ? Event::Read : kind == Kind::Amo ? Event::Amo : Event::Write;
}

// Probes the children that resolver.table names. For a far atomic, the requester is probed like any
// other child, because no copy may remain anywhere (C8.3). If there may be sharers in addition to
// the owner (`via`), the owner sends its data to this level even if `reply` is direct (R4).
template <class Env>
inline TransactionEvent Transaction<Env>::poll() {
  const Request request = request_of(entry_.request.kind);
  const bool granted = request != Request::Amo;
  const int requester = granted ? env_.ordinal(entry_.request.from) : kNobody;
  Probes probes(env_, entry_);
  Cell cell = probes.cell(requester, request);
  if (cell.has(ResolverAction::lost)) {
    entry_.holders.demote_owner();  // if the child is a join, children below it may still share
    cell = probes.cell(requester, request);
  }
  if (cell.has(ResolverAction::take)) entry_.in_hand.put(entry_.request.data);
  if (cell.has(ResolverAction::ask)) return Writeback(env_, entry_).ask_putter();
  const bool direct = granted && env_.policy().direct && !cell.has(ResolverAction::via);
  entry_.poll.flags = cell.has(ResolverAction::take) ? Flag::dirty : 0;
  const bool displaces = env_.policy().evicts && request == Request::GetS;
  return probes.ask(cell, requester, direct ? entry_.request.from : kNobody,
                    displaces ? entry_.holders.displaced_by(requester) : kNobody);
}

// ---- meaning of the answers

// Called when all answers to a ProbeS have arrived: records which right the owner has kept, and
// chooses the right of the requester.
template <class Env>
inline void Transaction<Env>::share() {
  entry_.holders.owner_answered(entry_.poll.flags);
  Above(env_, entry_).learn(entry_.poll);
  const Answers answers = share_answers();
  // The owner gave up dirty data: this level is responsible for them from now on.
  if (answers == Answers::dirty && !Level(env_, entry_).accept_dirty(entry_.in_hand.data))
    throw ProtocolError{"a join without data was given dirty data to keep: it needs an O"};
  choose_right(answers);
}

// Returns the column of the grant table that the answers to a ProbeS select.
template <class Env>
Answers Transaction<Env>::share_answers() {
  const Poll& poll = entry_.poll;
  if (poll.says(Flag::own)) return Answers::own;
  if (poll.says(Flag::passed)) return Answers::passed;
  if (poll.says(Flag::dirty)) return Answers::dirty;
  if (poll.says(Flag::gave)) return Answers::given;
  const int requester = env_.ordinal(entry_.request.from);
  if (entry_.holders.others_share(requester) || poll.says(Flag::shared)) return Answers::shared;
  if (!env_.protocol().may_store(entry_.above.state)) return Answers::outside;
  return Above(env_, entry_).was_passed() ? Answers::passed : Answers::nobody;
}

// Called when all answers to ProbeM and Inv have arrived: only the requester (or a child below it)
// may have a copy. It is recorded as a sharer until it is granted its right.
template <class Env>
inline void Transaction<Env>::revoke() {
  const int requester = env_.ordinal(entry_.request.from);
  const bool stays = entry_.request.kind != Kind::Amo && entry_.holders.has(requester);
  entry_.holders.clear();
  if (stays) entry_.holders.add_sharer(requester);
  choose_right(entry_.poll.says(Flag::own)    ? Answers::own
               : entry_.poll.says(Flag::gave) ? Answers::given
                                              : Answers::nobody);
}

template <class Env>
void Transaction<Env>::choose_right(Answers answers) {
  const Request request = request_of(entry_.request.kind);
  const Cell cell = env_.protocol().grant(request, answers);
  if (!cell.possible())
    protocol_error("grant", name::requests[static_cast<std::size_t>(request)],
                   name::answers[static_cast<std::size_t>(answers)], entry_.line);
  entry_.request.right = env_.policy().gives(env_.protocol(), cell.next());
}

}  // namespace uncore
