// The memory nodes: their bytes, each node's channel (M1), and its memory-side cache (M2).
//
// The roots are the ordering points: when a root sends a writeback, it also writes the bytes
// through line(). The message that reaches the node later only occupies the channel (M1.1, M1.3).
#pragma once

#include <vector>

#include "fabric/network.hh"
#include "memory/memory_cache.hh"
#include "memory/pages.hh"

namespace uncore {

class Memories {
 public:
  Memories(const MachineSpec& machine, const Agents& agents, Network& network)
      : nodes_(machine.memories), size_(machine.line), agents_(agents), network_(network) {
    for (const MemorySpec& node : nodes_)
      channels_.emplace_back(node.busy), caches_.emplace_back(size_, node);
  }

  Bytes line(uint64_t number) { return {pages_.line(number), size_.bytes()}; }
  LineSize line_size() const { return size_; }
  uint64_t size() const;  // bytes of the address ranges of all nodes
  uint64_t touched_bytes() const {
    return pages_.bytes();
  }  // bytes of pages that were read or written
  const std::vector<MemoryCache>& caches() const { return caches_; }  // a cache for each node
  void load(const std::vector<SegmentSpec>& segments);

  void arrive(Packet& packet, Time now);  // called when a read or a writeback reaches its node

 private:
  Time access(std::size_t node, uint64_t line, bool read, Time now);
  Time fetch(std::size_t node, Time when);

  const std::vector<MemorySpec>& nodes_;
  const LineSize size_;
  const Agents& agents_;
  Network& network_;
  Pages pages_;
  std::vector<MemoryChannel> channels_;  // a channel for each node
  std::vector<MemoryCache> caches_;
};

}  // namespace uncore
