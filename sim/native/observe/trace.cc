#include "observe/trace.hh"

namespace uncore {

// Records a message if it is within the trace's window. A message about a register has no line, so
// only its time is compared with the window.
void Trace::sent(uint32_t packet, const SentMessage& m) {
  if (packet >= under_way_.size()) under_way_.resize(packet + 1, kNone);
  const bool chosen = m.kind >= kRegister ? within(m.sent) : selected(m.header.line, m.sent);
  under_way_[packet] = chosen ? static_cast<uint32_t>(messages.size()) : kNone;
  if (chosen) messages.push_back(m);
}

// Records a change of a copy's state. It skips accesses that do not change the state, because
// performed() records accesses.
void Trace::entered(Agent agent, uint64_t line, State before, ClientEvent event, State after,
                    Time now) {
  if (before == after && event <= ClientEvent::Amo) return;
  if (!lines_.empty() && !is_traced(line)) return;
  if (now < from_)
    before_[line][agent] = after;
  else if (now <= until_)
    changes.push_back({now, agent, line, before, event, after});
}

std::vector<Trace::HeldState> Trace::held() const {
  std::vector<HeldState> all;
  for (const auto& [line, copies] : before_)
    for (const auto& [agent, state] : copies)
      if (state != State::I) all.push_back({agent, line, state});
  std::ranges::sort(all, {}, [](const HeldState& h) { return std::pair(h.line, h.agent); });
  return all;
}

}  // namespace uncore
