// A core's private caches: which lines it holds, in which state, with which bytes.
//
// One coherence controller with two lookup times: the L2 holds every line, the L1 is a filter on it
// that only decides the time of a hit. Both evict the least recently used. Lines are allocated when
// touched, never by configured size; addresses stay until a line is erased.
//
// Interface: recent (the fast path), find, insert, touch, victim, displaced, enter_l2, enter_l1,
// leave_l1, leave (both), erase; hide. Invariant: a line is in the L1 only if it is resident in the
// L2; a line whose writeback is under way (MI, II) is in neither, but find() returns it. What
// recent() returns is in the L1 and may be loaded.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "coherence/client.hh"
#include "storage/bytes.hh"
#include "storage/line_map.hh"
#include "storage/sets.hh"
#include "time/time.hh"

namespace uncore {

// Time of a line's last use, and its order among uses at the same time.
struct LastUse {
  Time at = 0;
  uint64_t by =
      0;  // upper byte: 0 for a message, else the hart's index + 1; rest: number of the use
  auto operator<=>(const LastUse&) const = default;
};

// Reasons why a store to a line does more than write bytes, a bit each.
enum class Special : uint8_t {
  unwritten = 1,  // a store would change its state, or may not happen: ask the client (C1)
  watched = 2,    // a sleeping hart reads it (S1)
  reserved = 4,   // an LR may have reserved it (C7)
  contended = 8,  // it belongs to its holder (C9)
};

// A line of the core. All that accesses read of it fits one cache line of the host; the line's own
// bytes follow it in memory.
//
// Invariant: if nothing is special about a line, it is `plain`, and a store that hits it in the L1
// only writes bytes. The fast paths check nothing else.
class alignas(64) Line {
 public:
  explicit Line(unsigned units) : units_(static_cast<uint8_t>(units)) {}
  Line(const Line&) = delete;

  uint64_t number = 0;
  Copy copy;
  uint32_t holder = 0;    // hart of the core that it belongs to while it is contended (C9)
  bool gone = false;      // find() does not return it
  bool listed = false;    // is in Lines::gone_, whether it is gone or has come back
  Time held_until = 0;    // end of the hold of a line that came in M (C4)
  Time locked_until = 0;  // an atomic is under way on it until then (C6)
  LastUse used;           // for LRU
  uint16_t watchers = 0;  // number of sleeping harts that read it (S1)
  uint16_t stalled = 0;   // number of probes that wait for it (C3, C4)
  bool resident = false;  // occupies a way of the L2
  bool in_l1 = false;

  LastUse last_use() const { return used; }

  // Resets the line, but for its number and its place in Lines::gone_.
  void renew() {
    const uint64_t same = number;
    const bool stays = listed;
    new (this) Line(units_);
    number = same;
    listed = stays;
  }
  // Returns the line's bytes. They mean something only in a state that holds a copy.
  Bytes data() const {
    return {reinterpret_cast<uint8_t*>(const_cast<Line*>(this + 1)), units_ * kUnitBytes};
  }
  bool is(Special what) const { return special_ & bit(what); }
  bool plain() const { return special_ == 0; }
  // Is the line plain to an LR? Reservations do not matter to an LR, and Locks checks whether the
  // line is contended.
  bool plain_to_reserve() const {
    return (special_ & (bit(Special::unwritten) | bit(Special::watched))) == 0;
  }
  void mark(Special what, bool so) {
    special_ = static_cast<uint8_t>(so ? special_ | bit(what) : special_ & ~bit(what));
  }

 private:
  static constexpr uint8_t bit(Special what) { return static_cast<uint8_t>(what); }
  uint8_t special_ = bit(Special::unwritten);
  const uint8_t units_;  // size of the line, in units of 64 bytes
};
static_assert(sizeof(Line) == kUnitBytes);

// Lines by number, gone or not. A small table of the last lookups finds most without hashing; an
// entry whose line has been given another number since does not match.
class LinesByNumber {
 public:
  Line* find(uint64_t number) {  // or null
    Line* const line = last_[number % kLast];
    return line && line->number == number ? line : look_up(number);
  }
  void add(Line& line) { all_.emplace(line.number, &line); }
  void remove(const Line& line) { all_.erase(line.number); }

 private:
  static constexpr std::size_t kLast = 8;

