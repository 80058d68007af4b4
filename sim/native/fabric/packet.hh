// A message under way: the protocol's message, and its position on its route.
//
// Packets live in a pool and never move, because events refer to them by address. Once the pool has
// grown large enough, sending a message allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/atomic.hh"
#include "fabric/fabric.hh"
#include "guest/registers.hh"
#include "time/queue.hh"

namespace uncore {

// The kind of a register message: it writes a register, reads it, or returns the value read. A
// coherence message has the kind `none`.
enum class Device : uint8_t { none, write, read, value };

// The packet's first 64 bytes, one cache line of the host, hold the keys of its event and all
// fields that are needed to cross a channel. Then come the message, and the fields that few packets
// use.
struct alignas(64) Packet : EventKeys {
  static constexpr int32_t kSeveral = -1;

  const Leg* leg = nullptr;  // the leg that the message is on
  // the busy time of the slowest channel so far, which is how much later the tail arrives than the
  // head
  Time tail = 0;
  Time retry = 0;          // for a deferred probe: when it is tried again
  uint32_t number = 0;     // index among all packets, for the trace
  Agent origin = kNobody;  // the agent that supplied the data, for the statistics
  Size size = Size::control;
  Device device = Device::none;
  bool live = false;
  int32_t goal = kSeveral;  // the stop of the message's destination
  bool delayed = false;     // the message has waited for a lookup or a turn at its resolver
  KeptMessage message;
  Register target{};             // the register that is accessed
  uint32_t reader = 0;           // Device::read and ::value: the hart that waits for the answer
  uint64_t value = 0;            // Device::write: the value to write; Device::value: the value read
  std::vector<uint32_t> others;  // further destination harts of a message that forks (rule I5)

  bool forks() const { return device != Device::none && !others.empty(); }

  // Converts the packet to the subject of an event (time/queue.hh); from_subject() converts back.
  uint64_t subject() const {
    return reinterpret_cast<uintptr_t>(static_cast<const EventKeys*>(this));
  }
  static Packet& from_subject(uint64_t subject) {
    return static_cast<Packet&>(*reinterpret_cast<EventKeys*>(subject));
  }
};

class Packets {
 public:
  Packet& take() {
    if (num_free_ == 0) [[unlikely]]
      grow();
    Packet& p = *free_packets_[--num_free_];
    p.live = true;
    p.delayed = false;
    return p;
  }
  Packet& copy(const Packet& original) {
    Packet& p = take();
    const uint32_t number = p.number;
    p = original;
    p.number = number;
    return p;
  }
  void drop(Packet& p) {
    p.live = false;
    free_packets_[num_free_++] = &p;
  }
  // Returns the first packet under way for which matches() is true, or null.
  template <class F>
  const Packet* find(F matches) const {
    for (const auto& block : blocks_)
      for (uint32_t i = 0; i < kBlock; ++i)
        if (block[i].live && matches(block[i])) return &block[i];
    return nullptr;
  }
  template <class F>
  void each(F f) {
    for (const auto& block : blocks_)
      for (uint32_t i = 0; i < kBlock; ++i)
        if (block[i].live) f(block[i]);
  }

 private:
  static constexpr uint32_t kBlock = 64;

  [[gnu::noinline]] void grow() {
    const auto first = static_cast<uint32_t>(blocks_.size() * kBlock);
    Packet* const block = blocks_.emplace_back(std::make_unique<Packet[]>(kBlock)).get();
    free_packets_.resize(first + kBlock);
    for (uint32_t i = kBlock; i > 0; --i) {
      block[i - 1].number = first + i - 1;
      free_packets_[num_free_++] = &block[i - 1];
    }
  }

  std::vector<std::unique_ptr<Packet[]>> blocks_;
  std::vector<Packet*>
      free_packets_;  // the first `num_free_` are the free packets; has room for all
  std::size_t num_free_ = 0;
};

}  // namespace uncore
