// Time and the event queue: what happens next, in an order that depends on content alone.
//
// Events of equal time are ordered by receiver, class, line, sender and the sender's count (rule T2
// of docs/model.md), never by the order in which they were pushed: the same job gives the same
// outcome however the engine chose to run ahead.
//
// Interface: push, pop, now, next_time. A four-ary heap of 32-byte values behind a *head*, the
// event that is next: what an event sets in motion is often next itself, and then never meets the
// heap. Nothing is allocated per event once the heap has grown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/time.hh"

namespace uncore {

// What happens at an event (rule T1); its argument is a packet, a core or a hart.
enum class Action : uint32_t {
  hop,     // a message meets a channel
  arrive,  // it reaches an agent,
  reach,   // or the register of a hart
  act,     // it has been served by a slice
  retry,   // a deferred probe asks again
  run,     // a core executes
  expire,  // a hart's timer
  leave,   // the time of a store in its buffer is over
  end,     // of the run
};

struct Event {
  Time time;
  uint64_t place;   // receiver, class, line: see event_place
  uint64_t sender;  // sender, count: see event_sender
  Action action;
  uint32_t argument;

  bool operator<(const Event& o) const {
    const Key mine = Key{time} << 64 | place, theirs = Key{o.time} << 64 | o.place;
    return mine != theirs ? mine < theirs : sender < o.sender;
  }

 private:
  __extension__ using Key = unsigned __int128;
};

// 20 bits of receiver, 4 of class, 40 of line: the line's low bits tell lines of one run apart.
inline constexpr unsigned kInterruptClass = 3, kCoreClass = 4;  // messages have 0 to 3
constexpr uint64_t event_place(uint64_t receiver, unsigned cls, uint64_t line) {
  return receiver << 44 | static_cast<uint64_t>(cls) << 40 | (line & ((uint64_t{1} << 40) - 1));
}
// 20 bits of sender, 44 of its count.
constexpr uint64_t event_sender(uint64_t sender, uint64_t count) {
  return sender << 44 | (count & ((uint64_t{1} << 44) - 1));
}

// Invariant: no event in the heap is before the head, if there is one.
class EventQueue {
 public:
  bool empty() const { return !has_head_ && heap_.empty(); }
  Time next_time() const { return has_head_ ? head_.time : heap_.empty() ? kNever : heap_[0].time; }
  // The next event is the present one from now on. It stays readable until the next push().
  const Event& pop() {
    if (!has_head_) head_ = take();
    has_head_ = false;
    now_ = head_.time;
    return head_;
  }
  // The time of the event that pop() gave last.
  Time now() const { return now_; }

  // In registers, not by reference: a value read as it is being written stalls the processor.
  void push(Time time, uint64_t place, uint64_t sender, Action action, uint32_t argument) {
    const Event event{time, place, sender, action, argument};
    if (!has_head_) {
      has_head_ = true;
      if (heap_.empty() || event < heap_[0]) {
        head_ = event;
      } else {
        head_ = heap_[0];
        sink(event);
      }
    } else if (event < head_) {
      raise(head_);
      head_ = event;
    } else {
      raise(event);
    }
  }

 private:
  static constexpr std::size_t kArity = 4;

  Event take() {
    const Event first = heap_[0], last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return first;
  }

  // A new event, from the bottom up.
  void raise(const Event& event) {
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

  // An event in the place of the first, from the top down.
  void sink(const Event event) {
    Event* const heap = heap_.data();
    const std::size_t size = heap_.size();
    std::size_t hole = 0;
    for (std::size_t child; (child = hole * kArity + 1) < size; hole = child) {
      const std::size_t end = child + kArity < size ? child + kArity : size;
      for (std::size_t other = child + 1; other < end; ++other)
        child = heap[other] < heap[child] ? other : child;
      if (!(heap[child] < event)) break;
      heap[hole] = heap[child];
    }
    heap[hole] = event;
  }

  Event head_{};
  bool has_head_ = false;
  Time now_ = 0;
  std::vector<Event> heap_;
};

}  // namespace uncore
