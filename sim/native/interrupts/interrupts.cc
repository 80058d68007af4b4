#include "interrupts/interrupts.hh"

#include <utility>

namespace uncore {
namespace {

constexpr Time kMtimeTick = 1000;  // ps; mtime counts nanoseconds
constexpr uint64_t kFileBytes = 0x1000, kAplicBytes = 0x4000;
constexpr uint32_t kDevices = ~uint32_t{0};  // in place of the writing hart's number: a device

}  // namespace

// --- accesses at the register's own core (rule I4) ----------------------------------------------

std::optional<Register> Interrupts::register_of(uint64_t address) const {
  using K = Register::Kind;
  if (!boot_.present) return register_at(address, agents_.harts(), multicast_);
  const struct {
    K kind;
    uint64_t base, each, count;
  } map[] = {
      {K::fence, kFenceRegisters, 4, agents_.harts()},
      {K::file, boot_.files, kFileBytes, agents_.harts()},
      {K::aplic, boot_.aplic, 1, kAplicBytes},
      {K::serial, UC_UART_BASE, 1, 8},
  };
  for (const auto& [kind, base, each, count] : map)
    if (address - base < each * count)
      return Register{kind, static_cast<uint32_t>((address - base) / each)};
  return register_at(address, agents_.harts(), multicast_);
}

uint64_t Interrupts::read(Register r, uint32_t hart, Time now) {
  switch (r.kind) {
    case Register::Kind::send:
    case Register::Kind::file:
      return 0;
    case Register::Kind::set:
      return r.index < sets_[hart].size() ? sets_[hart][r.index] : 0;
    case Register::Kind::aplic:
      return aplic_.read(r.index);
    case Register::Kind::serial: {
      const uint64_t value = uart_.read(r.index);
      wire(now);
      return value;
    }
    default:
      return clints_[r.index].read(r.kind);
  }
}

std::optional<Interrupts::Pending> Interrupts::write(Register r, uint64_t value, uint32_t hart,
                                                     Time now) {
  if (r.kind == Register::Kind::set) {
    sets_[hart].resize((agents_.harts() + 63) / 64);
    sets_[hart][r.index] = value;
    return std::nullopt;
  }
  if (r.kind == Register::Kind::aplic) return send(aplic_.write(r.index, value), now), std::nullopt;
  if (r.kind == Register::Kind::serial) {
    uart_.write(r.index, static_cast<uint8_t>(value));
    return wire(now), std::nullopt;
  }
  if (r.kind == Register::Kind::file) {
    files_[r.index].deliver(value, hart == kDevices);
    sent_[r.index] += hart != kDevices;
    return external(r.index);
  }
  const Clint::Change change = clints_[r.index].write(r.kind, value, now / kMtimeTick);
  Pending pending{r.index, change.bit, change.level};
  if (r.kind == Register::Kind::mtimecmp) set_due(r.index, kNever);
  if (change.alarm) pending.expires = set_alarm(r.index, *change.alarm);
  return pending;
}

Time Interrupts::set_alarm(uint32_t hart, uint64_t mtime) {
  if (mtime > kNever / kMtimeTick) return kNever;
  const Agent core = agents_.core_of(hart);
  const auto agent = static_cast<uint64_t>(core);
  queue_.push(
      mtime * kMtimeTick,
      {event_place(agent, kInterruptClass, 0), event_sender(agent, network_.next_sent(core))},
      Action::expire, hart);
  set_due(hart, mtime * kMtimeTick);
  return due_[hart];
}

void Interrupts::set_due(uint32_t hart, Time when) {
  timers_ += when != kNever;
  timers_ -= due_[hart] != kNever;
  due_[hart] = when;
}

// Ignores the event if the timer has been set again since the event was pushed.
Interrupts::Effect Interrupts::expired(uint32_t hart, Time now) {
  if (due_[hart] != now) return {};
  set_due(hart, kNever);
  return Pending{hart, kTimer, true};
}

// --- a kernel's devices (rule P7) ----------------------------------------------------------------

bool Interrupts::read_imsic_csr(uint32_t hart, unsigned csr, uint64_t& value) const {
  return !files_.empty() && files_[hart].read(csr, value);
}

std::optional<Interrupts::Pending> Interrupts::write_imsic_csr(uint32_t hart, unsigned csr,
                                                               uint64_t value) {
  if (files_.empty() || !files_[hart].write(csr, value)) return std::nullopt;
  return external(hart);
}

void Interrupts::wire(Time now) { send(aplic_.wire(uart_.level()), now); }

// Sends an MSI to a hart's interrupt file, from the core of hart 0, where the devices are.
void Interrupts::send(const std::optional<Aplic::Msi>& msi, Time now) {
  if (!msi || msi->hart >= agents_.harts()) return;
  network_.send_register(Device::write, {Register::Kind::file, msi->hart}, msi->identity,
                         agents_.core_of(0), agents_.core_of(msi->hart), kDevices, now);
}

// --- accesses by messages (rules I1, I4 and I5) -------------------------------------------------

void Interrupts::send_write(Register r, uint64_t value, uint32_t hart, Time when) {
  if (r.kind == Register::Kind::send) return send_many(hart, when);
  network_.send_register(Device::write, r, value, agents_.core_of(hart), agents_.core_of(r.hart()),
                         hart, when);
}

void Interrupts::send_read(Register r, uint32_t hart, Time when) {
  network_.send_register(Device::read, r, 0, agents_.core_of(hart), agents_.core_of(r.hart()), hart,
                         when);
}

// Interrupts all harts in the sender's set of harts, and empties the set.
void Interrupts::send_many(uint32_t hart, Time when) {
  const std::vector<uint64_t> set = std::exchange(sets_[hart], {});
  std::vector<uint32_t> harts;
  for (uint32_t h = 0; h < agents_.harts(); ++h)
    if (h / 64 < set.size() && set[h / 64] >> h % 64 & 1) harts.push_back(h);
  if (!harts.empty()) network_.send_many(std::move(harts), agents_.core_of(hart), when);
}

Interrupts::Effect Interrupts::arrived(Packet& packet, Time now) {
  const Packet p = packet;
  network_.arrived(p.message.to);
  network_.packets.drop(packet);
  if (p.device == Device::value) return Answer{p.reader, p.value};
  if (p.device == Device::write) {
    const auto pending = write(p.target, p.value, p.reader, now);
    return pending ? Effect{*pending} : Effect{};
  }
  const bool orders = p.target.kind == Register::Kind::fence;
  network_.send_register(Device::value, p.target, orders ? 0 : read(p.target, p.reader, now),
                         p.message.to, agents_.core_of(p.reader), p.reader, now);
  if (orders) return Order{p.target.index, p.reader};
  return {};
}

}  // namespace uncore
