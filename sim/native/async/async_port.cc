#include "async/async_port.hh"

#include "hart/hart.hh"

namespace uncore {

AsyncPort::AsyncPort(const AsyncSpec& spec, const Image& image, AccessUnit& accesses,
                     InterruptRegisters& registers)
    : hart(*this, code_, spec.id),
      spec_(spec),
      image_(image),
      accesses_(accesses),
      registers_(registers),
      code_(image.code().address, image.code().bytes.size()) {
  hart.pc = image.entry;
  hart.cost = spec.cost;
  hart.spin_enabled = false;  // iterations of a spin loop cannot be skipped: each loads from memory
}

AsyncPort::~AsyncPort() = default;

// Answers amocas.q by an access fault, because sixteen bytes do not fit a request. Shipped guests
// are built without Zacas, so they do not contain the instruction.
Answer AsyncPort::cas_pair(uint64_t, Pair, Pair, Pair&, unsigned) { return Answer::fault; }

Answer AsyncPort::fence(unsigned predecessor, unsigned successor) {
  if (!orders_write_before_read(predecessor, successor) || !accesses_.draining())
    return Answer::now;
  accesses_.note({.kind = Access::Kind::fence});
  return Answer::later;
}

bool AsyncPort::fetch(uint64_t address, uint32_t& word) {
  const Segment& text = image_.code();
  if (!holds(text, address) || !holds(text, address + 1)) return false;
  word = 0;
  for (unsigned i = 0; i < 4 && holds(text, address + i); ++i)
    word |= static_cast<uint32_t>(text.bytes[address + i - text.address]) << 8 * i;
  return true;
}

void AsyncPort::marker(unsigned code, uint64_t value) {
  const Time delay = operations.mark(code, value, hart.clock);
  if (delay == 0) return;
  hart.clock += delay;
  // Equals hart.clock once the marker has retired, which adds one instruction; AsyncHart::pending()
  // compares the two.
  delayed_until = hart.clock + hart.cost.instruction;
}

void AsyncPort::trapped(uint64_t, bool interrupt) {
  if (interrupt) hart.clock += spec_.entry;
  interrupted_ = interrupt;
  accesses_.forget_reservation();
}

void AsyncPort::returned() {
  if (interrupted_) hart.clock += spec_.exit;
  interrupted_ = false;
}

void AsyncPort::write_register(Register r, uint64_t value) {
  const Clint::Change change = registers_.write(r.kind, value, hart.clock);
  hart.interrupt(change.bit, change.level);
}

}  // namespace uncore
