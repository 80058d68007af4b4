#include "observe/line_copies.hh"

namespace uncore {
namespace {

using Piece = ObservedLine::Piece;
using Recent = ObservedLine::Recent;

// Records that core `by` touches (or writes, as `what` says) these bytes now. Splits a piece if
// only some of its bytes are touched.
void note_in(std::vector<Piece>& pieces, Recent Piece::* what, uint64_t bytes, Agent by,
             uint64_t now) {
  for (std::size_t n = 0; bytes && n < pieces.size(); ++n) {
    const uint64_t within = pieces[n].bytes & bytes;
    if (!within) continue;
    bytes &= ~within;
    if (const uint64_t outside = pieces[n].bytes & ~within) {
      pieces.push_back(pieces[n]);
      pieces.back().bytes = outside;
      pieces[n].bytes = within;
    }
    (pieces[n].*what).note(by, now);
  }
}

// Returns the bytes that cores other than `core` have touched (or written, as `what` says) after
// `since`. Returns none if `since` is 0.
uint64_t by_others(const std::vector<Piece>& pieces, Recent Piece::* what, Agent core,
                   uint64_t since) {
  uint64_t bytes = 0;
  if (since)
    for (const Piece& piece : pieces)
      if ((piece.*what).others_since(core, since)) bytes |= piece.bytes;
  return bytes;
}

}  // namespace

void ObservedLine::Recent::note(Agent by, uint64_t now) {
  if (core[0] != by) {
    core[1] = core[0], at[1] = at[0];
    core[0] = by;
  }
  at[0] = now;
}

ObservedLine& LineCopies::line(uint64_t number) {
  ObservedLine*& line = lines_[number];
  if (!line) line = &all_lines_.add(ObservedLine{.number = number, .index = all_lines_.size()});
  return *line;
}

const ObservedLine* LineCopies::find(uint64_t number) const {
  const auto line = lines_.find(number);
  return line == lines_.end() ? nullptr : line->second;
}

HeldLine* LineCopies::find(Agent core, uint64_t number) {
  const auto held = held_.find({number, core});
  return held == held_.end() ? nullptr : held->second;
}

HeldLine& LineCopies::held_line(Agent core, uint64_t number) {
  HeldLine*& held = held_[{number, core}];
  if (!held) held = &all_held_.add(HeldLine{.line = &line(number), .core = core});
  return *held;
}

std::size_t LineCopies::row(uint32_t hart, Agent core, uint64_t line, uint64_t pc, int64_t kind,
                            uint32_t callers) {
  const std::size_t use = uses_.row(hart, line, pc, kind, callers);
  if (!uses_[use].held) uses_[use].held = &held_line(core, line);
  return use;
}

// Records an access. It may show that earlier misses of its core were needed. The record is used to
// decide whether later misses of other cores were needed.
void LineCopies::note(HeldLine& held, const ObservedAccess& access) {
  const auto& [use, bytes, writes, missed, waited] = access;
  ObservedLine& line = *held.line;
  if (line.history.empty()) return;
  if (held.noted != line.since)
    held.noted = line.since, held.noted_touched = held.noted_written = 0;
  if (missed && held.returned) {
    held.suspects.push_back({use, waited, held.written, held.touched});
    held.noted_touched = held.noted_written = 0;  // compare all bytes with this miss
  }
  std::erase_if(held.suspects, [&](const HeldLine::Suspect& s) {
    return (bytes & s.written) || (writes && (bytes & s.touched));
  });
  note_in(line.history, &Piece::touched, bytes & ~held.noted_touched, held.core, clock_);
  held.noted_touched |= bytes;
  if (!writes) return;
  note_in(line.history, &Piece::written, bytes & ~held.noted_written, held.core, clock_);
  held.noted_written |= bytes;
}

void LineCopies::transferred(uint64_t number, Agent from, Agent to) {
  HeldLine& receiver = held_line(to, number);
  HeldLine::Passer* passer = receiver.passers;
  while (passer && passer->from != from) passer = passer->next;
  if (!passer)
    passer = receiver.passers = &all_passers_.add(HeldLine::Passer{from, 0, receiver.passers});
  ++passer->times;
}

void LineCopies::probed(Agent core, uint64_t number, bool invalidates, Loss loss) {
  HeldLine& loser = held_line(core, number);
  ObservedLine& line = *loser.line;
  line.invalidations += invalidates;
  if (line.history.empty()) {
    line.history.push_back({.bytes = ~uint64_t{0}});
    line.since = clock_;
  }
  if (!loss.copy && !loss.right) return;
  count_needless(loser);
  if (loss.copy) loser.copy_lost = clock_;
  if (loss.right) loser.right_lost = clock_;
  line.since = ++clock_;
}

void LineCopies::filled(Agent core, uint64_t number, bool writable) {
  HeldLine* const held = find(core, number);
  if (!held || held->line->history.empty()) return;
  const std::vector<Piece>& history = held->line->history;
  const uint64_t right_lost = writable ? held->right_lost : 0;
  held->returned = held->copy_lost || right_lost;
  held->written = by_others(history, &Piece::written, core, held->copy_lost);
  held->touched = by_others(history, &Piece::touched, core, right_lost);
  held->copy_lost = 0;
  if (writable) held->right_lost = 0;
}

void LineCopies::evicted(Agent core, uint64_t number) {
  HeldLine* const held = find(core, number);
  if (!held) return;
  count_needless(*held);
  if (!held->line->history.empty()) held->forget();
}

// Counts the remaining suspects as needless misses, because the copy leaves before it has moved a
// value.
void LineCopies::count_needless(HeldLine& held) {
  for (const HeldLine::Suspect& suspect : held.suspects) {
    UseCost& cost = uses_.cost(uses_[suspect.use]);
    ++cost.needless;
    cost.needless_wait += suspect.waited;
  }
  held.suspects.clear();
}

void LineCopies::finish() {
  all_held_.each([this](HeldLine& held) { count_needless(held); });
}

std::vector<LineCopies::PassedLine> LineCopies::passed_lines() const {
  std::vector<PassedLine> all;
  all_held_.each([&](const HeldLine& held) {
    for (const HeldLine::Passer* p = held.passers; p; p = p->next)
      all.push_back({held.line->number, p->from, held.core, p->times});
  });
  return all;
}

std::vector<std::pair<uint64_t, uint64_t>> LineCopies::invalidations() const {
  std::vector<std::pair<uint64_t, uint64_t>> all;
  all_lines_.each([&](const ObservedLine& line) {
    if (line.invalidations) all.emplace_back(line.number, line.invalidations);
  });
  return all;
}

}  // namespace uncore
