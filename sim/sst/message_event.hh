// The SST event by which harts send each other messages.
#pragma once

#include <sst/core/event.h>

#include "async/simulator.hh"

namespace uncore {

// One of two events: a message from one hart to another or, if `ends`, the notice that the run is
// over, which goes to the hart that keeps SST's simulation going (component.cc).
class MessageEvent : public SST::Event {
 public:
  // Makes the notice that the run is over. SST also needs this constructor to receive events of
  // other processes.
  MessageEvent() = default;
  explicit MessageEvent(const HartMessage& message) : message(message), ends(false) {}

  HartMessage message;
  bool ends = true;  // the run is over; `message` has no meaning

  void serialize_order(SST::Core::Serialization::serializer& ser) override {
    Event::serialize_order(ser);
    SST_SER(message.kind);
    SST_SER(message.target);
    SST_SER(message.value);
    SST_SER(message.from);
    SST_SER(ends);
  }

  ImplementSerializable(uncore::MessageEvent);
};

}  // namespace uncore
