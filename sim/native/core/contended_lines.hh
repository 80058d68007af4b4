// Rule C9: a contended line belongs to one hart, its holder, until a probe of it has been answered.
//
//   note_requester(line, hart), begin(line, others wait), note_waiting_probe(line), end(line)
//   bars(line, hart), bars_access(line, hart, wish)     is it another hart's?
//   ask_in_turn(line, holder)                           lets the harts ask for it again afterwards
//
// Invariant: while a line is contended, no hart of the core but its holder gets anything of it that
// C9.6 does not allow. The state is in Line: `holder` and Special::contended.
#pragma once

#include <optional>

#include "core/lines.hh"
#include "core/thread.hh"

namespace uncore {

class Core;

class ContendedLines {
 public:
  explicit ContendedLines(Core& core) : core_(core) {}

  // C9.1: should others wait for the line when it comes, this hart will be its holder.
  static void note_requester(Line& line, const Thread& by) { line.holder = by.index; }
  // C9.2, C9.3: the line has come; others wait above, or a probe waits here.
  static void begin(Line& line, bool others_wait) { line.mark(Special::contended, others_wait); }
  // C9.3: a probe begins to wait for the line's hold or lock.
  static void note_waiting_probe(Line& line) { line.mark(Special::contended, true); }
  // C9.4: a probe has been answered. Returns the holder, which loses the line, if it had one.
  static std::optional<uint32_t> end(Line& line) {
    if (!line.is(Special::contended)) return std::nullopt;
    line.mark(Special::contended, false);
    return line.holder;
  }

  // C9.5: must this hart's waiting access go on waiting, because the line is another's?
  static bool bars(const Line& line, const Thread& thread) {
    return line.is(Special::contended) && thread.index != line.holder;
  }
  // C9.6: the same for an access that begins: loads are not barred, nor the writes of a hart whose
  // LR has the lock.
  static bool bars_access(const Line& line, const Thread& thread, ClientEvent wish) {
    return wish != ClientEvent::Load && bars(line, thread) &&
           thread.reservation.locked != line.number;
  }

  // C9.7: the core's harts ask for the line again, in a circle that begins behind the holder.
  void ask_in_turn(uint64_t number, uint32_t holder, Time now);

 private:
  Core& core_;
};

}  // namespace uncore
