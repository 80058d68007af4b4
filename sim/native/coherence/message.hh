// Messages that clients, resolvers and memories exchange about one line.
//
// `id` is the number of the request that a message belongs to; each requester numbers its own
// requests. A probe's `grant` is the number of the request whose grant the probe revokes. By this
// number a client recognizes a probe that has overtaken the grant (C3).
// Invariant: at most one of `data`, `operation` and `old` is valid; `carries` and `kind` say which.
#pragma once

#include <cstdint>

#include "coherence/protocol.hh"

namespace uncore {

using Agent = int32_t;
inline constexpr Agent kNobody = -1;

// The kinds of messages, in the order in which messages of equal time are served: probes, data,
// completions, requests (T2.2). Put is a request that carries data, a writeback. Amo requests a far
// atomic operation, which the resolver performs on the line's data; Value returns the value that
// the operation has read (C8).
enum class Kind : uint8_t {
  ProbeS,
  ProbeM,
  Inv,
  Data,
  Grant,
  Value,
  PutAck,
  Answer,
  Unblock,
  GetS,
  GetM,
  Upg,
  Amo,
  Put
};

namespace name {
inline constexpr std::array messages =
    std::to_array<std::string_view>({"ProbeS", "ProbeM", "Inv", "Data", "Grant", "Value", "PutAck",
                                     "Answer", "Unblock", "GetS", "GetM", "Upg", "Amo", "Put"});
}  // namespace name

inline constexpr bool is_probe(Kind k) { return k <= Kind::Inv; }
inline constexpr bool is_request(Kind k) { return k >= Kind::GetS; }
inline constexpr Request request_of(Kind k) {
  return static_cast<Request>(static_cast<int>(k) - static_cast<int>(Kind::GetS));
}
// The classes of T2.2: 0 probe, 1 data, 2 completion, 3 request.
inline constexpr unsigned class_of(Kind k) {
  return (k > Kind::Inv) + (k > Kind::Value) + (k > Kind::Unblock);
}

// The flags of an Answer: which data the child had, and which rights it keeps.
struct Flag {
  static constexpr uint8_t gave = 1;      // the child sent its data, by either of the ways below
  static constexpr uint8_t dirty = 2;     // the data sent differ from the level above
  static constexpr uint8_t shared = 4;    // the child keeps a copy
  static constexpr uint8_t own = 8;       // the child keeps ownership
  static constexpr uint8_t carries = 16;  // the data are in this message
  static constexpr uint8_t handed = 32;   // the child sent the data straight to the requester
  static constexpr uint8_t passed = 64;   // the requester got ownership with the data (R12)
};

struct Header {
  Kind kind = Kind::Inv;
  uint8_t flags = 0;           // Answer
  State right = State::I;      // Data: right granted; probes: right that the owner shall grant
  bool wants_unblock = false;  // Data, Grant, probes: `resolver` waits for an Unblock (R5)
  bool contended = false;      // Data, Grant, probes: others wait for the line (rule C9)
  bool carries = false;        // `data` is valid (which decides the message's size)
  Agent from = kNobody, to = kNobody;
  Agent requester = kNobody;   // probes: receiver of the data; kNobody: the resolver itself
  Agent resolver = kNobody;    // Data, Grant, probes: the resolver that has the transaction
  uint32_t id = 0, grant = 0;  // numbers of requests, as explained above
  uint64_t line = 0;
  uint64_t since = 0;  // when the request that this message serves was sent; 0: none (J3.3)
};

// The types that messages of a far atomic carry instead of a line's data: `Asks` is the operation
// requested, `Reads` is the value that it has read. Specialized for each kind of data
// (fabric/atomic.hh).
template <class Data>
struct FarAtomic;

// The type that stores a T (data, or a message with its data) beyond the present call. A T that
// only refers to bytes elsewhere is stored as another type, which copies them (fabric/atomic.hh); a
// T that is a plain value is stored as itself.
template <class T>
struct Keeper {
  using Type = T;
};
template <class T>
using Kept = typename Keeper<T>::Type;

// A message: its header, and the data, operation or value that it carries.
template <class Data>
struct Message : Header {
  using Asks = typename FarAtomic<Data>::Asks;
  using Reads = typename FarAtomic<Data>::Reads;
  union {
    char nothing;
    Data data;       // valid if `carries`
    Asks operation;  // valid in an Amo
    Reads old;       // valid in a Value
  };

  // Leaves the union uninitialized, because clearing it would cost as much as the rest of the
  // message.
  Message() : nothing(0) {}

  // Sets `data` and `carries`, which are set nowhere else.
  void carry(const Data& bytes) {
    carries = true;
    data = bytes;
  }

  // Copies the header and the valid member of the union, if there is one.
  void assign(const Message& m) {
    static_cast<Header&>(*this) = m;
    if (m.carries)
      data = m.data;
    else if (m.kind == Kind::Amo)
      operation = m.operation;
    else if (m.kind == Kind::Value)
      old = m.old;
  }
};

}  // namespace uncore
