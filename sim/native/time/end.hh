// The end of a run: its cause and its time (rule T4).
//
// A hart ends a run, for example by the exit call. The run then continues until the effect of this
// action could have reached every core, and no core runs past that time. Harts run ahead of each
// other, so the first hart to declare the end need not be the first in simulated time: the earliest
// declaration ends the run, on ties that of the lower hart. The engine itself (when no event is
// left, the watchdog expires or the protocol fails) ends the run at once.
//
// Interface: declare() schedules an event, at which the engine calls take_effect(); stop() ends the
// run at once; cause(), code() and reason() tell why it ended. Invariant: after take_effect() or
// stop() they do not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "time/queue.hh"

namespace uncore {

class End {
 public:
  enum class Cause : uint8_t { none, exited, fatal, stuck, watchdog, protocol };

  explicit End(EventQueue& queue) : queue_(queue) {}

  // `reach`: the longest time that the effect of a hart's action takes to reach any core (T4.1).
  void set_reach(Time reach) { reach_ = reach; }

  struct DeclaredEnd {
    Cause cause = Cause::none;
    int code = 0;  // exit code of the guest, if it exited
    std::string reason;
    Time at = kNever;
    uint64_t hart = ~uint64_t{0};  // position of the hart in the machine, which decides ties
  };
  void declare(DeclaredEnd declaration) {
    if (std::tie(declared_.at, declared_.hart) < std::tie(declaration.at, declaration.hart)) return;
    declared_ = std::move(declaration);
    time_ = declared_.at + reach_;
    queue_.push(time_, {~uint64_t{0}, ~uint64_t{0}}, Action::end, 0);
  }
  // Returns the time past which no core runs; kNever if no hart has declared the end.
  Time time() const { return time_; }
  // Makes the declared end take effect.
  void take_effect() { has_come_ = true; }
  void stop(Cause cause, std::string reason) {
    if (has_come_) return;
    declared_ = {.cause = cause, .reason = std::move(reason)};
    has_come_ = true;
  }

  bool has_come() const { return has_come_; }
  Cause cause() const { return has_come_ ? declared_.cause : Cause::none; }
  // Returns the cause's name, which Python and web pages read.
  const char* name() const {
    constexpr const char* names[] = {"running", "exited", "fatal", "stuck", "watchdog", "protocol"};
    return names[static_cast<std::size_t>(cause())];
  }
  Cause declared() const { return declared_.cause; }
  int code() const { return has_come_ ? declared_.code : 0; }
  std::string reason() const { return has_come_ ? declared_.reason : std::string(); }

 private:
  EventQueue& queue_;
  DeclaredEnd declared_;
  Time reach_ = 0, time_ = kNever;
  bool has_come_ = false;
};

}  // namespace uncore
