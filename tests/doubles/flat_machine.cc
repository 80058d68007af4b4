#include "doubles/flat_machine.hh"

#include <algorithm>

#include "guest/semihosting.hh"

namespace uncore {
namespace {

constexpr uint64_t kLine = 64;

uint64_t read(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

void write(std::span<uint8_t> bytes, uint64_t value) {
  std::memcpy(bytes.data(), &value, bytes.size());
}

}  // namespace

// ---- the port

// Refuses every access once if the machine answers `retry`.
bool FlatPort::refuses() {
  refused_ = machine_.answers == Answer::retry && !refused_;
  return refused_;
}

Answer FlatPort::done(Pair result) {
  deferred = result;
  return machine_.answers == Answer::later ? Answer::later : Answer::now;
}

bool FlatPort::mapped(uint64_t address, unsigned size) const {
  return machine_.mapped(address, size);
}

bool FlatPort::fetch(uint64_t address, uint32_t& word) {
  if (!machine_.mapped(address, 2)) return false;
  const unsigned size = machine_.mapped(address, 4) ? 4 : 2;
  word = static_cast<uint32_t>(read(machine_.memory(address, size)));
  return true;
}

void FlatPort::warm_up(uint64_t address) {
  if (machine_.warming == 0) return;
  uint64_t& loads = loads_[address / kLine];
  if (loads < machine_.warming) hart.clock += machine_.warming - loads++;
}

Answer FlatPort::load(uint64_t address, unsigned size, uint64_t& value) {
  if (refuses()) return Answer::retry;
  warm_up(address);
  value = read(machine_.memory(address, size));
  return done({value, 0});
}

Answer FlatPort::store(uint64_t address, unsigned size, uint64_t value) {
  if (refuses()) return Answer::retry;
  write(machine_.memory(address, size), value);
  machine_.written(address, this);
  return done({});
}

Answer FlatPort::amo(Amo op, uint64_t address, unsigned size, uint64_t operand, uint64_t expected,
                     uint64_t& old, unsigned) {
  if (refuses()) return Answer::retry;
  const auto bytes = machine_.memory(address, size);
  old = read(bytes);
  write(bytes, amo_apply(op, size, old, operand, expected));
  machine_.written(address, this);
  return done({old, 0});
}

Answer FlatPort::cas_pair(uint64_t address, Pair operand, Pair expected, Pair& old, unsigned) {
  if (refuses()) return Answer::retry;
  const auto low = machine_.memory(address, 8), high = machine_.memory(address + 8, 8);
  old = {read(low), read(high)};
  if (old == expected) {
    write(low, operand.low);
    write(high, operand.high);
    machine_.written(address, this);
  }
  return done(old);
}

Answer FlatPort::lr(uint64_t address, unsigned size, uint64_t& value, unsigned) {
  if (refuses()) return Answer::retry;
  value = read(machine_.memory(address, size));
  reservation = address / kLine;
  return done({value, 0});
}

Answer FlatPort::sc(uint64_t address, unsigned size, uint64_t value, uint64_t& failed, unsigned) {
  if (refuses()) return Answer::retry;
  failed = reservation != address / kLine;
  reservation = kNone;
  if (!failed) {
    write(machine_.memory(address, size), value);
    machine_.written(address, this);
  }
  return done({failed, 0});
}

void FlatPort::marker(unsigned code, uint64_t value) {
  const MarkerEffect marked = operations.mark(code, value, hart.clock);
  machine_.markers.push_back({id, code, value, marked});
}

Answer FlatPort::mmio(uint64_t address, unsigned, bool write, uint64_t& value) {
  if (refuses()) return Answer::retry;
  FlatDevices devices(machine_, id, hart.clock);
  const Answer answer = access_device(devices, address, write, value);
  return answer == Answer::now ? done({value, 0}) : answer;
}

// ---- the devices of a hart

std::optional<Register> FlatDevices::register_of(uint64_t address) const {
  return register_at(address, machine_.harts(), false);
}

void FlatDevices::say(char letter) { machine_.console.say(hart_, {&letter, 1}); }

uint64_t FlatDevices::read_register(Register r) const {
  return machine_.port(r.index).clint.read(r.kind);
}

void FlatDevices::write_register(Register r, uint64_t value) {
  FlatPort& target = machine_.port(r.index);
  const Clint::Change change = target.clint.write(r.kind, value, now_);
  target.hart.interrupt(change.bit, change.level);
}

// ---- the machine

void FlatMachine::written(uint64_t address, const FlatPort* writer) {
  ++changes;
  for (const auto& port : ports_) {
    if (port.get() != writer && port->reservation == address / kLine)
      port->reservation = FlatPort::kNone;
  }
}

FlatMachine::End FlatMachine::run(uint64_t ticks) {
  const uint64_t end = now_ + ticks;
  while (now_ < end) {
    if (asleep()) {
      uint64_t next = FlatPort::kNone;
      for (const auto& port : ports_) next = std::min(next, port->clint.mtimecmp());
      if (next == FlatPort::kNone || next <= now_) return End::idle;
      now_ = std::min(next, end);
    }
    timers(now_);
    if (const End why = turn(std::min(now_ + quantum_, end)); why != End::time) return why;
  }
  return End::time;
}

// Lets the harts, one after another, execute the instructions that start before `end`.
FlatMachine::End FlatMachine::turn(uint64_t end) {
  for (const auto& port : ports_) {
    Hart<FlatPort>& hart = port->hart;
    hart.clock = std::max(hart.clock, now_);
    hart.horizon = end - 1;
    End why = End::time;
    while (hart.clock < end) {
      const Stop stop = run(*port);
      if (!serve(*port, stop, why)) return why;
      if (stop == Stop::wfi) break;
    }
  }
  now_ = end;
  return End::time;
}

Stop FlatMachine::run(FlatPort& port) {
  port.hart.undisturbed = port.changes_seen == changes;
  const Stop stop = port.hart.run();
  port.changes_seen = changes;
  return stop;
}

// Handles a hart's stop, whose reason is `why`. If the guest has ended, sets `end` and returns
// false.
bool FlatMachine::serve(FlatPort& port, Stop why, End& end) {
  Hart<FlatPort>& hart = port.hart;
  switch (why) {
    case Stop::later:
      hart.resume(port.deferred.low, port.deferred.high);
      break;
    case Stop::semihost:
      semihost(port);
      break;
    case Stop::spin:
      ++port.spins;
      if (hart.clock <= hart.horizon) {
        const uint64_t n = (hart.horizon - hart.clock) / hart.spin_period;
        hart.skip(n);
        port.periods_skipped += n;
      }
      break;
    case Stop::overflow:
    case Stop::fatal:
      end = End::fatal;
      return false;
    case Stop::horizon:
    case Stop::retry:
    case Stop::wfi:
    case Stop::awaits:
    case Stop::awaits_shortly:
    case Stop::pause:
      break;
  }
  end = End::exit;
  return !exit_code;
}

bool FlatMachine::step(unsigned id) {
  FlatPort& port = *ports_.at(id);
  Hart<FlatPort>& hart = port.hart;
  if (exit_code) return false;
  timers(hart.clock);
  const uint64_t start = hart.clock;
  hart.horizon = start;
  while (hart.clock == start) {
    End end = End::time;
    const Stop stop = run(port);
    if (!serve(port, stop, end) || stop == Stop::wfi) return false;
  }
  return true;
}

void FlatMachine::timers(uint64_t now) {
  for (const auto& port : ports_) port->hart.interrupt(kTimer, now >= port->clint.mtimecmp());
}

bool FlatMachine::asleep() {
  return std::all_of(ports_.begin(), ports_.end(),
                     [](auto& port) { return port->hart.waiting() && !port->hart.wakes(); });
}

void FlatMachine::semihost(FlatPort& port) {
  uint64_t* x = port.hart.x;
  Semihosting call(x[10], x[11]);
  while (call.reads()) call.take(read(memory(call.address(), 8)));
  console.say(port.id, call.text);
  exit_code = call.exit_code;
  if (exit_code) console.end();
  x[10] = call.answer;
}

}  // namespace uncore
