#include "engine/report.hh"

#include <cstdio>

namespace uncore {
namespace {

std::string address_of(uint64_t line) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(line << kUnitShift));
  return text;
}

std::string waits(const Thread& t) {
  const bool blocked = t.mode == Thread::Mode::waiting && t.pending.address != 0;
  const uint64_t number = t.buffer.empty() || blocked ? t.pending.line : t.buffer.head().line;
  const Line* line = t.core.lines.find(number);
  const State state = line ? line->copy.state : State::I;
  return "hart " + std::to_string(t.id) + " waits for line " + address_of(number) +
         ", which its core holds in state " + t.core.context.protocol.name(state) + ", with " +
         std::to_string(t.buffer.size()) + " stores buffered\n";
}

std::string waits(std::size_t resolver, const TimedEntry& e) {
  return "resolver " + std::to_string(resolver) + ": line " + address_of(e.line) + " waits for " +
         std::to_string(e.poll.waiting) + " answers, " + std::to_string(e.queue.size()) +
         " requests queued\n";
}

}  // namespace

std::string stuck_report(const std::vector<Thread*>& threads,
                         const std::vector<std::unique_ptr<ResolverAgent>>& resolvers) {
  std::string report;
  for (const Thread* t : threads)
    if (t->mode == Thread::Mode::waiting || !t->buffer.empty()) report += waits(*t);
  for (std::size_t r = 0; r < resolvers.size(); ++r)
    resolvers[r]->entries().each([&](const TimedEntry& e) {
      if (e.busy() || !e.queue.empty()) report += waits(r, e);
    });
  return report;
}

}  // namespace uncore
