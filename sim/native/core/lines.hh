// A core's private caches: which lines it holds, in which state, with which bytes.
//
// A core has one coherence controller and two lookup times. The L2 holds every line; the L1 is a
// subset of it and only decides the latency of a hit. Both evict the least recently used line. Host
// memory is allocated per line that is touched, not by the configured capacity. A Line stays at its
// address until it is erased.
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

// The time of a line's last use, and its order among uses at the same time.
struct LastUse {
  Time at = 0;
  uint64_t by =
      0;  // upper byte: 0 for a message, else the hart's index + 1; other bytes: number of the use
  auto operator<=>(const LastUse&) const = default;
};

// Reasons why a store to a line must do more than write bytes. Each is a bit of a mask.
enum class StoreObstacle : uint8_t {
  unwritten = 1,  // its state forbids a store, or a store changes the state: ask the client (C1)
  watched = 2,    // a sleeping hart reads it (S1)
  reserved = 4,   // an LR may have reserved it (C7)
  contended = 8,  // it belongs to one hart, its holder (C9)
};

// A line in the core's private caches. The fields that an access reads fit one cache line of the
// host; the line's data follow it in memory.
//
// Invariant: a line without any StoreObstacle bit is `plain`: a store that hits it in the L1 only
// has to write bytes. The fast paths check nothing else.
class alignas(64) Line {
 public:
  explicit Line(unsigned units) : units_(static_cast<uint8_t>(units)) {}
  Line(const Line&) = delete;

  uint64_t number = 0;
  Copy copy;
  uint32_t holder = 0;  // hart of the core that it belongs to while it is contended (C9)
  bool erased = false;  // erased: find() does not return it
  // is in Lines::erased_, where it stays even after the line has been inserted again
  bool in_erased = false;
  Time held_until = 0;    // end of the hold of a line that arrived in M (C4)
  Time locked_until = 0;  // end of the atomic that has locked it (C6)
  LastUse used;           // for LRU
  uint16_t watchers = 0;  // number of sleeping harts that read it (S1)
  uint16_t stalled = 0;   // number of probes that wait for it (C3, C4)
  bool resident = false;  // occupies a way of the L2
  bool in_l1 = false;

  LastUse last_use() const { return used; }

  // Resets every field but the line's number and its place in Lines::erased_.
  void renew() {
    const uint64_t same = number;
    const bool stays = in_erased;
    new (this) Line(units_);
    number = same;
    in_erased = stays;
  }
  // Returns the line's bytes, which are valid only in a state that holds a copy.
  Bytes data() const {
    return {reinterpret_cast<uint8_t*>(const_cast<Line*>(this + 1)), units_ * kUnitBytes};
  }
  bool is(StoreObstacle what) const { return special_ & bit(what); }
  bool plain() const { return special_ == 0; }
  // Returns true if an LR may take the fast path on this line. An LR ignores reservations, and
  // Locks checks whether the line is contended.
  bool plain_to_reserve() const {
    return (special_ & (bit(StoreObstacle::unwritten) | bit(StoreObstacle::watched))) == 0;
  }
  void mark(StoreObstacle what, bool so) {
    special_ = static_cast<uint8_t>(so ? special_ | bit(what) : special_ & ~bit(what));
  }

 private:
  static constexpr uint8_t bit(StoreObstacle what) { return static_cast<uint8_t>(what); }
  uint8_t special_ = bit(StoreObstacle::unwritten);
  const uint8_t units_;  // size of the line, in units of 64 bytes
};
static_assert(sizeof(Line) == kUnitBytes);

