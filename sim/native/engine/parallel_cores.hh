// One run on several cores of the host: cores that only hit execute at the same time.
//
// Between two moments at which a message can reach a core, what a core does by itself concerns
// nobody else. So each thread of the host takes a share of the cores, neighbours, and executes each
// as far as nothing can have reached it (S2): neither what is pending, nor another core of its
// share, nor another share, which tells how far it has come. A core stops before whatever concerns
// more than itself (Core::run_confined); the engine does that, in the order of T2.
//
// Interface: pays() where an event comes next, then advance(). Invariant: the outcome does not
// depend on whether, when or by how many threads this is done.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/core.hh"
#include "engine/host_threads.hh"

namespace uncore {

class ParallelCores {
 public:
  struct Host {
    unsigned shares, threads;  // the caller's thread among them
    bool eager;                // whether it pays or not, for tests
  };
  ParallelCores(const std::vector<std::unique_ptr<Core>>& cores, EventQueue& queue, Host host);

  // Is a core next, and can others probably execute beside it?
  bool pays() {
    if (rest_ > 0) [[likely]]
      return --rest_, false;
    return queue_.next_run() < queue_.next_message() && !is_stuck(queue_.next_core());
  }
  // Executes cores that begin at `until` at the latest. Returns how often one has run.
  uint64_t advance(Time until);

  // What it came to: calls of advance(), the instructions in them, and those of the largest share
  // of each, which is what they take where every share has a thread.
  struct Worth {
    uint64_t calls = 0, instructions = 0, longest = 0;
  };
  const Worth& worth() const { return worth_; }

 private:
  struct alignas(64) Share {
    std::vector<uint32_t> cores;
    std::vector<Time> horizons;                 // of its cores, but for other cores
    Runs next{0};                               // when its cores execute next
    uint64_t runs = 0, instructions = 0;        // in this call
    alignas(64) std::atomic<Time> reached = 0;  // no core of it is behind that
    std::atomic<bool> over = false;             // it goes no further in this call
  };
  // What came of trying to execute each core of a share: one did; another share is in the way; no.
  enum class Sweep : uint8_t { ran, waits, ends };

  // Has the core stopped before something that the engine has to do?
  bool is_stuck(uint32_t core) const { return stuck_at_[core] == queue_.scheduled(core); }

  void deal();
  std::size_t gap(const std::vector<uint32_t>& active, std::size_t ideal, std::size_t slack) const;
  Time distance() const;
  bool several_go(Time until);
  void begin();
  void execute(Share& share, Time now, Time until);
  Sweep sweep(Share& share, Time others);
  Time others_reached(const Share& share) const;
  bool others_go_on(const Share& share, Time reached) const;
  uint64_t collect();

  const std::vector<std::unique_ptr<Core>>& cores_;
  EventQueue& queue_;
  const bool alone_;  // one thread executes all shares
  HostThreads threads_;
  std::vector<Share> shares_;
  std::vector<Time> stuck_at_;  // by core
  Time apart_ = 1;              // what one share does reaches another after that at the earliest
  const bool eager_;
  // Events until it is tried again, and at the next failure; calls until cores are dealt out anew.
  uint64_t rest_ = 0, pause_ = 1, same_shares_ = 0;
  Worth worth_;
};

}  // namespace uncore
