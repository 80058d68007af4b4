// The machine's firmware: it serves the calls that a kernel makes from supervisor mode by `ecall`,
// as the RISC-V Supervisor Binary Interface (SBI) 2.0 specifies (P5 of docs/model-system.md).
//
// The firmware is C++, not guest code: the harts are never in machine mode. A call takes the time
// of one instruction, and of its messages to other harts.
//
// Interface: it is a Supervisor (core/supervisor.hh). begin() starts the first hart. ordered() is
// called when another hart's request for a remote fence has arrived.
#pragma once

#include <string>
#include <vector>

#include "core/core.hh"
#include "core/supervisor.hh"
#include "os/work.hh"

namespace uncore {

class Firmware : public Supervisor {
 public:
  struct Parts {
    const JobSpec& job;
    FunctionalMemory& memory;
    Services& services;
  };
  explicit Firmware(const Parts& parts) : parts_(parts) {}

  void begin(const std::vector<Thread*>& threads);

  void trapped(Thread& thread) override;
  std::optional<Access> proceed(Thread& thread) override;
  bool mapped(uint64_t address, unsigned size) const override {
    return parts_.memory.mapped(address, size);
  }
  void marked(Thread&, unsigned, uint64_t) override {}
  void ordered(Thread& requester, Thread& thread, Time now);

 private:
  // A hart's request for a remote fence: fence.i (`code`), or sfence.vma on a range of addresses.
  struct Order {
    bool code = false;
    uint64_t start = 0, size = 0;
    std::optional<uint16_t> asid;
  };
  // States of a hart, with the numbers that HART_GET_STATUS returns (SBI_HSM_STATE_STARTED, ...).
  enum class State : uint8_t { started, stopped, starting };
  struct Cpu {
    Thread* thread = nullptr;
    Flow flow;
    State state = State::stopped;
    uint64_t entry = 0, opaque = 0;
    Order order;
  };
  struct Answer {
    int64_t error = 0;
    uint64_t value = 0;
  };

  void start(Cpu& cpu);
  void stop(Cpu& cpu);
  void give_up(Thread& thread, std::string why);
  Work call(Cpu& cpu);
  Work send(Cpu& cpu);
  Work order(Cpu& cpu, uint64_t function, Answer& answer);
  Work manage(Cpu& cpu, uint64_t function, Answer& answer);
  bool manage_without_waiting(Cpu& cpu, uint64_t function, Answer& answer);
  Answer base(uint64_t function, uint64_t extension) const;
  bool is_ram(uint64_t address, uint64_t size) const;
  Answer console(Cpu& cpu, uint64_t function);
  Answer write_console(uint64_t address, uint64_t size);
  Answer read_console(Cpu& cpu, uint64_t address, uint64_t size);
  bool has_valid_mask(const uint64_t* x) const;
  std::vector<uint32_t> harts(const uint64_t* x) const;

  const Parts parts_;
  std::vector<Cpu> cpus_;
};

}  // namespace uncore
