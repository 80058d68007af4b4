// The resource limits of the process (getrlimit). RLIMIT_NOFILE and RLIMIT_RTPRIO have an effect;
// the latter is infinite at first, so that the user may have SCHED_FIFO and SCHED_RR (K7.1).
//
// Invariant: a soft limit is not above its hard limit, and no hard limit ever grows.
#pragma once

#include <array>
#include <cstdint>

#include "os/uapi.hh"

namespace uncore {

enum : uint64_t { RLIMIT_STACK = 3, RLIMIT_NOFILE = 7, RLIMIT_RTPRIO = 14, RLIM_NLIMITS = 16 };

class Limits {
 public:
  struct Limit {  // struct rlimit
    uint64_t soft = ~uint64_t{0}, hard = ~uint64_t{0};
  };

  explicit Limits(uint64_t stack_size) {
    limits_[RLIMIT_STACK] = {stack_size, stack_size};
    limits_[RLIMIT_NOFILE] = {1024, 1024};
  }

  const Limit& get(uint64_t resource) const { return limits_[resource]; }
  uint64_t descriptors() const { return limits_[RLIMIT_NOFILE].soft; }
  // Sets a limit. Returns -EPERM if the hard limit would rise, which only root may do.
  int64_t set(uint64_t resource, const Limit& limit) {
    if (limit.soft > limit.hard) return -EINVAL;
    if (limit.hard > limits_[resource].hard) return -EPERM;
    limits_[resource] = limit;
    return 0;
  }

 private:
  std::array<Limit, RLIM_NLIMITS> limits_{};
};

}  // namespace uncore
