// Rule C8 at the core: atomics that are done where their line's data are.
//
//   goes_far() decides, send() asks, receive_value() takes the old value;
//   post() and leave_buffer() for posted atomics, which their hart does not wait for (C8.5)
//
// Invariant: posted atomics for one line that are under way together stand together at the head of
// their buffer; the one path to the line's resolver keeps them in order (F5).
#pragma once

#include "core/context.hh"
#include "core/thread.hh"

namespace uncore {

class Core;
class Line;

class FarAtomics {
 public:
  explicit FarAtomics(Core& core) : core_(core) {}

  // Returns whether an AMO goes far: each one (C8.9), or each on a line that the core does not hold
  // alone (C8.1); none while the core's request or Put of the line is under way (C8.10).
  bool goes_far(const Access& access) const;
  void send(Thread& thread, const Access& access, Time now);
  void receive_value(const Message<Bytes>& m, Time now);

  // post() returns false if the store buffer is full, leave_buffer() if the posted atomic at the
  // head of the buffer cannot leave it yet.
  bool post(Thread& thread, const Access& access, Time now);
  bool leave_buffer(Thread& thread, Time now);

 private:
  // goes_far() for an AMO of a core that has far atomics.
  [[gnu::noinline]] bool is_sent(const Access& access) const;
  uint32_t ask(const Access& access, Time now);
  void send_posted(Thread& thread, Time now);
  void make_visible(Thread& thread, Line* line, Time now);

  Core& core_;
};

}  // namespace uncore
