// The engine: executes one run of one program on one machine.
//
// It owns the parts, connects them, and dispatches each event to its part, in the order of rule T2.
// The engine itself contains no rule of the model.
//
// Interface: construct from a machine and a job, step() until it returns false, then read the
// outcome from the parts. Invariant: the outcome is a function of machine and job alone; the
// lookahead does not change it.
#pragma once

#include <memory>
#include <vector>

#include "core/core.hh"
#include "engine/newest_bytes.hh"
#include "engine/parallel_cores.hh"
#include "fabric/network.hh"
#include "interrupts/interrupts.hh"
#include "memory/memories.hh"
#include "memory/versions.hh"
#include "observe/accesses.hh"
#include "observe/attribution.hh"
#include "observe/counters.hh"
#include "observe/log.hh"
#include "observe/message_observer.hh"
#include "observe/trace.hh"
#include "os/linux.hh"
#include "resolver/resolver_agent.hh"
#include "sbi/firmware.hh"
#include "services/services.hh"
#include "spec/job_spec.hh"
#include "spec/machine_spec.hh"
#include "time/end.hh"

namespace uncore {

class Engine {
 public:
  Engine(MachineSpec machine, JobSpec job);

  // Executes at most `events` events, and stops after the first event that is more than `span` ps
  // later than now. Returns false when the run has ended.
  bool step(uint64_t events, Time span);

  // Makes several host threads execute cores from now on. It has no effect if the run records a
  // log, lines or accesses, has a weakly ordered core, boots a kernel, or places pages by first
  // touch.
  void use_host(ParallelCores::HostUse host);
  ParallelCores::ShareTotals parallel() const {
    return parallel_ ? parallel_->worth() : ParallelCores::ShareTotals();
  }

  // Types `text` at the console of a booted kernel, at time `when`.
  void type(const std::string& text, Time when);

  // Attributes every access from now on (observe/attribution.hh). The outcome stays the same.
  void observe();

  // The parts. Their order matters, because the constructor of each may use those before it.
  const MachineSpec machine;
  const JobSpec job;
  const Agents agents;
  const Protocol protocol;
  const std::unique_ptr<Log> log;  // null unless the job requests it
  // Null unless the job requests it or observe() was called.
  std::unique_ptr<Attribution> attribution;
  // Null unless the job requests it; if not null, attribution is not null either.
  const std::unique_ptr<Trace> trace;
  const std::unique_ptr<Unwinding> unwinding;  // null unless a Linux program is attributed
  const MessageObserver messages;              // reports messages to the log and the trace
  const std::unique_ptr<Versions> versions;    // null unless a core is weakly ordered
  const std::unique_ptr<Accesses> accesses;    // null unless the job requests them
  Counters counters;
  EventQueue queue;
  End end;
  Fabric fabric;
  AddressMap map;
  Network network;
  Memories memories;
  std::vector<std::unique_ptr<Core>> cores;
  std::vector<Thread*> threads;  // indexed by the job's thread number
  std::vector<std::unique_ptr<ResolverAgent>> resolvers;
  NewestBytes functional;
  Services services;
  Interrupts interrupts;
  std::unique_ptr<Linux> os;           // null unless the program is a Linux program
  std::unique_ptr<Firmware> firmware;  // null unless the program is a kernel itself

 private:
  Code code_;
  Time patience_ = 0;  // the watchdog checks the guest's progress again after this time
  std::unique_ptr<ParallelCores> parallel_;  // null if one host thread does everything

 public:
  const std::unique_ptr<Watches> watches;  // null unless functions are watched
  CoreContext context_of_cores;

 private:
  Observer observer() const;
  CoreContext core_context();
  std::unique_ptr<Linux> make_os();
  std::unique_ptr<Firmware> make_firmware();
  void make_resolvers();
  void make_cores();
  void place_threads();
  void execute_next_event();
  void step_parallel(uint64_t events, Time until);
  Action dispatch(Action action, uint64_t subject);
  Action arrive(Packet& packet, Time now);
  void dispatch_rare(Action action, uint64_t subject, Time now);
  void apply_effect(const Interrupts::Effect& effect, Time now);
  void end_run(Time now);
  void handle_no_event();
  bool check_watchdog();
  bool check_progress();  // returns true if a program without markers makes progress
  void give_up(End::Cause cause);
};

}  // namespace uncore
