// The client's view of one line of a core during one call of its protocol logic: the `Env` of
// coherence/client.hh.
//
// `now` is the time of the call; messages that the client sends leave the core at `leaves`.
// Invariant: if a line's next state forbids loads or stores, the line is taken out of the fast
// paths here (Lines::recent, StoreObstacle::unwritten), before its state changes.
#pragma once

#include "core/core.hh"

namespace uncore {

class AtLine {
 public:
  using Data = Bytes;

  // `line` is null if the core no longer has the line when a late probe arrives (C3.2), and for a
  // far atomic, which does not touch the core's copy (C8.1).
  AtLine(Core& core, uint64_t number, Line* line, Time now, Time leaves)
      : core_(core),
        number_(number),
        line_(line),
        here_(line ? line->data() : Bytes{}),
        now_(now),
        leaves_(leaves) {}

  const Protocol& protocol() const { return core_.context.protocol; }
  Agent self() const { return core_.agent; }
  uint64_t number() const { return number_; }
  Agent above() const {
    return core_.context.map.resolver_above(core_.agent, number_, core_.agent);
  }
  uint32_t next_request() { return core_.caches.next_request(); }
  void send(const Message<Bytes>& m) { core_.caches.send(m, leaves_); }
  const Bytes* data() const { return shares() ? &here_ : nullptr; }
  bool shares() const { return line_ && protocol().holds_copy(line_->copy.state); }
  bool needs_data() const { return false; }
  bool stays_below() const { return false; }
  void fill(const Bytes& data) { here_.fill(data); }
  [[gnu::always_inline]] void entered(ClientEvent event, State next) {
    if (core_.observed) [[unlikely]]
      tell(core_, number_, line_, event, next, now_);
    if (!line_) return;
    if (!protocol().may_load(next)) {
      if (line_->watchers) core_.sleep.wake_watchers(*line_, now_);
      core_.lines.hide(*line_);
    }
    line_->mark(StoreObstacle::unwritten, !protocol().is_written(next));
  }

 private:
  [[gnu::noinline]] static void tell(const Core& core, uint64_t number, const Line* line,
                                     ClientEvent event, State next, Time now) {
    core.observed.entered(number, line ? line->copy.state : State::I, event, next, now);
  }

  Core& core_;
  const uint64_t number_;
  Line* const line_;
  const Bytes here_;
  const Time now_, leaves_;
};

using CoreClient = Client<AtLine>;

}  // namespace uncore
