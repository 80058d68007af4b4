// The memory nodes: what they hold, and the channel of each (rule M1).
//
// The roots are the points of order: a writeback changes the bytes when a root sends it, by
// line(); what reaches a node later only takes its time there.
#pragma once

#include <vector>

#include "fabric/network.hh"
#include "memory/pages.hh"

namespace uncore {

class Memories {
 public:
  Memories(const MachineSpec& machine, const Agents& agents, Network& network)
      : nodes_(machine.memories),
        size_(machine.line),
        agents_(agents),
        network_(network),
        free_(nodes_.size()) {}

  Bytes line(uint64_t number) { return {pages_.line(number), size_.bytes()}; }
  LineSize line_size() const { return size_; }
  uint64_t size() const;                               // of all nodes' addresses
  uint64_t touched() const { return pages_.bytes(); }  // of it, what has been read or written
  void load(const std::vector<SegmentSpec>& segments);

  void arrive(Packet& packet, Time now);  // a read or a writeback reached its node

 private:
  const std::vector<MemorySpec>& nodes_;
  const LineSize size_;
  const Agents& agents_;
  Network& network_;
  Pages pages_;
  std::vector<Time> free_;  // of each node's channel
};

}  // namespace uncore
