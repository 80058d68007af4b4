// The client's side of the protocol for one line: the cache controller that requests rights and
// answers probes. A core's private caches are one client; a join is a client of the level above.
//
// Like resolver.hh, this is protocol logic without time or position. client.table
// (sim/uncore/protocol) decides what happens at each event, and this file does it. `Env` stands for
// the line and its surroundings during one call:
//
//   Data                          type: a line's bytes
//   protocol(), self()            the tables, the client's agent number
//   number(), above()             the line's number; the resolver that receives its requests
//   next_request()                a fresh number for a request
//   send(message)                 sends a message
//   data()                        the bytes that are here; null: none
//   shares()                      whether this client, or a child below it, keeps a copy
//   needs_data()                  whether a right without data would be useless (J4)
//   stays_below()                 whether a child below this client keeps a copy (J5.1)
//   fill(data)                    stores the data that have arrived
//   entered(event, state)         called before the copy enters the state
//
// Every function is inlined into its caller, so that `Env` stays in registers. Invariant: a copy's
// state changes only in step(), to the next state of a cell of client.table. If is_written(state)
// is true, a core may store without calling the client, because the event Store would change
// nothing (states.hh).
#pragma once

#include "coherence/message.hh"

namespace uncore {

// The state of one line at a client, and the number of its newest request, which the line may still
// wait for.
struct Copy {
  State state = State::I;
  uint32_t request = 0;  // id of the newest request

