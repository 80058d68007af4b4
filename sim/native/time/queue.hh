// Time and the event queue: what happens next, in an order that depends on content alone.
//
// Events of equal time are ordered by receiver, class, line, sender and the sender's count (rule T2
// of docs/model.md), never by the order in which they were pushed: the same job gives the same
// outcome however the engine chose to run ahead.
//
// Interface: push, pop, now, next_time; schedule, for the execution of cores, which is kept apart
// (time/runs.hh); pass_to, for who would be next anyway. A four-ary heap of 16-byte values behind
// a few that are *near*, in order: a contended run has two to seven events pending, and what an
// event sets in motion is often next itself, so that few ever meet the heap, and what does is not
// inlined where events are pushed. Nothing is allocated per event once the heap has grown.
//
// An event names its keys, which few comparisons ask for, by address: a packet begins with those of
// its event, as it has one at a time. The queue keeps the keys of other events.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "time/runs.hh"
#include "time/time.hh"

namespace uncore {

// What happens at an event (rule T1); its subject is a packet, a core or a hart.
enum class Action : uint8_t {
  hop,      // a message meets a channel
  arrive,   // it reaches an agent,
  reach,    // or the register of a hart
  act,      // it has been served by a slice; up to here the packet has the event's keys
  retry,    // a deferred probe asks again
  run,      // a core executes
  expire,   // a hart's timer
  leave,    // the time of a store in its buffer is over
  end,      // of the run
  nothing,  // is left
};

// The order of events of equal time.
struct EventKeys {
  uint64_t place = 0;   // receiver, class, line: see event_place
  uint64_t sender = 0;  // sender, count: see event_sender

  bool operator<(const EventKeys& o) const {
    return place != o.place ? place < o.place : sender < o.sender;
  }
};

// Keys that the queue keeps, and the event's subject.
struct KeptKeys : EventKeys {
  uint64_t subject = 0;
  KeptKeys* next = nullptr;  // of those that no event has
};

struct Event {
  Time time;
  uint64_t task;  // address of the keys, action

  Event() = default;
  Event(Time when, const EventKeys& keys, Action action)
      : time(when),
        task(uint64_t{reinterpret_cast<uintptr_t>(&keys)} << 4 | static_cast<uint64_t>(action)) {}

  Action action() const { return static_cast<Action>(task & 15); }
  uint64_t address() const { return task >> 4; }
  const EventKeys& keys() const { return *reinterpret_cast<const EventKeys*>(address()); }
  uint64_t subject() const {
    return action() < Action::retry ? address() : static_cast<const KeptKeys&>(keys()).subject;
  }

  bool operator<(const Event& o) const {
    if (time != o.time) [[likely]]
      return time < o.time;
    return keys() < o.keys();
  }
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

// Invariant: the near events are in order, the next one last, and behind them stands one that never
// comes; no event in the heap is before any of them; where there is one in the heap, one is near.
class EventQueue {
 public:
  explicit EventQueue(std::size_t cores) : runs_(cores) {}
  EventQueue(const EventQueue&) = delete;

  Time next_run() const { return runs_.next_time(); }  // of a core
  Time next_message() const { return next_->time; }    // of anything else
  // When what follows from anything but a run can have reached somebody, at the earliest: apart(e)
  // after an event e, but never less than `nearest`, which is taken for all but the next few.
  template <class Apart>
  Time next_message(Time nearest, Apart apart) const {
    Time least = kNever;
    const Event* at = next_;
    for (const Event* const end = at - std::min(near_count(), kAsked); at > end; --at) {
      if (later(at->time, nearest) >= least) return least;
      least = std::min(least, later(at->time, apart(*at)));
    }
    return std::min(least, later(at > near_.data() ? at->time : far_, nearest));
  }
  // The same of what another core does that runs: see Runs.
  Time next_run(uint32_t core, const std::vector<Time>& apart) const {
    return runs_.next_time(core, apart);
  }
  // The next event is the present one from now on: what happens, and to whom: a packet, a core, or
  // what subject_of() tells of an action from `retry` on.
  struct Next {
    Action action;
    uint64_t subject;
  };
  [[gnu::always_inline]] Next pop() {
    const Event& first = *next_;
    if (runs_.next_time() <= first.time && run_is_before(first)) return take_run();
    now_ = first.time;
    const Next next{first.action(), first.address()};
    if (--next_ == near_.data()) [[unlikely]]
      refill();
    return next;
  }
  // Once: the keys are given up.
  uint64_t subject_of(uint64_t kept) {
    auto* const keys = reinterpret_cast<KeptKeys*>(kept);
    keys->next = spare_;
    spare_ = keys;
    return keys->subject;
  }
  // The time of the present event: that which pop() gave last, or pass_to() made it.
  Time now() const { return now_; }

