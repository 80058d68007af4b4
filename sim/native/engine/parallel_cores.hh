// Executes the cores of one run on several host threads, as long as they only hit in their caches.
//
// As long as a core only hits in its caches, and no message can reach it, it does not interact with
// other cores. So the cores are divided into shares of neighbours. A host thread executes each core
// of its share up to the time at which a pending event, another core of the share, or another share
// can affect it (S2). Each share publishes the time that it has reached. A core stops before an
// action that affects other parts of the machine (Core::run_confined); the engine executes that
// action later, in the order of T2.
//
// Interface: call take_try() before each event and, if it returns true, advance(). Invariant: the
// outcome does not depend on the calls of advance(), nor on the number of threads.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/core.hh"
#include "engine/host_threads.hh"

namespace uncore {

class ParallelCores {
 public:
  struct HostUse {
    unsigned shares, threads;  // `threads` includes the caller's
    bool eager;                // for tests: advance() executes cores even if it does not pay
  };
  ParallelCores(const std::vector<std::unique_ptr<Core>>& cores, EventQueue& queue, HostUse host);

  // Returns true if advance() should be called now: the back-off is over, and the next event is a
  // run of a core that is not stuck.
  bool take_try() {
    if (events_to_skip_ > 0) [[likely]]
      return --events_to_skip_, false;
    return queue_.next_run() < queue_.next_message() && !is_stuck(queue_.next_core());
  }
  // Executes cores, none of them past `until`. Returns the number of calls of Core::run_confined().
  uint64_t advance(Time until);

  // Sums over all calls of advance(). `longest` adds up the instructions of the largest share of
  // each call, which measures the host time if every share has its own thread.
  struct ShareTotals {
    uint64_t calls = 0, instructions = 0, longest = 0;
  };
  const ShareTotals& worth() const { return worth_; }

 private:
  struct alignas(64) Share {
    std::vector<uint32_t> cores;
    std::vector<Time> horizons;  // horizon of each of `cores`, if all other cores were idle
    Runs next{0};                // when its cores execute next
    uint64_t runs = 0, instructions = 0;        // counted in this call of advance()
    alignas(64) std::atomic<Time> reached = 0;  // none of its cores executes before this time
    std::atomic<bool> over = false;             // the share has finished this call
  };
  // Result of trying each core of a share once. ran: at least one core executed; waits: a core can
  // execute when another share has advanced; ends: no core can execute any more in this call.
  enum class Sweep : uint8_t { ran, waits, ends };

  // Returns true if the core has stopped before an action that the engine must execute.
  bool is_stuck(uint32_t core) const { return stuck_at_[core] == queue_.scheduled(core); }

  void deal();
  std::size_t gap(const std::vector<uint32_t>& active, std::size_t ideal, std::size_t slack) const;
  Time distance() const;
  bool enough_can_run(Time until);
  void begin();
  void execute(Share& share, Time now, Time until);
  Sweep sweep(Share& share, Time others);
  Time others_reached(const Share& share) const;
  bool others_have_passed(const Share& share, Time reached) const;
  uint64_t collect();

  const std::vector<std::unique_ptr<Core>>& cores_;
  EventQueue& queue_;
  const bool one_thread_;  // true if one thread executes all shares
  HostThreads threads_;
  std::vector<Share> shares_;
  std::vector<Time> stuck_at_;  // per core: when it last stopped for the engine (is_stuck())
  Time share_distance_ = 1;     // least latency from a core of one share to one of another
  const bool eager_;
  // events_to_skip_: number of events before the next try. last_backoff_: last back-off, in events;
  // a failure doubles it. tries_before_deal_: number of tries before deal() may be called again.
  uint64_t events_to_skip_ = 0, last_backoff_ = 1, tries_before_deal_ = 0;
  ShareTotals worth_;
};

}  // namespace uncore
