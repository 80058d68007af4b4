// Functional reads: the bytes as the machine would read them, wherever the newest are (rule A2).
#include <algorithm>
#include <cstring>

#include "engine/engine.hh"

namespace uncore {

bool Engine::fetch(uint64_t address, uint32_t& word) {
  if (address < kRamBase || address - kRamBase + 2 > ram_size_) return false;
  uint8_t bytes[4] = {0, 0, 0, 0};
  read(address, address - kRamBase + 4 > ram_size_ ? 2 : 4, bytes);
  std::memcpy(&word, bytes, 4);
  return true;
}

void Engine::read(uint64_t address, std::size_t size, uint8_t* to) {
  const uint64_t from = address;
  const std::size_t all = size;
  uint8_t* const first = to;
  while (size > 0) {
    const std::size_t offset = address % kLineBytes;
    const std::size_t part = std::min(size, kLineBytes - offset);
    std::memcpy(to, valid_line(address >> kLineShift).at.data() + offset, part);
    address += part, to += part, size -= part;
  }
  read_buffered(from, all, first);
}

// What is still in a store buffer is newer than any line.
void Engine::read_buffered(uint64_t address, std::size_t size, uint8_t* to) const {
  for (const Thread* t : threads_)
    t->buffer.each([&](const Store& s) {
      if (s.is_atomic()) return;  // nobody knows yet what it leaves
      for (unsigned i = 0; i < s.size; ++i)
        if (s.address + i - address < size)
          to[s.address + i - address] = static_cast<uint8_t>(s.value >> 8 * i);
    });
}

// The bytes that answer for the line: a message that carries ownership, an owner, a level that
// writes it back, or memory.
const Bytes& Engine::valid_line(uint64_t number) {
  for (const auto& core : cores_) {
    const Line* line = core->lines.find(number);
    if (!line) continue;
    const State s = line->copy.state;
    if (protocol_.is_dirty(s) || protocol_.may_store(s)) return line->data;
  }
  const Packet* carrier = packets.find([&](const Packet& p) {
    const Message<Bytes>& m = p.message;
    if (p.device != Device::none || !m.carries || m.line != number) return false;
    const bool dirty = m.kind == Kind::Put || (m.kind == Kind::Data && m.right == State::M) ||
                       (m.flags & Flag::dirty);
    return dirty && !is_memory(m.to);
  });
  if (carrier) return carrier->message.data;
  for (const auto& resolver : resolvers_)
    if (const Bytes* data = resolver->stored_data(number)) return *data;
  return image.line(number);
}

}  // namespace uncore
