#include "doubles/delayed_machine.hh"

#include <utility>

namespace uncore {

DelayedHart::DelayedHart(DelayedMachine& machine, const AsyncSpec& spec, Time delay)
    : machine_(machine), id_(spec.id), delay_(delay), hart(spec, machine.image_, *this, *this) {}

// ---- memory

RequestId DelayedHart::request(std::function<MemoryAnswer()> perform) {
  const RequestId request = ++requests_;
  machine_.schedule(now() + delay_, [this, request, perform = std::move(perform)] {
    MemoryAnswer answer = perform();
    answer.request = request;
    machine_.schedule(now() + delay_, [this, answer] { hart.answered(answer); });
  });
  return request;
}

RequestId DelayedHart::read(uint64_t address, unsigned size) {
  return request([=, this] { return MemoryAnswer{.value = machine_.memory_.read(address, size)}; });
}

RequestId DelayedHart::write(uint64_t address, unsigned size, uint64_t value) {
  return request([=, this] {
    machine_.memory_.write(id_, address, size, value);
    return MemoryAnswer{};
  });
}

RequestId DelayedHart::load_link(uint64_t address, unsigned size) {
  return request(
      [=, this] { return MemoryAnswer{.value = machine_.memory_.load_link(id_, address, size)}; });
}

RequestId DelayedHart::store_conditional(uint64_t address, unsigned size, uint64_t value) {
  return request([=, this] {
    const bool written = machine_.memory_.store_conditional(id_, address, size, value);
    return MemoryAnswer{.failed = !written};
  });
}

// ---- the simulator

Time DelayedHart::now() const { return machine_.now_; }

void DelayedHart::alarm_at(Alarm alarm, Time when) {
  machine_.schedule(when, [this, alarm] { hart.alarm(alarm); });
}

void DelayedHart::send(uint32_t to, const HartMessage& message, Time after) {
  machine_.schedule(now() + after + machine_.link_,
                    [this, to, message] { machine_.harts_.at(to)->hart.received(message); });
}

void DelayedHart::print(std::string_view text) { machine_.printed_ += text; }

void DelayedHart::end() { machine_.ended_ = true; }

// ---- the machine

DelayedMachine::DelayedMachine(const std::string& program, const std::vector<AsyncSpec>& specs,
                               const std::vector<Time>& delays, Time link)
    : image_(program), link_(link), memory_(specs.size()) {
  for (const Segment& segment : image_.segments)
    for (std::size_t i = 0; i < segment.bytes.size(); ++i)
      memory_.put(segment.address + i, 1, segment.bytes[i]);
  for (const AsyncSpec& spec : specs) {
    harts_.push_back(std::make_unique<DelayedHart>(*this, spec, delays.at(spec.id)));
    harts_.back()->hart.start();
  }
}

std::string DelayedMachine::run(Time limit) {
  while (!ended_ && !events_.empty() && events_.begin()->first < limit) {
    const auto next = events_.extract(events_.begin());
    now_ = next.key();
    next.mapped()();
  }
  for (const auto& delayed_hart : harts_) {
    delayed_hart->hart.halt();
    const std::string report = delayed_hart->hart.report();
    printed_ += report;
  }
  return std::exchange(printed_, {});
}

}  // namespace uncore
