#include "engine/newest_bytes.hh"

#include <algorithm>
#include <cstring>

namespace uncore {

void NewestBytes::read(uint64_t address, std::size_t size, uint8_t* to) {
  read_unmoved(address, size, to);
  for (const MoveSpec& move : moves_) {  // docs/whatif.md
    const uint64_t begin = std::max(address, move.address);
    const uint64_t end = std::min(address + size, move.address + move.size);
    if (begin < end)
      read_unmoved(begin - move.address + move.to, end - begin, to + (begin - address));
  }
}

void NewestBytes::read_unmoved(uint64_t address, std::size_t size, uint8_t* to) {
  for (std::size_t num_read = 0; num_read < size;) {
    const uint64_t from = address + num_read;
    const Bytes line = valid_line(size_.number(from));
    const std::size_t offset = line.offset(from);
    const std::size_t part = std::min(size - num_read, line.size - offset);
    std::memcpy(to + num_read, line.at + offset, part);
    num_read += part;
  }
  read_buffered(address, size, to);
}

void NewestBytes::write(uint64_t address, std::size_t size, const uint8_t* from, Time now) {
  const uint64_t number = size_.number(address);
  const auto put = [&](const Bytes& line) {
    if (line.at) std::memcpy(line.at + line.offset(address), from, size);
  };
  for (const auto& core : holders_.cores)
    if (Line* line = core->lines.find(number)) {
      core->sleep.wake_watchers(*line, now);
      put(line->data());
    }
  for (const auto& resolver : holders_.resolvers) resolver->each_copy(number, put);
  holders_.network.packets.each([&](Packet& p) {
    if (p.device == Device::none && p.message.carries && p.message.line == number)
      put(p.message.data);
  });
  put(holders_.memories.line(number));
}

// Overwrites the bytes that were read with those of stores that are still in a store buffer,
// because these are newer than any copy of the line.
void NewestBytes::read_buffered(uint64_t address, std::size_t size, uint8_t* to) const {
  for (const Thread* t : holders_.threads)
    for (const Store& s : t->buffer.entries()) {
      if (s.address + s.size <= address || address + size <= s.address) continue;
      if (s.is_atomic()) continue;  // the result of an atomic is not known yet
      for (unsigned i = 0; i < s.size; ++i)
        if (s.address + i - address < size)
          to[s.address + i - address] = static_cast<uint8_t>(s.value >> 8 * i);
    }
}

// Returns the line's newest bytes: those in the cache of an owner, else in a message that transfers
// ownership, else in a cache level that has not written them back yet, else in memory.
Bytes NewestBytes::valid_line(uint64_t number) {
  if (const Bytes data = owned_bytes(number); data.at) return data;
  if (const Bytes data = carried_bytes(number); data.at) return data;
  for (const auto& resolver : holders_.resolvers)
    if (const Bytes* data = resolver->stored_data(number)) return *data;
  return holders_.memories.line(number);
}

Bytes NewestBytes::owned_bytes(uint64_t number) const {
  for (const auto& core : holders_.cores) {
    const Line* line = core->threads.empty() ? nullptr : core->lines.find(number);
    if (!line) continue;
    const State s = line->copy.state;
    if (protocol_.is_dirty(s) || protocol_.may_store(s)) return line->data();
  }
  return {};
}

Bytes NewestBytes::carried_bytes(uint64_t number) const {
  const Packet* carrier = holders_.network.packets.find([&](const Packet& p) {
    const Message<Bytes>& m = p.message;
    if (p.device != Device::none || !m.carries || m.line != number) return false;
    // Data that come from memory carry no right (State::I).
    const bool newest = m.right == State::I || protocol_.is_dirty(m.right);
    const bool dirty = m.kind == Kind::Put || (m.kind == Kind::Data && newest) ||
                       (m.flags & (Flag::dirty | Flag::passed));
    return dirty && !agents_.is_memory(m.to);
  });
  return carrier ? carrier->message.data : Bytes{};
}

}  // namespace uncore
