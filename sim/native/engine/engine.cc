#include "engine/engine.hh"

#include <algorithm>

#include "engine/report.hh"
#include "fabric/lookahead.hh"
#include "spec/spec.hh"

namespace uncore {
namespace {

bool weak(const MachineSpec& machine) {
  return std::ranges::any_of(machine.each_core,
                             [](const CoreSpec& c) { return c.order == CoreSpec::Order::weak; });
}

}  // namespace

Engine::Engine(MachineSpec m, JobSpec j)
    : machine(std::move(m)),
      job(std::move(j)),
      agents(machine, job),
      protocol(job.protocol),
      log(job.log ? std::make_unique<Log>() : nullptr),
      attribution(job.lines ? std::make_unique<Attribution>(job.placement.size()) : nullptr),
      trace(job.trace.on ? std::make_unique<Trace>(machine, job) : nullptr),
      unwinding(attribution && job.process.present ? std::make_unique<Unwinding>(job) : nullptr),
      messages(observer(), agents),
      versions(weak(machine) ? std::make_unique<Versions>(job.chance.load) : nullptr),
      accesses(job.accesses ? std::make_unique<Accesses>(job.placement.size()) : nullptr),
      counters(machine, agents),
      queue(agents.cores()),
      end(queue),
      fabric(machine.stop_count, machine.links, machine.hashed_routes),
      map(machine, job, agents, fabric),
      network(agents, map, fabric, queue, machine.interrupt.accept, messages),
      memories(machine, agents, network),
      functional(memories.size(), agents, protocol, job.moves,
                 {cores, threads, resolvers, network, memories}),
      services(agents.harts(), queue, functional),
      interrupts(agents, network, queue, machine.interrupt.multicast, job.boot, services.console),
      os(make_os()),
      firmware(make_firmware()),
      code_(job.text_begin, job.text_size),
      watches(job.process.watches.empty()
                  ? nullptr
                  : std::make_unique<Watches>(job, code_, attribution.get())),
      context_of_cores(core_context()) {
  memories.load(job.segments);
  make_resolvers();
  make_cores();
  place_threads();
  if (os) os->begin(threads);
  if (attribution && job.process.unmarked)
    for (const Thread* thread : threads) attribution->marked(thread->id, UC_MARK_ROI_ON, 0, 0);
  if (firmware) firmware->begin(threads);
  for (const auto& core : cores) core->start();
}

Observer Engine::observer() const {
  return {.log = log.get(), .trace = trace.get(), .attribution = attribution.get()};
}

// Returns the context that all cores share.
CoreContext Engine::core_context() {
  return {.machine = machine,
          .job = job,
          .protocol = protocol,
          .map = map,
          .network = network,
          .queue = queue,
          .interrupts = interrupts,
          .memory = functional,
          .services = services,
          .end = end,
          .counters = counters,
          .attribution = attribution.get(),
          .unwinding = unwinding.get(),
          .watches = watches.get(),
          .trace = trace.get(),
          .versions = versions.get(),
          .supervisor = os ? static_cast<Supervisor*>(os.get()) : firmware.get(),
          .accesses = accesses.get()};
}

std::unique_ptr<Linux> Engine::make_os() {
  if (!job.process.present) return nullptr;
  return std::make_unique<Linux>(LinuxContext{.machine = machine,
                                              .job = job,
                                              .agents = agents,
                                              .map = map,
                                              .memory = functional,
                                              .services = services,
                                              .room = memories.size()});
}

std::unique_ptr<Firmware> Engine::make_firmware() {
  if (!job.boot.present) return nullptr;
  return std::make_unique<Firmware>(
      Firmware::Parts{.job = job, .memory = functional, .services = services});
}

void Engine::make_resolvers() {
  const ResolverContext context{.protocol = protocol,
                                .agents = agents,
                                .map = map,
                                .network = network,
                                .queue = queue,
                                .memories = memories,
                                .counters = counters,
                                .observer = ResolverObserver(observer()),
                                .versions = versions.get()};
  for (std::size_t r = 0; r < machine.resolvers.size(); ++r)
    resolvers.push_back(
        std::make_unique<ResolverAgent>(context, agents.resolver(r), machine.resolvers[r]));
}

void Engine::make_cores() {
  std::vector<Lookahead> ahead =
      job.free.empty() ? lookaheads(machine, agents) : lookaheads_at_once(agents);
  end.set_reach(std::ranges::max_element(ahead, {}, &Lookahead::farthest)->farthest);
  for (std::size_t c = 0; c < agents.cores(); ++c)
    cores.push_back(
        std::make_unique<Core>(context_of_cores, static_cast<Agent>(c), std::move(ahead[c])));
}

void Engine::place_threads() {
  for (uint32_t t = 0; t < agents.harts(); ++t) {
    Core& core = *cores[agents.core_of(t)];
    core.add_thread(code_, t);
    Thread& thread = *core.threads.back();
    thread.hart.pc = job.entry;
    thread.hart.stack.end = job.stacks + t * job.stack_stride + job.stack_guard;
    thread.hart.stack.size = job.stack_stride - job.stack_guard;
    threads.push_back(&thread);
  }
}

[[gnu::always_inline]] inline Action Engine::arrive(Packet& packet, Time now) {
  const Agent to = packet.message.to;
  messages.arrived(packet.number, packet.message, now);
  if (agents.is_core(to)) return cores[to]->receive(packet, now), Action::nothing;
  if (agents.is_memory(to)) return memories.arrive(packet, now), Action::nothing;
  return resolvers[agents.resolver_number(to)]->arrive(packet, now);
}

// Executes the present event. Returns the next action of the same packet if no other event comes
// before it, else Action::nothing.
[[gnu::always_inline]] inline Action Engine::dispatch(Action action, uint64_t subject) {
  const Time now = queue.now();
  if (action == Action::hop) return network.cross(Packet::from_subject(subject), now);
  if (action == Action::run) {  // not counted as events: their number depends on the lookahead
    ++counters.runs;
    return cores[subject]->run(now), Action::nothing;
  }
  ++counters.events;
  if (action == Action::arrive) return arrive(Packet::from_subject(subject), now);
  if (action == Action::act) {
    Packet& packet = Packet::from_subject(subject);
    return resolvers[agents.resolver_number(packet.message.to)]->act(packet, now);
  }
  return dispatch_rare(action, subject, now), Action::nothing;
}

[[gnu::noinline]] void Engine::dispatch_rare(Action action, uint64_t subject, Time now) {
  if (action >= Action::retry) subject = queue.subject_of(subject);
  const auto hart = static_cast<uint32_t>(subject);
  switch (action) {
    case Action::retry: {
      Packet& packet = Packet::from_subject(subject);
      if (packet.live && agents.is_core(packet.message.to))
        cores[packet.message.to]->probes.ask_again(packet, now);
      return;
    }
    case Action::reach:
      messages.register_arrived(Packet::from_subject(subject).number, now);
      return apply_effect(interrupts.arrived(Packet::from_subject(subject), now), now);
    case Action::expire:
      return apply_effect(interrupts.expired(hart, now), now);
    case Action::leave:
      return cores[agents.core_of(hart)]->leave(*threads[hart], now);
    case Action::end:
      return end_run(now);
    default:
      return;
  }
}

bool Engine::check_progress() {
  const bool on = os && os->has_progressed();
  if (on) services.note_progress();
  return on;
}

// Returns true if the guest has made no progress for job.watchdog. Sets the time of the next check.
bool Engine::check_watchdog() {
  patience_ = job.watchdog ? services.progress() + job.watchdog : kNever;
  return queue.now() > patience_ && !check_progress();
}

[[gnu::always_inline]] inline void Engine::execute_next_event() {
  const auto [first, subject] = queue.pop();
  if (first == Action::nothing) [[unlikely]]
    return handle_no_event();
  for (Action action = first; action != Action::nothing; action = dispatch(action, subject))
    if (queue.now() > patience_ && check_watchdog()) [[unlikely]]
      return give_up(End::Cause::watchdog);
}

bool Engine::step(uint64_t events, Time span) {
  const Time until = span < kNever - queue.now() ? queue.now() + span : kNever;
  try {
    if (parallel_) [[unlikely]]
      step_parallel(events, until);
    else
      for (; events > 0 && !end.has_come() && queue.now() <= until; --events) execute_next_event();
  } catch (const ProtocolError& error) {
    end.stop(End::Cause::protocol, error.what);
  }
  if (!end.has_come()) return true;
  services.console.end();
  return false;
}

// Performs step() while several host threads execute cores.
[[gnu::noinline]] void Engine::step_parallel(uint64_t events, Time until) {
  for (; events > 0 && !end.has_come() && queue.now() <= until; --events) {
    if (!code_.changed() && parallel_->take_try()) [[unlikely]] {
      counters.runs += parallel_->advance(until);
      services.take_kept();
    }
    execute_next_event();
  }
}

void Engine::use_host(ParallelCores::HostUse host) {
  const bool single_thread =
      log || attribution || accesses || versions || firmware || map.first_touch();
  parallel_.reset();
  if (host.shares > 1 && !single_thread)
    parallel_ = std::make_unique<ParallelCores>(cores, queue, host);
}

void Engine::type(const std::string& text, Time when) {
  std::vector<uint8_t>& typed = services.console.typed;
  typed.insert(typed.end(), text.begin(), text.end());
  interrupts.typed(when);
}

void Engine::observe() {
  parallel_.reset();
  attribution = std::make_unique<Attribution>(threads.size());
  context_of_cores.attribution = attribution.get();
  for (const auto& core : cores) {
    core->observed.begin(attribution.get());
    core->lines.begin_observation();
  }
  for (const Thread* thread : threads) {
    for (std::size_t n = thread->buffer.size(); n > 0; --n)
      attribution->buffered(thread->id, {}, queue.now());
    if (thread->mode == Thread::Mode::waiting) attribution->begin_wait(thread->id, queue.now());
  }
}

// Ends the run because no event is left, unless a kernel waits for input at the console.
void Engine::handle_no_event() {
  if (!firmware || !services.console.listens) give_up(End::Cause::stuck);
}

void Engine::give_up(End::Cause cause) { end.stop(cause, stuck_report(threads, resolvers)); }

// Applies the effect of a register message or a timer on a hart.
void Engine::apply_effect(const Interrupts::Effect& effect, Time now) {
  if (const auto* pending = std::get_if<Interrupts::Pending>(&effect)) {
    cores[agents.core_of(pending->hart)]->interrupt(*pending, now);
  } else if (const auto* answer = std::get_if<Interrupts::Answer>(&effect)) {
    Thread& thread = *threads[answer->hart];
    thread.core.waiting.complete(thread, {answer->value, 0}, now);
  } else if (const auto* order = std::get_if<Interrupts::Order>(&effect)) {
    firmware->ordered(*threads[order->requester], *threads[order->hart], now);
  }
}

// Ends the run at the time that T4.1 determines, when every core has executed up to it.
void Engine::end_run(Time now) {
  if (end.declared() == End::Cause::exited)
    for (const auto& core : cores) core->sleep.wake_all(now + 1);
  if (attribution) {
    for (const auto& core : cores)
      for (const auto& thread : core->threads) core->observed.ended(*thread, now);
    attribution->finish();
  }
  end.take_effect();
}

}  // namespace uncore
