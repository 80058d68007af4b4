// The functional memory of a machine: finds a line's newest bytes in caches, messages and memory
// (rule A2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/core.hh"
#include "memory/functional.hh"
#include "memory/memories.hh"
#include "resolver/resolver_agent.hh"

namespace uncore {

class NewestBytes : public FunctionalMemory {
 public:
  // The parts of the machine that may hold a line's newest bytes.
  struct Holders {
    const std::vector<std::unique_ptr<Core>>& cores;
    const std::vector<Thread*>& threads;
    const std::vector<std::unique_ptr<ResolverAgent>>& resolvers;
    Network& network;
    Memories& memories;
  };
  // `moves`: address ranges that a what-if study has moved (docs/whatif.md).
  NewestBytes(uint64_t size, const Agents& agents, const Protocol& protocol,
              const std::vector<MoveSpec>& moves, Holders holders)
      : FunctionalMemory(size),
        size_(holders.memories.line_size()),
        agents_(agents),
        protocol_(protocol),
        moves_(moves),
        holders_(holders) {}

  void read(uint64_t address, std::size_t size, uint8_t* to) override;
  void write(uint64_t address, std::size_t size, const uint8_t* from, Time now) override;

 private:
  void read_unmoved(uint64_t address, std::size_t size, uint8_t* to);
  Bytes valid_line(uint64_t number);
  Bytes owned_bytes(uint64_t number) const;
  Bytes carried_bytes(uint64_t number) const;
  void read_buffered(uint64_t address, std::size_t size, uint8_t* to) const;

  const LineSize size_;
  const Agents& agents_;
  const Protocol& protocol_;
  const std::vector<MoveSpec>& moves_;
  const Holders holders_;
};

}  // namespace uncore
