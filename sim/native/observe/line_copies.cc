#include "observe/line_copies.hh"

#include <algorithm>

namespace uncore {
namespace {

template <class F>
void each_byte(uint64_t bytes, F f) {
  for (; bytes; bytes &= bytes - 1) f(static_cast<unsigned>(__builtin_ctzll(bytes)));
}

}  // namespace

void LineCopies::Recent::note(Agent by, uint64_t now) {
  if (core[0] != by) {
    core[1] = core[0], at[1] = at[0];
    core[0] = by;
  }
  at[0] = now;
}

// What an access means for the misses of its core, and for those of others to come.
void LineCopies::accessed(Agent core, const Accessed& access) {
  const auto& [use, bytes, writes, missed, waited] = access;
  const auto shared = shared_.find(uses_[use].line);
  if (shared == shared_.end() || !shared->second->history) return;
  Shared& line = *shared->second;
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

LineCopies::Shared& LineCopies::line(uint64_t number) {
  std::unique_ptr<Shared>& shared = shared_[number];
  if (!shared) shared = std::make_unique<Shared>();
  return *shared;
}

void LineCopies::transferred(uint64_t number, Agent from, Agent to) {
  const auto pair = static_cast<uint64_t>(static_cast<uint32_t>(from)) << 32;
  ++line(number).passed[pair | static_cast<uint32_t>(to)];
}

void LineCopies::probed(Agent core, uint64_t number, bool invalidates, Loss loss) {
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

void LineCopies::filled(Agent core, uint64_t number, bool writable) {
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

void LineCopies::evicted(Agent core, uint64_t number) {
  Shared& s = line(number);
  const auto held = s.held.find(core);
  if (held == s.held.end()) return;
  condemn(held.value());
  held.value() = {};
}

// The copy goes, and no value came with it.
void LineCopies::condemn(Held& held) {
  for (const Suspect& suspect : held.suspects) {
    ++uses_[suspect.use].needless;
    uses_[suspect.use].needlessly += suspect.waited;
  }
  held.suspects.clear();
}

void LineCopies::finish() {
  for (auto line = shared_.begin(); line != shared_.end(); ++line)
    for (auto held = (*line.value()).held.begin(); held != (*line.value()).held.end(); ++held)
      condemn(held.value());
}

std::vector<LineCopies::Passed> LineCopies::passed() const {
  std::vector<Passed> all;
  for (const auto& [line, shared] : shared_)
    for (const auto& [pair, times] : shared->passed)
      all.push_back({line, static_cast<Agent>(pair >> 32), static_cast<Agent>(pair), times});
  return all;
}

std::vector<std::pair<uint64_t, uint64_t>> LineCopies::invalidations() const {
  std::vector<std::pair<uint64_t, uint64_t>> all;
  for (const auto& [line, shared] : shared_)
    if (shared->invalidations) all.emplace_back(line, shared->invalidations);
  return all;
}

}  // namespace uncore
