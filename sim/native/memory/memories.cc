#include "memory/memories.hh"

#include <algorithm>

namespace uncore {

uint64_t Memories::size() const {
  return nodes_.size() * std::ranges::max(nodes_, {}, &MemorySpec::size).size;
}

void Memories::load(const std::vector<SegmentSpec>& segments) {
  for (const SegmentSpec& segment : segments)
    for (std::size_t done = 0; done < segment.data.size();) {
      const uint64_t to = segment.address + done;
      const std::size_t part =
          std::min<uint64_t>(segment.data.size() - done, kUnitBytes - to % kUnitBytes);
      std::copy_n(segment.data.begin() + static_cast<std::ptrdiff_t>(done), part,
                  line(to >> kUnitShift).at + to % kUnitBytes);
      done += part;
    }
}

void Memories::arrive(Packet& packet, Time now) {
  const Message<Bytes> m = packet.message;
  network_.packets.drop(packet);
  const std::size_t node = agents_.memory_number(m.to);
  const bool free = network_.free(m.line);
  const Time start = free ? now : std::max(now, free_[node]);
  if (!free) free_[node] = start + nodes_[node].busy;
  if (m.kind != Kind::GetS) return;
  Message<Bytes> data;
  data.kind = Kind::Data;
  data.from = m.to;
  data.to = data.resolver = m.from;
  data.line = m.line;
  data.carry(line(m.line));
  network_.send(data, free ? now : start + nodes_[node].latency, m.to);
}

}  // namespace uncore
