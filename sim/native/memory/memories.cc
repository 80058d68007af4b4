#include "memory/memories.hh"

#include <algorithm>

#include "spec/segment_spec.hh"

namespace uncore {

uint64_t Memories::size() const {
  return nodes_.size() * std::ranges::max(nodes_, {}, &MemorySpec::size).size;
}

void Memories::load(const std::vector<SegmentSpec>& segments) {
  for (const SegmentSpec& segment : segments)
    for (std::size_t offset = 0; offset < segment.data.size();) {
      const uint64_t to = segment.address + offset;
      const std::size_t part =
          std::min<uint64_t>(segment.data.size() - offset, kUnitBytes - to % kUnitBytes);
      std::copy_n(segment.data.begin() + static_cast<std::ptrdiff_t>(offset), part,
                  line(to >> kUnitShift).at + to % kUnitBytes);
      offset += part;
    }
}

void Memories::arrive(Packet& packet, Time now) {
  const Message<Bytes> m = packet.message;
  network_.packets.drop(packet);
  const bool read = m.kind == Kind::GetS;
  const std::size_t node = agents_.memory_number(m.to);
  const Time leave = network_.costs_nothing(m.line) ? now : access(node, m.line, read, now);
  if (!read) return;
  Message<Bytes> data;
  data.kind = Kind::Data;
  data.from = m.to;
  data.to = data.resolver = m.from;
  data.line = m.line;
  data.carry(line(m.line));
  network_.send(data, leave, m.to);
}

// Performs an access. Returns the time at which the data of a read leave the node.
Time Memories::access(std::size_t node, uint64_t line, bool read, Time now) {
  MemoryCache& cache = caches_[node];
  if (!cache.exists()) return read ? fetch(node, now) : channels_[node].take(now);
  const Time tag_checked = cache.channel.take(now) + nodes_[node].cache_hit;
  const MemoryCache::Use use = cache.use(line, !read);
  const Time leave = use.hit || !read ? tag_checked : fetch(node, tag_checked);
  if (use.evicts) channels_[node].take(tag_checked);
  return leave;
}

Time Memories::fetch(std::size_t node, Time when) {
  return channels_[node].take(when) + nodes_[node].latency;
}

}  // namespace uncore
