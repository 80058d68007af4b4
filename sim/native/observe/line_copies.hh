// The copies of each line: which core passed them to which, and which of them moved no value.
//
// A miss is *needless* if its copy had been taken by another core, and until it is taken again the
// core touches no byte that others have written since, and writes none that others have touched:
// then the line moved, but no value did. These are the useless misses of Dubois et al., "The
// Detection and Elimination of Useless Misses in Multiprocessors" (1993), byte by byte.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "coherence/message.hh"
#include "observe/uses.hh"

namespace uncore {

class LineCopies {
 public:
  // Needless misses are counted in the rows of `uses`.
  explicit LineCopies(Uses& uses) : uses_(uses) {}

  // An access in a row of uses to some bytes; where it missed, what it waited.
  struct Accessed {
    std::size_t use;
    uint64_t bytes;  // a bit each
    bool writes, missed;
    Time waited;
  };
  void accessed(Agent core, const Accessed& access);

  // What a probe takes from a core.
  struct Loss {
    bool copy = false, right = false;
  };
  void transferred(uint64_t number, Agent from, Agent to);
  void probed(Agent core, uint64_t number, bool invalidates, Loss loss);
  void filled(Agent core, uint64_t number, bool writable);
  void evicted(Agent core, uint64_t number);
  void finish();  // no copy is taken any more

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
    Agent core[2] = {kNobody, kNobody};
    uint64_t at[2] = {0, 0};
    void note(Agent by, uint64_t now);
    bool others_since(Agent than, uint64_t then) const { return at[core[0] == than] > then; }
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

  Shared& line(uint64_t number);
  void condemn(Held& held);

  Uses& uses_;
  tsl::robin_map<uint64_t, std::unique_ptr<Shared>> shared_;
  uint64_t clock_ = 0;  // orders what happens to a line
};

}  // namespace uncore
