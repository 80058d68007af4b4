#include "engine/engine.hh"

#include <algorithm>

namespace uncore {
namespace {

// A hart that neither ends nor meets anybody still comes back, for the watchdog and the user: 1 ms.
constexpr Time kLongestSlice = 1'000'000'000;

Size size_of(const Message<Bytes>& m) {
  if (m.carries) return Size::data;
  const bool snoop = is_probe(m.kind) || m.kind == Kind::Answer || m.kind == Kind::Unblock;
  return snoop ? Size::snoop : Size::control;
}

}  // namespace

Engine::Engine(MachineSpec m, JobSpec j)
    : machine(std::move(m)),
      job(std::move(j)),
      log(job.log ? std::make_unique<Log>() : nullptr),
      attribution(job.lines ? std::make_unique<Attribution>(job.placement.size()) : nullptr),
      protocol_(machine.protocol),
      fabric_(machine.stops, machine.links),
      code_(job.text_begin, job.text_size) {
  first_resolver_ = static_cast<Agent>(machine.core_stops.size());
  first_memory_ = first_resolver_ + static_cast<Agent>(machine.resolvers.size());
  ordinals_.assign(static_cast<std::size_t>(first_memory_), 0);
  parents_.resize(static_cast<std::size_t>(first_memory_));
  for (std::size_t r = 0; r < machine.resolvers.size(); ++r) {
    const ResolverSpec& spec = machine.resolvers[r];
    const auto agent = first_resolver_ + static_cast<Agent>(r);
    resolvers_.push_back(std::make_unique<ResolverAgent>(*this, agent, spec));
    for (std::size_t c = 0; c < spec.children.size(); ++c) {
      ordinals_[spec.children[c]] = static_cast<int>(c);
      parents_[spec.children[c]].push_back(agent);
    }
  }
  for (const MemorySpec& memory : machine.memories) ram_size_ += memory.size;
  memory_free_.assign(machine.memories.size(), 0);
  memory_sent_.assign(machine.memories.size(), 0);
  counters.transfers_between.assign(machine.shape.empty() ? 1 : machine.shape[0].size() + 1, 0);
  counters.transfers_stored.assign(machine.resolvers.size(), 0);
  for (std::size_t c = 0; c < machine.core_stops.size(); ++c)
    cores_.push_back(std::make_unique<Core>(*this, static_cast<Agent>(c), machine.core_stops[c]));
  for (const Segment& segment : job.segments)
    for (std::size_t i = 0; i < segment.bytes.size(); ++i) {
      const uint64_t address = segment.address + i;
      image.line(address >> kLineShift).at[address % kLineBytes] = segment.bytes[i];
    }
  place_threads();
  compute_reach();
  for (const auto& core : cores_) core->start();
}

void Engine::place_threads() {
  clints_.resize(job.placement.size());
  for (std::size_t t = 0; t < job.placement.size(); ++t) {
    Core& core = *cores_[machine.hart_cores[job.placement[t]]];
    core.add_thread(code_, static_cast<uint32_t>(t));
    Thread& thread = *core.threads.back();
    thread.hart.pc = job.entry;
    thread.guard = job.stacks + t * job.stack_stride;
    threads_.push_back(&thread);
  }
}

// The least time after which something that happens elsewhere can reach a core.
void Engine::compute_reach() {
  std::vector<bool> sources(machine.stops, false);
  for (int32_t stop : machine.core_stops) sources[stop] = true;
  for (const ResolverSpec& r : machine.resolvers)
    for (int32_t stop : r.slices) sources[stop] = true;
  std::vector<int> agents(machine.stops, 0);
  for (const auto& core : cores_) ++agents[core->stop];
  for (const ResolverSpec& r : machine.resolvers)
    for (int32_t stop : r.slices) ++agents[stop];
  for (const auto& core : cores_) {
    if (core->threads.empty() || agents[core->stop] > 1) continue;
    const Time least = fabric_.nearest(sources, core->stop);
    core->reach = least == kNever ? 1 : std::max<Time>(1, least);
  }
}

// --- time -------------------------------------------------------------------------------------

bool Engine::step(uint64_t events) {
  try {
    for (; events > 0 && end_ == End::running; --events) {
      if (queue_.empty()) {
        finish(End::stuck, stuck_report());
        break;
      }
      const Event& next = queue_.top();
      const uint32_t action = next.action, argument = next.argument;
      now_ = next.time;
      queue_.pop();
      if (job.watchdog && now_ > last_progress_ + job.watchdog) {
        finish(End::watchdog, stuck_report());
        break;
      }
      counters.events += action != kRun;  // how often a core is called depends on its slices
      dispatch(action, argument, now_);
    }
  } catch (const ProtocolError& error) {
    finish(End::protocol, error.what);
  }
  return end_ == End::running;
}

void Engine::dispatch(uint32_t action, uint32_t argument, Time now) {
  switch (action) {
    case kHop:
      return cross(argument, now);
    case kArrive:
      return arrive(argument, now);
    case kAct:
      return resolvers_[packets[argument].message.to - first_resolver_]->act(argument, now);
    case kRun:
      return cores_[argument]->run(now);
    case kRetry: {
      Packet& p = packets[argument];
      if (p.live && p.message.to < first_resolver_) cores_[p.message.to]->reconsider(argument, now);
      return;
    }
    case kRegister:
      return at_register(argument, now);
    case kExpire:
      return expire(*threads_[argument], now);
    case kEnd:
      return end_run();
    default:
      return;
  }
}

Time Engine::horizon(const Core& core, Time now) const {
  const Time next = queue_.next_time();
  const Time slice = now + std::min(job.lookahead, kLongestSlice);
  // Who touches a page first is decided in the order of events.
  const bool early = core.in_flight > 0 || job.home.kind == HomePolicy::Kind::first_touch;
  const Time reach = early ? 0 : core.reach;
  const Time free = next < kNever - reach ? next + reach : kNever;
  return std::min({free == 0 ? 0 : free - 1, slice, ends_at_});
}

void Engine::schedule_core(Core& core, Time when) {
  const auto agent = static_cast<uint64_t>(core.agent);
  queue_.push(when, event_place(agent, kCoreClass, 0), 0, kRun, static_cast<uint32_t>(agent));
}

void Engine::schedule_act(PacketId id, Time when) {
  const Packet& p = packets[id];
  queue_.push(when, p.place, p.sender, kAct, id);
}

void Engine::schedule_retry(PacketId id, Time when) {
  const Packet& p = packets[id];
  queue_.push(when, p.place, p.sender, kRetry, id);
}

// --- messages ---------------------------------------------------------------------------------

int32_t Engine::stop_of(Agent a, uint64_t line) const {
  if (a < first_resolver_) return machine.core_stops[a];
  if (a < first_memory_) return resolvers_[a - first_resolver_]->stop(line);
  return machine.memories[a - first_memory_].stop;
}

void Engine::send(const Message<Bytes>& m, int32_t from, Time when, Agent sender, uint64_t& sent) {
  const PacketId id = packets.take();
  Packet& p = packets[id];
  p.message.assign(m);
  if (is_request(m.kind)) p.message.since = when;
  p.device = Device::none;
  p.size = size_of(m);
  p.origin = sender < first_resolver_ || sender >= first_memory_ ? sender : origin;
  p.leg = fabric_.route(from, stop_of(m.to, m.line));
  p.tail = 0;
  p.retry = 0;
  p.place = event_place(static_cast<uint64_t>(m.to), class_of(m.kind), m.line);
  p.sender = event_sender(static_cast<uint64_t>(sender), ++sent);
  if (m.to < first_resolver_) ++cores_[m.to]->in_flight;
  if (log && is_request(m.kind) && !is_memory(m.to)) [[unlikely]]
    log->requested({m.from, m.id}, m.kind, m.to, m.line, when);
  travel(id, when);
}

void Engine::travel(PacketId id, Time head) {
  if (!packets[id].others.empty()) [[unlikely]]
    return fork(id, head);
  go(id, head);
}

void Engine::go(PacketId id, Time head) {
  Packet& p = packets[id];
  const Time reach = (*p.leg)[p.size].reach;
  if (p.leg->next) return queue_.push(head + reach, p.place, p.sender, kHop, id);
  Time whole = head + reach + p.tail;
  const bool device = p.device != Device::none;
  if (device && p.device != Device::value) whole += machine.interrupt.accept;
  queue_.push(whole, p.place, p.sender, device ? kRegister : kArrive, id);
}

void Engine::cross(PacketId id, Time now) {
  Packet& p = packets[id];
  const Leg& leg = *p.leg;
  const Time busy = leg[p.size].busy;
  Channel& channel = fabric_.channels[leg.channel];
  const Time start = std::max(now, channel.free);
  channel.free = start + busy;
  channel.used += busy;
  p.tail = std::max(p.tail, busy);
  p.crossed = leg.link;
  p.leg = leg.next;
  travel(id, start);
}

void Engine::arrive(PacketId id, Time now) {
  const Message<Bytes>& m = packets[id].message;
  const Agent to = m.to;
  if (log && (m.kind == Kind::Data || m.kind == Kind::Grant || m.kind == Kind::Value ||
              m.kind == Kind::PutAck)) [[unlikely]]
    log->arrived({to, m.id}, now);
  if (to < first_resolver_) return cores_[to]->receive(id, now);
  if (to < first_memory_) return resolvers_[to - first_resolver_]->arrive(id, now);
  at_memory(id, now);
}

void Engine::at_memory(PacketId id, Time now) {
  const Message<Bytes> m = packets[id].message;
  packets.drop(id);
  const auto node = static_cast<std::size_t>(m.to - first_memory_);
  const MemorySpec& memory = machine.memories[node];
  const Time start = std::max(now, memory_free_[node]);
  memory_free_[node] = start + memory.busy;
  if (m.kind != Kind::GetS) return;
  Message<Bytes> data;
  data.kind = Kind::Data;
  data.right = State::M;
  data.from = m.to;
  data.to = data.resolver = m.from;
  data.line = m.line;
  data.carries = true;
  data.data = image.line(m.line);
  send(data, memory.stop, start + memory.latency, m.to, memory_sent_[node]);
}

// --- the end ----------------------------------------------------------------------------------

void Engine::finish(End end, std::string reason) {
  if (end_ != End::running) return;
  console.end();
  end_ = end;
  reason_ = std::move(reason);
}

std::string Engine::stuck_report() const {
  std::string report;
  const auto line_of = [](uint64_t line) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(line << kLineShift));
    return std::string(text);
  };
  for (const Thread* t : threads_) {
    if (t->mode != Thread::Mode::waiting && t->buffer.empty()) continue;
    const bool blocked = t->mode == Thread::Mode::waiting && t->pending.address != 0;
    const uint64_t number =
        t->buffer.empty() || blocked ? t->pending.line() : t->buffer.head().address >> kLineShift;
    const Line* line = t->core.lines.find(number);
    const State state = line ? line->copy.state : State::I;
    report += "hart " + std::to_string(t->id) + " waits for line " + line_of(number) +
              ", which its core holds in state " +
              std::string(name::states[static_cast<std::size_t>(state)]) + ", with " +
              std::to_string(t->buffer.size()) + " stores buffered\n";
  }
  for (const auto& d : resolvers_)
    d->each([&](const ResolverAgent::Record& e) {
      if (!e.busy() && e.queue.empty()) return;
      report += "resolver " + std::to_string(d->self() - first_resolver_) + ": line " +
                line_of(e.line) + " waits for " + std::to_string(e.waiting) + " answers, " +
                std::to_string(e.queue.size()) + " requests queued\n";
    });
  return report;
}

void Engine::note_transfer(const Core& to, Agent from, uint64_t line) {
  ++counters.transfers_by_line[line];
  if (attribution) attribution->transferred(line, from, to.agent);
  if (from < 0 || is_memory(from)) {
    ++counters.transfers_memory;
  } else if (from >= first_resolver_) {
    ++counters.transfers_stored[from - first_resolver_];
  } else {
    const auto& a = machine.shape[to.agent];
    const auto& b = machine.shape[from];
    std::size_t depth = 0;
    while (depth < a.size() && a[depth] == b[depth]) ++depth;
    ++counters.transfers_between[depth];
  }
}

}  // namespace uncore
