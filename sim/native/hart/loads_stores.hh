// Loads and stores, and the end of an access, when the port has answered.
//
// Loads and stores of memory need not be aligned. An access that crosses a boundary of
// `unsplit_bytes` is split into two halves, the lower one first: the instruction is executed again
// after the first half, and retires with the second. If an answer arrives later, the hart is
// suspended until then; the answer goes to the registers that the Landing names.
#pragma once

#include "hart/first_use.hh"
#include "hart/traps.hh"

namespace uncore::execute {

// ---- the end of an access

template <class Port>
void land(Hart<Port>& h, const Landing& to, uint64_t value, uint64_t high) {
  h.x[to.rd] = sign_extend(value, to.sign_size) | to.box;
  if (to.rd_high != kSink) h.x[to.rd_high] = high;
  h.retire(to.length, h.cost.instruction);
}

template <class Port>
void land_half(Hart<Port>& h, const Landing& to, uint64_t value) {
  if (!h.halfway()) {
    h.access.half = {value, to.first};
    return;
  }
  const AccessState::FirstHalf low = h.access.half;
  h.access.half = {};
  land(h, to, low.value | value << 8 * low.size, 0);
}

template <class Port>
bool finish(Hart<Port>& h, Answer answer, const Landing& to, Cause fault, uint64_t address,
            uint64_t value, uint64_t high = 0) {
  if (answer == Answer::now) [[likely]] {
    land(h, to, value, high);
    return true;
  }
  if (answer == Answer::fault) return trap(h, fault, address);
  if (answer == Answer::retry) return h.stop(Stop::retry);
  h.spin.note_effect();
  h.access.landing = to;
  h.access.suspended = true;
  return h.stop(Stop::later);
}

// ---- an access that crosses a boundary

// Returns true if a misaligned access is performed in two halves. An access to a device is, too,
// because reach_half() makes it trap.
template <class Port>
bool needs_two_halves(const Hart<Port>& h, uint64_t address, unsigned size) {
  return address < h.ram_begin || address % h.unsplit_bytes + size > h.unsplit_bytes;
}

template <class Port>
uint8_t first_half(const Hart<Port>& h, uint64_t address) {
  return static_cast<uint8_t>(h.unsplit_bytes - address % h.unsplit_bytes);
}

// Sets `half_address` to the physical address of the present half. Checks the rights of both halves
// before the first is accessed.
template <class Port>
Reach reach_half(Hart<Port>& h, uint64_t address, unsigned size, Right right,
                 uint64_t& half_address) {
  const unsigned first = first_half(h, address), rest = size - first;
  uint64_t low = address, high = address + first;
  if (h.translation) {
    if (const Reach reach = h.translation->translate(low, right); !reach) return reach;
    if (const Reach reach = h.translation->translate(high, right); !reach) return reach;
  }
  if (low < h.ram_begin || high < h.ram_begin) return misaligned(right);
  if (!h.port.mapped(low, first) || !h.port.mapped(high, rest)) return access_fault(right);
  half_address = h.halfway() ? high : low;
  return {};
}

template <class Port>
bool load_halves(Hart<Port>& h, uint64_t address, unsigned size, Landing to) {
  uint64_t half_address = 0, value = 0;
  if (const Reach reach = reach_half(h, address, size, Right::read, half_address); !reach)
    return trap_unreached(h, reach, address);
  to.first = first_half(h, address);
  const Answer answer = h.port.load(half_address, h.halfway() ? size - to.first : to.first, value);
  if (answer != Answer::now) return finish(h, answer, to, kLoadFault, address, 0);
  land_half(h, to, value);
  return true;
}

template <class Port>
bool store_halves(Hart<Port>& h, uint64_t address, unsigned size, uint64_t value, uint8_t length) {
  uint64_t half_address = 0;
  if (const Reach reach = reach_half(h, address, size, Right::write, half_address); !reach)
    return trap_unreached(h, reach, address);
  Landing to{kSink, kSink, 8, length};
  to.first = first_half(h, address);
  const unsigned first_bytes = h.access.half.size,
                 bytes = first_bytes ? size - first_bytes : to.first;
  const Answer answer =
      h.port.store(half_address, bytes, zero_extend(value >> 8 * first_bytes, bytes));
  if (answer != Answer::now) return finish(h, answer, to, kStoreFault, address, 0);
  land_half(h, to, 0);
  return true;
}

// ---- loads and stores

template <class T, class Port>
bool load(Hart<Port>& h, const Instruction& in, uint64_t box = 0) {
  constexpr unsigned size = sizeof(T);
  const uint64_t virtual_address = h.x[in.rs1] + static_cast<uint64_t>(in.imm);
  const Landing to{in.rd, kSink, std::is_signed_v<T> ? size : 8, in.length, 0, box};
  uint64_t address = virtual_address;
  if (h.translation) [[unlikely]]
    if (const Reach reach = h.translation->translate(address, Right::read); !reach)
      return trap_unreached(h, reach, virtual_address);
  if (address % size != 0 && needs_two_halves(h, address, size)) [[unlikely]]
    return load_halves(h, virtual_address, size, to);
  uint64_t value = 0;
  Answer answer;
  if (address >= h.ram_begin) [[likely]] {
    if (!h.port.mapped(address, size)) return trap(h, kLoadFault, virtual_address);
    answer = h.port.load(address, size, value);
    if (const uint64_t hidden = h.cost.hidden(in.size); hidden > 0 && answer == Answer::now) {
      h.clock -= hidden;
      h.hides_latency |= in.size != ExpectedPath::kNoUse;
    }
  } else {
    h.spin.note_effect();
    answer = h.port.mmio(address, size, false, value);
  }
  return finish(h, answer, to, kLoadFault, virtual_address, value);
}

template <class T, class Port>
bool store(Hart<Port>& h, const Instruction& in) {
  constexpr unsigned size = sizeof(T);
  const uint64_t virtual_address = h.x[in.rs1] + static_cast<uint64_t>(in.imm);
  h.spin.note_effect();
  uint64_t value = static_cast<T>(h.x[in.rs2]);
  uint64_t address = virtual_address;
  if (h.translation) [[unlikely]]
    if (const Reach reach = h.translation->translate(address, Right::write); !reach)
      return trap_unreached(h, reach, virtual_address);
  if (address % size != 0 && needs_two_halves(h, address, size)) [[unlikely]]
    return store_halves(h, virtual_address, size, value, in.length);
  Answer answer;
  if (address >= h.ram_begin) [[likely]] {
    if (!h.port.mapped(address, size)) return trap(h, kStoreFault, virtual_address);
    answer = h.port.store(address, size, value);
  } else {
    answer = h.port.mmio(address, size, true, value);
  }
  return finish(h, answer, {kSink, kSink, 8, in.length}, kStoreFault, virtual_address, 0);
}

}  // namespace uncore::execute

namespace uncore {

template <class Port>
void Hart<Port>::resume(uint64_t value, uint64_t high) {
  access.suspended = false;
  if (translation && translation->answered(value)) return;
  if (access.landing.first) [[unlikely]]
    return execute::land_half(*this, access.landing, value);
  execute::land(*this, access.landing, value, high);
}

}  // namespace uncore
