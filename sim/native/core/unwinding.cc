#include "core/unwinding.hh"

#include <tsl/robin_map.h>

#include <cstring>

#include "spec/segment_spec.hh"

namespace uncore {
namespace {

constexpr unsigned kReturn = 1, kFrame = 8;
// bounds on the instructions followed, over all paths from a pc
constexpr std::size_t kMostSteps = 4096, kFewSteps = 128;

bool branches(Op op) {
  return op == Op::beq || op == Op::bne || op == Op::blt || op == Op::bge || op == Op::bltu ||
         op == Op::bgeu;
}

}  // namespace

const unwinding::Exit& Unwinding::exit_of(uint64_t pc, bool innermost) {
  const auto known = exits_.find(key(pc, innermost));
  if (known != exits_.end()) return known->second;
  const Exit exit = find_exit(pc, innermost);
  return exits_.try_emplace(key(pc, innermost), exit).first->second;
}

// Follows paths from `pc` to a return. In an outer frame, which is after a call, ra no longer has
// the value with which the function was entered. The exit found also holds for each instruction
// that the path passed before any of the three registers changed.
unwinding::Exit Unwinding::find_exit(uint64_t pc, bool innermost) {
  Path same{.pc = pc, .exit = {}, .ra_lost = !innermost};
  std::vector<Path> paths{same};
  std::vector<uint64_t> passed;
  const auto leads_to = [&](const Exit& exit) {
    for (const uint64_t passed_pc : passed) exits_.try_emplace(key(passed_pc, innermost), exit);
    return exit;
  };
  tsl::robin_map<uint64_t, bool> visited(kFewSteps);  // key: state()
  const auto state = [](const Path& path) {
    const uint64_t spread = path.pc * 0x9E3779B97F4A7C15u;
    return spread ^ static_cast<uint64_t>(path.exit.sp.offset) << 1 ^ path.ra_lost;
  };
  while (!paths.empty()) {
    Path path = paths.back();
    paths.pop_back();
    while (visited.size() < kMostSteps && visited.try_emplace(state(path), true).second) {
      same.pc = path.pc;
      if (path == same) {
        const auto known = exits_.find(key(path.pc, innermost));
        if (known != exits_.end() && known->second.found) return leads_to(Exit(known->second));
        passed.push_back(path.pc);
      }
      const Instruction* const in = at(path.pc);
      if (!in) break;
      const Next next = follow(path, *in, paths);
      if (next == Next::returns) {
        path.exit.found = true;
        return leads_to(path.exit);
      }
      if (next == Next::ends) break;
    }
  }
  return {};
}

const Instruction* Unwinding::at(uint64_t pc) const {
  Instruction* const in = code_.find(pc);
  if (!in || pc % 2) return nullptr;
  if (in->op == Op::undecoded) *in = decode(word(pc));
  return in->op == Op::illegal || in->op == Op::undecoded ? nullptr : in;
}

// Returns the word at `pc` in the program as loaded; 0, which is not an instruction, if `pc` is
// outside it.
uint32_t Unwinding::word(uint64_t pc) const {
  uint32_t word = 0;
  for (const SegmentSpec& segment : job_.segments) {
    const uint64_t offset = pc - segment.address;
    if (offset + 2 > segment.data.size()) continue;
    std::memcpy(&word, segment.data.data() + offset,
                std::min<std::size_t>(4, segment.data.size() - offset));
    if (decode(word).op != Op::illegal) break;
  }
  return word;
}

Unwinding::Next Unwinding::follow(Path& path, const Instruction& in,
                                  std::vector<Path>& paths) const {
  if (in.op == Op::jalr && in.rd == kSink && in.rs1 != kReturn) {  // auipc and jalr: a far jump
    const Instruction* const upper = at(path.pc - 4);
    if (!upper || upper->op != Op::auipc || upper->rd != in.rs1) return Next::ends;
    path.pc += static_cast<uint64_t>(upper->imm + in.imm) - 4;
    return Next::goes_on;
  }
  if (in.op == Op::jal || in.op == Op::jalr) return jump(path, in);
  if (branches(in.op)) {
    paths.push_back(path);
    paths.back().pc += static_cast<uint64_t>(in.imm);
  }
  path.pc += in.length;
  bool known = true;
  if (in.op == Op::sd && (in.rs2 == kReturn || in.rs2 == kFrame))
    known = save(path, in);
  else if (in.rd == kStackPointer)
    known = move_stack(path, in);
  else if (in.op == Op::ld && (in.rd == kReturn || in.rd == kFrame))
    known = restore(path, in);
  else if (in.rd == kReturn)
    path.ra_lost = true;
  else if (in.rd == kFrame)
    path.exit.fp_lost = true;
  return known ? Next::goes_on : Next::ends;
}

// Follows a jump. A call is assumed to return to the next instruction. A jump into another function
// is a tail call, which returns to the caller of this function.
Unwinding::Next Unwinding::jump(Path& path, const Instruction& in) {
  const bool calls = in.rd != kSink;
  if (calls) {
    path.pc += in.length;
    path.ra_lost |= in.rd == kReturn;
    return Next::goes_on;
  }
  if (in.op == Op::jal) {
    path.pc += static_cast<uint64_t>(in.imm);
    return Next::goes_on;
  }
  const bool is_complete = !path.ra_lost && (path.exit.sp.by_fp || path.exit.sp.offset >= 0);
  return is_complete ? Next::returns : Next::ends;
}

std::optional<unwinding::Place> Unwinding::addressed_place(const Path& path,
                                                           const Instruction& in) {
  if (in.rs1 == kStackPointer) return Place{path.exit.sp.by_fp, path.exit.sp.offset + in.imm};
  if (in.rs1 == kFrame && !path.exit.fp_lost && !path.exit.fp.loaded) return Place{true, in.imm};
  return std::nullopt;
}

// Records where a register is saved. Returns false if ra is saved after it was overwritten: then
// another function begins here, because the last call does not return.
bool Unwinding::save(Path& path, const Instruction& in) {
  const bool ra = in.rs2 == kReturn;
  const auto place = addressed_place(path, in);
  if (!place) return true;
  if (ra && path.ra_lost) return false;
  if (!(ra ? path.exit.ra : path.exit.fp).loaded && !(ra ? path.ra_lost : path.exit.fp_lost))
    (ra ? path.ra_saved : path.fp_saved) = place;
  return true;
}

bool Unwinding::restore(Path& path, const Instruction& in) {
  const bool ra = in.rd == kReturn;
  bool& lost = ra ? path.ra_lost : path.exit.fp_lost;
  const auto place = addressed_place(path, in);
  lost = !place;
  if (!place) return true;
  const bool is_own = (ra ? path.ra_saved : path.fp_saved) == place;
  if (!is_own && !place->by_fp && place->offset < 0) return false;  // below sp, outside the frame
  (ra ? path.exit.ra : path.exit.fp) = is_own ? Source{} : Source{true, *place};
  return true;
}

bool Unwinding::move_stack(Path& path, const Instruction& in) {
  const auto place = in.op == Op::addi_sp ? addressed_place(path, in) : std::nullopt;
  if (place) path.exit.sp = *place;
  return place.has_value();
}

}  // namespace uncore
