#include "observe/message_observer.hh"

#include "observe/log.hh"

namespace uncore {

void MessageObserver::note_sent(uint32_t packet, const Header& m, Time when) const {
  if (is_request(m.kind) && !agents_.is_memory(m.to))
    log->requested({m.from, m.id}, m.kind, m.to, m.line, when);
  if (trace) trace->sent(packet, m, when);
}

void MessageObserver::note_arrived(uint32_t packet, const Header& m, Time now) const {
  if (m.kind == Kind::Data || m.kind == Kind::Grant || m.kind == Kind::Value ||
      m.kind == Kind::PutAck)
    log->arrived({m.to, m.id}, now);
  if (trace) trace->arrived(packet, now);
}

}  // namespace uncore
