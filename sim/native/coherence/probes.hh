// Probes that a resolver sends to its children, and their answers (R3, R4). Part of resolver.hh.
//
// Invariant: `entry.poll.waiting` is the number of answers that have not arrived yet.
#pragma once

#include "coherence/entry.hh"

namespace uncore {

// Returned by an action that raises no event.
inline constexpr auto kNoEvent = static_cast<TransactionEvent>(0xff);

template <class Env>
class Probes {
 public:
  using E = Entry<Env>;
  using Msg = Message<typename Env::Data>;

  Probes(Env& env, E& entry) : env_(env), entry_(entry) {}

  // row() returns the row of resolver.table, cell() the cell. `requester` is the ordinal of the
  // requesting child, or kNobody.
  Children row(int requester) const {
    return env_.policy().snoop ? Children::U : entry_.holders.row(requester);
  }
  Cell cell(int requester, Request request) const;

  // Probes the children that a cell of resolver.table or join.table names, except `excluded`, and
  // invalidates the copy of child `displaced`. Children send their data to the agent `data_to`, or
  // to this level if it is kNobody. Returns outcome() if no child had to be probed, else kNoEvent.
  TransactionEvent ask(Cell cell, int excluded, Agent data_to, int displaced = kNobody);
  void send(Kind kind, int child, Agent data_to, State right);
  // Handles an Answer. Returns outcome() if it is the last one, else kNoEvent.
  TransactionEvent answered(const Msg& answer);

 private:
  void ask_child(Kind kind, int child, Agent data_to, State right) {
    send(kind, child, data_to, right);
    ++entry_.poll.waiting;
  }
  TransactionEvent outcome() const;

  Env& env_;
  E& entry_;
};

template <class Env>
Cell Probes<Env>::cell(int requester, Request request) const {
  const Children children = row(requester);
  const Cell cell = env_.protocol().resolver(children, request);
  if (!cell.possible())
    protocol_error("resolver", name::children[static_cast<std::size_t>(children)],
                   name::requests[static_cast<std::size_t>(request)], entry_.line);
  return cell;
}

template <class Env>
TransactionEvent Probes<Env>::ask(Cell cell, int excluded, Agent data_to, int displaced) {
  entry_.poll.waiting = 0;
  if (cell.has(ResolverAction::probeS | ResolverAction::probeM)) {
    const Kind kind = cell.has(ResolverAction::probeS) ? Kind::ProbeS : Kind::ProbeM;
    const State right = env_.policy().gives(env_.protocol(), cell.next());
    const int owner = entry_.holders.owner;
    if (env_.policy().snoop) {
      for (int c = 0; c < env_.children(); ++c)
        if (c != excluded) ask_child(kind, c, data_to, right);
    } else if (owner != kNobody && owner != excluded) {
      ask_child(kind, owner, data_to, right);
    }
  }
  if (cell.has(ResolverAction::inv))
    entry_.holders.each_sharer(env_.children(), env_.policy().region, [&](int c) {
      if (c != excluded) ask_child(Kind::Inv, c, data_to, State::I);
    });
  if (displaced != kNobody) {
    ask_child(Kind::Inv, displaced, data_to, State::I);
    entry_.holders.sharers.remove(displaced);
  }
  return entry_.poll.waiting == 0 ? outcome() : kNoEvent;
}

// Sends a probe to one child. `right`: the right that the owner grants when it sends the data to
// the requester.
template <class Env>
void Probes<Env>::send(Kind kind, int child, Agent data_to, State right) {
  Msg m;
  m.kind = kind;
  m.from = m.resolver = env_.self();
  m.to = env_.child(child);
  m.requester = data_to;
  m.right = right;
  m.line = entry_.line;
  m.id = entry_.request.id;
  m.grant = child == entry_.holders.owner ? entry_.holders.owner_grant : 0;
  m.wants_unblock = env_.policy().completes(env_.protocol(), right);
  m.contended = env_.contended(entry_);
  m.since = entry_.answers_above() ? entry_.probe.since : entry_.request.since;
  env_.send(entry_, m);
}

template <class Env>
TransactionEvent Probes<Env>::answered(const Msg& answer) {
  if (entry_.poll.waiting == 0)
    throw ProtocolError{"a resolver received an answer it did not ask for"};
  entry_.poll.flags |= answer.flags;
  if (answer.flags & Flag::carries) entry_.in_hand.put(answer.data);
  return --entry_.poll.waiting == 0 ? outcome() : kNoEvent;
}

// Returns the event that the last answer raises. Answers: the requester has the data, or this level
// can grant them. Missing (at a root) or Dropped (at a join): neither this level nor a child has
// them. For a Put, Missing means that the Put is stale, so that its data are ignored.
template <class Env>
TransactionEvent Probes<Env>::outcome() const {
  using Event = TransactionEvent;
  switch (entry_.phase) {
    case Phase::putter:
      return entry_.poll.says(Flag::dirty) ? Event::Answers : Event::Missing;
    case Phase::read:
    case Phase::write:
    case Phase::amo:
      if (entry_.in_hand.valid || entry_.copy.stored || entry_.poll.says(Flag::handed) ||
          entry_.upgrades(env_))
        return Event::Answers;
      return env_.policy().root ? Event::Missing : Event::Dropped;
    default:
      return Event::Answers;
  }
}

}  // namespace uncore
