#include "hart.hh"

#include <algorithm>
#include <exception>

#include "uncore_abi.h"

namespace uncore {
namespace {

constexpr uint64_t kPage = 4096;

Image read_image(const std::string& path) {
  try {
    return Image(path);
  } catch (const std::exception& error) {
    SST::Output::getDefaultObject().fatal(CALL_INFO, 1, "uncore.Hart: %s\n", error.what());
    throw;
  }
}

}  // namespace

SstHart::SstHart(SST::ComponentId_t component, SST::Params& params)
    : Component(component),
      id_(params.find<unsigned>("id")),
      harts_(params.find<unsigned>("harts")),
      image_(read_image(params.find<std::string>("program"))),
      code_(image_.code().address, image_.code().bytes.size()),
      hart_(*this, code_, id_),
      ram_(params.find<uint64_t>("ram")),
      cost_{params.find<Time>("forward"), params.find<Time>("lr"),      params.find<Time>("amo"),
            params.find<Time>("send"),    params.find<Time>("accept"),  params.find<Time>("entry"),
            params.find<Time>("exit"),    params.find<Time>("watchdog")},
      stores_(params.find<std::size_t>("stores")),
      picoseconds_(registerTimeBase("1ps", true)) {
  hart_.pc = image_.entry;
  hart_.cost = {params.find<Time>("instruction"), params.find<Time>("mispredict"),
                params.find<Time>("pause")};
  hart_.spin_enabled = false;  // every load goes through SST: there is nothing to skip

  using Handler = SST::Event::Handler<SstHart, &SstHart::woken>;
  wake_ = configureSelfLink("wake", picoseconds_, new Handler(this));
  arrival_ = configureSelfLink("arrival", picoseconds_,
                               new SST::Event::Handler<SstHart, &SstHart::accepted>(this));
  timer_link_ = configureSelfLink("timer", picoseconds_,
                                  new SST::Event::Handler<SstHart, &SstHart::expired>(this));
  for (unsigned other = 0; other < harts_; ++other)
    to_.push_back(configureLink("hart" + std::to_string(other), picoseconds_,
                                new SST::Event::Handler<SstHart, &SstHart::received>(this)));
  memory_ = loadUserSubComponent<Memory>("memory", SST::ComponentInfo::SHARE_NONE, picoseconds_,
                                         new Memory::Handler<SstHart, &SstHart::answered>(this));
  if (!memory_)
    getSimulationOutput().fatal(CALL_INFO, 1, "uncore.Hart %u: nothing in slot 'memory'\n", id_);
  if (id_ == 0) {
    prepare();
    registerAsPrimaryComponent();
    primaryComponentDoNotEndSim();
  }
}

// What memory holds at the start, in pieces within a page, so that each has one home wherever pages
// are dealt out.
void SstHart::prepare() {
  for (const Segment& segment : image_.segments) {
    for (uint64_t at = 0; at < segment.bytes.size();) {
      const uint64_t room = kPage - (segment.address + at) % kPage;
      const uint64_t size = std::min<uint64_t>(room, segment.bytes.size() - at);
      const auto begin = segment.bytes.begin() + static_cast<std::ptrdiff_t>(at);
      initial_.push_back(
          {segment.address + at, {begin, begin + static_cast<std::ptrdiff_t>(size)}});
      at += size;
    }
  }
}

// One piece a phase: in the first ones nobody knows yet who has which address, and a write goes to
// every cache and directory there is.
void SstHart::init(unsigned phase) {
  memory_->init(phase);
  if (phase >= initial_.size()) return;
  const Segment& piece = initial_[phase];
  memory_->sendUntimedData(new Memory::Write(piece.address, piece.bytes.size(), piece.bytes, true));
}

void SstHart::setup() {
  memory_->setup();
  run_at(0);
}

// What it counted, for whoever reads the output: engine/sst/read.py.
void SstHart::finish() {
  memory_->finish();
  console_.end();  // a line without an end must not run into ours
  if (!console_.text.empty()) say("\n");
  std::string text = "uncore: hart=" + std::to_string(id_) +
                     " instructions=" + std::to_string(hart_.instructions) +
                     " operations=" + std::to_string(done_) +
                     " retries=" + std::to_string(link_retries_) + " latencies=";
  latencies_.each([&text](Time latency, uint64_t count) {
    text += std::to_string(latency) + ':' + std::to_string(count) + ',';
  });
  getSimulationOutput().output("%s\n", text.c_str());
}

// ---- executing

void SstHart::run_at(Time when) {
  wake_at_ = std::max(when, now());
  wake_->send(wake_at_ - now(), nullptr);
}

void SstHart::woken(SST::Event*) {
  if (now() != wake_at_) return;  // it went on earlier, for an interrupt
  wake_at_ = kNever;
  if (!hart_.suspended()) return run();
  if (perform()) run();
}

// Executes until the hart has to wait. An interrupt that is under way is not overtaken, and one
// that leaves its sender now cannot be pending before `accept` has passed.
void SstHart::run() {
  while (!stopped_) {
    if (operations_.measuring() && now() - std::min(operations_.began(), now()) > cost_.watchdog)
      return stop("watchdog", UC_EXIT_TRAPPED);
    hart_.horizon = now() + std::max(cost_.accept, hart_.cost.instruction) - 1;
    if (!arrivals_.empty()) hart_.horizon = std::min(hart_.horizon, arrivals_.begin()->first - 1);
    if (clint_.mtimecmp() < kNever / 1000)
      hart_.horizon = std::min(hart_.horizon, std::max(clint_.mtimecmp() * 1000, now() + 1) - 1);
    switch (hart_.run()) {
      case Stop::horizon:
        return run_at(hart_.clock);
      case Stop::later:
        if (hart_.clock > now()) return run_at(hart_.clock);
        if (!perform()) return;
        break;
      case Stop::wfi:
        return;
      case Stop::semihost:
        return semihost();
      case Stop::overflow:
      case Stop::fatal:
        return stop("fatal cause=" + std::to_string(hart_.fatal.cause) +
                        " pc=" + std::to_string(hart_.fatal.pc) +
                        " tval=" + std::to_string(hart_.fatal.tval),
                    UC_EXIT_TRAPPED);
      case Stop::spin:
      case Stop::retry:
        break;
    }
  }
}

// The access that the hart waited for is done.
void SstHart::resume(uint64_t value) {
  hart_.clock = std::max(hart_.clock, now());
  hart_.resume(value);
}

// The run has ended. SST waits for hart 0 only, so the others tell it.
void SstHart::stop(const std::string& how, uint64_t code) {
  getSimulationOutput().output("uncore: %s hart=%u code=%llu time=%llu\n", how.c_str(), id_,
                               static_cast<unsigned long long>(code),
                               static_cast<unsigned long long>(now()));
  stopped_ = true;
  if (id_ == 0)
    primaryComponentOKToEndSim();
  else
    to_[0]->send(0, new RegisterMessage(RegisterMessage::Kind::end, {}, 0, id_));
}

bool SstHart::fetch(uint64_t address, uint32_t& word) {
  const Segment& text = image_.code();
  if (!holds(text, address) || !holds(text, address + 1)) return false;
  word = 0;
  for (unsigned i = 0; i < 4 && holds(text, address + i); ++i)
    word |= static_cast<uint32_t>(text.bytes[address + i - text.address]) << 8 * i;
  return true;
}

// ---- what the guest tells beside its accesses

void SstHart::marker(unsigned code, uint64_t value) {
  const Marked marked = operations_.mark(code, value, hart_.clock);
  done_ += marked.operations;
  if (marked.latency) latencies_.add(*marked.latency, marked.operations);
  if (marked.delay) {
    hart_.clock += *marked.delay * 1000;
    delayed_until_ = hart_.clock + hart_.cost.instruction;  // it retires yet
  }
}

void SstHart::trapped(uint64_t, bool interrupt) {
  if (interrupt) hart_.clock += cost_.entry;
  interrupted_ = interrupt;
  reservation_.reset();
}

void SstHart::returned() {
  if (interrupted_) hart_.clock += cost_.exit;
  interrupted_ = false;
}

}  // namespace uncore
