// What a hart has beside memory: interrupts, registers of its own and of others, the console.
#include <algorithm>

#include "hart.hh"
#include "uncore_abi.h"

namespace uncore {
namespace {

constexpr unsigned kSoftware = 3, kTimer = 7;  // bits of mip

}  // namespace

// ---- registers (rules I1 and I4)

Answer SstHart::mmio(uint64_t address, unsigned, bool write, uint64_t& value) {
  if (const auto target = register_at(address, harts_, false)) {
    const bool interrupts = write && target->kind == Register::Kind::msip && (value & 1);
    if (target->hart != id_ || interrupts)
      return later({.kind = write ? Access::Kind::write : Access::Kind::read,
                    .address = address,
                    .value = value});
    if (write)
      write_register(target->kind, value);
    else
      value = read_register(target->kind);
    return Answer::now;
  }
  if (address == kMtime) {
    value = time();
    return Answer::now;
  }
  if (address >= kUart && address < kUart + 8) {
    if (write && address == kUart) say(static_cast<char>(value));
    if (!write) value = address == kUart + 5 ? 0x60 : 0;  // line status: transmitter empty
    return Answer::now;
  }
  return Answer::fault;
}

void SstHart::write_register(Register::Kind which, uint64_t value) {
  if (which == Register::Kind::msip) {
    software_ = value & 1;
    return pending(kSoftware, software_);
  }
  timer_ = value;
  const Time clock = std::max(hart_.clock, now());
  const bool due = timer_ <= clock / 1000;
  pending(kTimer, due);
  if (!due && timer_ < kNever / 1000) timer_link_->send(timer_ * 1000 - now(), nullptr);
}

uint64_t SstHart::read_register(Register::Kind which) const {
  return which == Register::Kind::msip ? software_ : timer_;
}

void SstHart::expired(SST::Event*) {
  if (timer_ * 1000 == now()) pending(kTimer, true);
}

// A bit of mip changes. A sleeper wakes; a delay ends early, and the guest's loop then delays for
// the rest.
void SstHart::pending(unsigned bit, bool level) {
  const bool waited = hart_.waiting();
  hart_.interrupt(bit, level);
  if (stopped_ || !level) return;
  const bool delayed = hart_.clock == delayed_until_ && hart_.clock > now();
  if (!hart_.suspended() && delayed && hart_.interruptible()) {
    hart_.clock = now();
    run_at(now());
  }
  if (waited && hart_.wakes()) {
    hart_.clock = std::max(hart_.clock, now());
    run_at(hart_.clock);
  }
}

// ---- messages

void SstHart::send(RegisterMessage::Kind kind, Register target, uint64_t value, Time after) {
  auto* message = new RegisterMessage(kind, target.kind, value, id_);
  if (target.hart != id_) return to_[target.hart]->send(after, message);
  const Time then = now() + after + cost_.accept;
  arrivals_.emplace(then, *message);
  arrival_->send(then - now(), message);
}

void SstHart::received(SST::Event* event) {
  auto* message = static_cast<RegisterMessage*>(event);
  if (message->kind == RegisterMessage::Kind::end) {
    delete message;
    stopped_ = true;
    return primaryComponentOKToEndSim();
  }
  if (message->kind == RegisterMessage::Kind::value) {
    const uint64_t value = message->value;
    delete message;
    resume(value);
    return run();
  }
  arrivals_.emplace(now() + cost_.accept, *message);
  arrival_->send(cost_.accept, message);
}

void SstHart::accepted(SST::Event* event) {
  const std::unique_ptr<SST::Event> owned(event);
  const RegisterMessage message = arrivals_.begin()->second;
  arrivals_.erase(arrivals_.begin());
  accept(message);
}

void SstHart::accept(const RegisterMessage& message) {
  if (message.kind == RegisterMessage::Kind::write)
    return write_register(message.target, message.value);
  auto* answer = new RegisterMessage(RegisterMessage::Kind::value, message.target,
                                     read_register(message.target), id_);
  to_[message.from]->send(0, answer);
}

// ---- semihosting

// The string of WRITE0 and the block of EXIT_EXTENDED are read as the guest would read them: its
// fence before the call has brought what it stored to the caches.
void SstHart::semihost() {
  constexpr uint64_t kWrite0 = 4, kExit = 0x18, kExitExtended = 0x20;
  uint64_t* x = hart_.x;
  switch (x[10]) {
    case kExit:
      return stop("exit", 0);
    case kWrite0:
    case kExitExtended:
      text_ = x[10] == kWrite0 ? x[11] : x[11] + 8;
      return memory_->send(new Memory::Read(*text_ & ~uint64_t{7}, 8));
    default:  // GET_CMDLINE: parameters are in the program's memory
      x[10] = ~uint64_t{0};
      return run_at(hart_.clock);
  }
}

void SstHart::read_string(uint64_t word) {
  hart_.clock = std::max(hart_.clock, now());
  constexpr uint64_t kWrite0 = 4;
  if (hart_.x[10] != kWrite0) {
    text_.reset();
    return stop("exit", word);
  }
  for (uint64_t& at = *text_;; ++at) {
    const auto letter = static_cast<char>(word >> 8 * (at % 8));
    if (letter == 0) break;
    say(letter);
    if (at % 8 == 7) {
      ++at;
      return memory_->send(new Memory::Read(at, 8));
    }
  }
  text_.reset();
  hart_.x[10] = 0;
  run();
}

// Whole lines, so that harts in different threads of SST do not mix theirs.
void SstHart::say(char letter) {
  line_ += letter;
  if (letter != '\n') return;
  getSimulationOutput().output("%s", line_.c_str());
  line_.clear();
}

}  // namespace uncore
