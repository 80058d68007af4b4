// An AsyncMemory that sends its requests to SST's StandardMem, so that any of SST's caches can be
// used.
//
// The only atomic operations of SST's caches are this pair: LoadLink gets the line exclusively and
// keeps it for a while (the L1's llsc_block_cycles), StoreConditional writes if the line was not
// taken since.
//
// Interface: AsyncMemory; answer_of() a response; preset() memory before the run.
#pragma once

#include <sst/core/interfaces/stdMem.h>

#include <cstdint>
#include <vector>

#include "async/async_memory.hh"

namespace uncore {

class StandardMemory : public AsyncMemory {
 public:
  using Memory = SST::Interfaces::StandardMem;

  explicit StandardMemory(Memory& memory) : memory_(memory) {}

  RequestId read(uint64_t address, unsigned size) override;
  RequestId write(uint64_t address, unsigned size, uint64_t value) override;
  RequestId load_link(uint64_t address, unsigned size) override;
  RequestId store_conditional(uint64_t address, unsigned size, uint64_t value) override;

  static MemoryAnswer answer_of(Memory::Request& response);
  void preset(uint64_t address, const std::vector<uint8_t>& bytes);

 private:
  RequestId send(Memory::Request* request);

  Memory& memory_;
};

}  // namespace uncore
