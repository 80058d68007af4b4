// A core's private caches: which lines it holds, in which state, with which bytes.
//
// One coherence controller with two lookup times: the L2 holds every line, the L1 is a filter on it
// that only decides the time of a hit. Both evict the least recently used. Lines are allocated when
// touched, never by configured size; addresses stay until a line is erased.
//
// Interface: recent (the fast path), find, insert, touch, victim, displaced, enter_l2, enter_l1,
// leave_l1, leave (both), erase. Invariant: a line is in the L1 only if it is
// resident in the L2; a line whose writeback is under way (MI, II) is in neither, but stays
// findable.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "coherence/client.hh"
#include "core/contended.hh"
#include "storage/bytes.hh"
#include "storage/line_map.hh"
#include "time/time.hh"
#include "storage/ways.hh"

namespace uncore {

// When, by whom (0: a message, else a hart) and, below that, as which of ours.
struct LastUse {
  Time at = 0;
  uint64_t by = 0;
  auto operator<=>(const LastUse&) const = default;
};

// What every access needs of a line is in one line of the host.
struct alignas(64) LineState {
  uint64_t number = 0;
  Copy copy;
  Contended contended;    // rule C9
  Time held_until = 0;    // an exclusively won line stays until then
  Time locked_until = 0;  // an atomic is under way on it
  LastUse used;           // for LRU
  uint16_t watchers = 0;  // sleeping harts that read it (core/run.cc)
  uint16_t stalled = 0;   // probes waiting for this line
  bool resident = false;  // occupies a way of the L2
  bool in_l1 = false;
  bool reserved = false;  // perhaps, by an LR

  LastUse last_use() const { return used; }
};

struct Line : LineState {
  alignas(64) Bytes data;  // once they have come
};

// A cache's sets, made when touched; what happens to a line finds its set once.
class LineSets {
 public:
  explicit LineSets(uint32_t sets) : count_(sets), by_bits_(std::has_single_bit(sets)) {}

  Ways<Line>& of(uint64_t number) {
    if (number != last_) {
      last_ = number;
      of_last_ = &sets_[index(number)];
    }
    return *of_last_;
  }
  bool together(uint64_t one, uint64_t other) const { return index(one) == index(other); }

 private:
  uint64_t index(uint64_t number) const {
    return by_bits_ ? number & (count_ - 1) : number % count_;
  }

  uint32_t count_;
  bool by_bits_;
  uint64_t last_ = ~uint64_t{0};
  Ways<Line>* of_last_ = nullptr;  // stays where it is until another is looked for
  LineMap<Ways<Line>> sets_;
};

class Lines {
 public:
  // `fast`: recent() knows lines; without, every access takes the core's slow path. `many`: of a
  // kernel, which goes through more of them than a workload.
  Lines(uint32_t l1_sets, uint32_t l1_ways, uint32_t l2_sets, uint32_t l2_ways, bool fast,
        bool many)
      : l1_ways_(l1_ways),
        // Without an L2 the L1 is all there is.
        l2_ways_(l2_sets ? l2_ways : l1_ways),
        fast_(fast),
        l1_(l1_sets),
        l2_(l2_sets ? l2_sets : l1_sets),
        many_(many ? new Known[kMany] : nullptr) {}

