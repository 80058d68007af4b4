// Fast paths: accesses that the port performs at once, inside the interpreter's loop. If the
// template parameter `translated` is true, the hart translates addresses, and only pages in the
// MMU's quick tables are accessed here. Each function returns false if it has not performed the
// access, which then takes the slow path (loads_stores.hh, atomics.hh).
#pragma once

#include "hart/hart_class.hh"

namespace uncore::execute {

// Returns true if the access crosses a boundary of `unsplit_bytes` bytes, so that it is split into
// two. Other accesses need not be aligned.
template <class Port>
[[gnu::always_inline]] inline bool is_split(const Hart<Port>& h, uint64_t address, unsigned size) {
  return address % size != 0 && (address & (h.unsplit_bytes - 1)) + size > h.unsplit_bytes;
}

// Performs a load. Adds the time that the port charges to `now`.
template <class T, bool translated, class Port>
[[gnu::always_inline]] inline bool load_hits(Hart<Port>& h, const Instruction& in, uint64_t& now) {
  if constexpr (requires(Port& p, uint64_t& v) {
                  p.template try_load<translated>(v, 1u, v, v, in);
                }) {
    uint64_t address = h.x[in.rs1] + static_cast<uint64_t>(in.imm);
    uint64_t value;
    if constexpr (translated) {
      const auto& page = h.translation->mmu.load(address);
      if (page.key != h.translation->mmu.key(address)) return false;
      address += page.offset;
    }
    if (is_split(h, address, sizeof(T)) ||
        !h.port.template try_load<translated>(address, sizeof(T), now, value, in))
      return false;
    h.x[in.rd] = sign_extend(value, std::is_signed_v<T> ? sizeof(T) : 8);
    return true;
  }
  return false;
}

template <class T, bool translated, class Port>
[[gnu::always_inline]] inline bool store_hits(Hart<Port>& h, const Instruction& in, uint64_t now) {
  if constexpr (requires(Port& p, uint64_t v) {
                  p.template try_store<translated>(v, 1u, v, v, in);
                }) {
    uint64_t address = h.x[in.rs1] + static_cast<uint64_t>(in.imm);
    if (is_split(h, address, sizeof(T))) return false;
    if constexpr (translated) {
      const auto& page = h.translation->mmu.store(address);
      if (page.key != h.translation->mmu.key(address)) return false;
      address += page.offset;
    }
    const T value = static_cast<T>(h.x[in.rs2]);
    if (!h.port.template try_store<translated>(address, sizeof(T), value, now, in)) return false;
    h.spin.note_effect();
    return true;
  }
  return false;
}

// Performs an LR. The spin detector does not count it as an effect, because the next taken branch
// ends the lock.
template <bool translated, class Port>
[[gnu::always_inline]] inline bool lr_hits(Hart<Port>& h, const Instruction& in, uint64_t& now) {
  if constexpr (requires(Port& p, uint64_t& v) {
                  p.template try_reserve<translated>(v, 1u, v, v);
                }) {
    uint64_t address = h.x[in.rs1];
    uint64_t value;
    if (address % in.size != 0) return false;
    if constexpr (translated) {
      const auto& page = h.translation->mmu.load(address);
      if (page.key != h.translation->mmu.key(address)) return false;
      address += page.offset;
    }
    if (!h.port.template try_reserve<translated>(address, in.size, now, value)) return false;
    h.attempting = true;
    h.x[in.rd] = sign_extend(value, in.size);
    return true;
  }
  return false;
}

// Executes a fence that has nothing to wait for. Adds its time to `now`.
template <class Port>
[[gnu::always_inline]] inline bool fence_passes(Hart<Port>& h, const Instruction& in,
                                                uint64_t& now) {
  const auto sets = static_cast<unsigned>(in.imm);
  if constexpr (requires(const Port& p) { p.passes(sets, sets); }) {
    if (!h.port.passes(sets >> 4 & 15, sets & 15)) return false;
    now += h.port.pass_fence(sets >> 4 & 15, sets & 15);
    return true;
  }
  return false;
}

}  // namespace uncore::execute
