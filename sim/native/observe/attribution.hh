// Attributes every miss and every wait to a line, and to the instruction and the hart that accessed
// it. All of them are counted, not a sample.
//
// The core reports each access that is performed on a line, each wait, and each copy that arrives,
// leaves or is passed to another core. There is a row for each line, pc, hart and kind of
// operation. An attribution does not change a run. While there is one, a core takes its slow path
// for every access, so that the fast path needs no test for it.
//
// Invariant: each wait of a hart is in exactly one row, so the rows' waits add up to
// `waited_in_all`.
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
  // Kinds of rows that belong to no operation: accesses between two operations in the region of
  // interest, and accesses outside the region.
  static constexpr int64_t kBetween = -1, kOutside = -2;
  // The provisional kind of rows while the program has only one thread. It becomes kBetween if
  // another thread begins later, else kOutside.
  static constexpr int64_t kPerhaps = -3;

  explicit Attribution(std::size_t harts) : path(harts), uses(harts), copies(uses), harts_(harts) {}

  CriticalPath path;
  Chains chains;
  Uses uses;
  LineCopies copies;

  // --- accesses, when they are performed ---
  struct Access {
    uint64_t line, pc;
    uint64_t bytes;  // mask of the parts of the line that are accessed (LineSize::parts)
    bool reads, writes;
    bool repeats = false;  // in a spin loop, whose further iterations may be skipped (S1)
    uint32_t callers = 0;  // number in Chains, if the access cost time; 0: not known
  };
  // Returns whether the access that the hart performs now has cost time.
  bool costs(uint32_t hart, Time now) const {
    return harts_[hart].missing || harts_[hart].since < now || path.has_woken(hart);
  }
  void touched(uint32_t hart, Agent core, const Access& access, Time now);
  // Counts a load or store that hits. Returns false without counting if the access ends a wait;
  // then the caller must call touched().
  bool hit(uint32_t hart, Agent core, const Access& access, Time now);
  // Records that the hart's present access misses. The miss is counted when the access is
  // performed.
  void missed(uint32_t hart) { harts_[hart].missing = true; }
  // Records that a store enters the hart's store buffer.
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
  // Records that a buffered store misses: the one with `older` stores ahead of it in the buffer.
  void missed_store(uint32_t hart, std::size_t older) { harts_[hart].stores[older].missing = true; }
  // Counts a buffered store when it is performed and leaves the buffer. `waits`: the hart was
  // stalled until then.
  void drained(uint32_t hart, Agent core, std::size_t older, Access store, bool waits, Time now);

  // --- waiting ---
  void begin_wait(uint32_t hart, Time since) { harts_[hart].since = since; }
  // Charges the hart's wait until `now` to the line and to the instruction at pc, or to the
  // buffered store with `older` stores ahead of it.
  void waited(uint32_t hart, Agent core, uint64_t line, uint64_t pc, Time now);
  void waited_store(uint32_t hart, Agent core, std::size_t older, uint64_t line, Time now);
  void resumed(uint32_t hart, Time waited) { harts_[hart].since = kNever, waited_in_all += waited; }
  Time waited_in_all = 0;

  // Counts an SC that fails, and charges the hart's wait for it, if any.
  void failed_sc(uint32_t hart, Agent core, uint64_t line, uint64_t pc, Time now);

  // --- iterations of spin loops, which may be skipped (S1) ---
  void begin_iteration(uint32_t hart) { harts_[hart].iteration.clear(); }
  // Ends an iteration. It consists of the accesses after the first `instructions` instructions of
  // the hart.
  void end_iteration(uint32_t hart, uint64_t instructions);
  void retired(uint32_t hart, uint64_t instructions) { harts_[hart].instructions = instructions; }
  // Counts the accesses of the last iteration `times` times more, for iterations that were skipped.
  void repeated(uint32_t hart, uint64_t times);

  // --- operations (uc_start, uc_kind, uc_op, uc_roi) ---
  void marked(uint32_t hart, unsigned code, uint64_t value, Time now);

  // A program without markers is measured while it has several threads. A program that never has
  // several is measured as a whole.
  void note_several_threads(Time now);
  void note_one_thread(uint32_t hart, Time now);
  void finished(uint32_t hart, Time now);

  // --- memory that the program has allocated ---
  struct Allocation {
    uint64_t address, size;
    uint32_t callers;
  };
  std::vector<Allocation> allocations;

  // --- the outcome ---
  void finish();  // called at the end of the run, when no copy will be invalidated any more

 private:
  struct IterationAccess {
    uint64_t instructions;
    std::size_t use;
    uint64_t bytes;
  };
  struct Hart {
    Time since = kNever;  // when the hart began to wait; kNever: it runs
    int64_t kind = kOutside;
    bool missing = false;
    uint64_t operation = 1;  // incremented where an operation begins or ends
    uint64_t instructions = 0;
    // The number of its effects that other harts may see: its stores to shared lines, and its
    // atomics on them, of which several in a row on the same line count as one.
    uint64_t effects = 0;
    const ObservedLine* changing = nullptr;  // the line of its last effect, if it was an atomic
    // Returns the number of effects but the last one, if that was an atomic on this line.
    uint64_t effects_elsewhere(const ObservedLine* line) const {
      return effects - (changing == line);
    }
    std::vector<Buffered> stores;  // the oldest first
    std::vector<IterationAccess> iteration;
  };

  Time stop_waiting(Hart& hart, Time now);
  Time looked(const Hart& hart, std::size_t use, Time now);
  void wrote(uint32_t hart, const Use& use, const Access& access, Time now);
  static void note_effect(Hart& hart, const ObservedLine& line, bool atomic);
  void set_kind_of_all(int64_t kind);
  std::size_t count(uint32_t hart, Agent core, const Access& access, int64_t kind, bool missed,
                    Time waited);

  std::vector<Hart> harts_;
};

[[gnu::always_inline]] inline bool Attribution::hit(uint32_t hart, Agent core, const Access& access,
                                                    Time now) {
  const Hart& h = harts_[hart];
  if (h.since != kNever || h.missing || path.has_woken(hart)) return false;
  Use* u = uses.find_cached(hart, access.line, access.pc, h.kind);
  if (!u || !LineCopies::is_noted(*u->held, access.bytes, access.writes)) {
    u = &uses[count(hart, core, access, h.kind, false, 0)];
  } else if (access.writes) {
    ++u->writes, u->written |= access.bytes;
  } else {
    ++u->reads, u->read |= access.bytes;
  }
  if (access.writes) wrote(hart, *u, access, now);
  return true;
}

inline void Attribution::wrote(uint32_t hart, const Use& use, const Access& access, Time now) {
  note_effect(harts_[hart], *use.held->line, access.reads);
  path.wrote(hart, use.held->line->last_writes, access.bytes, now);
}

inline void Attribution::note_effect(Hart& hart, const ObservedLine& line, bool atomic) {
  if (!line.is_shared() || (atomic && hart.changing == &line)) return;
  ++hart.effects;
  hart.changing = atomic ? &line : nullptr;
}

}  // namespace uncore
