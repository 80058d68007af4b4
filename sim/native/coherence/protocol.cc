#include "coherence/protocol.hh"

#include <algorithm>
#include <stdexcept>

namespace uncore {

Protocol::Protocol(const std::vector<uint32_t>& cells) {
  if (cells.size() != kCells) throw std::invalid_argument("protocol: wrong number of cells");
  auto from = cells.begin();
  const auto take = [&from](auto& table) {
    for (Cell& cell : table) cell.bits = *from++;
  };
  take(client_);
  take(resolver_);
  take(grant_);
  take(join_);
}

void protocol_error(std::string_view controller, std::string_view state, std::string_view event,
                    uint64_t line) {
  std::string what(controller);
  what.append(" in ").append(state).append(" met ").append(event);
  what.append(", which its table declares impossible (line ").append(std::to_string(line));
  throw ProtocolError{what + ")"};
}

}  // namespace uncore
