// The protocol tables as the engines and the checker execute them.
//
// Python parses, checks and packs the tables of sim/uncore/protocol; this file only looks cells up.
// The comment at the head of each table explains the names below. The lists below define the names
// and their order; Python gets them by `names()` and packs the cells in this order. The names of
// states come with the packed tables; here a state is only a row number. A cell has 32 bits: the
// next state in the low byte, one bit for each action above it, and the top bit for `impossible`.
// Invariant: a cell with the bit `impossible` is never executed; an engine that reaches one stops
// with an error.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coherence/states.hh"

namespace uncore {

// clang-format off
#define UNCORE_CLIENT_EVENTS(X) \
  X(Load) X(Store) X(Amo) X(Evict) X(ProbeS) X(Stays) X(ProbeM) X(Inv) X(Early) X(Grant) X(PutAck)
#define UNCORE_CLIENT_ACTIONS(X) \
  X(stall) X(hit) X(GetS) X(GetM) X(Upg) X(Amo) X(Put) X(drop) X(ack) X(give) X(dirty) X(shared) X(own) \
  X(fill) X(unblock) X(pass)
#define UNCORE_CHILDREN(X) X(N) X(S) X(W) X(B) X(R) X(U)
#define UNCORE_REQUESTS(X) X(GetS) X(GetM) X(Upg) X(Amo) X(Put) X(Evict)
#define UNCORE_RESOLVER_ACTIONS(X) \
  X(probeS) X(probeM) X(inv) X(via) X(lost) X(take) X(ask)
#define UNCORE_ANSWERS(X) X(nobody) X(outside) X(shared) X(given) X(dirty) X(own) X(passed)
#define UNCORE_WAITS(X) X(idle) X(below) X(above) X(put)
#define UNCORE_PROBES(X) X(ProbeS) X(ProbeM) X(Inv)
#define UNCORE_JOIN_ACTIONS(X) X(probeS) X(probeM) X(inv) X(wait)
#define UNCORE_PHASES(X) \
  X(idle) X(above) X(read) X(read_unblocked) X(write) X(write_unblocked) X(amo) X(closing) \
  X(putter) X(recall) X(put) X(probing) X(above_probing)
#define UNCORE_TRANSACTION_EVENTS(X) \
  X(Short) X(Read) X(Write) X(Amo) X(Put) X(Evict) X(Probe) X(Grant) X(Memory) X(PutAck) \
  X(Answers) X(Missing) X(Dropped) X(Unblock) X(UnblockS) X(Overlap) X(Over) X(Onward)
#define UNCORE_TRANSACTION_ACTIONS(X) \
  X(open) X(share) X(revoke) X(accept) X(fill) X(fetch) X(drop) X(grant) X(operate) X(overlap) \
  X(complete) X(ack) X(reply) X(close) X(obtain) X(poll) X(recall) X(probe) X(resume) X(await) \
  X(take) X(leave)
// clang-format on

#define UNCORE_NAME(n) n,
#define UNCORE_STRING(n) #n,

enum class ClientEvent : uint8_t { UNCORE_CLIENT_EVENTS(UNCORE_NAME) };
enum class Children : uint8_t { UNCORE_CHILDREN(UNCORE_NAME) };
enum class Request : uint8_t { UNCORE_REQUESTS(UNCORE_NAME) };
enum class Answers : uint8_t { UNCORE_ANSWERS(UNCORE_NAME) };
enum class Waits : uint8_t { UNCORE_WAITS(UNCORE_NAME) };
enum class Probe : uint8_t { UNCORE_PROBES(UNCORE_NAME) };
enum class Phase : uint8_t { UNCORE_PHASES(UNCORE_NAME) };
enum class TransactionEvent : uint8_t { UNCORE_TRANSACTION_EVENTS(UNCORE_NAME) };

namespace name {
#define UNCORE_NAMES(what, all) \
  inline constexpr std::array what = std::to_array<std::string_view>({all(UNCORE_STRING)});
UNCORE_NAMES(client_events, UNCORE_CLIENT_EVENTS)
UNCORE_NAMES(client_actions, UNCORE_CLIENT_ACTIONS)
UNCORE_NAMES(children, UNCORE_CHILDREN)
UNCORE_NAMES(requests, UNCORE_REQUESTS)
UNCORE_NAMES(resolver_actions, UNCORE_RESOLVER_ACTIONS)
UNCORE_NAMES(answers, UNCORE_ANSWERS)
UNCORE_NAMES(waits, UNCORE_WAITS)
UNCORE_NAMES(probes, UNCORE_PROBES)
UNCORE_NAMES(join_actions, UNCORE_JOIN_ACTIONS)
UNCORE_NAMES(phases, UNCORE_PHASES)
UNCORE_NAMES(transaction_events, UNCORE_TRANSACTION_EVENTS)
UNCORE_NAMES(transaction_actions, UNCORE_TRANSACTION_ACTIONS)
#undef UNCORE_NAMES
}  // namespace name

// The bit of each action in a cell: `Act` has those of client.table (`Act::give`), `ResolverAction`
// those of resolver.table, `JoinAction` those of join.table.
#define UNCORE_INDEX(n) n##_,
#define UNCORE_BIT(n) n = 1u << (8 + static_cast<unsigned>(Index::n##_)),
struct Act {
  enum class Index : uint8_t { UNCORE_CLIENT_ACTIONS(UNCORE_INDEX) };
  enum Bit : uint32_t { UNCORE_CLIENT_ACTIONS(UNCORE_BIT) };
};
struct ResolverAction {
  enum class Index : uint8_t { UNCORE_RESOLVER_ACTIONS(UNCORE_INDEX) };
  enum Bit : uint32_t { UNCORE_RESOLVER_ACTIONS(UNCORE_BIT) };
};
struct JoinAction {
  enum class Index : uint8_t { UNCORE_JOIN_ACTIONS(UNCORE_INDEX) };
  enum Bit : uint32_t { UNCORE_JOIN_ACTIONS(UNCORE_BIT) };
};
// The actions of transaction.table, in the order in which a cell's actions are performed. `poll`
// and the actions after it may raise an event.
enum class TransactionAction : uint8_t { UNCORE_TRANSACTION_ACTIONS(UNCORE_NAME) };
static_assert(static_cast<uint32_t>(ResolverAction::probeS) == JoinAction::probeS &&
              static_cast<uint32_t>(ResolverAction::probeM) == JoinAction::probeM &&
              static_cast<uint32_t>(ResolverAction::inv) == JoinAction::inv);

// Returns the event that stands for the arrival of Data with this right. There is one such event
// for each state; they are numbered after the named events.
inline constexpr ClientEvent data_event(State right) {
  return static_cast<ClientEvent>(name::client_events.size() + static_cast<std::size_t>(right));
}

// A cell of a table: the actions to perform, and the next state of the line or the next phase of
// the transaction.
struct Cell {
  static constexpr uint32_t impossible = 1u << 31;
  uint32_t bits = impossible;
  bool has(uint32_t action) const { return (bits & action) != 0; }
  bool possible() const { return (bits & impossible) == 0; }
  State next() const { return static_cast<State>(bits & 0xff); }
  uint32_t actions() const { return bits >> 8; }  // valid for possible cells only
  Phase phase() const { return static_cast<Phase>(bits & 0xff); }
};

// The packed tables of one protocol, and the properties of its states.
class Protocol : public StateProperties {
 public:
  static constexpr std::size_t kStates =
      kMaxStates;  // rows of the client table; those that the protocol does not use stay empty
  static constexpr std::size_t kClientEvents = name::client_events.size() + kStates;
  static constexpr std::size_t kChildren = name::children.size();
  static constexpr std::size_t kRequests = name::requests.size();
  static constexpr std::size_t kAnswers = name::answers.size();
  static constexpr std::size_t kWaits = name::waits.size();
  static constexpr std::size_t kProbes = name::probes.size();
  static constexpr std::size_t kPhases = name::phases.size();
  static constexpr std::size_t kTransactionEvents = name::transaction_events.size();
  static constexpr std::size_t kCells = kStates * kClientEvents + kChildren * kRequests +
                                        kRequests * kAnswers + kChildren * kWaits * kProbes +
                                        kPhases * kTransactionEvents;

