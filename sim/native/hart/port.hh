// The types that a hart and its port share, and the contract between them.
//
// A *port* is the interface of a hart to memory, devices and time. It is a template parameter, so
// that an access which hits in the cache is inlined. The port owns the store buffer, the
// reservation, interrupt lines and time; the hart owns registers, CSRs and traps.
//
// Interface: Answer, Amo, Pair, amo_apply(), and the concept HartPort, which is the contract.
//
// Invariant: RAM addresses that reach a port are in ranges for which mapped() returned true. A load
// or store has one to eight bytes, within an aligned block of Hart::unsplit_bytes bytes; other
// accesses are naturally aligned. A port that answers `retry` has changed nothing that the guest
// can see.
#pragma once

#include <concepts>
#include <cstdint>

namespace uncore {

// Lowest address of RAM. Lower addresses belong to devices; accesses to them call mmio().
inline constexpr uint64_t kRamBase = 0x80000000;

enum class Answer : uint8_t {
  now,    // performed; the value is in the out parameter
  later,  // accepted; the hart stays on this instruction until resume(value)
  retry,  // not accepted, without any effect; the next run() executes the instruction again
  fault,  // mmio only: there is no device at the address; the hart takes an access fault
};

enum class Amo : uint8_t { swap, add, exclusive_or, bit_and, bit_or, min, max, minu, maxu, cas };

// Bits of an atomic's `order`: acquire and release as in the instruction (2 * aq + rl), and, of an
// AMO, that its result goes to x0.
inline constexpr unsigned kRelease = 1, kAcquire = 2, kUnused = 4;

// The sets of a fence, as in the instruction: device input and output, reads, writes.
inline constexpr unsigned kInput = 8, kOutput = 4, kReads = 2, kWrites = 1;

// Returns true if a fence with these sets orders an earlier write or output before a later read or
// input. Under TSO only such a fence has to wait for stores.
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

// Returns the value that an AMO of `size` (1, 2, 4, 8) bytes writes to memory if it has read `old`.
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

// Returns true if the port may touch only its hart's core, because other host threads execute other
// cores at the same time. It then answers `retry` to everything else, and the hart stops before any
// such instruction.
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
  // the result is 0 if the store was performed, 1 if the sc failed
  { port.sc(address, size, value, result, order) } -> std::same_as<Answer>;
  // predecessor and successor sets as in the instruction: I=8 O=4 R=2 W=1; answered at once if no
  // write or output is ordered before a read or input
  { port.fence(set, set) } -> std::same_as<Answer>;
  // fence.i; the hart has already dropped the decoded code
  port.fence_i();
  { port.mmio(address, size, bool{}, result) } -> std::same_as<Answer>;
  // returns true if all of [address, address + size) is RAM; called only for addresses from
  // kRamBase on
  { fixed.mapped(address, size) } -> std::same_as<bool>;
  // functional read of the 4 bytes at a 2-byte aligned address (bytes past the end of memory read
  // as zero); false = access fault
  { port.fetch(address, word) } -> std::same_as<bool>;
  { port.time() } -> std::same_as<uint64_t>;
  { port.cycle() } -> std::same_as<uint64_t>;
  // HINT `sltiu x0, rs1, code`, value = x[rs1]
  port.marker(unsigned{}, value);
  // a branch was taken after an lr, before its sc: a compare-and-swap found another value
  port.gave_up_attempt();
  // trapped(): a trap was entered (cause without the interrupt bit); returned(): mret or sret left
  // it
  port.trapped(value, bool{});
  port.returned();
};

}  // namespace uncore
