// Watches functions that the job names. When a program enters or leaves one, the measured part
// begins or ends (K15), an operation counts as done, or an allocation is recorded.
//
// A call has returned when a hart reaches its return address with the stack pointer that it had on
// entry. So nested calls are distinguished, and a thread may return on another hart. Nothing here
// takes simulated time.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>

#include "hart/code.hh"
#include "observe/attribution.hh"
#include "spec/job_spec.hh"
#include "spec/watch_spec.hh"

namespace uncore {

class Thread;

class Watches {
 public:
  Watches(const JobSpec& job, Code& code, Attribution* attribution);

  // Called when the hart is about to execute a watched instruction.
  void arrived(Thread& thread);

 private:
  using What = WatchSpec::What;
  struct Call {
    uint64_t ra = 0, sp = 0;
    bool operator==(const Call&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Call& call) const {
      const uint64_t hash = (call.ra ^ call.sp << 7) * 0x9E3779B97F4A7C15u;
      return hash ^ hash >> 32;
    }
  };
  struct EnteredCall {
    bool begins = false, operates = false, allocates = false;
    uint64_t size = 0;     // number of bytes that the call allocates
    uint32_t callers = 0;  // number of the call chain that allocates
  };

  void enter(Thread& thread, What what);
  void leave(Thread& thread, const EnteredCall& entered);
  EnteredCall& called(const Thread& thread);

  const JobSpec& job_;
  Code& code_;
  Attribution* const attribution_;
  // True if the job names functions of this kind.
  bool begins_ = false, ends_ = false, operates_ = false;
  tsl::robin_map<Call, EnteredCall, Hash> entered_;
};

}  // namespace uncore
