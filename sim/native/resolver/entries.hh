// The entries of a resolver by line: made when a line is first asked for, forgotten when nothing is
// left to remember. Addresses of entries are stable.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "resolver/timed_entry.hh"
#include "storage/line_map.hh"

namespace uncore {

class Entries {
 public:
  std::size_t size() const { return entries_.size(); }

  TimedEntry* find(uint64_t line) {  // or null
    if (last_ && last_->line == line) return last_;
    const auto entry = entries_.find(line);
    return entry == entries_.end() ? nullptr : last_ = entry->second.get();
  }
  // The line must not have one.
  TimedEntry& add(const ResolverAt& at, uint64_t line) {
    return *(last_ = (entries_[line] = make(at, line)).get());
  }
  void forget(TimedEntry& e) {
    if (last_ == &e) last_ = nullptr;
    const auto entry = entries_.find(e.line);
    spare_.push_back(std::move(entry.value()));
    entries_.erase(entry);
  }
  template <class F>
  void each(F f) const {
    for (const auto& [line, entry] : entries_) f(*entry);
  }

 private:
  std::unique_ptr<TimedEntry> make(const ResolverAt& at, uint64_t line) {
    if (spare_.empty()) return std::make_unique<TimedEntry>(at, line);
    std::unique_ptr<TimedEntry> entry = std::move(spare_.back());
    spare_.pop_back();
    std::destroy_at(entry.get());
    std::construct_at(entry.get(), at, line);
    return entry;
  }

  LineMap<std::unique_ptr<TimedEntry>> entries_;
  std::vector<std::unique_ptr<TimedEntry>> spare_;  // of forgotten lines
  TimedEntry* last_ = nullptr;                      // a transaction asks for it several times
};

}  // namespace uncore
