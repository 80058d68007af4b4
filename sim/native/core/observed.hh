// What a core tells the attribution (observe/attribution.hh), where the job asks for one.
//
//     if (observed) observed.access(thread, access, now);
//     if (observed) observed->missed(thread.id);            what it is told as it is
//
// Nothing here decides anything.
#pragma once

#include "coherence/client.hh"
#include "core/thread.hh"
#include "observe/attribution.hh"

namespace uncore {

class Observed {
 public:
  Observed(Attribution* by, Agent core, const Protocol& protocol)
      : by_(by), core_(core), protocol_(protocol) {}

  explicit operator bool() const { return by_ != nullptr; }
  Attribution* operator->() const { return by_; }

  void access(const Thread& thread, const Access& access, Time now) const;  // is performed
  void drained(const Thread& thread, Time now) const;   // the oldest store leaves the buffer
  void answered(const Thread& thread, Time now) const;  // what it asked for has come
  void ended(const Thread& thread, Time now) const;     // the run, and it may be waiting
  void probed(const Copy& copy, const Header& probe) const;

 private:
  void waited(const Thread& thread, Time now) const;

  Attribution* const by_;
  const Agent core_;
  const Protocol& protocol_;
};

}  // namespace uncore
