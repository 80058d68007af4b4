#include "standard_memory.hh"

namespace uncore {
namespace {

uint64_t from_little_endian(const std::vector<uint8_t>& bytes) {
  uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 8; ++i)
    value |= static_cast<uint64_t>(bytes[i]) << 8 * i;
  return value;
}

std::vector<uint8_t> bytes(uint64_t value, unsigned size) {
  std::vector<uint8_t> bytes(size);
  for (unsigned i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(value >> 8 * i);
  return bytes;
}

}  // namespace

RequestId StandardMemory::send(Memory::Request* request) {
  const RequestId id = request->getID();  // SST owns the request when it is sent
  memory_.send(request);
  return id;
}

RequestId StandardMemory::read(uint64_t address, unsigned size) {
  return send(new Memory::Read(address, size));
}

RequestId StandardMemory::write(uint64_t address, unsigned size, uint64_t value) {
  return send(new Memory::Write(address, size, bytes(value, size)));
}

RequestId StandardMemory::load_link(uint64_t address, unsigned size) {
  return send(new Memory::LoadLink(address, size));
}

RequestId StandardMemory::store_conditional(uint64_t address, unsigned size, uint64_t value) {
  return send(new Memory::StoreConditional(address, size, bytes(value, size)));
}

MemoryAnswer StandardMemory::answer_of(Memory::Request& response) {
  const auto* data = dynamic_cast<Memory::ReadResp*>(&response);
  return {.request = response.getID(),
          .value = data ? from_little_endian(data->data) : 0,
          .failed = response.getFail()};
}

void StandardMemory::preset(uint64_t address, const std::vector<uint8_t>& bytes) {
  memory_.sendUntimedData(new Memory::Write(address, bytes.size(), bytes, true));
}

}  // namespace uncore
