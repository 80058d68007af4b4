// A memory that answers later: the requests of a hart of this folder, and the answers.
//
// It orders accesses to one address, and tells a hart whether anybody wrote a line that the hart
// has linked. It has no atomic operation beside that pair.
//
// Interface: each request returns its number; the answer carries it to AsyncHart::answered().
//
// Invariant: an answer never comes before its request has returned. Requests are of one to eight
// bytes within a line.
#pragma once

#include <cstdint>

namespace uncore {

using RequestId = uint64_t;

struct MemoryAnswer {
  RequestId request = 0;
  uint64_t value = 0;   // read, load_link: zero-extended
  bool failed = false;  // store_conditional: it has written nothing
};

class AsyncMemory {
 public:
  virtual ~AsyncMemory() = default;
  virtual RequestId read(uint64_t address, unsigned size) = 0;
  virtual RequestId write(uint64_t address, unsigned size, uint64_t value) = 0;
  virtual RequestId load_link(uint64_t address, unsigned size) = 0;
  virtual RequestId store_conditional(uint64_t address, unsigned size, uint64_t value) = 0;
};

}  // namespace uncore