  // When cores execute next, and which does first.
  const Runs& runs() const { return runs_; }
  uint32_t next_core() const { return runs_.next(); }
  // When a core is to execute next, and shall.
  Time scheduled(uint32_t core) const { return runs_.at(core); }
  void schedule(uint32_t core, Time when) { runs_.set(core, when); }

  // Of a packet, which begins with the keys.
  [[gnu::always_inline]] void push(Time time, const EventKeys& packet, Action action) {
    const Event event(time, packet, action);
    if (next_ >= near_.data() + kFew || time >= far_) [[unlikely]]
      return push_among_many(event);
    Event* at = ++next_;
    for (; at[-1] < event; --at) *at = at[-1];
    *at = event;
  }
  // Of anything else.
  [[gnu::noinline]] void push(Time time, const EventKeys& keys, Action action, uint64_t subject) {
    if (!spare_) spare_ = &kept_.emplace_back();
    KeptKeys& kept = *spare_;
    spare_ = kept.next;
    kept = {keys, subject};
    push(time, kept, action);
  }
  // Instead of push(), by the present event as the last that it does: an event that would be next
  // is the present one at once. False: another comes first.
  bool pass_to(Time time, const EventKeys& packet) {
    if (time >= runs_.next_time() || !(Event(time, packet, Action::nothing) < *next_)) return false;
    now_ = time;
    return true;
  }

 private:
  static constexpr std::size_t kArity = 4, kAsked = 4, kFew = 48, kNear = 256;

  std::size_t near_count() const { return static_cast<std::size_t>(next_ - near_.data()); }
  // Of a core's execution that is not later.
  bool run_is_before(const Event& message) const {
    return runs_.next_time() < message.time ||
           event_place(runs_.next(), kCoreClass, 0) < message.keys().place;
  }
  Next take_run() {
    if (runs_.next_time() == kNever) [[unlikely]]
      return {Action::nothing, 0};
    now_ = runs_.next_time();
    const uint32_t core = runs_.next();
    runs_.set(core, kNever);
    return {Action::run, core};
  }

  // Where more than a few are near, or it comes with the heap or later.
  [[gnu::noinline]] void push_among_many(const Event event) {
    if (near_count() == kNear) spill();
    if (!heap_.empty() && !(event < heap_[0])) return raise(event);
    Event* const end = ++next_;
    const auto is_later = [&](const Event& near) { return event < near; };
    Event* const at = std::partition_point(near_.data() + 1, end, is_later);
    std::copy_backward(at, end, end + 1);
    *at = event;
  }
  // The later half of the near events goes into the heap.
  void spill() {
    for (std::size_t i = 1; i <= kNear / 2; ++i) {
      raise(near_[i]);
      near_[i] = near_[i + kNear / 2];
    }
    next_ = near_.data() + kNear / 2;
  }

  // What is next in the heap, if anything is, comes near.
  [[gnu::noinline]] void refill() {
    next_ = near_.data() + std::min(heap_.size(), kNear / 2);
    for (Event* at = next_; at > near_.data(); --at) *at = take();
    far_ = heap_.empty() ? kNever : heap_[0].time;
  }
  // The first of the heap.
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
    far_ = heap_[0].time;
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

  Runs runs_;
  Time now_ = 0;
  Time far_ = kNever;                            // when the first of the heap comes
  KeptKeys last_{{~uint64_t{0}, ~uint64_t{0}}};  // of the event that never comes
  std::array<Event, kNear + 1> near_{{{kNever, last_, Action::nothing}}};
  Event* next_ = near_.data();
  std::vector<Event> heap_;
  std::deque<KeptKeys> kept_;
  KeptKeys* spare_ = nullptr;
};

}  // namespace uncore