  [[gnu::noinline]] Line* look_up(uint64_t number) {
    const auto entry = all_.find(number);
    return entry == all_.end() ? nullptr : last_[number % kLast] = entry->second;
  }

  LineMap<Line*> all_;
  std::array<Line*, kLast> last_{};
};

class Lines {
 public:
  // `fast`: recent() returns lines; if false, every access takes the core's slow path. `kernel`:
  // recent lines are in the large table (large_), because a kernel goes through more lines than a
  // workload; if it is observed, it has no recent lines at all. A workload that is observed, or has
  // wide lines, uses the large table, too: its interpreter searches the small one, which stays
  // empty, and then the large one (uses_large_table_too()).
  Lines(LineSize s, uint32_t l1_sets, uint32_t l1_ways, uint32_t l2_sets, uint32_t l2_ways,
        bool fast, bool kernel, bool observed)
      : size(s),
        l1_ways_(l1_ways),
        // Without an L2, its sets are those of the L1.
        l2_ways_(l2_sets ? l2_ways : l1_ways),
        fast_(fast && !(kernel && observed)),
        large_table_too_((s.wide() || observed) && !kernel),
        l1_(s, l1_sets),
        l2_(s, l2_sets ? l2_sets : l1_sets),
        large_(kernel || observed || s.wide() ? new Recent[kLargeSlots] : nullptr) {}

  const LineSize size;
  bool uses_large_table_too() const { return large_table_too_; }

  // Returns the line if it is in the L1, may be loaded, and was used lately enough to be in the
  // table of recent lines; else null. Nearly every access takes this path.
  template <bool large>
  Line* recent(uint64_t number) const {
    if constexpr (large) {
      const Recent& entry = large_[slot(number, kLargeSlots)];
      return entry.number == number ? entry.line : nullptr;
    }
    Line* line = small_[slot(number, kSmallSlots)];
    return line && line->number == number ? line : nullptr;
  }
  Line* recent(uint64_t number) const {
    return large_ ? recent<true>(number) : recent<false>(number);
  }
  // Empties the tables of recent lines, so that each line takes the core's slow path once more: the
  // page that it is on may no longer be mapped.
  void forget_recent() {
    small_.fill(nullptr);
    if (large_) std::fill_n(large_.get(), kLargeSlots, Recent{});
  }
  // Called when observation begins in the middle of a run. From now on a kernel has no recent
  // lines, and a workload's are in the large table, which its interpreter searches after the small
  // one.
  void observe() {
    if (large_ && !large_table_too_)
      fast_ = false;
    else
      large_table_too_ = true;
    if (!large_) large_.reset(new Recent[kLargeSlots]);
    forget_recent();
  }
  Line* find(uint64_t number) {
    if (Line* line = recent(number)) return line;
    Line* const line = by_number_.find(number);
    return line && !line->gone ? line : nullptr;
  }
  // Adds a line that find() does not return. A line that the core had lately still has its place,
  // because contended lines come and go.
  Line& insert(uint64_t number) {
    if (Line* const line = by_number_.find(number)) {
      line->renew();
      return *line;
    }
    Line& line = spare();
    line.renew();
    line.number = number;
    by_number_.add(line);
    return line;
  }
  // Marks the line as used. `by`: 0 for a message, else the hart's index + 1. Calls need not come
  // in the order of time, because a sleeper's uses are added later (S1), though before a set that
  // has a line it reads is asked for its oldest. So uses are ordered by time, then by who goes
  // first at that time (T2, H6), and only then by the order of the calls.
  void touch(Line& line, Time now, uint32_t by) {
    line.used = {now, uint64_t{by} << 56 | ++clock_};
  }