  // The line if it is in the L1 and was used lately: the path of nearly every access.
  template <bool many = false>
  Line* recent(uint64_t number) const {
    if constexpr (many) {
      const Known& known = many_[place(number, kMany)];
      return known.number == number ? known.line : nullptr;
    }
    Line* line = few_[place(number, kFew)];
    return line && line->number == number ? line : nullptr;
  }
  // Every access takes the core's slow path once more: its page may be gone.
  void forget_recent() {
    few_.fill(nullptr);
    if (many_) std::fill_n(many_.get(), kMany, Known{});
  }
  // And always from now on.
  void slow() { fast_ = false, forget_recent(); }
  Line* find(uint64_t number) {
    if (Line* line = many_ ? recent<true>(number) : recent(number)) return line;
    const auto found = by_number_.find(number);
    return found == by_number_.end() ? nullptr : found->second;
  }
  Line& insert(uint64_t number) {
    Line* line;
    if (free_.empty()) {
      line = &pool_.emplace_back();
    } else {
      line = free_.back();
      free_.pop_back();
      static_cast<LineState&>(*line) = {};
    }
    line->number = number;
    by_number_.emplace(number, line);
    return *line;
  }
  // A hart that was asleep is brought up to date later (rule S1), though before any set in which it
  // reads a line is asked for its oldest: so the time decides, and who would have been first (T2,
  // H6), and only then the order in which we are told.
  void touch(Line& line, Time now, uint32_t by) {
    line.used = {now, uint64_t{by} << 56 | ++clock_};
  }

  // Gives the line a way of its L2 set; `victim` must have made room.
  void enter_l2(Line& line) {
    line.resident = true;
    l2_.of(line.number).add(line);
  }
  // The resident line that must go before `number` can come; null: there is room. `may_go` tells
  // lines that cannot be evicted now; if none can, the set overflows for a while.
  template <class MayGo>
  Line* victim(uint64_t number, MayGo may_go) {
    auto& set = l2_.of(number);
    return set.size() < l2_ways_ ? nullptr : set.oldest(may_go);
  }
  // The line that must leave the L1 before `number` can enter; null: there is room.
  Line* displaced(uint64_t number) {
    auto& set = l1_.of(number);
    if (set.size() < l1_ways_) return nullptr;
    return set.oldest([](const Line&) { return true; });
  }
  // Do two lines belong to one set, of either level?
  bool together(uint64_t one, uint64_t other) const {
    return l1_.together(one, other) || l2_.together(one, other);
  }
  void watch(uint64_t number) { ++find(number)->watchers; }
  void unwatch(uint64_t number) { --find(number)->watchers; }
  // Takes the line out of both caches; it stays findable.
  void leave(Line& line) {
    leave_l1(line);
    if (!line.resident) return;
    l2_.of(line.number).remove(line);
    line.resident = false;
  }
  void erase(Line& line) {
    leave(line);
    by_number_.erase(line.number);
    free_.push_back(&line);
  }
  // `displaced` must have made room.
  void enter_l1(Line& line) {
    if (!line.in_l1) l1_.of(line.number).add(line);
    line.in_l1 = true;
    if (!fast_) return;
    if (many_) [[unlikely]]
      many_[place(line.number, kMany)] = {line.number, &line};
    else
      few_[place(line.number, kFew)] = &line;
  }
  void leave_l1(Line& line) {
    forget(line);
    if (!line.in_l1) return;
    l1_.of(line.number).remove(line);
    line.in_l1 = false;
  }

 private:
  void forget(const Line& line) {
    if (many_) [[unlikely]] {
      if (recent<true>(line.number)) many_[place(line.number, kMany)] = {};
    } else if (Line*& known = few_[place(line.number, kFew)]; known == &line) {
      known = nullptr;
    }
  }

  // Beside its number, so that another one in its place is not touched.
  struct Known {
    uint64_t number = ~uint64_t{0};
    Line* line = nullptr;
  };

  // Stacks and structures of different harts stand at large strides: higher bits count too.
  static constexpr std::size_t kFew = 128, kMany = 512;
  static std::size_t place(uint64_t number, std::size_t of) {
    return (number ^ number >> 6 ^ number >> 12) % of;
  }

  uint32_t l1_ways_, l2_ways_;
  bool fast_;
  uint64_t clock_ = 0;
  LineMap<Line*> by_number_;
  LineSets l1_, l2_;
  std::vector<Line*> free_;
  std::array<Line*, kFew> few_{};
  std::unique_ptr<Known[]> many_;  // null: not a kernel's
  std::deque<Line> pool_;
};

}  // namespace uncore
