#include "engine/engine.hh"

#include <algorithm>
#include <cstring>

#include "engine/report.hh"
#include "fabric/reach.hh"

namespace uncore {

Engine::Engine(MachineSpec m, JobSpec j)
    : machine(std::move(m)),
      job(std::move(j)),
      agents(machine, job),
      log(job.log ? std::make_unique<Log>() : nullptr),
      attribution(job.lines ? std::make_unique<Attribution>(job.placement.size()) : nullptr),
      fabric(machine.stop_count, machine.links),
      map(machine, job, agents, fabric),
      network(agents, map, fabric, queue, machine.interrupt.accept, log.get()),
      memories(machine, agents, network),
      counters(machine, agents),
      ending(queue),
      interrupts(agents, network, queue, machine.interrupt.multicast),
      services(agents.harts(), now_, [this](uint64_t address) { return doubleword(address); }),
      protocol_(job.protocol),
      code_(job.text_begin, job.text_size),
      functional_(cores_, threads_, resolvers_, protocol_, network, agents, memories) {
  for (const MemorySpec& memory : machine.memories) ram_size_ += memory.size;
  memories.load(job.segments);
  const ResolverSurroundings around{protocol_, agents,   map,      network,
                                    queue,     memories, counters, log.get()};
  for (std::size_t r = 0; r < machine.resolvers.size(); ++r)
    resolvers_.push_back(
        std::make_unique<ResolverAgent>(around, agents.resolver(r), machine.resolvers[r]));
  const std::vector<Time> reach = reaches(machine, agents, fabric);
  ending.set_reach(*std::ranges::max_element(reach));
  for (std::size_t c = 0; c < agents.cores(); ++c)
    cores_.push_back(std::make_unique<Core>(*this, static_cast<Agent>(c), reach[c]));
  place_threads();
  for (const auto& core : cores_) core->start();
}

void Engine::place_threads() {
  for (uint32_t t = 0; t < agents.harts(); ++t) {
    Core& core = *cores_[agents.core_of(t)];
    core.add_thread(code_, t);
    Thread& thread = *core.threads.back();
    thread.hart.pc = job.entry;
    thread.guard = job.stacks + t * job.stack_stride;
    threads_.push_back(&thread);
  }
}

inline void Engine::arrive(PacketId id, Time now) {
  const Message<Bytes>& m = packets[id].message;
  const Agent to = m.to;
  if (log && (m.kind == Kind::Data || m.kind == Kind::Grant || m.kind == Kind::Value ||
              m.kind == Kind::PutAck)) [[unlikely]]
    log->arrived({to, m.id}, now);
  if (agents.is_core(to)) return cores_[to]->receive(id, now);
  if (agents.is_memory(to)) return memories.arrive(id, now);
  resolvers_[agents.resolver_number(to)]->arrive(id, now);
}

inline void Engine::dispatch(Action action, uint32_t argument, Time now) {
  switch (action) {
    case Action::hop:
      return network.cross(argument, now);
    case Action::arrive:
      return arrive(argument, now);
    case Action::reach:
      return take_up(interrupts.arrived(argument, now), now);
    case Action::act:
      return resolvers_[agents.resolver_number(packets[argument].message.to)]->act(argument, now);
    case Action::retry: {
      const Packet& p = packets[argument];
      if (p.live && agents.is_core(p.message.to)) cores_[p.message.to]->reconsider(argument, now);
      return;
    }
    case Action::run:
      return cores_[argument]->run(now);
    case Action::expire:
      return take_up(interrupts.expired(argument, now), now);
    case Action::end:
      return end_run();
  }
}

inline void Engine::next_event() {
  if (queue.empty()) return give_up(End::Cause::stuck);
  const Event& next = queue.top();
  const Action action = next.action;
  const uint32_t argument = next.argument;
  now_ = next.time;
  queue.pop();
  if (job.watchdog && now_ > services.progress() + job.watchdog)
    return give_up(End::Cause::watchdog);
  counters.events += action != Action::run;  // how often a core is called depends on its slices
  dispatch(action, argument, now_);
}

bool Engine::step(uint64_t events) {
  try {
    for (; events > 0 && !ending.has_come(); --events) next_event();
  } catch (const ProtocolError& error) {
    ending.stop(End::Cause::protocol, error.what);
  }
  if (!ending.has_come()) return true;
  services.console.end();
  return false;
}

void Engine::give_up(End::Cause cause) { ending.stop(cause, stuck_report(threads_, resolvers_)); }

// What an interrupt controller has to say to a hart.
void Engine::take_up(const Interrupts::Effect& effect, Time now) {
  if (const auto* pending = std::get_if<Interrupts::Pending>(&effect)) {
    cores_[agents.core_of(pending->hart)]->interrupt(*pending, now);
  } else if (const auto* answer = std::get_if<Interrupts::Answer>(&effect)) {
    Thread& thread = *threads_[answer->hart];
    thread.core.answered(thread, {answer->value}, now);
  }
}

// What a hart did to end the run has reached every core.
void Engine::end_run() {
  if (ending.declared() == End::Cause::exited)
    for (const auto& core : cores_) core->wake_sleepers(now_ + 1);
  if (attribution) {
    for (const auto& core : cores_) core->observe_end(now_);
    attribution->finish();
  }
  ending.come();
}

uint64_t Engine::doubleword(uint64_t address) {
  uint64_t value = 0;
  read(address, sizeof value, reinterpret_cast<uint8_t*>(&value));
  return value;
}

bool Engine::fetch(uint64_t address, uint32_t& word) {
  if (address < kRamBase || address - kRamBase + 2 > ram_size_) return false;
  uint8_t bytes[4] = {0, 0, 0, 0};
  read(address, address - kRamBase + 4 > ram_size_ ? 2 : 4, bytes);
  std::memcpy(&word, bytes, 4);
  return true;
}

}  // namespace uncore