// Finds lines by number, including erased ones. A small table of the last lookups serves most calls
// without hashing. Its entries are checked against the line's number, because a Line may be reused
// for another number.
class LinesByNumber {
 public:
  Line* find(uint64_t number) {  // returns null if there is none
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
  // `fast`: recent() may return lines; if false, every access takes the core's slow path. `kernel`:
  // recent lines are in the large table (large_table_), because a kernel accesses more lines than a
  // workload; a kernel that is observed has no recent lines at all. A workload that is observed, or
  // has wide lines, also uses the large table: its interpreter searches the small one, which stays
  // empty, and then the large one (uses_large_table_too()).
  Lines(LineSize s, uint32_t l1_sets, uint32_t l1_ways, uint32_t l2_sets, uint32_t l2_ways,
        bool fast, bool kernel, bool observed)
      : size(s),
        l1_ways_(l1_ways),
        // Without an L2, its sets are those of the L1.
        l2_ways_(l2_sets ? l2_ways : l1_ways),
        has_recent_(fast && !(kernel && observed)),
        large_table_too_((s.has_several_units() || observed) && !kernel),
        l1_(s, l1_sets),
        l2_(s, l2_sets ? l2_sets : l1_sets),
        large_table_(kernel || observed || s.has_several_units() ? new RecentLine[kLargeSlots]
                                                                 : nullptr) {}

  const LineSize size;
  bool uses_large_table_too() const { return large_table_too_; }

  // Returns the line if it is in the L1, may be loaded, and is still in the table of recent lines;
  // else null. Nearly every access takes this path.
  template <bool large>
  Line* recent(uint64_t number) const {
    if constexpr (large) {
      const RecentLine& entry = large_table_[slot(number, kLargeSlots)];
      return entry.number == number ? entry.line : nullptr;
    }
    Line* line = small_table_[slot(number, kSmallSlots)];
    return line && line->number == number ? line : nullptr;
  }
  Line* recent(uint64_t number) const {
    return large_table_ ? recent<true>(number) : recent<false>(number);
  }
  // Empties the tables of recent lines, so that the next access to each line takes the core's slow
  // path: its page may no longer be mapped.
  void forget_recent() {
    small_table_.fill(nullptr);
    if (large_table_) std::fill_n(large_table_.get(), kLargeSlots, RecentLine{});
  }
  // Called when observation begins in the middle of a run. From then on a kernel has no recent
  // lines. A workload's recent lines are in the large table, which its interpreter searches after
  // the small one.
  void begin_observation() {
    if (large_table_ && !large_table_too_)
      has_recent_ = false;
    else
      large_table_too_ = true;
    if (!large_table_) large_table_.reset(new RecentLine[kLargeSlots]);
    forget_recent();
  }
  Line* find(uint64_t number) {
    if (Line* line = recent(number)) return line;
    Line* const line = by_number_.find(number);
    return line && !line->erased ? line : nullptr;
  }
  // Adds a line that find() does not return. A line that was erased lately still has its Line,
  // because contended lines come and go often.
  Line& insert(uint64_t number) {
    if (Line* const line = by_number_.find(number)) {
      line->renew();
      return *line;
    }
    Line& line = free_line();
    line.renew();
    line.number = number;
    by_number_.add(line);
    return line;
  }
  // Marks the line as used. `by`: 0 for a message, else the hart's index + 1. Calls need not be
  // made in the order of time, because the uses of a sleeping hart are added later (S1): at the
  // latest before the oldest line is chosen from a set that has a line which it reads. So uses are
  // ordered by time, then by which hart acts first at that time (T2, H6), and only then by the
  // order of the calls.
  void touch(Line& line, Time now, uint32_t by) {
    line.used = {now, uint64_t{by} << 56 | ++clock_};
  }

  // Gives the line a way in its L2 set. The caller has made room by means of victim().
  void enter_l2(Line& line) {
    line.resident = true;
    l2_.set_of(line.number).add(line);
  }
  // Returns the line that must leave the L2 before `number` can enter; null if there is room. Only
  // lines for which may_go() is true are evicted. If there is none, returns null, and the set
  // exceeds its ways for a while.
  template <class MayGo>
  Line* victim(uint64_t number, MayGo may_go) {
    auto& set = l2_.set_of(number);
    return set.size() < l2_ways_ ? nullptr : set.oldest(may_go);
  }
  // Returns the line that must leave the L1 before `number` can enter; null if there is room.
  Line* displaced_line(uint64_t number) {
    auto& set = l1_.set_of(number);
    if (set.size() < l1_ways_) return nullptr;
    return set.oldest([](const Line&) { return true; });
  }
  // Returns true if two lines belong to the same set of the L1 or of the L2.
  bool share_set(uint64_t a, uint64_t b) const {
    return l1_.share_set(a, b) || l2_.share_set(a, b);
  }
  void watch(uint64_t number) { add_watchers(*find(number), 1); }
  void unwatch(uint64_t number) { add_watchers(*find(number), -1); }
  // Removes the line from both caches; find() still returns it.
  void leave(Line& line) {
    leave_l1(line);
    if (!line.resident) return;
    l2_.set_of(line.number).remove(line);
    line.resident = false;
  }
  void erase(Line& line) {
    leave(line);
    line.erased = true;
    if (!std::exchange(line.in_erased, true)) erased_.push_back(&line);
  }
  // Puts the line into the L1. The caller has made room by means of displaced_line().
  [[gnu::always_inline]] void enter_l1(Line& line) {
    if (!line.in_l1) add_to_l1(line);
    if (!has_recent_) return;
    if (large_table_) [[unlikely]]
      large_table_[slot(line.number, kLargeSlots)] = {line.number, &line};
    else
      small_table_[slot(line.number, kSmallSlots)] = &line;
  }
  [[gnu::always_inline]] void leave_l1(Line& line) {
    hide(line);
    if (line.in_l1) remove_from_l1(line);
  }

  // Removes the line from the table of recent lines, until enter_l1() adds it again.
  void hide(const Line& line) {
    if (large_table_) [[unlikely]] {
      if (recent<true>(line.number)) large_table_[slot(line.number, kLargeSlots)] = {};
    } else if (Line*& entry = small_table_[slot(line.number, kSmallSlots)]; entry == &line) {
      entry = nullptr;
    }
  }

 private:
  [[gnu::noinline]] void add_to_l1(Line& line) {
    l1_.set_of(line.number).add(line);
    line.in_l1 = true;
  }
  [[gnu::noinline]] void remove_from_l1(Line& line) {
    l1_.set_of(line.number).remove(line);
    line.in_l1 = false;
  }

  // Returns a free Line: that of the line that was erased longest ago, or a new one.
  [[gnu::noinline]] Line& free_line() {
    while (erased_.size() > kRemembered) {
      Line& oldest = *erased_.front();
      erased_.pop_front();
      oldest.in_erased = false;
      if (!oldest.erased) continue;
      by_number_.remove(oldest);
      return oldest;
    }
    if (num_allocated_ % kLinesPerAllocation == 0)
      pool_.push_back(
          std::make_unique<Unit[]>(kLinesPerAllocation * (1 + size.bytes() / kUnitBytes)));
    const std::size_t stride = 1 + size.bytes() / kUnitBytes;
    return *new (&pool_.back()[num_allocated_++ % kLinesPerAllocation * stride])
        Line(static_cast<unsigned>(stride) - 1);
  }

  static void add_watchers(Line& line, int change) {
    line.watchers = static_cast<uint16_t>(line.watchers + change);
    line.mark(StoreObstacle::watched, line.watchers > 0);
  }

  // A recent line and its number, so that a mismatch is found without reading the line.
  struct RecentLine {
    uint64_t number = ~uint64_t{0};
    Line* line = nullptr;
  };

  static constexpr std::size_t kRemembered = 16;  // number of erased lines that keep their Line
  static constexpr std::size_t kLinesPerAllocation = 4;  // number of lines allocated at a time
  // Sizes of the tables of recent lines, in entries. Stacks and structures of different harts lie
  // at large strides, so an entry's position depends on higher bits of a line's number, too.
  static constexpr std::size_t kSmallSlots = 128, kLargeSlots = 512;
  static std::size_t slot(uint64_t number, std::size_t num_slots) {
    return (number ^ number >> 6 ^ number >> 12) % num_slots;
  }

  uint32_t l1_ways_, l2_ways_;
  bool has_recent_;
  bool large_table_too_;  // workloads only: the large table is searched after the small one
  uint64_t clock_ = 0;
  LinesByNumber by_number_;
  Sets<Line> l1_, l2_;
  std::deque<Line*> erased_;  // erased lines, each listed once; some have been inserted again
  std::array<Line*, kSmallSlots>
      small_table_{};  // the small table of recent lines; empty if large_table_ exists
  // The large table: for kernels, wide lines, observed runs; else null.
  std::unique_ptr<RecentLine[]> large_table_;
  // Host memory of all lines: each Line is followed by its bytes.
  struct alignas(kUnitBytes) Unit {
    uint8_t bytes[kUnitBytes];
  };
  std::vector<std::unique_ptr<Unit[]>> pool_;
  std::size_t num_allocated_ = 0;
};

}  // namespace uncore
