// Records the events of a run within a window of time and lines: messages with their routes and
// waits, state changes of copies by the client table, accesses with the values before and after,
// and other events of harts.
//
// It is called only where the log or the attribution is called anyway, or where events are rare, so
// that it does not slow down a run without a trace. Therefore a job with a trace also has a log and
// an attribution. Recording does not change a run.
//
// Invariant: held() returns the state of every copy at the beginning of the window, so that the
// states within the window can be reconstructed.
#pragma once

#include <tsl/robin_map.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "coherence/message.hh"
#include "spec/job_spec.hh"
#include "spec/machine_spec.hh"
#include "spec/trace_spec.hh"
#include "storage/bytes.hh"
#include "time/queue.hh"

namespace uncore {

class Trace {
 public:
  static constexpr Time kNotYet = kNever;  // the time of something that has not happened yet
  static constexpr uint32_t kNone = ~uint32_t{0};
  // Sent::kind of a message about a register is kRegister for a write, + 1 for a read, + 2 for the
  // value read.
  static constexpr uint8_t kRegister = name::messages.size();

  Trace(const MachineSpec& machine, const JobSpec& job)
      : size_(machine.line),
        from_(job.trace.start),
        until_(job.trace.until),
        buffered_(job.placement.size()) {
    for (const uint64_t address : job.trace.lines) lines_.push_back(size_.number(address));
    std::ranges::sort(lines_);
  }

  // --- messages (rules F, I) ---
  struct SentMessage {
    uint8_t kind = 0;
    Header header;
    uint32_t hart = kNone;  // the owner of the register
    Time sent = 0, arrived = kNotYet, acts = kNotYet;
  };
  struct Crossing {
    uint32_t message;
    int32_t link;
    Time head, start;  // when its head met the channel, and when it got the channel
  };
  void sent(uint32_t packet, const Header& m, Time when) {
    sent(packet, SentMessage{.kind = static_cast<uint8_t>(m.kind), .header = m, .sent = when});
  }
  void sent(uint32_t packet, uint8_t kind, const Header& m, uint32_t hart, Time when) {
    sent(packet, SentMessage{.kind = kind, .header = m, .hart = hart, .sent = when});
  }
  void crossed(uint32_t packet, int32_t link, Time head, Time start) {
    if (const uint32_t m = under_way(packet); m != kNone)
      crossings.push_back({m, link, head, start});
  }
  void arrived(uint32_t packet, Time now) {
    if (const uint32_t m = under_way(packet); m != kNone) messages[m].arrived = now;
  }
  // Called when a message is handled: when its slice has served it, or when a core answers a probe
  // that it had deferred.
  void acted(uint32_t packet, Time now) {
    if (const uint32_t m = under_way(packet); m != kNone) messages[m].acts = now;
  }

  // --- copies (the client table) ---
  struct Change {
    Time at;
    Agent agent;
    uint64_t line;
    State before;
    ClientEvent event;
    State after;
  };
  void entered(Agent agent, uint64_t line, State before, ClientEvent event, State after, Time now);
  struct HeldState {
    Agent agent;
    uint64_t line;
    State state;
  };
  std::vector<HeldState> held() const;

  struct Hold {
    Agent agent;
    uint64_t line;
    Time from, until;
  };
  void held(Agent agent, uint64_t line, Time from, Time until) {
    if (selected(line, from)) all_holds.push_back({agent, line, from, until});
  }

  // --- the entry that each request finds when its transaction begins (resolver.table) ---
  struct EntryFound {
    Time at;
    Agent resolver;
    uint64_t line;
    Agent requester;
    uint32_t number;
    Children children;
    Agent owner;
    uint32_t sharers;
  };
  void found_entry(const EntryFound& t) {
    if (selected(t.line, t.at)) entries_found.push_back(t);
  }

  // --- accesses, when they are performed ---
  struct Access {
    uint32_t hart;
    Agent core;
    uint64_t pc, address;
    uint8_t size, kind;  // size in bytes; kind as in core/access.hh
    Time issued, at;
    uint64_t found, left;  // the bytes before and after the access
  };
  void performed(const Access& a) {
    if (selected(size_.number(a.address), a.at)) accesses.push_back(a);
  }
  // buffered() records that a store enters its hart's store buffer; drained(), that the store with
  // `older` stores ahead of it leaves. drained() returns the store's pc and when it entered.
  void buffered(uint32_t hart, uint64_t pc, Time now) { buffered_[hart].push_back({pc, now}); }
  std::pair<uint64_t, Time> drained(uint32_t hart, std::size_t older) {
    auto& stores = buffered_[hart];
    if (older >= stores.size()) return {0, kNotYet};
    const auto drained = stores[older];
    stores.erase(stores.begin() + static_cast<std::ptrdiff_t>(older));
    return drained;
  }

  // --- harts ---
  enum class What : uint8_t {
    waits,
    goes_on,
    sleeps,
    wakes,
    idles,
    interrupted,
    traps,
    returns,
    marks
  };
  struct Event {
    Time at;
    uint32_t hart;
    What what;
    uint64_t pc, value;  // value: for `waits` an address, for `interrupted` the bit of mip
  };
  void hart(const Event& e) {
    if (within(e.at)) events.push_back(e);
  }

  std::vector<SentMessage> messages;
  std::vector<Crossing> crossings;
  std::vector<Change> changes;
  std::vector<Hold> all_holds;
  std::vector<EntryFound> entries_found;
  std::vector<Access> accesses;
  std::vector<Event> events;

 private:
  bool within(Time t) const { return t >= from_ && t <= until_; }
  bool selected(uint64_t line, Time t) const {
    return within(t) && (lines_.empty() || is_traced(line));
  }
  bool is_traced(uint64_t line) const { return std::ranges::binary_search(lines_, line); }
  uint32_t under_way(uint32_t packet) const {
    return packet < under_way_.size() ? under_way_[packet] : kNone;
  }
  void sent(uint32_t packet, const SentMessage& m);

  const LineSize size_;
  const Time from_, until_;
  std::vector<uint64_t> lines_;      // lines to trace; empty: all
  std::vector<uint32_t> under_way_;  // packet -> its position in `messages`
  std::vector<std::deque<std::pair<uint64_t, Time>>> buffered_;    // hart -> stores: pc, entered at
  tsl::robin_map<uint64_t, tsl::robin_map<Agent, State>> before_;  // line -> states before window
};

}  // namespace uncore
