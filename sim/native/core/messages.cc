// What reaches a core: answers fill its lines, probes take them away, and what a change sets free
// goes on.
#include <algorithm>
#include <tuple>
#include <utility>

#include "core/core.hh"
#include "engine/engine.hh"

namespace uncore {

void Core::receive(PacketId id, Time now) {
  engine.network.arrived(agent);
  Packet& packet = engine.packets[id];
  const Msg& m = packet.message;
  if (m.kind == Kind::Value) {
    answered(m, now);
    return engine.packets.drop(id);
  }
  Line* line = lines.find(m.line);
  if (is_probe(m.kind)) return probe(id, line, now);
  if (!line) throw ProtocolError{"a core was answered about a line it did not ask for"};
  if (m.kind == Kind::PutAck) {
    const uint64_t number = m.line;
    client_cell(engine.protocol(), line->copy.state, ClientEvent::PutAck, number);
    lines.erase(*line);
    engine.packets.drop(id);
    progress(number, now);
    return;
  }
  fill(packet, *line, now);
  engine.packets.drop(id);
}

// How long a probe of an owned line waits: for the winner's hold, and for an atomic begun in it.
Time Core::deferral(const Msg& m, const Line* line) const {
  if (!line || m.kind == Kind::Inv || !engine.may_store(line->copy.state)) return 0;
  return std::max(line->held_until, line->guarded ? line->locked_until : 0);
}

void Core::schedule_retry(PacketId id, Time when) {
  const Packet& p = engine.packets[id];
  engine.queue.push(when, p.place, p.sender, Action::retry, id);
}

void Core::defer(PacketId id, Line* line, Time until) {
  Packet& packet = engine.packets[id];
  if (packet.retry == 0) {  // newly stalled
    stalled_.push_back(id);
    ++line->stalled;
    if (engine.may_store(line->copy.state)) line->contended.probe_waits();
    engine.network.expect(agent);
  }
  if (packet.retry == until) return;
  packet.retry = until;
  if (until != kNever) schedule_retry(id, until);
}

void Core::probe(PacketId id, Line* line, Time now) {
  const Msg m = engine.packets[id].message;
  const Copy copy = line ? line->copy : Copy{};
  const ClientEvent event = copy.event(engine.protocol(), m);
  const Cell cell = client_cell(engine.protocol(), copy.state, event, m.line);
  if (cell.has(Act::stall)) return defer(id, line, kNever);
  const Time until = deferral(m, line);
  if (until > now) return defer(id, line, until);
  const bool has = line && engine.protocol().holds_copy(copy.state);
  send_time_ = now + spec.l2_hit;
  if (has) engine.note_probed(m.kind);
  if (has && engine.attribution)
    engine.attribution->probed(agent, m.line, m.kind != Kind::ProbeS,
                               loss(copy.state, cell.next()));
  answer_probe(*this, agent, m, cell, has ? &line->data : nullptr, has);
  engine.packets.drop(id);
  if (!line) return;
  ++disturbances;
  if (line->watchers && !engine.may_load(cell.next())) wake_watchers(*line, now, 0);
  line->copy.state = cell.next();
  const std::optional<uint32_t> holder = line->contended.ends();
  const State s = line->copy.state;
  if (!engine.protocol().holds_copy(s)) lost(m.line);
  if (s == State::I && line->stalled == 0)
    lines.erase(*line);
  else if (engine.protocol().waits_for_grant(s) && !engine.protocol().holds_copy(s))
    lines.unsettle(*line);
  if (holder) pass(m.line, *holder + 1, now);
}

void Core::lost(uint64_t number) {
  for (const auto& t : threads)
    if (t->reservation == number) t->reservation = Thread::kNoLine;
}

void Core::reconsider(PacketId id, Time now) {
  Packet& packet = engine.packets[id];
  if (!packet.live || packet.retry != now) return;
  packet.retry = 0;
  std::erase(stalled_, id);
  engine.network.arrived(agent);
  Line* line = lines.find(packet.message.line);
  if (line) --line->stalled;
  probe(id, line, now);
}

void Core::retry_stalled(uint64_t number, Time now) {
  for (std::size_t i = 0; i < stalled_.size(); ++i) {
    const PacketId id = stalled_[i];
    Packet& packet = engine.packets[id];
    if (packet.message.line != number || packet.retry != kNever) continue;
    Line* line = lines.find(number);
    const Time until = std::max(now + 1, deferral(packet.message, line));
    packet.retry = until;
    schedule_retry(id, until);
  }
}

void Core::fill(Packet& packet, Line& line, Time now) {
  const Msg& m = packet.message;
  const Cell cell = client_cell(engine.protocol(), line.copy.state,
                                line.copy.event(engine.protocol(), m), m.line);
  if (cell.has(Act::fill)) {
    line.data = m.data;
    engine.note_transfer(*this, packet.origin, m.line);
  }
  send_time_ = now;
  if (cell.has(Act::unblock)) complete(*this, agent, m);
  line.copy.state = cell.next();
  if (cell.has(Act::GetM)) return request(line, cell, now);
  if (engine.attribution)
    engine.attribution->filled(agent, m.line, engine.may_store(line.copy.state));
  if (!line.resident) {
    make_room(line, now);
    lines.settle(line);
  }
  use(line, now);
  if (engine.protocol().is_dirty(line.copy.state)) {
    line.held_until = now + spec.hold;
    line.contended.begins(m.contended || line.stalled > 0);
  }
  line.locked_until = 0;
  const uint64_t number = m.line;
  progress(number, now);
  retry_stalled(number, now);
}

// Evicts the least recently used lines of the set until one more fits.
void Core::make_room(const Line& incoming, Time now) {
  const auto may_go = [&](const Line& l) {
    return engine.protocol().may_evict(l.copy.state) && l.stalled == 0 && l.held_until <= now &&
           l.locked_until <= now;
  };
  refresh(incoming.number, now);
  while (Line* victim = lines.victim(incoming.number, may_go)) {
    if (victim->watchers) wake_watchers(*victim, now, actor());
    evict(*victim, now);
  }
}

void Core::evict(Line& victim, Time now) {
  const Cell cell =
      client_cell(engine.protocol(), victim.copy.state, ClientEvent::Evict, victim.number);
  ++disturbances;
  lost(victim.number);
  if (engine.attribution) engine.attribution->evicted(agent, victim.number);
  if (cell.has(Act::drop)) return lines.erase(victim);
  victim.copy.state = cell.next();
  lines.unsettle(victim);
  Msg m;
  m.kind = Kind::Put;
  m.from = m.requester = agent;
  m.to = m.resolver = engine.resolver_above(agent, victim.number, agent);
  m.line = victim.number;
  m.id = ++requests_;
  m.carries = true;
  m.data = victim.data;
  send_time_ = now + spec.l2_hit;
  send(m);
}

// The state of a line changed: drain what can drain, perform what can be performed.
void Core::progress(uint64_t number, Time now) {
  const auto open = [&](const Thread& t) {
    const Line* line = lines.find(number);
    return !line || !line->contended.bars(t.index);
  };
  for (const auto& t : threads)
    if (!t->buffer.empty() && t->buffer.head().line() == number && open(*t)) drain(*t, now);
  for (Thread* t = next_waiting(number, nullptr); t; t = next_waiting(number, t))
    if (open(*t)) attempt(*t, now);
  schedule_next();
}

// A hart's time with a line that others waited for is over: the rest ask in turn, `first` first.
void Core::pass(uint64_t number, uint32_t first, Time now) {
  for (std::size_t i = 0; i < threads.size(); ++i) {
    Thread& t = *threads[(first + i) % threads.size()];
    if (!t.buffer.empty() && t.buffer.head().line() == number)
      drain(t, now);
    else if (t.mode == Thread::Mode::waiting && t.pending.line() == number)
      attempt(t, now);
  }
  schedule_next();
}

// Who waits for the line next, in the order of issue.
Thread* Core::next_waiting(uint64_t number, const Thread* after) const {
  Thread* next = nullptr;
  const auto earlier = [](const Thread& a, const Thread& b) {
    return std::tie(a.since, a.index) < std::tie(b.since, b.index);
  };
  for (const auto& t : threads) {
    const bool waits = t->mode == Thread::Mode::waiting && t->pending.kind != Access::Kind::none &&
                       t->pending.line() == number;
    if (waits && (!after || earlier(*after, *t)) && (!next || earlier(*t, *next))) next = t.get();
  }
  return next;
}

}  // namespace uncore
