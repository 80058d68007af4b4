// A memory that answers later: the requests that a hart of this folder makes, and the answers.
//
// It orders accesses to one address. Its only atomic operations are load-link and
// store-conditional: it reports to a hart whether another one wrote a line since the hart linked
// it.
//
// Interface: each request returns its number; the answer carries it to AsyncHart::answered().
//
// Invariant: an answer never arrives before the call that made its request has returned. A request
// is for one to eight bytes within a line.
#pragma once

#include <cstdint>

namespace uncore {

using RequestId = uint64_t;

struct MemoryAnswer {
  RequestId request = 0;
  uint64_t value = 0;   // read, load_link: the value read, zero-extended
  bool failed = false;  // store_conditional: nothing has been written
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
