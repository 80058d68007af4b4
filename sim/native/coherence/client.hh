// The client: one core's private caches (or a join's upper half) for one line.
//
// Pure protocol: no time, no capacity. The environment is told what to send and when an access is
// performed. It owns lines and data:
//
//   struct Env { using Data; Protocol& protocol; uint32_t next_request(); void
//   send(Message<Data>&); }
//
// Invariant: `state` changes only through a cell of the client table.
#pragma once

#include "coherence/message.hh"

namespace uncore {

inline constexpr ClientEvent data_event(State right) {
  switch (right) {
    case State::F:
      return ClientEvent::DataF;
    case State::E:
      return ClientEvent::DataE;
    case State::M:
      return ClientEvent::DataM;
    default:
      return ClientEvent::DataS;
  }
}

// The table's row of one line, with the request it waits for.
struct Copy {
  State state = State::I;
  uint32_t request = 0;  // id of the newest request

  // The event a message is to this copy: a probe that revokes the awaited grant is Early.
  template <class Data>
  ClientEvent event(const StateProperties& states, const Message<Data>& m) const {
    const bool early = states.waits_for_grant(state) && m.grant == request && m.grant != 0;
    switch (m.kind) {
      case Kind::ProbeS:
        return early ? ClientEvent::Early : ClientEvent::ProbeS;
      case Kind::ProbeM:
        return early ? ClientEvent::Early : ClientEvent::ProbeM;
      case Kind::Inv:
        return ClientEvent::Inv;
      case Kind::Data:
        return data_event(m.right);
      case Kind::Grant:
        return ClientEvent::Grant;
      default:
        return ClientEvent::PutAck;
    }
  }
};

template <class Tables>
Cell client_cell(const Tables& p, State s, ClientEvent e, uint64_t line) {
  const Cell cell = p.client(s, e);
  if (!cell.possible())
    protocol_error("client", name::states[static_cast<std::size_t>(s)],
                   name::client_events[static_cast<std::size_t>(e)], line);
  return cell;
}

// The request a cell asks to send; meaningful if it has one of GetS, GetM, Upg.
inline Kind request_kind(Cell c) {
  return c.has(Act::GetS) ? Kind::GetS : c.has(Act::GetM) ? Kind::GetM : Kind::Upg;
}

// What an owner or sharer says to a probe, by its cell. `data`: the copy's bytes, null if it has
// none to give. `shared`: it, or a child, has a copy. Sends the Answer to the resolver and, where
// asked, the data to the requester.
template <class Env, class Data>
void answer_probe(Env& env, Agent self, const Message<Data>& probe, Cell cell, const Data* data,
                  bool shared) {
  if (!cell.has(Act::ack | Act::give | Act::shared | Act::own)) return;
  Message<Data> answer;
  answer.kind = Kind::Answer;
  answer.from = self;
  answer.to = probe.resolver;
  answer.resolver = probe.resolver;
  answer.line = probe.line;
  answer.id = probe.id;
  const bool gives = cell.has(Act::give) && data;
  if (gives) answer.flags |= Flag::gave;
  if (gives && cell.has(Act::dirty)) answer.flags |= Flag::dirty;
  if (gives && cell.has(Act::own)) answer.flags |= Flag::own;
  if (cell.has(Act::shared) && shared) answer.flags |= Flag::shared;
  if (gives && probe.requester != kNobody) {
    Message<Data> handed;
    handed.kind = Kind::Data;
    handed.right = probe.right;
    handed.wants_unblock = probe.wants_unblock;
    handed.contended = probe.contended;
    handed.carries = true;
    handed.from = self;
    handed.to = probe.requester;
    handed.resolver = probe.resolver;
    handed.line = probe.line;
    handed.id = probe.id;
    handed.data = *data;
    env.send(handed);
  }
  // The resolver gets the bytes too if it asked for itself, or if it takes over dirty data.
  const bool takes_over = probe.kind == Kind::ProbeS && (answer.flags & Flag::dirty);
  if (gives && (probe.requester == kNobody || takes_over)) {
    answer.flags |= Flag::carries;
    answer.carries = true;
    answer.data = *data;
  }
  env.send(answer);
}

// The completion that a grant asked for.
template <class Env, class Data>
void complete(Env& env, Agent self, const Message<Data>& grant) {
  if (!grant.wants_unblock) return;
  Message<Data> m;
  m.kind = Kind::Unblock;
  m.from = self;
  m.to = m.resolver = grant.resolver;
  m.line = grant.line;
  m.id = grant.id;
  env.send(m);
}

}  // namespace uncore
