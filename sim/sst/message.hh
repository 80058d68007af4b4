// The message that crosses from hart to hart.
#pragma once

#include <sst/core/event.h>

#include <cstdint>

#include "guest/registers.hh"

namespace uncore {

// A write to a register of another hart, a question about one, its answer (rules I1 and I4); or
// the end of the run, which the hart that SST waits for has to hear.
class RegisterMessage : public SST::Event {
 public:
  enum class Kind : uint8_t { write, read, value, end };

  RegisterMessage() = default;  // for SST, which carries it to another process
  RegisterMessage(Kind kind, Register::Kind target, uint64_t value, uint32_t from)
      : kind(kind), target(target), value(value), from(from) {}

  Kind kind = Kind::write;
  Register::Kind target = Register::Kind::msip;
  uint64_t value = 0;
  uint32_t from = 0;      // the hart that sent it
  bool accepted = false;  // its way is over: it waits at the receiver for `accept` to pass

  void serialize_order(SST::Core::Serialization::serializer& ser) override {
    Event::serialize_order(ser);
    SST_SER(kind);
    SST_SER(target);
    SST_SER(value);
    SST_SER(from);
    SST_SER(accepted);
  }

  ImplementSerializable(uncore::RegisterMessage);
};

}  // namespace uncore
