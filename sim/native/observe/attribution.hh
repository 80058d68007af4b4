// Which instruction of which hart touched which line, and what that cost: exact, not sampled.
//
// The core tells it of every access that is performed on a line, of every wait and of every copy
// that comes, goes or is passed on; a row is kept per line, pc, hart and kind of operation. Nothing
// here decides anything. With it a core takes its slow path for every access, so that without it
// the fast one costs nothing.
//
// A miss is *needless* if its copy had been taken by another core, and until it is taken again the
// core touches no byte that others have written since, and writes none that others have touched:
// then the line moved, but no value did. These are the useless misses of Dubois et al., "The
// Detection and Elimination of Useless Misses in Multiprocessors" (1993), byte by byte.
//
// Invariant: what harts waited is in exactly one row, so the rows' sum is `waited_in_all`.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "coherence/message.hh"
#include "observe/critical_path.hh"
#include "time/queue.hh"

namespace uncore {

struct Use {
  uint64_t line = 0, pc = 0;
  uint32_t hart = 0;
  int64_t kind = 0;  // of operation, or Attribution::kBetween, kOutside
  uint64_t reads = 0, writes = 0, misses = 0, needless = 0;
  Time waited = 0, needlessly = 0, critical = 0;
  uint64_t read = 0, written = 0;  // bytes of the line, a bit each
};

class Attribution {
 public:
  // Within the region of interest, but no operation was begun; outside of it.
  static constexpr int64_t kBetween = -1, kOutside = -2;

  explicit Attribution(std::size_t harts) : path(harts), harts_(harts) {}

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
    harts_[hart].stores.push_back({pc, of(hart), path.now(hart, now)});
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

  // --- waiting loops that are passed over (S1) ---
  void turn_begins(uint32_t hart) { harts_[hart].turn.clear(), harts_[hart].recording = true; }
  // The last turn is what has been touched since `instructions` had retired.
  void turn_ends(uint32_t hart, uint64_t instructions);
  void retired(uint32_t hart, uint64_t instructions) { harts_[hart].instructions = instructions; }
  void repeated(uint32_t hart, Agent core, uint64_t turns);

  // --- copies ---
  // What a probe takes from a core.
  struct Loss {
    bool copy = false, right = false;
  };
  void transferred(uint64_t number, Agent from, Agent to);
  void probed(Agent core, uint64_t number, bool invalidates, Loss loss);
  void filled(Agent core, uint64_t number, bool writable);
  void evicted(Agent core, uint64_t number);

  // --- operations (uc_start, uc_kind, uc_op, uc_roi) ---
  void marked(uint32_t hart, unsigned code, uint64_t value, Time now);

  // --- the outcome ---
  void finish();  // no copy is taken any more
  const std::vector<Use>& uses() const { return uses_; }
  struct Passed {
    uint64_t line;
    Agent from, to;
    uint64_t times;
  };
  std::vector<Passed> passed() const;
  std::vector<std::pair<uint64_t, uint64_t>> invalidations() const;  // by line

 private:
  // The two last cores that did something to a byte, and when.
  struct Recent {
    Agent who[2] = {kNobody, kNobody};
    uint64_t at[2] = {0, 0};
    void note(Agent core, uint64_t now);
    bool others_since(Agent core, uint64_t then) const { return at[who[0] == core] > then; }
  };
  struct History {
    std::array<Recent, 64> touched, written;
  };
  // A miss that has moved no value yet: what would be a value, and whose miss it was.
  struct Suspect {
    std::size_t use;
    Time waited;
    uint64_t written, touched;
  };
  // What a core has of a line; times are those of `clock_`, 0: never taken away.
  struct Held {
    uint64_t copy_lost = 0, right_lost = 0;
    uint64_t written = 0, touched = 0;  // by others while it was away
    bool returned = false;              // the copy had been taken away before it came
    std::vector<Suspect> suspects;
  };
  struct Shared {
    uint64_t invalidations = 0;
    tsl::robin_map<uint64_t, uint64_t> passed;  // from << 32 | to
    std::unique_ptr<History> history;           // since a copy was first taken away
    tsl::robin_map<Agent, Held> held;
  };
  struct Buffered {
    uint64_t pc;
    int64_t kind;
    CriticalPath::Place entered;
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
    struct Recall {
      uint64_t line = ~uint64_t{0}, pc = 0;
      int64_t kind = 0;
      std::size_t use = 0;
    };
    std::array<Recall, 64> recalls;                           // the row of a pc's last access
    tsl::robin_map<uint64_t, std::vector<std::size_t>> rows;  // by line and pc, mixed
  };

  int64_t of(uint32_t hart) const { return harts_[hart].kind; }
  std::size_t row(uint32_t hart, uint64_t line, uint64_t pc, int64_t kind);
  Time stop_waiting(Hart& hart, Time now);
  std::size_t count(uint32_t hart, Agent core, const Access& access, int64_t kind, bool missed,
                    Time waited);
  void judge(Agent core, std::size_t use, uint64_t bytes, bool writes, bool missed, Time waited);
  Shared& line(uint64_t number);
  void condemn(Held& held);

  std::vector<Hart> harts_;
  std::vector<Use> uses_;
  tsl::robin_map<uint64_t, std::unique_ptr<Shared>> shared_;
  uint64_t clock_ = 0;  // orders what happens to a line
};

}  // namespace uncore
