// The copies of each line: which core passed them to which, and which of them moved no value.
//
// A miss is *needless* if its copy had been taken by another core, and until it is taken again the
// core touches no byte that others have written since, and writes none that others have touched:
// then the line moved, but no value did. These are the useless misses of Dubois et al., "The
// Detection and Elimination of Useless Misses in Multiprocessors" (1993), byte by byte; in lines of
// 128 or 256 bytes by twos or fours, so that a mask of 64 bits has a bit for each.
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

// One core's record of a line. Times are those of a clock that counts losses; 0: never taken away.
struct HeldLine {
  // A miss that has moved no value yet: its row, what it waited, and the bytes that others have
  // written and touched. An access to the former or a write to the latter shows it was needed.
  struct Suspect {
    std::size_t use;
    Time waited;
    uint64_t written, touched;
  };

  ObservedLine* line;
  Agent core;
  bool returned = false;  // the present copy replaces one that was taken away
  // Bytes that the core has touched and written since `noted`, the last time somebody lost the
  // line: noting them again would change nothing. As long as nobody has lost the line, all bytes.
  uint64_t noted = 0, noted_touched = ~uint64_t{0}, noted_written = ~uint64_t{0};
  uint64_t copy_lost = 0, right_lost = 0;
  uint64_t written = 0, touched = 0;  // bytes that others wrote and touched while the copy was away
  std::vector<Suspect> suspects = {};
  // A list of the cores that passed the line to this one, and how often.
  struct Passed {
    Agent from;
    uint64_t times;
    Passed* next;
  };
  Passed* passed = nullptr;

  // Resets all but the list, when the copy leaves the caches.
  void forget() { *this = {.line = line, .core = core, .passed = passed}; }
};

struct ObservedLine {
  // The last two cores that touched (or wrote) a byte, and when.
  struct Recent {
    Agent core[2] = {kNobody, kNobody};
    uint64_t at[2] = {0, 0};
    void note(Agent by, uint64_t now);
    bool others_since(Agent than, uint64_t then) const { return at[core[0] == than] > then; }
  };
  // Bytes of the line, a bit each, with one history: every access touched all or none of them.
  struct Piece {
    uint64_t bytes;
    Recent touched = {}, written = {};
  };

  uint64_t number;
  std::size_t place;   // index among all lines
  uint64_t since = 0;  // when somebody last lost the line; 0: there is no history
  CriticalPath::Write last_write = {};
  uint64_t invalidations = 0;
  std::vector<Piece> history = {};  // since the first loss of a copy; disjoint, cover the line
};

class LineCopies {
 public:
  // Needless misses are counted in the rows of `uses`.
  explicit LineCopies(Uses& uses) : uses_(uses) {}

  // Returns the row (in Uses) of a hart of the core.
  std::size_t row(uint32_t hart, Agent core, uint64_t line, uint64_t pc, int64_t kind,
                  uint32_t callers = 0);
  // An access to some bytes, in the row `use`; `waited`: what it waited if it missed.
  struct Accessed {
    std::size_t use;
    uint64_t bytes;  // one bit each
    bool writes, missed;
    Time waited;
  };
  void accessed(HeldLine& held, const Accessed& access) {
    if (access.missed || !is_noted(held, access.bytes, access.writes)) note(held, access);
  }
  // True if a hit on these bytes would change nothing here.
  static bool is_noted(const HeldLine& held, uint64_t bytes, bool writes) {
    if (held.noted != held.line->since || (bytes & ~held.noted_touched)) return false;
    return !writes || !(bytes & ~held.noted_written);
  }

  // Losses of a core by a probe: its copy, its right to write.
  struct Loss {
    bool copy = false, right = false;
  };
  void transferred(uint64_t number, Agent from, Agent to);
  void probed(Agent core, uint64_t number, bool invalidates, Loss loss);
  void filled(Agent core, uint64_t number, bool writable);
  void evicted(Agent core, uint64_t number);
  void finish();  // called once no copy will be taken any more

  struct Passed {
    uint64_t line;
    Agent from, to;
    uint64_t times;
  };
  std::vector<Passed> passed() const;
  std::vector<std::pair<uint64_t, uint64_t>> invalidations() const;  // by line
  std::size_t lines() const { return all_lines_.size(); }
  const ObservedLine* find(uint64_t number) const;

 private:
  struct Key {
    uint64_t line;
    Agent core;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    // Keeps neighbouring lines together, as LineHash does.
    std::size_t operator()(const Key& key) const {
      const uint64_t core = static_cast<uint32_t>(key.core);
      const uint64_t block = key.line >> LineHash::kBlockShift ^ core << 40;
      const uint64_t nearby = key.line & ((1u << LineHash::kBlockShift) - 1);
      return block * 0x9E3779B97F4A7C15u >> 32 << LineHash::kBlockShift | nearby;
    }
  };

  ObservedLine& line(uint64_t number);
  HeldLine& held(Agent core, uint64_t number);  // created if missing; keeps its address
  HeldLine* find(Agent core, uint64_t number);
  void note(HeldLine& held, const Accessed& access);
  void condemn(HeldLine& held);

  Uses& uses_;
  Chunks<ObservedLine> all_lines_;
  Chunks<HeldLine> all_held_;
  Chunks<HeldLine::Passed> all_passed_;
  LineMap<ObservedLine*> lines_;
  tsl::robin_map<Key, HeldLine*, Hash> held_;
  uint64_t clock_ = 1;  // counts losses
};

}  // namespace uncore
