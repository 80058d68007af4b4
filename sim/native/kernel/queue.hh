// The event queue: what happens next, in an order that depends on content alone.
//
// Events of equal time are ordered by receiver, class, line, sender and the sender's count (rule T2
// of docs/model.md), never by the order in which they were pushed: the same job gives the same
// outcome however the engine chose to run ahead.
//
// Interface: push, top, pop, empty. A four-ary heap of 32-byte values; nothing is allocated per
// event once the heap has grown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace uncore {

using Time = uint64_t;  // picoseconds
inline constexpr Time kNever = ~Time{0};

struct Event {
  Time time;
  uint64_t place;   // receiver, class, line: see event_place
  uint64_t sender;  // sender, count: see event_sender
  uint32_t action;  // the engine's, with its argument
  uint32_t argument;

  bool operator<(const Event& o) const {
    if (time != o.time) return time < o.time;
    if (place != o.place) return place < o.place;
    return sender < o.sender;
  }
};

// 20 bits of receiver, 4 of class, 40 of line: the line's low bits tell lines of one run apart.
constexpr uint64_t event_place(uint64_t receiver, unsigned cls, uint64_t line) {
  return receiver << 44 | static_cast<uint64_t>(cls) << 40 | (line & ((uint64_t{1} << 40) - 1));
}
// 20 bits of sender, 44 of its count.
constexpr uint64_t event_sender(uint64_t sender, uint64_t count) {
  return sender << 44 | (count & ((uint64_t{1} << 44) - 1));
}

class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  const Event& top() const { return heap_.front(); }
  Time next_time() const { return heap_.empty() ? kNever : heap_.front().time; }

  void push(const Event& event) {
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kArity;
      if (!(event < heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
  }

  void pop() {
    const Event last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0) return;
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = hole * kArity + 1;
      if (first >= size) break;
      std::size_t least = first;
      const std::size_t end = first + kArity < size ? first + kArity : size;
      for (std::size_t child = first + 1; child < end; ++child)
        if (heap_[child] < heap_[least]) least = child;
      if (!(heap_[least] < last)) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = last;
  }

 private:
  static constexpr std::size_t kArity = 4;
  std::vector<Event> heap_;
};

}  // namespace uncore
