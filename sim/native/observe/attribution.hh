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
  // Within the region of interest, but no operation was begun; outside of it.
  static constexpr int64_t kBetween = -1, kOutside = -2;
  // Behind the last thread's end, unless another begins.
  static constexpr int64_t kPerhaps = -3;

  explicit Attribution(std::size_t harts) : path(harts), uses(harts), copies(uses), harts_(harts) {}

  CriticalPath path;
  Chains chains;
  Uses uses;
  LineCopies copies;

  // --- accesses, when they are performed ---
  struct Access {
    uint64_t line, pc;
    uint64_t bytes;  // a bit each (LineSize::parts)
    bool reads, writes;
    bool repeats = false;  // in a turn of a loop that may be passed over
    uint32_t callers = 0;  // where it cost time, and they are known
  };
  // Does the access that the hart performs now cost time?
  bool costs(uint32_t hart, Time now) const {
    return harts_[hart].missing || harts_[hart].since < now || path.has_woken(hart);
  }
  void touched(uint32_t hart, Agent core, const Access& access, Time now);
  // The same for a load or store that hits. False: it ends a wait, nothing was counted, and it is
  // to be told by touched().
  bool hit(uint32_t hart, Agent core, const Access& access, Time now);
  // Its access finds the line missing: it counts as a miss when it is performed.
  void missed(uint32_t hart) { harts_[hart].missing = true; }
  // The same for stores: one enters the buffer; the oldest but so many misses, and is performed.
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
  void missed_store(uint32_t hart, std::size_t older) { harts_[hart].stores[older].missing = true; }
  // `waits`: the hart stands still until this store is gone.
  void drained(uint32_t hart, Agent core, std::size_t older, Access store, bool waits, Time now);

  // --- waiting ---
  void stands(uint32_t hart, Time since) { harts_[hart].since = since; }
  // What it waited until now goes to the instruction at pc, for the line.
  void waited(uint32_t hart, Agent core, uint64_t line, uint64_t pc, Time now);
  void waited_store(uint32_t hart, Agent core, std::size_t older, uint64_t line, Time now);
  void resumed(uint32_t hart, Time after) { harts_[hart].since = kNever, waited_in_all += after; }
  Time waited_in_all = 0;

  // An SC fails, which may have waited until now.
  void failed_sc(uint32_t hart, Agent core, uint64_t line, uint64_t pc, Time now);

  // --- waiting loops that are passed over (S1) ---
  void turn_begins(uint32_t hart) { harts_[hart].turn.clear(); }
  // The last turn is what has been touched since `instructions` had retired.
  void turn_ends(uint32_t hart, uint64_t instructions);
  void retired(uint32_t hart, uint64_t instructions) { harts_[hart].instructions = instructions; }
  void repeated(uint32_t hart, uint64_t turns);

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
  void finish();  // no copy is taken any more

 private:
  struct Turn {
    uint64_t instructions;
    std::size_t use;
    uint64_t bytes;
  };
  struct Hart {
    Time since = kNever;  // it stands still since; kNever: it does not
    int64_t kind = kOutside;
    bool missing = false;
    uint64_t operation = 1;  // changes where one begins or ends
    uint64_t instructions = 0;
    std::vector<Buffered> stores;  // the oldest first
    std::vector<Turn> turn;
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
