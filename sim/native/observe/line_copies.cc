#include "observe/line_copies.hh"

#include <algorithm>

namespace uncore {
namespace {

template <class F>
void each_byte(uint64_t bytes, F f) {
  for (; bytes; bytes &= bytes - 1) f(static_cast<unsigned>(__builtin_ctzll(bytes)));
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
  if (!line) line = &all_lines_.emplace_back(ObservedLine{.number = number});
  return *line;
}

HeldLine* LineCopies::find(Agent core, uint64_t number) {
  const auto held = held_.find({number, core});
  return held == held_.end() ? nullptr : held->second;
}

HeldLine& LineCopies::held(Agent core, uint64_t number) {
  HeldLine*& held = held_[{number, core}];
  if (!held) held = &all_held_.emplace_back(HeldLine{.line = &line(number), .core = core});
  return *held;
}

// What an access means for the misses of its core, and for those of others to come.
void LineCopies::note(HeldLine& held, const Accessed& access) {
  const auto& [use, bytes, writes, missed, waited] = access;
  ObservedLine& line = *held.line;
  if (!line.history) return;
  if (held.noted != line.since)
    held.noted = line.since, held.noted_touched = held.noted_written = 0;
  if (missed && held.returned) {
    held.suspects.push_back({use, waited, held.written, held.touched});
    held.noted_touched = held.noted_written = 0;  // none of it has been held against this miss
  }
  std::erase_if(held.suspects, [&](const HeldLine::Suspect& s) {
    return (bytes & s.written) || (writes && (bytes & s.touched));
  });
  ObservedLine::History& history = *line.history;
  const auto note_in = [&](auto& recents, uint64_t& ever, uint64_t& noted) {
    each_byte(bytes & ~noted, [&](unsigned byte) { recents[byte].note(held.core, clock_); });
    ever |= bytes, noted |= bytes;
  };
  note_in(history.touched, history.ever_touched, held.noted_touched);
  if (writes) note_in(history.written, history.ever_written, held.noted_written);
}

void LineCopies::transferred(uint64_t number, Agent from, Agent to) {
  auto& passed = held(to, number).passed;
  const auto before = std::ranges::find(passed, from, &std::pair<Agent, uint64_t>::first);
  if (before == passed.end())
    passed.emplace_back(from, 1);
  else
    ++before->second;
}

void LineCopies::probed(Agent core, uint64_t number, bool invalidates, Loss loss) {
  HeldLine& its = held(core, number);
  ObservedLine& line = *its.line;
  line.invalidations += invalidates;
  if (!line.history) {
    line.history = std::make_unique<ObservedLine::History>();
    line.since = clock_;
  }
  if (!loss.copy && !loss.right) return;
  condemn(its);
  if (loss.copy) its.copy_lost = clock_;
  if (loss.right) its.right_lost = clock_;
  line.since = ++clock_;
}

void LineCopies::filled(Agent core, uint64_t number, bool writable) {
  HeldLine* const held = find(core, number);
  if (!held || !held->line->history) return;
  const ObservedLine::History& history = *held->line->history;
  const auto by_others = [&](const auto& recents, uint64_t ever, uint64_t since) {
    uint64_t bytes = 0;
    each_byte(since ? ever : 0, [&](unsigned byte) {
      bytes |= uint64_t{recents[byte].others_since(core, since)} << byte;
    });
    return bytes;
  };
  const uint64_t right_lost = writable ? held->right_lost : 0;
  held->returned = held->copy_lost || right_lost;
  held->written = by_others(history.written, history.ever_written, held->copy_lost);
  held->touched = by_others(history.touched, history.ever_touched, right_lost);
  held->copy_lost = 0;
  if (writable) held->right_lost = 0;
}

void LineCopies::evicted(Agent core, uint64_t number) {
  HeldLine* const held = find(core, number);
  if (!held) return;
  condemn(*held);
  if (held->line->history) held->forget();
}

// The copy goes, and no value came with it.
void LineCopies::condemn(HeldLine& held) {
  for (const HeldLine::Suspect& suspect : held.suspects) {
    ++uses_[suspect.use].needless;
    uses_[suspect.use].needlessly += suspect.waited;
  }
  held.suspects.clear();
}

void LineCopies::finish() {
  for (HeldLine& held : all_held_) condemn(held);
}

std::vector<LineCopies::Passed> LineCopies::passed() const {
  std::vector<Passed> all;
  for (const HeldLine& held : all_held_)
    for (const auto& [from, times] : held.passed)
      all.push_back({held.line->number, from, held.core, times});
  return all;
}

std::vector<std::pair<uint64_t, uint64_t>> LineCopies::invalidations() const {
  std::vector<std::pair<uint64_t, uint64_t>> all;
  for (const ObservedLine& line : all_lines_)
    if (line.invalidations) all.emplace_back(line.number, line.invalidations);
  return all;
}

}  // namespace uncore
