// A core's caches: lines that accesses use and ask for, and room for those that come (rule A5).
#include <algorithm>

#include "core/at_line.hh"

namespace uncore {

// The line with the right that `wish` needs, or null: requested, in a state that must pass, or
// another hart's for the time being (C9).
Line* Core::ready(const Thread& thread, uint64_t number, ClientEvent wish, Time now, Time& cost) {
  Line* line = lines.find(number);
  if (!line)
    line = &lines.insert(number);
  else if (wish != ClientEvent::Load && line->contended.bars(thread.index) &&
           thread.locked != number)
    return nullptr;
  AtLine at(*this, number, line, now, looked_up(number, now));
  const Begun begun = CoreClient::access(at, line->copy, wish);
  if (begun == Begun::asked) line->contended.asked(thread.index);
  if (begun != Begun::performed) return nullptr;
  cost = line->in_l1 ? 0 : looked_up(number, 0);
  use(*line, now);
  return line;
}

// Is an atomic operation to be sent to where the line's data are (rule C8)?
bool Core::goes_far(uint64_t number) {
  Line* line = lines.find(number);
  return CoreClient::goes_far(AtLine(*this, number, line, 0, 0), line ? line->copy : Copy{});
}

// Sends it; its number.
uint32_t Core::ask_far(const Access& a, Time now) {
  AtLine at(*this, a.line(), nullptr, now, looked_up(a.line(), now));
  return CoreClient::ask_far(at, a.operation());
}

void Core::send(const Msg& m, Time leaves) {
  if (draws_ && is_request(m.kind) && m.kind != Kind::Put && !around.map.free(m.line))
    leaves = later(m, leaves);
  around.network.send(m, leaves, agent);
  turns.sent(leaves);
}

// When a request leaves that chance delays (rule V4). Amos stay in order (C8.7).
Time Core::later(const Msg& request, Time leaves) {
  leaves += draws_(request.id);
  if (request.kind == Kind::Amo) leaves = last_amo_ = std::max(leaves, last_amo_);
  return leaves;
}

// The line is the last used of its sets, and in the L1.
void Core::use(Line& line, Time now) {
  lines.touch(line, now, turns.user());
  if (!line.in_l1) {
    turns.advance_readers(line.number, now);
    if (Line* displaced = lines.displaced(line.number)) {
      if (displaced->watchers) turns.wake_watchers(*displaced, now);
      turns.disturb();
      lines.leave_l1(*displaced);
    }
  }
  lines.enter_l1(line);
}

// Evicts the least recently used lines of the set until one more fits. Which those are depends on
// when sleepers read them.
void Core::make_room(const Line& incoming, Time now) {
  const auto may_go = [&](const Line& l) {
    return around.protocol.may_evict(l.copy.state) && l.stalled == 0 && l.held_until <= now &&
           l.locked_until <= now;
  };
  turns.advance_readers(incoming.number, now);
  while (Line* victim = lines.victim(incoming.number, may_go)) evict(*victim, now);
}

void Core::evict(Line& victim, Time now) {
  AtLine at(*this, victim.number, &victim, now, looked_up(victim.number, now));
  const Evicted evicted = CoreClient::evict(at, victim.copy);
  turns.disturb();
  lost(victim.number);
  if (observed) observed->evicted(agent, victim.number);
  if (evicted == Evicted::dropped)
    lines.erase(victim);
  else
    lines.leave(victim);
}

}  // namespace uncore
