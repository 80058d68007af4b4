// Messages: what clients, resolvers and memory say to each other about one line.
//
// `id` names the request that a message belongs to, as its requester counts them. A probe's `grant`
// names the request whose grant the probe revokes: so a client tells a probe that has overtaken its
// own grant from a late one (C3). Invariant: at most one of `data`, `operation` and `old` is there,
// by `carries` and `kind`.
#pragma once

#include <cstdint>

#include "coherence/protocol.hh"

namespace uncore {

using Agent = int32_t;
inline constexpr Agent kNobody = -1;

// Probes, data, completions, requests: the order in which messages of equal time are served (T2.2).
// Put is a request that carries data. Amo asks for an atomic operation to be done where the line's
// data are, and Value brings back what that has read (C8).
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

// Flags of an Answer.
struct Flag {
  static constexpr uint8_t gave = 1;      // the data went to the requester, or are in this message
  static constexpr uint8_t dirty = 2;     // the data given differ from the level above
  static constexpr uint8_t shared = 4;    // a copy stays
  static constexpr uint8_t own = 8;       // ownership stays
  static constexpr uint8_t carries = 16;  // the data are in this message
  static constexpr uint8_t handed = 32;   // the data went to the requester
  static constexpr uint8_t passed = 64;   // with the right to write: the requester answers for them
};

struct Header {
  Kind kind = Kind::Inv;
  uint8_t flags = 0;           // Answer
  State right = State::I;      // Data: right granted; probes: right that the owner hands over
  bool wants_unblock = false;  // Data, Grant, probes: `resolver` waits for an Unblock (R5)
  bool contended = false;      // Data, Grant, probes: others wait for the line (rule C9)
  bool carries = false;        // `data` is valid (which decides the message's size)
  Agent from = kNobody, to = kNobody;
  Agent requester = kNobody;   // probes: to whom the data go; kNobody: back to the resolver
  Agent resolver = kNobody;    // Data, Grant, probes: whose transaction this is
  uint32_t id = 0, grant = 0;  // numbers of requests, see above
  uint64_t line = 0;
  uint64_t since = 0;  // when the request, or that behind a probe, was sent; 0: no request (J3.3)
};

// Types that messages of a far atomic carry instead of a line's data: `Asks`, the operation, and
// `Reads`, what it has read. Specialized for each kind of data (fabric/atomic.hh).
template <class Data>
struct FarAtomic;

// The type that keeps a T (data, or a message with what it carries) beyond the present call. Data
// that only refer to bytes have types of their own for that (fabric/atomic.hh); others are values.
template <class T>
struct Keeper {
  using Type = T;
};
template <class T>
using Kept = typename Keeper<T>::Type;

// A message with what it carries.
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

  // Does not clear the union: that would cost as much as the rest of a message.
  Message() : nothing(0) {}

  // Sets the flag and the data together. Nothing else sets them.
  void carry(const Data& bytes) {
    carries = true;
    data = bytes;
  }

  // Copies the header and what the message carries; the bytes of an unused union stay.
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
