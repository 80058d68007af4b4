// The component uncore.Hart of the Structural Simulation Toolkit (SST): a hart of sim/native/async.
//
// One component is one hart. It accesses data through the subcomponent in slot `memory`, and reads
// code from its own copy of the program. Messages about registers travel on the ports hart0, hart1,
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
  SST_ELI_DOCUMENT_PARAMS({"id", "number of the hart, mhartid"}, {"harts", "number of harts"},
                          {"program", "ELF file"},
                          {"ram", "size of RAM from 0x80000000 on, in bytes"},
                          {"instruction", "time of an instruction in ps"},
                          {"mispredict", "additional time of a mispredicted branch in ps"},
                          {"pause", "time of a pause in ps"},
                          {"forward", "time of a load that the store buffer answers in ps"},
                          {"lr", "time of an LR beyond its load in ps"},
                          {"amo", "time of an AMO beyond its two accesses in ps"},
                          {"stores", "entries of the store buffer"},
                          {"send", "time for which an interrupt occupies its sender in ps"},
                          {"accept", "time from its arrival until it is pending in ps"},
                          {"entry", "time to enter an interrupt handler in ps"},
                          {"exit", "time to return from an interrupt handler in ps"},
                          {"watchdog", "time without an operation that ends the run in ps"})
  SST_ELI_DOCUMENT_PORTS({"hart%(harts)d",
                          "link to the hart of that number",
                          {"uncore.MessageEvent"}})
  SST_ELI_DOCUMENT_SUBCOMPONENT_SLOTS({"memory", "memory of the hart's data",
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
  std::vector<Segment> initial_;  // initial memory contents in pieces; empty unless hart 0

  SST::TimeConverter picoseconds_;
  SST::Link* alarms_[3] = {};   // alarms_[Alarm]
  std::vector<SST::Link*> to_;  // to_[hart]
  StandardMemory::Memory* port_;
  std::optional<StandardMemory> memory_;
  std::optional<AsyncHart> hart_;
};

}  // namespace uncore
