// What reaches a core: answers fill its lines, and probes take them away (rules C2 to C4).
#include <algorithm>
#include <optional>

#include "core/at_line.hh"

namespace uncore {

void Core::receive(PacketId id, Time now) {
  around.network.arrived(agent);
  Packet& packet = around.network.packets[id];
  const Msg& m = packet.message;
  if (m.kind == Kind::Value) {
    answered(m, now);
    return around.network.packets.drop(id);
  }
  Line* line = lines.find(m.line);
  if (is_probe(m.kind)) return probe(id, line, now);
  if (!line) throw ProtocolError{"a core was answered about a line it did not ask for"};
  if (m.kind == Kind::PutAck)
    put_away(*line, now);
  else
    fill(packet, *line, now);
  around.network.packets.drop(id);
}

void Core::put_away(Line& line, Time now) {
  const uint64_t number = line.number;
  AtLine at(*this, number, &line, now, now);
  CoreClient::put_away(at, line.copy);
  lines.erase(line);
  progress(number, now);
}

void Core::fill(const Packet& packet, Line& line, Time now) {
  const Msg& m = packet.message;
  AtLine at(*this, line.number, &line, now, now);
  if (m.carries) {
    around.counters.transferred(agent, packet.origin, line.number);
    if (observed) observed->transferred(line.number, packet.origin, agent);
  }
  if (!CoreClient::granted(at, line.copy, m)) return;
  const State state = line.copy.state;
  if (!line.resident) {
    make_room(line, now);
    lines.enter_l2(line);
  }
  use(line, now);
  if (around.protocol.is_dirty(state)) {
    const Time hold = spec.hold - hold_play_ + (hold_draws_ ? hold_draws_(m.id) : 0);
    line.held_until = now + (around.map.free(line.number) ? 0 : hold);
    line.contended.begins(m.contended || line.stalled > 0);
  }
  line.locked_until = 0;
  if (observed) observed.filled(line.number, state, now, line.held_until);
  const uint64_t number = line.number;
  progress(number, now);
  retry_stalled(number, now);
}

// ---- probes

void Core::probe(PacketId id, Line* line, Time now) {
  const Msg& m = around.network.packets[id].message;
  if (line && line->watchers) turns.wake_lockers(*line, now);
  Copy none;
  Copy& copy = line ? line->copy : none;
  AtLine at(*this, m.line, line, now, looked_up(m.line, now));
  if (CoreClient::is_early(at, copy, m)) return defer(id, line, kNever);
  if (const Time until = deferral(m, line); until > now) return defer(id, line, until);
  if (at.shares()) {
    around.counters.invalidations += m.kind != Kind::ProbeS;
    if (observed) observed.probed(copy, m);
  }
  if (observed) observed.acts(id, now);
  CoreClient::answer(at, copy, m);
  around.network.packets.drop(id);
  if (line) probed(*line, now);
}

// A probe of the line has been answered.
void Core::probed(Line& line, Time now) {
  const Protocol& states = around.protocol;
  const State s = line.copy.state;
  const uint64_t number = line.number;
  const std::optional<uint32_t> holder = line.contended.ends();
  turns.disturb();
  if (!states.holds_copy(s)) lost(number);
  if (s == State::I && line.stalled == 0)
    lines.erase(line);
  else if (states.waits_for_grant(s) && !states.holds_copy(s))
    lines.leave(line);
  if (holder) pass(number, *holder + 1, now);
}

// What harts know of a line whose copy is gone (rules C7 and C10).
void Core::lost(uint64_t number) {
  for (const auto& t : threads) {
    if (t->reservation == number) t->reservation = Thread::kNoLine;
    if (t->looked == number) t->looked = Thread::kNoLine;
  }
}

// How long a probe of an owned line waits: for the winner's hold, and for the atomic that locks it.
Time Core::deferral(const Msg& m, const Line* line) const {
  if (!line || m.kind == Kind::Inv || !around.protocol.may_store(line->copy.state)) return 0;
  return std::max(line->held_until, line->locked_until);
}

void Core::schedule_retry(PacketId id, Time when) {
  const Packet& p = around.network.packets[id];
  around.queue.push(when, p.place, p.sender, Action::retry, id);
}

void Core::defer(PacketId id, Line* line, Time until) {
  Packet& packet = around.network.packets[id];
  if (packet.retry == 0) {  // newly stalled
    stalled_.push_back(id);
    ++line->stalled;
    if (around.protocol.may_store(line->copy.state)) line->contended.probe_waits();
    around.network.expect(agent);
  }
  if (packet.retry == until) return;
  packet.retry = until;
  if (until != kNever) schedule_retry(id, until);
}

void Core::reconsider(PacketId id, Time now) {
  Packet& packet = around.network.packets[id];
  if (!packet.live || packet.retry != now) return;
  packet.retry = 0;
  std::erase(stalled_, id);
  around.network.arrived(agent);
  Line* line = lines.find(packet.message.line);
  if (line) --line->stalled;
  probe(id, line, now);
}

void Core::retry_stalled(uint64_t number, Time now) {
  for (std::size_t i = 0; i < stalled_.size(); ++i) {
    const PacketId id = stalled_[i];
    Packet& packet = around.network.packets[id];
    if (packet.message.line != number || packet.retry != kNever) continue;
    Line* line = lines.find(number);
    const Time until = std::max(now + 1, deferral(packet.message, line));
    packet.retry = until;
    schedule_retry(id, until);
  }
}

}  // namespace uncore
