// Finds the callers of the code that a hart executes. It uses neither debug information nor frame
// pointers, because C libraries may lack both.
//
// Before a function returns, it restores what its caller needs: sp, ra and s0. So some path through
// the code is followed from an instruction to a return, which shows where the values of these three
// registers come from. The result is the same for every execution of the instruction, and is
// computed once.
//
// Interface: callers(frame, read) returns return addresses, the innermost first. read(address,
// word) reads a doubleword of the stack, or returns false if it cannot.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "hart/code.hh"
#include "observe/callers.hh"
#include "spec/job_spec.hh"

namespace uncore {

namespace unwinding {

// An address in a frame, as an offset from sp or, if `by_fp`, from s0.
struct Place {
  bool by_fp = false;
  int64_t offset = 0;
  bool operator==(const Place&) const = default;
};

struct Source {
  bool loaded = false;  // true: loaded from `from`; false: the register has kept its value
  Place from;
  bool operator==(const Source&) const = default;
};

struct Exit {
  bool found = false, fp_lost = false;
  Place sp;
  Source ra, fp;
  bool operator==(const Exit&) const = default;
};

// A position on a path to an exit, and what is known of the three registers there.
struct Path {
  uint64_t pc;
  Exit exit;
  bool ra_lost;
  std::optional<Place> ra_saved{}, fp_saved{};  // places where this path has saved ra and s0
  bool operator==(const Path&) const = default;
};

}  // namespace unwinding

class Unwinding {
 public:
  explicit Unwinding(const JobSpec& job) : job_(job), code_(job.text_begin, job.text_size) {}

  template <class Read>
  Callers callers(Frame frame, Read read) {
    Callers found;
    std::size_t depth = 0;
    walk(frame, read,
         [&](uint64_t ra) { return found.addresses[depth] = ra, ++depth < Callers::kDepth; });
    return found;
  }
  // Calls visit(address) with each return address, the innermost first, until it returns false.
  template <class Read, class Visit>
  void walk(Frame frame, Read read, Visit visit) {
    for (bool innermost = true;; innermost = false) {
      const Exit& exit = exit_of(frame.pc, innermost);
      if (!exit.found) return;
      const auto value = [&](const Source& s, uint64_t kept) -> std::optional<uint64_t> {
        if (!s.loaded) return kept;
        uint64_t word = 0;
        return read(base(frame, s.from), word) ? std::optional(word) : std::nullopt;
      };
      const auto ra = value(exit.ra, frame.ra), fp = value(exit.fp, frame.fp);
      if (!ra || !fp || !is_code(*ra) || !visit(*ra)) return;
      frame = {*ra, 0, base(frame, exit.sp), exit.fp_lost ? 0 : *fp};
    }
  }

 private:
  using Place = unwinding::Place;
  using Source = unwinding::Source;
  using Exit = unwinding::Exit;
  using Path = unwinding::Path;
  enum class Next : uint8_t { goes_on, returns, ends };

  static uint64_t base(const Frame& frame, const Place& place) {
    return (place.by_fp ? frame.fp : frame.sp) + static_cast<uint64_t>(place.offset);
  }
  bool is_code(uint64_t address) const {
    return address - job_.text_begin < job_.text_size && address % 2 == 0;
  }
  static uint64_t key(uint64_t pc, bool innermost) { return pc << 1 | innermost; }
  const Exit& exit_of(uint64_t pc, bool innermost);
  Exit find_exit(uint64_t pc, bool innermost);
  const Instruction* at(uint64_t pc) const;  // null if the program has no instruction there
  uint32_t word(uint64_t pc) const;
  Next follow(Path& path, const Instruction& in, std::vector<Path>& paths) const;
  static Next jump(Path& path, const Instruction& in);
  static bool restore(Path& path, const Instruction& in);
  static bool save(Path& path, const Instruction& in);
  static bool move_stack(Path& path, const Instruction& in);
  static std::optional<Place> addressed_place(const Path& path, const Instruction& in);

  const JobSpec& job_;
  const Code code_;                       // code decoded to follow paths; harts have their own
  tsl::robin_map<uint64_t, Exit> exits_;  // exits found so far; see key()
};

}  // namespace uncore
