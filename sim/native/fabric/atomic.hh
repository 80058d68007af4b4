// An atomic operation on a line's bytes, in a core or at a resolver (rule C8).
#pragma once

#include "coherence/message.hh"
#include "hart/port.hh"
#include "storage/bytes.hh"

namespace uncore {

// An AMO, or a compare-and-swap of a pair of doublewords.
struct Operation {
  Amo op;
  bool of_pair;
  uint8_t offset, size;
  Pair operand, expected;

  // Performs the operation on a line's bytes, and returns the old value.
  Pair apply(const Bytes& data) const {
    if (of_pair) return swap_pair(data);
    const uint64_t old = data.read(offset, size);
    data.write(offset, size, amo_apply(op, size, old, operand.low, expected.low));
    return {old, 0};
  }

 private:
  Pair swap_pair(const Bytes& data) const {
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

// A message that owns a copy of the data that it carries, so that it can be under way or wait. A
// plain Message only refers to its sender's data.
class KeptMessage : public Message<Bytes> {
 public:
  KeptMessage() = default;
  KeptMessage(const KeptMessage& m) : Message() { assign(m); }
  KeptMessage& operator=(const KeptMessage& m) { return assign(m), *this; }

  void assign(const Message<Bytes>& m) {
    if (!m.carries) return Message::assign(m);
    static_cast<Header&>(*this) = m;
    data = kept_ = m.data;
  }

 private:
  KeptBytes kept_;
};

template <>
struct Keeper<Bytes> {
  using Type = KeptBytes;
};
template <>
struct Keeper<Message<Bytes>> {
  using Type = KeptMessage;
};

}  // namespace uncore
