// The pending signals of a task or of the process: those sent and not yet taken.
//
// Invariant: a signal is in set() if and only if it has a SignalInfo. As in Linux, a standard
// signal is pending at most once, a real-time signal as often as it was sent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace uncore {

// Returns the bit of a signal in a set of signals.
constexpr uint64_t signal_bit(uint64_t number) { return uint64_t{1} << (number - 1); }

struct SignalInfo {  // the fields of siginfo_t that are used
  unsigned number = 0;
  int32_t code = 0;
  // si_addr; or, as lower and upper half, si_pid and si_uid, or si_timerid and si_overrun.
  uint64_t value = 0;
  uint64_t sent = 0;  // si_value
};

class PendingSignals {
 public:
  uint64_t set() const { return set_; }
  // Adds a signal. Returns false if it is a real-time signal and too many are queued.
  bool try_add(const SignalInfo& info) {
    const bool is_pending = set_ & signal_bit(info.number);
    if (is_pending && info.number < kFirstRealTime) return true;
    if (is_pending && infos_.size() >= kMaxQueued) return false;
    set_ |= signal_bit(info.number);
    infos_.push_back(info);
    return true;
  }
  // Takes the oldest signal with this number, which must be pending.
  SignalInfo take(unsigned number) {
    const auto first = std::ranges::find(infos_, number, &SignalInfo::number);
    const SignalInfo info = *first;
    const auto next = infos_.erase(first);
    if (std::ranges::find(next, infos_.end(), number, &SignalInfo::number) == infos_.end())
      set_ &= ~signal_bit(number);
    return info;
  }
  void remove(uint64_t set) {
    set_ &= ~set;
    std::erase_if(infos_, [&](const SignalInfo& i) { return set & signal_bit(i.number); });
  }

 private:
  static constexpr unsigned kFirstRealTime = 32;
  static constexpr std::size_t kMaxQueued = 1024;  // Linux has RLIMIT_SIGPENDING instead

  uint64_t set_ = 0;
  std::vector<SignalInfo> infos_;  // signals in the order in which they were sent
};

}  // namespace uncore