  Protocol() = default;
  // `packed` holds the number of states, each state's name in two words, and kCells cells: those of
  // the tables client, resolver, grant, join and transaction in that order, row by row.
  explicit Protocol(const std::vector<uint32_t>& packed);

  Cell client(State s, ClientEvent e) const {
    return client_[static_cast<std::size_t>(s) * kClientEvents + static_cast<std::size_t>(e)];
  }
  Cell resolver(Children c, Request r) const {
    return resolver_[static_cast<std::size_t>(c) * kRequests + static_cast<std::size_t>(r)];
  }
  // The cell's next() is the right granted, as a state.
  Cell grant(Request r, Answers a) const {
    return grant_[static_cast<std::size_t>(r) * kAnswers + static_cast<std::size_t>(a)];
  }
  Cell join(Children c, Waits w, Probe e) const {
    return join_[(static_cast<std::size_t>(c) * kWaits + static_cast<std::size_t>(w)) * kProbes +
                 static_cast<std::size_t>(e)];
  }
  Cell transaction(Phase p, TransactionEvent e) const {
    return transaction_[static_cast<std::size_t>(p) * kTransactionEvents +
                        static_cast<std::size_t>(e)];
  }

 private:
  void derive_properties();

  std::array<Cell, kStates * kClientEvents> client_{};
  std::array<Cell, kChildren * kRequests> resolver_{};
  std::array<Cell, kRequests * kAnswers> grant_{};
  std::array<Cell, kChildren * kWaits * kProbes> join_{};
  std::array<Cell, kPhases * kTransactionEvents> transaction_{};
};

// Thrown when a machine reaches a cell declared impossible, or loses dirty data.
struct ProtocolError {
  std::string what;
};
[[noreturn]] void protocol_error(std::string_view controller, std::string_view state,
                                 std::string_view event, uint64_t line);

}  // namespace uncore
