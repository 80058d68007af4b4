// What a hart has beside memory: interrupts, registers of its own and of others, the console.
#include <algorithm>

#include "hart.hh"

namespace uncore {

// ---- registers (rules I1 and I4)

Answer SstHart::mmio(uint64_t address, unsigned, bool write, uint64_t& value) {
  return access_device(*this, address, write, value);
}

std::optional<Register> SstHart::register_of(uint64_t address) const {
  return register_at(address, harts_, false);
}

void SstHart::write_register(Register r, uint64_t value) {
  const Time clock = std::max(hart_.clock, now());
  const Clint::Change change = clint_.write(r.kind, value, clock / 1000);
  pending(change.bit, change.level);
  if (change.alarm && *change.alarm < kNever / 1000)
    timer_link_->send(*change.alarm * 1000 - now(), nullptr);
}

void SstHart::expired(SST::Event*) {
  if (clint_.mtimecmp() * 1000 == now()) pending(kTimer, true);
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
  if (target.index != id_) return to_[target.index]->send(after, message);
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
    return write_register({message.target, id_}, message.value);
  auto* answer = new RegisterMessage(RegisterMessage::Kind::value, message.target,
                                     clint_.read(message.target), id_);
  to_[message.from]->send(0, answer);
}

// ---- semihosting

// What a call reads is read as the guest would read it: its fence before the call has brought what
// it stored to the caches.
void SstHart::semihost() {
  call_.emplace(hart_.x[10], hart_.x[11]);
  if (call_->reads()) return memory_->send(new Memory::Read(call_->address(), 8));
  called();
  run_at(hart_.clock);
}

void SstHart::read_for_call(uint64_t doubleword) {
  hart_.clock = std::max(hart_.clock, now());
  call_->take(doubleword);
  say(std::exchange(call_->text, {}));
  if (call_->reads()) return memory_->send(new Memory::Read(call_->address(), 8));
  called();
  run();
}

void SstHart::called() {
  const Semihosting call = *std::exchange(call_, {});
  hart_.x[10] = call.answer;
  if (call.exit_code) stop("exit", *call.exit_code);
}

void SstHart::say(std::string_view letters) {
  console_.say(id_, letters);
  if (console_.text.empty()) return;
  getSimulationOutput().output("%s", console_.text.c_str());
  console_.text.clear();
}

}  // namespace uncore