  // Returns the event (a column of client.table) that a message is to this copy. A probe that
  // revokes a grant for which the copy still waits is Early.
  ClientEvent event(const StateProperties& states, const Header& m) const {
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

inline ProtocolError lost_data() { return {"a level responsible for dirty data lost them"}; }

// Result of beginning an access. performed: it hit and is done; asked: it missed, and a request has
// been sent; waits: the line is in a transient state. After the last two the access is tried again.
enum class BeginResult : uint8_t { performed, asked, waits };

// Result of an eviction. dropped: the line was dropped silently; put: it is being written back, and
// the client answers probes for it until the PutAck (C5); stays: it cannot be evicted now.
enum class EvictionResult : uint8_t { dropped, put, stays };

template <class Env>
class Client {
 public:
  using Data = typename Env::Data;
  using Msg = Message<Data>;

  // Begins an access. `event` is Load, Store, or Amo for an atomic performed in the core (near).
  [[gnu::always_inline]] static BeginResult access(Env& env, Copy& copy, ClientEvent event) {
    const Cell cell = cell_of(env, copy, event);
    if (cell.has(Act::stall)) return BeginResult::waits;
    step(env, copy, event, cell);
    if (cell.has(Act::hit)) return BeginResult::performed;
    ask(env, copy, cell);
    return BeginResult::asked;
  }

  // Returns whether an atomic operation is performed far, at the resolver (C8.1). With `owned`, it
  // is performed there even if this client holds the line exclusively (C8.9).
  static bool goes_far(const Env& env, const Copy& copy, bool owned) {
    const Cell cell = cell_of(env, copy, ClientEvent::Amo);
    return owned ? !cell.has(Act::stall) : cell.has(Act::Amo);
  }
  // Sends a far atomic operation to the level above. Returns the number of the request.
  static uint32_t ask_far(Env& env, const typename Msg::Asks& operation) {
    Msg m = request(env, Kind::Amo);
    m.operation = operation;
    env.send(m);
    return m.id;
  }

  static EvictionResult evict(Env& env, Copy& copy) {
    const Cell cell = cell_of(env, copy, ClientEvent::Evict);
    step(env, copy, ClientEvent::Evict, cell);
    if (!cell.has(Act::Put))
      return cell.has(Act::drop) ? EvictionResult::dropped : EvictionResult::stays;
    if (!env.data()) throw lost_data();
    Msg put = request(env, Kind::Put);
    put.carry(*env.data());
    env.send(put);
    return EvictionResult::put;
  }

  // Returns whether a probe revokes the grant for which the copy waits. Such a probe must wait
  // until the grant has arrived (C3.1).
  [[gnu::always_inline]] static bool is_early(const Env& env, const Copy& copy, const Msg& probe) {
    const bool early = copy.event(env.protocol(), probe) == ClientEvent::Early;
    return early && cell_of(env, copy, ClientEvent::Early).has(Act::stall);
  }
  // Answers a probe that is not early (C3.2).
  [[gnu::always_inline]] static void answer(Env& env, Copy& copy, const Msg& probe) {
    ClientEvent event = copy.event(env.protocol(), probe);
    if (event == ClientEvent::ProbeS && env.stays_below()) event = ClientEvent::Stays;
    const Cell cell = cell_of(env, copy, event);
    reply(env, cell, probe);
    step(env, copy, event, cell);
  }

  // Handles a grant: Data, or a Grant without data. Returns false if it was a Grant for a copy that
  // has been invalidated meanwhile; then a new request for the line has been sent.
  [[gnu::always_inline]] static bool granted(Env& env, Copy& copy, const Msg& m) {
    const ClientEvent event = copy.event(env.protocol(), m);
    const Cell cell = cell_of(env, copy, event);
    if (cell.has(Act::fill)) env.fill(m.data);
    if (cell.has(Act::unblock)) unblock(env, m);
    step(env, copy, event, cell);
    if (!cell.has(Act::GetM)) return true;
    ask(env, copy, cell);
    return false;
  }

  // Handles a PutAck: the writeback is complete.
  static void put_away(Env& env, Copy& copy) {
    step(env, copy, ClientEvent::PutAck, cell_of(env, copy, ClientEvent::PutAck));
  }

 private:
  [[gnu::always_inline]] static Cell cell_of(const Env& env, const Copy& copy, ClientEvent e) {
    const Cell cell = env.protocol().client(copy.state, e);
    if (!cell.possible()) [[unlikely]]
      fail(env.protocol(), copy.state, e, env.number());
    return cell;
  }
  [[noreturn, gnu::noinline]] static void fail(const StateProperties& states, State s,
                                               ClientEvent e, uint64_t line) {
    protocol_error("client", states.name(s), states.name(e), line);
  }

  [[gnu::always_inline]] static void step(Env& env, Copy& copy, ClientEvent event, Cell cell) {
    env.entered(event, cell.next());
    copy.state = cell.next();
  }

  // ---- requests

  [[gnu::always_inline]] static void ask(Env& env, Copy& copy, Cell cell) {
    Kind kind = Kind::GetS;
    if (cell.has(Act::GetM) || (cell.has(Act::Upg) && env.needs_data()))
      kind = Kind::GetM;
    else if (cell.has(Act::Upg))
      kind = Kind::Upg;
    else if (!cell.has(Act::GetS))
      return;
    const Msg m = request(env, kind);
    copy.request = m.id;
    env.send(m);
  }

  [[gnu::always_inline]] static Msg request(Env& env, Kind kind) {
    Msg m;
    m.kind = kind;
    m.from = m.requester = env.self();
    m.to = m.resolver = env.above();
    m.line = env.number();
    m.id = env.next_request();
    return m;
  }

  // ---- answers

  // Answers a probe: sends an Answer to the resolver, and Data to the requester if the probe names
  // one. The Answer itself carries the data if the probe names no requester, or if the probe is a
  // ProbeS and the data are dirty, because then the resolver becomes responsible for them.
  [[gnu::always_inline]] static void reply(Env& env, Cell cell, const Msg& probe) {
    if (!cell.has(Act::ack | Act::give | Act::shared | Act::own)) return;
    const Data* data = env.data();
    if (cell.has(Act::dirty) && !data) throw lost_data();
    Msg answer = to_resolver(env, Kind::Answer, probe);
    answer.flags = says(cell, data, env.shares());
    const bool gives = answer.flags & Flag::gave;
    if (gives && probe.requester != kNobody) {
      answer.flags |= Flag::handed;
      hand_over(env, probe, *data, cell.has(Act::pass) ? env.protocol().passed_right : probe.right);
    }
    const bool resolver_takes_over = probe.kind == Kind::ProbeS && (answer.flags & Flag::dirty);
    if (gives && (probe.requester == kNobody || resolver_takes_over)) {
      answer.flags |= Flag::carries;
      answer.carry(*data);
    }
    env.send(answer);
  }

  [[gnu::always_inline]] static uint8_t says(Cell cell, bool has_data, bool shares) {
    uint8_t flags = 0;
    if (cell.has(Act::give) && has_data) {
      flags |= Flag::gave;
      if (cell.has(Act::dirty)) flags |= Flag::dirty;
      if (cell.has(Act::own)) flags |= Flag::own;
      if (cell.has(Act::pass)) flags |= Flag::passed;
    }
    if (cell.has(Act::shared) && shares) flags |= Flag::shared;
    return flags;
  }

  [[gnu::always_inline]] static void hand_over(Env& env, const Msg& probe, const Data& data,
                                               State right) {
    Msg m;
    m.kind = Kind::Data;
    m.right = right;
    m.wants_unblock = probe.wants_unblock;
    m.contended = probe.contended;
    m.from = env.self();
    m.to = probe.requester;
    m.resolver = probe.resolver;
    m.line = probe.line;
    m.id = probe.id;
    m.carry(data);
    env.send(m);
  }

  // Sends an Unblock to the resolver, if the grant asks for one (R5).
  [[gnu::always_inline]] static void unblock(Env& env, const Msg& grant) {
    if (grant.wants_unblock) env.send(to_resolver(env, Kind::Unblock, grant));
  }

  [[gnu::always_inline]] static Msg to_resolver(const Env& env, Kind kind, const Msg& about) {
    Msg m;
    m.kind = kind;
    m.from = env.self();
    m.to = m.resolver = about.resolver;
    m.line = about.line;
    m.id = about.id;
    return m;
  }
};

}  // namespace uncore
