// A very simple simulator for tests of the harts of `async`. Each hart has its own path to a flat
// memory, with a delay in ps. A link connects each two harts; all links have the same latency.
//
// A request reaches memory after the hart's delay, and the answer reaches the hart after the same
// delay. Another hart may therefore write a line between a load-link and its store-conditional,
// which then fails.
//
// Interface: DelayedMachine(program, specs, delays, link) takes one spec and one delay for each
// hart. run() returns what the harts and the guest have printed. Afterwards, read() reads memory,
// and failures() returns the number of store-conditionals that failed.
//
// Invariant: events at the same time happen in the order in which they were scheduled.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "async/async_hart.hh"
#include "doubles/delayed_memory.hh"

namespace uncore {

class DelayedMachine;

class DelayedHart : public AsyncMemory, public Simulator {
 public:
  DelayedHart(DelayedMachine& machine, const AsyncSpec& spec, Time delay);

  RequestId read(uint64_t address, unsigned size) override;
  RequestId write(uint64_t address, unsigned size, uint64_t value) override;
  RequestId load_link(uint64_t address, unsigned size) override;
  RequestId store_conditional(uint64_t address, unsigned size, uint64_t value) override;

  Time now() const override;
  void alarm_at(Alarm alarm, Time when) override;
  void send(uint32_t hart, const HartMessage& message, Time after) override;
  void print(std::string_view text) override;
  void end() override;

 private:
  // Sends a request; `perform` is called when it arrives at memory. Returns the request's number.
  RequestId request(std::function<MemoryAnswer()> perform);

  DelayedMachine& machine_;
  const std::size_t id_;
  const Time delay_;
  RequestId requests_ = 0;

 public:
  AsyncHart hart;
};

class DelayedMachine {
 public:
  DelayedMachine(const std::string& program, const std::vector<AsyncSpec>& specs,
                 const std::vector<Time>& delays, Time link);

  // Runs until a hart has ended the run, or until no event is left before `limit`.
  std::string run(Time limit);
  uint64_t read(uint64_t address, unsigned size) { return memory_.read(address, size); }
  uint64_t failures() const { return memory_.failures(); }

 private:
  friend class DelayedHart;

  void schedule(Time when, std::function<void()> event) { events_.emplace(when, std::move(event)); }

  const Image image_;
  const Time link_;
  DelayedMemory memory_;
  std::multimap<Time, std::function<void()>> events_;
  Time now_ = 0;
  bool ended_ = false;
  std::string printed_;
  std::vector<std::unique_ptr<DelayedHart>> harts_;
};

}  // namespace uncore
