// Tracks the copies of each line: between which cores they moved, and which of them moved no value.
//
// A miss is *needless* if it brings back a copy that another core had taken away, and if, before
// the copy is taken away again, the core reads or writes no byte that others wrote in its absence,
// and writes no byte that others touched in its absence. Then the line moved, but no value did.
// These are the useless misses of Dubois et al., "The Detection and Elimination of Useless Misses
// in Multiprocessors" (1993). They are decided by single bytes in lines of 64 bytes, and by blocks
// of two or four bytes in lines of 128 or 256 bytes, so that a mask of 64 bits covers a line.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "coherence/message.hh"
#include "observe/chunks.hh"
#include "observe/critical_path.hh"
#include "observe/uses.hh"
#include "storage/line_map.hh"

namespace uncore {

struct ObservedLine;

// One core's record of a line. Its times are values of LineCopies::clock_, which counts losses of
// copies; 0 means that the core has not lost the line.
struct HeldLine {
  // A miss that has moved no value yet: its row, how long the hart waited, and the bytes that
  // others had written or touched. An access to a `written` byte, or a write of a `touched` byte,
  // shows that the miss was needed.
  struct Suspect {
    std::size_t use;
    Time waited;
    uint64_t written, touched;
  };

  ObservedLine* line;
  Agent core;
  bool returned = false;  // the present copy replaces one that another core took away
  // The bytes that the core has touched and written since time `noted`, when a core last lost the
  // line. They need not be recorded again. All bytes, until a core first loses the line.
  uint64_t noted = 0, noted_touched = ~uint64_t{0}, noted_written = ~uint64_t{0};
  uint64_t copy_lost = 0, right_lost = 0;
  uint64_t written = 0, touched = 0;  // bytes that others wrote and touched while the copy was away
  std::vector<Suspect> suspects = {};
  // A linked list of the cores that have passed the line to this core, with the number of times.
  struct Passer {
    Agent from;
    uint64_t times;
    Passer* next;
  };
  Passer* passers = nullptr;

  // Resets everything but the list, when the core evicts its copy.
  void forget() { *this = {.line = line, .core = core, .passers = passers}; }
};

struct ObservedLine {
  // The last two cores that touched (or wrote) a byte, and the times. Two cores suffice to tell
  // whether any core other than a given one did so.
  struct Recent {
    Agent core[2] = {kNobody, kNobody};
    uint64_t at[2] = {0, 0};
    void note(Agent by, uint64_t now);
    bool others_since(Agent than, uint64_t then) const { return at[core[0] == than] > then; }
  };
  // A set of bytes with a common history: every access has touched either all of them or none.
  struct Piece {
    uint64_t bytes;
    Recent touched = {}, written = {};
  };

  uint64_t number;
  std::size_t index;   // index of this line among all observed lines
  uint64_t since = 0;  // when a core last lost the line; 0: there is no history
  CriticalPath::Writes last_writes = {};
  uint64_t invalidations = 0;
  // Returns whether a core has ever lost the line to another.
  bool is_shared() const { return !history.empty(); }
  std::vector<Piece> history = {};  // since the first loss of a copy; disjoint, cover the line
};

class LineCopies {
 public:
  // Needless misses are counted in the rows of `uses`.
  explicit LineCopies(Uses& uses) : uses_(uses) {}

  // Returns the row in Uses for an access by a hart of the core.
  std::size_t row(uint32_t hart, Agent core, uint64_t line, uint64_t pc, int64_t kind,
                  uint32_t callers = 0);
  // An access to some bytes, which belongs to row `use`. `waited`: how long it waited if it missed.
  struct ObservedAccess {
    std::size_t use;
    uint64_t bytes;  // a mask (LineSize::parts)
    bool writes, missed;
    Time waited;
  };
  void accessed(HeldLine& held, const ObservedAccess& access) {
    if (access.missed || !is_noted(held, access.bytes, access.writes)) note(held, access);
  }
  // Returns whether a hit on these bytes need not be recorded, because an equal one is recorded.
  static bool is_noted(const HeldLine& held, uint64_t bytes, bool writes) {
    if (held.noted != held.line->since || (bytes & ~held.noted_touched)) return false;
    return !writes || !(bytes & ~held.noted_written);
  }

  // The loss of a core by a probe: its copy, or its right to write.
  struct Loss {
    bool copy = false, right = false;
  };
  void transferred(uint64_t number, Agent from, Agent to);
  void probed(Agent core, uint64_t number, bool invalidates, Loss loss);
  void filled(Agent core, uint64_t number, bool writable);
  void evicted(Agent core, uint64_t number);
  void finish();  // called at the end of the run, when no copy will be taken away any more

  struct PassedLine {
    uint64_t line;
    Agent from, to;
    uint64_t times;
  };
  std::vector<PassedLine> passed_lines() const;
  std::vector<std::pair<uint64_t, uint64_t>> invalidations() const;  // pairs (line, count)
  std::size_t lines() const { return all_lines_.size(); }
  const ObservedLine* find(uint64_t number) const;

 private:
  struct Key {
    uint64_t line;
    Agent core;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    // Gives neighbouring lines neighbouring buckets, as LineHash does.
    std::size_t operator()(const Key& key) const {
      const uint64_t core = static_cast<uint32_t>(key.core);
      const uint64_t block = key.line >> LineHash::kBlockShift ^ core << 40;
      const uint64_t nearby = key.line & ((1u << LineHash::kBlockShift) - 1);
      return block * 0x9E3779B97F4A7C15u >> 32 << LineHash::kBlockShift | nearby;
    }
  };

  ObservedLine& line(uint64_t number);
  HeldLine& held_line(Agent core, uint64_t number);  // created if missing; keeps its address
  HeldLine* find(Agent core, uint64_t number);
  void note(HeldLine& held, const ObservedAccess& access);
  void count_needless(HeldLine& held);

  Uses& uses_;
  Chunks<ObservedLine> all_lines_;
  Chunks<HeldLine> all_held_;
  Chunks<HeldLine::Passer> all_passers_;
  LineMap<ObservedLine*> lines_;
  tsl::robin_map<Key, HeldLine*, Hash> held_;
  uint64_t clock_ = 1;  // counts losses of copies or rights, 1 before the first
};

}  // namespace uncore
