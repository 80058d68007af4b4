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
#include "engine/image.hh"
#include "engine/packet.hh"
#include "engine/resolver_agent.hh"
#include "engine/spec.hh"
#include "fabric/fabric.hh"
#include "guest/clint.hh"
#include "guest/console.hh"
#include "kernel/line_map.hh"
#include "kernel/queue.hh"
#include "observe/attribution.hh"
#include "observe/latencies.hh"
#include "observe/log.hh"

namespace uncore {

enum class End : uint8_t { running, exited, fatal, stuck, watchdog, protocol };

// What a hart did to end the run, and when.
struct Ending {
  End end = End::running;
  int code = 0;
  std::string reason;
  Time at = kNever;
  uint64_t hart = ~uint64_t{0};  // its position in the machine: the first on ties
};

struct Counters {
  uint64_t events = 0, transactions = 0;
  uint64_t operations = 0;                  // that the guest marked as done
  uint64_t invalidations = 0;               // copies taken away by ProbeM or Inv
  std::vector<uint64_t> transfers_between;  // fills from another core, by depth of the common level
  std::vector<uint64_t> transfers_stored;   // fills from a resolver's data, by resolver
  uint64_t transfers_memory = 0;
  LineMap<uint64_t> transfers_by_line;  // fills, by line
};

// The classes of rule T2 that messages do not have of themselves.
inline constexpr unsigned kInterruptClass = 3, kCoreClass = 4;

class Engine {
 public:
  Engine(MachineSpec machine, JobSpec job);

  // Runs at most `events` events; false when the run has ended.
  bool step(uint64_t events);
  End end() const { return end_; }
  int exit_code() const { return exit_code_; }
  const std::string& reason() const { return reason_; }
  Time now() const { return now_; }
  bool stopped() const { return end_ != End::running; }

  // --- for cores and resolvers ---
  const MachineSpec machine;
  const JobSpec job;
  Packets packets;
  Image image;
  Counters counters;
  Console console;
  Agent origin = kNobody;                          // of the data that a resolver sends now
  const std::unique_ptr<Log> log;                  // null unless the job asks for it
  const std::unique_ptr<Attribution> attribution;  // the same

  const Protocol& protocol() const { return protocol_; }
  bool may_load(State s) const { return protocol_.may_load(s); }
  bool may_store(State s) const { return protocol_.may_store(s); }
  State stored(State s) const { return protocol_.client(s, ClientEvent::Store).next(); }
  uint32_t threads_per_core() const { return machine.threads_per_core; }
  uint64_t threads() const { return threads_.size(); }
  Thread& thread(uint64_t id) { return *threads_[id]; }
  uint64_t ram_size() const { return ram_size_; }

  void send(const Message<Bytes>& m, int32_t from, Time when, Agent sender, uint64_t& sent);
  void send_device(Device device, Register target, uint64_t value, const Core& from, const Core& to,
                   uint32_t reader, Time when);
  void schedule_core(Core& core, Time when);
  void schedule_act(PacketId id, Time when);
  void schedule_retry(PacketId id, Time when);
  // How far `core` may run at `now` without missing a message (rule S2).
  Time horizon(const Core& core, Time now) const;

  Agent resolver_above(Agent child, uint64_t line, Agent toucher);
  Agent memory_agent(uint64_t line, int32_t fixed);
  bool is_memory(Agent a) const { return a >= first_memory_; }
  int ordinal(Agent a) const { return ordinals_[a]; }
  std::size_t slice_of(uint64_t line, std::size_t slices) const;

  void semihost(Thread& thread);
  void fatal(Thread& thread);
  void overflow(Thread& thread);
  void marker(Thread& thread, unsigned code, uint64_t value);
  // One interrupt to every hart of `from.multicast`.
  void send_many(Thread& from, Time when);
  std::optional<Register> register_of(uint64_t address) const {
    return register_at(address, threads_.size(), machine.interrupt.multicast);
  }
  // A hart's registers, at its own core.
  uint64_t read_register(Register r) const;
  void write_register(Register r, uint64_t value, Time now);
  bool fetch(uint64_t address, uint32_t& word);
  void note_probed(Kind kind) { counters.invalidations += kind != Kind::ProbeS; }
  void note_transfer(const Core& to, Agent from, uint64_t line);

  // --- for the outcome ---
  // Bytes as the machine would read them: from the owner, wherever it is.
  void read(uint64_t address, std::size_t size, uint8_t* to);
  std::vector<std::unique_ptr<Core>>& cores() { return cores_; }
  const std::vector<std::unique_ptr<ResolverAgent>>& resolvers() const { return resolvers_; }
  Fabric& fabric() { return fabric_; }
  const Latencies& latencies() const { return latencies_; }

 private:
  enum Action : uint32_t { kHop, kArrive, kAct, kRun, kRetry, kRegister, kExpire, kEnd };

  void dispatch(uint32_t action, uint32_t argument, Time now);
  void travel(PacketId id, Time head);  // towards the next channel, or to its destination
  void go(PacketId id, Time head);
  void cross(PacketId id, Time now);
  void fork(PacketId id, Time head);
  void at_register(PacketId id, Time now);
  void expire(Thread& thread, Time now);
  void arrive(PacketId id, Time now);
  void at_memory(PacketId id, Time now);
  int32_t stop_of(Agent a, uint64_t line) const;
  uint32_t home(uint64_t line, Agent toucher);
  uint32_t nearest_node(Agent core);
  const Bytes& valid_line(uint64_t number);
  void read_buffered(uint64_t address, std::size_t size, uint8_t* to) const;
  void end_by(Thread& thread, Ending ending);
  void end_run();
  void finish(End end, std::string reason);
  void place_threads();
  void compute_reach();
  std::string stuck_report() const;

  Protocol protocol_;
  Fabric fabric_;
  EventQueue queue_;
  Code code_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<std::unique_ptr<ResolverAgent>> resolvers_;
  std::vector<Time> memory_free_;
  std::vector<uint64_t> memory_sent_;
  std::vector<Thread*> threads_;
  std::vector<int> ordinals_;                     // of every agent among its parent's children
  std::vector<std::vector<Agent>> parents_;       // of every agent
  std::vector<Clint> clints_;                     // by hart
  std::unordered_map<uint64_t, uint32_t> pages_;  // first touch: home by page
  Agent first_resolver_ = 0, first_memory_ = 0;
  uint64_t ram_size_ = 0;
  Time now_ = 0, last_progress_ = 0;
  Ending ending_;          // that a hart has brought about
  Time ends_at_ = kNever;  // when the run ends by it
  Latencies latencies_;
  End end_ = End::running;
  int exit_code_ = 0;
  std::string reason_;
};

}  // namespace uncore
