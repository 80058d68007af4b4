// The entries of a resolver, by line. An entry is made when its line is first requested, and
// deleted when it is blank again. Its address does not change in between.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "resolver/timed_entry.hh"
#include "storage/line_map.hh"

namespace uncore {

class Entries {
 public:
  std::size_t size() const { return entries_.size(); }

  // Returns the line's entry, or null.
  TimedEntry* find(uint64_t line) {
    TimedEntry* const recent = recent_[slot(line)];
    return recent && recent->line == line ? recent : look_up(line);
  }
  // Adds an entry for a line that has none.
  TimedEntry& add(const ResolverAt& resolver, uint64_t line) {
    return *(recent_[slot(line)] = (entries_[line] = make(resolver, line)).get());
  }
  void forget(TimedEntry& e) {
    if (TimedEntry*& recent = recent_[slot(e.line)]; recent == &e) recent = nullptr;
    const auto entry = entries_.find(e.line);
    spare_.push_back(std::move(entry.value()));
    entries_.erase(entry);
  }
  template <class F>
  void each(F f) const {
    for (const auto& [line, entry] : entries_) f(*entry);
  }

 private:
  static constexpr std::size_t kRecent = 64;
  static std::size_t slot(uint64_t line) { return (line ^ line >> 6) % kRecent; }

  [[gnu::noinline]] TimedEntry* look_up(uint64_t line) {
    const auto entry = entries_.find(line);
    return entry == entries_.end() ? nullptr : recent_[slot(line)] = entry->second.get();
  }
  std::unique_ptr<TimedEntry> make(const ResolverAt& resolver, uint64_t line) {
    if (spare_.empty()) return std::make_unique<TimedEntry>(resolver, line);
    std::unique_ptr<TimedEntry> entry = std::move(spare_.back());
    spare_.pop_back();
    std::destroy_at(entry.get());
    std::construct_at(entry.get(), resolver, line);
    return entry;
  }

  LineMap<std::unique_ptr<TimedEntry>> entries_;
  std::vector<std::unique_ptr<TimedEntry>> spare_;  // entries of forgotten lines, for reuse
  // A direct-mapped cache of `entries_`, because a transaction looks its entry up several times.
  std::array<TimedEntry*, kRecent> recent_{};
};

}  // namespace uncore