  // Gives the line a way of its L2 set; `victim` must have made room.
  void enter_l2(Line& line) {
    line.resident = true;
    l2_.of(line.number).add(line);
  }
  // Returns the line that must leave the L2 before `number` can enter; null if there is room. Only
  // lines of which may_go() is true are evicted; if there is none, returns null, and the set
  // overflows for a while.
  template <class MayGo>
  Line* victim(uint64_t number, MayGo may_go) {
    auto& set = l2_.of(number);
    return set.size() < l2_ways_ ? nullptr : set.oldest(may_go);
  }
  // Returns the line that must leave the L1 before `number` can enter; null if there is room.
  Line* displaced(uint64_t number) {
    auto& set = l1_.of(number);
    if (set.size() < l1_ways_) return nullptr;
    return set.oldest([](const Line&) { return true; });
  }
  // Do two lines belong to one set, of either level?
  bool together(uint64_t a, uint64_t b) const { return l1_.together(a, b) || l2_.together(a, b); }
  void watch(uint64_t number) { add_watchers(*find(number), 1); }
  void unwatch(uint64_t number) { add_watchers(*find(number), -1); }
  // Takes the line out of both caches; find() still returns it.
  void leave(Line& line) {
    leave_l1(line);
    if (!line.resident) return;
    l2_.of(line.number).remove(line);
    line.resident = false;
  }
  void erase(Line& line) {
    leave(line);
    line.gone = true;
    if (!std::exchange(line.listed, true)) gone_.push_back(&line);
  }
  // `displaced` must have made room.
  [[gnu::always_inline]] void enter_l1(Line& line) {
    if (!line.in_l1) add_to_l1(line);
    if (!fast_) return;
    if (large_) [[unlikely]]
      large_[slot(line.number, kLargeSlots)] = {line.number, &line};
    else
      small_[slot(line.number, kSmallSlots)] = &line;
  }
  [[gnu::always_inline]] void leave_l1(Line& line) {
    hide(line);
    if (line.in_l1) remove_from_l1(line);
  }

  // Keeps recent() from returning the line until it enters the L1 again.
  void hide(const Line& line) {
    if (large_) [[unlikely]] {
      if (recent<true>(line.number)) large_[slot(line.number, kLargeSlots)] = {};
    } else if (Line*& entry = small_[slot(line.number, kSmallSlots)]; entry == &line) {
      entry = nullptr;
    }
  }

 private:
  [[gnu::noinline]] void add_to_l1(Line& line) {
    l1_.of(line.number).add(line);
    line.in_l1 = true;
  }
  [[gnu::noinline]] void remove_from_l1(Line& line) {
    l1_.of(line.number).remove(line);
    line.in_l1 = false;
  }

  // Returns room for a line: new, or that of the line that has been gone longest.
  [[gnu::noinline]] Line& spare() {
    while (gone_.size() > kRemembered) {
      Line& oldest = *gone_.front();
      gone_.pop_front();
      oldest.listed = false;
      if (!oldest.gone) continue;
      by_number_.remove(oldest);
      return oldest;
    }
    if (made_ % kLinesPerAllocation == 0)
      pool_.push_back(
          std::make_unique<Unit[]>(kLinesPerAllocation * (1 + size.bytes() / kUnitBytes)));
    const std::size_t stride = 1 + size.bytes() / kUnitBytes;
    return *new (&pool_.back()[made_++ % kLinesPerAllocation * stride])
        Line(static_cast<unsigned>(stride) - 1);
  }

  static void add_watchers(Line& line, int change) {
    line.watchers = static_cast<uint16_t>(line.watchers + change);
    line.mark(Special::watched, line.watchers > 0);
  }

  // A recent line beside its number, so that a mismatch is seen without reading the line.
  struct Recent {
    uint64_t number = ~uint64_t{0};
    Line* line = nullptr;
  };

  static constexpr std::size_t kRemembered = 16;         // gone lines that keep their places
  static constexpr std::size_t kLinesPerAllocation = 4;  // lines that are allocated at a time
  // Sizes of the tables of recent lines, and a line's slot. Stacks and structures of different
  // harts stand at large strides, so higher bits of the number count too.
  static constexpr std::size_t kSmallSlots = 128, kLargeSlots = 512;
  static std::size_t slot(uint64_t number, std::size_t of) {
    return (number ^ number >> 6 ^ number >> 12) % of;
  }

  uint32_t l1_ways_, l2_ways_;
  bool fast_;
  bool large_table_too_;  // the interpreter searches the large table after the small one
  uint64_t clock_ = 0;
  LinesByNumber by_number_;
  Sets<Line> l1_, l2_;
  std::deque<Line*> gone_;  // erased lines, each once; some have come back since
  std::array<Line*, kSmallSlots>
      small_{};                      // the small table of recent lines; empty if large_ exists
  std::unique_ptr<Recent[]> large_;  // the large one: for kernels, wide lines, observed runs
  // Owns every line, with its bytes behind it.
  struct alignas(kUnitBytes) Unit {
    uint8_t bytes[kUnitBytes];
  };
  std::vector<std::unique_ptr<Unit[]>> pool_;
  std::size_t made_ = 0;
};

}  // namespace uncore
