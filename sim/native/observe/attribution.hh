// Attributes misses and waits to lines and to the instructions of the harts that touched them: all
// of them, not samples.
//
// The core reports every access that is performed on a line, every wait, and every copy that comes,
// goes or is passed on; there is a row for each line, pc, hart and kind of operation. An
// attribution does not change what happens. With one a core takes its slow path for every access,
// so without one the fast path costs nothing.
//
// Invariant: each wait of a hart is in exactly one row, so the rows' sum is `waited_in_all`.
#pragma once

#include <cstdint>
#include <vector>

#include "coherence/message.hh"
#include "observe/callers.hh"
#include "observe/critical_path.hh"
#include "observe/line_copies.hh"
#include "observe/uses.hh"
#include "time/queue.hh"

namespace uncore {

class Attribution {
 public:
  // Kinds of rows that belong to no operation: between operations of the region of interest, and
  // outside the region.
  static constexpr int64_t kBetween = -1, kOutside = -2;
  // Kind of rows while one thread is left: outside, unless another thread begins (then between).
  static constexpr int64_t kPerhaps = -3;

  explicit Attribution(std::size_t harts) : path(harts), uses(harts), copies(uses), harts_(harts) {}

  CriticalPath path;
  Chains chains;
  Uses uses;
  LineCopies copies;

  // --- accesses, when they are performed ---
  struct Access {
    uint64_t line, pc;
    uint64_t bytes;  // bytes that are touched, a bit for each part (LineSize::parts)
    bool reads, writes;
    bool repeats = false;  // the access is in an iteration of a loop that may be passed over
    uint32_t callers = 0;  // number of the chain of callers, if the access cost time; 0: not known
  };
  // True if the access that the hart performs now has cost time.
  bool costs(uint32_t hart, Time now) const {
    return harts_[hart].missing || harts_[hart].since < now || path.has_woken(hart);
  }
  void touched(uint32_t hart, Agent core, const Access& access, Time now);
  // Counts a load or store that hits. False: it ends a wait, so nothing was counted, and the caller
  // must call touched().
  bool hit(uint32_t hart, Agent core, const Access& access, Time now);
  // The hart's access misses: it is counted as a miss when it is performed.
  void missed(uint32_t hart) { harts_[hart].missing = true; }
  // A store enters the hart's store buffer.
  void buffered(uint32_t hart, const Frame& frame, Time now) {
    harts_[hart].stores.push_back({frame, harts_[hart].kind, path.now(hart, now)});
  }
  struct Buffered {
    Frame frame;
    int64_t kind;
    CriticalPath::Point entered;
    bool missing = false;
  };
  const Buffered& store(uint32_t hart, std::size_t older) const {
    return harts_[hart].stores[older];
  }
  // The store with `older` older stores ahead of it in the buffer misses.
  void missed_store(uint32_t hart, std::size_t older) { harts_[hart].stores[older].missing = true; }
  // That store is performed and leaves the buffer. `waits`: the hart stands still until then.
  void drained(uint32_t hart, Agent core, std::size_t older, Access store, bool waits, Time now);

  // --- waiting ---
  void begin_wait(uint32_t hart, Time since) { harts_[hart].since = since; }
  // Charges the wait until now to the line and the instruction at pc.
  void waited(uint32_t hart, Agent core, uint64_t line, uint64_t pc, Time now);
  void waited_store(uint32_t hart, Agent core, std::size_t older, uint64_t line, Time now);
  void resumed(uint32_t hart, Time after) { harts_[hart].since = kNever, waited_in_all += after; }
  Time waited_in_all = 0;

  // An SC fails; it may have waited until now.
  void failed_sc(uint32_t hart, Agent core, uint64_t line, uint64_t pc, Time now);

  // --- iterations of waiting loops, which may be passed over (S1) ---
  void begin_iteration(uint32_t hart) { harts_[hart].iteration.clear(); }
  // The iteration consists of the accesses since `instructions` instructions had retired.
  void end_iteration(uint32_t hart, uint64_t instructions);
  void retired(uint32_t hart, uint64_t instructions) { harts_[hart].instructions = instructions; }
  // Counts the accesses of the last iteration so many times more.
  void repeated(uint32_t hart, uint64_t times);

  // --- operations (uc_start, uc_kind, uc_op, uc_roi) ---
  void marked(uint32_t hart, unsigned code, uint64_t value, Time now);

  // A program that marks nothing is measured while it has several threads, or as a whole.
  void several_threads(Time now);
  void one_thread(uint32_t hart, Time now);
  void finished(uint32_t hart, Time now);

  // --- what is allocated ---
  struct Allocation {
    uint64_t address, size;
    uint32_t callers;
  };
  std::vector<Allocation> allocations;

  // --- the outcome ---
  void finish();  // called once no copy will be taken any more

 private:
  struct IterationAccess {
    uint64_t instructions;
    std::size_t use;
    uint64_t bytes;
  };
  struct Hart {
    Time since = kNever;  // when the hart began to stand still; kNever: it runs
    int64_t kind = kOutside;
    bool missing = false;
    uint64_t operation = 1;  // a number that changes where an operation begins or ends
    uint64_t instructions = 0;
    std::vector<Buffered> stores;  // the oldest first
    std::vector<IterationAccess> iteration;
  };

  Time stop_waiting(Hart& hart, Time now);
  bool looks_again(const Hart& hart, std::size_t use);
  void all_are(int64_t kind);
  std::size_t count(uint32_t hart, Agent core, const Access& access, int64_t kind, bool missed,
                    Time waited);

  std::vector<Hart> harts_;
};

[[gnu::always_inline]] inline bool Attribution::hit(uint32_t hart, Agent core, const Access& access,
                                                    Time now) {
  const Hart& h = harts_[hart];
  if (h.since != kNever || h.missing || path.has_woken(hart)) return false;
  Use* u = uses.recalled(hart, access.line, access.pc, h.kind);
  if (!u || !LineCopies::is_noted(*u->held, access.bytes, access.writes)) {
    u = &uses[count(hart, core, access, h.kind, false, 0)];
  } else if (access.writes) {
    ++u->writes, u->written |= access.bytes;
  } else {
    ++u->reads, u->read |= access.bytes;
  }
  if (access.writes) path.wrote(hart, u->held->line->last_write, now);
  return true;
}

}  // namespace uncore
