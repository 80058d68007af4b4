#include "observe/attribution.hh"

#include <algorithm>

#include "uncore_abi.h"

namespace uncore {
namespace {

constexpr uint64_t bytes_of(unsigned offset, unsigned size) {
  return ((uint64_t{1} << size) - 1) << offset;
}

template <class F>
void each_byte(uint64_t bytes, F f) {
  for (; bytes; bytes &= bytes - 1) f(static_cast<unsigned>(__builtin_ctzll(bytes)));
}

}  // namespace

// --- rows -------------------------------------------------------------------------------------

std::size_t Attribution::row(uint32_t hart, uint64_t line, uint64_t pc, int64_t kind) {
  Hart& h = harts_[hart];
  Hart::Recall& recall = h.recalls[(pc >> 1) % h.recalls.size()];
  if (recall.line == line && recall.pc == pc && recall.kind == kind) return recall.use;
  std::vector<std::size_t>& rows = h.rows[(line * 0x9E3779B97F4A7C15u) ^ pc];
  const auto same = [&](std::size_t i) {
    return uses_[i].line == line && uses_[i].pc == pc && uses_[i].kind == kind;
  };
  auto found = std::find_if(rows.begin(), rows.end(), same);
  if (found == rows.end()) {
    found = rows.insert(rows.end(), uses_.size());
    uses_.push_back({.line = line, .pc = pc, .hart = hart, .kind = kind});
  }
  recall = {line, pc, kind, *found};
  return *found;
}

void Attribution::touched(uint32_t hart, Agent core, const Access& access, Time now) {
  Hart& h = harts_[hart];
  const Time since = std::min(h.since, now), waited = stop_waiting(h, now);
  const std::size_t use = count(hart, core, access, h.kind, h.missing, waited);
  h.missing = false;
  if (waited || path.has_woken(hart)) path.waited(hart, access.line, use, since, now);
  if (access.writes) path.wrote(hart, access.line, now);
  if (h.recording) h.turn.push_back({h.instructions, use, bytes_of(access.offset, access.size)});
}

void Attribution::drained(uint32_t hart, Agent core, std::size_t older, Access store, bool waits,
                          Time now) {
  Hart& h = harts_[hart];
  const Time since = h.since, waited = waits ? stop_waiting(h, now) : 0;
  if (waits) h.since = std::max(since, now);
  const Buffered left = h.stores[older];
  h.stores.erase(h.stores.begin() + static_cast<std::ptrdiff_t>(older));
  store.pc = left.pc;
  const std::size_t use = count(hart, core, store, left.kind, left.missing, waited);
  path.drained(hart, store.line, use, left.entered, waits, now);
}

std::size_t Attribution::count(uint32_t hart, Agent core, const Access& access, int64_t kind,
                               bool missed, Time waited) {
  const uint64_t bytes = bytes_of(access.offset, access.size);
  const std::size_t use = row(hart, access.line, access.pc, kind);
  Use& u = uses_[use];
  u.reads += access.reads;
  u.writes += access.writes;
  u.misses += missed;
  u.waited += waited;
  if (access.reads) u.read |= bytes;
  if (access.writes) u.written |= bytes;
  judge(core, use, bytes, access.writes, missed, waited);
  return use;
}

// --- waiting ----------------------------------------------------------------------------------

// How long it has stood still; a core may have run ahead of `now`.
Time Attribution::stop_waiting(Hart& hart, Time now) {
  const Time waited = now > hart.since ? now - hart.since : 0;
  hart.since = kNever;
  return waited;
}

void Attribution::waited(uint32_t hart, uint64_t line, uint64_t pc, Time now) {
  Hart& h = harts_[hart];
  h.missing = false;
  if (const Time time = stop_waiting(h, now)) uses_[row(hart, line, pc, h.kind)].waited += time;
}

void Attribution::waited_store(uint32_t hart, std::size_t older, uint64_t line, Time now) {
  Hart& h = harts_[hart];
  const Buffered& store = h.stores[older];
  uses_[row(hart, line, store.pc, store.kind)].waited += stop_waiting(h, now);
}

void Attribution::turn_ends(uint32_t hart, uint64_t instructions) {
  Hart& h = harts_[hart];
  h.recording = false;
  std::erase_if(h.turn, [&](const Turn& t) { return t.instructions < instructions; });
}

void Attribution::repeated(uint32_t hart, Agent core, uint64_t turns) {
  if (turns == 0) return;
  for (const Turn& t : harts_[hart].turn) {
    uses_[t.use].reads += turns;
    judge(core, t.use, t.bytes, false, false, 0);
  }
}

// --- copies -----------------------------------------------------------------------------------

void Attribution::Recent::note(Agent core, uint64_t now) {
  if (who[0] != core) {
    who[1] = who[0], at[1] = at[0];
    who[0] = core;
  }
  at[0] = now;
}

// What this access means for the misses of its core, and for those of others to come.
void Attribution::judge(Agent core, std::size_t use, uint64_t bytes, bool writes, bool missed,
                        Time waited) {
  const auto found = shared_.find(uses_[use].line);
  if (found == shared_.end() || !found->second->history) return;
  Shared& line = *found->second;
  Held& held = line.held.try_emplace(core).first.value();
  if (missed && held.returned) held.suspects.push_back({use, waited, held.written, held.touched});
  std::erase_if(held.suspects, [&](const Suspect& s) {
    return (bytes & s.written) || (writes && (bytes & s.touched));
  });
  ++clock_;
  each_byte(bytes, [&](unsigned byte) {
    line.history->touched[byte].note(core, clock_);
    if (writes) line.history->written[byte].note(core, clock_);
  });
}

Attribution::Shared& Attribution::line(uint64_t number) {
  std::unique_ptr<Shared>& shared = shared_[number];
  if (!shared) shared = std::make_unique<Shared>();
  return *shared;
}

void Attribution::transferred(uint64_t number, Agent from, Agent to) {
  const auto pair = static_cast<uint64_t>(static_cast<uint32_t>(from)) << 32;
  ++line(number).passed[pair | static_cast<uint32_t>(to)];
}

void Attribution::probed(Agent core, uint64_t number, bool invalidates, Loss loss) {
  Shared& s = line(number);
  s.invalidations += invalidates;
  if (!s.history) s.history = std::make_unique<History>();
  Held& held = s.held.try_emplace(core).first.value();
  if (!loss.copy && !loss.right) return;
  condemn(held);
  ++clock_;
  if (loss.copy) held.copy_lost = clock_;
  if (loss.right) held.right_lost = clock_;
}

void Attribution::filled(Agent core, uint64_t number, bool writable) {
  Shared& s = line(number);
  if (!s.history) return;
  Held& held = s.held.try_emplace(core).first.value();
  held.written = held.touched = 0;
  held.returned = held.copy_lost || (writable && held.right_lost);
  for (unsigned byte = 0; byte < 64; ++byte) {
    const uint64_t bit = uint64_t{1} << byte;
    if (held.copy_lost && s.history->written[byte].others_since(core, held.copy_lost))
      held.written |= bit;
    if (writable && held.right_lost && s.history->touched[byte].others_since(core, held.right_lost))
      held.touched |= bit;
  }
  held.copy_lost = 0;
  if (writable) held.right_lost = 0;
}

void Attribution::evicted(Agent core, uint64_t number) {
  Shared& s = line(number);
  const auto found = s.held.find(core);
  if (found == s.held.end()) return;
  condemn(found.value());
  found.value() = {};
}

// The copy goes, and no value came with it.
void Attribution::condemn(Held& held) {
  for (const Suspect& suspect : held.suspects) {
    ++uses_[suspect.use].needless;
    uses_[suspect.use].needlessly += suspect.waited;
  }
  held.suspects.clear();
}

// --- operations -------------------------------------------------------------------------------

void Attribution::marked(uint32_t hart, unsigned code, uint64_t value, Time now) {
  int64_t& kind = harts_[hart].kind;
  if (code == UC_MARK_ROI_ON) path.begins(now);
  if (code == UC_MARK_ROI_OFF) path.ends(hart, now);
  if (code == UC_MARK_ROI_ON) kind = kBetween;
  if (code == UC_MARK_ROI_OFF) kind = kOutside;
  if (kind == kOutside) return;
  if (code == UC_MARK_START) kind = 0;
  if (code == UC_MARK_KIND) kind = static_cast<int64_t>(value);
  if (code == UC_MARK_OP) kind = kBetween;
}

// --- the outcome ------------------------------------------------------------------------------

void Attribution::finish() {
  for (auto line = shared_.begin(); line != shared_.end(); ++line)
    for (auto held = (*line.value()).held.begin(); held != (*line.value()).held.end(); ++held)
      condemn(held.value());
  path.walk([this](std::size_t use, Time time) { uses_[use].critical += time; });
}

std::vector<Attribution::Passed> Attribution::passed() const {
  std::vector<Passed> all;
  for (const auto& [line, shared] : shared_)
    for (const auto& [pair, times] : shared->passed)
      all.push_back({line, static_cast<Agent>(pair >> 32), static_cast<Agent>(pair), times});
  return all;
}

std::vector<std::pair<uint64_t, uint64_t>> Attribution::invalidations() const {
  std::vector<std::pair<uint64_t, uint64_t>> all;
  for (const auto& [line, shared] : shared_)
    if (shared->invalidations) all.emplace_back(line, shared->invalidations);
  return all;
}

}  // namespace uncore
