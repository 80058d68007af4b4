// uncore.Hart: our hart (sim/native/async) as a component of the Structural Simulation Toolkit.
//
// One component is one hart. Data go through the subcomponent in slot `memory`; code is read from
// the hart's own copy of the program. Messages about registers travel on the ports hart0, hart1,
// ...: links with the latency between the two harts. SST's unit of time is a picosecond here.
//
// Invariant: there is no state outside components, so the number of SST's threads and processes
// does not matter.
#pragma once

#include <sst/core/component.h>
#include <sst/core/interfaces/stdMem.h>
#include <sst/core/link.h>

#include <optional>
#include <string_view>
#include <vector>

#include "async/async_hart.hh"
#include "message_event.hh"
#include "standard_memory.hh"

namespace uncore {

class HartComponent : public SST::Component, public Simulator {
 public:
  SST_ELI_REGISTER_COMPONENT(HartComponent, "uncore", "Hart", SST_ELI_ELEMENT_VERSION(1, 0, 0),
                             "RV64 hart with store buffer, reservation and interrupt lines",
                             COMPONENT_CATEGORY_PROCESSOR)
  SST_ELI_DOCUMENT_PARAMS({"id", "its number, mhartid"}, {"harts", "how many take part"},
                          {"program", "ELF file"}, {"ram", "bytes of memory from 0x80000000"},
                          {"instruction", "ps of an instruction"},
                          {"mispredict", "ps more of a conditional branch predicted wrongly"},
                          {"pause", "ps of a pause"},
                          {"forward", "ps of a load that the store buffer answers"},
                          {"lr", "ps more of an LR than its load took"},
                          {"amo", "ps more of an AMO than its two accesses took"},
                          {"stores", "entries of the store buffer"},
                          {"send", "ps that an interrupt occupies its sender"},
                          {"accept", "ps from its arrival until it is pending"},
                          {"entry", "ps to enter an interrupt's trap"}, {"exit", "ps to leave it"},
                          {"watchdog", "ps without an operation, after which it gives up"})
  SST_ELI_DOCUMENT_PORTS({"hart%(harts)d", "to the hart of that number", {"uncore.MessageEvent"}})
  SST_ELI_DOCUMENT_SUBCOMPONENT_SLOTS({"memory", "where its data are",
                                       "SST::Interfaces::StandardMem"})

  HartComponent(SST::ComponentId_t id, SST::Params& params);

  // SST's phases.
  void init(unsigned phase) override;
  void setup() override;
  void complete(unsigned phase) override { port_->complete(phase); }
  void finish() override;

  // Requests of the hart to the simulator.
  Time now() const override { return getCurrentSimTime(picoseconds_); }
  void alarm_at(Alarm alarm, Time when) override;
  void send(uint32_t hart, const HartMessage& message, Time after) override;
  void print(std::string_view text) override;
  void end() override;

 private:
  void make_links();

  // Events from SST to the hart.
  template <Alarm alarm>
  void expired(SST::Event*) {
    hart_->alarm(alarm);
  }
  void received(SST::Event* event);
  void answered(StandardMemory::Memory::Request* response);

  const AsyncSpec spec_;
  const Image image_;
  std::vector<Segment> initial_;  // hart 0: initial memory contents, in pieces

  SST::TimeConverter picoseconds_;
  SST::Link* alarms_[3] = {};   // alarms_[Alarm]
  std::vector<SST::Link*> to_;  // to_[hart]
  StandardMemory::Memory* port_;
  std::optional<StandardMemory> memory_;
  std::optional<AsyncHart> hart_;
};

}  // namespace uncore
