#include "component.hh"

#include <exception>
#include <fstream>
#include <memory>
#include <string>

namespace uncore {
namespace {

Image read_image(const std::string& path) {
  try {
    return Image(path);
  } catch (const std::exception& error) {
    SST::Output::getDefaultObject().fatal(CALL_INFO, 1, "uncore.Hart: %s\n", error.what());
    throw;
  }
}

}  // namespace

HartComponent::HartComponent(SST::ComponentId_t component, SST::Params& params)
    : Component(component),
      spec_(read_async_spec([&](const char* name) { return params.find<uint64_t>(name); })),
      image_(read_image(params.find<std::string>("program"))),
      picoseconds_(registerTimeBase("1ps", true)) {
  make_links();
  using Handler = StandardMemory::Memory::Handler<HartComponent, &HartComponent::answered>;
  port_ = loadUserSubComponent<StandardMemory::Memory>("memory", SST::ComponentInfo::SHARE_NONE,
                                                       picoseconds_, new Handler(this));
  if (!port_)
    getSimulationOutput().fatal(CALL_INFO, 1, "uncore.Hart %u: nothing in slot 'memory'\n",
                                spec_.id);
  memory_.emplace(*port_);
  hart_.emplace(spec_, image_, *memory_, *this);
  if (spec_.id == 0) {
    initial_ = image_.pieces();
    registerAsPrimaryComponent();
    primaryComponentDoNotEndSim();
  }
}

void HartComponent::make_links() {
  using SST::Event;
  alarms_[0] = configureSelfLink(
      "wake", picoseconds_,
      new Event::Handler<HartComponent, &HartComponent::expired<Alarm::run>>(this));
  alarms_[1] = configureSelfLink(
      "arrival", picoseconds_,
      new Event::Handler<HartComponent, &HartComponent::expired<Alarm::accept>>(this));
  alarms_[2] = configureSelfLink(
      "timer", picoseconds_,
      new Event::Handler<HartComponent, &HartComponent::expired<Alarm::timer>>(this));
  for (unsigned hart = 0; hart < spec_.harts; ++hart)
    to_.push_back(configureLink("hart" + std::to_string(hart), picoseconds_,
                                new Event::Handler<HartComponent, &HartComponent::received>(this)));
}

// ---- SST's phases

// Presets one piece of memory in each phase, not all at once, because in the first phases SST does
// not know yet which memory has which address, and sends each write to every cache and directory.
void HartComponent::init(unsigned phase) {
  port_->init(phase);
  if (phase < initial_.size()) memory_->preset(initial_[phase].address, initial_[phase].bytes);
}

void HartComponent::setup() {
  port_->setup();
  hart_->start();
}

// Writes the report to a file of the hart's own, because several processes would mix up the lines
// of a common output.
void HartComponent::finish() {
  port_->finish();
  std::ofstream("hart" + std::to_string(spec_.id) + ".txt") << hart_->report();
}

// ---- the simulator

void HartComponent::alarm_at(Alarm alarm, Time when) {
  alarms_[static_cast<unsigned>(alarm)]->send(when - now(), nullptr);
}

void HartComponent::send(uint32_t hart, const HartMessage& message, Time after) {
  to_[hart]->send(after, new MessageEvent(message));
}

void HartComponent::print(std::string_view text) {
  getSimulationOutput().output("%.*s", static_cast<int>(text.size()), text.data());
}

// Ends the simulation. SST waits for hart 0 only, so the other harts send it a message.
void HartComponent::end() {
  if (spec_.id == 0)
    primaryComponentOKToEndSim();
  else
    to_[0]->send(0, new MessageEvent());
}

void HartComponent::received(SST::Event* event) {
  const std::unique_ptr<MessageEvent> owned(static_cast<MessageEvent*>(event));
  if (!owned->ends) return hart_->received(owned->message);
  hart_->halt();
  primaryComponentOKToEndSim();
}

void HartComponent::answered(StandardMemory::Memory::Request* response) {
  const std::unique_ptr<StandardMemory::Memory::Request> owned(response);
  hart_->answered(StandardMemory::answer_of(*response));
}

}  // namespace uncore
