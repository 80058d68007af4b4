#include "core/caches.hh"

#include <algorithm>

#include "core/at_line.hh"
#include "spec/core_spec.hh"

namespace uncore {

Caches::Caches(Core& core, const CoreSpec& spec, const JobSpec& job, Agent agent)
    : core_(core),
      prefetches_neighbours_(spec.prefetch == CoreSpec::Prefetch::adjacent),
      draws_(Draws::request, job.seed, static_cast<uint64_t>(agent), job.chance.request),
      hold_play_(spec.hold * job.chance.hold / 1000),
      hold_draws_(Draws::hold, job.seed, static_cast<uint64_t>(agent), 2 * hold_play_) {}

// Makes the line the most recently used one of its sets, and puts it into the L1.
[[gnu::always_inline]] inline void Caches::use(Line& line, Time now) {
  core_.lines.touch(line, now, core_.turns.user());
  if (!line.in_l1) make_room_in_l1(line, now);
  core_.lines.enter_l1(line);
}

void Caches::make_room_in_l1(const Line& incoming, Time now) {
  core_.sleep.advance_sleepers_if_read(incoming.number, now);
  Line* const displaced = core_.lines.displaced_line(incoming.number);
  if (!displaced) return;
  if (displaced->watchers) core_.sleep.wake_watchers(*displaced, now);
  core_.turns.disturb();
  core_.lines.leave_l1(*displaced);
}

// Returns null if the line has been requested, is in a transient state, or belongs to another hart
// of the core at present (C9). The client is not asked about a line in the L1 that may be written
// without a change of its state, because then no access changes the state.
Line* Caches::find_or_request(const Thread& thread, uint64_t number, Line* line, ClientEvent wish,
                              Time now, Time& cost) {
  if (!line)
    line = &core_.lines.insert(number);
  else if (ContendedLines::access_must_wait(*line, thread, wish))
    return nullptr;
  if (!line->in_l1 || line->is(StoreObstacle::unwritten) || core_.observed.traces()) {
    AtLine env(core_, number, line, now, looked_up(number, now));
    const bool absent = line->copy.state == State::I;
    const BeginResult begun = CoreClient::access(env, line->copy, wish);
    if (begun == BeginResult::asked) {
      ContendedLines::note_requester(*line, thread);
      ++under_way_;
      if (absent && prefetches_neighbours_) ask_for_neighbour(thread, number, wish, now);
    }
    if (begun != BeginResult::performed) return nullptr;
  }
  cost = line->in_l1 ? 0 : looked_up(number, 0);
  use(*line, now);
  return line;
}

// C11: requests the neighbour of a line that has just been requested. The neighbour's own neighbour
// is that first line, so no third line is requested.
[[gnu::noinline]] void Caches::ask_for_neighbour(const Thread& thread, uint64_t number,
                                                 ClientEvent wish, Time now) {
  if (wish == ClientEvent::Amo || under_way_ >= core_.spec.misses) return;
  Line* const neighbour = core_.lines.find(number ^ 1);
  if (neighbour && neighbour->copy.state != State::I) return;
  Time lookup = 0;
  find_or_request(thread, number ^ 1, neighbour, wish, now + core_.spec.instruction, lookup);
}

Time Caches::looked_up(uint64_t number, Time now) const {
  return core_.context.map.costs_nothing(number) ? now : now + core_.spec.l2_hit;
}

void Caches::send(const Msg& m, Time leaves) {
  const CoreContext& context = core_.context;
  if (draws_ && is_request(m.kind) && m.kind != Kind::Put && !context.map.costs_nothing(m.line))
    leaves = delayed_departure(m, leaves);
  context.network.send(m, leaves, core_.agent);
  core_.turns.sent(leaves);
}

// Returns the time at which a request leaves, after its random delay (rule V4). AMOs stay in order
// (C8.7).
Time Caches::delayed_departure(const Msg& request, Time leaves) {
  leaves += draws_(request.id);
  if (request.kind == Kind::Amo) leaves = last_amo_ = std::max(leaves, last_amo_);
  return leaves;
}

// --- answers

void Caches::receive(const Packet& packet, Line* line, Time now) {
  if (!line) throw ProtocolError{"a core was answered about a line it did not ask for"};
  if (packet.message.kind == Kind::PutAck)
    put_away(*line, now);
  else
    granted(packet, *line, now);
}

void Caches::put_away(Line& line, Time now) {
  const uint64_t number = line.number;
  AtLine env(core_, number, &line, now, now);
  CoreClient::put_away(env, line.copy);
  core_.lines.erase(line);
  core_.waiting.retry_waiters(number, now);
}

// Handles a grant of data or of a right. The accesses that wait for the line are performed now
// (H5.1).
inline void Caches::granted(const Packet& packet, Line& line, Time now) {
  const Msg& m = packet.message;
  AtLine env(core_, line.number, &line, now, now);
  if (m.carries) {
    const bool counts = core_.counts(now);
    core_.context.counters.transferred(core_.agent, packet.origin, line.number, counts);
    if (core_.observed && counts)
      core_.observed->copies.transferred(line.number, packet.origin, core_.agent);
  }
  if (!CoreClient::granted(env, line.copy, m)) return;
  --under_way_;
  const State state = line.copy.state;
  if (!line.resident) {
    make_room(line, now);
    core_.lines.enter_l2(line);
  }
  use(line, now);
  if (core_.context.protocol.is_dirty(state)) hold(line, m, now);
  line.locked_until = 0;
  if (core_.observed) core_.observed.filled(line.number, state, now, line.held_until);
  const uint64_t number = line.number;
  core_.waiting.retry_waiters(number, now);
  core_.probes.grant_arrived(number, now);
}

// C4: begins the hold of a line that has arrived in M.
void Caches::hold(Line& line, const Msg& grant, Time now) {
  const Time hold = core_.spec.hold - hold_play_ + (hold_draws_ ? hold_draws_(grant.id) : 0);
  line.held_until = now + (core_.context.map.costs_nothing(line.number) ? 0 : hold);
  ContendedLines::begin(line, grant.contended || line.stalled > 0);
}

// --- evictions (C5)

// Evicts the least recently used lines of the set until one more fits. Sleeping harts are advanced
// first, because their reads count as uses.
void Caches::make_room(const Line& incoming, Time now) {
  const auto may_go = [&](const Line& l) {
    return core_.context.protocol.may_evict(l.copy.state) && l.stalled == 0 &&
           l.held_until <= now && l.locked_until <= now;
  };
  core_.sleep.advance_sleepers_if_read(incoming.number, now);
  while (Line* victim = core_.lines.victim(incoming.number, may_go)) evict(*victim, now);
}

void Caches::evict(Line& victim, Time now) {
  AtLine env(core_, victim.number, &victim, now, looked_up(victim.number, now));
  const EvictionResult evicted = CoreClient::evict(env, victim.copy);
  core_.turns.disturb();
  core_.lose(victim.number, now);
  if (core_.observed) core_.observed->copies.evicted(core_.agent, victim.number);
  if (evicted == EvictionResult::dropped)
    core_.lines.erase(victim);
  else
    core_.lines.leave(victim);
}

}  // namespace uncore
