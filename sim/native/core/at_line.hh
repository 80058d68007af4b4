// A core's line as the client logic sees it during one call (coherence/client.hh): with the time of
// the call, and when the messages that it sends leave the core.
#pragma once

#include "core/core.hh"

namespace uncore {

class AtLine {
 public:
  using Data = Bytes;

  // `line`: null where the core has none, and a probe asks for it all the same.
  AtLine(Core& core, uint64_t number, Line* line, Time now, Time leaves)
      : core_(core), number_(number), line_(line), now_(now), leaves_(leaves) {}

  const Protocol& protocol() const { return core_.around.protocol; }
  Agent self() const { return core_.agent; }
  uint64_t number() const { return number_; }
  Agent above() const { return core_.around.map.resolver_above(core_.agent, number_, core_.agent); }
  uint32_t next_request() { return core_.caches.next_request(); }
  void send(const Message<Bytes>& m) { core_.caches.send(m, leaves_); }
  const Bytes* data() const { return shares() ? &line_->data : nullptr; }
  bool shares() const { return line_ && protocol().holds_copy(line_->copy.state); }
  bool needs_data() const { return false; }
  void fill(const Bytes& data) { line_->data = data; }
  void enters(ClientEvent event, State next) {
    if (core_.observed) [[unlikely]]
      core_.observed.enters(number_, line_ ? line_->copy.state : State::I, event, next, now_);
    if (!line_) return;
    if (!protocol().may_load(next)) {
      if (line_->watchers) core_.sleep.wake_watchers(*line_, now_);
      core_.lines.hide(*line_);
    }
    line_->mark(Special::unwritten, !protocol().is_written(next));
  }

 private:
  Core& core_;
  const uint64_t number_;
  Line* const line_;
  const Time now_, leaves_;
};

using CoreClient = Client<AtLine>;

}  // namespace uncore
