// Functional reads: the bytes as the machine would read them, wherever the newest are (rule A2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/core.hh"
#include "memory/memories.hh"
#include "resolver/resolver_agent.hh"

namespace uncore {

class FunctionalReader {
 public:
  using Cores = std::vector<std::unique_ptr<Core>>;
  using Threads = std::vector<Thread*>;
  using Resolvers = std::vector<std::unique_ptr<ResolverAgent>>;

  FunctionalReader(const Cores& cores, const Threads& threads, const Resolvers& resolvers,
                   const Protocol& protocol, const Network& network, const Agents& agents,
                   Memories& memories)
      : cores_(cores),
        threads_(threads),
        resolvers_(resolvers),
        protocol_(protocol),
        network_(network),
        agents_(agents),
        memories_(memories) {}

  void read(uint64_t address, std::size_t size, uint8_t* to);

 private:
  const Bytes& valid_line(uint64_t number);
  const Bytes* owned(uint64_t number) const;
  const Bytes* carried(uint64_t number) const;
  void read_buffered(uint64_t address, std::size_t size, uint8_t* to) const;

  const Cores& cores_;
  const Threads& threads_;
  const Resolvers& resolvers_;
  const Protocol& protocol_;
  const Network& network_;
  const Agents& agents_;
  Memories& memories_;
};

}  // namespace uncore
