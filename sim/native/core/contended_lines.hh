// Rule C9: a contended line belongs to one hart of the core, its holder, until the core has
// answered a probe for the line.
//
//   note_requester(line, hart), begin(line, others wait), note_waiting_probe(line), end(line)
//   must_wait(line, hart), access_must_wait(line, hart, wish)    does it belong to another hart?
//   ask_in_turn(line, holder)                          afterwards, lets the harts request the line
//                                                      again
//
// Invariant: while a line is contended, the core's harts other than the holder make only the
// accesses to it that C9.6 allows. The state is in Line: `holder` and StoreObstacle::contended.
#pragma once

#include <optional>

#include "core/lines.hh"
#include "core/thread.hh"

namespace uncore {

class Core;

class ContendedLines {
 public:
  explicit ContendedLines(Core& core) : core_(core) {}

  // C9.1: records that the line is requested for this hart. If the line is contended when it
  // arrives, this hart will be its holder.
  static void note_requester(Line& line, const Thread& by) { line.holder = by.index; }
  // C9.2, C9.3: called when the line has arrived. `others_wait`: other cores wait for the line at
  // the resolver, or a probe waits for it at this core.
  static void begin(Line& line, bool others_wait) {
    line.mark(StoreObstacle::contended, others_wait);
  }
  // C9.3: called when a probe begins to wait for the end of the line's hold or lock.
  static void note_waiting_probe(Line& line) { line.mark(StoreObstacle::contended, true); }
  // C9.4: called when a probe has been answered. Returns the holder, which loses the line now;
  // nothing if the line was not contended.
  static std::optional<uint32_t> end(Line& line) {
    if (!line.is(StoreObstacle::contended)) return std::nullopt;
    line.mark(StoreObstacle::contended, false);
    return line.holder;
  }

  // C9.5: returns true if the hart's pending access must keep waiting, because the line belongs to
  // another hart.
  static bool must_wait(const Line& line, const Thread& thread) {
    return line.is(StoreObstacle::contended) && thread.index != line.holder;
  }
  // C9.6: returns true if an access that begins must wait, because the line belongs to another
  // hart. Loads need not wait, nor do the writes of a hart whose LR has locked the line.
  static bool access_must_wait(const Line& line, const Thread& thread, ClientEvent wish) {
    return wish != ClientEvent::Load && must_wait(line, thread) &&
           thread.reservation.locked != line.number;
  }

  // C9.7: lets the core's harts request the line again, in round-robin order from the hart after
  // the holder.
  void ask_in_turn(uint64_t number, uint32_t holder, Time now);

 private:
  Core& core_;
};

}  // namespace uncore
