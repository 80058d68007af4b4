#include "core/incoming_probes.hh"

#include <algorithm>
#include <optional>

#include "core/at_line.hh"

namespace uncore {

void IncomingProbes::arrive(Packet& packet, Line* line, Time now) {
  const CoreContext& context = core_.context;
  const Msg& m = packet.message;
  if (line && line->watchers) core_.sleep.wake_lockers(*line, now);
  Copy no_copy;
  Copy& copy = line ? line->copy : no_copy;
  AtLine env(core_, m.line, line, now, core_.caches.looked_up(m.line, now));
  if (CoreClient::is_early(env, copy, m)) return defer(packet, line, kNever);
  if (const Time until = deferral(m, line); until > now) return defer(packet, line, until);
  if (env.shares()) {
    const bool counted = core_.counts(now);
    context.counters.invalidations += m.kind != Kind::ProbeS && counted;
    if (core_.observed) core_.observed.probed(copy, m, counted);
  }
  if (core_.observed) core_.observed.acted(packet.number, now);
  CoreClient::answer(env, copy, m);
  context.network.packets.drop(packet);
  if (line) answered(*line, now);
}

inline void IncomingProbes::answered(Line& line, Time now) {
  const Protocol& states = core_.context.protocol;
  const State s = line.copy.state;
  const uint64_t number = line.number;
  const std::optional<uint32_t> holder = ContendedLines::end(line);
  core_.turns.disturb();
  if (!states.holds_copy(s)) core_.lose(number, now);
  if (s == State::I && line.stalled == 0)
    core_.lines.erase(line);
  else if (states.waits_for_grant(s) && !states.holds_copy(s))
    core_.lines.leave(line);
  if (holder) core_.contended.ask_in_turn(number, *holder, now);
}

// C4.1: returns the time until which a probe waits for the end of the hold and of the lock; 0 if it
// need not wait.
Time IncomingProbes::deferral(const Msg& m, const Line* line) const {
  if (!line || m.kind == Kind::Inv || !core_.context.protocol.may_store(line->copy.state)) return 0;
  return std::max(line->held_until, line->locked_until);
}

void IncomingProbes::schedule(const Packet& p, Time when) {
  core_.context.queue.push(when, p, Action::retry, p.subject());
}

void IncomingProbes::defer(Packet& packet, Line* line, Time until) {
  if (packet.retry == 0) {  // the probe has not waited before
    stalled_.push_back(&packet);
    ++line->stalled;
    if (core_.context.protocol.may_store(line->copy.state))
      ContendedLines::note_waiting_probe(*line);
    core_.context.network.expect(core_.agent);
  }
  if (packet.retry == until) return;
  packet.retry = until;
  if (until != kNever) schedule(packet, until);
}

void IncomingProbes::ask_again(Packet& packet, Time now) {
  if (!packet.live || packet.retry != now) return;
  Line* line = core_.lines.find(packet.message.line);
  if (const Time until = deferral(packet.message, line); until > now && !line->watchers) {
    ContendedLines::note_waiting_probe(*line);
    return schedule(packet, packet.retry = until);  // the hold or lock now ends later
  }
  packet.retry = 0;
  std::erase(stalled_, &packet);
  core_.context.network.arrived(core_.agent);
  if (line) --line->stalled;
  arrive(packet, line, now);
}

// C3.1, C4.2: probes that waited for the grant try again, at the earliest 1 ps later.
void IncomingProbes::grant_arrived(uint64_t number, Time now) {
  for (Packet* const p : stalled_) {
    if (p->message.line != number || p->retry != kNever) continue;
    const Line* line = core_.lines.find(number);
    p->retry = std::max(now + 1, deferral(p->message, line));
    schedule(*p, p->retry);
  }
}

// C4.2: an LR's lock has ended early, so probes that waited for it try again.
void IncomingProbes::lock_ended(Line& line, Time now) {
  for (Packet* const p : stalled_) {
    if (p->message.line != line.number || p->retry == kNever) continue;
    const Time until = std::max(now + 1, line.held_until);
    defer(*p, &line, until);
    core_.turns.shorten(until - 1);
  }
}

}  // namespace uncore
