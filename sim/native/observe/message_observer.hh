// Observes messages when they are sent, cross channels and arrive (observe/observer.hh). The log
// records the messages that begin or end a request (section L), the trace records all messages.
#pragma once

#include "coherence/message.hh"
#include "observe/observer.hh"
#include "observe/trace.hh"
#include "spec/agents.hh"

namespace uncore {

class MessageObserver : Observer {
 public:
  MessageObserver(const Observer& observer, const Agents& agents)
      : Observer(observer), agents_(agents) {}

  void sent(uint32_t packet, const Header& m, Time when) const {
    if (log) [[unlikely]]
      note_sent(packet, m, when);
  }
  // Called when a message about a hart's register is sent. `device` is a value of Device
  // (fabric/packet.hh): 1 write, 2 read, 3 value.
  void sent_register(uint32_t packet, unsigned device, const Header& m, uint32_t hart,
                     Time when) const {
    if (trace) [[unlikely]]
      trace->sent(packet, static_cast<uint8_t>(Trace::kRegister + device - 1), m, hart, when);
  }
  // Called when a message takes a channel: its head reached the channel at `head`, and the channel
  // was free at `start`.
  void crossed(uint32_t packet, int32_t link, Time head, Time start) const {
    if (trace) [[unlikely]]
      trace->crossed(packet, link, head, start);
  }
  void arrived(uint32_t packet, const Header& m, Time now) const {
    if (log) [[unlikely]]
      note_arrived(packet, m, now);
  }
  void register_arrived(uint32_t packet, Time now) const {
    if (trace) [[unlikely]]
      trace->arrived(packet, now);
  }

 private:
  void note_sent(uint32_t packet, const Header& m, Time when) const;
  void note_arrived(uint32_t packet, const Header& m, Time now) const;

  const Agents& agents_;
};

}  // namespace uncore
