// An atomic operation on a line's bytes, wherever they are: in a core, or at a resolver (rule C8).
#pragma once

#include "coherence/message.hh"
#include "hart/port.hh"
#include "storage/bytes.hh"

namespace uncore {

// An AMO, or a compare-and-swap of two words.
struct Operation {
  Amo op;
  bool of_pair;
  uint8_t offset, size;
  Pair operand, expected;

  // What it read.
  Pair apply(Bytes& data) const {
    if (of_pair) return swap_pair(data);
    const uint64_t old = data.read(offset, size);
    data.write(offset, size, amo_apply(op, size, old, operand.low, expected.low));
    return {old, 0};
  }

 private:
  Pair swap_pair(Bytes& data) const {
    const Pair old{data.read(offset, 8), data.read(offset + 8, 8)};
    if (old == expected) {
      data.write(offset, 8, operand.low);
      data.write(offset + 8, 8, operand.high);
    }
    return old;
  }
};

template <>
struct FarAtomic<Bytes> {
  using Asks = Operation;
  using Reads = Pair;
};

}  // namespace uncore
