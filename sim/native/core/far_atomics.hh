// The core's part of rule C8: far atomics, which the resolver performs where the line's data are.
//
//   goes_far() decides, send() sends the operation, receive_value() takes the old value;
//   post() and leave_buffer() for posted atomics, which their hart does not wait for (C8.5)
//
// Invariant: posted atomics to one line that are in flight at the same time are adjacent entries at
// the head of their buffer. All take the same path to the line's resolver, which keeps them in
// order (F5).
#pragma once

#include "core/context.hh"
#include "core/thread.hh"

namespace uncore {

class Core;
class Line;

class FarAtomics {
 public:
  explicit FarAtomics(Core& core) : core_(core) {}

  // Returns true if the resolver performs this AMO: depending on the core, every AMO (C8.9) or
  // those to lines that the core does not hold alone (C8.1). Returns false while a request or Put
  // of the core for the line is in flight (C8.10).
  bool goes_far(const Access& access) const;
  void send(Thread& thread, const Access& access, Time now);
  void receive_value(const Message<Bytes>& m, Time now);

  // post() returns false if the store buffer is full; leave_buffer() returns false if the posted
  // atomic at the head of the buffer cannot leave it yet.
  bool post(Thread& thread, const Access& access, Time now);
  bool leave_buffer(Thread& thread, Time now);

 private:
  // Decides for goes_far() if the access is an AMO and the core has far atomics.
  [[gnu::noinline]] bool is_sent(const Access& access) const;
  uint32_t ask(const Access& access, Time now);
  void send_posted(Thread& thread, Time now);
  void make_visible(Thread& thread, Line* line, Time now);

  Core& core_;
};

}  // namespace uncore
