// The types that a hart and its port share, and the contract between them.
//
// A *port* is what a hart sees of the world: memory, devices, time. It is a template parameter, so
// an access that hits in an inlined cache costs no call. The port owns everything that orders
// memory (store buffer, reservation, interrupt lines, time); the hart owns registers, CSRs, traps.
//
// Interface: Answer, Amo, Pair, amo_apply(), and the concept HartPort, which is the contract.
//
// Invariant: addresses that reach a port are, for RAM, inside what mapped() admitted. A load or
// store is of one to eight bytes that lie within Hart::whole; everything else is naturally aligned.
// A port that answers `retry` has changed nothing the guest can see.
#pragma once

#include <concepts>
#include <cstdint>

namespace uncore {

// RAM begins here; every address below belongs to devices and goes to mmio().
inline constexpr uint64_t kRamBase = 0x80000000;

enum class Answer : uint8_t {
  now,    // done; the value is in the out parameter
  later,  // accepted; the hart stays on this instruction until resume(value)
  retry,  // not accepted, nothing happened; the next run() executes the instruction again
  fault,  // mmio only: no device there; the hart takes an access fault
};

enum class Amo : uint8_t { swap, add, exclusive_or, bit_and, bit_or, min, max, minu, maxu, cas };

// Bits of an atomic's `order`: acquire and release as in the instruction (2 * aq + rl), and, of an
// AMO, that its result goes to x0.
inline constexpr unsigned kRelease = 1, kAcquire = 2, kUnused = 4;

// The sets of a fence, as in the instruction: device input and output, reads, writes.
inline constexpr unsigned kInput = 8, kOutput = 4, kReads = 2, kWrites = 1;

// Does a fence with these sets order an earlier write, or output, before a later read, or input?
// Where stores become visible in order (TSO), only such a fence has to wait for them.
constexpr bool orders_write_before_read(unsigned predecessor, unsigned successor) {
  return (predecessor & (kOutput | kWrites)) && (successor & (kInput | kReads));
}

// Sixteen bytes as two registers, for amocas.q.
struct Pair {
  uint64_t low, high;
  bool operator==(const Pair&) const = default;
};

constexpr uint64_t sign_extend(uint64_t value, unsigned size) {
  const unsigned unused = 64 - 8 * size;
  return static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
}

constexpr uint64_t zero_extend(uint64_t value, unsigned size) {
  const unsigned unused = 64 - 8 * size;
  return value << unused >> unused;
}

// Returns the value that an AMO of `size` (1, 2, 4, 8) bytes leaves in memory where `old` was.
// Operands may carry any bits above `size`; the result is zero-extended.
constexpr uint64_t amo_apply(Amo op, unsigned size, uint64_t old, uint64_t operand,
                             uint64_t expected) {
  const uint64_t a = zero_extend(old, size), b = zero_extend(operand, size);
  const auto sa = static_cast<int64_t>(sign_extend(old, size));
  const auto sb = static_cast<int64_t>(sign_extend(operand, size));
  switch (op) {
    case Amo::swap:
      return b;
    case Amo::add:
      return zero_extend(a + b, size);
    case Amo::exclusive_or:
      return a ^ b;
    case Amo::bit_and:
      return a & b;
    case Amo::bit_or:
      return a | b;
    case Amo::min:
      return sa < sb ? a : b;
    case Amo::max:
      return sa > sb ? a : b;
    case Amo::minu:
      return a < b ? a : b;
    case Amo::maxu:
      return a > b ? a : b;
    case Amo::cas:
      return a == zero_extend(expected, size) ? b : a;
  }
  return a;
}

// Is the port confined to what belongs to its hart's core, because other cores execute at the same
// time? It then answers `retry` to everything else, and the hart stops before any such instruction.
template <class Port>
constexpr bool is_confined(const Port& port) {
  if constexpr (requires { port.confined(); }) return port.confined();
  return false;
}

// The functions that a port must offer. Values are raw bytes, zero-extended; the hart sign-extends.
// A port may add the cost of an access to hart.clock before it answers `now`.
template <class P>
concept HartPort = requires(P port, const P fixed, Amo op, uint64_t address, unsigned size,
                            uint64_t value, uint64_t& result, Pair pair, Pair& pair_result,
                            unsigned order, unsigned set, uint32_t& word) {
  { port.load(address, size, result) } -> std::same_as<Answer>;
  { port.store(address, size, value) } -> std::same_as<Answer>;
  // op, address, size, operand, expected (cas only), old value, aq/rl/unused
  { port.amo(op, address, size, value, value, result, order) } -> std::same_as<Answer>;
  // amocas.q: address, operand, expected, old value, aq/rl; resumed with resume(low, high)
  { port.cas_pair(address, pair, pair, pair_result, order) } -> std::same_as<Answer>;
  { port.lr(address, size, result, order) } -> std::same_as<Answer>;
  // the result is 0 when the store was made, 1 when it failed
  { port.sc(address, size, value, result, order) } -> std::same_as<Answer>;
  // predecessor and successor sets as in the instruction: I=8 O=4 R=2 W=1; answered at once where
  // no write or output is ordered before a read or input
  { port.fence(set, set) } -> std::same_as<Answer>;
  // fence.i; the hart has then already dropped the decoded code
  port.fence_i();
  { port.mmio(address, size, bool{}, result) } -> std::same_as<Answer>;
  // is all of [address, address + size) RAM? Asked only at or above kRamBase.
  { fixed.mapped(address, size) } -> std::same_as<bool>;
  // functional read of the 4 bytes at a 2-byte aligned address (bytes past the end of memory read
  // as zero); false = access fault
  { port.fetch(address, word) } -> std::same_as<bool>;
  { port.time() } -> std::same_as<uint64_t>;
  { port.cycle() } -> std::same_as<uint64_t>;
  // HINT `sltiu x0, rs1, code`, value = x[rs1]
  port.marker(unsigned{}, value);
  // the first branch taken after an lr, before its sc: the guest did not find what it expected
  port.gave_up();
  // a trap was entered: cause without the interrupt bit; and left by mret
  port.trapped(value, bool{});
  port.returned();
};

}  // namespace uncore
