// The event queue: returns pending events in an order that depends only on their content.
//
// Events of equal time are ordered by receiver, class, line, sender and the sender's count (rule T2
// of docs/model.md), never by the order in which they were pushed. So the outcome of a job does not
// depend on how far the engine runs cores ahead.
//
// Interface: push, pop, now, next_message; schedule and next_run for the execution of cores, which
// is kept in a separate structure (time/runs.hh); pass_to for an event that would be the next one
// anyway. The earliest events (*near* events) are in a sorted array, the others in a four-ary heap
// of 16-byte values. A contended run has two to seven events pending, and a new event is often the
// next one, so few events ever enter the heap; the code for the heap is not inlined. Nothing is
// allocated for an event once the heap has grown large enough.
//
// An event stores the address of its keys instead of the keys, because few comparisons need them. A
// packet has one event at a time and begins with that event's keys; the queue keeps the keys of all
// other events.
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

// Kinds of events (rule T1). The subject of an event is a packet, a core or a hart.
enum class Action : uint8_t {
  hop,      // a message reaches a channel
  arrive,   // a message reaches an agent
  reach,    // a message reaches a register of a hart
  act,      // a slice has served a message; up to this action, the keys are in the packet
  retry,    // a deferred probe tries again
  run,      // a core executes
  expire,   // a hart's timer expires
  leave,    // a store may leave its buffer
  end,      // the run ends
  nothing,  // no event is left
};

// Keys that order events of equal time.
struct EventKeys {
  uint64_t place = 0;   // receiver, class and line, as event_place() packs them
  uint64_t sender = 0;  // sender and its count, as event_sender() packs them

  bool operator<(const EventKeys& o) const {
    return place != o.place ? place < o.place : sender < o.sender;
  }
};

// Keys that are stored in the queue, and the event's subject.
struct KeptKeys : EventKeys {
  uint64_t subject = 0;
  KeptKeys* next = nullptr;  // next in the list of unused elements
};

struct Event {
  Time time;
  uint64_t task;  // address of the keys << 4 | action

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

// Packs 20 bits of receiver, 4 of class, 40 of line. The low 40 bits of the line number are enough
// to distinguish the lines of a run.
inline constexpr unsigned kInterruptClass = 3, kCoreClass = 4;  // messages have classes 0 to 3
constexpr uint64_t event_place(uint64_t receiver, unsigned cls, uint64_t line) {
  return receiver << 44 | static_cast<uint64_t>(cls) << 40 | (line & ((uint64_t{1} << 40) - 1));
}
// Packs 20 bits of sender, 44 of the sender's count.
constexpr uint64_t event_sender(uint64_t sender, uint64_t count) {
  return sender << 44 | (count & ((uint64_t{1} << 44) - 1));
}

// Invariant: the near events are sorted, with the next event last; the first element of their array
// is a sentinel at kNever. No event in the heap precedes a near event, and there is a near event
// unless the heap is empty.
class EventQueue {
 public:
  explicit EventQueue(std::size_t cores) : runs_(cores) {}
  EventQueue(const EventQueue&) = delete;

  Time next_run() const { return runs_.next_time(); }  // time of the next run of a core
  Time next_message() const { return next_->time; }    // time of the next event of another kind
  // Returns a lower bound on the time at which a pending event, other than a run, can affect a
  // given core. The effect of event e takes latency_from(e), which is at least `nearest`.
  // latency_from() is called only for the next kExactBounds events; `nearest` is assumed for the
  // others.
  template <class LatencyFrom>
  Time next_message(Time nearest, LatencyFrom latency_from) const {
    Time least = kNever;
    const Event* event = next_;
    for (const Event* const end = event - std::min(near_count(), kExactBounds); event > end;
         --event) {
      if (later(event->time, nearest) >= least) return least;
      least = std::min(least, later(event->time, latency_from(*event)));
    }
    return std::min(least, later(event > near_.data() ? event->time : heap_time_, nearest));
  }
  // Returns the earliest time at which a run of another core can affect this core, as
  // Runs::next_time() computes it.
  Time next_run(uint32_t core, const std::vector<Time>& distances) const {
    return runs_.next_time(core, distances);
  }
  // Removes the next event and makes it the present one. `subject` is a packet or a core. For the
  // actions from `retry` on, except `run`, it is the argument of subject_of() instead.
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
  // Returns the subject of an event whose keys the queue keeps. It frees the keys, so it may be
  // called only once for an event.
  uint64_t subject_of(uint64_t keys_address) {
    auto* const keys = reinterpret_cast<KeptKeys*>(keys_address);
    keys->next = free_keys_;
    free_keys_ = keys;
    return keys->subject;
  }
  // Returns the time of the present event, which is the last one that pop() returned or pass_to()
  // made present.
  Time now() const { return now_; }

