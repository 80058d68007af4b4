#include "observe/attribution.hh"

#include <algorithm>

#include "uncore_abi.h"

namespace uncore {

// --- accesses ---------------------------------------------------------------------------------

void Attribution::touched(uint32_t hart, Agent core, const Access& access, Time now) {
  Hart& h = harts_[hart];
  const Time since = std::min(h.since, now), waited = stop_waiting(h, now);
  const std::size_t use = count(hart, core, access, h.kind, h.missing, waited);
  h.missing = false;
  if (waited || path.has_woken(hart))
    path.waited(hart, uses[use].held->line->last_writes,
                {use, access.bytes, since, looked(h, use, now)}, now);
  if (access.writes) wrote(hart, uses[use], access, now);
  if (access.repeats) h.iteration.push_back({h.instructions, use, access.bytes});
}

void Attribution::drained(uint32_t hart, Agent core, std::size_t older, Access store, bool waits,
                          Time now) {
  Hart& h = harts_[hart];
  const Time since = h.since, waited = waits ? stop_waiting(h, now) : 0;
  if (waits) h.since = std::max(since, now);
  const Buffered drained = h.stores[older];
  h.stores.erase(h.stores.begin() + static_cast<std::ptrdiff_t>(older));
  store.pc = drained.frame.pc;
  const std::size_t use = count(hart, core, store, drained.kind, drained.missing, waited);
  ObservedLine& line = *uses[use].held->line;
  note_effect(h, line, store.reads);
  path.drained(hart, line.last_writes, {use, store.bytes, drained.entered, waits}, now);
}

// Records that the hart waits in this row. If the hart polls, returns when it waited in the row
// before; else kNever. It polls if that was during the same operation, and if it has done nothing
// since then that others may see, but atomics on the same line.
Time Attribution::looked(const Hart& hart, std::size_t use, Time now) {
  auto& last = uses.cost(uses[use]).last_wait;
  const uint64_t effects = hart.effects_elsewhere(uses[use].held->line);
  const bool polls = last.operation == hart.operation && last.effects == effects;
  const Time before = last.at;
  last = {hart.operation, effects, now};
  return polls ? before : kNever;
}

std::size_t Attribution::count(uint32_t hart, Agent core, const Access& access, int64_t kind,
                               bool missed, Time waited) {
  const uint64_t bytes = access.bytes;
  const std::size_t use = copies.row(hart, core, access.line, access.pc, kind, access.callers);
  Use& u = uses[use];
  u.reads += access.reads;
  u.writes += access.writes;
  if (missed || waited) {
    UseCost& cost = uses.cost(u);
    cost.misses += missed, cost.waited += waited;
  }
  if (access.reads) u.read |= bytes;
  if (access.writes) u.written |= bytes;
  copies.accessed(*u.held, {use, bytes, access.writes, missed, waited});
  return use;
}

// --- waiting ----------------------------------------------------------------------------------

// Ends the hart's wait and returns its length. The length is 0 if the hart did not wait, or if the
// wait begins after `now` because the core has run ahead.
Time Attribution::stop_waiting(Hart& hart, Time now) {
  const Time waited = now > hart.since ? now - hart.since : 0;
  hart.since = kNever;
  return waited;
}

void Attribution::waited(uint32_t hart, Agent core, uint64_t line, uint64_t pc, Time now) {
  Hart& h = harts_[hart];
  h.missing = false;
  if (const Time time = stop_waiting(h, now))
    uses.cost(uses[copies.row(hart, core, line, pc, h.kind)]).waited += time;
}

void Attribution::failed_sc(uint32_t hart, Agent core, uint64_t line, uint64_t pc, Time now) {
  waited(hart, core, line, pc, now);
  ++uses.cost(uses[copies.row(hart, core, line, pc, harts_[hart].kind)]).failed_scs;
}

void Attribution::waited_store(uint32_t hart, Agent core, std::size_t older, uint64_t line,
                               Time now) {
  Hart& h = harts_[hart];
  const Buffered& store = h.stores[older];
  const std::size_t use = copies.row(hart, core, line, store.frame.pc, store.kind);
  uses.cost(uses[use]).waited += stop_waiting(h, now);
}

void Attribution::end_iteration(uint32_t hart, uint64_t instructions) {
  Hart& h = harts_[hart];
  std::erase_if(h.iteration,
                [&](const IterationAccess& t) { return t.instructions < instructions; });
}

void Attribution::repeated(uint32_t hart, uint64_t times) {
  if (times == 0) return;
  for (const IterationAccess& t : harts_[hart].iteration) {
    uses[t.use].reads += times;
    copies.accessed(*uses[t.use].held, {t.use, t.bytes, false, false, 0});
  }
}

// --- operations -------------------------------------------------------------------------------

void Attribution::marked(uint32_t hart, unsigned code, uint64_t value, Time now) {
  int64_t& kind = harts_[hart].kind;
  if (code == UC_MARK_ROI_ON) path.began(hart, now);
  if (code == UC_MARK_ROI_OFF) path.ended(hart, now);
  if (code == UC_MARK_ROI_ON) kind = kBetween;
  if (code == UC_MARK_ROI_OFF) kind = kOutside;
  if (kind == kOutside) return;
  if (code == UC_MARK_START) kind = 0;
  if (code == UC_MARK_KIND) kind = static_cast<int64_t>(value);
  if (code == UC_MARK_OP) kind = kBetween;
  if (code == UC_MARK_OP) path.operated(hart, std::max<uint64_t>(1, value));
  if (code == UC_MARK_OP || code == UC_MARK_START) ++harts_[hart].operation;
}

void Attribution::set_kind_of_all(int64_t kind) {
  for (Hart& h : harts_) {
    h.kind = kind;
    for (Buffered& store : h.stores) store.kind = kind;
  }
}

// The first call begins the measurement, so rows recorded before it become rows of kind kOutside. A
// later call means that the program has several threads again, so the rows of kind kPerhaps,
// recorded while it had one, become rows of kind kBetween.
void Attribution::note_several_threads(Time now) {
  const bool has_begun_before = harts_[0].kind == kPerhaps;
  if (!has_begun_before) path.begins_at(now);
  uses.rename(has_begun_before ? kPerhaps : kBetween, has_begun_before ? kBetween : kOutside);
  set_kind_of_all(kBetween);
}

void Attribution::note_one_thread(uint32_t hart, Time now) {
  path.ended(hart, now);
  set_kind_of_all(kPerhaps);
}

void Attribution::finished(uint32_t hart, Time now) {
  if (harts_[hart].kind != kPerhaps) marked(hart, UC_MARK_ROI_OFF, 0, now);
}

// --- the outcome ------------------------------------------------------------------------------

void Attribution::finish() {
  uses.rename(kPerhaps, kOutside);
  copies.finish();
  path.walk([this](std::size_t use, Time time) { uses.cost(uses[use]).critical += time; });
  uses.name_callers();
}

}  // namespace uncore
