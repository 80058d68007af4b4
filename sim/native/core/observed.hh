// Reports the events of a core to the attribution (observe/attribution.hh) and to the trace
// (observe/trace.hh), if the job asks for them.
//
//     if (observed) observed.access(thread, access, now, data);
//     if (observed) observed->missed(thread.id);            calls the attribution directly
//
// Invariant: observation changes nothing; an observed run has the same outcome as an unobserved
// one.
#pragma once

#include "coherence/client.hh"
#include "core/thread.hh"
#include "core/unwinding.hh"
#include "observe/attribution.hh"
#include "observe/trace.hh"

namespace uncore {

class Observed {
 public:
  Observed(Attribution* attribution, Trace* trace, Unwinding* unwinding, Agent core,
           const Protocol& protocol)
      : attribution_(attribution),
        trace_(trace),
        unwinding_(unwinding),
        core_(core),
        protocol_(protocol) {}

  explicit operator bool() const { return __builtin_expect(attribution_ != nullptr, false); }
  Attribution* operator->() const { return attribution_; }
  // Begins attribution in a run that began without it.
  void begin(Attribution* attribution) { attribution_ = attribution; }

  // access() reports an access that is performed. drained() reports a store, with `older` older
  // stores ahead of it, that leaves the buffer. `data`: the line's bytes before the change; empty
  // if the resolver has performed the access (C8).
  void access(const Thread& thread, const Access& access, Time now, const Bytes& data) const;
  // Reports a load or store that hits the L1 and waits for nothing. Returns false if it has to be
  // reported by access() instead.
  bool hit(uint32_t hart, const Attribution::Access& access, Time now) const {
    return !trace_ && attribution_->hit(hart, core_, access, now);
  }
  void drained(const Thread& thread, std::size_t older, Time now, const Bytes& data) const;
  void buffered(const Thread& thread, Time now) const;  // a store enters the buffer
  void began_waiting(const Thread& thread) const;       // the hart begins to wait
  void resumed(const Thread& thread, Time waited, Time then) const;
  void marked(const Thread& thread, unsigned code, uint64_t value) const;
  // Reports that the value of a register or of a far atomic has arrived.
  void answered(const Thread& thread, Time now) const;
  void ended(const Thread& thread, Time now) const;  // the run ended; the hart may be waiting
  void finished(const Thread& thread) const;         // the hart has ended the run
  uint32_t callers(
      const Thread& thread) const;  // returns the number of the hart's chain of callers
  // `counted`: the core is being measured, so the probe counts in the results (W1.1).
  void probed(const Copy& copy, const Header& probe, bool counted) const;
  void filled(uint64_t line, State state, Time now, Time held_until) const;

  // --- reports to the trace alone ---
  bool traces() const { return trace_ != nullptr; }
  void entered(uint64_t line, State before, ClientEvent event, State after, Time now) const {
    if (trace_) trace_->entered(core_, line, before, event, after, now);
  }
  void acted(uint32_t packet, Time now) const {
    if (trace_) trace_->acted(packet, now);
  }
  void record(const Thread& t, Trace::What what, Time now, uint64_t value = 0) const {
    if (trace_) trace_->hart({now, t.id, what, t.hart.pc, value});
  }

 private:
  void waited(const Thread& thread, Time now) const;
  uint32_t callers(const Thread& thread, const Frame& frame) const;

  Attribution* attribution_;
  Trace* const trace_;  // null unless the job asks for it
  Unwinding* const unwinding_;
  const Agent core_;
  const Protocol& protocol_;
};

}  // namespace uncore