  // Returns the times at which cores execute next; next_core() returns the core that is first.
  const Runs& runs() const { return runs_; }
  uint32_t next_core() const { return runs_.next(); }
  // Returns or sets the time at which a core executes next; kNever: it has nothing to execute.
  Time scheduled(uint32_t core) const { return runs_.at(core); }
  void schedule(uint32_t core, Time when) { runs_.set(core, when); }

  // Adds the event of a packet, which begins with the event's keys.
  [[gnu::always_inline]] void push(Time time, const EventKeys& packet, Action action) {
    const Event event(time, packet, action);
    if (next_ >= near_.data() + kFewNear || time >= heap_time_) [[unlikely]]
      return push_among_many(event);
    Event* position = ++next_;
    for (; position[-1] < event; --position) *position = position[-1];
    *position = event;
  }
  // Adds an event of another subject; the queue keeps its keys.
  [[gnu::noinline]] void push(Time time, const EventKeys& keys, Action action, uint64_t subject) {
    if (!free_keys_) free_keys_ = &key_pool_.emplace_back();
    KeptKeys& element = *free_keys_;
    free_keys_ = element.next;
    element = {keys, subject};
    push(time, element, action);
  }
  // Skips the queue: if an event of this packet at `time` would be the next event, makes it the
  // present one and returns true. Returns false, and does nothing, if another event comes first.
  // May be called only as the last step of the present event.
  bool pass_to(Time time, const EventKeys& packet) {
    if (time >= runs_.next_time() || !(Event(time, packet, Action::nothing) < *next_)) return false;
    now_ = time;
    return true;
  }

 private:
  static constexpr std::size_t kArity = 4, kExactBounds = 4, kFewNear = 48, kNear = 256;

  std::size_t near_count() const { return static_cast<std::size_t>(next_ - near_.data()); }
  // Returns true if the next run precedes this event. The caller has checked that the run is not
  // later.
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

  // Completes push() in the rare cases: there are many near events, or the event is not earlier
  // than the first event of the heap.
  [[gnu::noinline]] void push_among_many(const Event event) {
    if (near_count() == kNear) spill();
    if (!heap_.empty() && !(event < heap_[0])) return raise(event);
    Event* const end = ++next_;
    const auto is_later = [&](const Event& near) { return event < near; };
    Event* const at = std::partition_point(near_.data() + 1, end, is_later);
    std::copy_backward(at, end, end + 1);
    *at = event;
  }
  // Moves the later half of the near events to the heap.
  void spill() {
    for (std::size_t i = 1; i <= kNear / 2; ++i) {
      raise(near_[i]);
      near_[i] = near_[i + kNear / 2];
    }
    next_ = near_.data() + kNear / 2;
  }

  // Moves the first events of the heap, if there are any, to the array of near events.
  [[gnu::noinline]] void refill() {
    next_ = near_.data() + std::min(heap_.size(), kNear / 2);
    for (Event* position = next_; position > near_.data(); --position) *position = take();
    heap_time_ = heap_.empty() ? kNever : heap_[0].time;
  }
  // Removes the first event of the heap.
  Event take() {
    const Event first = heap_[0], last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return first;
  }

  // Adds an event to the heap, and sifts it up from the bottom.
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
    heap_time_ = heap_[0].time;
  }

  // Replaces the heap's first event by this one, and sifts it down from the top.
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
  Time heap_time_ = kNever;                               // time of the heap's first event
  KeptKeys sentinel_keys_{{~uint64_t{0}, ~uint64_t{0}}};  // keys of the sentinel
  std::array<Event, kNear + 1> near_{{{kNever, sentinel_keys_, Action::nothing}}};
  Event* next_ = near_.data();
  std::vector<Event> heap_;
  std::deque<KeptKeys> key_pool_;
  KeptKeys* free_keys_ = nullptr;
};

}  // namespace uncore
