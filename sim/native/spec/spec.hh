// A job as the engine reads it: the numbers of `uncore.topology.machine.Machine` and of a Job.
//
// Plain values, filled by the binding attribute by attribute (names and units are those of
// sim/uncore/topology/machine.py, where they are explained). Nothing here has a default that means
// anything: Python has decided.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/time.hh"

namespace uncore {

struct LinkSpec {
  int32_t source, target;
  Time control, data, snoop;
  Time control_busy, data_busy, snoop_busy;
  int32_t channel;
};

struct CoreSpec {
  Time instruction, mispredict, pause, l1_hit, l2_hit;
  uint32_t l1_sets, l1_ways, l2_sets, l2_ways;
  Time atomic, hold;
  uint32_t store_buffer, smt_share;
  bool lr_exclusive, far_atomics;
};

struct ResolverSpec {
  std::string knows, reply, unblock, data;
  std::vector<int32_t> children, parents, slices;
  Time service, data_hit;
  int32_t grants;
  Time grants_until;  // age of the request behind a probe
  uint32_t entries, ways, data_sets, data_ways;
  int32_t memory;
  Time lookup;  // of an owner that is not one of `near`
  std::vector<int32_t> near;
};

struct MemorySpec {
  int32_t stop;
  Time latency, busy;
  uint64_t size;
};

struct InterruptSpec {
  Time send, accept, entry, exit;
  bool multicast;
};

struct MachineSpec {
  std::vector<CoreSpec> each_core;
  uint32_t threads_per_core;        // the most of any
  std::vector<int32_t> hart_cores;  // of each hart the core
  std::vector<int32_t> core_stops;
  std::vector<std::vector<int32_t>> shape;  // per core: its ancestor's index at each level
  std::vector<ResolverSpec> resolvers;
  std::vector<MemorySpec> memories;
  InterruptSpec interrupt;
  uint32_t stops;
  std::vector<LinkSpec> links;
  std::vector<uint32_t> protocol;  // packed tables
};

// Where the pages of memory live.
struct HomePolicy {
  enum class Kind : uint8_t { addressed, node, interleave, first_touch };
  Kind kind = Kind::addressed;
  uint32_t node = 0;
};

struct Segment {
  uint64_t address;
  std::vector<uint8_t> bytes;
};

struct JobSpec {
  std::vector<uint32_t> placement;  // of thread t: its hart position in the machine
  std::vector<Segment> segments;
  uint64_t entry = 0;
  uint64_t text_begin = 0, text_size = 0;
  uint64_t stacks = 0, stack_stride = 0;  // of thread t: from stacks + t * stack_stride up
  uint64_t stack_guard = 0;               // bytes at its bottom that no thread may touch
  HomePolicy home;
  int32_t slice = -1;       // pins every line to one slice; -1: hashed
  Time watchdog = 0;        // simulated time without an operation that ends the run
  Time lookahead = kNever;  // longest slice a core runs ahead; results do not depend on it
  bool fences = true;       // false: FENCE does nothing, so that a test can see that it is missed
  bool sleep = true;        // waiting harts are passed over (S1); results do not depend on it
  bool log = false;         // keep the transaction log (L)
  bool lines = false;       // attribute every access to its line and instruction
};

}  // namespace uncore
