// The engine: one machine, one program, one run.
//
// It owns time (the queue), the fabric with its packets, the agents (cores, resolvers, memories),
// the memory image and the counters, and carries messages between agents. Agents decide; the engine
// only delivers, in the order of rule T2.
//
// Interface: construct from a machine and a job, step() until it says so, then read the outcome.
// Invariant: the outcome is a function of machine and job alone, whatever the lookahead.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/core.hh"
#include "engine/functional.hh"
#include "fabric/network.hh"
#include "interrupts/interrupts.hh"
#include "kernel/end.hh"
#include "memory/memories.hh"
#include "observe/attribution.hh"
#include "observe/counters.hh"
#include "observe/log.hh"
#include "resolver/resolver_agent.hh"
#include "services/services.hh"

namespace uncore {

class Engine {
 public:
  Engine(MachineSpec machine, JobSpec job);

  // Runs at most `events` events; false when the run has ended.
  bool step(uint64_t events);
  Time now() const { return now_; }

  // --- its parts ---
  const MachineSpec machine;
  const JobSpec job;
  const Agents agents;
  const std::unique_ptr<Log> log;                  // null unless the job asks for it
  const std::unique_ptr<Attribution> attribution;  // the same
  EventQueue queue;
  Fabric fabric;
  AddressMap map;
  Network network;
  Memories memories;
  Counters counters;
  End ending;
  Interrupts interrupts;
  Services services;

  // --- for cores and resolvers ---
  Packets& packets = network.packets;
  const Protocol& protocol() const { return protocol_; }
  bool may_load(State s) const { return protocol_.may_load(s); }
  bool may_store(State s) const { return protocol_.may_store(s); }
  State stored(State s) const { return protocol_.client(s, ClientEvent::Store).next(); }
  uint32_t threads_per_core() const { return machine.threads_per_core; }
  uint64_t threads() const { return threads_.size(); }
  Thread& thread(uint64_t id) { return *threads_[id]; }
  uint64_t ram_size() const { return ram_size_; }

  Agent resolver_above(Agent child, uint64_t line, Agent toucher) {
    return map.resolver_above(child, line, toucher);
  }

  bool fetch(uint64_t address, uint32_t& word);
  void note_probed(Kind kind) { counters.invalidations += kind != Kind::ProbeS; }
  void note_transfer(const Core& to, Agent from, uint64_t line) {
    counters.transferred(to.agent, from, line);
    if (attribution) attribution->transferred(line, from, to.agent);
  }

  // --- for the outcome ---
  // Bytes as the machine would read them: from the owner, wherever it is.
  void read(uint64_t address, std::size_t size, uint8_t* to) {
    functional_.read(address, size, to);
  }
  std::vector<std::unique_ptr<Core>>& cores() { return cores_; }
  const std::vector<std::unique_ptr<ResolverAgent>>& resolvers() const { return resolvers_; }

 private:
  void place_threads();
  void next_event();
  void dispatch(Action action, uint32_t argument, Time now);
  void arrive(PacketId id, Time now);
  void take_up(const Interrupts::Effect& effect, Time now);
  void end_run();
  void give_up(End::Cause cause);
  uint64_t doubleword(uint64_t address);

  Protocol protocol_;
  Code code_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<std::unique_ptr<ResolverAgent>> resolvers_;
  std::vector<Thread*> threads_;
  FunctionalReader functional_;
  uint64_t ram_size_ = 0;
  Time now_ = 0;
};

}  // namespace uncore
