// Which instruction of which hart touched which line, and what that cost: exact, not sampled.
//
// The core tells it of every access that is performed on a line, of every wait and of every copy
// that comes, goes or is passed on; a row is kept per line, pc, hart and kind of operation. Nothing
// here decides anything. With it a core takes its slow path for every access, so that without it
// the fast one costs nothing.
//
// Invariant: what harts waited is in exactly one row, so the rows' sum is `waited_in_all`.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "coherence/message.hh"
#include "observe/critical_path.hh"
#include "observe/line_copies.hh"
#include "observe/uses.hh"
#include "time/queue.hh"

namespace uncore {

class Attribution {
 public:
  // Within the region of interest, but no operation was begun; outside of it.
  static constexpr int64_t kBetween = -1, kOutside = -2;

  explicit Attribution(std::size_t harts)
      : path(harts), harts_(harts), uses_(harts), copies_(uses_) {}

  CriticalPath path;

  // --- accesses, when they are performed ---
  struct Access {
    uint64_t line, pc;
    unsigned offset, size;
    bool reads, writes;
  };
  void touched(uint32_t hart, Agent core, const Access& access, Time now);
  // Its access finds the line missing: it counts as a miss when it is performed.
  void missed(uint32_t hart) { harts_[hart].missing = true; }
  // The same for stores: one enters the buffer; the oldest but so many misses, and is performed.
  void buffered(uint32_t hart, uint64_t pc, Time now) {
    harts_[hart].stores.push_back({pc, harts_[hart].kind, path.now(hart, now)});
  }
  void missed_store(uint32_t hart, std::size_t older) { harts_[hart].stores[older].missing = true; }
  // `waits`: the hart stands still until this store is gone.
  void drained(uint32_t hart, Agent core, std::size_t older, Access store, bool waits, Time now);

  // --- waiting ---
  void stands(uint32_t hart, Time since) { harts_[hart].since = since; }
  // What it waited until now goes to the instruction at pc, for the line.
  void waited(uint32_t hart, uint64_t line, uint64_t pc, Time now);
  void waited_store(uint32_t hart, std::size_t older, uint64_t line, Time now);
  void resumed(uint32_t hart, Time after) { harts_[hart].since = kNever, waited_in_all += after; }
  Time waited_in_all = 0;

  // An SC fails, which may have waited until now.
  void failed_sc(uint32_t hart, uint64_t line, uint64_t pc, Time now);

  // --- waiting loops that are passed over (S1) ---
  void turn_begins(uint32_t hart) { harts_[hart].turn.clear(), harts_[hart].recording = true; }
  // The last turn is what has been touched since `instructions` had retired.
  void turn_ends(uint32_t hart, uint64_t instructions);
  void retired(uint32_t hart, uint64_t instructions) { harts_[hart].instructions = instructions; }
  void repeated(uint32_t hart, Agent core, uint64_t turns);

  // --- copies ---
  using Loss = LineCopies::Loss;
  void transferred(uint64_t line, Agent from, Agent to) { copies_.transferred(line, from, to); }
  void probed(Agent core, uint64_t line, bool invalidates, Loss loss) {
    copies_.probed(core, line, invalidates, loss);
  }
  void filled(Agent core, uint64_t line, bool writable) { copies_.filled(core, line, writable); }
  void evicted(Agent core, uint64_t line) { copies_.evicted(core, line); }

  // --- operations (uc_start, uc_kind, uc_op, uc_roi) ---
  void marked(uint32_t hart, unsigned code, uint64_t value, Time now);

  // --- the outcome ---
  void finish();  // no copy is taken any more
  const std::vector<Use>& uses() const { return uses_.rows(); }
  const LineCopies& copies() const { return copies_; }

 private:
  struct Buffered {
    uint64_t pc;
    int64_t kind;
    CriticalPath::Point entered;
    bool missing = false;
  };
  struct Turn {
    uint64_t instructions;
    std::size_t use;
    uint64_t bytes;
  };
  struct Hart {
    Time since = kNever;  // it stands still since; kNever: it does not
    int64_t kind = kOutside;
    bool missing = false, recording = false;
    uint64_t instructions = 0;
    std::deque<Buffered> stores;
    std::vector<Turn> turn;
  };

  Time stop_waiting(Hart& hart, Time now);
  std::size_t count(uint32_t hart, Agent core, const Access& access, int64_t kind, bool missed,
                    Time waited);

  std::vector<Hart> harts_;
  Uses uses_;
  LineCopies copies_;
};

}  // namespace uncore
